"""Baselines of the strategies: the table of ../shared/data/webgraph/README.md, and upper bounds.

Best first uses the topic's example pages. The priority of a link is the cosine of its anchor, its context or its page
with the mean of the examples (tf.idf, idf of the complete graph: a baseline may know more than a crawl).
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.focus_graph import Graph
from crawler.focused_policy import LinkWords, PageWords, RelevanceScore, TopicWords
from focused.sparse_vectors import cosine

DECAY = 0.5  # of what is inherited (Shark-search)
ANCHOR_SHARE = 0.8  # of the anchor in a link's neighbourhood (Shark-search)
LEAST = 0.05  # a page below it hands on what it inherited


class BreadthFirst:
    """Follows links in the order in which they were found."""

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Accept every page."""
        return RelevanceScore(is_relevant=True, score=1.0)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Return equal priorities: the frontier is first in, first out."""
        return [0.0] * len(links)

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Learn nothing."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """Return no changes."""
        return {}


class BestFirst(BreadthFirst):
    """Best first, with weights of page, anchor and context in the priority of a link."""

    def __init__(
        self, topic: TopicWords, idf: Callable[[str], float], page: float, anchor: float, context: float
    ) -> None:
        self._weights = (page, anchor, context)
        self._idf = idf
        self._topic: Counter[str] = Counter()
        for example in topic.examples:
            self._topic.update(self.vector(example.word_counts))

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Accept every page; the score is the cosine."""
        return RelevanceScore(is_relevant=True, score=cosine(self._topic, self.vector(page.word_counts)))

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Return the weighted sums."""
        of_page, of_anchor, of_context = self._weights
        return [
            of_page * relevance.score
            + of_anchor * self.like(link.anchor_words)
            + of_context * self.like(link.context_words)
            for link in links
        ]

    def like(self, words: Sequence[str]) -> float:
        """Return the cosine of some words with the topic."""
        return cosine(self._topic, self.vector(Counter(set(words)))) if words else 0.0

    def vector(self, counts: Mapping[str, int]) -> dict[str, float]:
        """(1 + ln tf) * idf, a unit vector."""
        raw = {word: (1 + math.log(count)) * self._idf(word) for word, count in counts.items()}
        length = math.sqrt(sum(value**2 for value in raw.values()))
        return {word: value / length for word, value in raw.items()} if length else {}


class Shark(BestFirst):
    """Shark-search: a link inherits from its page and that page's ancestors; context counts only if the anchor scores
    0.
    """

    def __init__(self, topic: TopicWords, idf: Callable[[str], float]) -> None:
        super().__init__(topic, idf, 0.0, 0.0, 0.0)
        self._inherited: dict[str, float] = {}

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Combine the inherited score and the score of the link's own neighbourhood in equal parts."""
        own = relevance.score if relevance.score > LEAST else self._inherited.get(page.url, 0.0)
        inherited = DECAY * own
        found: list[float | None] = []
        for link in links:
            self._inherited[link.url] = max(self._inherited.get(link.url, 0.0), inherited)
            anchor, context = self.like(link.anchor_words), self.like(link.context_words)
            near = ANCHOR_SHARE * anchor + (1 - ANCHOR_SHARE) * (1.0 if anchor > 0 else context)
            found.append(0.5 * inherited + 0.5 * near)
        return found


class Oracle(BreadthFirst):
    """Knows the labels and the distance from each page to the nearest page of the topic."""

    def __init__(self, distance: Mapping[str, int]) -> None:
        self._distance = distance

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Prefer the smaller distance."""
        return [-float(self._distance.get(link.url, len(self._distance))) for link in links]


@dataclass(frozen=True)
class Frequencies:
    """idf over all pages of a graph."""

    pages: int
    holding: Mapping[str, int]

    def __call__(self, word: str) -> float:
        """ln((N + 1) / (n + 1))."""
        return math.log((self.pages + 1) / (self.holding.get(word, 0) + 1))


def frequencies(graph: Graph) -> Frequencies:
    """Count the document frequencies of a graph."""
    holding: Counter[str] = Counter()
    for node in graph.nodes.values():
        holding.update(node.page.word_counts.keys())
    return Frequencies(len(graph.nodes), holding)


def distances(graph: Graph, relevant: frozenset[str]) -> dict[str, int]:
    """Return the number of steps from each page to the nearest page of the topic; pages without a path are omitted."""
    back: dict[str, list[str]] = {}
    for url, node in graph.nodes.items():
        for link in node.links:
            back.setdefault(link.url, []).append(url)
    found = dict.fromkeys(relevant, 0)
    waiting = deque(found)
    while waiting:
        url = waiting.popleft()
        for source in back.get(url, ()):
            if source not in found:
                found[source] = found[url] + 1
                waiting.append(source)
    return found
