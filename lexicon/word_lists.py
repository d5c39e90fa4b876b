"""Import formats for word lists, and export formats for the lexicon.

    in   jieba    word, frequency, tag, separated by one space (lexicon/jieba_dictionary.py)
         thuocl   word, tab, number of documents: THUOCL's lists; the number is checked, but not used
         plain    one word per line
         csv      a header with column names: term, frequency, tag, synonyms, class, broader, origin
    out  jieba, csv, synonyms (Solr's)

Concepts with terms in several languages have other formats: lexicon/concepts/.

Every line is checked, and each invalid line is reported with its number and the reason. A list is imported completely
or not at all. In a CSV cell, several words are separated by `|`, which no term contains.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from domain.errors import DictionaryError
from domain.message import Message
from domain.term import LexiconEntry, TermClass
from lexicon.concepts import concept_csv
from lexicon.jieba_dictionary import build_entry, collect_entries, find_term_error, format_dictionary, parse_dictionary

CSV_COLUMNS = ("term", "frequency", "tag", "synonyms", "class", "broader", "origin")
AUTOMATIC_ORIGIN = "automatic"  # in the column origin: accepted automatically; an import ignores this column
MULTI_VALUE_SEPARATOR = "|"
ParseResult = LexiconEntry | str | None


def parse_word_list(text: str, format_name: str) -> list[LexiconEntry]:
    """Return the entries of a word list in one of the formats of `PARSERS`.

    Raises:
        DictionaryError: some lines are invalid; the error names all of them. The caller must not apply any entry.
    """
    return PARSERS[format_name](text)


def parse_valid_lines(text: str, format_name: str) -> tuple[list[LexiconEntry], tuple[tuple[int, str], ...]]:
    """Return the entries of the valid lines, and the number and error of each invalid line.

    Raises:
        DictionaryError: no line is valid.
    """
    try:
        return parse_word_list(text, format_name), ()
    except DictionaryError as error:
        if not error.valid_entries:
            raise
        return list(error.valid_entries), error.line_errors


def detect_word_list_format(name: str, text: str) -> str:
    """Return the format of a file (a key of `PARSERS`) by its name or its first line."""
    if name.lower().endswith(".csv"):
        return "csv"
    first = text.partition("\n")[0]
    return "thuocl" if "\t" in first else "jieba"


def _parse_lines(text: str, parse: Callable[[str], ParseResult]) -> list[LexiconEntry]:
    lines = enumerate(text.split("\n"), start=1)
    return collect_entries((line_number, parse(line.removesuffix("\r"))) for line_number, line in lines)


def _parse_thuocl_line(line: str) -> ParseResult:
    if not line.strip():
        return None
    word, _, count = line.partition("\t")
    if not count.strip().isdecimal():
        return Message("a line must be: term, tab, number of documents")
    return build_entry(word.strip(" "))


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


def _parse_csv_rows(lines: _LineCursor) -> Iterator[tuple[int, ParseResult]]:
    """Yield the first line number and the result of each record. A cell can contain line breaks."""
    header: list[str] | None = None
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
            header = [cell.strip().lower() for cell in cells]
            if not {CSV_COLUMNS[0]} <= set(header) <= set(CSV_COLUMNS):
                message = Message(
                    "invalid header row: {header}; allowed columns of a list of terms: {columns} (term is required), "
                    "of concepts: {concept_columns} (concept id and term are required)",
                    header=", ".join(header)[:100],
                    columns=CSV_COLUMNS,
                    concept_columns=concept_csv.CSV_COLUMNS,
                )
                yield line_number, message
                return
        else:
            yield line_number, _parse_csv_row(dict(zip(header, cells, strict=False)), len(cells) > len(header))


def _parse_csv_row(cells: Mapping[str, str], has_extra_cells: bool) -> ParseResult:
    if not any(cell.strip() for cell in cells.values()):
        return None
    if has_extra_cells:
        return Message("more cells than columns in the header")
    entry = build_entry(*(cells.get(name, "").strip() for name in ("term", "frequency", "tag")))
    if isinstance(entry, str):
        return entry
    category = cells.get("class", "").strip()
    if category not in set(TermClass):
        return Message(
            "unknown class “{category}”; allowed: {names}", category=category[:20], names=tuple(filter(None, TermClass))
        )
    multi_values = {
        name: tuple(
            dict.fromkeys(word.strip() for word in cells.get(name, "").split(MULTI_VALUE_SEPARATOR) if word.strip())
        )
        for name in ("synonyms", "broader")
    }
    for name, words in multi_values.items():
        if error := next((error for word in words if (error := find_term_error(word))), None):
            return Message("{column}: {reason}", column=name, reason=error)
    return replace(
        entry, category=TermClass(category), synonyms=multi_values["synonyms"], broader_terms=multi_values["broader"]
    )


def _format_csv(entries: Iterable[LexiconEntry]) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for entry in entries:
        synonyms, broader = map(MULTI_VALUE_SEPARATOR.join, (entry.synonyms, entry.broader_terms))
        origin = AUTOMATIC_ORIGIN if entry.is_automatic else ""
        cells = (entry.text, entry.frequency or "", entry.pos_tag, synonyms, entry.category.value, broader, origin)
        writer.writerow(cells)
    return buffer.getvalue()


def _format_synonyms(entries: Iterable[LexiconEntry]) -> str:
    """Format synonym groups for Solr's SynonymGraphFilter, one group per line."""
    groups = ((entry.text, *entry.synonyms) for entry in entries if entry.synonyms)
    return "".join(
        ",".join(word.replace("\\", "\\\\").replace(",", "\\,").replace("=>", "\\=>") for word in group) + "\n"
        for group in groups
    )


PARSERS: Mapping[str, Callable[[str], list[LexiconEntry]]] = {
    "jieba": parse_dictionary,
    "thuocl": lambda text: _parse_lines(text, _parse_thuocl_line),
    "plain": lambda text: _parse_lines(text, lambda line: build_entry(line) if line.strip(" ") else None),
    "csv": lambda text: collect_entries(_parse_csv_rows(_LineCursor(list(io.StringIO(text, newline=""))))),
}
FORMATTERS: Mapping[str, Callable[[Sequence[LexiconEntry]], str]] = {
    "jieba": format_dictionary,
    "csv": _format_csv,
    "synonyms": _format_synonyms,
}
