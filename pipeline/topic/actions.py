"""What the search site may do with topics: the implementation of `search_ui.review.topic_interfaces.TopicBackend`."""

from collections.abc import Mapping, Sequence

from docstore.frontier.focused_decisions import HostHarvest
from docstore.topic import Topic, TopicState, TopicTermClass
from focused.topic.term_decisions import decide_terms
from focused.topic.topic_file_store import TopicFileStore
from pipeline.engine import Engine
from pipeline.topic.retention import estimate_coverage, save_answers
from search_ui.review.topic_interfaces import TopicReviewState


class StoreTopics:
    """The topics in the data folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._files = TopicFileStore(engine.settings.data_dir)

    def names(self) -> Sequence[str]:
        """The names of all topics."""
        return self._files.names()

    def active_topic(self) -> str:
        """The name of the topic that the crawl looks for, "" for none."""
        return self._engine.settings.crawl.topic

    def topic(self, name: str) -> Topic:
        """A topic. TopicError where there is none, or its file is not valid."""
        return self._files.read(name)

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """Decide on terms and seeds, all of them or none."""
        decide_terms(self._files, name, items, state, kind)

    def harvest(self) -> Sequence[HostHarvest]:
        """What each strategy kept of each host's pages."""
        return self._engine.store.focused_decisions.harvest_by_host()

    def review_questions(self, name: str) -> TopicReviewState:
        """What is kept of a topic, and the pages that a person is asked about."""
        coverage, questions_table = estimate_coverage(self._engine, name), self._engine.store.topic_questions
        target_precision, answers, open_questions = (
            self._engine.settings.topic.precision,
            len(questions_table.answers(name)),
            questions_table.pending(name),
        )
        if coverage is None:
            return TopicReviewState(target_precision, answer_count=answers, open_questions=open_questions)
        return TopicReviewState(
            target_precision, coverage.kept, coverage.precision, coverage.recall, answers, open_questions
        )

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """Keep answers: a crawl that goes on takes them at once, else the next one does."""
        save_answers(self._engine, name, answers, by)
