"""Word vectors trained on the project's own text: PPMI of nearby words, reduced by SVD."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

WINDOW_WORDS = 4  # context words on each side
DIMENSIONS = 100
MIN_COUNT = 3  # occurrences of a word in the training texts
MAX_VOCABULARY = 20_000  # most frequent words
_BATCH_WORDS = 200_000  # words of text counted at once


@dataclass(frozen=True)
class WordVectors:
    """Word vectors.

    row_by_word  row of each word in `matrix`
    matrix       (words, dimensions) float32  rows of unit length
    """

    row_by_word: Mapping[str, int]
    matrix: NDArray[np.float32]

    def similarity(self, first: str, second: str) -> float | None:
        """Return SimD (ZK-F1), the cosine of two words, -1 to 1, or None if a word has no vector."""
        if first not in self.row_by_word or second not in self.row_by_word:
            return None
        return float(self.matrix[self.row_by_word[first]] @ self.matrix[self.row_by_word[second]])

    def vectors_for(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per word, (words, dimensions) float32; zeros for words without a vector."""
        vectors = np.zeros((len(words), self.matrix.shape[1]), dtype=np.float32)
        for number, word in enumerate(words):
            if word in self.row_by_word:
                vectors[number] = self.matrix[self.row_by_word[word]]
        return vectors

    def nearest(self, word: str, count: int, min_similarity: float) -> list[tuple[str, float]]:
        """Return up to `count` words with a similarity of at least `min_similarity`, most similar first."""
        if word not in self.row_by_word:
            return []
        similar = self.matrix @ self.matrix[self.row_by_word[word]]
        words = list(self.row_by_word)
        order = np.argsort(-similar, kind="stable")[: count + 1]
        return [(words[i], float(similar[i])) for i in order if words[i] != word and similar[i] >= min_similarity][
            :count
        ]


EMPTY_VECTORS = WordVectors({}, np.zeros((0, 1), dtype=np.float32))


def train_word_vectors(texts: Iterable[Sequence[str]], dimensions: int = DIMENSIONS, seed: int = 0) -> WordVectors:
    """Train vectors of the words that occur at least MIN_COUNT times in `texts` (lists of words).

    Deterministic for equal texts and seed. Returns EMPTY_VECTORS for fewer than three such words.
    """
    texts = list(texts)
    counts = Counter(word for text in texts for word in text)
    frequent = [word for word, count in counts.most_common(MAX_VOCABULARY) if count >= MIN_COUNT]
    if len(frequent) < 3:
        return EMPTY_VECTORS
    row_by_word = {word: row for row, word in enumerate(frequent)}
    matrix = ppmi(count_cooccurrences(texts, row_by_word))
    size = min(dimensions, len(frequent) - 1)
    rows = TruncatedSVD(size, random_state=seed).fit_transform(matrix)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return WordVectors(row_by_word, (rows / np.maximum(lengths, 1e-9)).astype(np.float32))


def count_cooccurrences(texts: Iterable[Sequence[str]], row_by_word: Mapping[str, int]) -> sp.csr_matrix:
    """Return how often each pair of words occurs within WINDOW_WORDS words, a symmetric matrix (words, words)."""
    size = len(row_by_word)
    total = sp.csr_matrix((size, size), dtype=np.float32)
    batch: list[int] = []
    for text in texts:
        batch += [row for word in text if (row := row_by_word.get(word)) is not None]
        batch += [-1] * WINDOW_WORDS  # so that no window spans two texts
        if len(batch) > _BATCH_WORDS:
            total, batch = total + count_window_pairs(batch, size), []
    total = total + count_window_pairs(batch, size)
    return (total + total.T).tocsr()


def count_window_pairs(word_rows: Sequence[int], size: int) -> sp.csr_matrix:
    """Count word pairs at distances 1 to WINDOW_WORDS, each once, as a matrix (size, size). -1 marks no word."""
    row = np.array(word_rows, dtype=np.int64)
    pair_counts = sp.csr_matrix((size, size), dtype=np.float32)
    for distance in range(1, WINDOW_WORDS + 1):
        first, second = row[:-distance], row[distance:]
        is_word_pair = (first >= 0) & (second >= 0)
        counts = np.ones(int(is_word_pair.sum()), dtype=np.float32)
        pair_counts = pair_counts + sp.csr_matrix(
            (counts, (first[is_word_pair], second[is_word_pair])), shape=(size, size)
        )
    return pair_counts


def ppmi(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Return positive pointwise mutual information: max(0, ln(n_ij * n / (n_i * n_j)))."""
    pairs = counts.tocoo()
    total = float(pairs.data.sum())
    word_totals = np.asarray(counts.sum(axis=1)).ravel()
    values = np.log(pairs.data * total / (word_totals[pairs.row] * word_totals[pairs.col]))
    positive = values > 0
    return sp.csr_matrix((values[positive], (pairs.row[positive], pairs.col[positive])), shape=counts.shape)
