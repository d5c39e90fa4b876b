"""Pages that a person should classify for a focused crawl, with the answers: is the page on topic?"""

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, select

from docstore.database import StorePart
from docstore.operations import write_operation
from docstore.schema.crawl_tables import topic_questions
from domain.focused_decision import TopicQuestion
from domain.storable_text import sanitize_text

MAX_TITLE_CHARS = 300


class TopicQuestionTable(StorePart):
    """Save and load topic questions and answers (`store.topic_questions`).

    Answers are permanent. Unanswered questions are replaced by the next questions.
    """

    def replace_pending(self, topic: str, questions: Sequence[TopicQuestion]) -> None:
        """Replace the unanswered questions of a topic by `questions`. Pages with an answer are skipped."""
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
            self._database.insert_missing(connection, topic_questions, rows)

    def pending(self, topic: str) -> list[TopicQuestion]:
        """Return the unanswered questions of a topic, in order."""
        query = (
            select(topic_questions)
            .where(topic_questions.c.topic == topic, topic_questions.c.answer.is_(None))
            .order_by(topic_questions.c.place)
        )
        with self._database.read() as connection:
            return [TopicQuestion(row.url, row.title, row.score) for row in connection.execute(query)]

    def answers(self, topic: str) -> dict[str, bool]:
        """Return the answers of a topic: URL -> True if the page is on topic."""
        query = select(topic_questions.c.url, topic_questions.c.answer).where(
            topic_questions.c.topic == topic, topic_questions.c.answer.is_not(None)
        )
        with self._database.read() as connection:
            return {url: bool(answer) for url, answer in connection.execute(query)}

    def save_answers(self, topic: str, answers: Mapping[str, bool], actor: str) -> None:
        """Save answers, also for pages without a question. A later answer replaces an earlier one.

        Args:
            topic: Name of the topic.
            answers: URL -> True if the page is on topic.
            actor: Account of the person.
        """
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
            for url in answers:
                write_operation(self._database, connection, now, actor, "topic_answer", url)
