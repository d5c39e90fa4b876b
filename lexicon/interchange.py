"""Word lists from elsewhere, and the lexicon for elsewhere.

    in   jieba    word, frequency, tag, one space between (lexicon/dictionary.py)
         thuocl   word, tab, number of documents: THUOCL's lists; the number is checked, and not used
         plain    a word a line
         csv      a header that names its columns: term, frequency, tag, synonyms, class, broader
    out  jieba, csv, synonyms (Solr's), skos (Turtle)

Every line is checked and each bad one named with its number and the reason; a list is taken whole or not at all.
In a CSV several words of one cell stand between `|`, which no term holds.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from urllib.parse import quote

from docstore.errors import DictionaryError
from docstore.model import LexiconEntry, TermClass
from lexicon.dictionary import all_or_nothing, check_term, checked_entry, format_dictionary, parse_dictionary

COLUMNS = ("term", "frequency", "tag", "synonyms", "class", "broader")
BETWEEN = "|"
Parsed = LexiconEntry | str | None


def parse_list(text: str, form: str) -> list[LexiconEntry]:
    """The entries of a word list in one of `READERS`.

    Raises DictionaryError that names every bad line; then nothing is to be applied.
    """
    return READERS[form](text)


def fit_lines(text: str, form: str) -> tuple[list[LexiconEntry], tuple[tuple[int, str], ...]]:
    """The entries of those lines of a list that are good, and what is wrong with the others: for who asks for it."""
    try:
        return parse_list(text, form), ()
    except DictionaryError as error:
        bad = {number for number, _ in error.faults}
        lines = text.split("\n")
        kept = "\n".join("" if number in bad else line for number, line in enumerate(lines, start=1))
        return parse_list(kept, form), error.faults


def form_of(name: str, text: str) -> str:
    """In which of `READERS` a file is written, by its name or by its first line."""
    if name.lower().endswith(".csv"):
        return "csv"
    first = text.partition("\n")[0]
    return "thuocl" if "\t" in first else "jieba"


def _numbered(text: str, parse: Callable[[str], Parsed]) -> list[LexiconEntry]:
    lines = enumerate(text.split("\n"), start=1)
    return all_or_nothing((number, parse(line.removesuffix("\r"))) for number, line in lines)


def _thuocl_line(line: str) -> Parsed:
    if not line.strip():
        return None
    word, _, count = line.partition("\t")
    if not count.strip().isdecimal():
        return "a line is: word, tab, number of documents"
    return checked_entry(word.strip(" "))


def _plain_line(line: str) -> Parsed:
    return checked_entry(line) if line.strip(" ") else None


def _parse_csv(text: str) -> list[LexiconEntry]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    return all_or_nothing(_csv_lines(reader))


def _csv_lines(reader: Iterator[list[str]]) -> Iterator[tuple[int, Parsed]]:
    header: list[str] | None = None
    number = 0
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, f"no CSV: {error}"
            return
        if header is None:
            header = [cell.strip().lower() for cell in cells]
            if unknown := [name for name in header if name not in COLUMNS] or COLUMNS[0] not in header:
                yield number, f"the header names {', '.join(COLUMNS)}; {_said(unknown)}"
                return
        else:
            yield number, _csv_entry(dict(zip(header, cells, strict=False)), len(cells) > len(header))
        number = reader.line_num  # type: ignore[attr-defined]  # a cell may hold line breaks


def _said(unknown: object) -> str:
    return f"not {', '.join(map(str, unknown))[:60]}" if isinstance(unknown, list) else "term is missing"


def _csv_entry(cells: Mapping[str, str], is_long: bool) -> Parsed:
    if not any(cell.strip() for cell in cells.values()):
        return None
    if is_long:
        return "more cells than the header names"
    entry = checked_entry(*(cells.get(name, "").strip() for name in ("term", "frequency", "tag")))
    if isinstance(entry, str):
        return entry
    category = cells.get("class", "").strip()
    if category not in set(TermClass):
        return f"there is no class {category[:20]!r}: {', '.join(kind for kind in TermClass if kind)}"
    lists = {name: _several(cells.get(name, "")) for name in ("synonyms", "broader")}
    for name, words in lists.items():
        if fault := next((fault for word in words if (fault := check_term(word))), None):
            return f"{name}: {fault}"
    return replace(entry, category=TermClass(category), synonyms=lists["synonyms"], broader=lists["broader"])


def _several(cell: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in cell.split(BETWEEN) if word.strip()))


def _csv_text(entries: Iterable[LexiconEntry]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        several = (BETWEEN.join(entry.synonyms), entry.category.value, BETWEEN.join(entry.broader))
        writer.writerow((entry.text, entry.frequency or "", entry.tag, *several))
    return out.getvalue()


def _synonyms_text(entries: Iterable[LexiconEntry]) -> str:
    """Lines for Solr's SynonymGraphFilter: words of one line mean the same."""
    groups = ((entry.text, *entry.synonyms) for entry in entries if entry.synonyms)
    return "".join(",".join(map(_escaped_for_solr, group)) + "\n" for group in groups)


def _escaped_for_solr(word: str) -> str:
    return word.replace("\\", "\\\\").replace(",", "\\,").replace("=>", "\\=>")


_PREFIXES = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .

<urn:plumbline:lexicon> rdf:type skos:ConceptScheme .
"""


def _skos_text(entries: Sequence[LexiconEntry]) -> str:
    """SKOS (W3C Recommendation 2009) in Turtle: a concept each term, a collection each class."""
    blocks = [_PREFIXES, *map(_concept, entries)]
    classed = sorted((entry for entry in entries if entry.category), key=lambda entry: entry.category)
    for category, group in groupby(classed, key=lambda entry: entry.category):
        members = " ,\n    ".join(_named(entry.text) for entry in group)
        blocks.append(
            f"<urn:plumbline:class:{category}> rdf:type skos:Collection ;\n"
            f'  skos:prefLabel "{category}"@en ;\n  skos:member {members} .\n'
        )
    return "\n".join(blocks)


def _concept(entry: LexiconEntry) -> str:
    said = [
        "rdf:type skos:Concept",
        "skos:inScheme <urn:plumbline:lexicon>",
        f"skos:prefLabel {_literal(entry.text)}",
        *(f"skos:altLabel {_literal(word)}" for word in entry.synonyms),
        *(f"skos:broader {_named(word)}" for word in entry.broader),
    ]
    return f"{_named(entry.text)} " + " ;\n  ".join(said) + " .\n"


def _named(word: str) -> str:
    return f"<urn:plumbline:term:{quote(word, safe='')}>"


def _literal(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"@{"en" if word.isascii() else "zh"}'


READERS: Mapping[str, Callable[[str], list[LexiconEntry]]] = {
    "jieba": parse_dictionary,
    "thuocl": lambda text: _numbered(text, _thuocl_line),
    "plain": lambda text: _numbered(text, _plain_line),
    "csv": _parse_csv,
}
WRITERS: Mapping[str, Callable[[Sequence[LexiconEntry]], str]] = {
    "jieba": format_dictionary,
    "csv": _csv_text,
    "synonyms": _synonyms_text,
    "skos": _skos_text,
}
