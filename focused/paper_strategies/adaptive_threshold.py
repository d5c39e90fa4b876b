"""Adaptive relevance threshold: eta and theta of Wu and the threshold of Zhang, which the papers leave open [D].

example mean   mean leave-one-out score of the example pages
background     mean score of all fetched pages, with a prior of a tenth of the example mean
threshold      example mean ^ e * background ^ (1 - e), e = EXAMPLE_EXPONENT
"""

from collections.abc import Sequence

EXAMPLE_EXPONENT = 0.4  # weight of the example mean in the geometric mean
INITIAL_BACKGROUND_FACTOR = 0.1  # the prior background score is this factor times the example mean
BACKGROUND_PRIOR_PAGES = 50  # pages that the prior background score counts as


class AdaptiveThreshold:
    """Threshold that follows the scores of a crawl. Its value is `fallback` while the example mean is unknown."""

    def __init__(self, fallback: float, example_exponent: float = EXAMPLE_EXPONENT) -> None:
        self.fallback = fallback
        self._example_exponent = example_exponent
        self._example_mean = 0.0
        self._score_sum = 0.0
        self._page_count = 0

    def set_example_scores(self, scores: Sequence[float]) -> None:
        """Set the leave-one-out scores of the examples, [] for fewer than two examples."""
        self._example_mean = sum(scores) / len(scores) if scores else 0.0

    def add_score(self, score: float) -> None:
        """Add the score of a fetched page."""
        self._score_sum += score
        self._page_count += 1

    @property
    def value(self) -> float:
        """Lowest score of a relevant page."""
        if self._example_mean <= 0:
            return self.fallback
        background = (self._score_sum + BACKGROUND_PRIOR_PAGES * INITIAL_BACKGROUND_FACTOR * self._example_mean) / (
            self._page_count + BACKGROUND_PRIOR_PAGES
        )
        return float(self._example_mean**self._example_exponent * background ** (1 - self._example_exponent))
