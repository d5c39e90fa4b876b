"""Selection of the candidates shown for review: per language the best undecided candidates.

A reviewer works from the top. The `depth` best undecided candidates of each language are pending, and each decision
makes room for the next candidate. All that a run can accept are pending, whatever their rank. A pending candidate stays
until it falls below 1.5 times the depth. This hysteresis avoids daily reshuffling of nearly equal candidates.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from text.scripts import LANGUAGE_PATTERNS, language_of_term

PENDING_DEPTH_FACTOR = 1.5  # a pending candidate stays while its rank is below this factor times the depth


@dataclass(frozen=True)
class ReviewState:
    """State of a review: `word_key`s of decided terms and of pending candidates."""

    decided_keys: frozenset[str] = frozenset()
    pending_keys: frozenset[str] = frozenset()


EMPTY_REVIEW_STATE = ReviewState()


@dataclass
class ReviewSelector:
    """Selects candidates that arrive best first, up to `depth` per language; depth 0 selects all.

    Texts that `is_unfit` rejects are never selected and take no rank.
    """

    review_state: ReviewState
    depth: int
    is_unfit: Callable[[str], bool] = lambda text: False
    _ranked_by_language: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LANGUAGE_PATTERNS, 0), init=False)

    def accepts(self, text: str, key: str, has_counts: bool = False) -> bool:
        """Return True if a candidate is shown for review, can be accepted by a run (`has_counts`), or is decided."""
        if key in self.review_state.decided_keys:
            return not self.is_unfit(text)
        language = language_of_term(text)
        max_rank = self.depth * (PENDING_DEPTH_FACTOR if key in self.review_state.pending_keys else 1)
        has_room = has_counts or not self.depth or self._ranked_by_language[language] < max_rank
        if has_room and self.is_unfit(text):  # checked last because it is slow
            return False
        self._ranked_by_language[language] += 1
        return has_room
