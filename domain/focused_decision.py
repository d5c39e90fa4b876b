"""Decisions of a focused crawl on pages and links, and questions to a person.

FocusedDecision        decision on one page, saved in the transaction of its visit    crawler -> store
StoredFocusedDecision  the decision as stored                                        store -> crawler, administrator
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log10

# Labels of a person without which the quality of the retained pages is not stated, for every tenfold of pages: 15 for
# 30 pages, 20 for 100, 27 for 500. With these the stated precision is within .1 on average
# (docs/background/focused-crawling.md); without labels it is wrong by .2, with every correction that was tried.
LABELS_PER_TENFOLD = 10


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
    """Decisions of one strategy on the pages of a host."""

    host: str
    strategy: str
    decided_count: int
    retained_count: int

    @property
    def harvest_rate(self) -> float:
        """Share of the decided pages that were retained, 0 to 1."""
        return self.retained_count / self.decided_count if self.decided_count else 0.0


@dataclass(frozen=True)
class TopicCoverage:
    """Estimated quality of the pages that a strategy retained for a topic; scores are probabilities.

    Attributes:
        decided_count: Number of decided pages.
        retained_count: Number of retained pages.
        score_sum: Sum of the scores of all decided pages.
        retained_score_sum: Sum of the scores of the retained pages.
        label_count: Number of a person's labels that the scores take into account.
        uncertain_count: Number of decided pages with a score between 0 and 1: neither labelled nor an example.
    """

    decided_count: int
    retained_count: int
    score_sum: float
    retained_score_sum: float
    label_count: int
    uncertain_count: int

    @property
    def missing_label_count(self) -> int:
        """Number of labels without which neither precision nor recall is stated."""
        required_count = round(LABELS_PER_TENFOLD * log10(self.decided_count + 1))
        return max(min(required_count - self.label_count, self.uncertain_count), 0)

    @property
    def precision(self) -> float | None:
        """Expected share of on-topic pages among the retained pages; None if it cannot be stated."""
        is_stated = self.retained_count > 0 and not self.missing_label_count
        return self.retained_score_sum / self.retained_count if is_stated else None

    @property
    def recall(self) -> float | None:
        """Expected share of the decided on-topic pages that are retained; None if it cannot be stated."""
        is_stated = self.score_sum > 0 and not self.missing_label_count
        return self.retained_score_sum / self.score_sum if is_stated else None


@dataclass(frozen=True)
class TopicQuestion:
    """A page without an answer.

    `score` is its estimated probability of being on topic when the question was created.
    """

    url: str
    title: str
    score: float
