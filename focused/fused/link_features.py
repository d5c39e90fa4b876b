"""What speaks for a URL that was not fetched: the features of `fused`, by node, from the links that lead to it.

Each is centred and scaled over the frontier of the last refit; what each counts, other topics have taught
(`pretrained_prior.py`). Names and columns come from one table, `FEATURES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy.sparse as sp

from focused.fused.crawl_graph import Column, CrawlGraph, Floats, Ints
from focused.fused.latent_space import LatentSpace
from focused.fused.link_text import AROUND, LinkTextModel, Texts
from focused.fused.page_rank import PageRank

CONTRAST = 0.5  # of the other pages' terms, subtracted from the topic's
LEAST_PROMISE = 0.01  # a promise that is as good as none
LEAST, MOST = -4.0, 6.0  # standard deviations that a feature can say


# Columns of `LinkTexts`: what a link's anchor says, then the text around it, then its anchor by the name, then both.
TERMS, LATENT, WORDS, NEAR_TERMS, NEAR_LATENT, NEAR_WORDS, NAME, TAUGHT_WORDS, TAUGHT_LATENT = range(9)


class LinkTexts(Column[np.float64]):
    """What the words of each link say, (links, 9): the columns above, by the topic's terms, in latent space, by who
    holds the words; by what was taught about words and about latent space (`link_text.py`)."""

    def __init__(self) -> None:
        super().__init__(np.float64, (TAUGHT_LATENT + 1,))

    def set(self, links: slice, rows: Floats) -> None:
        """The rows of these links, of which some may be the next ones."""
        known = self.values[links]
        known[:] = rows[: len(known)]
        self.add(rows[len(known) :])


def word_scores(space: LatentSpace, relevance: Floats, name: Floats, lessons: LinkTextModel) -> Floats:
    """What each word says of the topic.

    relevance  (pages,) float64     of the space's pages
    name       (words,) float64     what part of the topic's name each word is
    returns    (words, 8) float64   by terms, in latent space, by what was taught about words and about latent space, by
                                    the relevance of the pages that hold it, each times idf; its part of the name; idf;
                                    idf squared
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
    """The rows of `LinkTexts` for some links, (links, 9) float64, from `word_scores`."""
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
    """All that the features of a node are made of.

    relevance  (pages,) float64  what was thought of each page
    promise    (pages,) float64  what share of its links was expected to be of the topic
    examples   (pages,) float64  1 for an example of the topic, else 0
    """

    graph: CrawlGraph
    texts: LinkTexts
    relevance: Floats
    promise: Floats
    company: PageRank
    examples: Floats


@dataclass(frozen=True)
class LinksInto:
    """The links that lead to some nodes, those of the first node first: every node has one at least.

    nodes      (nodes,) int64       number of each node
    starts     (nodes,) int64       where its links begin among these
    sizes      (nodes,) int64       how many they are
    relevance  (links,) float64     of the page that a link is on
    promise    (links,) float64     ln of what that page's links promise
    degree     (links,) float64     square root of how many links that page has
    example    (links,) float64     1 where that page is an example
    hub        (links,) float64     how that page's links turned out (`PageRank.hub`)
    walk       (links,) float64     how often a walk comes past that page (`PageRank.visits`)
    text       (links, 9) float64   rows of `LinkTexts`
    support    (nodes,) float64     sum of `relevance`
    path       (nodes,) float64     how relevant the pages fetched from the same host and path are
    share      (nodes,) float64     `PageRank.share`
    base       mean relevance of all pages
    """

    nodes: Ints
    starts: Ints
    sizes: Ints
    relevance: Floats
    promise: Floats
    degree: Floats
    example: Floats
    hub: Floats
    walk: Floats
    text: Floats
    support: Floats
    path: Floats
    share: Floats
    base: float

    def sum(self, values: Floats) -> Floats:
        """Of values of the links, their sum, a node."""
        return np.add.reduceat(values, self.starts)

    def mean(self, column: int) -> Floats:
        """The mean of a column of `text`, a node."""
        return np.add.reduceat(self.text[:, column], self.starts) / self.sizes

    def best(self, column: int) -> Floats:
        """The largest of a column of `text`, a node."""
        return np.maximum.reduceat(self.text[:, column], self.starts)

    def added(self, column: int) -> Floats:
        """The sum of a column of `text`, by the square root of the number of links."""
        return self.sum(self.text[:, column]) / np.sqrt(self.sizes)

    def by_relevant(self, column: int) -> Floats:
        """The same, a link counting as much as its page is relevant."""
        return self.sum(self.text[:, column] * self.relevance) / np.sqrt(self.sizes)


# Name -> column, (nodes,) float64.
FEATURES: Mapping[str, Callable[[LinksInto], Floats]] = {
    # the pages that link to it (Zhou's description, Wu's parent): how relevant, how many, of few links, examples
    "share": lambda to: (to.support + 2 * to.base) / (to.sizes + 2),
    "support": lambda to: np.log1p(to.support),
    "best_source": lambda to: np.maximum.reduceat(to.relevance, to.starts),
    "links": lambda to: np.log1p(to.sizes),
    "by_degree": lambda to: np.log1p(3 * to.sum(to.relevance / to.degree)),
    "examples": lambda to: to.sum(to.example),
    # its best anchor: by the topic's terms, in latent space, by who holds its words
    "terms": lambda to: to.best(TERMS),
    "latent": lambda to: to.best(LATENT),
    "words": lambda to: to.best(WORDS),
    # the text around its links, on average and at best
    "near_terms": lambda to: to.mean(NEAR_TERMS),
    "near_latent": lambda to: to.mean(NEAR_LATENT),
    "near_words": lambda to: to.mean(NEAR_WORDS),
    "best_near": lambda to: to.best(NEAR_LATENT),
    # all its links together, and those of relevant pages
    "all_latent": lambda to: to.added(LATENT),
    "all_near": lambda to: to.added(NEAR_LATENT),
    "mean_words": lambda to: to.mean(WORDS),
    "from_latent": lambda to: to.by_relevant(LATENT),
    "from_near": lambda to: to.by_relevant(NEAR_LATENT),
    # how its sources' other links turned out
    "hub": lambda to: to.sum(to.hub) / to.sizes,
    "hubs": lambda to: np.log1p(to.sum(np.maximum(to.hub - to.base, 0.0))),
    # its neighbours: on the same path, and by walks from relevant pages along links, either way, past its sources
    "path": lambda to: to.path,
    "walk": lambda to: np.log(to.sum(to.walk / to.degree) / np.sqrt(to.sizes) + 1e-4),
    # the words of the topic's name in its best anchor
    "name": lambda to: to.best(NAME),
    # what its words promise by those of the URLs fetched so far (`link_text.py`)
    "taught_words": lambda to: to.mean(TAUGHT_WORDS),
    "taught_latent": lambda to: to.mean(TAUGHT_LATENT),
    # of the long walks that come past it, how many began at relevant pages
    "walk_share": lambda to: to.share,
    # what its sources' links promise, by all that is known of those pages
    "promise": lambda to: to.sum(to.promise) / to.sizes,
    "best_promise": lambda to: np.maximum.reduceat(to.promise, to.starts),
}


def features(known: Known, nodes: list[int]) -> Floats:
    """The features of some nodes, each of which has a link that leads to it: (nodes, FEATURES) float64."""
    to = links_into(known, nodes)
    return np.stack([column(to) for column in FEATURES.values()], 1)


def links_into(known: Known, nodes: list[int]) -> LinksInto:
    """The links that lead to some nodes."""
    graph, company, at = known.graph, known.company, np.array(nodes)
    into = [graph.into[node] for node in nodes]
    sizes = np.array([len(links) for links in into])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    links = np.fromiter(chain.from_iterable(into), np.int64, int(sizes.sum()))
    source = graph.source.values[links]
    relevance = known.relevance[source]
    # not all pages as an array: it would be made anew for every page of a crawl
    source_nodes = np.fromiter(map(graph.pages.__getitem__, source.tolist()), np.int64, len(source))
    return LinksInto(
        nodes=at,
        starts=starts,
        sizes=sizes,
        relevance=relevance,
        promise=np.log(known.promise[source] + LEAST_PROMISE),
        degree=np.sqrt(graph.degree.values[source]),
        example=known.examples[source],
        hub=company.hub(source),
        walk=company.visits_of(source_nodes),
        text=known.texts.values.take(links, axis=0),
        support=np.add.reduceat(relevance, starts),
        path=company.path_of(graph.path.values[at]),
        share=company.share_of(at),
        base=company.base,
    )


@dataclass(frozen=True)
class Scale:
    """Centre and width of features over a frontier, or over the pages of a refit.

    centre  (features,) float64  mean
    width   (features,) float64  standard deviation, above 0
    """

    centre: Floats
    width: Floats

    def __call__(self, rows: Floats) -> Floats:
        """The same rows in standard deviations, cut off at LEAST and MOST."""
        cut_off: Floats = np.clip((rows - self.centre) / self.width, LEAST, MOST)
        return cut_off


def scale_of(rows: Floats) -> Scale:
    """The scale of a frontier's features."""
    return Scale(rows.mean(axis=0), rows.std(axis=0) + 1e-9)
