"""What speaks for an address that was not fetched: the features of `fused`, by node, from the links that lead to it.

    share, support, best_source     relevance of the pages that link to it (Zhou's description, Wu's parent)
    links, by_degree, examples      how many those are; of pages with few links; of the example pages
    terms, latent, words            its best anchor: by the topic's terms, in latent space, by who holds its words
    near_*, all_*, from_*           the same for the text around its links, on average, summed, by relevant pages alone
    hub, hubs                       how its sources' other links turned out
    path                            how relevant the pages fetched from the same host and path are
    walk                            how often a walk from relevant pages along links, either way, comes past its sources

Each is centred and scaled over the frontier of the last look; what each counts before anything is learned, other topics
have taught (`fused_prior.py`).
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from crawler.strategies.fused_judge import Space
from crawler.strategies.fused_memory import Floats, Ints, Memory

FEATURES = (
    "share",
    "support",
    "best_source",
    "links",
    "by_degree",
    "examples",
    "terms",
    "latent",
    "words",
    "near_terms",
    "near_latent",
    "near_words",
    "best_near",
    "all_latent",
    "all_near",
    "mean_words",
    "from_latent",
    "from_near",
    "hub",
    "hubs",
    "path",
    "walk",
)
CONTRAST = 0.5  # of the other pages' terms, subtracted from the topic's
STEPS, ONWARD = 4, 0.6  # of the walk: how many, and the share that goes on instead of back to where it began
LEAST, MOST = -4.0, 6.0  # standard deviations that a feature can say


@dataclass
class WordScores:
    """What each word says of the topic, as of the last look; idf of all words."""

    idf: Floats
    terms: Floats
    latent: Floats
    relevance: Floats
    base: float  # mean relevance of the fetched pages


@dataclass
class LinkTexts:
    """Six numbers a link: its anchor by terms, in latent space, by its words' relevance; its context by the same."""

    values: Floats = field(default_factory=lambda: np.zeros((1024, 6)))

    def set(self, links: slice, rows: Floats) -> None:
        """Keep the numbers of these links."""
        while links.stop > len(self.values):
            self.values = np.vstack((self.values, np.zeros_like(self.values)))
        self.values[links] = rows


def word_scores(space: Space, relevance: Floats) -> WordScores:
    """What the judged pages teach about words. `relevance` is of the space's pages."""
    base = float(relevance.mean())
    count = len(space.idf)
    for_topic = space.weights.T @ (relevance / max(float(relevance.sum()), 1.0))
    against = space.weights.T @ ((1 - relevance) / max(float((1 - relevance).sum()), 1.0))
    terms = np.maximum(for_topic - CONTRAST * against, 0.0)
    mean = relevance @ space.pages
    latent = space.words @ (mean / max(float(np.linalg.norm(mean)), 1e-9))
    holds = space.weights.copy()
    holds.data[:] = 1.0
    shown = (holds.T @ relevance + 2 * base) / (space.frequency[space.columns] + 2)
    return WordScores(
        space.idf,
        spread(terms / max(float(np.linalg.norm(terms)), 1e-9), space.columns, count, 0.0),
        spread(latent, space.columns, count, 0.0),
        spread(shown, space.columns, count, base),
        base,
    )


def spread(values: Floats, columns: Ints, count: int, other: float) -> Floats:
    """Values of the columns at their places among all words."""
    full = np.full(count, other)
    full[columns] = values
    return full


def text_scores(memory: Memory, links: slice, words: WordScores) -> Floats:
    """The six numbers of LinkTexts for some links."""
    weighted = np.stack((words.terms, words.latent, words.relevance), 1) * words.idf[:, None]
    squares = words.idf**2
    found = []
    for parts in (memory.anchors, memory.contexts):
        rows = parts.matrix(links, len(words.idf))  # words that came after the last look say nothing yet
        sums = rows @ weighted
        length = np.sqrt(rows @ squares) + 1e-9
        found += [sums[:, 0] / length, sums[:, 1] / length, sums[:, 2] / (rows @ words.idf + 1e-9)]
    return np.stack(found, 1)


@dataclass
class Outcomes:
    """How pages turned out, by source page and by path: relevance so far, smoothed by the mean of all."""

    hub: Floats
    walk: Floats
    by_path: dict[str, tuple[float, int]]
    base: float

    def of_pages(self, count: int) -> Floats:
        """`hub` of all pages: the mean for those that came since the last look."""
        return np.append(self.hub, np.full(count - len(self.hub), self.base))

    def walk_of_pages(self, count: int) -> Floats:
        """`walk` of all pages: nothing has come past those that came since the last look."""
        return np.append(self.walk, np.zeros(count - len(self.walk)))

    def path(self, path: str) -> float:
        """Mean relevance of the pages fetched from a host and path, drawn toward the mean of all."""
        total, count = self.by_path.get(path, (0.0, 0))
        return (total + 3 * self.base) / (count + 3)


def outcomes(memory: Memory, relevance: Floats) -> Outcomes:
    """What is known of sources and paths. `relevance` is of all pages fetched."""
    base = float(relevance.mean())
    pages = len(relevance)
    target = memory.page_of.values[memory.target.values]
    source = memory.source.values
    fetched = target >= 0
    total = np.bincount(source[fetched], weights=relevance[target[fetched]], minlength=pages)
    count = np.bincount(source[fetched], minlength=pages)
    paths: dict[str, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for page, node in enumerate(memory.pages):
        path = memory.paths[node]
        paths[path] = (paths[path][0] + float(relevance[page]), paths[path][1] + 1)
    return Outcomes((total + 3 * base) / (count + 3), walked(memory, relevance), dict(paths), base)


def walked(memory: Memory, relevance: Floats) -> Floats:
    """How often a walk from the relevant pages comes past each page, 1 for a page as good as any (personalised
    PageRank on links taken either way)."""
    nodes, size = np.array(memory.pages), len(memory.urls)
    ends = (nodes[memory.source.values], memory.target.values)
    links = sp.csr_matrix((np.ones(len(ends[0])), ends), shape=(size, size))
    links = links + links.T
    shrink = sp.diags(np.maximum(np.asarray(links.sum(axis=1)).ravel(), 1.0) ** -0.5)
    step = (shrink @ links @ shrink).tocsr()
    start = np.zeros(size)
    start[nodes] = relevance / max(float(relevance.sum()), 1e-9)
    reached = start
    for _ in range(STEPS):
        reached = ONWARD * (step @ reached) + (1 - ONWARD) * start
    found: Floats = reached[nodes] * len(nodes)
    return found


@dataclass(frozen=True)
class Known:
    """All that the features of a node are made of. `relevance` and `hub` are by page, `examples` says which are."""

    memory: Memory
    texts: LinkTexts
    relevance: Floats
    outcomes: Outcomes
    examples: Floats


def features(known: Known, nodes: list[int]) -> Floats:
    """One row for each node, one column for each of FEATURES. Every node has a link that leads to it."""
    memory, base = known.memory, known.outcomes.base
    into = [memory.into[node] for node in nodes]
    sizes = np.array([len(links) for links in into])
    links = np.fromiter((link for some in into for link in some), np.int64, int(sizes.sum()))
    source = memory.source.values[links]
    groups = Groups(np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    relevance, text = known.relevance[source], known.texts.values[links]
    degree = np.sqrt(np.array([last - first for first, last in memory.links_of], dtype=np.float64))[source]
    hub = known.outcomes.of_pages(len(known.relevance))[source]
    walk = known.outcomes.walk_of_pages(len(known.relevance))[source]
    support = groups.sum(relevance)
    columns = (
        (support + 2 * base) / (sizes + 2),
        np.log1p(support),
        groups.best(relevance),
        np.log1p(sizes),
        np.log1p(3 * groups.sum(relevance / degree)),
        groups.sum(known.examples[source]),
        groups.best(text[:, 0]),
        groups.best(text[:, 1]),
        groups.best(text[:, 2]),
        groups.mean(text[:, 3]),
        groups.mean(text[:, 4]),
        groups.mean(text[:, 5]),
        groups.best(text[:, 4]),
        groups.sum(text[:, 1]) / np.sqrt(sizes),
        groups.sum(text[:, 4]) / np.sqrt(sizes),
        groups.mean(text[:, 2]),
        groups.sum(text[:, 1] * relevance) / np.sqrt(sizes),
        groups.sum(text[:, 4] * relevance) / np.sqrt(sizes),
        groups.mean(hub),
        np.log1p(groups.sum(np.maximum(hub - base, 0.0))),
        np.array([known.outcomes.path(memory.paths[node]) for node in nodes]),
        np.log(groups.sum(walk / degree) / np.sqrt(sizes) + 1e-4),
    )
    return np.stack(columns, 1)


@dataclass(frozen=True)
class Groups:
    """Values of links gathered by the node they lead to: where each node's begin, and how many they are."""

    starts: Ints
    sizes: Ints

    def sum(self, values: Floats) -> Floats:
        """Their sum, a node."""
        return np.add.reduceat(values, self.starts)

    def mean(self, values: Floats) -> Floats:
        """Their mean, a node."""
        return np.add.reduceat(values, self.starts) / self.sizes

    def best(self, values: Floats) -> Floats:
        """The largest, a node."""
        return np.maximum.reduceat(values, self.starts)


@dataclass(frozen=True)
class Scale:
    """Centre and width of the features over a frontier."""

    centre: Floats
    width: Floats

    def __call__(self, rows: Floats) -> Floats:
        """The same rows in standard deviations, cut off at LEAST and MOST."""
        cut_off: Floats = np.clip((rows - self.centre) / self.width, LEAST, MOST)
        return cut_off


def scale_of(rows: Floats) -> Scale:
    """The scale of a frontier's features."""
    return Scale(rows.mean(axis=0), rows.std(axis=0) + 1e-9)
