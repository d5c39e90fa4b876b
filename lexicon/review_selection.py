"""Which of all candidates are offered for review: of each language the best that nobody has decided on.

A reviewer works from the top. So the best `depth` undecided candidates of a language wait, no more; each that is
decided makes room for the next of its language. One that waits already stays until it has fallen well below that depth:
so a day brings what rose, and not what was as good yesterday.
"""

from collections.abc import Callable
from dataclasses import dataclass

from text.scripts import LANGUAGE_PATTERNS, language_of_term

PENDING_DEPTH_FACTOR = 1.5  # times the depth, down to which a candidate that waits already stays


@dataclass(frozen=True)
class ReviewState:
    """What is known of a review: the `word_key`s of terms that are `decided_keys`, and of candidates that are `pending_keys`."""

    decided_keys: frozenset[str] = frozenset()
    pending_keys: frozenset[str] = frozenset()


EMPTY_REVIEW_STATE = ReviewState()


class ReviewSelector:
    """Takes candidates as they come, best first; `depth` 0 takes all. Those that are `unfit` have no place."""

    def __init__(
        self, review_state: ReviewState, depth: int, is_unfit: Callable[[str], bool] = lambda text: False
    ) -> None:
        self._review_state = review_state
        self._depth = depth
        self._is_unfit = is_unfit
        self._ranked_by_language = dict.fromkeys(LANGUAGE_PATTERNS, 0)

    def accepts(self, text: str, key: str) -> bool:
        """Whether a candidate is offered, or kept because somebody has decided on it."""
        if key in self._review_state.decided_keys:
            return not self._is_unfit(text)
        language = language_of_term(text)
        max_rank = self._depth * (PENDING_DEPTH_FACTOR if key in self._review_state.pending_keys else 1)
        has_room = not self._depth or self._ranked_by_language[language] < max_rank
        if has_room and self._is_unfit(text):  # asked of those alone that matter: it takes its time
            return False
        self._ranked_by_language[language] += 1
        return has_room
