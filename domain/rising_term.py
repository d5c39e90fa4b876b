"""Terms that rise in the news, for the pages and the review."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RisingTerm:
    """A term whose share of the articles has risen suddenly.

    Attributes:
        since: First day of the rise, ISO date.
        count: Articles that contain the term near their beginning, from `since` to the latest run.
        earlier_count: The same for the same number of days before.
    """

    text: str
    since: str
    count: int
    earlier_count: int
