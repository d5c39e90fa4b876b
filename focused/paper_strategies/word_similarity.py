"""Zhou's similarity of two words (ZK-A1) from vectors and concepts, with an inverted index over the topic's words.

玄武岩 -> ((岩石, 0.71), (火山, 0.58))        only topic words with a similarity above 0
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.paper_settings import DEFAULT_PAPERS, ZhouKunSettings
from focused.concepts.source import ConceptSource
from focused.paper_strategies.word_vectors import WordVectors


def combine_similarities(
    vector_similarity: float | None,
    concept_similarity: float | None,
    settings: ZhouKunSettings = DEFAULT_PAPERS.zhou_kun,
) -> float:
    """Combine two similarities of different words by ZK-A1, 0 to 1. None means unknown and counts as 0."""
    if vector_similarity is not None and vector_similarity < 0:
        return 0.0
    by_vector, by_concept = vector_similarity or 0.0, concept_similarity or 0.0
    by_vector = by_vector if by_vector >= settings.th1 else 0.0
    by_concept = by_concept if by_concept >= settings.th2 else 0.0
    if by_concept:
        value = settings.sim_beta * by_concept + (1 - settings.sim_beta) * by_vector
    else:
        value = settings.sim_alpha * by_vector
    return value if value >= settings.th1 else 0.0


class WordSimilarity:
    """Similarity Sim(d, t) of two words. Equal words have similarity 1, known or not (reading b)."""

    def __init__(
        self,
        vectors: WordVectors,
        concepts: ConceptSource | None = None,
        settings: ZhouKunSettings = DEFAULT_PAPERS.zhou_kun,
    ) -> None:
        self._vectors = vectors
        self._concepts = concepts
        self._settings = settings

    def __call__(self, first: str, second: str) -> float:
        """Return the similarity of two words, 0 to 1."""
        return self._pair_similarity(first, second, self._vectors.similarity(first, second))

    def vectors_for(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of the words, (words, dimensions) float32, for `similar_words`."""
        return self._vectors.vectors_for(words)

    def similar_words(
        self, word: str, other_words: Sequence[str], other_vectors: NDArray[np.float32]
    ) -> list[tuple[str, float]]:
        """Return the other words with a similarity above 0, with that similarity.

        Args:
            word: the word to compare.
            other_words: words to compare it with.
            other_vectors: result of `vectors_for(other_words)`.
        """
        cosines = other_vectors @ self._vectors.vectors_for([word])[0]
        candidate_indices: Sequence[int] = range(len(other_words))  # any word can be similar by concepts
        if self._concepts is None:
            own_index = [other_words.index(word)] if word in other_words else []
            candidate_indices = sorted({*np.flatnonzero(cosines >= self._settings.th1).tolist(), *own_index})
        pairs = (
            (other_words[n], self._pair_similarity(word, other_words[n], float(cosines[n]))) for n in candidate_indices
        )
        return [pair for pair in pairs if pair[1] > 0]

    def _pair_similarity(self, first: str, second: str, vector_similarity: float | None) -> float:
        if first == second:
            return 1.0
        return combine_similarities(
            vector_similarity, self._concepts.similarity(first, second) if self._concepts else None, self._settings
        )


class TopicWordIndex:
    """Inverted index of ZK-S2: the similar topic words of a word. Entries are computed on demand and cached.

    _topic_vectors  (topic words, dimensions) float32  zeros for words without a vector
    """

    def __init__(self, similarity: WordSimilarity, topic_words: Iterable[str], max_cached: int = 200_000) -> None:
        self._similarity = similarity
        self._topic_words = tuple(topic_words)
        self._topic_vectors = similarity.vectors_for(self._topic_words)
        self._max_cached = max_cached
        self._cache: dict[str, Sequence[tuple[str, float]]] = {}

    def __getitem__(self, word: str) -> Sequence[tuple[str, float]]:
        """Return pairs of a topic word and its similarity, which is above 0."""
        if word not in self._cache:
            if len(self._cache) >= self._max_cached:
                self._cache.clear()
            self._cache[word] = tuple(self._similarity.similar_words(word, self._topic_words, self._topic_vectors))
        return self._cache[word]
