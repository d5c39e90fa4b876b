"""Which of all candidates are offered for review: of each language the best that nobody has decided on.

A reviewer works from the top. So the best `depth` undecided candidates of a language wait, no more; each that is
decided makes room for the next of its language. One that waits already stays until it has fallen well below that depth:
so a day brings what rose, and not what was as good yesterday.
"""

from collections.abc import Callable
from dataclasses import dataclass

from text.scripts import LANGUAGES, language_of_term

STAYS = 1.5  # times the depth, down to which a candidate that waits already stays


@dataclass(frozen=True)
class Reviewed:
    """What is known of a review: the `word_key`s of terms that are `decided`, and of candidates that are `waiting`."""

    decided: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()


NOTHING_REVIEWED = Reviewed()


class Offers:
    """Takes candidates as they come, best first; `depth` 0 takes all. Those that are `unfit` have no place."""

    def __init__(self, reviewed: Reviewed, depth: int, unfit: Callable[[str], bool] = lambda text: False) -> None:
        self._reviewed = reviewed
        self._depth = depth
        self._unfit = unfit
        self._places = dict.fromkeys(LANGUAGES, 0)

    def takes(self, text: str, key: str) -> bool:
        """Whether a candidate is offered, or kept because somebody has decided on it."""
        if key in self._reviewed.decided:
            return not self._unfit(text)
        language = language_of_term(text)
        most = self._depth * (STAYS if key in self._reviewed.waiting else 1)
        has_room = not self._depth or self._places[language] < most
        if has_room and self._unfit(text):  # asked of those alone that matter: it takes its time
            return False
        self._places[language] += 1
        return has_room
