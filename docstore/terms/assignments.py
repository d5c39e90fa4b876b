"""Terms that are assigned to reviewers. Each change is recorded as an action in its transaction."""

import time
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection, delete, func, select

from docstore.actions import write_action
from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.reports.administration_history import shorten_terms
from docstore.schema.lexicon_tables import term_assignments, terms
from docstore.terms.term_changes import require_terms, term_rows
from domain.batches import batched
from domain.storable_text import sanitize_text
from domain.term import TermStatus

ASSIGN_ACTION = "term_assign"  # code of the action
BATCH_SIZE = 500


class AssignmentTable:
    """Assign terms to accounts (`store.term_assignments`). A term is assigned to at most one account."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def assign(self, texts: Sequence[str], reviewer: str, actor: str) -> int | None:
        """Assign terms to the account `reviewer`; "" for nobody.

        Returns:
            The id of the action; None if all terms were assigned so before.

        Raises:
            LexiconError: A term does not exist.
        """
        texts = [sanitize_text(text) for text in dict.fromkeys(texts)]
        with self._database.write() as connection:
            require_terms(term_rows(connection, texts), texts)
            return self._write(connection, dict.fromkeys(texts, reviewer), actor)

    def undo(self, changes: Mapping[str, Sequence[str]], actor: str) -> int | None:
        """Give terms their previous reviewers.

        Args:
            changes: (Previous reviewer, reviewer) of each term; "" for nobody.
            actor: Account that undoes the assignment.

        Returns:
            The id of the action; None if a term has another reviewer now.
        """
        with self._database.write() as connection:
            current_reviewers = load_reviewers(connection, list(changes))
            if any(current_reviewers.get(text, "") != reviewer for text, (_, reviewer) in changes.items()):
                return None
            return self._write(connection, {text: previous for text, (previous, _) in changes.items()}, actor)

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

    def _write(self, connection: Connection, reviewers: Mapping[str, str], actor: str) -> int | None:
        previous_reviewers = load_reviewers(connection, list(reviewers))
        changes = {
            text: reviewer for text, reviewer in reviewers.items() if previous_reviewers.get(text, "") != reviewer
        }
        if not changes:
            return None
        now = self._clock()
        for batch in batched(list(changes), BATCH_SIZE):
            connection.execute(delete(term_assignments).where(term_assignments.c.term.in_(batch)))
        rows = [
            {"term": text, "account": reviewer, "assigned_by": actor, "at": now}
            for text, reviewer in changes.items()
            if reviewer
        ]
        self._database.insert_missing(connection, term_assignments, rows)
        update_row_checksums(self._database, connection, term_assignments, changes)
        names = ", ".join(sorted(filter(None, set(changes.values()))))
        details = {
            "after": names,
            "changes": {text: [previous_reviewers.get(text, ""), reviewer] for text, reviewer in changes.items()},
        }
        subject = shorten_terms(list(changes))
        return write_action(self._database, connection, now, actor, ASSIGN_ACTION, subject, details)


def load_reviewers(connection: Connection, texts: Sequence[str]) -> dict[str, str]:
    """Return the reviewer of each of `texts` that is assigned."""
    reviewers: dict[str, str] = {}
    for batch in batched(texts, BATCH_SIZE):
        rows = connection.execute(select(term_assignments).where(term_assignments.c.term.in_(batch)))
        reviewers.update((row.term, row.account) for row in rows)
    return reviewers
