"""What the URLs fetched so far teach about the words of links: two regressions from the words in and around the
links that led to a page to how relevant the page turned out, one on words, one in latent space.

The other scores of words come from pages; these come from links, so that they also say which anchors disappoint.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from focused.fused.crawl_graph import CrawlGraph, Floats, Ints
from focused.fused.latent_space import LatentSpace

AROUND = 0.5  # of the words around a link, beside its anchor's
MIN_FETCHED = 4  # pages that a link led to, before anything is taught
BY_WORDS, BY_LATENT = 10.0, 0.2  # ridge penalties
STEPS = 40  # of the solver, at most


@dataclass(frozen=True)
class Texts:
    """The words of links, as far as they were known at the last refit.

    anchors   (links, words) float64, sparse  1 for a word of the anchor
    contexts  (links, words) float64, sparse  1 for a word of what stands around it
    """

    anchors: sp.csr_matrix
    contexts: sp.csr_matrix


def texts_of(graph: CrawlGraph, links: slice, width: int) -> Texts:
    """Those of some links. Words numbered `width` or higher came after the last refit and say nothing yet."""
    return Texts(graph.anchors.matrix(links, width), graph.contexts.matrix(links, width))


@dataclass(frozen=True)
class LinkTextModel:
    """A weight for each word: the sum over a link's words, weighted and of unit length, is what it promises.

    by_words   (words,) float64  by the regression on words
    by_latent  (words,) float64  by the regression in latent space
    """

    by_words: Floats
    by_latent: Floats


def link_text_model(graph: CrawlGraph, texts: Texts, space: LatentSpace, relevance: Floats) -> LinkTextModel:
    """Learned from every fetched page that a link leads to. `texts` are of all links.

    relevance  (pages,) float64  of all pages
    """
    width = len(space.idf)
    pages = np.array([page for page, node in enumerate(graph.pages) if graph.into[node]], dtype=np.int64)
    if len(pages) < MIN_FETCHED:
        return LinkTextModel(np.zeros(width), np.zeros(width))
    rows = rows_into(graph, texts, pages, space.idf)
    found = relevance[pages] - relevance[pages].mean()
    latent = np.asarray(rows[:, space.columns] @ space.words)
    by_latent = np.zeros(width)
    by_latent[space.columns] = space.words @ Ridge(alpha=BY_LATENT).fit(latent, found).coef_
    by_words = Ridge(alpha=BY_WORDS, fit_intercept=False, solver="lsqr", max_iter=STEPS).fit(rows, found)
    return LinkTextModel(by_words.coef_, by_latent)


def rows_into(graph: CrawlGraph, texts: Texts, pages: Ints, idf: Floats) -> sp.csr_matrix:
    """Pages x words: the mean over the links that lead to each page."""
    into = [graph.into[graph.pages[page]] for page in pages]
    links = np.concatenate([np.array(some, dtype=np.int64) for some in into])
    sizes = np.array([len(some) for some in into])
    owner = np.repeat(np.arange(len(pages)), sizes)
    mean = sp.csr_matrix((1 / sizes[owner], (owner, np.arange(len(links)))), shape=(len(pages), len(links)))
    return (mean @ weighted(texts.anchors[links], idf) + AROUND * (mean @ weighted(texts.contexts[links], idf))).tocsr()


def weighted(rows: sp.csr_matrix, idf: Floats) -> sp.csr_matrix:
    """Links x words by idf, rows of unit length. `rows` are 0 or 1 and belong to nobody else."""
    length = np.sqrt(rows @ idf**2) + 1e-9
    rows.data = idf[rows.indices] / np.repeat(length, np.diff(rows.indptr))
    return rows
