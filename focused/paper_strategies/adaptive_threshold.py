"""Where the pages of a topic end: eta and theta of Wu and the mark of Zhang, which the papers leave to the topic [D].

level    what the example pages score by a topic made without them
ground   what the pages fetched score on average; before there are many, a tenth of the level
value    level ^ NEARNESS * ground ^ (1 - NEARNESS)
"""

from collections.abc import Sequence

EXAMPLE_EXPONENT = 0.4  # of the value to the level
INITIAL_BACKGROUND_FACTOR = 0.1  # times the level
BACKGROUND_PRIOR_PAGES = 50  # pages that the first ground counts as


class AdaptiveThreshold:
    """Moves with the pages of a crawl. `otherwise` is its value where there are no two examples to tell the level."""

    def __init__(self, fallback: float, example_exponent: float = EXAMPLE_EXPONENT) -> None:
        self._fallback = fallback
        self._example_exponent = example_exponent
        self._example_mean = 0.0
        self._score_sum = 0.0
        self._page_count = 0

    def set_example_scores(self, scores: Sequence[float]) -> None:
        """The scores of the examples, each by the topic without it; [] where there are too few."""
        self._example_mean = sum(scores) / len(scores) if scores else 0.0

    def add_score(self, score: float) -> None:
        """A page that was fetched scores so much."""
        self._score_sum += score
        self._page_count += 1

    @property
    def value(self) -> float:
        """The least score of a page that is kept."""
        if self._example_mean <= 0:
            return self._fallback
        background = (self._score_sum + BACKGROUND_PRIOR_PAGES * INITIAL_BACKGROUND_FACTOR * self._example_mean) / (
            self._page_count + BACKGROUND_PRIOR_PAGES
        )
        return float(self._example_mean**self._example_exponent * background ** (1 - self._example_exponent))
