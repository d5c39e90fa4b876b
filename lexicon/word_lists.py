"""Import formats for word lists, and export formats for the lexicon.

    in   jieba    word, frequency, tag, separated by one space (lexicon/jieba_dictionary.py)
         thuocl   word, tab, number of documents: THUOCL's lists; the number is not used and may be missing
         plain    one word per line
         csv      a header with column names: term, frequency, tag, synonyms, class, broader, origin
    out  jieba, csv, synonyms (Solr's)

Concepts with terms in several languages have other formats: lexicon/concepts/.

Every line is checked. The valid ones become entries, and each invalid line is reported with its number and the reason.
In a CSV cell, several words are separated by `|`.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import zip_longest

from domain.message import Message
from domain.term import LexiconEntry, LineError, TermClass, join_terms, split_terms
from lexicon.jieba_dictionary import (
    build_entry,
    collect_entries,
    find_count_error,
    find_term_error,
    format_dictionary,
    parse_dictionary,
    parse_lines,
)

CSV_COLUMNS = ("term", "frequency", "tag", "synonyms", "class", "broader", "origin")
CONCEPT_COLUMNS = ("concept id", "language", "term", "status", "definition", "source", "note", "related")
REQUIRED_CONCEPT_COLUMNS = frozenset({"concept id", "term"})
AUTOMATIC_ORIGIN = "automatic"  # in the column origin: accepted automatically; an import ignores this column
MULTI_VALUE_SEPARATOR = "|"
FORMULA_START = ("=", "+", "-", "@", "'")  # a spreadsheet runs such a cell as a formula, or drops the quote
ParseResult = LexiconEntry | str | None


def parse_word_list(text: str, format_name: str) -> tuple[list[LexiconEntry], list[LineError]]:
    """Return the entries of a word list in one of the formats of `PARSERS`, and its invalid lines."""
    return PARSERS[format_name](text)


def detect_word_list_format(name: str, text: str) -> str:
    """Return the format of a file (a key of `PARSERS`) by its name or its content."""
    if name.lower().endswith(".csv"):
        return "csv"
    return "thuocl" if "\t" in text else "jieba"


def _parse_thuocl_line(line: str) -> ParseResult:
    word, _, count = line.partition("\t")
    if any(map(str.isalpha, count)):
        return Message("a line must be: term, tab, number of documents")
    return build_entry(word) if line.strip() else None


class _LineCursor:
    """Iterator over lines that can be set back to an earlier line. `index` is the index of the next line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.index = 0

    def __iter__(self) -> "_LineCursor":
        return self

    def __next__(self) -> str:
        if self.index >= len(self._lines):
            raise StopIteration
        self.index += 1
        return self._lines[self.index - 1]


def read_csv_rows(
    text: str, columns: Sequence[str], required: Set[str]
) -> Iterator[tuple[int, Mapping[str, str] | Message]]:
    """Yield the first line number of each record with its cells by column, or with the reason why it is invalid.

    A cell can contain line breaks. The order of the columns and the case of their names do not matter.
    """
    header: list[str] | None = None
    lines = _LineCursor(list(io.StringIO(text, newline="")))
    reader = csv.reader(lines, strict=True)
    while True:
        line_number = lines.index + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line_number, Message("not valid CSV: {detail}", detail=str(error))
            if header is None:
                return
            lines.index = line_number  # an open quote may have read valid lines
            continue
        if header is None:
            header = parse_header(cells)
            if not required <= set(header) <= set(columns):
                message = Message(
                    "invalid header row: {header}; columns of terms: {columns} (term is required); "
                    "columns of concepts: {concept_columns} (concept id and term are required)",
                    header=", ".join(header)[:100],
                    columns=CSV_COLUMNS,
                    concept_columns=CONCEPT_COLUMNS,
                )
                yield line_number, message
                return
        elif len(cells) > len(header):
            yield line_number, Message("more cells than columns in the header")
        elif any(cell.strip() for cell in cells):
            yield line_number, dict(zip_longest(header, map(_read_cell, cells), fillvalue=""))


def parse_header(cells: Iterable[str]) -> list[str]:
    """Return the names of columns in the spelling of `CSV_COLUMNS` and `CONCEPT_COLUMNS`."""
    return [" ".join(cell.lower().replace("_", " ").split()) for cell in cells]


def format_csv_rows(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV. A spreadsheet takes no cell for a formula."""
    buffer = io.StringIO(newline="")
    for row in rows:
        cells = map(str, row)
        csv.writer(buffer).writerow([f"'{cell}" if cell.startswith(FORMULA_START) else cell for cell in cells])
    return buffer.getvalue()


def _read_cell(cell: str) -> str:
    text = cell.strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_START) else text


def _parse_csv_row(cells: Mapping[str, str] | Message) -> ParseResult:
    if isinstance(cells, Message):
        return cells
    entry = build_entry(*(cells.get(name, "") for name in ("term", "frequency", "tag")))
    if isinstance(entry, str):
        return entry
    category = cells.get("class", "")
    if category not in set(TermClass):
        return Message(
            "unknown class “{category}”; allowed: {names}", category=category[:20], names=tuple(filter(None, TermClass))
        )
    multi_values = {name: split_terms(cells.get(name, ""), MULTI_VALUE_SEPARATOR) for name in ("synonyms", "broader")}
    for name, words in multi_values.items():
        if reason := find_count_error(words):
            return Message("{column}: {reason}", column=name, reason=reason)
        if error := next((error for word in words if (error := find_term_error(word))), None):
            return Message("{column}: {reason}", column=name, reason=error)
    return replace(
        entry, category=TermClass(category), synonyms=multi_values["synonyms"], broader_terms=multi_values["broader"]
    )


def _format_csv(entries: Iterable[LexiconEntry]) -> str:
    rows: list[Iterable[object]] = [CSV_COLUMNS]
    for entry in entries:
        synonyms, broader = (
            join_terms(words, MULTI_VALUE_SEPARATOR) for words in (entry.synonyms, entry.broader_terms)
        )
        origin = AUTOMATIC_ORIGIN if entry.is_automatic else ""
        rows.append((entry.text, entry.frequency or "", entry.pos_tag, synonyms, entry.category, broader, origin))
    return format_csv_rows(rows)


def _format_synonyms(entries: Iterable[LexiconEntry]) -> str:
    """Format synonym groups for Solr's SynonymGraphFilter, one group per line."""
    groups = ((entry.text, *entry.synonyms) for entry in entries if entry.synonyms)
    return "".join(
        ",".join(word.replace("\\", "\\\\").replace(",", "\\,").replace("=>", "\\=>") for word in group) + "\n"
        for group in groups
    )


PARSERS: Mapping[str, Callable[[str], tuple[list[LexiconEntry], list[LineError]]]] = {
    "jieba": parse_dictionary,
    "thuocl": lambda text: parse_lines(text, _parse_thuocl_line),
    "plain": lambda text: parse_lines(text, lambda line: build_entry(line) if line.strip() else None),
    "csv": lambda text: collect_entries(
        (line, _parse_csv_row(cells)) for line, cells in read_csv_rows(text, CSV_COLUMNS, {"term"})
    ),
}
FORMATTERS: Mapping[str, Callable[[Sequence[LexiconEntry]], str]] = {
    "jieba": format_dictionary,
    "csv": _format_csv,
    "synonyms": _format_synonyms,
}
