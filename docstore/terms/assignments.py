"""Terms that are assigned to reviewers."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select

from docstore.database import StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.lexicon_tables import term_assignments, terms
from docstore.terms.term_changes import require_terms, term_rows
from domain.account import Role
from domain.batches import batched
from domain.operation import Call, Change, Field, Operation
from domain.review import shorten_terms
from domain.storable_text import sanitize_text
from domain.term import TermStatus

BATCH_SIZE = 500


class AssignmentTable(StorePart):
    """Assign terms to accounts (`store.term_assignments`). A term is assigned to at most one account."""

    @property
    def operation(self) -> Operation:
        """`term_assign`: give each term of `reviewers` (a mapping) its reviewer; "" is nobody."""
        fields = (Field("reviewers", is_required=True),)
        return Operation("term_assign", Role.REVIEWER, self._assign, fields, "term_assign")

    def _assign(self, call: Call) -> Change | None:
        reviewers = {sanitize_text(text): str(reviewer) for text, reviewer in call.values["reviewers"].items()}
        with self._database.write() as connection:
            require_terms(term_rows(connection, list(reviewers)), list(reviewers))
            previous_reviewers = dict.fromkeys(reviewers, "") | load_reviewers(connection, list(reviewers))
            if call.expected is not None and previous_reviewers != call.expected["reviewers"]:
                return None
            changes = {text: name for text, name in reviewers.items() if previous_reviewers[text] != name}
            for batch in batched(list(changes), BATCH_SIZE):
                connection.execute(delete(term_assignments).where(term_assignments.c.term.in_(batch)))
            rows = [
                {"term": text, "account": reviewer, "assigned_by": call.account, "at": self._clock()}
                for text, reviewer in changes.items()
                if reviewer
            ]
            self._database.insert_missing(connection, term_assignments, rows)
            update_row_checksums(self._database, connection, term_assignments, changes)
        before = {text: previous_reviewers[text] for text in changes}
        return Change(shorten_terms(list(changes)), {"reviewers": changes}, {"reviewers": before}) if changes else None

    def find(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the reviewer of each of `texts` that is assigned."""
        with self._database.read() as connection:
            return load_reviewers(connection, [sanitize_text(text) for text in texts])

    def count_candidates(self, reviewer: str) -> int:
        """Return the number of candidates that are assigned to an account."""
        is_assigned = (term_assignments.c.account == reviewer) & (terms.c.status == TermStatus.CANDIDATE)
        query = select(func.count()).select_from(term_assignments.join(terms, term_assignments.c.term == terms.c.text))
        with self._database.read() as connection:
            return connection.scalar(query.where(is_assigned)) or 0


def load_reviewers(connection: Connection, texts: Sequence[str]) -> dict[str, str]:
    """Return the reviewer of each of `texts` that is assigned."""
    reviewers: dict[str, str] = {}
    for batch in batched(texts, BATCH_SIZE):
        rows = connection.execute(select(term_assignments).where(term_assignments.c.term.in_(batch)))
        reviewers.update((row.term, row.account) for row in rows)
    return reviewers
