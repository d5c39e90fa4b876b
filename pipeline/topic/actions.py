"""What the search site may do with topics: the implementation of `search_ui.review.topic_actions.TopicActions`."""

from collections.abc import Mapping, Sequence

from docstore.frontier.focused_decisions import Harvest
from docstore.topics import Topic, TopicState, TopicTermClass
from focused.topic.confirmation import decide
from focused.topic.file import TopicFiles
from pipeline.engine import Engine
from pipeline.topic.keeping import answer, expected_yield
from search_ui.review.topic_actions import TopicAsked


class StoreTopics:
    """The topics in the data folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._files = TopicFiles(engine.settings.data_dir)

    def names(self) -> Sequence[str]:
        """The names of all topics."""
        return self._files.names()

    def current(self) -> str:
        """The name of the topic that the crawl looks for, "" for none."""
        return self._engine.settings.crawl.topic

    def topic(self, name: str) -> Topic:
        """A topic. TopicError where there is none, or its file is not valid."""
        return self._files.read(name)

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """Decide on terms and seeds, all of them or none."""
        decide(self._files, name, items, state, kind)

    def harvest(self) -> Sequence[Harvest]:
        """What each strategy kept of each host's pages."""
        return self._engine.store.judgements.harvest()

    def questions(self, name: str) -> TopicAsked:
        """What is kept of a topic, and the pages that a person is asked about."""
        found, asked = expected_yield(self._engine, name), self._engine.store.topic_questions
        wanted, answers, waiting = self._engine.settings.topic.precision, len(asked.answers(name)), asked.waiting(name)
        if found is None:
            return TopicAsked(wanted, answers=answers, waiting=waiting)
        return TopicAsked(wanted, found.kept, found.precision, found.recall, answers, waiting)

    def answer(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """Keep answers: a crawl that goes on takes them at once, else the next one does."""
        answer(self._engine, name, answers, by)
