"""Relations between published terms that articles show, proposed to reviewers.

An accepted relation is stored with its terms (`ReviewHistory`) and its proposal is hidden. If the acceptance is undone,
the proposal is open again. An accepted pair of related terms stays in this table.

If reviewers reject more than half of the proposals of a pattern, it is paused: its proposals are not listed with the
others. Decisions on them resume it.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, delete, func, literal, or_, select, update

from docstore.bookkeeping import read_meta, write_meta
from docstore.database import StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.operations import mark_undone
from docstore.schema.administration_tables import operations
from docstore.schema.lexicon_tables import relation_proposals, terms
from docstore.terms.related_pairs import load_related, row_of_proposal
from domain.account import Role
from domain.batches import batched
from domain.errors import LexiconError
from domain.operation import Call, Change, Field, Operation
from domain.storable_text import sanitize_text
from domain.term import TermStatus
from domain.term_relation import ProposalState, RelationKind, RelationProposal, TermRelation

BATCH_SIZE = 200
NEXT_RELATED_TERM_KEY = "related_next"
SEARCH_STATE_KEYS = ("relations_lexicon", "relations_until")
BEST_FIRST = (relation_proposals.c.score.desc(), relation_proposals.c.term, relation_proposals.c.other)

MIN_DECISIONS = 10  # decided proposals of a pattern from which it can be paused
MIN_ACCEPTED_SHARE = 0.5
PROPOSALS_WITH_TERMS = relation_proposals.outerjoin(terms, terms.c.text == relation_proposals.c.term)

OPERATION_BY_STATE: Mapping[ProposalState, str] = {
    ProposalState.ACCEPTED: "relation_accept",
    ProposalState.REJECTED: "relation_reject",
    ProposalState.PROPOSED: "relation_reopen",
}
"""Name of the operation that sets a state."""


class RelationTable(StorePart):
    """Save, list and reject proposed relations (`store.relations`)."""

    def search_state(self) -> tuple[int, float]:
        """Return the lexicon version whose terms were searched, and until which time of extraction (epoch seconds).

        (0, 0.0) before the first search. Definitions are searched and saved before relations.
        """
        with self._database.read() as connection:
            version, until = (read_meta(connection, key) for key in SEARCH_STATE_KEYS)
        return int(version or 0), float(until or 0)

    def save(
        self,
        new_proposals: Iterable[RelationProposal],
        lost_proposals: Collection[RelationProposal],
        lexicon_version: int,
        searched_until: float,
    ) -> int:
        """Add proposals. Those that are stored already keep their evidence and their state.

        Args:
            new_proposals: The proposals of a search.
            lost_proposals: Open proposals whose articles do not contain the sentence any more; they are deleted first.
            lexicon_version: See `search_state`.
            searched_until: See `search_state`.

        Returns:
            The number of proposals that are new.
        """
        with self._database.write() as connection:
            for batch in batched([_matches_relation(proposal.relation) for proposal in lost_proposals], BATCH_SIZE):
                is_open = relation_proposals.c.state == ProposalState.PROPOSED
                connection.execute(delete(relation_proposals).where(is_open, or_(*batch)))
            new_count = self._insert_missing(connection, new_proposals)
            for key, value in zip(SEARCH_STATE_KEYS, (str(lexicon_version), repr(searched_until)), strict=True):
                write_meta(self._database, connection, key, value)
        return new_count

    def _insert_missing(self, connection: Connection, proposals: Iterable[RelationProposal]) -> int:
        return sum(
            self._database.insert_missing(connection, relation_proposals, rows)
            for rows in batched(map(row_of_proposal, proposals), BATCH_SIZE)
        )

    def add_related(self, proposals: Iterable[RelationProposal], next_term: str) -> int:
        """Add proposals of related terms that are not stored yet. Returns their number.

        Args:
            proposals: The proposals.
            next_term: The new value of `next_related_term`.
        """
        with self._database.write() as connection:
            write_meta(self._database, connection, NEXT_RELATED_TERM_KEY, sanitize_text(next_term))
            return self._insert_missing(connection, proposals)

    def next_related_term(self) -> str:
        """Return the term with which the next search for related terms begins; "": the first one."""
        with self._database.read() as connection:
            return read_meta(connection, NEXT_RELATED_TERM_KEY)

    def related_pairs(self, *states: ProposalState) -> list[tuple[str, str]]:
        """Return the pairs of related terms that have a proposal in one of these states, sorted."""
        is_related = relation_proposals.c.kind == RelationKind.RELATED
        query = select(relation_proposals.c.term, relation_proposals.c.other).where(is_related)
        with self._database.read() as connection:
            rows = connection.execute(query.where(relation_proposals.c.state.in_(states))).all()
        return sorted((row.term, row.other) for row in rows)

    def list_related(self, term: str) -> list[str]:
        """Return the terms that reviewers accepted as related to a term, sorted."""
        with self._database.read() as connection:
            return load_related(connection, sanitize_text(term))

    def iter_open_by_articles(self, url_ids: Collection[int]) -> Iterable[RelationProposal]:
        """Iterate over the open proposals with evidence from these articles."""
        is_open = relation_proposals.c.state == ProposalState.PROPOSED
        for batch in batched(sorted(url_ids), BATCH_SIZE):
            query = select(relation_proposals).where(is_open, relation_proposals.c.url_id.in_(batch))
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            yield from map(_proposal_from_row, rows)

    def paused_patterns(self) -> dict[str, tuple[int, int]]:
        """Return the paused patterns with their numbers of accepted and of decided proposals."""
        with self._database.read() as connection:
            return _find_paused(connection)

    def list_open(self, limit: int, pattern: str = "") -> tuple[int, list[RelationProposal]]:
        """Return the number of open proposals between accepted terms, and the best `limit` of them.

        Args:
            limit: Maximum number of proposals to return.
            pattern: Only proposals of this pattern; "" for all patterns that are not paused.
        """
        other_terms = terms.alias("other_terms")
        term, kind, other = (relation_proposals.c[name] for name in ("term", "kind", "other"))
        is_unrelated = _lacks_word(other_terms.c.broader + other_terms.c.synonyms, term)
        needs_known_terms = kind.in_((RelationKind.BROADER, RelationKind.RELATED))
        is_known = or_(~needs_known_terms, other_terms.c.status == TermStatus.ACCEPTED)
        query = (
            select(relation_proposals)
            .select_from(PROPOSALS_WITH_TERMS.outerjoin(other_terms, other_terms.c.text == other))
            .where(relation_proposals.c.state == ProposalState.PROPOSED, terms.c.status == TermStatus.ACCEPTED)
            .where(is_known, _lacks_word(STORED_WORDS, other), or_(kind != RelationKind.RELATED, is_unrelated))
        )
        with self._database.read() as connection:
            patterns = relation_proposals.c.pattern
            query = query.where(patterns == pattern if pattern else patterns.not_in(_find_paused(connection)))
            total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            rows = connection.execute(query.order_by(*BEST_FIRST).limit(limit)).all()
        return total, [_proposal_from_row(row) for row in rows]

    def list_decided(self, state: ProposalState, limit: int) -> list[RelationProposal]:
        """Return proposals in a decided state, by term."""
        query = select(relation_proposals).where(relation_proposals.c.state == state)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(*BEST_FIRST[1:]).limit(limit)).all()
        return [_proposal_from_row(row) for row in rows]

    def operation(self, state: ProposalState) -> Operation:
        """Return the operation that sets a state; a proposal that has the state already stays as it is."""
        fields = (Field("kind", choices=tuple(RelationKind), is_required=True), Field("term"), Field("other"))
        inverse = "" if state is ProposalState.PROPOSED else OPERATION_BY_STATE[ProposalState.PROPOSED]
        return Operation(OPERATION_BY_STATE[state], Role.REVIEWER, partial(self._set_state, state), fields, inverse)

    def _set_state(self, state: ProposalState, call: Call) -> Change | None:
        """Set the state of a proposal. An open one has no account, and earlier operations on it are undone."""
        kind, term, other = RelationKind(call.text("kind")), call.text("term"), call.text("other")
        relation = TermRelation(kind, sanitize_text(term), sanitize_text(other), "", 0.0, "")
        values = {"kind": relation.kind, "term": relation.term, "other": relation.other}
        subject, matches = f"{relation.term} – {relation.other}", _matches_relation(relation)
        with self._database.write() as connection:
            stored_state = connection.scalar(select(relation_proposals.c.state).where(matches).with_for_update())
            if stored_state is None:
                raise LexiconError("There is no proposal to relate {term} to {other} any more.", term=term, other=other)
            if stored_state == state or (call.expected and stored_state != call.expected.get("state", stored_state)):
                return None
            decided_by = "" if state is ProposalState.PROPOSED else sanitize_text(call.account)[:64]
            changed = {"state": state, "decided_by": decided_by}
            connection.execute(update(relation_proposals).where(matches).values(**changed))
            update_row_checksums(self._database, connection, relation_proposals, [relation.term])
            if state is ProposalState.PROPOSED:
                is_earlier = operations.c.name.in_(OPERATION_BY_STATE.values()) & operations.c.undone_by.is_(None)
                query = select(operations).where(is_earlier, operations.c.subject == subject)
                rows = connection.execute(query).all()
                ids = [row.operation_id for row in rows if values.items() <= json.loads(row.after).items()]
                mark_undone(self._database, connection, ids, call.operation_id)
        return Change(subject, {**values, "state": state}, None if state is ProposalState.PROPOSED else values)


STORED_WORDS: ColumnElement[str] = case(
    (relation_proposals.c.kind == RelationKind.BROADER, terms.c.broader),
    (relation_proposals.c.kind == RelationKind.RELATED, terms.c.broader + terms.c.synonyms),
    else_=terms.c.synonyms,
)
"""SQL expression: JSON lists of words of the term that make a proposal superfluous."""


def _find_paused(connection: Connection) -> dict[str, tuple[int, int]]:
    state, pattern = relation_proposals.c.state, relation_proposals.c.pattern
    is_stored = ~_lacks_word(STORED_WORDS, relation_proposals.c.other)
    is_accepted_edit = and_(
        state == ProposalState.PROPOSED, relation_proposals.c.kind != RelationKind.RELATED, is_stored
    )
    is_accepted = or_(state == ProposalState.ACCEPTED, is_accepted_edit)
    query = select(pattern, func.sum(case((is_accepted, 1), else_=0)), func.count()).select_from(PROPOSALS_WITH_TERMS)
    query = query.where(or_(is_accepted, state == ProposalState.REJECTED)).group_by(pattern).order_by(pattern)
    return {
        name: (accepted_count, decision_count)
        for name, accepted_count, decision_count in connection.execute(query)
        if decision_count >= MIN_DECISIONS and accepted_count < MIN_ACCEPTED_SHARE * decision_count
    }


def _lacks_word(words: ColumnElement[str], word: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the SQL condition that JSON lists of words do not contain a word."""
    return func.replace(words, literal('"') + word + '"', "") == words


def _matches_relation(relation: TermRelation) -> ColumnElement[bool]:
    return and_(
        relation_proposals.c.term == sanitize_text(relation.term),
        relation_proposals.c.kind == relation.kind,
        relation_proposals.c.other == sanitize_text(relation.other),
    )


def _proposal_from_row(row: Row[Any]) -> RelationProposal:
    relation = TermRelation(RelationKind(row.kind), row.term, row.other, row.pattern, row.score, row.evidence)
    return RelationProposal(relation, row.url_id, row.url, row.title, row.found_at, row.decided_by)
