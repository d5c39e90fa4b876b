"""What the URLs fetched so far teach about the words of links: two regressions from the words in and around the
links that led to a page to how relevant the page turned out, one on words, one in latent space.

The other scores of words come from pages; these come from links, so that they also say which anchors disappoint.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array
from focused.fused.latent_space import LatentSpace

CONTEXT_WEIGHT = 0.5  # of the words around a link, beside its anchor's
MIN_TRAINING_PAGES = 4  # pages that a link led to, before anything is taught
WORD_RIDGE_ALPHA, LATENT_RIDGE_ALPHA = 10.0, 0.2  # ridge penalties
MAX_SOLVER_ITERATIONS = 40  # of the solver, at most


@dataclass(frozen=True)
class LinkTextMatrices:
    """The words of links, as far as they were known at the last refit.

    anchors   (links, words) float64, sparse  1 for a word of the anchor
    contexts  (links, words) float64, sparse  1 for a word of what stands around it
    """

    anchors: sp.csr_matrix
    contexts: sp.csr_matrix


def link_text_matrices(graph: CrawlGraph, links: slice, vocabulary_size: int) -> LinkTextMatrices:
    """Those of some links. Words numbered `vocabulary_size` or higher came after the last refit and say nothing yet."""
    return LinkTextMatrices(
        graph.anchor_word_ids.to_csr(links, vocabulary_size), graph.context_word_ids.to_csr(links, vocabulary_size)
    )


@dataclass(frozen=True)
class LinkTextModel:
    """A weight for each word: the sum over a link's words, weighted and of unit length, is what it promises.

    by_words   (words,) float64  by the regression on words
    by_latent  (words,) float64  by the regression in latent space
    """

    word_weights: Float64Array
    latent_word_weights: Float64Array


def fit_link_text_model(
    graph: CrawlGraph, matrices: LinkTextMatrices, space: LatentSpace, relevance: Float64Array
) -> LinkTextModel:
    """Learned from every fetched page that a link leads to. `matrices` are of all links.

    relevance  (pages,) float64  of all pages
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
    """Pages x words: the mean over the links that lead to each page."""
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
    """Links x words by idf, rows of unit length. `rows` are 0 or 1 and belong to nobody else."""
    length = np.sqrt(rows @ idf**2) + 1e-9
    rows.data = idf[rows.indices] / np.repeat(length, np.diff(rows.indptr))
    return rows
