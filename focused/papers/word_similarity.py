"""Zhou's similarity of two words (ZK-A1): vectors and concepts together, with an inverted index over the topic's words.

玄武岩 -> ((岩石, 0.71), (火山, 0.58))        only topic words whose similarity is above 0
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.papers.concepts import Concepts
from focused.papers.vectors import WordVectors


@dataclass(frozen=True)
class SimilaritySettings:
    """The constants of ZK-A1; the paper's are lost, these are METHODS' [D], see `make bench-similarity_words`."""

    alpha: float = 0.9  # of the vectors where concepts are silent
    beta: float = 0.6  # of the concepts where both speak
    least_vectors: float = 0.5  # Th1
    least_concepts: float = 0.6  # Th2


DEFAULT = SimilaritySettings()


def combined(by_vectors: float | None, by_concepts: float | None, settings: SimilaritySettings = DEFAULT) -> float:
    """ZK-A1 for two different words; None: not known, which counts as 0 and never as opposed. 0 to 1."""
    if by_vectors is not None and by_vectors < 0:
        return 0.0
    vectors = by_vectors if by_vectors is not None and by_vectors >= settings.least_vectors else 0.0
    concepts = by_concepts if by_concepts is not None and by_concepts >= settings.least_concepts else 0.0
    both = settings.beta * concepts + (1 - settings.beta) * vectors
    value = both if concepts else settings.alpha * vectors
    return value if value >= settings.least_vectors else 0.0


class WordSimilarity:
    """Sim(d, t). A word is 1 with itself, whoever knows it (reading b)."""

    def __init__(
        self, vectors: WordVectors, concepts: Concepts | None = None, settings: SimilaritySettings = DEFAULT
    ) -> None:
        self._vectors = vectors
        self._concepts = concepts
        self._settings = settings

    def __call__(self, one: str, other: str) -> float:
        """0 to 1."""
        return self._of_pair(one, other, self._vectors.similarity(one, other))

    def rows_of(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of some words, for `alike`."""
        return self._vectors.rows_of(words)

    def alike(self, one: str, others: Sequence[str], rows: NDArray[np.float32]) -> list[tuple[str, float]]:
        """Those of the other words whose similarity is above 0, with it; `rows` are theirs by `rows_of`."""
        vectors = rows @ self._vectors.rows_of([one])[0]
        likely: Sequence[int] = range(len(others))  # concepts may speak for any of them
        if self._concepts is None:
            own = [others.index(one)] if one in others else []
            likely = sorted({*np.flatnonzero(vectors >= self._settings.least_vectors).tolist(), *own})
        found = ((others[n], self._of_pair(one, others[n], float(vectors[n]))) for n in likely)
        return [pair for pair in found if pair[1] > 0]

    def _of_pair(self, one: str, other: str, by_vectors: float | None) -> float:
        if one == other:
            return 1.0
        return combined(by_vectors, self._concepts.similarity(one, other) if self._concepts else None, self._settings)


class TopicIndex:
    """The inverted index of ZK-S2: for a word, the topic words it is like. Filled as words come, at most `most`.

    _rows  (topic words, dimensions) float32  their vectors, of zeros where there is none
    """

    def __init__(self, similarity: WordSimilarity, topic: Iterable[str], most: int = 200_000) -> None:
        self._similarity = similarity
        self._topic = tuple(topic)
        self._rows = similarity.rows_of(self._topic)
        self._most = most
        self._found: dict[str, Sequence[tuple[str, float]]] = {}

    def __getitem__(self, word: str) -> Sequence[tuple[str, float]]:
        """Pairs of a topic word and a similarity above 0."""
        if word not in self._found:
            if len(self._found) >= self._most:
                self._found.clear()
            self._found[word] = tuple(self._similarity.alike(word, self._topic, self._rows))
        return self._found[word]
