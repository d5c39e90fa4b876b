"""Decisions of a focused crawl on pages and links, and questions to a person.

FocusedDecision        decision on one page, saved in the transaction of its visit    crawler -> store
StoredFocusedDecision  the decision as stored                                        store -> crawler, administrator
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RejectedLink:
    """A link that the crawl does not follow, with the reason."""

    url: str
    anchor: str
    reason: str


@dataclass(frozen=True)
class FocusedDecision:
    """Decision of a focused crawl on one page.

    Attributes:
        seq: Position in the order of decisions.
        strategy: Name of the strategy.
        topic: Name of the topic.
        score: Relevance score.
        is_retained: True if the page is stored as relevant.
        packed_words: Packed text features that the decision used.
        priorities: New priorities of URLs discovered before.
        rejected_links: Links of the page that are not followed.
    """

    seq: int
    strategy: str
    topic: str
    score: float
    is_retained: bool
    packed_words: bytes
    priorities: Mapping[str, float] = field(default_factory=dict)
    rejected_links: tuple[RejectedLink, ...] = ()


@dataclass(frozen=True)
class StoredFocusedDecision:
    """A stored decision with the URL of its page. Fields as in `FocusedDecision`."""

    url: str
    seq: int
    strategy: str
    topic: str
    score: float
    is_retained: bool
    packed_words: bytes


@dataclass(frozen=True)
class StoredFocusedScore:
    """A stored decision without its text features."""

    url: str
    seq: int
    score: float


@dataclass(frozen=True)
class DecisionSample:
    """A sample of the decided pages: every `interval`-th page, and the URLs `always_included_urls`."""

    interval: int = 1
    always_included_urls: frozenset[str] = frozenset()


ALL_DECISIONS = DecisionSample()


@dataclass(frozen=True)
class RevisedDecision:
    """A new decision on a page that was already decided."""

    is_retained: bool
    score: float


@dataclass(frozen=True)
class RevisionResult:
    """Result of revised decisions.

    Attributes:
        dropped_count: Number of pages removed from the store.
        missing_urls: URLs of pages that are now relevant, but whose content is not in the archive.
    """

    dropped_count: int = 0
    missing_urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostHarvest:
    """Decisions of one strategy on the pages of a host.

    `mean_retained_score` is the mean score of the retained pages. If scores are probabilities, it is the expected
    precision.
    """

    host: str
    strategy: str
    decided_count: int
    retained_count: int
    mean_retained_score: float = 0.0

    @property
    def harvest_rate(self) -> float:
        """Share of the decided pages that were retained, 0 to 1."""
        return self.retained_count / self.decided_count if self.decided_count else 0.0


@dataclass(frozen=True)
class TopicQuestion:
    """A page without an answer.

    `score` is its estimated probability of being on topic when the question was created.
    """

    url: str
    title: str
    score: float
