"""Plain text and Markdown."""

import re
from collections.abc import Iterator

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import BlockList, Content, Properties, UnreadableError, opening_lines
from extractor.fields.dates.date_text import date_in_text
from text.decoding.encoding import decode

MAX_BYTES = 20_000_000
MAX_LINE = 100_000
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
ATX = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
SETEXT = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
ITEM = re.compile(r"^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$")
TABLE_RULE = re.compile(r"^\s*(?=.*[-|].*\|)\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
PICTURE = re.compile(r"!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")
LINK = re.compile(r"\[([^\]\n]{1,500})\]\([^)\n]{0,2000}\)")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3}(?=\S))(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\w*])")
CODE_SPAN = re.compile(r"`([^`\n]{1,500})`")
COMMENT = re.compile(r"<!--.*?-->", re.S)
TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,500}>")
FIELD = re.compile(r"""^(title|date|author|lang|language)\s*[:=]\s*["']?(.*?)["']?\s*$""", re.I)
FRONT_MARKS = ("---", "+++")


def read(data: bytes, is_markdown: bool = False) -> Content:
    """The text of a file. Raises UnreadableError."""
    decoded = decode(data[:MAX_BYTES])
    if decoded is None:
        raise UnreadableError(Reason.UNDECODABLE, "the bytes are no text in any known encoding")
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    found = BlockList()
    if not is_markdown:
        for block in text_blocks(text):
            found.add(block)
        cut = found.cut or ("" if len(data) <= MAX_BYTES else f"{MAX_BYTES >> 20} MB read")
        return Content(tuple(found.blocks), opening_lines(found.blocks), cut=cut)
    properties, text = front_matter(text)
    for block in markdown_blocks(COMMENT.sub("", text).split("\n")):
        found.add(block)
    return Content(tuple(found.blocks), opening_lines(found.blocks), properties, cut=found.cut)


def text_blocks(text: str) -> Iterator[Block]:
    """A line each, as they stand: who wrapped them is not known."""
    return (Block(BlockKind.PARAGRAPH, line[:MAX_LINE]) for line in text.split("\n") if line.strip())


def front_matter(text: str) -> tuple[Properties, str]:
    """What a block of fields at the top says, and the text below it."""
    mark = text[:3]
    end = text.find(f"\n{mark}", 3, 20_000) if mark in FRONT_MARKS and text[3:4] == "\n" else -1
    if end < 0:
        return Properties(), text
    fields: dict[str, str] = {}
    for line in text[4:end].split("\n"):
        if match := FIELD.match(line):
            fields.setdefault(match[1].lower(), match[2].strip())
    language = fields.get("lang", "") or fields.get("language", "")
    created = date_in_text(fields.get("date", ""))
    return Properties(fields.get("title", ""), fields.get("author", ""), created, language, True), text[end + 4 :]


def markdown_blocks(lines: list[str]) -> Iterator[Block]:
    """Headings, items, rows, quotes, code and paragraphs."""
    at, waiting = 0, list[str]()
    while at < len(lines):
        line = lines[at][:MAX_LINE]
        fence = FENCE.match(line)
        block, used = fenced(lines, at, fence[1]) if fence else line_block(line, bool(waiting), lines[at + 1 : at + 2])
        underlined = SETEXT.match(line) if waiting else None
        if underlined and len(waiting) == 1:
            yield Block(BlockKind.HEADING, inline(waiting.pop()), 1 if underlined[1][0] == "=" else 2)
        elif block is None and line.strip():
            waiting.append(line.strip())
        else:
            if waiting:
                yield Block(BlockKind.PARAGRAPH, inline(" ".join(waiting)))
                waiting = []
            if block is not None:
                yield block
        at += used
    if waiting:
        yield Block(BlockKind.PARAGRAPH, inline(" ".join(waiting)))


def fenced(lines: list[str], start: int, fence: str) -> tuple[Block, int]:
    """Code between fences, and how many lines it takes."""
    end = start + 1
    while end < len(lines) and not lines[end].strip().startswith(fence):
        end += 1
    return Block(BlockKind.CODE, "\n".join(lines[start + 1 : end])), end - start + 1


def line_block(line: str, within: bool, below: list[str]) -> tuple[Block | None, int]:
    """The block that a line is on its own, None for a line of a paragraph; `within`: it stands below one."""
    if heading := ATX.match(line):
        return Block(BlockKind.HEADING, inline(heading[2]), len(heading[1])), 1
    if TABLE_RULE.match(line) and "-" in line:
        return Block(BlockKind.PARAGRAPH, ""), 1
    if item := ITEM.match(line):
        depth = 1 + len(item[1].expandtabs(4)) // 2
        return Block(BlockKind.ITEM, inline(item[4]), min(depth, 20), bool(item[3])), 1
    if line.lstrip().startswith("|") or (below and TABLE_RULE.match(below[0]) and "|" in below[0] and "|" in line):
        cells = [inline(cell.strip()) for cell in line.strip().strip("|").split("|")]
        return Block(BlockKind.ROW, "\t".join(cells)), 1
    if line.lstrip().startswith(">"):
        return Block(BlockKind.QUOTE, inline(line.lstrip(" >"))), 1
    if not within and line.startswith(("    ", "\t")) and line.strip():
        return Block(BlockKind.CODE, line), 1
    return None, 1


def inline(text: str) -> str:
    """A text without its marks: links and pictures are their words."""
    text = LINK.sub(r"\1", PICTURE.sub(r"\1", text))
    return TAG.sub("", EMPHASIS.sub(r"\2", CODE_SPAN.sub(r"\1", text)))
