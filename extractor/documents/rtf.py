"""Reader for RTF with striprtf: its text without pictures; title, author and date from its information group."""

import re

from striprtf.striprtf import rtf_to_text

from domain.article import Block, BlockKind
from domain.coded_message import CodedMessage
from domain.outcome import Reason
from extractor.documents.content import (
    NESTED_TOO_DEEP_MESSAGE,
    DocumentBuilder,
    DocumentContent,
    FileProperties,
    UnreadableError,
)
from extractor.fields.dates.date_parsing import to_iso_date

MAX_BYTES = 20_000_000  # size without pictures
MAX_DEPTH = 1_000  # nesting of groups
EMBEDDED_DATA_RE = re.compile(r"\{\\(?:\*\\)?(?:pict|objdata|themedata|colorschememapping|datastore)\b[^{}]*")
HEX_LINES_RE = re.compile(r"(?:[0-9a-fA-F]{64,}\s*){4,}")
CODE_PAGE_RE = re.compile(r"\\ansicpg(\d{3,5})")
CREATION_TIME_RE = re.compile(r"\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
BRACES_RE = re.compile(r"(?<!\\)[{}]")


def read(data: bytes) -> DocumentContent:
    """Read an RTF file. Raises UnreadableError."""
    source = data.decode("latin-1")
    source = HEX_LINES_RE.sub("", EMBEDDED_DATA_RE.sub("{", source))
    if len(source) > MAX_BYTES:
        megabytes = MAX_BYTES // 1_000_000
        message = CodedMessage(f"RTF text is larger than the limit of {megabytes} MB", "file_too_large", n=megabytes)
        raise UnreadableError(Reason.TOO_LARGE, message)
    reject_deep_nesting(source)
    code_page = CODE_PAGE_RE.search(source[:5_000])
    encoding = f"cp{code_page[1]}" if code_page and code_page[1] != "0" else "cp1252"
    builder = DocumentBuilder()
    for line in to_text(source, encoding).split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 2 and not cells[-1]:
            builder.add(Block(BlockKind.TABLE_ROW, "\t".join(cells[:-1])))
        else:
            builder.add(Block(BlockKind.PARAGRAPH, " ".join(line.split())))
    builder.open_with_blocks()
    return builder.build(read_properties(source[:50_000], encoding))


def to_text(source: str, encoding: str) -> str:
    """Convert RTF source to plain text."""
    text: str = rtf_to_text(source, encoding, "replace")  # type: ignore[no-untyped-call]
    return text


def reject_deep_nesting(source: str) -> None:
    """Raise UnreadableError if groups are nested deeper than MAX_DEPTH."""
    depth = 0
    for match in BRACES_RE.finditer(source):
        depth += 1 if match[0] == "{" else -1
        if depth > MAX_DEPTH:
            raise UnreadableError(Reason.TOO_LARGE, NESTED_TOO_DEEP_MESSAGE)


def read_properties(source: str, encoding: str) -> FileProperties:
    """Read the properties in the information group."""
    created = CREATION_TIME_RE.search(source)
    fields = {name: read_info_field(source, name, encoding) for name in ("title", "author")}
    return FileProperties(fields["title"], fields["author"], to_iso_date(*created.groups()) if created else "")


def read_info_field(source: str, name: str, encoding: str) -> str:
    """Return one field of the information group, or an empty string."""
    match = re.search(rf"\{{\\{name}\s([^{{}}]{{0,1000}})\}}", source)
    return " ".join(to_text("{\\rtf1 " + match[1] + "}", encoding).split()) if match else ""
