"""The bridge from the live crawl to a focused strategy (`crawler/guide.py`).

    page -> words (worker threads) -> TopicGuide.judge -> kept or not, priorities of its links and of others -> table

The store has what the strategy was shown of every visit that it has (focused_decisions.py). A start takes the state
that the last run left (`snapshot.py`) and shows it the pages after that; where there is none that fits,
`TopicGuide.restore` shows it all of them again, in order. So whatever kills the crawl, state and store agree.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from crawler.guide import (
    Cut,
    FocusedStrategy,
    Instructions,
    LinkWords,
    PageReading,
    PageWords,
    Relevance,
    ReviewedStrategy,
    Words,
    packed,
    read_links,
    unpacked,
)
from docstore.frontier.focused_decisions import (
    WHOLE,
    PageDecision,
    RejectedLink,
    Sample,
    StoredDecision,
    StoredScore,
)
from docstore.model import Link, Page
from focused.papers.feature_library import DynamicLibrary
from focused.papers.positions import term_weights
from focused.snapshot import Snapshot
from text.word_weights import WordStatistics

IMPORTANT = 60  # terms of a kept page that may become terms of the topic (WY-A1)
COMMON, ENOUGH = 0.4, 8  # a word of more than this part of so many pages off topic is no term of it
OF_SEED = 0.0  # of links of a home page that says nothing of the topic: a crawl does not end where it begins
SAVE_EVERY, SAVE_SHARE = 1000, 4  # pages between two snapshots: this many, or this part of all, whichever is more
SAVE_MOST = 5000  # but no more: they are what a start after kill -9 has to show again
AGAIN_SHARE = 10  # the part of all pages that may be read again, before the state is made anew of what they say by now

MOST_RESTORED = 20_000  # pages that a start shows a strategy that can do with some of them: two minutes
LISTEN_EVERY = 50  # pages: an answer given while the crawl goes on counts from then on

Propose = Callable[[Sequence[str]], None]
Shown = tuple[Relevance, tuple[dict[str, float], list[str]]]  # what a page is; priorities, links that are discarded


@dataclass(frozen=True)
class GuideConfig:
    """What a focused crawl is made of. `read` and `cut` are called in worker threads, the rest in one.

    `first` are URLs that are fetched before all others, whatever is thought of them; `examples` those of example pages;
    `taught` are those of them that the crawl cannot fetch; `propose` is told of words that the kept pages share;
    `known` are words that are no news to it; `instructions` are what the operator wants and has answered by now, asked
    for now and then; `snapshot` is where its state is kept between runs; `close` ends what
    `read` has begun.
    """

    strategy: str
    topic: str
    focus: FocusedStrategy
    read: Callable[[Page], PageWords]
    cut: Cut
    first: frozenset[str] = frozenset()
    examples: frozenset[str] = frozenset()
    taught: tuple[PageWords, ...] = ()
    known: frozenset[str] = frozenset()
    propose: Propose = lambda words: None
    instructions: Callable[[], Instructions] = Instructions
    snapshot: Snapshot | None = None
    close: Callable[[], None] = lambda: None


@dataclass
class GuideState:
    """All that a guide has learned of the pages: what a snapshot holds."""

    focus: FocusedStrategy
    taught: set[str]  # URLs of example pages that were shown and not fetched so far
    priorities: dict[str, float] = field(default_factory=dict)  # of URLs not fetched yet that are remembered
    seq: int = 0  # of the next page
    pages: int = 0  # judged, each once
    again: int = 0  # pages that were read again, since all were shown anew
    shown: set[str] = field(default_factory=set)  # URLs of the pages judged
    shared: DynamicLibrary = field(default_factory=lambda: DynamicLibrary(automatic=False))
    others: WordStatistics = field(default_factory=WordStatistics)


class TopicGuide:
    """The `Guide` of a crawl that looks for a topic. Used by one thread, but for `read`."""

    def __init__(self, means: GuideConfig) -> None:
        self.means = means
        self.state = GuideState(means.focus, {page.url for page in means.taught})
        self._is_whole = True  # no page has been shown by half
        self._unsaved = 0  # pages
        for page in means.taught:
            self._show(PageReading(page))

    @property
    def priorities(self) -> Mapping[str, float]:
        """Of the URLs that are not fetched yet, but for those forgotten: theirs in the table stay."""
        return self.state.priorities

    @property
    def seq(self) -> int:
        """The place of the next page in the order of judging."""
        return self.state.seq

    def read(self, page: Page, links: Sequence[Link]) -> PageReading:
        """A page and its links as words; in any thread."""
        return PageReading(self.means.read(page).counted(), read_links(page.url, links, self.means.cut))

    def restore(
        self, judged: Iterable[StoredDecision], advance: Callable[[int], None] = lambda steps: None
    ) -> list[str]:
        """Show the strategy what it was shown before. Afterwards `priorities` are to be set in the table.

        Returns the URLs of pages that were not kept and now would be: topic or strategy have changed.
        """
        wanted: list[str] = []
        self.listen()
        for one in judged:
            judgement, _ = self._take(unpacked(one.words))
            self.state.seq = max(self.state.seq, one.seq + 1)
            if judgement.keep and not one.kept:
                wanted.append(one.url)
            advance(1)
        self.state.shared.pending.clear()  # proposed when they came up
        return wanted

    def sample(self, pages: int) -> Sample:
        """Which of so many judged pages to restore: so many that it is done soon, where the strategy can do with some.
        It forgets as many anyway."""
        if not isinstance(self.state.focus, ReviewedStrategy) or pages <= MOST_RESTORED:
            return WHOLE
        return Sample(-(-pages // MOST_RESTORED), self.means.examples.union(self.means.instructions().answers))

    def take_as_judged(
        self, scores: Iterable[StoredScore], advance: Callable[[int], None] = lambda steps: None
    ) -> None:
        """Pages that are not restored: the strategy knows that they were fetched, and what was thought of them."""
        state = self.state
        for one in scores:
            state.pages += one.url not in state.shown
            state.shown.add(one.url)
            state.seq = max(state.seq, one.seq + 1)
            if isinstance(state.focus, ReviewedStrategy):
                state.focus.forget({one.url: one.score})
            advance(1)

    def load(self, pages_before: Callable[[int], int]) -> None:
        """Take the state of the last snapshot, if it fits: the pages from `seq` on are to be restored then, else all.

        `pages_before` says how many judged pages the store has before a place in their order. A file that does not fit
        now goes: once there are more pages, it might seem to.
        """
        if self.means.snapshot is None:
            return
        state = self.means.snapshot.load()
        if isinstance(state, GuideState) and pages_before(state.seq) == state.pages:
            state.shared.confirmed.clear()  # they are known by now
            self.state = state
        else:
            self.means.snapshot.discard()

    def save(self) -> None:
        """Keep the state for the next start, unless that has to show all pages anew."""
        state, snapshot = self.state, self.means.snapshot
        if snapshot is None or not self._is_whole or not self._unsaved:
            return
        self._unsaved = 0
        if state.again * AGAIN_SHARE > state.pages:
            snapshot.discard()
        else:
            snapshot.save(state)

    def save_if_due(self) -> None:
        """Keep the state now and then: whatever ends the run, the next start has little to show."""
        if self._unsaved >= max(SAVE_EVERY, min(self.state.pages // SAVE_SHARE, SAVE_MOST)):
            self.save()

    def listen(self) -> None:
        """Tell the strategy what the operator wants and has answered by now."""
        if isinstance(self.state.focus, ReviewedStrategy):
            self.state.focus.instruct(self.means.instructions())

    def verdicts(self) -> Mapping[str, Relevance]:
        """What is thought now of every page judged so far; nothing where the strategy does not think again."""
        if not isinstance(self.state.focus, ReviewedStrategy):
            return {}
        self.listen()
        return self.state.focus.verdicts()

    def questions(self, count: int) -> Sequence[str]:
        """The URLs of pages about which a person's answer helps most."""
        return self.state.focus.questions(count) if isinstance(self.state.focus, ReviewedStrategy) else ()

    def judge(self, reading: PageReading, anchors: Mapping[str, str]) -> PageDecision:
        """What to make of a fetched page. `anchors` has the text of each of its links."""
        judgement, (changed, out) = self._take(reading)
        left_out = tuple(
            RejectedLink(url, anchors.get(url, ""), f"{self.means.strategy} discards it: page {judgement.score:.3f}")
            for url in out
        )
        seq, self.state.seq = self.state.seq, self.state.seq + 1
        if self.state.seq % LISTEN_EVERY == 0:
            self.listen()
        self._propose()
        self.save_if_due()
        return PageDecision(
            seq,
            self.means.strategy,
            self.means.topic,
            judgement.score,
            judgement.keep,
            packed(reading),
            changed,
            left_out,
        )

    def priority(self, url: str) -> float | None:
        """How soon to fetch a URL; None: not at all, as far as is known."""
        return self.state.priorities.get(url)

    def _take(self, reading: PageReading) -> Shown:
        """Show a page that was fetched. A snapshot does not hold what was read again since."""
        state, url = self.state, reading.page.url
        is_new = url not in state.shown or url in state.taught
        if not is_new and self.means.snapshot is not None:
            self.means.snapshot.discard()
        self._is_whole = False
        shown = self._show(reading)
        state.taught.discard(url)
        state.pages += is_new
        state.again += not is_new
        self._unsaved += 1
        self._is_whole = True
        return shown

    def _show(self, reading: PageReading) -> Shown:
        """Let the strategy see a page; the priorities that it changes, and the links that it discards.

        A page that is read again shows only what is new on it: its other links have been counted.
        """
        state, page, links = self.state, reading.page, reading.links
        focus = state.focus
        if page.url in state.shown:
            links = tuple(link for link in links if link.url not in state.shown and link.url not in state.priorities)
            if not links:
                return focus.keep(page), ({}, [])
        state.shown.add(page.url)
        state.priorities.pop(page.url, None)
        judgement = focus.keep(page)
        promised = focus.link_priorities(page, judgement, links)
        if page.url in self.means.first and all(value is None for value in promised):
            promised = [OF_SEED] * len(links)
        focus.learn(page, judgement)
        changed = self._offer(links, promised) | self._change(focus.rescored())
        if isinstance(focus, ReviewedStrategy):
            for url in focus.forgotten():
                state.priorities.pop(url, None)
        self._share(page, judgement)
        out = [link.url for link, value in zip(links, promised, strict=True) if value is None]
        return judgement, (changed, [url for url in out if url not in state.priorities and self._is_open(url)])

    def _offer(self, links: Sequence[LinkWords], promised: Sequence[float | None]) -> dict[str, float]:
        """A link counts where it promises more than is known of its URL."""
        changed: dict[str, float] = {}
        priorities = self.state.priorities
        for link, value in zip(links, promised, strict=True):
            if value is not None and self._is_open(link.url) and value > priorities.get(link.url, -inf):
                priorities[link.url] = changed[link.url] = value
        return changed

    def _change(self, rescored: Mapping[str, float]) -> dict[str, float]:
        """What the strategy thinks better of, whichever way."""
        priorities = self.state.priorities
        changed = {
            url: value
            for url, value in rescored.items()
            if url in priorities and self._is_open(url) and priorities[url] != value
        }
        priorities.update(changed)
        return changed

    def _is_open(self, url: str) -> bool:
        """Has it still to be said when the URL is fetched?"""
        return url not in self.state.shown and url not in self.means.first

    def _share(self, page: PageWords, judgement: Relevance) -> None:
        """Every 50 kept pages: what they share may be a term of the topic (METHODS 3.6)."""
        if not judgement.keep:
            self.state.others.add(page.counts)
            return
        terms = term_weights(page.blocks, IMPORTANT)
        common = [word for word in terms if self._is_common(word)]
        self.state.shared.add(terms, dict.fromkeys(self.means.known, ""), common)

    def _is_common(self, word: str) -> bool:
        others = self.state.others
        return others.documents >= ENOUGH and others.holding[word] > COMMON * others.documents

    def _propose(self) -> None:
        if self.state.shared.pending:
            words: Words = tuple(self.state.shared.pending)
            self.state.shared.confirm(words)  # so that they do not come up again
            self.means.propose(words)
