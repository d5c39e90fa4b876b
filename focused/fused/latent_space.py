"""Which fetched pages are of the topic, by what `fused` has seen so far: no label, only the topic's definition.

space     pages in a latent space (tf.idf of the pages fetched and of general language, singular value decomposition)
core      the words that the examples have in common
query     the core, drawn toward the words of the topic's name, then toward the pages most like it
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array, sum_by_group

MAX_DIMENSIONS = 100
MAX_DENSE_SVD_PAGES = 800  # pages whose singular vectors are all computed
GENERAL_LANGUAGE_PAGES = 100  # pages of general language that count among those fetched
MAX_CORE_WORDS = 40  # words that the examples have in common
MISSING_WORD_WEIGHT = 1e-3  # what a word that an example lacks weighs there
TOPIC_NAME_WEIGHT = 0.5  # of the name's words beside the core
FEEDBACK_ROUNDS = 3


@dataclass(frozen=True)
class LatentSpace:
    """The pages of a moment in a latent space, and the words that span it.

    pages      (pages, dimensions) float64          rows of unit length
    words      (columns, dimensions) float64        vectors of the words that stand in two pages at least
    columns    (columns,) int64                     numbers of those words
    place      (words,) int64                       place of each word among `column_word_ids`, -1 for others
    idf        (words,) float64                     of all words
    frequency  (words,) float64                     how many pages hold each
    weights    (pages, columns) float64, sparse     tf.idf, rows of unit length
    examples   (examples, columns) float64, sparse  rows of `tfidf` of the examples
    core       (columns,) float64                   what these have in common, of length 1
    cosines    (pages, examples + 1) float64        of each page with each example and, last, with the core
    """

    page_vectors: Float64Array
    word_vectors: Float64Array
    column_word_ids: Int64Array
    column_by_word_id: Int64Array
    idf: Float64Array
    document_frequency: Float64Array
    tfidf: sp.csr_matrix
    example_tfidf: sp.csr_matrix
    core_tfidf: Float64Array
    example_cosines: Float64Array


@dataclass(frozen=True)
class RelevanceAxis:
    """A direction of the space and the two marks on it between which relevance rises from 0 to 1.

    direction  (dimensions,) float64
    """

    direction: Float64Array
    zero_at: float
    one_at: float

    def relevance(self, page_vectors: Float64Array) -> Float64Array:
        """0 to 1 for each row."""
        return np.clip(rescale(page_vectors @ self.direction, self.zero_at, self.one_at), 0.0, 1.0)


def build_latent_space(graph: CrawlGraph, examples: Int64Array, relevance: Float64Array) -> LatentSpace:
    """The latent space of the pages fetched so far, `examples` among them. `relevance` is what was thought of each."""
    count = len(graph.page_nodes)
    pages, ids, counts = graph.page_word_triples()
    off_topic_probability, vocabulary_size = 1 - relevance, len(graph.word_ids)
    frequency = sum_by_group(ids, np.ones(len(ids)), vocabulary_size)
    idf = compute_idf(
        sum_by_group(ids, off_topic_probability[pages], vocabulary_size),
        float(off_topic_probability.sum()),
        graph.general_language_shares(),
    )
    columns = np.flatnonzero(frequency >= 2)
    column_by_word_id = np.full(len(frequency), -1)
    column_by_word_id[columns] = np.arange(len(columns))
    in_space = column_by_word_id[ids] >= 0
    values = counts[in_space] * idf[ids[in_space]]
    weights = normalize_sparse_rows(
        sp.csr_matrix((values, (pages[in_space], column_by_word_id[ids[in_space]])), shape=(count, len(columns)))
    )
    left_vectors, singular_values = truncated_svd(weights, min(MAX_DIMENSIONS, max(count - 1, 1)))
    example_tfidf = weights[examples]
    core = compute_core_vector(example_tfidf)
    cosines = np.column_stack(((weights @ example_tfidf.T).toarray(), weights @ core))
    rows, words = normalize_rows(left_vectors * singular_values), weights.T @ (left_vectors / singular_values)
    return LatentSpace(rows, words, columns, column_by_word_id, idf, frequency, weights, example_tfidf, core, cosines)


def compute_idf(frequency: Float64Array, page_count: float, general_language_share: Float64Array) -> Float64Array:
    """Of words that so many of so many pages off the topic hold, and such a share of the GENERAL pages beside them.
    What is fetched is mostly of the topic: counted alike, its words would say less the more of them are found."""
    idf: Float64Array = np.log(
        (page_count + GENERAL_LANGUAGE_PAGES + 1) / (frequency + GENERAL_LANGUAGE_PAGES * general_language_share + 0.5)
    )
    return idf


def compute_core_vector(examples: sp.csr_matrix) -> Float64Array:
    """The geometric mean of the examples' weights, its CORE heaviest words; of length 1. Each example alone has much
    that is beside the topic."""
    log_weights = examples.copy()
    log_weights.data = np.log1p(log_weights.data / MISSING_WORD_WEIGHT)
    mean = np.expm1(np.asarray(log_weights.mean(axis=0)).ravel())
    if len(mean) > MAX_CORE_WORDS:
        mean[np.argpartition(-mean, MAX_CORE_WORDS)[MAX_CORE_WORDS:]] = 0.0
    return normalize_vector(mean)


def truncated_svd(weights: sp.csr_matrix, rank: int) -> tuple[Float64Array, Float64Array]:
    """Left singular vectors as columns, largest first, and their values. Of many pages only the wanted ones are
    looked for: all of them would take pages^3 steps and pages^2 of memory."""
    if weights.shape[0] > MAX_DENSE_SVD_PAGES and weights.shape[1] <= rank:  # of few words there are no more
        vectors, singular_values, _ = np.linalg.svd(weights.toarray(), full_matrices=False)
        return vectors, np.maximum(singular_values, 1e-5)
    if weights.shape[0] > MAX_DENSE_SVD_PAGES:
        vectors, singular_values, _ = svds(weights, k=rank, v0=np.ones(min(weights.shape)))
        return vectors[:, ::-1], np.maximum(singular_values[::-1], 1e-5)
    values, vectors = np.linalg.eigh((weights @ weights.T).toarray())
    return vectors[:, : -1 - rank : -1], np.sqrt(np.maximum(values[: -1 - rank : -1], 1e-9))


@dataclass(frozen=True)
class FoldedPage:
    """A page that came after the space was made.

    latent   (dimensions,) float64    its place in it, of length 1
    cosines  (examples + 1,) float64  by tf.idf, as `LatentSpace.example_cosines`
    """

    vector: Float64Array
    example_cosines: Float64Array


def fold_in(space: LatentSpace, bag_of_words: tuple[Int64Array, Float64Array]) -> FoldedPage:
    """A later page's words in the space."""
    ids, counts = bag_of_words
    in_vocabulary = ids < len(space.column_by_word_id)
    ids, counts = ids[in_vocabulary], counts[in_vocabulary]
    in_space = space.column_by_word_id[ids] >= 0
    columns, weights = space.column_by_word_id[ids[in_space]], counts[in_space] * space.idf[ids[in_space]]
    row = np.zeros(len(space.column_word_ids))
    row[columns] = normalize_vector(weights)
    return FoldedPage(
        normalize_vector(weights @ space.word_vectors.take(columns, axis=0)),
        np.append(space.example_tfidf @ row, space.core_tfidf @ row),
    )


def rocchio(space: LatentSpace, examples: Int64Array, name_weights: Float64Array) -> RelevanceAxis:
    """Rocchio: the query drawn toward what is most like it, some rounds. `examples` are pages, `name_weights` says of
    each word how much it is one of the name."""
    query = build_query(space, examples, name_weights)
    non_examples = np.setdiff1d(np.arange(len(space.page_vectors)), examples)
    axis, relevance = fit_relevance_axis(space, query, examples)
    for _ in range(FEEDBACK_ROUNDS):
        feedback_weights = relevance[non_examples] ** 2
        expanded_query = query + (feedback_weights @ space.page_vectors[non_examples]) / max(
            float(feedback_weights.sum()), 1.0
        )
        axis, relevance = fit_relevance_axis(space, expanded_query, examples)
    return axis


def build_query(space: LatentSpace, examples: Int64Array, name_weights: Float64Array) -> Float64Array:
    """The core, with the words of the name to a half; the examples' mean where they hold no word."""
    core, name_vector = (
        space.core_tfidf @ space.word_vectors,
        (name_weights * space.idf)[space.column_word_ids] @ space.word_vectors,
    )
    query: Float64Array = normalize_vector(core) + TOPIC_NAME_WEIGHT * normalize_vector(name_vector)
    return query if query.any() else space.page_vectors[examples].mean(axis=0)


def fit_relevance_axis(
    space: LatentSpace, direction: Float64Array, examples: Int64Array
) -> tuple[RelevanceAxis, Float64Array]:
    """Relevance rises from the page in the middle (most pages are off topic) to the examples' mean."""
    projections = space.page_vectors @ direction
    axis = RelevanceAxis(direction, float(np.median(projections)), float(projections[examples].mean()))
    relevance = axis.relevance(space.page_vectors)
    relevance[examples] = 1.0
    return axis, relevance


def rescale(values: Float64Array, low: float, high: float) -> Float64Array:
    """`low` is 0, `high` 1."""
    rescaled_values: Float64Array = (values - low) / max(high - low, 1e-6)
    return rescaled_values


def normalize_rows(rows: Float64Array) -> Float64Array:
    """Rows of length 1."""
    scaled_rows: Float64Array = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return scaled_rows


def normalize_vector(vector: Float64Array) -> Float64Array:
    """A vector of length 1, or the zero vector."""
    normalized: Float64Array = vector / (float(np.linalg.norm(vector)) + 1e-9)
    return normalized


def normalize_sparse_rows(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """The same for a sparse matrix."""
    lengths: NDArray[np.float64] = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (sp.diags(1 / np.maximum(lengths, 1e-9)) @ matrix).tocsr()
