"""What a reader of a format makes of a file, before its title and date are told; and what no reader goes beyond."""

import re
import unicodedata
from dataclasses import dataclass, field, replace

from docstore.model import Block, BlockKind, Reason

MAX_CHARACTERS = 2_000_000  # of the text of one document: some 1,500 pages
MAX_PAGES = 2_000
MAX_BLOCKS = 100_000
MAX_ASKED = 300_000  # paragraphs, empty ones too
MAX_BLOCK = 100_000  # characters of one
MAX_OPENING = 80  # lines of the beginning that a title is looked for in

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]")
# Letters that stand for others in fonts: ligatures, radicals, compatibility ideographs, Arabic forms.
COMPATIBLE = re.compile("[\ufb00-\ufdff\ufe70-\ufefc\u2e80-\u2fdf\uf900-\ufaff]+")
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

    `size` is that of its letters in points, 0 where the format does not tell; `role` what its author called it:
    `title`, `subtitle`, `heading` or "". `top` is the distance from the top of the page, 0 to 1 (-1: unknown).
    `place` numbers the paragraphs: lines of one paragraph have the same.
    """

    text: str
    size: float = 0.0
    role: str = ""
    top: float = -1.0
    bold: bool = False
    centred: bool = False
    place: int = 0


@dataclass(frozen=True)
class Properties:
    """What the file says of itself; programs fill much of it, but where it is `edited` (a book's publisher wrote it).

    `created` is a day, `YYYY-MM-DD`, or "".
    """

    title: str = ""
    author: str = ""
    created: str = ""
    language: str = ""
    edited: bool = False


@dataclass(frozen=True)
class Content:
    """The text of a document in reading order.

    `opening` are lines of its beginning; `body_size` the size of letters that most of it has (points, 0: unknown).
    `cut` says what was left out beyond a cap, "" where nothing was.
    """

    blocks: tuple[Block, ...]
    opening: tuple[OpeningLine, ...] = ()
    properties: Properties = field(default_factory=Properties)
    body_size: float = 0.0
    cut: str = ""


class BlockList:
    """Blocks of a document as they are read, up to the caps; `full` once these are reached."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.characters = 0
        self.asked = 0
        self.full = False

    def add(self, block: Block) -> None:
        """Keep a block, without characters that are none; empty ones are dropped."""
        self.skip()
        text = plain(block.text) if block.kind is not BlockKind.CODE else CONTROL.sub("", block.text).rstrip()
        if not text or self.full:
            return
        self.blocks.append(replace(block, text=text[:MAX_BLOCK]))
        self.characters += len(text)
        self.full = self.characters >= MAX_CHARACTERS or len(self.blocks) >= MAX_BLOCKS

    def skip(self) -> None:
        """Count a paragraph that is empty."""
        self.asked += 1
        self.full = self.full or self.asked >= MAX_ASKED

    @property
    def cut(self) -> str:
        """What `Content.cut` says of these."""
        return f"cut at {self.characters:,} letters" if self.full else ""


def opening_lines(blocks: list[Block], of_first_level: str = "title") -> tuple[OpeningLine, ...]:
    """The first blocks, for the title. `of_first_level` is the role of a heading of the first level."""
    roles = {0: "", 1: of_first_level}
    return tuple(
        OpeningLine(block.text[:500], role=roles.get(level_of(block), "heading"), place=place)
        for place, block in enumerate(blocks[:MAX_OPENING])
    )


def level_of(block: Block) -> int:
    """The level of a heading, 0 for what is none."""
    return block.level if block.kind is BlockKind.HEADING else 0


def plain(text: str) -> str:
    """A text on lines without blanks around, control characters and letters that stand for others."""
    text = CONTROL.sub("", text.replace("\xa0", " "))
    if not text.isascii():
        text = COMPATIBLE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return text.strip()


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(plain(text).split())
