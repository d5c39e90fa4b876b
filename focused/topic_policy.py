"""The bridge from the live crawl to a focused strategy (`crawler/focused_policy.py`).

    page -> words (worker threads) -> TopicGuide.judge -> kept or not, priorities of its links and of others -> table

The store has what the strategy was shown of every visit that it has (focused_decisions.py). A start takes the state
that the last run left (`snapshot.py`) and shows it the pages after that; where there is none that fits,
`TopicPolicy.replay` shows it all of them again, in order. So whatever kills the crawl, state and store agree.
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
    Words,
    WordTokenizer,
    deserialize_page,
    serialize_page,
    tokenize_links,
)
from docstore.frontier.focused_decisions import (
    ALL_DECISIONS,
    DecisionSample,
    FocusedDecision,
    RejectedLink,
    StoredFocusedDecision,
    StoredFocusedScore,
)
from docstore.model import Link, Page
from focused.paper_strategies.position_weighting import top_block_weighted_terms
from focused.paper_strategies.term_expansion import DynamicTermLibrary
from focused.state_snapshot import StateSnapshot
from text.word_weights import WordStatistics

MAX_TERMS_PER_PAGE = 60  # terms of a kept page that may become terms of the topic (WY-A1)
MAX_OFF_TOPIC_SHARE, MIN_OFF_TOPIC_PAGES = (
    0.4,
    8,
)  # a word of more than this part of so many pages off topic is no term of it
SEED_LINK_FALLBACK_PRIORITY = (
    0.0  # of links of a home page that says nothing of the topic: a crawl does not end where it begins
)
SNAPSHOT_MIN_PAGES, SNAPSHOT_GROWTH_DIVISOR = (
    1000,
    4,
)  # pages between two snapshots: this many, or this part of all, whichever is more
SNAPSHOT_MAX_PAGES = 5000  # but no more: they are what a start after kill -9 has to show again
MAX_REREAD_DIVISOR = (
    10  # the part of all pages that may be read again, before the state is made anew of what they say by now
)

MAX_REPLAYED_PAGES = 20_000  # pages that a start shows a strategy that can do with some of them: two minutes
INSTRUCTIONS_INTERVAL_PAGES = 50  # pages: an answer given while the crawl goes on counts from then on

ProposeTerms = Callable[[Sequence[str]], None]
StrategyResult = tuple[
    RelevanceScore, tuple[dict[str, float], list[str]]
]  # what a page is; priorities, links that are discarded


@dataclass(frozen=True)
class TopicPolicyConfig:
    """What a focused crawl is made of. `tokenize_page` and `tokenize` are called in worker threads, the rest in one.

    `seed_urls` are URLs that are fetched before all others, whatever is thought of them; `example_urls` those of example pages;
    `unfetchable_examples` are those of them that the crawl cannot fetch; `propose_terms` is told of words that the kept pages share;
    `known_words` are words that are no news to it; `read_instructions` are what the operator wants and has answered by now, asked
    for now and then; `snapshot` is where its state is kept between runs; `close` ends what
    `tokenize_page` has begun.
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
    close: Callable[[], None] = lambda: None


@dataclass
class TopicPolicyState:
    """All that a guide has learned of the pages: what a snapshot holds."""

    strategy: FocusedStrategy
    unfetched_example_urls: set[str]  # URLs of example pages that were shown and not fetched so far
    priority_by_url: dict[str, float] = field(default_factory=dict)  # of URLs not fetched yet that are remembered
    next_seq: int = 0  # of the next page
    page_count: int = 0  # judged, each once
    reread_count: int = 0  # pages that were read again, since all were shown anew
    assessed_urls: set[str] = field(default_factory=set)  # URLs of the pages judged
    shared_terms: DynamicTermLibrary = field(default_factory=lambda: DynamicTermLibrary(automatic=False))
    off_topic_statistics: WordStatistics = field(default_factory=WordStatistics)


class TopicPolicy:
    """The `FocusedPolicy` of a crawl that looks for a topic. Used by one thread, but for `tokenize_page`."""

    def __init__(self, config: TopicPolicyConfig) -> None:
        self.config = config
        self.state = TopicPolicyState(config.strategy, {page.url for page in config.unfetchable_examples})
        self._is_consistent = True  # no page has been shown by half
        self._unsaved_pages = 0  # pages
        for page in config.unfetchable_examples:
            self._run_strategy(TokenizedPage(page))

    @property
    def priority_by_url(self) -> Mapping[str, float]:
        """Of the URLs that are not fetched yet, but for those forgotten: theirs in the table stay."""
        return self.state.priority_by_url

    @property
    def next_seq(self) -> int:
        """The place of the next page in the order of judging."""
        return self.state.next_seq

    def tokenize_page(self, page: Page, links: Sequence[Link]) -> TokenizedPage:
        """A page and its links as words; in any thread."""
        return TokenizedPage(
            self.config.tokenize_page(page).with_counts_cached(), tokenize_links(page.url, links, self.config.tokenize)
        )

    def replay(
        self, decisions: Iterable[StoredFocusedDecision], advance: Callable[[int], None] = lambda steps: None
    ) -> list[str]:
        """Show the strategy what it was shown before. Afterwards `priority_by_url` are to be set in the table.

        Returns the URLs of pages that were not kept and now would be: topic or strategy have changed.
        """
        refetch_urls: list[str] = []
        self.refresh_instructions()
        for decision in decisions:
            relevance, _ = self._assess_and_track(deserialize_page(decision.packed_words))
            self.state.next_seq = max(self.state.next_seq, decision.seq + 1)
            if relevance.is_relevant and not decision.is_retained:
                refetch_urls.append(decision.url)
            advance(1)
        self.state.shared_terms.pending_terms.clear()  # proposed when they came up
        return refetch_urls

    def replay_sample(self, page_count: int) -> DecisionSample:
        """Which of so many judged pages to restore: so many that it is done soon, where the strategy can do with some.
        It forgets as many anyway."""
        if not isinstance(self.state.strategy, ReviewableStrategy) or page_count <= MAX_REPLAYED_PAGES:
            return ALL_DECISIONS
        return DecisionSample(
            -(-page_count // MAX_REPLAYED_PAGES),
            self.config.example_urls.union(self.config.read_instructions().labels_by_url),
        )

    def restore_scores(
        self, scores: Iterable[StoredFocusedScore], advance: Callable[[int], None] = lambda steps: None
    ) -> None:
        """Pages that are not restored: the strategy knows that they were fetched, and what was thought of them."""
        state = self.state
        for stored_score in scores:
            state.page_count += stored_score.url not in state.assessed_urls
            state.assessed_urls.add(stored_score.url)
            state.next_seq = max(state.next_seq, stored_score.seq + 1)
            if isinstance(state.strategy, ReviewableStrategy):
                state.strategy.forget_pages({stored_score.url: stored_score.score})
            advance(1)

    def load_snapshot(self, count_decisions_before: Callable[[int], int]) -> None:
        """Take the state of the last snapshot, if it fits: the pages from `next_seq` on are to be restored then, else all.

        `count_decisions_before` says how many judged pages the store has before a place in their order. A file that does not fit
        now goes: once there are more pages, it might seem to.
        """
        if self.config.snapshot is None:
            return
        state = self.config.snapshot.load()
        if isinstance(state, TopicPolicyState) and count_decisions_before(state.next_seq) == state.page_count:
            state.shared_terms.confirmed_terms.clear()  # they are known by now
            self.state = state
        else:
            self.config.snapshot.discard()

    def save_snapshot(self) -> None:
        """Keep the state for the next start, unless that has to show all pages anew."""
        state, snapshot = self.state, self.config.snapshot
        if snapshot is None or not self._is_consistent or not self._unsaved_pages:
            return
        self._unsaved_pages = 0
        if state.reread_count * MAX_REREAD_DIVISOR > state.page_count:
            snapshot.discard()
        else:
            snapshot.save(state)

    def save_snapshot_if_due(self) -> None:
        """Keep the state now and then: whatever ends the run, the next start has little to show."""
        if self._unsaved_pages >= max(
            SNAPSHOT_MIN_PAGES, min(self.state.page_count // SNAPSHOT_GROWTH_DIVISOR, SNAPSHOT_MAX_PAGES)
        ):
            self.save_snapshot()

    def refresh_instructions(self) -> None:
        """Tell the strategy what the operator wants and has answered by now."""
        if isinstance(self.state.strategy, ReviewableStrategy):
            self.state.strategy.apply_instructions(self.config.read_instructions())

    def current_scores(self) -> Mapping[str, RelevanceScore]:
        """What is thought now of every page judged so far; nothing where the strategy does not think again."""
        if not isinstance(self.state.strategy, ReviewableStrategy):
            return {}
        self.refresh_instructions()
        return self.state.strategy.current_scores()

    def pages_to_label(self, count: int) -> Sequence[str]:
        """The URLs of pages about which a person's answer helps most."""
        return self.state.strategy.pages_to_label(count) if isinstance(self.state.strategy, ReviewableStrategy) else ()

    def decide(self, tokenized_page: TokenizedPage, anchors: Mapping[str, str]) -> FocusedDecision:
        """What to make of a fetched page. `anchors` has the text of each of its links."""
        relevance, (changed, discarded_urls) = self._assess_and_track(tokenized_page)
        rejected_links = tuple(
            RejectedLink(
                url, anchors.get(url, ""), f"{self.config.strategy_name} discards it: page {relevance.score:.3f}"
            )
            for url in discarded_urls
        )
        seq, self.state.next_seq = self.state.next_seq, self.state.next_seq + 1
        if self.state.next_seq % INSTRUCTIONS_INTERVAL_PAGES == 0:
            self.refresh_instructions()
        self._propose_shared_terms()
        self.save_snapshot_if_due()
        return FocusedDecision(
            seq,
            self.config.strategy_name,
            self.config.topic_name,
            relevance.score,
            relevance.is_relevant,
            serialize_page(tokenized_page),
            changed,
            rejected_links,
        )

    def link_priority(self, url: str) -> float | None:
        """How soon to fetch a URL; None: not at all, as far as is known."""
        return self.state.priority_by_url.get(url)

    def _assess_and_track(self, tokenized_page: TokenizedPage) -> StrategyResult:
        """Show a page that was fetched. A snapshot does not hold what was read again since."""
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
        """Let the strategy see a page; the priorities that it changes, and the links that it discards.

        A page that is read again shows only what is new on it: its other links have been counted.
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
        changed = self._raise_priorities(links, link_priorities) | self._apply_changed_priorities(
            strategy.take_changed_priorities()
        )
        if isinstance(strategy, ReviewableStrategy):
            for url in strategy.take_forgotten_urls():
                state.priority_by_url.pop(url, None)
        self._collect_terms(page, relevance)
        discarded_urls = [link.url for link, value in zip(links, link_priorities, strict=True) if value is None]
        return relevance, (
            changed,
            [url for url in discarded_urls if url not in state.priority_by_url and self._is_unfetched_non_seed(url)],
        )

    def _raise_priorities(
        self, links: Sequence[LinkWords], link_priorities: Sequence[float | None]
    ) -> dict[str, float]:
        """A link counts where it promises more than is known of its URL."""
        changed: dict[str, float] = {}
        priorities = self.state.priority_by_url
        for link, value in zip(links, link_priorities, strict=True):
            if value is not None and self._is_unfetched_non_seed(link.url) and value > priorities.get(link.url, -inf):
                priorities[link.url] = changed[link.url] = value
        return changed

    def _apply_changed_priorities(self, changed_by_strategy: Mapping[str, float]) -> dict[str, float]:
        """What the strategy thinks better of, whichever way."""
        priorities = self.state.priority_by_url
        changed = {
            url: value
            for url, value in changed_by_strategy.items()
            if url in priorities and self._is_unfetched_non_seed(url) and priorities[url] != value
        }
        priorities.update(changed)
        return changed

    def _is_unfetched_non_seed(self, url: str) -> bool:
        """Has it still to be said when the URL is fetched?"""
        return url not in self.state.assessed_urls and url not in self.config.seed_urls

    def _collect_terms(self, page: PageWords, judgement: RelevanceScore) -> None:
        """Every 50 kept pages: what they share may be a term of the topic (METHODS 3.6)."""
        if not judgement.is_relevant:
            self.state.off_topic_statistics.add(page.word_counts)
            return
        terms = top_block_weighted_terms(page.blocks, MAX_TERMS_PER_PAGE)
        common_words = [word for word in terms if self._is_common_off_topic(word)]
        self.state.shared_terms.add_page_terms(terms, dict.fromkeys(self.config.known_words, ""), common_words)

    def _is_common_off_topic(self, word: str) -> bool:
        off_topic = self.state.off_topic_statistics
        return (
            off_topic.document_count >= MIN_OFF_TOPIC_PAGES
            and off_topic.document_frequency[word] > MAX_OFF_TOPIC_SHARE * off_topic.document_count
        )

    def _propose_shared_terms(self) -> None:
        if self.state.shared_terms.pending_terms:
            words: Words = tuple(self.state.shared_terms.pending_terms)
            self.state.shared_terms.confirm_pending(words)  # so that they do not come up again
            self.config.propose_terms(words)
