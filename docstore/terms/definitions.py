"""Sentences of articles that define published terms."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, and_, bindparam, delete, or_, select, update

from docstore.database import StorePart
from docstore.schema.lexicon_tables import definitions, terms
from docstore.terms.row_mapping import definition_choice_from_json
from domain.batches import batched
from domain.storable_text import sanitize_text
from domain.term import MIN_PUBLIC_SCORE, Definition, DefinitionChoice, DefinitionSource
from text.scripts import language_of_term

MAX_DEFINITIONS_PER_TERM = 3
BATCH_SIZE = 200
BEST_FIRST = (definitions.c.needs_recheck, definitions.c.score.desc(), definitions.c.url_id)
IS_CURRENT = definitions.c.needs_recheck == 0


class DefinitionTable(StorePart):
    """Save and load the definitions of terms (`store.definitions`)."""

    def find_candidates(self, wanted_terms: Collection[str]) -> defaultdict[str, list[Definition]]:
        """Return the sentences that may define each of these terms and that its articles still contain, best first."""
        candidates: defaultdict[str, list[Definition]] = defaultdict(list)
        for row in self._iter_rows(select(definitions).where(IS_CURRENT).order_by(*BEST_FIRST), wanted_terms):
            candidates[row.term].append(_definition_from_row(row))
        return candidates

    def find_public(self, wanted_terms: Collection[str] | None = None) -> defaultdict[str, list[Definition]]:
        """Return the definitions that readers see, of these terms or of all: every public page asks this function.

        The first is the one that a reviewer chose. Others have MIN_PUBLIC_SCORE, or no reviewer has rejected them all.
        """
        public: defaultdict[str, list[Definition]] = defaultdict(list)
        choice_by_term: dict[str, DefinitionChoice | None] = {}
        for row in self._iter_rows(select(terms).where(terms.c.definition != ""), wanted_terms):
            choice = choice_by_term[row.text] = definition_choice_from_json(row.definition)
            if choice and choice.sentence:
                public[row.text] = [_chosen_definition(row.text, choice, row.definition_source)]
        is_public = and_(IS_CURRENT, definitions.c.score >= MIN_PUBLIC_SCORE)
        for row in self._iter_rows(select(definitions).where(is_public).order_by(*BEST_FIRST), wanted_terms):
            choice = choice_by_term.get(row.term)
            if choice is None or choice.sentence not in ("", row.sentence):
                public[row.term].append(_definition_from_row(row))
        return public

    def document_counts(self) -> dict[str, int]:
        """Return the terms with a public definition, with the number of articles that use each."""
        public = self.find_public()
        return dict.fromkeys(public, 0) | {row.text: row.documents for row in self._iter_rows(select(terms), public)}

    def _iter_rows(self, query: Select[Any], wanted_terms: Collection[str] | None) -> Iterator[Row[Any]]:
        """Iterate over the rows of a query whose first column is one of these terms; over all rows if None."""
        term_column = query.selected_columns[0]
        batches = [None] if wanted_terms is None else batched(map(sanitize_text, wanted_terms), BATCH_SIZE)
        for batch in batches:
            with self._database.read() as connection:
                yield from connection.execute(query if batch is None else query.where(term_column.in_(batch))).all()

    def iter_all(self) -> Iterable[Definition]:
        """Iterate over all stored definitions, also those that need a recheck."""
        return map(_definition_from_row, self._iter_rows(select(definitions), None))

    def iter_choices(self) -> Iterable[tuple[str, DefinitionChoice]]:
        """Return the terms with a chosen definition that quotes an article, and the definitions."""
        rows = self._iter_rows(select(terms.c.text, terms.c.definition).where(terms.c.definition != ""), None)
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
            for definition in lost_definitions:  # also those that were scored again
                row = _row_of_definition(definition)
                is_lost = and_(*(definitions.c[name] == row[name] for name in ("term", "url_id", "sentence")))
                connection.execute(update(definitions).where(is_lost).values(needs_recheck=1))


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


def _chosen_definition(term: str, choice: DefinitionChoice, source_state: str) -> Definition:
    """Return the choice of a reviewer as a definition of the term."""
    source = (choice.url_id, choice.url, choice.title, choice.published)
    is_changed, is_gone = (source_state == state for state in (DefinitionSource.CHANGED, DefinitionSource.GONE))
    return Definition(term, language_of_term(term), choice.sentence, *source, 1.0, 0.0, is_changed, is_gone)


def _row_of_definition(definition: Definition) -> dict[str, Any]:
    values = {column.name: getattr(definition, column.name) for column in definitions.columns}
    texts = {name: sanitize_text(value) for name, value in values.items() if isinstance(value, str)}
    return {**values, **texts, "needs_recheck": int(definition.needs_recheck)}


def _definition_from_row(row: Row[Any]) -> Definition:
    return Definition(**{**row._mapping, "needs_recheck": bool(row.needs_recheck)})
