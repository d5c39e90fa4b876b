"""What a focused strategy sees and says: words of fetched pages and of their links, a topic; judgements, priorities.

    PageWords   title 玄武岩, description, blocks ("title", ...), ("content", ...), ("anchor", ...)
    LinkWords   http://..., anchor 火成岩, context 玄武岩 是 一种 喷出 的 ...
    Topic       name 地质, example pages, terms that the operator confirmed

A focus never sees bytes, hosts it has not fetched, nor labels. Segmentation is done at the edge, once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Protocol

from crawler.strategy import Relevance

Words = tuple[str, ...]

TITLE, CONTENT, ANCHOR, NAVIGATION, OTHER = "title", "content", "anchor", "navigation", "other"
KINDS = (TITLE, CONTENT, ANCHOR, NAVIGATION, OTHER)


@dataclass(frozen=True)
class WordBlock:
    """The words of one tag block (WY-F2). `kind` is one of KINDS, `weight` its share of the page's impact (WY-F5)."""

    kind: str
    words: Words
    weight: float = 0.0


@dataclass(frozen=True)
class PageWords:
    """A fetched page as words, lower case. `description` is meta description and keywords, () where it has none."""

    url: str
    title: Words = ()
    description: Words = ()
    blocks: tuple[WordBlock, ...] = ()

    @cached_property
    def by_kind(self) -> Mapping[str, Counter[str]]:
        """How often each word stands in the blocks of each kind. One block a kind: f_l is by kind, and a word does not
        count more for a text that is cut into more blocks [D]."""
        found: dict[str, Counter[str]] = {}
        for block in self.blocks:
            found.setdefault(block.kind, Counter()).update(block.words)
        return found

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word stands in the page's blocks."""
        return Counter(chain.from_iterable(block.words for block in self.blocks))

    @cached_property
    def own_counts(self) -> Counter[str]:
        """The same for what the page says itself: navigation left out, and other blocks where its content says more."""
        sizes = {kind: counts.total() for kind, counts in self.by_kind.items()}
        left_out = {NAVIGATION} if sizes.get(OTHER, 0) > sizes.get(CONTENT, 0) else {NAVIGATION, OTHER}
        if left_out.isdisjoint(sizes):
            return self.counts
        return Counter(chain.from_iterable(block.words for block in self.blocks if block.kind not in left_out))

    def counted(self) -> "PageWords":
        """The page, its words counted: for a thread that reads pages, so that the one that decides need not."""
        self.counts, self.by_kind, self.own_counts  # noqa: B018  # are kept
        return self


@dataclass(frozen=True)
class LinkWords:
    """A link as words: of its anchor, and of the text around it."""

    url: str
    anchor: Words = ()
    context: Words = ()


@dataclass(frozen=True)
class TopicWords:
    """What the operator says of the topic: words of its name, example pages, terms of Wu's three classes (METHODS 3.4).

    Nothing else is known of it. `stop_words` never are terms.
    """

    name: Words = ()
    examples: tuple[PageWords, ...] = ()
    professional: Words = ()
    subject: Words = ()
    judgement: Words = ()
    stop_words: frozenset[str] = frozenset()

    @property
    def terms(self) -> Mapping[str, float]:
        """The confirmed terms with the weights of their classes: Fs 1.0, Fb 0.8, Fv 0.6 [D]; a name counts as Fs."""
        found = dict.fromkeys(self.judgement, 0.6) | dict.fromkeys(self.subject, 0.8)
        return found | dict.fromkeys((*self.professional, *self.name), 1.0)


class FocusedStrategy(Protocol):
    """A focused strategy. One thread calls, for one page at a time: keep, link_priorities, learn, rescored."""

    def keep(self, page: PageWords) -> Relevance:
        """Judge a fetched page. The score is in 0 to 1."""

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """How soon to fetch what each link leads to, higher is sooner; None to discard it."""

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """Take note of a page that was judged, kept or not."""

    def rescored(self) -> Mapping[str, float]:
        """URLs not fetched yet whose priority has changed since the last call, with the new one."""
