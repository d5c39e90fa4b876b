"""What speaks for a URL that was not fetched: the features of `fused`, by node, from the links that lead to it.

    share, support, best_source     relevance of the pages that link to it (Zhou's description, Wu's parent)
    links, by_degree, examples      how many those are; of pages with few links; of the example pages
    terms, latent, words            its best anchor: by the topic's terms, in latent space, by who holds its words
    near_*, all_*, from_*           the same for the text around its links, on average, summed, by relevant pages alone
    hub, hubs                       how its sources' other links turned out
    path                            how relevant the pages fetched from the same host and path are
    walk                            how often a walk from relevant pages along links, either way, comes past its sources
    name                            the words of the topic's name in its best anchor
    taught_words, taught_latent     what its words promise by those of the URLs fetched so far (`link_text.py`)
    walk_share                      of the long walks that come past it, how many began at relevant pages

Each is centred and scaled over the frontier of the last look; what each counts, other topics have taught
(`pretrained_prior.py`).
"""

from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import scipy.sparse as sp

from focused.fused.crawl_graph import CrawlGraph, Floats, Ints
from focused.fused.latent_space import LatentSpace
from focused.fused.link_text import AROUND, LinkTextModel, Texts
from focused.fused.page_rank import PageRank

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
    "walk_share",
)
CONTRAST = 0.5  # of the other pages' terms, subtracted from the topic's
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


def word_scores(space: LatentSpace, relevance: Floats, name: Floats, lessons: LinkTextModel) -> Floats:
    """What each word says of the topic, words x 8: by terms, in latent space, by what was taught about words and about
    latent space, by the relevance of the pages that hold it, each times idf; its part of the name; idf; idf squared.

    `relevance` is of the space's pages; `name` says what part of the name each word is.
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
    return np.column_stack((np.stack(scores, 1) * space.idf[:, None], name, space.idf, space.idf**2))


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


@dataclass(frozen=True)
class Known:
    """All that the features of a node are made of. `relevance` is by page, `examples` says which are."""

    memory: CrawlGraph
    texts: LinkTexts
    relevance: Floats
    company: PageRank
    examples: Floats


def features(known: Known, nodes: list[int]) -> Floats:
    """One row for each node, one column for each of FEATURES. Every node has a link that leads to it."""
    memory, company, base = known.memory, known.company, known.company.base
    into = [memory.into[node] for node in nodes]
    sizes = np.array([len(links) for links in into])
    links = np.fromiter(chain.from_iterable(into), np.int64, int(sizes.sum()))
    source = memory.source.values[links]
    groups = Groups(np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    relevance, text = known.relevance[source], known.texts.values.take(links, axis=0)
    degree = np.sqrt(memory.degree.values[source])
    # not all pages as an array: it would be made anew for every page of a crawl
    source_nodes = np.fromiter(map(memory.pages.__getitem__, source.tolist()), np.int64, len(source))
    hub, walk = company.hub(source), company.visits_of(source_nodes)
    at = np.array(nodes)
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
        company.path_of(memory.path.values[at]),
        np.log(groups.sum(walk / degree) / np.sqrt(sizes) + 1e-4),
        groups.best(text[:, 6]),
        groups.mean(text[:, 7]),
        groups.mean(text[:, 8]),
        company.share_of(at),
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
