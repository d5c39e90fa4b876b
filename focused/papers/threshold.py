"""Where the pages of a topic end: eta and theta of Wu and the mark of Zhang, which the papers leave to the topic [D].

level    what the example pages score by a topic made without them
ground   what the pages fetched score on average; before there are many, a tenth of the level
value    level ^ NEARNESS * ground ^ (1 - NEARNESS)
"""

from collections.abc import Sequence

NEARNESS = 0.4  # of the value to the level
FIRST_GROUND = 0.1  # times the level
PATIENCE = 50  # pages that the first ground counts as


class Threshold:
    """Moves with the pages of a crawl. `otherwise` is its value where there are no two examples to tell the level."""

    def __init__(self, otherwise: float, nearness: float = NEARNESS) -> None:
        self._otherwise = otherwise
        self._nearness = nearness
        self._level = 0.0
        self._total = 0.0
        self._pages = 0

    def take_level(self, scores: Sequence[float]) -> None:
        """The scores of the examples, each by the topic without it; [] where there are too few."""
        self._level = sum(scores) / len(scores) if scores else 0.0

    def add(self, score: float) -> None:
        """A page that was fetched scores so much."""
        self._total += score
        self._pages += 1

    @property
    def value(self) -> float:
        """The least score of a page that is kept."""
        if self._level <= 0:
            return self._otherwise
        ground = (self._total + PATIENCE * FIRST_GROUND * self._level) / (self._pages + PATIENCE)
        return float(self._level**self._nearness * ground ** (1 - self._nearness))
