"""Protocol for word similarity by meaning, from files that the administrator supplies. None is shipped.

hownet.py           HowNet: sememes pooled by word, or Liu and Li 2002 on a glossary and a sememe tree
synonym_groups.py   synonym groups: Cilin, Chinese Open Wordnet
paper_strategies/topic_tree.py  the tree of the administrator
"""

from collections.abc import Sequence
from typing import Protocol


class ConceptSource(Protocol):
    """Source of semantic similarity and relations of words."""

    def similarity(self, first: str, second: str) -> float | None:
        """Return the similarity of two words, 0 to 1, symmetric, 1 for equal words; None if a word is unknown."""

    def related(self, word: str) -> Sequence[str]:
        """Return synonyms and directly broader or narrower words; () for an unknown word."""


class CombinedConcepts:
    """Several sources combined.

    Similarity comes from the first source that knows both words, related words from all sources.
    """

    def __init__(self, providers: Sequence[ConceptSource]) -> None:
        self._providers = tuple(providers)

    def similarity(self, first: str, second: str) -> float | None:
        """Return the similarity of the first source that knows both words, or None if no source does."""
        similarities = (provider.similarity(first, second) for provider in self._providers)
        return next((value for value in similarities if value is not None), None)

    def related(self, word: str) -> Sequence[str]:
        """Return the related words of all sources, each once."""
        return tuple(dict.fromkeys(other for provider in self._providers for other in provider.related(word)))
