"""Latent space and relevance axis of `fused`: similarity of pages to the topic, without relevance labels.

space     pages in a latent space (tf.idf of fetched pages and general language, singular value decomposition)
core      the words that the examples have in common
query     the core, moved toward the words of the topic's name, then toward the most similar pages
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array, sum_by_group

MAX_DIMENSIONS = 100
MAX_DENSE_SVD_PAGES = 800  # up to this many pages, all singular vectors are computed
GENERAL_LANGUAGE_PAGES = 100  # virtual pages of general language added to the fetched pages for idf
MAX_CORE_WORDS = 40  # words in the core vector of the examples
MISSING_WORD_WEIGHT = 1e-3  # tf.idf assumed for a word that an example does not contain
TOPIC_NAME_WEIGHT = 0.5  # weight of the name's words in the query; the core weighs 1
FEEDBACK_ROUNDS = 3  # rounds of Rocchio feedback


@dataclass(frozen=True)
class LatentSpace:
    """Pages of a refit in a latent space, and the words that span it.

    page_vectors        (pages, dimensions) float64          rows of unit length
    word_vectors        (columns, dimensions) float64        vectors of the words that occur in at least two pages
    column_word_ids     (columns,) int64                     ids of those words
    column_by_word_id   (words,) int64                       column of each word id, -1 for words without a column
    idf                 (words,) float64
    document_frequency  (words,) float64                     number of pages that contain the word
    tfidf               (pages, columns) float64, sparse     rows of unit length
    example_tfidf       (examples, columns) float64, sparse  rows of `tfidf` of the examples
    core_tfidf          (columns,) float64                   core vector of the examples, of unit length
    example_cosines     (pages, examples + 1) float64        cosine with each example and, last, with the core
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
    """Direction in the latent space, and the projections on it where relevance is 0 and 1.

    direction  (dimensions,) float64
    """

    direction: Float64Array
    zero_at: float
    one_at: float

    def project(self, page_vectors: Float64Array) -> Float64Array:
        """Return the projection of each row, 0 at `zero_at` and 1 at `one_at`."""
        projections: Float64Array = (page_vectors @ self.direction - self.zero_at) / max(
            self.one_at - self.zero_at, 1e-6
        )
        return projections


def build_latent_space(graph: CrawlGraph, examples: Int64Array, relevance: Float64Array) -> LatentSpace:
    """Build the latent space of all pages in the graph.

    Args:
        graph: crawl graph.
        examples: ids of the example pages.
        relevance: (pages,) float64, current relevance of the pages. Off-topic pages determine idf.
    """
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
    weights = sp.csr_matrix((values, (pages[in_space], column_by_word_id[ids[in_space]])), shape=(count, len(columns)))
    lengths: NDArray[np.float64] = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1)).ravel())
    weights = (sp.diags(1 / np.maximum(lengths, 1e-9)) @ weights).tocsr()
    left_vectors, singular_values = truncated_svd(weights, min(MAX_DIMENSIONS, max(count - 1, 1)))
    example_tfidf = weights[examples]
    core = compute_core_vector(example_tfidf)
    cosines = np.column_stack(((weights @ example_tfidf.T).toarray(), weights @ core))
    rows, words = normalize_rows(left_vectors * singular_values), weights.T @ (left_vectors / singular_values)
    return LatentSpace(rows, words, columns, column_by_word_id, idf, frequency, weights, example_tfidf, core, cosines)


def compute_idf(frequency: Float64Array, page_count: float, general_language_share: Float64Array) -> Float64Array:
    """Return the idf of words over off-topic pages and GENERAL_LANGUAGE_PAGES virtual pages of general language.

    Most fetched pages are on topic. If they counted fully, topic words would lose weight with every relevant page.

    Args:
        frequency: (words,) float64, expected number of off-topic pages that contain the word.
        page_count: expected number of off-topic pages.
        general_language_share: (words,) float64, share of general-language pages that contain the word.
    """
    idf: Float64Array = np.log(
        (page_count + GENERAL_LANGUAGE_PAGES + 1) / (frequency + GENERAL_LANGUAGE_PAGES * general_language_share + 0.5)
    )
    return idf


def compute_core_vector(examples: sp.csr_matrix) -> Float64Array:
    """Return the geometric mean of the examples' tf.idf, its MAX_CORE_WORDS heaviest words, of unit length.

    The geometric mean removes off-topic content, which is specific to single examples.
    """
    log_weights = examples.copy()
    log_weights.data = np.log1p(log_weights.data / MISSING_WORD_WEIGHT)
    mean = np.expm1(np.asarray(log_weights.mean(axis=0)).ravel())
    if len(mean) > MAX_CORE_WORDS:
        mean[np.argpartition(-mean, MAX_CORE_WORDS)[MAX_CORE_WORDS:]] = 0.0
    return normalize_vector(mean)


def truncated_svd(weights: sp.csr_matrix, rank: int) -> tuple[Float64Array, Float64Array]:
    """Return the first `rank` left singular vectors as columns, largest first, and their singular values.

    For more than MAX_DENSE_SVD_PAGES pages only these are computed, because a full decomposition takes time cubic and
    memory quadratic in the number of pages.
    """
    if weights.shape[0] > MAX_DENSE_SVD_PAGES and weights.shape[1] <= rank:  # svds needs rank < columns
        vectors, singular_values, _ = np.linalg.svd(weights.toarray(), full_matrices=False)
        return vectors, np.maximum(singular_values, 1e-5)
    if weights.shape[0] > MAX_DENSE_SVD_PAGES:
        vectors, singular_values, _ = svds(weights, k=rank, v0=np.ones(min(weights.shape)))
        return vectors[:, ::-1], np.maximum(singular_values[::-1], 1e-5)
    values, vectors = np.linalg.eigh((weights @ weights.T).toarray())
    return vectors[:, : -1 - rank : -1], np.sqrt(np.maximum(values[: -1 - rank : -1], 1e-9))


@dataclass(frozen=True)
class FoldedPage:
    """A page that was fetched after the space was built.

    vector           (dimensions,) float64    of unit length
    example_cosines  (examples + 1,) float64  as in `LatentSpace.example_cosines`
    """

    vector: Float64Array
    example_cosines: Float64Array


def fold_in(space: LatentSpace, bag_of_words: tuple[Int64Array, Float64Array]) -> FoldedPage:
    """Project the words of a later page into the space."""
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
    """Return the relevance axis after FEEDBACK_ROUNDS rounds of Rocchio feedback.

    The first query is the core plus TOPIC_NAME_WEIGHT times the name vector, or the examples' mean if both are zero.

    Args:
        space: latent space.
        examples: ids of the example pages.
        name_weights: (words,) float64, share of each word in the topic's terms.
    """
    core = space.core_tfidf @ space.word_vectors
    name_vector = (name_weights * space.idf)[space.column_word_ids] @ space.word_vectors
    query = normalize_vector(core) + TOPIC_NAME_WEIGHT * normalize_vector(name_vector)
    query = query if query.any() else space.page_vectors[examples].mean(axis=0)
    non_examples = np.setdiff1d(np.arange(len(space.page_vectors)), examples)
    axis, relevance = fit_relevance_axis(space, query, examples)
    for _ in range(FEEDBACK_ROUNDS):
        feedback_weights = relevance[non_examples] ** 2
        expanded_query = query + (feedback_weights @ space.page_vectors[non_examples]) / max(
            float(feedback_weights.sum()), 1.0
        )
        axis, relevance = fit_relevance_axis(space, expanded_query, examples)
    return axis


def fit_relevance_axis(
    space: LatentSpace, direction: Float64Array, examples: Int64Array
) -> tuple[RelevanceAxis, Float64Array]:
    """Return an axis along `direction`, and the relevance of all pages on it.

    Relevance is 0 at the median page, because most pages are off topic, and 1 at the examples' mean.
    """
    projections = space.page_vectors @ direction
    axis = RelevanceAxis(direction, float(np.median(projections)), float(projections[examples].mean()))
    relevance = np.clip(axis.project(space.page_vectors), 0.0, 1.0)
    relevance[examples] = 1.0
    return axis, relevance


def normalize_rows(rows: Float64Array) -> Float64Array:
    """Return the rows scaled to unit length."""
    scaled_rows: Float64Array = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return scaled_rows


def normalize_vector(vector: Float64Array) -> Float64Array:
    """Return the vector scaled to unit length; a zero vector stays zero."""
    normalized: Float64Array = vector / (float(np.linalg.norm(vector)) + 1e-9)
    return normalized
