"""What the search site may do with topics. `pipeline` hands in the implementation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.errors import TopicError
from docstore.frontier.focused_decisions import Harvest
from docstore.frontier.topic_questions import TopicQuestion
from docstore.topics import Topic, TopicState, TopicTermClass


@dataclass(frozen=True)
class TopicAsked:
    """What is kept of a topic in expectation (shares; None before anything was fetched for it), how many answers there
    are, and what waits for one."""

    wanted: float = 0.0
    kept: int = 0
    precision: float | None = None
    recall: float | None = None
    answers: int = 0
    waiting: Sequence[TopicQuestion] = ()


class TopicActions(Protocol):
    """The topics of a vertical."""

    def names(self) -> Sequence[str]:
        """The names of all topics."""

    def current(self) -> str:
        """The name of the topic that the crawl looks for, "" for none."""

    def topic(self, name: str) -> Topic:
        """A topic. TopicError where there is none of this name, or its file is not valid."""

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """Decide on terms (by text) and seeds (by URL); `kind` moves the terms to a class. TopicError, and nothing
        is decided, where one of them is not there."""

    def harvest(self) -> Sequence[Harvest]:
        """What each strategy kept of each host's pages."""

    def questions(self, name: str) -> TopicAsked:
        """What is kept of a topic, and the pages that a person is asked about."""

    def answer(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """Keep answers: URL -> is it of the topic? TopicError, and no answer is kept, where one of the pages was not
        fetched for a topic."""


class NoTopics:
    """A site without topics."""

    def names(self) -> Sequence[str]:
        """None."""
        return ()

    def current(self) -> str:
        """None."""
        return ""

    def topic(self, name: str) -> Topic:
        """There is none."""
        raise TopicError(f"there is no topic {name}")

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """There is none."""
        del items, state, kind
        raise TopicError(f"there is no topic {name}")

    def harvest(self) -> Sequence[Harvest]:
        """None."""
        return ()

    def questions(self, name: str) -> TopicAsked:
        """Nothing."""
        del name
        return TopicAsked()

    def answer(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """There is none."""
        del answers, by
        raise TopicError(f"there is no topic {name}")


NO_TOPICS = NoTopics()
