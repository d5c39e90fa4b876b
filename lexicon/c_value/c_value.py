"""Scoring of the paper's candidates: the `TermScorer` protocol, the table of scorers, and C-value."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from domain.errors import SettingsError
from lexicon.c_value.candidates import TermCandidate
from lexicon.settings import LexiconSettings
from text.folding import ALPHABETIC


class TermScorer(Protocol):
    """Scores candidates against each other. Deterministic, independent of the order of the mapping."""

    def scores(self, candidates: Mapping[str, TermCandidate]) -> dict[str, float]:
        """Return a finite score for each candidate by key. Higher scores are more likely terms."""


@dataclass(frozen=True)
class CValue:
    """C-value (Wang Du 2019, WD-F4, reconstructed after Frantzi).

    Scores the frequency of a candidate outside longer candidates, weighted by its length:

        C(a) = log2|a| * f(a)                                       if no longer candidate contains a
        C(a) = log2|a| * (f(a) - SUM_{b in Ta} f(b) / |Ta|)         Ta: the longer candidates that contain a

    |a| is the number of characters without white space (the paper's 字数), or of words with `count_words`.
    """

    count_words: bool = False

    def scores(self, candidates: Mapping[str, TermCandidate]) -> dict[str, float]:
        """Return the C-value of each candidate."""
        container_counts = dict.fromkeys(candidates, 0)
        containing_frequency = dict.fromkeys(candidates, 0)
        for key, container in candidates.items():
            for part in find_nested_candidates(key, candidates):
                container_counts[part] += 1
                containing_frequency[part] += container.frequency
        return {
            key: self._length_weight(key, candidate)
            * (
                candidate.frequency
                - (containing_frequency[key] / container_counts[key] if container_counts[key] else 0)
            )
            for key, candidate in candidates.items()
        }

    def _length_weight(self, key: str, candidate: TermCandidate) -> float:
        return math.log2(candidate.word_count if self.count_words else len(key.replace(" ", "")))


_INSIDE_WORD = re.compile(f"(?<={ALPHABETIC})(?={ALPHABETIC})")


def find_nested_candidates(key: str, candidates: Mapping[str, TermCandidate]) -> set[str]:
    """Return the distinct shorter candidates inside `key`. No Latin word is split (gas in gasoline).

    Every substring of `key` is looked up, so time is quadratic in its length but independent of the number of
    candidates.
    """
    inside_words = {match.start() for match in _INSIDE_WORD.finditer(key)}
    boundaries = [position for position in range(len(key) + 1) if position not in inside_words]
    return {part for part in _iter_substrings(key, boundaries) if part in candidates}


def _iter_substrings(key: str, edges: list[int]) -> Iterator[str]:
    for first, start in enumerate(edges):
        for end in edges[first + 1 :]:
            if end - start < len(key):
                yield key[start:end]


COUNT_WORDS_BY_UNIT: dict[str, bool] = {"char": False, "token": True}
SCORERS: dict[str, Callable[[LexiconSettings], TermScorer]] = {
    "c_value": lambda settings: CValue(count_words=COUNT_WORDS_BY_UNIT[settings.length_unit]),
}


def make_scorer(settings: LexiconSettings) -> TermScorer:
    """Return the scorer that the settings name.

    Raises:
        SettingsError: the scorer or the length unit is unknown.
    """
    if settings.length_unit not in COUNT_WORDS_BY_UNIT:
        raise SettingsError(f"lexicon.length_unit: {settings.length_unit!r} is not {' or '.join(COUNT_WORDS_BY_UNIT)}")
    if settings.scorer not in SCORERS:
        raise SettingsError(f"lexicon.scorer: {settings.scorer!r} is not one of {', '.join(SCORERS)}")
    return SCORERS[settings.scorer](settings)
