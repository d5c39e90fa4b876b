"""Features of unfetched nodes, computed from the links that lead to them.

Each feature is standardized over the frontier of the last refit. The weights are pretrained on other topics
(`pretrained.py`). `LINK_FEATURES` defines names and columns.
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

OFF_TOPIC_WEIGHT = 0.5  # weight of off-topic pages' terms, subtracted from the terms of on-topic pages
YIELD_FLOOR = 0.01  # added to an expected yield before its logarithm
MIN_STANDARD_SCORE, MAX_STANDARD_SCORE = -4.0, 6.0  # standardized features are clipped to this range


# Columns of `LinkTextScores`: scores of the anchor, of the context, of the topic's name in the anchor, of both texts.
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
    """Text scores of each link, (links, 9) float64, with the columns above.

    Scores are by topic terms, in latent space, and by the relevance of the pages that contain the words. The learned
    scores come from the word and latent regressions of `link_text_model.py`.
    """

    def __init__(self) -> None:
        super().__init__(np.float64, (LEARNED_LATENT + 1,))

    def set_rows(self, links: slice, rows: Float64Array) -> None:
        """Set the rows of a range of links. The range may extend past the current end."""
        existing = self.values[links]
        existing[:] = rows[: len(existing)]
        self.extend(rows[len(existing) :])


def score_words(
    space: LatentSpace, relevance: Float64Array, name_weights: Float64Array, text_model: LinkTextModel
) -> Float64Array:
    """Return the scores of each word, (words, 8) float64.

    Columns 0 to 4 are multiplied by idf: by topic terms, in latent space, by the regression on words, by the regression
    in latent space, by the relevance of the pages that contain the word. Then follow the word's share of the topic's
    terms, idf and idf squared.

    Args:
        space: latent space of the refit.
        relevance: (pages,) float64, of the space's pages.
        name_weights: (words,) float64, share of each word in the topic's terms.
        text_model: fitted text model of links.
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
    """Return an array of `vocabulary_size` values with `values` at `columns` and `default` elsewhere."""
    vocabulary_values = np.full(vocabulary_size, default)
    vocabulary_values[columns] = values
    return vocabulary_values


def score_link_texts(texts: LinkTextMatrices, words: Float64Array) -> Float64Array:
    """Return the rows of `LinkTextScores` for links, (links, 9) float64. `words` is the result of `score_words`."""
    anchors, contexts = sum_word_scores(texts.anchors, words), sum_word_scores(texts.contexts, words)
    learned_scores = anchors[:, [2, 3]] + CONTEXT_WEIGHT * contexts[:, [2, 3]]
    return np.hstack((anchors[:, [0, 1, 4]], contexts[:, [0, 1, 4]], anchors[:, [5]], learned_scores))


def sum_word_scores(rows: sp.csr_matrix, words: Float64Array) -> Float64Array:
    """Return the word scores summed per link, (links, 8) float64.

    Columns 0 to 3 are divided by the length of the idf vector; column 4 becomes an idf-weighted mean.
    """
    sums = np.asarray(rows @ words, dtype=np.float64)
    sums[:, :4] /= np.sqrt(sums[:, [7]]) + 1e-9
    sums[:, 4] /= sums[:, 6] + 1e-9
    return sums


@dataclass(frozen=True)
class LinkFeatureInputs:
    """Inputs of the link features.

    relevance       (pages,) float64  relevance of each page
    expected_yield  (pages,) float64  expected on-topic share of each page's links
    is_example      (pages,) float64  1 for an example of the topic, else 0
    """

    graph: CrawlGraph
    text_scores: LinkTextScores
    relevance: Float64Array
    expected_yield: Float64Array
    neighbours: NeighbourScores
    is_example: Float64Array


@dataclass(frozen=True)
class IncomingLinks:
    """The links that lead to some nodes, grouped by node. Every node has at least one link.

    starts               (nodes,) int64       index of the node's first link
    link_counts          (nodes,) int64       number of links to the node
    source_relevance     (links,) float64     relevance of the page that contains the link
    source_log_yield     (links,) float64     ln of that page's expected yield
    source_sqrt_degree   (links,) float64     square root of that page's number of links
    source_is_example    (links,) float64     1 if that page is an example
    source_hub_score     (links,) float64     `NeighbourScores.hub_scores` of that page
    source_walk_visits   (links,) float64     `NeighbourScores.walk_visits` of that page
    text_scores          (links, 9) float64   rows of `LinkTextScores`
    relevance_sum        (nodes,) float64     sum of `source_relevance`
    path_relevance       (nodes,) float64     `NeighbourScores.path_relevance` of the node's path
    relevant_walk_share  (nodes,) float64     `NeighbourScores.relevant_walk_share`
    mean_relevance       mean relevance of all pages
    """

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
        """Return the sum of link values per node."""
        return np.add.reduceat(values, self.starts)

    def mean_text_score(self, column: int) -> Float64Array:
        """Return the mean of a column of `text_scores` per node."""
        return np.add.reduceat(self.text_scores[:, column], self.starts) / self.link_counts

    def max_text_score(self, column: int) -> Float64Array:
        """Return the maximum of a column of `text_scores` per node."""
        return np.maximum.reduceat(self.text_scores[:, column], self.starts)

    def scaled_text_sum(self, column: int) -> Float64Array:
        """Return the sum of a column of `text_scores` per node, divided by the square root of its number of links."""
        return self.sum_by_node(self.text_scores[:, column]) / np.sqrt(self.link_counts)

    def relevance_weighted_text_sum(self, column: int) -> Float64Array:
        """Return the sum of a column of `text_scores` weighted by source relevance, divided as in `scaled_text_sum`."""
        return self.sum_by_node(self.text_scores[:, column] * self.source_relevance) / np.sqrt(self.link_counts)


# Feature name -> function that returns its column, (nodes,) float64. `to` contains the links that lead to the nodes.
LINK_FEATURES: Mapping[str, Callable[[IncomingLinks], Float64Array]] = {
    # its source pages (Zhou's description, Wu's parent): relevance, number, weighted by few links, examples among them
    "share": lambda to: (to.relevance_sum + 2 * to.mean_relevance) / (to.link_counts + 2),
    "support": lambda to: np.log1p(to.relevance_sum),
    "best_source": lambda to: np.maximum.reduceat(to.source_relevance, to.starts),
    "links": lambda to: np.log1p(to.link_counts),
    "by_degree": lambda to: np.log1p(3 * to.sum_by_node(to.source_relevance / to.source_sqrt_degree)),
    "examples": lambda to: to.sum_by_node(to.source_is_example),
    # its best anchor: by topic terms, in latent space, by relevance of the pages that contain its words
    "terms": lambda to: to.max_text_score(ANCHOR_TERMS),
    "latent": lambda to: to.max_text_score(ANCHOR_LATENT),
    "words": lambda to: to.max_text_score(ANCHOR_WORD_RELEVANCE),
    # the context of its links: mean and maximum
    "near_terms": lambda to: to.mean_text_score(CONTEXT_TERMS),
    "near_latent": lambda to: to.mean_text_score(CONTEXT_LATENT),
    "near_words": lambda to: to.mean_text_score(CONTEXT_WORD_RELEVANCE),
    "best_near": lambda to: to.max_text_score(CONTEXT_LATENT),
    # all its links together, then weighted by the relevance of their source pages
    "all_latent": lambda to: to.scaled_text_sum(ANCHOR_LATENT),
    "all_near": lambda to: to.scaled_text_sum(CONTEXT_LATENT),
    "mean_words": lambda to: to.mean_text_score(ANCHOR_WORD_RELEVANCE),
    "from_latent": lambda to: to.relevance_weighted_text_sum(ANCHOR_LATENT),
    "from_near": lambda to: to.relevance_weighted_text_sum(CONTEXT_LATENT),
    # hub scores of its source pages
    "hub": lambda to: to.sum_by_node(to.source_hub_score) / to.link_counts,
    "hubs": lambda to: np.log1p(to.sum_by_node(np.maximum(to.source_hub_score - to.mean_relevance, 0.0))),
    # its neighbours: pages of the same path, and random walks from relevant pages that visit its source pages
    "path": lambda to: to.path_relevance,
    "walk": lambda to: np.log(
        to.sum_by_node(to.source_walk_visits / to.source_sqrt_degree) / np.sqrt(to.link_counts) + 1e-4
    ),
    # the words of the topic's name in its best anchor
    "name": lambda to: to.max_text_score(ANCHOR_TOPIC_NAME),
    # scores of its link texts by the model that is fitted during the crawl (`link_text_model.py`)
    "taught_words": lambda to: to.mean_text_score(LEARNED_WORDS),
    "taught_latent": lambda to: to.mean_text_score(LEARNED_LATENT),
    # share of the long walks through it that started at relevant pages
    "walk_share": lambda to: to.relevant_walk_share,
    # expected yield of its source pages: mean and maximum (`expected_yield.py`)
    "promise": lambda to: to.sum_by_node(to.source_log_yield) / to.link_counts,
    "best_promise": lambda to: np.maximum.reduceat(to.source_log_yield, to.starts),
}


def compute_link_features(inputs: LinkFeatureInputs, nodes: list[int]) -> Float64Array:
    """Return the features of nodes, (nodes, LINK_FEATURES) float64. Each node must have an incoming link."""
    graph, neighbours, node_ids = inputs.graph, inputs.neighbours, np.array(nodes)
    link_lists = [graph.incoming_links[node] for node in nodes]
    sizes = np.array([len(links) for links in link_lists])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    links = np.fromiter(chain.from_iterable(link_lists), np.int64, int(sizes.sum()))
    source = graph.link_source_page.values[links]
    relevance = inputs.relevance[source]
    # not `np.array(graph.page_nodes)`: it would copy all pages for every page of the crawl
    source_nodes = np.fromiter(map(graph.page_nodes.__getitem__, source.tolist()), np.int64, len(source))
    incoming_links = IncomingLinks(
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
    return np.stack([column(incoming_links) for column in LINK_FEATURES.values()], 1)


@dataclass(frozen=True)
class FeatureScaler:
    """Mean and standard deviation of features over a frontier, or over the pages of a refit.

    mean  (features,) float64
    std   (features,) float64, above 0
    """

    mean: Float64Array
    std: Float64Array

    def __call__(self, rows: Float64Array) -> Float64Array:
        """Return the rows in standard deviations, clipped to MIN_STANDARD_SCORE and MAX_STANDARD_SCORE."""
        standard_scores: Float64Array = np.clip((rows - self.mean) / self.std, MIN_STANDARD_SCORE, MAX_STANDARD_SCORE)
        return standard_scores


def fit_scaler(rows: Float64Array) -> FeatureScaler:
    """Return the scaler of the rows."""
    return FeatureScaler(rows.mean(axis=0), rows.std(axis=0) + 1e-9)
