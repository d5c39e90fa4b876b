"""Checks on known items that a lexicon version does not make articles harder to find.

Each title of a sample is a query for its own article, of which only the body is searched. Both versions segment
titles and bodies; documents are ranked by BM25 (Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75). No I/O.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from domain.progress import ProgressTask, no_progress, track

K1, B = 1.2, 0.75
MAX_P_VALUE = 0.05  # of the sign test: a smaller difference may be chance

Cut = Callable[[str], list[str]]
"""Splits a text into words."""


@dataclass(frozen=True)
class KnownItemComparison:
    """How many articles only one of two versions ranks first.

    Attributes:
        query_count: Number of queries.
        lost_count: Articles that only the previous version ranks first.
        gained_count: Articles that only the new version ranks first.
    """

    query_count: int
    lost_count: int
    gained_count: int

    @property
    def is_harmful(self) -> bool:
        """True if the new version ranks fewer articles first, and a sign test excludes chance."""
        changed = self.lost_count + self.gained_count
        p_value = sum(comb(changed, count) for count in range(self.lost_count, changed + 1)) / 2**changed
        return self.lost_count > self.gained_count and p_value <= MAX_P_VALUE


def compare_versions(
    titles: Sequence[str], bodies: Sequence[str], previous: Cut, new: Cut, progress_task: ProgressTask = no_progress
) -> KnownItemComparison:
    """Compare the words of two lexicon versions on the same articles.

    Args:
        titles: Titles of the first articles; each is a query.
        bodies: Bodies of all articles, those of `titles` first.
        previous: Words of the previous version.
        new: Words of the new version.
        progress_task: Reports the number of segmented articles.
    """
    before, after = (find_first_ranked(titles, bodies, cut, progress_task) for cut in (previous, new))
    return KnownItemComparison(
        len(titles), int(np.count_nonzero(before & ~after)), int(np.count_nonzero(after & ~before))
    )


def find_first_ranked(
    titles: Sequence[str], bodies: Sequence[str], cut: Cut, progress_task: ProgressTask
) -> NDArray[np.bool_]:
    """Return for each title whether its own article alone has the highest BM25 score, as (titles,) bool."""
    if not titles:
        return np.zeros(0, np.bool_)
    vectorizer = CountVectorizer(analyzer=lambda text: [word.lower() for word in cut(text) if word.strip()])
    try:
        counts = vectorizer.fit_transform(track(progress_task, "lexicon: compare", bodies)).tocsr().astype(np.float32)
    except ValueError:  # no body has a word
        return np.zeros(len(titles), np.bool_)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    document_counts = np.asarray((counts > 0).sum(axis=0)).ravel()
    weights = np.log1p((len(bodies) - document_counts + 0.5) / (document_counts + 0.5)).astype(np.float32)
    rows = np.repeat(np.arange(len(bodies)), np.diff(counts.indptr))
    norms = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
    counts.data = counts.data * (K1 + 1) / (counts.data + norms[rows]) * weights[counts.indices]
    scores = (vectorizer.transform(titles).tocsr().astype(np.float32) @ counts.T).toarray()
    own_scores = scores[np.arange(len(titles)), np.arange(len(titles))].copy()
    scores[np.arange(len(titles)), np.arange(len(titles))] = 0.0
    is_first: NDArray[np.bool_] = own_scores > scores.max(axis=1)
    return is_first
