"""RTF by striprtf: its text, without pictures; title, author and day as the file states them."""

import re

from striprtf.striprtf import rtf_to_text

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import BlockList, Content, Properties, UnreadableError, opening_lines
from extractor.fields.dates.date_text import as_day

MAX_BYTES = 20_000_000  # without its pictures
MAX_DEPTH = 1_000  # groups within groups
PICTURE = re.compile(r"\{\\(?:\*\\)?(?:pict|objdata|themedata|colorschememapping|datastore)\b[^{}]*")
HEX_LINES = re.compile(r"(?:[0-9a-fA-F]{64,}\s*){4,}")
CODE_PAGE = re.compile(r"\\ansicpg(\d{3,5})")
CREATED = re.compile(r"\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
BRACES = re.compile(r"(?<!\\)[{}]")


def read(data: bytes) -> Content:
    """The text of an RTF file. Raises UnreadableError."""
    source = data.decode("latin-1")
    source = HEX_LINES.sub("", PICTURE.sub("{", source))
    if len(source) > MAX_BYTES:
        raise UnreadableError(Reason.TOO_LARGE, f"more than {MAX_BYTES >> 20} MB of RTF")
    refuse_depth(source)
    page = CODE_PAGE.search(source[:5_000])
    encoding = f"cp{page[1]}" if page and page[1] != "0" else "cp1252"
    found = BlockList()
    for line in to_text(source, encoding).split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 2 and not cells[-1]:
            found.add(Block(BlockKind.ROW, "\t".join(cells[:-1])))
        else:
            found.add(Block(BlockKind.PARAGRAPH, " ".join(line.split())))
    properties = properties_of(source[:50_000], encoding)
    return Content(tuple(found.blocks), opening_lines(found.blocks), properties, cut=found.cut)


def to_text(source: str, encoding: str) -> str:
    """The text of RTF."""
    text: str = rtf_to_text(source, encoding, "replace")  # type: ignore[no-untyped-call]
    return text


def refuse_depth(source: str) -> None:
    """Raise where groups are nested deeper than any writer nests them."""
    depth = 0
    for match in BRACES.finditer(source):
        depth += 1 if match[0] == "{" else -1
        if depth > MAX_DEPTH:
            raise UnreadableError(Reason.TOO_LARGE, "nested too deep")


def properties_of(source: str, encoding: str) -> Properties:
    """What stands in the group of information."""
    created = CREATED.search(source)
    fields = {name: field_of(source, name, encoding) for name in ("title", "author")}
    return Properties(fields["title"], fields["author"], as_day(*created.groups()) if created else "")


def field_of(source: str, name: str, encoding: str) -> str:
    """One field of that group."""
    found = re.search(rf"\{{\\{name}\s([^{{}}]{{0,1000}})\}}", source)
    return " ".join(to_text("{\\rtf1 " + found[1] + "}", encoding).split()) if found else ""
