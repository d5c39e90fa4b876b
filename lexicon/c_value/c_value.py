"""How the candidates of the paper's rules are scored: the `TermScorer` contract, the name table, and C-value."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from docstore.errors import SettingsError
from lexicon.c_value.candidates import TermCandidate
from lexicon.settings import LexiconSettings
from text.folding import ALPHABETIC


class TermScorer(Protocol):
    """Scores candidates against each other. Deterministic, whatever the order of the mapping."""

    def scores(self, candidates: Mapping[str, TermCandidate]) -> dict[str, float]:
        """A finite score for each candidate, by the same keys; higher is more of a term."""


@dataclass(frozen=True)
class CValue:
    """C-value (Wang Du 2019, WD-F4, rebuilt after Frantzi): how often a candidate stands on its own, by its length.

        C(a) = log2|a| * f(a)                                       a in no longer candidate
        C(a) = log2|a| * (f(a) - SUM_{b in Ta} f(b) / |Ta|)         Ta: the longer candidates that contain a

    |a| is in characters without white space (the paper's 字数), or in words with `count_words`.
    """

    count_words: bool = False

    def scores(self, candidates: Mapping[str, TermCandidate]) -> dict[str, float]:
        """See `TermScorer`."""
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
    """The candidates inside `key` and shorter than it; each counts once, and no Latin word is cut (gas in gasoline).

    Looks each part of `key` up, which takes time in the square of its length but not in the number of candidates.
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
    """The scorer that the settings name. SettingsError for an unknown name or length unit."""
    if settings.length_unit not in COUNT_WORDS_BY_UNIT:
        raise SettingsError(f"lexicon.length_unit: {settings.length_unit!r} is not {' or '.join(COUNT_WORDS_BY_UNIT)}")
    if settings.scorer not in SCORERS:
        raise SettingsError(f"lexicon.scorer: {settings.scorer!r} is not one of {', '.join(SCORERS)}")
    return SCORERS[settings.scorer](settings)
