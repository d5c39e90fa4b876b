"""The review queue: terms in review order, their context of other terms, and statistics of past decisions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, case, func, literal, or_, select, union_all, update

from docstore.bookkeeping import MINED_TEXT_VERSION_KEY, read_meta_int, write_meta
from docstore.database import StorePart, contains_text
from docstore.schema.lexicon_tables import (
    definitions,
    lexicon_entries,
    lexicons,
    review_decisions,
    term_assignments,
    terms,
)
from docstore.terms.definitions import IS_CURRENT
from docstore.terms.rising_terms import read_rising_terms
from docstore.terms.row_mapping import term_from_row
from docstore.terms.term_changes import term_rows
from domain.review import Order, TermQuery, TermStatistics
from domain.storable_text import sanitize_text
from domain.term import AUTOMATIC_ACTOR, MIN_PUBLIC_SCORE, DefinitionSource, Term, TermStatus

RANKED_DECISION_KEY = "ranked_act"  # key of the last decision that the ranking was learned from
RANKED_TEXT_VERSION_KEY = "ranked_mined"  # key of the mined text version of the ranking
NEVER_RANKED = -1  # differs from every text version
POSITIVE_STATUSES = (TermStatus.ACCEPTED, TermStatus.MERGED)
DECIDED_STATUSES = (*POSITIVE_STATUSES, TermStatus.REJECTED)
IS_DECIDED_BY_PERSON = (
    terms.c.status.in_(DECIDED_STATUSES)
    & terms.c.mined_at.is_not(None)
    & terms.c.decided_at.is_not(None)
    & (terms.c.decided_by != AUTOMATIC_ACTOR)
)
"""SQL condition: a mined term with a decision of a person, from which the review learns."""


class RankingState(NamedTuple):
    """What a ranking is based on: the id of the last decision, and the version of the mined text."""

    decision_id: int
    text_version: int


class ReviewQueue(StorePart):
    """List terms for review and save their ranking (`store.review_queue`)."""

    def find_page(self, term_query: TermQuery) -> tuple[int, list[Term]]:
        """Return the number of terms that match the query, and at most `limit` of them after the first `offset`."""
        query = matching_terms_query(term_query)
        with self._database.read() as connection:
            total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            order_columns = ORDER_BY_COLUMNS[term_query.order]
            if term_query.order is Order.REVIEW:
                rising_texts = [term.text for term in read_rising_terms(connection)]
                is_rising = terms.c.text.in_(rising_texts) & (terms.c.place >= 0)
                order_columns = (case((is_rising, 0), else_=1), *order_columns)
            page = query.order_by(*order_columns, terms.c.text).offset(term_query.offset).limit(term_query.limit)
            return total, [term_from_row(row) for row in connection.execute(page)]

    def find_terms(self, texts: Sequence[str]) -> dict[str, Term]:
        """Return the terms among `texts`, by text."""
        with self._database.read() as connection:
            rows = term_rows(connection, [*map(sanitize_text, texts)])
        return {text: term_from_row(row) for text, row in rows.items()}

    def find_by_concept(self, concept_id: str) -> str | None:
        """Return the accepted term of a concept; None if there is none."""
        query = select(terms.c.text).where(terms.c.concept_id == concept_id, terms.c.status == TermStatus.ACCEPTED)
        with self._database.read() as connection:
            return connection.scalars(query).first()

    def terms_containing(self, texts: Sequence[str], limit: int) -> dict[str, list[tuple[str, TermStatus]]]:
        """Return up to `limit` longer terms that contain each of `texts`, with their status, most frequent first."""
        if not texts:
            return {}
        containing_queries = [_containing_query(sanitize_text(text), limit) for text in texts]
        terms_by_part: dict[str, list[tuple[str, TermStatus]]] = {text: [] for text in texts}
        with self._database.read() as connection:
            for row in connection.execute(union_all(*containing_queries)):
                terms_by_part[row.inner_text].append((row.text, TermStatus(row.status)))
        return terms_by_part

    def texts_with_status(self, status: TermStatus) -> list[str]:
        """Return the texts of all terms with a status, sorted."""
        with self._database.read() as connection:
            return list(connection.scalars(select(terms.c.text).where(terms.c.status == status).order_by(terms.c.text)))

    def unpublished_change_counts(self) -> tuple[int, ...]:
        """Compare the accepted terms with the newest published version.

        Returns:
            (number of accepted terms that are not published, number of published terms that are no longer accepted,
                number of published terms with other synonyms, class or broader terms)
        """
        latest_version = select(func.max(lexicons.c.version)).scalar_subquery()
        published, accepted = lexicon_entries.c.version == latest_version, terms.c.status == TermStatus.ACCEPTED
        published_texts = select(lexicon_entries.c.text).where(published)
        accepted_texts = select(terms.c.text).where(accepted)
        published_columns = (lexicon_entries.c.synonyms, lexicon_entries.c.category, lexicon_entries.c.broader)
        is_different = or_(*(column != terms.c[column.name] for column in published_columns))
        common_texts = published_texts.join(terms, terms.c.text == lexicon_entries.c.text)
        changed_texts = common_texts.where(accepted, is_different)
        sets = (accepted_texts.except_(published_texts), published_texts.except_(accepted_texts), changed_texts)
        with self._database.read() as connection:
            return tuple(connection.scalar(select(func.count()).select_from(texts.subquery())) or 0 for texts in sets)

    def narrower_terms(self, text: str) -> list[str]:
        """Return the terms for which `text` is a broader term."""
        with self._database.read() as connection:
            rows = connection.execute(select(terms).where(terms.c.broader != "[]").order_by(terms.c.text))
            return [row.text for row in rows if text in term_from_row(row).broader_terms]

    def recent_acceptance(self, limit: int = 100) -> tuple[int, int]:
        """Return how many of the last `limit` decided terms from mining were accepted or merged.

        Returns:
            (number of accepted or merged terms, number of decided terms, at most `limit`)
        """
        decided_terms = self.decided_terms(limit)
        return sum(term.status in POSITIVE_STATUSES for term in decided_terms), len(decided_terms)

    def statistics(self) -> TermStatistics:
        """Return statistics of all terms."""
        length = func.length(terms.c.text)
        lengths = select(length, terms.c.status, func.count()).group_by(length, terms.c.status).order_by(length)
        tags = select(terms.c.tags, terms.c.status, func.count()).group_by(terms.c.tags, terms.c.status)
        with self._database.read() as connection:
            return TermStatistics(
                tuple((size, TermStatus(status), count) for size, status, count in connection.execute(lengths)),
                tuple((tag, TermStatus(status), count) for tag, status, count in connection.execute(tags)),
                tuple(
                    (score, TermStatus(status))
                    for score, status in connection.execute(select(terms.c.score, terms.c.status))
                ),
            )

    # -- ranking

    def ranking_states(self) -> tuple[RankingState, RankingState]:
        """Return the state on which the saved ranking is based, and the current state."""
        with self._database.read() as connection:
            ranked_keys = (RANKED_DECISION_KEY, RANKED_TEXT_VERSION_KEY)
            ranked_state = RankingState(*(read_meta_int(connection, key) for key in ranked_keys))
            return ranked_state, _current_state(connection)

    def decided_terms(self, limit: int) -> list[Term]:
        """Return the last `limit` decided terms from mining, newest decision first."""
        query = select(terms).where(IS_DECIDED_BY_PERSON).order_by(terms.c.decided_at.desc()).limit(limit)
        with self._database.read() as connection:
            return [term_from_row(row) for row in connection.execute(query)]

    def undecided_terms(self) -> tuple[RankingState, list[Term]]:
        """Return the current state for `save_ranking`, and all candidate and deferred terms in review order."""
        is_undecided = terms.c.status.in_((TermStatus.CANDIDATE, TermStatus.DEFERRED))
        with self._database.read() as connection:
            query = select(terms).where(is_undecided).order_by(*ORDER_BY_COLUMNS[Order.REVIEW], terms.c.text)
            return _current_state(connection), [term_from_row(row) for row in connection.execute(query)]

    def save_ranking(self, scores: Mapping[str, float], state: RankingState) -> None:
        """Save review scores by text, and the ranking state from `undecided_terms` that they are based on."""
        statement = update(terms).where(terms.c.text == bindparam("term")).values(place=bindparam("at"))
        rows: list[dict[str, Any]] = [{"term": text, "at": score} for text, score in scores.items()]
        with self._database.write() as connection:
            if rows:
                connection.execute(statement, rows)
            write_meta(self._database, connection, RANKED_DECISION_KEY, state.decision_id)
            write_meta(self._database, connection, RANKED_TEXT_VERSION_KEY, state.text_version)


def _current_state(connection: Connection) -> RankingState:
    last_decision_id = connection.scalar(select(func.max(review_decisions.c.act_id))) or 0
    return RankingState(last_decision_id, read_meta_int(connection, MINED_TEXT_VERSION_KEY))


ORDER_BY_COLUMNS: Mapping[Order, tuple[Any, ...]] = {
    Order.REVIEW: (terms.c.place.desc(),),
    Order.SCORE: (terms.c.score.desc(),),
    Order.FREQUENCY: (terms.c.frequency.desc(), terms.c.place.desc()),
    Order.NEWEST: (func.coalesce(terms.c.first_seen, 0).desc(), terms.c.place.desc()),
}


def matching_terms_query(term_query: TermQuery) -> Select[Any]:
    """Return the SQL query for the terms of a TermQuery, without order and page."""
    query = select(terms)
    if term_query.status is not None:
        query = query.where(terms.c.status == term_query.status)
    if term_query.is_automatic:
        query = query.where(terms.c.status == TermStatus.ACCEPTED, terms.c.decided_by == AUTOMATIC_ACTOR)
    if term_query.is_definition_outdated:
        query = query.where(terms.c.definition_source == DefinitionSource.CHANGED)
    if term_query.needs_definition:
        candidates = select(definitions.c.term).where(IS_CURRENT).group_by(definitions.c.term)
        uncertain_texts = candidates.having(func.max(definitions.c.score) < MIN_PUBLIC_SCORE)
        has_no_choice = (terms.c.definition == "") & (terms.c.decided_by != AUTOMATIC_ACTOR)
        query = query.where(has_no_choice, terms.c.text.in_(uncertain_texts))
    if term_query.assigned_to:
        assigned_texts = select(term_assignments.c.term).where(term_assignments.c.account == term_query.assigned_to)
        query = query.where(terms.c.text.in_(assigned_texts))
    if term_query.category is not None:
        query = query.where(terms.c.category == term_query.category)
    if term_query.min_documents:
        query = query.where(terms.c.documents >= term_query.min_documents)
    if term_query.pattern:
        query = query.where(terms.c.text.regexp_match(term_query.pattern))
    if term_query.text:
        text = sanitize_text(term_query.text)
        query = query.where(or_(contains_text(terms.c.text, text), contains_text(terms.c.synonyms, text)))
    return query


def _containing_query(text: str, limit: int) -> Select[Any]:
    is_longer = (func.length(terms.c.text) > len(text)) & contains_text(terms.c.text, text)
    query = select(literal(text).label("inner_text"), terms.c.text, terms.c.status).where(is_longer)
    most_frequent = query.order_by(terms.c.frequency.desc(), terms.c.text).limit(limit).subquery()
    return select(most_frequent)
