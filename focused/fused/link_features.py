"""What speaks for a URL that was not fetched: the features of `fused`, by node, from the links that lead to it.

Each is centred and scaled over the frontier of the last refit; what each counts, other topics have taught
(`pretrained.py`). Names and columns come from one table, `LINK_FEATURES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy.sparse as sp

from focused.fused.crawl_graph import CrawlGraph, Float64Array, GrowingArray, Int64Array
from focused.fused.latent_space import LatentSpace
from focused.fused.link_text_model import CONTEXT_WEIGHT, LinkTextMatrices, LinkTextModel
from focused.fused.neighbour_scores import NeighbourScores

OFF_TOPIC_WEIGHT = 0.5  # of the other pages' terms, subtracted from the topic's
YIELD_FLOOR = 0.01  # a promise that is as good as none
MIN_STANDARD_SCORE, MAX_STANDARD_SCORE = -4.0, 6.0  # standard deviations that a feature can say


# Columns of `LinkTextScores`: what a link's anchor says, then the text around it, then its anchor by the name, then both.
(
    ANCHOR_TERMS,
    ANCHOR_LATENT,
    ANCHOR_WORD_RELEVANCE,
    CONTEXT_TERMS,
    CONTEXT_LATENT,
    CONTEXT_WORD_RELEVANCE,
    ANCHOR_TOPIC_NAME,
    LEARNED_WORDS,
    LEARNED_LATENT,
) = range(9)


class LinkTextScores(GrowingArray[np.float64]):
    """What the words of each link say, (links, 9): the columns above, by the topic's terms, in latent space, by who
    holds the words; by what was taught about words and about latent space (`link_text_model.py`)."""

    def __init__(self) -> None:
        super().__init__(np.float64, (LEARNED_LATENT + 1,))

    def set_rows(self, links: slice, rows: Float64Array) -> None:
        """The rows of these links, of which some may be the next ones."""
        existing = self.values[links]
        existing[:] = rows[: len(existing)]
        self.extend(rows[len(existing) :])


def score_words(
    space: LatentSpace, relevance: Float64Array, name_weights: Float64Array, text_model: LinkTextModel
) -> Float64Array:
    """What each word says of the topic.

    relevance  (pages,) float64     of the space's pages
    name       (words,) float64     what part of the topic's name each word is
    returns    (words, 8) float64   by terms, in latent space, by what was taught about words and about latent space, by
                                    the relevance of the pages that hold it, each times idf; its part of the name; idf;
                                    idf squared
    """
    mean_relevance = float(relevance.mean())
    count = len(space.idf)
    topic_tfidf = space.tfidf.T @ (relevance / max(float(relevance.sum()), 1.0))
    off_topic_tfidf = space.tfidf.T @ ((1 - relevance) / max(float((1 - relevance).sum()), 1.0))
    contrast = np.maximum(topic_tfidf - OFF_TOPIC_WEIGHT * off_topic_tfidf, 0.0)
    mean = relevance @ space.page_vectors
    latent = space.word_vectors @ (mean / max(float(np.linalg.norm(mean)), 1e-9))
    has_word = space.tfidf.copy()
    has_word.data[:] = 1.0
    holder_relevance = (has_word.T @ relevance + 2 * mean_relevance) / (
        space.document_frequency[space.column_word_ids] + 2
    )
    scores = (
        scatter_columns(contrast / max(float(np.linalg.norm(contrast)), 1e-9), space.column_word_ids, count, 0.0),
        scatter_columns(latent, space.column_word_ids, count, 0.0),
        text_model.word_weights,
        text_model.latent_word_weights,
        scatter_columns(holder_relevance, space.column_word_ids, count, mean_relevance),
    )
    return np.column_stack((np.stack(scores, 1) * space.idf[:, None], name_weights, space.idf, space.idf**2))


def scatter_columns(values: Float64Array, columns: Int64Array, vocabulary_size: int, default: float) -> Float64Array:
    """Values of the columns at their places among all words."""
    vocabulary_values = np.full(vocabulary_size, default)
    vocabulary_values[columns] = values
    return vocabulary_values


def score_link_texts(texts: LinkTextMatrices, words: Float64Array) -> Float64Array:
    """The rows of `LinkTextScores` for some links, (links, 9) float64, from `score_words`."""
    anchors, contexts = sum_word_scores(texts.anchors, words), sum_word_scores(texts.contexts, words)
    learned_scores = anchors[:, [2, 3]] + CONTEXT_WEIGHT * contexts[:, [2, 3]]
    return np.hstack((anchors[:, [0, 1, 4]], contexts[:, [0, 1, 4]], anchors[:, [5]], learned_scores))


def sum_word_scores(rows: sp.csr_matrix, words: Float64Array) -> Float64Array:
    """Links x 8, the sums of their words' scores: the first four over the length of the words, the fifth a mean by
    idf."""
    sums = np.asarray(rows @ words, dtype=np.float64)
    sums[:, :4] /= np.sqrt(sums[:, [7]]) + 1e-9
    sums[:, 4] /= sums[:, 6] + 1e-9
    return sums


@dataclass(frozen=True)
class LinkFeatureInputs:
    """All that the features of a node are made of.

    relevance  (pages,) float64  what was thought of each page
    promise    (pages,) float64  what share of its links was expected to be of the topic
    examples   (pages,) float64  1 for an example of the topic, else 0
    """

    graph: CrawlGraph
    text_scores: LinkTextScores
    relevance: Float64Array
    expected_yield: Float64Array
    neighbours: NeighbourScores
    is_example: Float64Array


@dataclass(frozen=True)
class IncomingLinks:
    """The links that lead to some nodes, those of the first node first: every node has one at least.

    nodes      (nodes,) int64       number of each node
    starts     (nodes,) int64       where its links begin among these
    sizes      (nodes,) int64       how many they are
    relevance  (links,) float64     of the page that a link is on
    promise    (links,) float64     ln of what that page's links promise
    degree     (links,) float64     square root of how many links that page has
    example    (links,) float64     1 where that page is an example
    hub        (links,) float64     how that page's links turned out (`NeighbourScores.hub_scores`)
    walk       (links,) float64     how often a walk comes past that page (`NeighbourScores.walk_visits`)
    text       (links, 9) float64   rows of `LinkTextScores`
    support    (nodes,) float64     sum of `source_relevance`
    path       (nodes,) float64     how relevant the pages fetched from the same host and path are
    share      (nodes,) float64     `NeighbourScores.relevant_walk_share`
    base       mean relevance of all pages
    """

    node_ids: Int64Array
    starts: Int64Array
    link_counts: Int64Array
    source_relevance: Float64Array
    source_log_yield: Float64Array
    source_sqrt_degree: Float64Array
    source_is_example: Float64Array
    source_hub_score: Float64Array
    source_walk_visits: Float64Array
    text_scores: Float64Array
    relevance_sum: Float64Array
    path_relevance: Float64Array
    relevant_walk_share: Float64Array
    mean_relevance: float

    def sum_by_node(self, values: Float64Array) -> Float64Array:
        """Of values of the links, their sum, a node."""
        return np.add.reduceat(values, self.starts)

    def mean_text_score(self, column: int) -> Float64Array:
        """The mean of a column of `text_scores`, a node."""
        return np.add.reduceat(self.text_scores[:, column], self.starts) / self.link_counts

    def max_text_score(self, column: int) -> Float64Array:
        """The largest of a column of `text_scores`, a node."""
        return np.maximum.reduceat(self.text_scores[:, column], self.starts)

    def scaled_text_sum(self, column: int) -> Float64Array:
        """The sum of a column of `text_scores`, by the square root of the number of links."""
        return self.sum_by_node(self.text_scores[:, column]) / np.sqrt(self.link_counts)

    def relevance_weighted_text_sum(self, column: int) -> Float64Array:
        """The same, a link counting as much as its page is relevant."""
        return self.sum_by_node(self.text_scores[:, column] * self.source_relevance) / np.sqrt(self.link_counts)


# Name -> column, (nodes,) float64.
LINK_FEATURES: Mapping[str, Callable[[IncomingLinks], Float64Array]] = {
    # the pages that link to it (Zhou's description, Wu's parent): how relevant, how many, of few links, examples
    "share": lambda to: (to.relevance_sum + 2 * to.mean_relevance) / (to.link_counts + 2),
    "support": lambda to: np.log1p(to.relevance_sum),
    "best_source": lambda to: np.maximum.reduceat(to.source_relevance, to.starts),
    "links": lambda to: np.log1p(to.link_counts),
    "by_degree": lambda to: np.log1p(3 * to.sum_by_node(to.source_relevance / to.source_sqrt_degree)),
    "examples": lambda to: to.sum_by_node(to.source_is_example),
    # its best anchor: by the topic's terms, in latent space, by who holds its words
    "terms": lambda to: to.max_text_score(ANCHOR_TERMS),
    "latent": lambda to: to.max_text_score(ANCHOR_LATENT),
    "words": lambda to: to.max_text_score(ANCHOR_WORD_RELEVANCE),
    # the text around its links, on average and at best
    "near_terms": lambda to: to.mean_text_score(CONTEXT_TERMS),
    "near_latent": lambda to: to.mean_text_score(CONTEXT_LATENT),
    "near_words": lambda to: to.mean_text_score(CONTEXT_WORD_RELEVANCE),
    "best_near": lambda to: to.max_text_score(CONTEXT_LATENT),
    # all its links together, and those of relevant pages
    "all_latent": lambda to: to.scaled_text_sum(ANCHOR_LATENT),
    "all_near": lambda to: to.scaled_text_sum(CONTEXT_LATENT),
    "mean_words": lambda to: to.mean_text_score(ANCHOR_WORD_RELEVANCE),
    "from_latent": lambda to: to.relevance_weighted_text_sum(ANCHOR_LATENT),
    "from_near": lambda to: to.relevance_weighted_text_sum(CONTEXT_LATENT),
    # how its sources' other links turned out
    "hub": lambda to: to.sum_by_node(to.source_hub_score) / to.link_counts,
    "hubs": lambda to: np.log1p(to.sum_by_node(np.maximum(to.source_hub_score - to.mean_relevance, 0.0))),
    # its neighbours: on the same path, and by walks from relevant pages along links, either way, past its sources
    "path": lambda to: to.path_relevance,
    "walk": lambda to: np.log(
        to.sum_by_node(to.source_walk_visits / to.source_sqrt_degree) / np.sqrt(to.link_counts) + 1e-4
    ),
    # the words of the topic's name in its best anchor
    "name": lambda to: to.max_text_score(ANCHOR_TOPIC_NAME),
    # what its words promise by those of the URLs fetched so far (`link_text_model.py`)
    "taught_words": lambda to: to.mean_text_score(LEARNED_WORDS),
    "taught_latent": lambda to: to.mean_text_score(LEARNED_LATENT),
    # of the long walks that come past it, how many began at relevant pages
    "walk_share": lambda to: to.relevant_walk_share,
    # what its sources' links promise, by all that is known of those pages
    "promise": lambda to: to.sum_by_node(to.source_log_yield) / to.link_counts,
    "best_promise": lambda to: np.maximum.reduceat(to.source_log_yield, to.starts),
}


def compute_link_features(inputs: LinkFeatureInputs, nodes: list[int]) -> Float64Array:
    """The features of some nodes, each of which has a link that leads to it: (nodes, FEATURES) float64."""
    links = gather_incoming_links(inputs, nodes)
    return np.stack([column(links) for column in LINK_FEATURES.values()], 1)


def gather_incoming_links(inputs: LinkFeatureInputs, nodes: list[int]) -> IncomingLinks:
    """The links that lead to some nodes."""
    graph, neighbours, node_ids = inputs.graph, inputs.neighbours, np.array(nodes)
    link_lists = [graph.incoming_links[node] for node in nodes]
    sizes = np.array([len(links) for links in link_lists])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    links = np.fromiter(chain.from_iterable(link_lists), np.int64, int(sizes.sum()))
    source = graph.link_source_page.values[links]
    relevance = inputs.relevance[source]
    # not all pages as an array: it would be made anew for every page of a crawl
    source_nodes = np.fromiter(map(graph.page_nodes.__getitem__, source.tolist()), np.int64, len(source))
    return IncomingLinks(
        node_ids=node_ids,
        starts=starts,
        link_counts=sizes,
        source_relevance=relevance,
        source_log_yield=np.log(inputs.expected_yield[source] + YIELD_FLOOR),
        source_sqrt_degree=np.sqrt(graph.page_out_degree.values[source]),
        source_is_example=inputs.is_example[source],
        source_hub_score=neighbours.hub_scores(source),
        source_walk_visits=neighbours.walk_visits_for(source_nodes),
        text_scores=inputs.text_scores.values.take(links, axis=0),
        relevance_sum=np.add.reduceat(relevance, starts),
        path_relevance=neighbours.path_relevance_for(graph.node_path_id.values[node_ids]),
        relevant_walk_share=neighbours.relevant_walk_share_for(node_ids),
        mean_relevance=neighbours.mean_relevance,
    )


@dataclass(frozen=True)
class FeatureScaler:
    """Centre and width of features over a frontier, or over the pages of a refit.

    centre  (features,) float64  mean
    width   (features,) float64  standard deviation, above 0
    """

    mean: Float64Array
    std: Float64Array

    def __call__(self, rows: Float64Array) -> Float64Array:
        """The same rows in standard deviations, cut off at LEAST and MOST."""
        standard_scores: Float64Array = np.clip((rows - self.mean) / self.std, MIN_STANDARD_SCORE, MAX_STANDARD_SCORE)
        return standard_scores


def fit_scaler(rows: Float64Array) -> FeatureScaler:
    """The scale of a frontier's features."""
    return FeatureScaler(rows.mean(axis=0), rows.std(axis=0) + 1e-9)
