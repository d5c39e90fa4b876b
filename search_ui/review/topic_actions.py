"""What the search site may do with topics. `pipeline` hands in the implementation."""

from collections.abc import Sequence
from typing import Protocol

from docstore.errors import TopicError
from docstore.frontier.focused_decisions import Harvest
from docstore.topics import Topic, TopicState, TopicTermClass


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


NO_TOPICS = NoTopics()
