"""Related terms as part of review decisions: an import, a merge or a new name changes pairs, its undo restores them.

The pairs are rows of `relation_proposals`. The state of the term in a decision (`review_changes`) has the list
`RELATED_KEY` with the change of each pair.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, or_, select

from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.lexicon_tables import relation_proposals
from domain.review import TermChange
from domain.storable_text import sanitize_text
from domain.term_relation import ProposalState, RelatedPair, RelationKind, RelationProposal, TermRelation

RELATED_KEY = "related"
IMPORT_PATTERN = "import"


class _PairState(NamedTuple):
    """State of a pair and the account that decided it. Without a row of the pair, both are ""."""

    state: str = ""
    account: str = ""


class _PairChange(NamedTuple):
    """Change of a pair, in the order of its JSON list."""

    term: str
    other: str
    before: _PairState
    after: _PairState


def apply_related_pairs(
    database: Database, connection: Connection, change: TermChange, pairs: Iterable[RelatedPair], actor: str, now: float
) -> None:
    """Accept or reject pairs in the transaction of a decision, and add them to `change`, the change of a term.

    Args:
        database: The database.
        connection: The transaction.
        change: A change that does not delete its term.
        pairs: The pairs.
        actor: Account of the reviewer.
        now: Epoch seconds.
    """
    states = {True: ProposalState.ACCEPTED, False: ProposalState.REJECTED}
    changes = []
    for pair in pairs:
        term, other = sanitize_text(pair.term), sanitize_text(pair.other)
        after = _PairState(states[pair.is_related].value, sanitize_text(actor)[:64])
        changes.append(_PairChange(term, other, _load_state(connection, term, other), after))
    if changes and change.after is not None:
        change.after[RELATED_KEY] = changes
        _write_changes(database, connection, changes, now)


def load_related(connection: Connection, text: str) -> list[str]:
    """Return the terms that reviewers accepted as related to a term, sorted."""
    columns = (relation_proposals.c.term, relation_proposals.c.other)
    query = select(*columns).where(
        relation_proposals.c.kind == RelationKind.RELATED,
        relation_proposals.c.state == ProposalState.ACCEPTED,
        or_(*(column == text for column in columns)),
    )
    return sorted({term for row in connection.execute(query) for term in row} - {text})


def pairs_moved_to(connection: Connection, text: str, new_text: str) -> tuple[RelatedPair, ...]:
    """Return the changes that relate the accepted related terms of `text` to `new_text` instead."""
    related_terms = load_related(connection, text)
    removed = [RelatedPair(min(text, other), max(text, other), False) for other in related_terms]
    added = [
        RelatedPair(min(new_text, other), max(new_text, other), True) for other in related_terms if other != new_text
    ]
    return (*removed, *added)


def restore_related_pairs(
    database: Database, connection: Connection, change: TermChange, restoring_change: TermChange, now: float
) -> None:
    """Restore the states of pairs before `change`, and add them to `restoring_change`, which undoes it.

    A pair that someone decided since keeps its state. `now` is epoch seconds.
    """
    restored_changes = []
    for term, other, before, after in _read_changes(change):
        if _load_state(connection, term, other) == after:
            restored_changes.append(_PairChange(term, other, after, before))
    state = restoring_change.before if restoring_change.after is None else restoring_change.after
    if restored_changes and state is not None:
        _write_changes(database, connection, restored_changes, now)
        state[RELATED_KEY] = restored_changes


def without_related(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a saved state of a term, without its related pairs."""
    return {name: value for name, value in state.items() if name != RELATED_KEY}


def _read_changes(change: TermChange) -> list[_PairChange]:
    state = (change.before if change.after is None else change.after) or {}
    return [
        _PairChange(term, other, _PairState(*before), _PairState(*after))
        for term, other, before, after in state.get(RELATED_KEY, ())
    ]


def _matches_pair(term: str, other: str) -> Any:
    columns = relation_proposals.c
    return and_(columns.term == term, columns.kind == RelationKind.RELATED, columns.other == other)


def _load_state(connection: Connection, term: str, other: str) -> _PairState:
    query = select(relation_proposals.c.state, relation_proposals.c.decided_by).where(_matches_pair(term, other))
    row = connection.execute(query).first()
    return _PairState(row.state, row.decided_by) if row else _PairState()


def _write_changes(database: Database, connection: Connection, changes: Iterable[_PairChange], now: float) -> None:
    written_terms = []
    for term, other, _, after in changes:
        written_terms.append(term)
        if not after.state:
            connection.execute(delete(relation_proposals).where(_matches_pair(term, other)))
            continue
        relation = TermRelation(RelationKind.RELATED, term, other, IMPORT_PATTERN, 1.0, "")
        row = row_of_proposal(RelationProposal(relation, 0, "", "", now))
        row |= {"state": after.state, "decided_by": after.account}
        database.upsert(connection, relation_proposals, [row], ["state", "decided_by"])
    update_row_checksums(database, connection, relation_proposals, written_terms)


def row_of_proposal(proposal: RelationProposal) -> dict[str, Any]:
    """Return the `relation_proposals` row of an open proposal."""
    relation = proposal.relation
    return {
        "term": sanitize_text(relation.term),
        "kind": relation.kind,
        "other": sanitize_text(relation.other),
        "pattern": relation.pattern,
        "score": relation.score,
        "evidence": sanitize_text(relation.evidence),
        "url_id": proposal.url_id,
        "url": proposal.url,
        "title": sanitize_text(proposal.title),
        "found_at": proposal.found_at,
        "state": ProposalState.PROPOSED,
        "decided_by": "",
    }
