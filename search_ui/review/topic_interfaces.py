"""The interface between the search site and topics. `pipeline` provides the implementation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.focused_decision import HostHarvest, TopicCoverage, TopicQuestion
from domain.topic import Topic, TopicState, TopicTermClass


@dataclass(frozen=True)
class TopicReviewState:
    """Estimates for the pages kept for a topic, and the pages to ask a reviewer about.

    `coverage` is None before pages were fetched for the topic. `strategy_notes` are sentences about what the strategy
    lacks.
    """

    target_precision: float = 0.0
    coverage: TopicCoverage | None = None
    answer_count: int = 0
    open_questions: Sequence[TopicQuestion] = ()
    strategy_notes: Sequence[str] = ()


class TopicBackend(Protocol):
    """The topics of a vertical."""

    def names(self) -> Sequence[str]:
        """Return the names of all topics."""

    def active_topic(self) -> str:
        """Return the name of the topic of the crawl; "" if there is none."""

    def topic(self, name: str) -> Topic:
        """Return a topic. Raises TopicError if it does not exist or its file is invalid."""

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """Decide on terms (by text) and seeds (by URL), all or none. `kind` changes the class of the terms.

        Raises TopicError if an item does not exist.
        """

    def harvest(self) -> Sequence[HostHarvest]:
        """Return the on-topic rate by strategy and host."""

    def review_questions(self, name: str) -> TopicReviewState:
        """Return the estimates of a topic and the pages to ask a reviewer about."""

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """Save answers, all or none: whether each URL is on topic.

        Raises TopicError if a page was not fetched for a topic.
        """
