"""What the search site may do with topics: the implementation of `search_ui.review.topic_actions.TopicActions`."""

from collections.abc import Sequence

from docstore.frontier.focused_decisions import Harvest
from docstore.topics import Topic, TopicState, TopicTermClass
from focused.topic.confirmation import decide
from focused.topic.file import TopicFiles
from pipeline.engine import Engine


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
