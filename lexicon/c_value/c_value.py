"""C-value, the score of the paper's candidates."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lexicon.c_value.candidates import TermCandidate
from text.folding import INSIDE_WORD_RE


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
        scores = {}
        for key, candidate in candidates.items():
            length_weight = math.log2(candidate.word_count if self.count_words else len(key.replace(" ", "")))
            nested_frequency = containing_frequency[key] / container_counts[key] if container_counts[key] else 0
            scores[key] = length_weight * (candidate.frequency - nested_frequency)
        return scores


def find_nested_candidates(key: str, candidates: Mapping[str, TermCandidate]) -> set[str]:
    """Return the distinct shorter candidates inside `key`. No Latin word is split (gas in gasoline).

    Every substring of `key` is looked up, so time is quadratic in its length but independent of the number of
    candidates.
    """
    inside_words = {match.start() for match in INSIDE_WORD_RE.finditer(key)}
    boundaries = [position for position in range(len(key) + 1) if position not in inside_words]
    parts = {key[start:end] for first, start in enumerate(boundaries) for end in boundaries[first + 1 :]}
    return {part for part in parts if part in candidates and part != key}
