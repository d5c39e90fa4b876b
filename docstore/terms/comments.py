"""Comments of reviewers on terms. Each addition and removal is recorded as an action in its transaction."""

import json
import time
from collections.abc import Callable, Sequence

from sqlalchemy import Row, delete, insert, select

from docstore.actions import mark_undone, write_action
from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.administration_tables import actions
from docstore.schema.lexicon_tables import term_comments
from docstore.terms.term_changes import require_terms, term_rows
from domain.batches import batched
from domain.errors import LexiconError
from domain.review import MAX_COMMENT_CHARS, TermComment
from domain.storable_text import sanitize_text

COMMENT_ACTION, REMOVE_COMMENT_ACTION = "term_comment", "term_comment_remove"  # codes of actions
BATCH_SIZE = 500


class CommentTable:
    """Add, find and remove comments (`store.term_comments`)."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, term: str, account: str, text: str) -> int:
        """Add a comment and return the id of the action.

        Raises:
            LexiconError: There is no such term, or the text is empty or longer than MAX_COMMENT_CHARS.
        """
        text, term = sanitize_text(text.replace("\r\n", "\n")).strip(), sanitize_text(term)
        if not text:
            raise LexiconError("The comment has no text.")
        if len(text) > MAX_COMMENT_CHARS:
            raise LexiconError(
                "A comment has at most {limit} characters, not {length}.", limit=MAX_COMMENT_CHARS, length=len(text)
            )
        row = {"term": term, "account": account, "text": text, "at": self._clock()}
        with self._database.write() as connection:
            require_terms(term_rows(connection, [term]), [term])
            comment_id = int(connection.execute(insert(term_comments).values(row)).inserted_primary_key[0])  # type: ignore[index]
            update_row_checksums(self._database, connection, term_comments, [comment_id])
            details = {"comment_id": comment_id}
            return write_action(self._database, connection, self._clock(), account, COMMENT_ACTION, term, details)

    def find(self, terms: Sequence[str]) -> dict[str, list[TermComment]]:
        """Return the comments on each of `terms` that has some, oldest first."""
        comments_by_term: dict[str, list[TermComment]] = {}
        with self._database.read() as connection:
            for batch in batched([sanitize_text(term) for term in terms], BATCH_SIZE):
                query = (
                    select(term_comments).where(term_comments.c.term.in_(batch)).order_by(term_comments.c.comment_id)
                )
                for row in connection.execute(query):
                    comments_by_term.setdefault(row.term, []).append(comment_from_row(row))
        return comments_by_term

    def remove(self, comment_id: int, account: str, author: str | None = None) -> int | None:
        """Delete a comment and return the id of the action; None if there is no such comment.

        Args:
            comment_id: The comment.
            account: Account that removes it.
            author: If not None, only a comment of this account is deleted.
        """
        is_comment = term_comments.c.comment_id == comment_id
        with self._database.write() as connection:
            row = connection.execute(select(term_comments).where(is_comment)).first()
            if row is None or author not in (None, row.account):
                return None
            connection.execute(delete(term_comments).where(is_comment))
            update_row_checksums(self._database, connection, term_comments, [comment_id])
            details = {"comment_id": comment_id, "author": row.account, "text": row.text, "at": row.at}
            action_id = write_action(
                self._database, connection, self._clock(), account, REMOVE_COMMENT_ACTION, row.term, details
            )
            is_addition = (actions.c.action == COMMENT_ACTION) & (actions.c.subject == row.term)
            additions = connection.execute(select(actions.c.action_id, actions.c.details).where(is_addition))
            ids = [item.action_id for item in additions if json.loads(item.details)["comment_id"] == comment_id]
            mark_undone(self._database, connection, ids, action_id)
        return action_id

    def restore(self, comment: TermComment, account: str) -> int | None:
        """Add a removed comment again and return the id of the action; None if it is there.

        Raises LexiconError if the term does not exist any more.
        """
        row = {"comment_id": comment.comment_id, "term": comment.term, "account": comment.account}
        is_comment = term_comments.c.comment_id == comment.comment_id
        with self._database.write() as connection:
            if connection.execute(select(term_comments).where(is_comment)).first() is not None:
                return None
            require_terms(term_rows(connection, [comment.term]), [comment.term])
            connection.execute(insert(term_comments).values({**row, "text": comment.text, "at": comment.at}))
            update_row_checksums(self._database, connection, term_comments, [comment.comment_id])
            details = {"comment_id": comment.comment_id}
            return write_action(
                self._database, connection, self._clock(), account, COMMENT_ACTION, comment.term, details
            )


def comment_from_row(row: Row[tuple[object, ...]]) -> TermComment:
    """Convert a row of `term_comments` to a TermComment."""
    return TermComment(row.comment_id, row.term, row.account, row.text, row.at)
