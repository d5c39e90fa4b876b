"""What the search site may do with topics. `pipeline` hands in the implementation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.coded_message import CodedMessage
from docstore.errors import TopicError
from docstore.frontier.focused_decisions import HostHarvest
from docstore.frontier.topic_questions import TopicQuestion
from docstore.topic import Topic, TopicState, TopicTermClass


@dataclass(frozen=True)
class TopicReviewState:
    """What is kept of a topic in expectation (shares.

    None before anything was fetched for it), how many answers there are, and what waits for one.
    """

    target_precision: float = 0.0
    retained_count: int = 0
    expected_precision: float | None = None
    expected_recall: float | None = None
    answer_count: int = 0
    open_questions: Sequence[TopicQuestion] = ()


class TopicBackend(Protocol):
    """The topics of a vertical."""

    def names(self) -> Sequence[str]:
        """The names of all topics."""

    def active_topic(self) -> str:
        """The name of the topic that the crawl looks for, "" for none."""

    def topic(self, name: str) -> Topic:
        """A topic. TopicError where there is none of this name, or its file is not valid."""

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """Decide on terms (by text) and seeds (by URL); `kind` moves the terms to a class.

        TopicError, and nothing is decided, where one of them is not there.
        """

    def harvest(self) -> Sequence[HostHarvest]:
        """What each strategy kept of each host's pages."""

    def review_questions(self, name: str) -> TopicReviewState:
        """What is kept of a topic, and the pages that a person is asked about."""

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """Keep answers:

        URL -> is it of the topic? TopicError, and no answer is kept, where one of the pages was not fetched for a
        topic.
        """


class NoTopicBackend:
    """A site without topics."""

    def names(self) -> Sequence[str]:
        """None."""
        return ()

    def active_topic(self) -> str:
        """None."""
        return ""

    def topic(self, name: str) -> Topic:
        """There is none."""
        raise TopicError(CodedMessage(f"there is no topic {name}", "no_such_topic", topic=name))

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """There is none."""
        del items, state, kind
        raise TopicError(CodedMessage(f"there is no topic {name}", "no_such_topic", topic=name))

    def harvest(self) -> Sequence[HostHarvest]:
        """None."""
        return ()

    def review_questions(self, name: str) -> TopicReviewState:
        """Nothing."""
        del name
        return TopicReviewState()

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """There is none."""
        del answers, by
        raise TopicError(CodedMessage(f"there is no topic {name}", "no_such_topic", topic=name))


NO_TOPIC_BACKEND = NoTopicBackend()
