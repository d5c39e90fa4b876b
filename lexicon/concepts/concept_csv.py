"""Concepts as CSV for terminologists: one row per term.

Rows with the same concept id are one concept; a row without an id is a concept of its own. The first column names are
`CSV_COLUMNS`; the order of the columns and the case of their names do not matter. `related` has terms of related
concepts; an export has their preferred terms, at the first term of the concept.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from domain.concept import Concept
from domain.message import Message
from domain.term import ConceptTerm, ConceptTermStatus
from lexicon.concepts.checks import ParsedConcept, concept_reason, parse_status
from lexicon.concepts.concept_groups import TEXT_SEPARATOR, join_texts
from text.scripts import language_of_term

CSV_COLUMNS = ("concept id", "language", "term", "status", "definition", "source", "note", "related")
REQUIRED_COLUMNS = frozenset({"concept id", "term"})
FORMULA_START = ("=", "+", "-", "@", "'")  # a spreadsheet runs such a cell as a formula, or drops the quote


def is_concept_header(line: str) -> bool:
    """True if the first line of a CSV file has the columns of concepts."""
    names = next(csv.reader([line.removeprefix("\ufeff")]), [])
    return {_column_name(name) for name in names} >= REQUIRED_COLUMNS


def format_csv(concepts: Iterable[Concept]) -> bytes:
    """Format concepts as CSV in UTF-8, with a byte order mark so that spreadsheet programs detect the encoding."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(CSV_COLUMNS)
    listed_concepts = list(concepts)
    label_by_id = {concept.concept_id: concept.label for concept in listed_concepts}
    for concept in listed_concepts:
        related = join_texts(label_by_id.get(related_id, "") for related_id in concept.related_ids or ())
        for index, term in enumerate(concept.terms):
            texts = (term.definition, term.source, term.note, "" if index else related)
            row = (concept.concept_id, term.language, term.text, term.status.value, *texts)
            writer.writerow([f"'{cell}" if cell.startswith(FORMULA_START) else cell for cell in row])
    return buffer.getvalue().encode("utf-8-sig")


def parse_csv(content: bytes) -> Iterator[ParsedConcept]:
    """Yield the concepts of a CSV file, each with the number of its first line."""
    try:
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        message = Message("not UTF-8; save the file as UTF-8")
        yield content.count(b"\n", 0, error.start) + 1, message
        return
    rows: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    reader = csv.reader(lines, strict=True)
    header: list[str] | None = None
    line_number = 1
    try:
        for cells in reader:
            first_line, line_number = line_number, reader.line_num + 1
            if header is None:
                header = [_column_name(cell) for cell in cells]
                if header_error := _find_header_error(header):
                    yield first_line, header_error
                    return
            elif any(cell.strip() for cell in cells):
                if len(cells) > len(header):
                    yield first_line, Message("more cells than columns in the header")
                    continue
                row = {name: _strip_cell(cell) for name, cell in zip_longest(header, cells, fillvalue="")}
                rows.setdefault(row["concept id"] or f"\0{first_line}", []).append((first_line, row))
    except csv.Error as error:
        yield line_number, Message("not valid CSV: {detail}", detail=str(error))
        return
    for concept_id, numbered_rows in rows.items():
        yield build_concept("" if concept_id.startswith("\0") else concept_id, numbered_rows)


def build_concept(concept_id: str, numbered_rows: Sequence[tuple[int, Mapping[str, str]]]) -> ParsedConcept:
    """Return the concept of one or more rows, each with its line number. A row has values by column.

    In each language without a preferred term, the first term without a status is preferred. The related concepts of all
    rows count; `related_ids` is None if the rows have no such column.
    """
    terms: list[ConceptTerm] = []
    for line_number, row in numbered_rows:
        status = parse_status(row.get("status", ""))
        if not isinstance(status, ConceptTermStatus):
            return line_number, concept_reason(concept_id or row["term"], status)
        language = row.get("language") or language_of_term(row["term"])
        texts = (row.get(name, "") for name in ("definition", "source", "note"))
        terms.append(ConceptTerm(row["term"], language, status, *texts))
    languages = {term.language for term in terms if term.status is ConceptTermStatus.PREFERRED}
    for index, (_, row) in enumerate(numbered_rows):  # in the other languages, the first term without a status
        if not row.get("status") and terms[index].language not in languages:
            languages.add(terms[index].language)
            terms[index] = replace(terms[index], status=ConceptTermStatus.PREFERRED)
    cells = [row["related"] for _, row in numbered_rows if "related" in row]
    words = [word.strip() for cell in cells for word in cell.split(TEXT_SEPARATOR.strip())]
    return numbered_rows[0][0], Concept(concept_id, tuple(terms), related_ids=tuple(words) if cells else None)


def _column_name(cell: str) -> str:
    return " ".join(cell.strip().lower().replace("_", " ").split())


def _strip_cell(cell: str) -> str:
    text = cell.strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_START) else text


def _find_header_error(header: list[str]) -> str | None:
    if REQUIRED_COLUMNS <= set(header) <= set(CSV_COLUMNS):
        return None
    return Message(
        "invalid header row: {header}; allowed columns: {columns} (concept id and term are required)",
        header=", ".join(header)[:100],
        columns=CSV_COLUMNS,
    )
