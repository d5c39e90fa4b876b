"""Topic actions of the search site: implements `search_ui.review.topic_interfaces.TopicBackend`."""

from collections.abc import Mapping, Sequence

from domain.focused_decision import HostHarvest
from domain.topic import Topic, TopicState, TopicTermClass
from focused.topic.term_decisions import decide_terms
from focused.topic.topic_file_store import TopicFileStore
from pipeline.engine import Engine
from pipeline.topic.retention import estimate_coverage, save_answers
from search_ui.review.topic_interfaces import TopicReviewState


class StoreTopics:
    """Topics from the topic files in the data folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._files = TopicFileStore(engine.settings.data_dir)

    def names(self) -> Sequence[str]:
        """The names of all topics."""
        return self._files.names()

    def active_topic(self) -> str:
        """Return the topic of the configured crawl; "" if none is set."""
        return self._engine.settings.crawl.topic

    def topic(self, name: str) -> Topic:
        """Read a topic. Raises TopicError if it does not exist or its file is not valid."""
        return self._files.read(name)

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """Set the state (and class, if given) of terms and seed URLs; all of them or, on an error, none."""
        decide_terms(self._files, name, items, state, kind)

    def harvest(self) -> Sequence[HostHarvest]:
        """Return the on-topic rate of each strategy by host."""
        return self._engine.store.focused_decisions.harvest_by_host()

    def review_questions(self, name: str) -> TopicReviewState:
        """Return the expected quality of the retained pages and the pages that a reviewer should label."""
        coverage, questions_table = estimate_coverage(self._engine, name), self._engine.store.topic_questions
        target_precision, answers, open_questions = (
            self._engine.settings.topic.precision,
            len(questions_table.answers(name)),
            questions_table.pending(name),
        )
        if coverage is None:
            return TopicReviewState(target_precision, answer_count=answers, open_questions=open_questions)
        return TopicReviewState(
            target_precision, coverage.retained_count, coverage.precision, coverage.recall, answers, open_questions
        )

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """Save page labels. A running crawl applies them immediately, otherwise the next crawl does."""
        save_answers(self._engine, name, answers, by)
