"""Text model of links: predicts the relevance of a page from the words in and around the links that led to it.

Two ridge regressions are fitted on the fetched pages, one on words and one on latent vectors. Unlike the other word
scores, which come from page texts, they also learn which anchors lead to off-topic pages.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array
from focused.fused.latent_space import LatentSpace

CONTEXT_WEIGHT = 0.5  # weight of a link's context words; its anchor words weigh 1
MIN_TRAINING_PAGES = 4  # pages with an incoming link needed to fit the model
WORD_RIDGE_ALPHA, LATENT_RIDGE_ALPHA = 10.0, 0.2  # ridge penalties
MAX_SOLVER_ITERATIONS = 40


@dataclass(frozen=True)
class LinkTextMatrices:
    """Words of links, limited to the vocabulary of the last refit.

    anchors   (links, words) float64, sparse  1 for a word of the anchor
    contexts  (links, words) float64, sparse  1 for a word of the context
    """

    anchors: sp.csr_matrix
    contexts: sp.csr_matrix


def link_text_matrices(graph: CrawlGraph, links: slice, vocabulary_size: int) -> LinkTextMatrices:
    """Return the word matrices of the given links.

    Words with ids from `vocabulary_size` on are ignored, because they are newer than the last refit.
    """
    return LinkTextMatrices(
        graph.anchor_word_ids.to_csr(links, vocabulary_size), graph.context_word_ids.to_csr(links, vocabulary_size)
    )


@dataclass(frozen=True)
class LinkTextModel:
    """Weights of words. The score of a link is the sum over its words, weighted by idf and of unit length.

    word_weights         (words,) float64  regression on words
    latent_word_weights  (words,) float64  regression in latent space
    """

    word_weights: Float64Array
    latent_word_weights: Float64Array


def fit_link_text_model(
    graph: CrawlGraph, matrices: LinkTextMatrices, space: LatentSpace, relevance: Float64Array
) -> LinkTextModel:
    """Fit the model on every fetched page with an incoming link. All weights are 0 below MIN_TRAINING_PAGES pages.

    Args:
        graph: crawl graph.
        matrices: words of all links.
        space: latent space of the refit.
        relevance: (pages,) float64, of all pages.
    """
    vocabulary_size = len(space.idf)
    pages = np.array([page for page, node in enumerate(graph.page_nodes) if graph.incoming_links[node]], dtype=np.int64)
    if len(pages) < MIN_TRAINING_PAGES:
        return LinkTextModel(np.zeros(vocabulary_size), np.zeros(vocabulary_size))
    rows = incoming_text_rows(graph, matrices, pages, space.idf)
    centred_relevance = relevance[pages] - relevance[pages].mean()
    latent = np.asarray(rows[:, space.column_word_ids] @ space.word_vectors)
    latent_word_weights = np.zeros(vocabulary_size)
    latent_word_weights[space.column_word_ids] = (
        space.word_vectors @ Ridge(alpha=LATENT_RIDGE_ALPHA).fit(latent, centred_relevance).coef_
    )
    word_model = Ridge(alpha=WORD_RIDGE_ALPHA, fit_intercept=False, solver="lsqr", max_iter=MAX_SOLVER_ITERATIONS).fit(
        rows, centred_relevance
    )
    return LinkTextModel(word_model.coef_, latent_word_weights)


def incoming_text_rows(
    graph: CrawlGraph, matrices: LinkTextMatrices, pages: Int64Array, idf: Float64Array
) -> sp.csr_matrix:
    """Return the mean idf-weighted words of the links that lead to each page, (pages, words)."""
    link_lists = [graph.incoming_links[graph.page_nodes[page]] for page in pages]
    links = np.concatenate([np.array(link_ids, dtype=np.int64) for link_ids in link_lists])
    sizes = np.array([len(link_ids) for link_ids in link_lists])
    page_index = np.repeat(np.arange(len(pages)), sizes)
    mean = sp.csr_matrix((1 / sizes[page_index], (page_index, np.arange(len(links)))), shape=(len(pages), len(links)))
    return (
        mean @ apply_idf_in_place(matrices.anchors[links], idf)
        + CONTEXT_WEIGHT * (mean @ apply_idf_in_place(matrices.contexts[links], idf))
    ).tocsr()


def apply_idf_in_place(rows: sp.csr_matrix, idf: Float64Array) -> sp.csr_matrix:
    """Weight 0/1 rows by idf and scale them to unit length. The caller must own `rows`, which are overwritten."""
    length = np.sqrt(rows @ idf**2) + 1e-9
    rows.data = idf[rows.indices] / np.repeat(length, np.diff(rows.indptr))
    return rows
