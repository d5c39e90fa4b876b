"""Reader for plain text and Markdown."""

import re
import tomllib
from collections.abc import Iterator, Mapping

import yaml

from domain.article import Block, BlockKind
from domain.message import Message
from domain.outcome import Reason
from extractor.documents.content import DocumentBuilder, DocumentContent, FileProperties, UnreadableError, to_one_line
from extractor.fields.dates.date_parsing import find_date_in_text
from text.decoding.decode import decode_page

MAX_BYTES = 20_000_000
MAX_LINE_CHARS = 100_000
CODE_FENCE_RE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
ATX_HEADING_RE = re.compile(r"^ {0,3}(#{1,6})\s++(.*)")
CLOSING_HASHES_RE = re.compile(r"(?<!\S)#++\s*+$")
SETEXT_UNDERLINE_RE = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
THEMATIC_BREAK_RE = re.compile(r"^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")  # a horizontal line
LIST_ITEM_RE = re.compile(r"^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$")
TABLE_RULE_RE = re.compile(r"^\s*+(?=\|?+[^|]*+\|)\|?+\s*+:?+-++:?+\s*+(?:\|\s*+:?+-++:?+\s*+)*+\|?+\s*+$")
IMAGE_RE = re.compile(r"!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")
LINK_RE = re.compile(r"\[([^\]\n]{1,500})\]\([^)\n]{0,2000}\)")
EMPHASIS_RE = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3}(?=\S))(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\w*])")
CODE_SPAN_RE = re.compile(r"`([^`\n]{1,500})`")
COMMENT_RE = re.compile(r"<!--(?>.*?-->)|(<!--.*+)", re.S)  # one without an end is text
TAG_RE = re.compile(r"</?[a-zA-Z][^<>\n]{0,500}>")
MAX_FRONT_MATTER_CHARS = 20_000
FRONT_MATTER_RE = re.compile(r"\s*(---|\+\+\+)[ \t]*\n((?:.*\n)*?)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)")
FRONT_MATTER_FIELD_RE = re.compile(r"^(title|date|author|lang|language)[ \t]*+[:=](.*)", re.I | re.M)
FRONT_MATTER_NAMES = (("title",), ("author", "authors"), ("date", "published"), ("lang", "language"))


def read(data: bytes, is_markdown: bool = False) -> DocumentContent:
    """Read a text or Markdown file. Raises UnreadableError."""
    decoding = decode_page(data[:MAX_BYTES])
    if decoding is None:
        raise UnreadableError(Reason.UNDECODABLE, Message("Cannot be decoded: unknown encoding"))
    text = decoding.text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    builder = DocumentBuilder()
    properties, text = split_front_matter(text) if is_markdown else (FileProperties(), text)
    blocks = iter_markdown_blocks(COMMENT_RE.sub(r"\1", text).split("\n")) if is_markdown else iter_text_blocks(text)
    for block in blocks:
        builder.add(block)
    builder.open_with_blocks()
    return builder.build(properties, "" if len(data) <= MAX_BYTES else f"{MAX_BYTES // 1_000_000} MB read")


def iter_text_blocks(text: str) -> Iterator[Block]:
    """Yield each line as a paragraph: whether lines were wrapped is unknown."""
    return (Block(BlockKind.PARAGRAPH, line[:MAX_LINE_CHARS]) for line in text.split("\n") if line.strip())


def split_front_matter(text: str) -> tuple[FileProperties, str]:
    """Return the fields of the front matter (YAML or TOML), and the text below it."""
    match = FRONT_MATTER_RE.match(text[:MAX_FRONT_MATTER_CHARS])
    if match is None:
        return FileProperties(), text
    try:  # BaseLoader makes only strings, lists and mappings
        matter = tomllib.loads(match[2]) if match[1] == "+++" else yaml.load(match[2], yaml.BaseLoader)  # noqa: S506
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError):
        matter = {name: value.strip(" \t\"'") for name, value in FRONT_MATTER_FIELD_RE.findall(match[2])}
    if not matter or not isinstance(matter, dict):
        return FileProperties(), text
    fields = {str(name).lower(): value for name, value in matter.items()}
    title, author, date, language = (front_matter_text(fields, *names) for names in FRONT_MATTER_NAMES)
    return FileProperties(title, author, find_date_in_text(date), language, True), text[match.end() :]


def front_matter_text(fields: Mapping[str, object], *names: str) -> str:
    """Return the first of these fields as text on one line, the items of a list separated by commas."""
    value = next((fields[name] for name in names if fields.get(name)), "")
    items = value if isinstance(value, list) else [value]
    names_of_items = (item.get("name", "") if isinstance(item, dict) else item for item in items[:20])
    return ", ".join(to_one_line(str(item)[:500]) for item in names_of_items if not isinstance(item, list | dict))


def iter_markdown_blocks(lines: list[str]) -> Iterator[Block]:
    """Yield headings, items, table rows, quotes, code and paragraphs."""
    line_index, paragraph_lines = 0, list[str]()
    while line_index < len(lines):
        line = lines[line_index][:MAX_LINE_CHARS]
        fence = CODE_FENCE_RE.match(line)
        block, line_count = (
            read_fenced_code(lines, line_index, fence[1])
            if fence
            else block_from_line(line, bool(paragraph_lines), lines[line_index + 1 : line_index + 2])
        )
        underline_match = SETEXT_UNDERLINE_RE.match(line) if paragraph_lines else None
        if underline_match and len(paragraph_lines) == 1:
            yield Block(
                BlockKind.HEADING, strip_inline_markup(paragraph_lines.pop()), 1 if underline_match[1][0] == "=" else 2
            )
        elif block is None and line.strip() and not underline_match:
            paragraph_lines.append(line.strip())
        else:
            if paragraph_lines:
                yield Block(BlockKind.PARAGRAPH, strip_inline_markup(" ".join(paragraph_lines)))
                paragraph_lines = []
            if block is not None:
                yield block
        line_index += line_count
    if paragraph_lines:
        yield Block(BlockKind.PARAGRAPH, strip_inline_markup(" ".join(paragraph_lines)))


def read_fenced_code(lines: list[str], start: int, fence: str) -> tuple[Block, int]:
    """Return the code between fences, and the number of lines including the fences."""
    end = start + 1
    while end < len(lines) and not lines[end].strip().startswith(fence):
        end += 1
    return Block(BlockKind.CODE, "\n".join(lines[start + 1 : end])), end - start + 1


def block_from_line(line: str, in_paragraph: bool, next_line: list[str]) -> tuple[Block | None, int]:
    """Return the block of a single line, or None for a line of a paragraph, and the number of lines used.

    `in_paragraph`: the previous line belongs to a paragraph, so an indented line is not code.
    """
    if heading := ATX_HEADING_RE.match(line):
        text = CLOSING_HASHES_RE.sub("", heading[2]).rstrip()
        return Block(BlockKind.HEADING, strip_inline_markup(text), len(heading[1])), 1
    if THEMATIC_BREAK_RE.match(line) or (TABLE_RULE_RE.match(line) and "-" in line):
        return Block(BlockKind.PARAGRAPH, ""), 1
    if item := LIST_ITEM_RE.match(line):
        depth = 1 + len(item[1].expandtabs(4)) // 2
        return Block(BlockKind.LIST_ITEM, strip_inline_markup(item[4]), min(depth, 20), bool(item[3])), 1
    if line.lstrip().startswith("|") or (
        next_line and TABLE_RULE_RE.match(next_line[0]) and "|" in next_line[0] and "|" in line
    ):
        cells = [strip_inline_markup(cell.strip()) for cell in line.strip().strip("|").split("|")]
        return Block(BlockKind.TABLE_ROW, "\t".join(cells)), 1
    if line.lstrip().startswith(">"):
        return Block(BlockKind.QUOTE, strip_inline_markup(line.lstrip(" >"))), 1
    if not in_paragraph and line.startswith(("    ", "\t")) and line.strip():
        return Block(BlockKind.CODE, line), 1
    return None, 1


def strip_inline_markup(text: str) -> str:
    """Remove inline markup; links and images are replaced by their text."""
    text = LINK_RE.sub(r"\1", IMAGE_RE.sub(r"\1", text))
    return TAG_RE.sub("", EMPHASIS_RE.sub(r"\2", CODE_SPAN_RE.sub(r"\1", text)))
