"""Word vectors trained on the project's own text: PPMI of words near each other, reduced by SVD (METHODS 2.2 e)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

WINDOW = 4  # words on either side
DIMENSIONS = 100
MIN_COUNT = 3
MAX_WORDS = 20_000  # the most frequent ones
_BATCH = 200_000  # words of text counted at once


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words; `places` has the row of each.

    rows  (words, dimensions) float32  of unit length
    """

    places: Mapping[str, int]
    rows: NDArray[np.float32]

    def __contains__(self, word: str) -> bool:
        return word in self.places

    def similarity(self, one: str, other: str) -> float | None:
        """SimD (ZK-F1): cosine, -1 to 1; None where a word has no vector."""
        if one not in self.places or other not in self.places:
            return None
        return float(self.rows[self.places[one]] @ self.rows[self.places[other]])

    def rows_of(self, words: Sequence[str]) -> NDArray[np.float32]:
        """A row for each word, of zeros where it has no vector."""
        found = np.zeros((len(words), self.rows.shape[1]), dtype=np.float32)
        for number, word in enumerate(words):
            if word in self.places:
                found[number] = self.rows[self.places[word]]
        return found

    def near(self, word: str, count: int, least: float) -> list[tuple[str, float]]:
        """The `count` words most like `word`, most alike first, none below `least`."""
        if word not in self.places:
            return []
        similar = self.rows @ self.rows[self.places[word]]
        words = list(self.places)
        best = np.argsort(-similar, kind="stable")[: count + 1]
        return [(words[i], float(similar[i])) for i in best if words[i] != word and similar[i] >= least][:count]


EMPTY = WordVectors({}, np.zeros((0, 1), dtype=np.float32))


def train(texts: Iterable[Sequence[str]], dimensions: int = DIMENSIONS, seed: int = 0) -> WordVectors:
    """Vectors of the words that stand MIN_COUNT times in `texts` (lists of words). The same texts give the same."""
    texts = list(texts)
    counts = Counter(word for text in texts for word in text)
    frequent = [word for word, count in counts.most_common(MAX_WORDS) if count >= MIN_COUNT]
    if len(frequent) < 3:
        return EMPTY
    places = {word: place for place, word in enumerate(frequent)}
    matrix = ppmi(together(texts, places))
    size = min(dimensions, len(frequent) - 1)
    rows = TruncatedSVD(size, random_state=seed).fit_transform(matrix)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return WordVectors(places, (rows / np.maximum(lengths, 1e-9)).astype(np.float32))


def together(texts: Iterable[Sequence[str]], places: Mapping[str, int]) -> sp.csr_matrix:
    """How often each two words stand within WINDOW words of each other: symmetric, words x words."""
    size = len(places)
    total = sp.csr_matrix((size, size), dtype=np.float32)
    batch: list[int] = []
    for text in texts:
        batch += [place for word in text if (place := places.get(word)) is not None]
        batch += [-1] * WINDOW  # texts are not next to each other
        if len(batch) > _BATCH:
            total, batch = total + near_pairs(batch, size), []
    total = total + near_pairs(batch, size)
    return (total + total.T).tocsr()


def near_pairs(places: Sequence[int], size: int) -> sp.csr_matrix:
    """Pairs at distance 1 to WINDOW, each counted once; -1 is no word."""
    row = np.array(places, dtype=np.int64)
    found = sp.csr_matrix((size, size), dtype=np.float32)
    for distance in range(1, WINDOW + 1):
        left, right = row[:-distance], row[distance:]
        real = (left >= 0) & (right >= 0)
        ones = np.ones(int(real.sum()), dtype=np.float32)
        found = found + sp.csr_matrix((ones, (left[real], right[real])), shape=(size, size))
    return found


def ppmi(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Positive pointwise mutual information: max(0, ln(n_ij * n / (n_i * n_j)))."""
    pairs = counts.tocoo()
    total = float(pairs.data.sum())
    of_word = np.asarray(counts.sum(axis=1)).ravel()
    values = np.log(pairs.data * total / (of_word[pairs.row] * of_word[pairs.col]))
    positive = values > 0
    return sp.csr_matrix((values[positive], (pairs.row[positive], pairs.col[positive])), shape=counts.shape)
