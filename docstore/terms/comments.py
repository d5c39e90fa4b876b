"""Comments of reviewers on terms."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, insert, select

from docstore.database import StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.lexicon_tables import term_comments
from docstore.terms.term_changes import require_terms, term_rows
from domain.account import Role
from domain.batches import batched
from domain.errors import LexiconError
from domain.operation import Call, Change, Field, Operation
from domain.review import MAX_COMMENT_CHARS, TermComment
from domain.storable_text import sanitize_text

BATCH_SIZE = 500


class CommentTable(StorePart):
    """Add, find and remove comments (`store.term_comments`)."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        """`term_comment` and `term_comment_remove`: every reviewer writes comments and removes their own."""
        fields = (Field("term", 200, is_required=True), Field("comment", 10 * MAX_COMMENT_CHARS, is_required=True))
        id_field = Field("comment_id", 10, is_required=True)
        return (
            Operation("term_comment", Role.REVIEWER, self._add, fields, "term_comment_remove"),
            Operation("term_comment_remove", Role.REVIEWER, self._remove, (id_field,), "term_comment"),
        )

    def _add(self, call: Call) -> Change | None:
        """Add a comment, or one that was removed again, with its id, author and time."""
        values, term = call.values, sanitize_text(call.text("term"))
        text = sanitize_text(call.text("comment").replace("\r\n", "\n")).strip()
        if not text:
            raise LexiconError("The comment has no text.")
        if len(text) > MAX_COMMENT_CHARS:
            raise LexiconError(
                "A comment has at most {limit} characters, not {length}.", limit=MAX_COMMENT_CHARS, length=len(text)
            )
        author, at = values.get("author", call.account), values.get("at", self._clock())
        id_value = {"comment_id": values["comment_id"]} if "comment_id" in values else {}
        row = {"term": term, "account": author, "text": text, "at": at, **id_value}
        with self._database.write() as connection:
            require_terms(term_rows(connection, [term]), [term])
            is_comment = term_comments.c.comment_id == values.get("comment_id")
            if connection.execute(select(term_comments).where(is_comment)).first() is not None:
                return None
            comment_id = int(connection.execute(insert(term_comments).values(row)).inserted_primary_key[0])  # type: ignore[index]
            update_row_checksums(self._database, connection, term_comments, [comment_id])
        comment = TermComment(comment_id, term, author, text, at)
        return Change(term, comment_values(comment), {"comment_id": comment_id})

    def _remove(self, call: Call) -> Change | None:
        """Delete a comment of the account; as an undo, that of any account."""
        is_comment = term_comments.c.comment_id == int(call.values["comment_id"])
        with self._database.write() as connection:
            row = connection.execute(select(term_comments).where(is_comment)).first()
            if row is None or (call.expected is None and row.account != call.account):
                return None
            connection.execute(delete(term_comments).where(is_comment))
            update_row_checksums(self._database, connection, term_comments, [row.comment_id])
        return Change(row.term, {"comment_id": row.comment_id}, comment_values(comment_from_row(row)))

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


def comment_values(comment: TermComment) -> dict[str, Any]:
    """Return a comment as the values of `term_comment` that write it again."""
    values = {"comment_id": comment.comment_id, "term": comment.term, "author": comment.account}
    return {**values, "comment": comment.text, "at": comment.at}


def comment_from_row(row: Row[tuple[object, ...]]) -> TermComment:
    """Convert a row of `term_comments` to a TermComment."""
    return TermComment(row.comment_id, row.term, row.account, row.text, row.at)
