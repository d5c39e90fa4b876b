"""Terms as their reviewers meet them: in which order, beside which others, and how well the last decisions went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, func, literal, or_, select, union_all, update

from docstore.articles.records import MINED_VERSION, number, storable, write_number
from docstore.batches import batched
from docstore.database import Database
from docstore.model import Term, TermStatus
from docstore.schema.lexicon_tables import lexicon_entries, lexicons, term_acts, terms
from docstore.terms.queries import Order, TermQuery
from docstore.terms.rows import term_of

BATCH = 500
RANKED_ACT = "ranked_act"  # key of the last act that the order of review was learned from
RANKED_MINED = "ranked_mined"  # key of the version of the texts whose terms were put in order
NEVER = -1  # no version of the texts
GOOD = (TermStatus.ACCEPTED, TermStatus.MERGED)
DECIDED = (*GOOD, TermStatus.REJECTED)


@dataclass(frozen=True)
class TermFigures:
    """What a report on all terms is made of: how many have each length (characters) and each POS pattern, by status,
    and their scores.
    """

    lengths: tuple[tuple[int, TermStatus, int], ...]
    tags: tuple[tuple[str, TermStatus, int], ...]
    scores: tuple[tuple[float, TermStatus], ...]


class TermQueue:
    """`store.queue`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, wanted: TermQuery) -> tuple[int, list[Term]]:
        """How many terms are as `wanted`, and the page of them that it names."""
        query = matching(wanted)
        with self._database.read() as connection:
            total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            page = query.order_by(*ORDERS[wanted.order], terms.c.text).offset(wanted.offset).limit(wanted.limit)
            return total, [term_of(row) for row in connection.execute(page)]

    def named(self, texts: Sequence[str]) -> dict[str, Term]:
        """Those of `texts` that are terms."""
        found: dict[str, Term] = {}
        with self._database.read() as connection:
            for batch in batched([storable(text) for text in texts], BATCH):
                query = select(terms).where(terms.c.text.in_(batch))
                found.update((row.text, term_of(row)) for row in connection.execute(query))
        return found

    def containing(self, texts: Sequence[str], limit: int) -> dict[str, list[tuple[str, TermStatus]]]:
        """For each of `texts` the terms that hold it, the most frequent first, each with its status."""
        if not texts:
            return {}
        each = [_holding(storable(text), limit) for text in texts]
        found: dict[str, list[tuple[str, TermStatus]]] = {text: [] for text in texts}
        with self._database.read() as connection:
            for row in connection.execute(union_all(*each)):
                found[row.inner_text].append((row.text, TermStatus(row.status)))
        return found

    def texts(self, status: TermStatus) -> list[str]:
        """All terms of a status."""
        with self._database.read() as connection:
            return list(connection.scalars(select(terms.c.text).where(terms.c.status == status).order_by(terms.c.text)))

    def pending(self) -> tuple[int, int, int]:
        """How many accepted terms the newest version has not, how many of its words are not accepted any more, and of
        how many it has other synonyms, another class or other broader terms.
        """
        newest = select(func.max(lexicons.c.version)).scalar_subquery()
        words = select(lexicon_entries.c.text).where(lexicon_entries.c.version == newest)
        accepted = select(terms.c.text).where(terms.c.status == TermStatus.ACCEPTED)
        said = (lexicon_entries.c.synonyms, lexicon_entries.c.category, lexicon_entries.c.broader)
        differs = or_(*(column != terms.c[column.name] for column in said))
        both = terms.join(lexicon_entries, terms.c.text == lexicon_entries.c.text)
        is_both = (terms.c.status == TermStatus.ACCEPTED) & (lexicon_entries.c.version == newest)
        with self._database.read() as connection:
            added, removed = (
                connection.scalar(select(func.count()).select_from(one.except_(other).subquery())) or 0
                for one, other in ((accepted, words), (words, accepted))
            )
            changed = connection.scalar(select(func.count()).select_from(both).where(is_both & differs)) or 0
            return added, removed, changed

    def broader_than(self, text: str) -> list[str]:
        """The terms of which `text` is a broader one: its narrower terms."""
        with self._database.read() as connection:
            rows = connection.execute(select(terms).where(terms.c.broader != "[]").order_by(terms.c.text))
            return [row.text for row in rows if text in term_of(row).broader]

    def last_decisions(self, limit: int = 100) -> tuple[int, int]:
        """Of the last `limit` mined terms that were decided: how many were good ones, and how many there were."""
        decided = terms.c.status.in_(DECIDED) & terms.c.mined_at.is_not(None) & terms.c.decided_at.is_not(None)
        query = select(terms.c.status).where(decided).order_by(terms.c.decided_at.desc()).limit(limit)
        with self._database.read() as connection:
            found = connection.scalars(query).all()
        return sum(status in GOOD for status in found), len(found)

    def figures(self) -> TermFigures:
        """What a report is made of."""
        length = func.length(terms.c.text)
        lengths = select(length, terms.c.status, func.count()).group_by(length, terms.c.status).order_by(length)
        tags = select(terms.c.tags, terms.c.status, func.count()).group_by(terms.c.tags, terms.c.status)
        with self._database.read() as connection:
            return TermFigures(
                tuple((size, TermStatus(status), count) for size, status, count in connection.execute(lengths)),
                tuple((tag, TermStatus(status), count) for tag, status, count in connection.execute(tags)),
                tuple(
                    (score, TermStatus(status))
                    for score, status in connection.execute(select(terms.c.score, terms.c.status))
                ),
            )

    # -- the order of review

    def wants_order(self, acts: int) -> bool:
        """Have there been so many acts, or has anything been mined, since terms were last put in order?"""
        newest = select(func.max(term_acts.c.act_id))
        with self._database.read() as connection:
            last, mined = connection.scalar(newest) or 0, number(connection, MINED_VERSION)
            ranked = number(connection, RANKED_ACT)
            return last - ranked >= acts or (last > 0 and mined != number(connection, RANKED_MINED))

    def decided(self, limit: int) -> list[Term]:
        """The mined terms that were decided, the latest first."""
        chosen = terms.c.status.in_(DECIDED) & terms.c.mined_at.is_not(None) & terms.c.decided_at.is_not(None)
        query = select(terms).where(chosen).order_by(terms.c.decided_at.desc()).limit(limit)
        with self._database.read() as connection:
            return [term_of(row) for row in connection.execute(query)]

    def undecided(self) -> tuple[tuple[int, int], list[Term]]:
        """All candidates, and the state of things that they were read in, as `set_order` wants it."""
        newest = select(func.max(term_acts.c.act_id))
        with self._database.read() as connection:
            state = (connection.scalar(newest) or 0, number(connection, MINED_VERSION))
            query = select(terms).where(terms.c.status.in_((TermStatus.CANDIDATE, TermStatus.LATER)))
            return state, [term_of(row) for row in connection.execute(query)]

    def set_order(self, places: Mapping[str, float], state: tuple[int, int]) -> None:
        """Keep the order of review, the highest first, as it was learned from `state`."""
        statement = update(terms).where(terms.c.text == bindparam("term")).values(place=bindparam("at"))
        rows: list[dict[str, Any]] = [{"term": text, "at": place} for text, place in places.items()]
        with self._database.write() as connection:
            if rows:
                connection.execute(statement, rows)
            write_number(self._database, connection, RANKED_ACT, state[0])
            write_number(self._database, connection, RANKED_MINED, state[1])


ORDERS: Mapping[Order, tuple[Any, ...]] = {
    Order.REVIEW: (terms.c.place.desc(),),
    Order.SCORE: (terms.c.score.desc(),),
    Order.FREQUENCY: (terms.c.frequency.desc(), terms.c.place.desc()),
    Order.NEWEST: (func.coalesce(terms.c.first_seen, 0).desc(), terms.c.place.desc()),
}


def matching(wanted: TermQuery) -> Select[Any]:
    """The terms of a query, in no order."""
    query = select(terms)
    if wanted.status is not None:
        query = query.where(terms.c.status == wanted.status)
    if wanted.category is not None:
        query = query.where(terms.c.category == wanted.category)
    if wanted.least_documents:
        query = query.where(terms.c.documents >= wanted.least_documents)
    if wanted.pattern:
        query = query.where(terms.c.text.regexp_match(wanted.pattern))
    if wanted.text:
        text = storable(wanted.text)
        named = terms.c.text.contains(text, autoescape=True)
        query = query.where(or_(named, terms.c.synonyms.contains(text, autoescape=True)))
    return query


def _holding(text: str, limit: int) -> Select[Any]:
    longer = (func.length(terms.c.text) > len(text)) & terms.c.text.contains(text, autoescape=True)
    query = select(literal(text).label("inner_text"), terms.c.text, terms.c.status).where(longer)
    best = query.order_by(terms.c.frequency.desc(), terms.c.text).limit(limit).subquery()
    return select(best)
