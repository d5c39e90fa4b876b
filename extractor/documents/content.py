"""What a reader of a format makes of a file, before its title and date are told; and what no reader goes beyond."""

import re
import unicodedata
from dataclasses import dataclass, field, replace

from docstore.model import Block, BlockKind, Reason

MAX_CHARACTERS = 2_000_000  # of the text of one document: some 1,500 pages
MAX_PAGES = 2_000
MAX_BLOCKS = 100_000
MAX_PARAGRAPHS = 300_000  # paragraphs, empty ones too
MAX_BLOCK_CHARS = 100_000  # characters of one
MAX_OPENING_LINES = 80  # lines of the beginning that a title is looked for in

CONTROL_CHARS_RE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]")
# Letters that stand for others in fonts: ligatures, radicals, compatibility ideographs, Arabic forms.
COMPATIBILITY_CHARS_RE = re.compile("[\ufb00-\ufdff\ufe70-\ufefc\u2e80-\u2fdf\uf900-\ufaff]+")
SPACES = re.compile(r"[^\S\n]+")


class UnreadableError(Exception):
    """The file has no article: `reason` and `detail` are its outcome."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class OpeningLine:
    """A line of the beginning of a document, as the title's rules see it.

    `font_size` is that of its letters in points, 0 where the format does not tell; `role` what its author called it:
    `title`, `subtitle`, `heading` or "". `distance_from_top` is the distance from the top of the page, 0 to 1 (-1: unknown).
    `paragraph_number` numbers the paragraphs: lines of one paragraph have the same.
    """

    text: str
    font_size: float = 0.0
    role: str = ""
    distance_from_top: float = -1.0
    is_bold: bool = False
    is_centred: bool = False
    paragraph_number: int = 0


@dataclass(frozen=True)
class FileProperties:
    """What the file says of itself; programs fill much of it, but where it is `is_authored` (a book's publisher wrote it).

    `created` is a day, `YYYY-MM-DD`, or "".
    """

    title: str = ""
    author: str = ""
    created: str = ""
    language: str = ""
    is_authored: bool = False


@dataclass(frozen=True)
class DocumentContent:
    """The text of a document in reading order.

    `opening` are lines of its beginning; `body_font_size` the size of letters that most of it has (points, 0: unknown).
    `truncation` says what was left out beyond a cap, "" where nothing was.
    """

    blocks: tuple[Block, ...]
    opening: tuple[OpeningLine, ...] = ()
    properties: FileProperties = field(default_factory=FileProperties)
    body_font_size: float = 0.0
    truncation: str = ""


class BlockCollector:
    """Blocks of a document as they are read, up to the caps; `is_full` once these are reached."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.char_count = 0
        self.paragraph_count = 0
        self.is_full = False

    def add(self, block: Block) -> None:
        """Keep a block, without characters that are none; empty ones are dropped."""
        self.count_empty_paragraph()
        text = (
            clean_text(block.text)
            if block.kind is not BlockKind.CODE
            else CONTROL_CHARS_RE.sub("", block.text).rstrip()
        )
        if not text or self.is_full:
            return
        self.blocks.append(replace(block, text=text[:MAX_BLOCK_CHARS]))
        self.char_count += len(text)
        self.is_full = self.char_count >= MAX_CHARACTERS or len(self.blocks) >= MAX_BLOCKS

    def count_empty_paragraph(self) -> None:
        """Count a paragraph that is empty."""
        self.paragraph_count += 1
        self.is_full = self.is_full or self.paragraph_count >= MAX_PARAGRAPHS

    @property
    def truncation(self) -> str:
        """What `DocumentContent.truncation` says of these."""
        return f"cut at {self.char_count:,} letters" if self.is_full else ""


def opening_lines(blocks: list[Block], first_level_role: str = "title") -> tuple[OpeningLine, ...]:
    """The first blocks, for the title. `first_level_role` is the role of a heading of the first level."""
    roles = {0: "", 1: first_level_role}
    return tuple(
        OpeningLine(
            block.text[:500], role=roles.get(heading_level(block), "heading"), paragraph_number=paragraph_number
        )
        for paragraph_number, block in enumerate(blocks[:MAX_OPENING_LINES])
    )


def heading_level(block: Block) -> int:
    """The level of a heading, 0 for what is none."""
    return block.level if block.kind is BlockKind.HEADING else 0


def clean_text(text: str) -> str:
    """A text on lines without blanks around, control characters and letters that stand for others."""
    text = CONTROL_CHARS_RE.sub("", text.replace("\xa0", " "))
    if not text.isascii():
        text = COMPATIBILITY_CHARS_RE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return text.strip()


def to_one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(clean_text(text).split())
