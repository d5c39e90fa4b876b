"""Adapter between the running crawl and a focused strategy (`crawler/focused_policy.py`).

    page -> words (worker threads) -> TopicPolicy.decide -> retained or not, changed priorities -> table

Every decision is stored with the words it was made from (focused_decisions.py). A start loads the last snapshot
(`state_snapshot.py`) and replays the pages stored after it. Without a matching snapshot, `TopicPolicy.replay` replays
all pages in order. The strategy state therefore always matches the store, even after a crash.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from crawler.focused_policy import (
    FocusedStrategy,
    LinkWords,
    PageWords,
    RelevanceScore,
    ReviewableStrategy,
    ReviewInstructions,
    TokenizedPage,
    WordTokenizer,
    deserialize_page,
    serialize_page,
    tokenize_links,
)
from domain.focused_decision import (
    ALL_DECISIONS,
    DecisionSample,
    FocusedDecision,
    RejectedLink,
    StoredFocusedDecision,
    StoredFocusedScore,
)
from domain.page import Link, Page
from domain.paper_settings import WuYuetingSettings
from focused.paper_strategies.position_weighting import top_block_weighted_terms
from focused.paper_strategies.term_expansion import DynamicTermLibrary
from focused.state_snapshot import StateSnapshot
from focused.word_weights import WordStatistics

MAX_TERMS_PER_PAGE = 60  # terms of a retained page that may become topic terms (WY-A1)
MAX_OFF_TOPIC_SHARE = 0.4  # a term that occurs in more than this share of the off-topic pages is not proposed
MIN_OFF_TOPIC_PAGES = 8  # with fewer off-topic pages that check is skipped
# Priority of a seed page's links if the strategy discards all of them. Otherwise the crawl would stop at its seeds.
SEED_LINK_FALLBACK_PRIORITY = 0.0
# Pages between two snapshots: the larger of SNAPSHOT_MIN_PAGES and 1 / SNAPSHOT_GROWTH_DIVISOR of all pages, but at
# most SNAPSHOT_MAX_PAGES, because a start after kill -9 replays them.
SNAPSHOT_MIN_PAGES, SNAPSHOT_GROWTH_DIVISOR = 1000, 4
SNAPSHOT_MAX_PAGES = 5000
# If more than 1 / MAX_REREAD_DIVISOR of all pages were read again, the snapshot is discarded. All pages are then
# replayed with their current content.
MAX_REREAD_DIVISOR = 10

MAX_REPLAYED_PAGES = 20_000  # pages that a start replays to a strategy that can work with a sample: two minutes
INSTRUCTIONS_INTERVAL_PAGES = 50  # labels given during the crawl take effect after at most this many pages

ProposeTerms = Callable[[Sequence[str]], None]
StrategyResult = tuple[RelevanceScore, tuple[dict[str, float], list[str]]]
"""Relevance of a page, then the changed priorities by URL and the URLs of discarded links."""


@dataclass(frozen=True)
class TopicPolicyConfig:
    """Configuration of a focused crawl. Worker threads call `tokenize_page` and `tokenize`, one thread calls the rest.

    Attributes:
        tokenize_page: returns the words of a fetched page.
        tokenize: returns the words of a text, for anchors and link contexts.
        seed_urls: URLs that are fetched first, regardless of their priority.
        example_urls: URLs of the example pages.
        unfetchable_examples: example pages that the crawl cannot fetch, shown to the strategy at start.
        known_words: words that are never proposed as terms.
        propose_terms: called with words that many retained pages share.
        read_instructions: returns the current target precision and labels, called periodically.
        snapshot: file of the state between runs, None to replay all pages at every start.
        wu_yueting: when words that retained pages share are proposed as terms.
        close: releases the resources of `tokenize_page`.
    """

    strategy_name: str
    topic_name: str
    strategy: FocusedStrategy
    tokenize_page: Callable[[Page], PageWords]
    tokenize: WordTokenizer
    seed_urls: frozenset[str] = frozenset()
    example_urls: frozenset[str] = frozenset()
    unfetchable_examples: tuple[PageWords, ...] = ()
    known_words: frozenset[str] = frozenset()
    propose_terms: ProposeTerms = lambda words: None
    read_instructions: Callable[[], ReviewInstructions] = ReviewInstructions
    snapshot: StateSnapshot | None = None
    wu_yueting: WuYuetingSettings = field(default_factory=WuYuetingSettings)
    close: Callable[[], None] = lambda: None


@dataclass
class TopicPolicyState:
    """Everything a policy learned from the pages: the content of a snapshot."""

    strategy: FocusedStrategy
    unfetched_example_urls: set[str]  # example pages that the strategy was shown and that are not fetched yet
    priority_by_url: dict[str, float] = field(default_factory=dict)  # of unfetched URLs, without the forgotten URLs
    next_seq: int = 0  # sequence number of the next page
    page_count: int = 0  # distinct pages assessed
    reread_count: int = 0  # pages read again since the last full replay
    assessed_urls: set[str] = field(default_factory=set)  # URLs of the assessed pages
    shared_terms: DynamicTermLibrary = field(default_factory=DynamicTermLibrary)
    off_topic_statistics: WordStatistics = field(default_factory=WordStatistics)


class TopicPolicy:
    """The `FocusedPolicy` of a crawl with a topic. Single-threaded except for `tokenize_page`."""

    def __init__(self, config: TopicPolicyConfig) -> None:
        self.config = config
        self.state = TopicPolicyState(
            config.strategy,
            {page.url for page in config.unfetchable_examples},
            shared_terms=DynamicTermLibrary(config.wu_yueting),
        )
        self._is_consistent = True  # False while a page is being processed: no snapshot is written in that state
        self._unsaved_pages = 0  # pages since the last snapshot
        for page in config.unfetchable_examples:
            self._run_strategy(TokenizedPage(page))

    @property
    def priority_by_url(self) -> Mapping[str, float]:
        """Priorities of the unfetched URLs, without forgotten URLs, whose priorities in the table stay unchanged."""
        return self.state.priority_by_url

    @property
    def next_seq(self) -> int:
        """Sequence number of the next page."""
        return self.state.next_seq

    def tokenize_page(self, page: Page, links: Sequence[Link]) -> TokenizedPage:
        return TokenizedPage(
            self.config.tokenize_page(page).with_counts_cached(), tokenize_links(page.url, links, self.config.tokenize)
        )

    def replay(
        self, decisions: Iterable[StoredFocusedDecision], advance: Callable[[int], None] = lambda steps: None
    ) -> list[str]:
        """Show the strategy the stored pages again. The caller then writes `priority_by_url` into the table.

        Returns:
            URLs of pages that were not retained, but would be now because the topic or the strategy changed.
        """
        refetch_urls: list[str] = []
        self.refresh_instructions()
        for decision in decisions:
            relevance, _ = self._assess_and_track(deserialize_page(decision.packed_words))
            self.state.next_seq = max(self.state.next_seq, decision.seq + 1)
            if relevance.is_relevant and not decision.is_retained:
                refetch_urls.append(decision.url)
            advance(1)
        self.state.shared_terms.pending_terms.clear()  # they were proposed when the pages were first assessed
        return refetch_urls

    def replay_sample(self, page_count: int) -> DecisionSample:
        """Return which of `page_count` stored pages to replay.

        A strategy that works with a sample gets about MAX_REPLAYED_PAGES pages, so that the start takes about two
        minutes. It would forget the other pages anyway.
        """
        if not isinstance(self.state.strategy, ReviewableStrategy) or page_count <= MAX_REPLAYED_PAGES:
            return ALL_DECISIONS
        return DecisionSample(
            -(-page_count // MAX_REPLAYED_PAGES),
            self.config.example_urls.union(self.config.read_instructions().labels_by_url),
        )

    def restore_scores(
        self, scores: Iterable[StoredFocusedScore], advance: Callable[[int], None] = lambda steps: None
    ) -> None:
        """Restore pages that are not replayed: the strategy gets only their URLs and last scores."""
        state = self.state
        for stored_score in scores:
            state.page_count += stored_score.url not in state.assessed_urls
            state.assessed_urls.add(stored_score.url)
            state.next_seq = max(state.next_seq, stored_score.seq + 1)
            if isinstance(state.strategy, ReviewableStrategy):
                state.strategy.forget_pages({stored_score.url: stored_score.score})
            advance(1)

    def load_snapshot(self, count_decisions_before: Callable[[int], int]) -> None:
        """Load the last snapshot if it matches the store. Pages from `next_seq` on then need a replay.

        A file that does not match is deleted, because a later store could match its page count by accident.

        Args:
            count_decisions_before: returns the number of assessed pages in the store with a lower sequence number.
        """
        if self.config.snapshot is None:
            return
        state = self.config.snapshot.load()
        if isinstance(state, TopicPolicyState) and count_decisions_before(state.next_seq) == state.page_count:
            state.shared_terms.confirmed_terms.clear()  # they are in `known_words` now
            self.state = state
        else:
            self.config.snapshot.discard()

    def save_snapshot(self) -> None:
        """Save the state for the next start. Discard it instead if too many pages were read again."""
        state, snapshot = self.state, self.config.snapshot
        if snapshot is None or not self._is_consistent or not self._unsaved_pages:
            return
        self._unsaved_pages = 0
        if state.reread_count * MAX_REREAD_DIVISOR > state.page_count:
            snapshot.discard()
        else:
            snapshot.save(state)

    def save_snapshot_if_due(self) -> None:
        """Save the state periodically, so that few pages need a replay after a crash."""
        if self._unsaved_pages >= max(
            SNAPSHOT_MIN_PAGES, min(self.state.page_count // SNAPSHOT_GROWTH_DIVISOR, SNAPSHOT_MAX_PAGES)
        ):
            self.save_snapshot()

    def refresh_instructions(self) -> None:
        """Pass the current target precision and labels to the strategy."""
        if isinstance(self.state.strategy, ReviewableStrategy):
            self.state.strategy.apply_instructions(self.config.read_instructions())

    def current_scores(self) -> Mapping[str, RelevanceScore]:
        """Return the current score of every assessed page by URL.

        The mapping is empty if the strategy does not reassess pages.
        """
        if not isinstance(self.state.strategy, ReviewableStrategy):
            return {}
        self.refresh_instructions()
        return self.state.strategy.current_scores()

    def pages_to_label(self, count: int) -> Sequence[str]:
        """Return the URLs of up to `count` pages for which a label of a person is most useful."""
        return self.state.strategy.pages_to_label(count) if isinstance(self.state.strategy, ReviewableStrategy) else ()

    def decide(self, tokenized_page: TokenizedPage, anchors: Mapping[str, str]) -> FocusedDecision:
        """Assess a fetched page and its links, and return the decision to store.

        Args:
            tokenized_page: words of the page and of its links.
            anchors: anchor text by link URL.
        """
        relevance, (changed_priorities, discarded_urls) = self._assess_and_track(tokenized_page)
        reason = f"{self.config.strategy_name}: link discarded, source page scored {relevance.score:.3f}"
        rejected_links = tuple(RejectedLink(url, anchors.get(url, ""), reason) for url in discarded_urls)
        seq, self.state.next_seq = self.state.next_seq, self.state.next_seq + 1
        if self.state.next_seq % INSTRUCTIONS_INTERVAL_PAGES == 0:
            self.refresh_instructions()
        if new_terms := self.state.shared_terms.confirm_pending():  # confirmed, so that they are not proposed again
            self.config.propose_terms(new_terms)
        self.save_snapshot_if_due()
        return FocusedDecision(
            seq,
            self.config.strategy_name,
            self.config.topic_name,
            relevance.score,
            relevance.is_relevant,
            serialize_page(tokenized_page),
            changed_priorities,
            rejected_links,
        )

    def link_priority(self, url: str) -> float | None:
        """Return the priority of a URL, or None if no known link justifies fetching it."""
        return self.state.priority_by_url.get(url)

    def _assess_and_track(self, tokenized_page: TokenizedPage) -> StrategyResult:
        """Show the strategy a fetched page and update the page counts.

        A page that is read again invalidates the snapshot, which contains only its earlier content.
        """
        state, url = self.state, tokenized_page.words.url
        is_new = url not in state.assessed_urls or url in state.unfetched_example_urls
        if not is_new and self.config.snapshot is not None:
            self.config.snapshot.discard()
        self._is_consistent = False
        result = self._run_strategy(tokenized_page)
        state.unfetched_example_urls.discard(url)
        state.page_count += is_new
        state.reread_count += not is_new
        self._unsaved_pages += 1
        self._is_consistent = True
        return result

    def _run_strategy(self, tokenized_page: TokenizedPage) -> StrategyResult:
        """Show the strategy a page and return its relevance, the changed priorities and the discarded links.

        For a page that is read again, the strategy gets only the new links, because the others are counted already.
        """
        state, page, links = self.state, tokenized_page.words, tokenized_page.links
        strategy = state.strategy
        if page.url in state.assessed_urls:
            links = tuple(
                link for link in links if link.url not in state.assessed_urls and link.url not in state.priority_by_url
            )
            if not links:
                return strategy.score_page(page), ({}, [])
        state.assessed_urls.add(page.url)
        state.priority_by_url.pop(page.url, None)
        relevance = strategy.score_page(page)
        link_priorities = strategy.link_priorities(page, relevance, links)
        if page.url in self.config.seed_urls and all(value is None for value in link_priorities):
            link_priorities = [SEED_LINK_FALLBACK_PRIORITY] * len(links)
        strategy.observe_page(page, relevance)
        changed_priorities = self._raise_priorities(links, link_priorities)
        priorities = state.priority_by_url
        for url, value in strategy.take_changed_priorities().items():  # higher or lower than before
            if url in priorities and self._is_unfetched_non_seed(url) and priorities[url] != value:
                priorities[url] = changed_priorities[url] = value
        if isinstance(strategy, ReviewableStrategy):
            for url in strategy.take_forgotten_urls():
                state.priority_by_url.pop(url, None)
        self._collect_terms(page, relevance)
        discarded_urls = [link.url for link, value in zip(links, link_priorities, strict=True) if value is None]
        return relevance, (
            changed_priorities,
            [url for url in discarded_urls if url not in state.priority_by_url and self._is_unfetched_non_seed(url)],
        )

    def _raise_priorities(
        self, links: Sequence[LinkWords], link_priorities: Sequence[float | None]
    ) -> dict[str, float]:
        """Raise the priority of each URL to that of its link, if the link's is higher.

        Returns:
            The changed priorities by URL.
        """
        changed_priorities: dict[str, float] = {}
        priorities = self.state.priority_by_url
        for link, value in zip(links, link_priorities, strict=True):
            if value is not None and self._is_unfetched_non_seed(link.url) and value > priorities.get(link.url, -inf):
                priorities[link.url] = changed_priorities[link.url] = value
        return changed_priorities

    def _is_unfetched_non_seed(self, url: str) -> bool:
        """Return True if the URL has not been fetched and is not a seed, that is, if its priority can still change."""
        return url not in self.state.assessed_urls and url not in self.config.seed_urls

    def _collect_terms(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Add the terms of a retained page to the shared terms.

        Shared terms are evaluated every `update_pages` retained pages. Words of other pages count as off topic.
        """
        if not relevance.is_relevant:
            self.state.off_topic_statistics.add(page.word_counts)
            return
        terms, off_topic = top_block_weighted_terms(page.blocks, MAX_TERMS_PER_PAGE), self.state.off_topic_statistics
        common_words: list[str] = []
        if off_topic.document_count >= MIN_OFF_TOPIC_PAGES:
            max_pages = MAX_OFF_TOPIC_SHARE * off_topic.document_count
            common_words = [word for word in terms if off_topic.document_frequency[word] > max_pages]
        self.state.shared_terms.add_page_terms(terms, self.config.known_words, common_words)
