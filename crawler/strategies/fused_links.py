"""What speaks for an address that was not fetched: the features of `fused`, by node, from the links that lead to it.

    share, support, best_source     relevance of the pages that link to it (Zhou's description, Wu's parent)
    links, by_degree, examples      how many those are; of pages with few links; of the example pages
    terms, latent, words            its best anchor: by the topic's terms, in latent space, by who holds its words
    near_*, all_*, from_*           the same for the text around its links, on average, summed, by relevant pages alone
    hub, hubs                       how its sources' other links turned out
    path                            how relevant the pages fetched from the same host and path are
    walk                            how often a walk from relevant pages along links, either way, comes past its sources
    name                            the words of the topic's name in its best anchor
    taught_words, taught_latent     what its words promise by those of the addresses fetched so far (`fused_taught.py`)

Each is centred and scaled over the frontier of the last look; what each counts, other topics have taught
(`fused_prior.py`).
"""

from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import scipy.sparse as sp

from crawler.strategies.fused_judge import Space
from crawler.strategies.fused_memory import Floats, Ints, Memory
from crawler.strategies.fused_taught import AROUND, Taught, Texts

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
    "name",
    "taught_words",
    "taught_latent",
)
CONTRAST = 0.5  # of the other pages' terms, subtracted from the topic's
STEPS, ONWARD = 4, 0.6  # of the walk: how many, and the share that goes on instead of back to where it began
LEAST, MOST = -4.0, 6.0  # standard deviations that a feature can say


@dataclass
class LinkTexts:
    """Numbers of each link: its anchor by terms, in latent space, by its words' relevance; its context by the same;
    its anchor by the name; both by what was taught about words, and about latent space."""

    values: Floats = field(default_factory=lambda: np.zeros((1024, 9)))

    def set(self, links: slice, rows: Floats) -> None:
        """Keep the numbers of these links."""
        while links.stop > len(self.values):
            self.values = np.vstack((self.values, np.zeros_like(self.values)))
        self.values[links] = rows


def word_scores(space: Space, relevance: Floats, name: Ints, lessons: Taught) -> Floats:
    """What each word says of the topic, words x 8: by terms, in latent space, by what was taught about words and about
    latent space, by the relevance of the pages that hold it, each times idf; its part of the name; idf; idf squared.

    `relevance` is of the space's pages; `name` are words.
    """
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
    scores = (
        spread(terms / max(float(np.linalg.norm(terms)), 1e-9), space.columns, count, 0.0),
        spread(latent, space.columns, count, 0.0),
        lessons.by_words,
        lessons.by_latent,
        spread(shown, space.columns, count, base),
    )
    named = spread(np.full(len(name), 1 / max(len(name), 1)), name, count, 0.0)
    return np.column_stack((np.stack(scores, 1) * space.idf[:, None], named, space.idf, space.idf**2))


def spread(values: Floats, columns: Ints, count: int, other: float) -> Floats:
    """Values of the columns at their places among all words."""
    full = np.full(count, other)
    full[columns] = values
    return full


def text_scores(texts: Texts, words: Floats) -> Floats:
    """The numbers of LinkTexts for some links, from `word_scores`."""
    anchors, contexts = of_words(texts.anchors, words), of_words(texts.contexts, words)
    promised = anchors[:, [2, 3]] + AROUND * contexts[:, [2, 3]]
    return np.hstack((anchors[:, [0, 1, 4]], contexts[:, [0, 1, 4]], anchors[:, [5]], promised))


def of_words(rows: sp.csr_matrix, words: Floats) -> Floats:
    """Links x 8, the sums of their words' scores: the first four over the length of the words, the fifth a mean by
    idf."""
    sums = np.asarray(rows @ words, dtype=np.float64)
    sums[:, :4] /= np.sqrt(sums[:, [7]]) + 1e-9
    sums[:, 4] /= sums[:, 6] + 1e-9
    return sums


@dataclass
class Outcomes:
    """How pages turned out, by source page and by host and path: relevance so far, drawn toward the mean of all."""

    hub: Floats
    walk: Floats
    path: Floats
    base: float

    def of_pages(self, count: int) -> Floats:
        """`hub` of all pages: the mean for those that came since the last look."""
        return np.append(self.hub, np.full(count - len(self.hub), self.base))

    def walk_of_pages(self, count: int) -> Floats:
        """`walk` of all pages: nothing has come past those that came since the last look."""
        return np.append(self.walk, np.zeros(count - len(self.walk)))

    def of_paths(self, count: int) -> Floats:
        """`path` of all paths: the mean for those that came since the last look."""
        return np.append(self.path, np.full(count - len(self.path), self.base))


def outcomes(memory: Memory, relevance: Floats) -> Outcomes:
    """What is known of sources and paths. `relevance` is of all pages fetched."""
    base = float(relevance.mean())
    pages = len(relevance)
    target = memory.page_of.values[memory.target.values]
    source = memory.source.values
    fetched = target >= 0
    hub = mean_of(source[fetched], relevance[target[fetched]], pages, base)
    path = mean_of(memory.path.values[memory.pages], relevance, len(memory.paths), base)
    return Outcomes(hub, walked(memory, relevance), path, base)


def mean_of(owner: Ints, values: Floats, count: int, base: float) -> Floats:
    """The mean of each owner's values, drawn toward `base` as if there were three more of it."""
    total = np.bincount(owner, weights=values, minlength=count)
    return (total + 3 * base) / (np.bincount(owner, minlength=count) + 3)


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
    links = np.fromiter(chain.from_iterable(into), np.int64, int(sizes.sum()))
    source = memory.source.values[links]
    groups = Groups(np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    relevance, text = known.relevance[source], known.texts.values.take(links, axis=0)
    degree = np.sqrt(memory.degree.values[source])
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
        known.outcomes.of_paths(len(memory.paths))[memory.path.values[nodes]],
        np.log(groups.sum(walk / degree) / np.sqrt(sizes) + 1e-4),
        groups.best(text[:, 6]),
        groups.mean(text[:, 7]),
        groups.mean(text[:, 8]),
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
