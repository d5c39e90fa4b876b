"""Sentences of articles that define published terms."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, and_, bindparam, delete, func, or_, select, update

from docstore.database import Database
from docstore.schema.lexicon_tables import definitions, terms
from docstore.terms.row_mapping import definition_choice_from_json
from domain.batches import batched
from domain.storable_text import sanitize_text
from domain.term import Definition, DefinitionChoice, DefinitionSource

MAX_DEFINITIONS_PER_TERM = 3
BATCH_SIZE = 200
BEST_FIRST = (definitions.c.needs_recheck, definitions.c.score.desc(), definitions.c.url_id)


class DefinitionTable:
    """Save and load the definitions of terms (`store.definitions`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_by_term(self, term: str) -> list[Definition]:
        """Return the definitions of a published term, best first; those that need a recheck are last."""
        query = select(definitions).where(definitions.c.term == sanitize_text(term)).order_by(*BEST_FIRST)
        with self._database.read() as connection:
            return [_definition_from_row(row) for row in connection.execute(query)]

    def find_best(self, wanted_terms: Collection[str]) -> dict[str, Definition]:
        """Return the best candidate of each of these terms that has one which is current."""
        best_by_term: dict[str, Definition] = {}
        with self._database.read() as connection:
            for batch in batched([sanitize_text(term) for term in wanted_terms], BATCH_SIZE):
                query = select(definitions).where(definitions.c.term.in_(batch), definitions.c.needs_recheck == 0)
                for row in connection.execute(query.order_by(*BEST_FIRST)):
                    best_by_term.setdefault(row.term, _definition_from_row(row))
        return best_by_term

    def document_counts(self) -> dict[str, int]:
        """Return the terms with a definition, with the number of articles that use each.

        A term has a definition if a reviewer chose one, or if it has current candidates and no reviewer rejected them
        all.
        """
        query = (
            select(definitions.c.term, func.coalesce(terms.c.documents, 0).label("documents"))
            .outerjoin(terms, terms.c.text == definitions.c.term)
            .where(definitions.c.needs_recheck == 0)
        )
        choices_query = select(terms.c.text, terms.c.documents, terms.c.definition).where(terms.c.definition != "")
        with self._database.read() as connection:
            counts = {row.term: row.documents for row in connection.execute(query)}
            for row in connection.execute(choices_query):
                choice = definition_choice_from_json(row.definition)
                if choice and choice.sentence:
                    counts[row.text] = row.documents
                elif choice:
                    counts.pop(row.text, None)
        return counts

    def iter_by_articles(self, url_ids: Collection[int]) -> Iterable[Definition]:
        """Iterate over the definitions from these articles."""
        for batch in batched(sorted(url_ids), BATCH_SIZE):
            with self._database.read() as connection:
                rows = connection.execute(select(definitions).where(definitions.c.url_id.in_(batch))).all()
            yield from map(_definition_from_row, rows)

    def iter_choices(self) -> Iterable[tuple[str, DefinitionChoice]]:
        """Return the terms with a chosen definition that quotes an article, and the definitions."""
        with self._database.read() as connection:
            rows = connection.execute(select(terms.c.text, terms.c.definition).where(terms.c.definition != "")).all()
        choices = ((row.text, definition_choice_from_json(row.definition)) for row in rows)
        return [(text, choice) for text, choice in choices if choice and choice.url_id]

    def save_sources(self, source_by_term: Mapping[str, DefinitionSource]) -> None:
        """Save the states of the sources of chosen definitions."""
        statement = update(terms).where(terms.c.text == bindparam("term")).values(definition_source=bindparam("source"))
        rows = [{"term": term, "source": source.value} for term, source in source_by_term.items()]
        if rows:
            with self._database.write() as connection:
                connection.execute(statement, rows)

    def save(self, new_definitions: Iterable[Definition], lost_definitions: Collection[Definition]) -> None:
        """Add definitions and keep the best `MAX_DEFINITIONS_PER_TERM` of each term.

        Args:
            new_definitions: A definition replaces the one of the same term and article.
            lost_definitions: Stored definitions whose articles do not contain the sentence any more; they are marked.
        """
        rows_by_term: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for definition in new_definitions:
            row = _row_of_definition(definition)
            rows_by_term[row["term"]].append(row)
        with self._database.write() as connection:
            for definition in lost_definitions:
                is_lost = and_(definitions.c.term == definition.term, definitions.c.url_id == definition.url_id)
                connection.execute(update(definitions).where(is_lost).values(needs_recheck=1))
            for batch in batched(sorted(rows_by_term), BATCH_SIZE):
                self._database.upsert(connection, definitions, [row for term in batch for row in rows_by_term[term]])
                query = select(definitions.c.term, definitions.c.url_id, definitions.c.sentence)
                query = query.where(definitions.c.term.in_(batch)).order_by(definitions.c.term, *BEST_FIRST)
                if surplus := _find_surplus_rows(connection.execute(query).all()):
                    keys = [
                        and_(definitions.c.term == term, definitions.c.url_id == url_id) for term, url_id in surplus
                    ]
                    for some_keys in batched(keys, BATCH_SIZE):
                        connection.execute(delete(definitions).where(or_(*some_keys)))


def _find_surplus_rows(rows: Sequence[Any]) -> list[tuple[str, int]]:
    """Return term and article of the rows beyond the limit, and of rows that repeat a sentence."""
    sentences_by_term: defaultdict[str, set[str]] = defaultdict(set)
    surplus = []
    for row in rows:
        sentences = sentences_by_term[row.term]
        if row.sentence in sentences or len(sentences) >= MAX_DEFINITIONS_PER_TERM:
            surplus.append((row.term, row.url_id))
        else:
            sentences.add(row.sentence)
    return surplus


def _row_of_definition(definition: Definition) -> dict[str, Any]:
    return {
        "term": sanitize_text(definition.term),
        "url_id": definition.url_id,
        "language": definition.language,
        "sentence": sanitize_text(definition.sentence),
        "url": definition.url,
        "title": sanitize_text(definition.title),
        "published": definition.published,
        "score": definition.score,
        "found_at": definition.found_at,
        "needs_recheck": int(definition.needs_recheck),
    }


def _definition_from_row(row: Row[Any]) -> Definition:
    return Definition(
        row.term,
        row.language,
        row.sentence,
        row.url_id,
        row.url,
        row.title,
        row.published,
        row.score,
        row.found_at,
        bool(row.needs_recheck),
    )
