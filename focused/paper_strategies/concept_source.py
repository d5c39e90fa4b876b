"""Similarity of words by what they mean, behind one contract; the operator's files, none of which is shipped.

concepts_hownet.py   HowNet's form: sememes pooled by word, or Liu and Li 2002 on a glossary and a sememe tree
concepts_groups.py   groups of synonyms: Cilin's form, Chinese Open Wordnet's form
topic_tree.py        the user's own tree
"""

from collections.abc import Sequence
from typing import Protocol


class ConceptSource(Protocol):
    """What is known of the meaning of words."""

    def similarity(self, first: str, second: str) -> float | None:
        """0 to 1, symmetric, 1 for a word with itself; None where one of the two is not known."""

    def related(self, word: str) -> Sequence[str]:
        """Synonyms, and words directly above or below; () for a word that is not known."""


class CombinedConcepts:
    """The first of some providers that knows both words; what any of them relates."""

    def __init__(self, providers: Sequence[ConceptSource]) -> None:
        self._providers = tuple(providers)

    def similarity(self, first: str, second: str) -> float | None:
        """See `ConceptSource`."""
        similarities = (provider.similarity(first, second) for provider in self._providers)
        return next((value for value in similarities if value is not None), None)

    def related(self, word: str) -> Sequence[str]:
        """See `ConceptSource`."""
        return tuple(dict.fromkeys(other for provider in self._providers for other in provider.related(word)))
