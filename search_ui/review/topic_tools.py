"""What `pipeline` does for the pages of topics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from domain.focused_decision import TopicCoverage, TopicQuestion
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


@dataclass(frozen=True)
class TopicTools:
    """Functions for the topics of a vertical.

    Attributes:
        names: Returns the names of all topics.
        active_topic: Returns the name of the topic of the crawl; "" if there is none.
        topic: Returns a topic. Raises TopicError if it does not exist or its file is invalid.
        decide: Decides on terms (by text) and seeds (by URL) of a topic, all or none; a class changes that of the
            terms. Raises TopicError if an item does not exist.
        review_questions: Returns the estimates of a topic and the pages to ask a reviewer about.
        save_answers: Saves the answers of an account, all or none: whether each URL is on topic. Raises TopicError if a
            page was not fetched for a topic.
    """

    names: Callable[[], Sequence[str]]
    active_topic: Callable[[], str]
    topic: Callable[[str], Topic]
    decide: Callable[[str, Sequence[str], TopicState, TopicTermClass | None], object]
    review_questions: Callable[[str], TopicReviewState]
    save_answers: Callable[[str, Mapping[str, bool], str], None]
