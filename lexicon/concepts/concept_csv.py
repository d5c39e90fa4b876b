"""Concepts as CSV for terminologists: one row per term.

Rows with the same concept id are one concept; a row without an id is a concept of its own. The first column names are
`CONCEPT_COLUMNS`; the order of the columns and the case of their names do not matter. `related` has terms of related
concepts; an export has their preferred terms, at the first term of the concept.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence

from domain.concept import Concept
from domain.message import Message
from domain.term import ConceptTerm, join_terms, split_terms
from lexicon.concepts.checks import ParsedConcept, assign_statuses, concept_reason
from lexicon.concepts.concept_groups import add_texts
from lexicon.jieba_dictionary import decode_dictionary
from lexicon.word_lists import (
    CONCEPT_COLUMNS,
    REQUIRED_CONCEPT_COLUMNS,
    format_csv_rows,
    parse_header,
    read_csv_rows,
)
from text.scripts import language_of_term

RELATED_SEPARATOR = ";"


def is_concept_header(line: str) -> bool:
    """True if the first line of a CSV file has the columns of concepts."""
    return set(parse_header(next(csv.reader([line.removeprefix("\ufeff")]), []))) >= REQUIRED_CONCEPT_COLUMNS


def format_csv(concepts: Iterable[Concept]) -> bytes:
    """Format concepts as CSV in UTF-8, with a byte order mark so that spreadsheet programs detect the encoding."""
    listed_concepts = list(concepts)
    label_by_id = {concept.concept_id: concept.label for concept in listed_concepts}
    rows: list[Sequence[str]] = [CONCEPT_COLUMNS]
    for concept in listed_concepts:
        related = join_terms(filter(None, map(label_by_id.get, concept.related_ids or ())), f"{RELATED_SEPARATOR} ")
        for index, term in enumerate(concept.terms):
            texts = (term.definition, term.source, term.note, "" if index else related)
            rows.append((concept.concept_id, term.language, term.text, term.status.value, *texts))
    return format_csv_rows(rows).encode("utf-8-sig")


def parse_csv(content: bytes) -> Iterator[ParsedConcept]:
    """Yield the concepts of a CSV file, each with the number of its first line."""
    rows: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    lines_without_id = []
    for line, cells in read_csv_rows(decode_dictionary(content), CONCEPT_COLUMNS, REQUIRED_CONCEPT_COLUMNS):
        if isinstance(cells, Message):
            yield line, cells
            continue
        if not cells["concept id"]:
            lines_without_id.append(line)
        rows.setdefault(cells["concept id"] or f"\0{line}", []).append((line, cells))
    if count := len(lines_without_id):
        single = "1 row has no concept id; it is a concept of its own"
        yield lines_without_id[0], Message(single, "{n} rows have no concept id; each is a concept of its own", n=count)
    for concept_id, numbered_rows in rows.items():
        yield from build_concept("" if concept_id.startswith("\0") else concept_id, numbered_rows)


def build_concept(concept_id: str, numbered_rows: Sequence[tuple[int, Mapping[str, str]]]) -> Iterator[ParsedConcept]:
    """Yield the concept of one or more rows, each with its line number, after what is wrong with its statuses.

    A row has values by column. The related concepts of all rows count; `related_ids` is None if the rows have no such
    column.
    """
    line_number, rows = numbered_rows[0][0], [row for _, row in numbered_rows]
    terms = []
    for row in rows:
        language, texts = row.get("language"), {name: row.get(name, "") for name in ("definition", "source", "note")}
        term = ConceptTerm(row["term"], language or language_of_term(row["term"]))
        terms.append(add_texts(term, **texts))
    terms, errors = assign_statuses(terms, [row.get("status", "") for row in rows])
    for index, error in errors:
        yield numbered_rows[index][0], concept_reason(concept_id or terms[index].text, error)
    related = [row["related"] for row in rows if "related" in row]
    related_ids = split_terms(RELATED_SEPARATOR.join(related), RELATED_SEPARATOR) if related else None
    yield line_number, Concept(concept_id, tuple(terms), related_ids=related_ids)
