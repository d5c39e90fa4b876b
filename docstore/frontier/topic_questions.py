"""What a person is asked about a focused crawl, and what was answered: is this page of the topic?"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select

from docstore.bookkeeping import sanitize_text
from docstore.database import Database
from docstore.schema.crawl_tables import topic_questions

MAX_TITLE_CHARS = 300


@dataclass(frozen=True)
class TopicQuestion:
    """A page that waits for an answer; `score` is its probability of the topic when it was asked about."""

    url: str
    title: str
    score: float


class TopicQuestionTable:
    """`store.topic_questions`. Answers stay; questions make room for those that are asked next."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def replace_pending(self, topic: str, questions: Sequence[TopicQuestion]) -> None:
        """Ask these in place of those that wait; what was answered is not asked again."""
        rows = [
            {
                "topic": topic,
                "url": question.url,
                "title": sanitize_text(question.title)[:MAX_TITLE_CHARS],
                "place": position,
                "score": question.score,
                "answered_by": "",
            }
            for position, question in enumerate(questions)
        ]
        with self._database.write() as connection:
            is_pending = (topic_questions.c.topic == topic) & topic_questions.c.answer.is_(None)
            connection.execute(delete(topic_questions).where(is_pending))
            self._database.upsert(connection, topic_questions, rows)

    def pending(self, topic: str) -> list[TopicQuestion]:
        """The questions that were not answered, in order."""
        query = (
            select(topic_questions)
            .where(topic_questions.c.topic == topic, topic_questions.c.answer.is_(None))
            .order_by(topic_questions.c.place)
        )
        with self._database.read() as connection:
            return [TopicQuestion(row.url, row.title, row.score) for row in connection.execute(query)]

    def answers(self, topic: str) -> dict[str, bool]:
        """What was answered: URL -> is it of the topic?"""
        query = select(topic_questions.c.url, topic_questions.c.answer).where(
            topic_questions.c.topic == topic, topic_questions.c.answer.is_not(None)
        )
        with self._database.read() as connection:
            return {url: bool(answer) for url, answer in connection.execute(query)}

    def save_answers(self, topic: str, answers: Mapping[str, bool], actor: str) -> None:
        """Keep answers, also about pages that nobody was asked about. A later answer takes an earlier one's place."""
        now = self._clock()
        rows = [
            {
                "topic": topic,
                "url": url,
                "title": "",
                "place": 0,
                "score": 0.0,
                "answer": int(is_relevant),
                "answered_by": actor,
                "answered_at": now,
            }
            for url, is_relevant in answers.items()
        ]
        with self._database.write() as connection:
            self._database.upsert(
                connection, topic_questions, rows, update_columns=("answer", "answered_by", "answered_at")
            )
