"""The bridge from the live crawl to a focused strategy (`crawler/guide.py`).

    page -> words (worker threads) -> TopicGuide.judge -> kept or not, priorities of its links and of others -> table

The strategy's state is not kept: `TopicGuide.restore` shows it again, in order, what it was shown before, which the
store has of every visit that it has (focused_decisions.py). So whatever kills the crawl, state and store agree.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from crawler.guide import FocusedStrategy, LinkWords, PageWords, Words
from crawler.packed_reading import Cut, PageReading, ReadPage, packed, read_links, unpacked
from crawler.strategy import Relevance
from docstore.frontier.focused_decisions import PageDecision, RejectedLink, StoredDecision
from docstore.model import Link, Page
from focused.papers.feature_library import DynamicLibrary
from focused.papers.positions import term_weights
from text.word_weights import WordStatistics

IMPORTANT = 60  # terms of a kept page that may become terms of the topic (WY-A1)
COMMON, ENOUGH = 0.4, 8  # a word of more than this part of so many pages off topic is no term of it
OF_SEED = 0.0  # of links of a home page that says nothing of the topic: a crawl does not end where it begins

Propose = Callable[[Sequence[str]], None]


@dataclass(frozen=True)
class GuideConfig:
    """What a focused crawl is made of. `read` and `cut` are called in worker threads, the rest in one.

    `first` are URLs that are fetched before all others, whatever is thought of them; `taught` are example pages
    that the crawl cannot fetch; `propose` is told of words that the kept pages share;
    `known` are words that are no news to it.
    """

    strategy: str
    topic: str
    focus: FocusedStrategy
    read: ReadPage
    cut: Cut
    first: frozenset[str] = frozenset()
    taught: tuple[PageWords, ...] = ()
    known: frozenset[str] = frozenset()
    propose: Propose = lambda words: None


@dataclass
class TopicGuide:
    """The `Guide` of a crawl that looks for a topic. Used by one thread, but for `read`."""

    means: GuideConfig
    priorities: dict[str, float] = field(default_factory=dict)  # of URLs not fetched yet
    seq: int = 0
    _shown: set[str] = field(default_factory=set)  # URLs of the pages judged
    _shared: DynamicLibrary = field(default_factory=lambda: DynamicLibrary(automatic=False))
    _others: WordStatistics = field(default_factory=WordStatistics)

    def __post_init__(self) -> None:
        for page in self.means.taught:
            self._show(PageReading(page))

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
        for one in judged:
            judgement, _ = self._show(unpacked(one.words))
            self.seq = max(self.seq, one.seq + 1)
            if judgement.keep and not one.kept:
                wanted.append(one.url)
            advance(1)
        self._shared.pending.clear()  # proposed when they came up
        return wanted

    def judge(self, reading: PageReading, anchors: Mapping[str, str]) -> PageDecision:
        """What to make of a fetched page. `anchors` has the text of each of its links."""
        judgement, (changed, out) = self._show(reading)
        left_out = tuple(
            RejectedLink(url, anchors.get(url, ""), f"{self.means.strategy} discards it: page {judgement.score:.3f}")
            for url in out
        )
        seq, self.seq = self.seq, self.seq + 1
        self._propose()
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
        return self.priorities.get(url)

    def _show(self, reading: PageReading) -> tuple[Relevance, tuple[dict[str, float], list[str]]]:
        """Let the strategy see a page; the priorities that it changes, and the links that it discards.

        A page that is read again shows only what is new on it: its other links have been counted.
        """
        focus, page, links = self.means.focus, reading.page, reading.links
        if page.url in self._shown:
            links = tuple(link for link in links if link.url not in self._shown and link.url not in self.priorities)
            if not links:
                return focus.keep(page), ({}, [])
        self._shown.add(page.url)
        self.priorities.pop(page.url, None)
        judgement = focus.keep(page)
        promised = focus.link_priorities(page, judgement, links)
        if page.url in self.means.first and all(value is None for value in promised):
            promised = [OF_SEED] * len(links)
        focus.learn(page, judgement)
        changed = self._offer(links, promised) | self._change(focus.rescored())
        self._share(page, judgement)
        out = [link.url for link, value in zip(links, promised, strict=True) if value is None]
        return judgement, (changed, [url for url in out if url not in self.priorities and self._is_open(url)])

    def _offer(self, links: Sequence[LinkWords], promised: Sequence[float | None]) -> dict[str, float]:
        """A link counts where it promises more than is known of its URL."""
        changed: dict[str, float] = {}
        for link, value in zip(links, promised, strict=True):
            if value is not None and self._is_open(link.url) and value > self.priorities.get(link.url, -inf):
                self.priorities[link.url] = changed[link.url] = value
        return changed

    def _change(self, rescored: Mapping[str, float]) -> dict[str, float]:
        """What the strategy thinks better of, whichever way."""
        changed = {
            url: value
            for url, value in rescored.items()
            if url in self.priorities and self._is_open(url) and self.priorities[url] != value
        }
        self.priorities.update(changed)
        return changed

    def _is_open(self, url: str) -> bool:
        """Has it still to be said when the URL is fetched?"""
        return url not in self._shown and url not in self.means.first

    def _share(self, page: PageWords, judgement: Relevance) -> None:
        """Every 50 kept pages: what they share may be a term of the topic (METHODS 3.6)."""
        if not judgement.keep:
            self._others.add(page.counts)
            return
        terms = term_weights(page.blocks, IMPORTANT)
        common = [word for word in terms if self._is_common(word)]
        self._shared.add(terms, dict.fromkeys(self.means.known, ""), common)

    def _is_common(self, word: str) -> bool:
        others = self._others
        return others.documents >= ENOUGH and others.holding[word] > COMMON * others.documents

    def _propose(self) -> None:
        if self._shared.pending:
            words: Words = tuple(self._shared.pending)
            self._shared.confirm(words)  # so that they do not come up again
            self.means.propose(words)
