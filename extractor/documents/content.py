"""Text of a document file as the format readers return it, and the size limits that every reader observes."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from domain.article import Block, BlockKind
from domain.message import Message
from domain.outcome import Reason
from text.scripts import HAN

MAX_CHARACTERS = 2_000_000  # text of one document, about 1,500 pages
MAX_PAGES = 2_000
MAX_BLOCKS = 100_000
MAX_PARAGRAPHS = 300_000  # including empty paragraphs
MAX_BLOCK_CHARS = 100_000  # text of one block
MAX_OPENING_LINES = 80  # lines at the beginning that are searched for a title

CONTROL_CHARS_RE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]")
# Characters that replace others in fonts: ligatures, radicals, compatibility ideographs, Arabic forms.
COMPATIBILITY_CHARS_RE = re.compile("[\ufb00-\ufdff\ufe70-\ufefc\u2e80-\u2fdf\uf900-\ufaff]+")
# 关 于 检 查 的 通 知: Chinese with wide letter spacing, as it is printed in headings and cells of tables.
_MARKS = "，。、：；？！“”‘’（）《》—"
SPACED_LETTERS_RE = re.compile(
    rf"(?<!\S)[{_MARKS}]?[{HAN}](?:[ \u3000]+[{_MARKS}]{{0,2}}[{HAN}{_MARKS}][{_MARKS}]{{0,2}}"
    rf"|(?<=[{HAN}])[ \u3000]+\d{{1,4}}(?=[ \u3000]+[{HAN}]))+(?!\S)"
)
MIN_SPACED_LETTERS = 4  # two are enough if they are the whole text

PASSWORD_PROTECTED_MESSAGE = Message("Encrypted: password-protected")
NESTED_TOO_DEEP_MESSAGE = Message("Nested too deep")
MIN_SCAN_AREA_SHARE = 0.6  # of the images of a scanned page
MAX_ERROR_CHARS = 180  # text of a library's error in the message of an outcome


class UnreadableError(Exception):
    """The file has no article. `reason` and `detail` are those of its Outcome."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def damaged_error(detail: object) -> UnreadableError:
    """Return the error for a damaged file. `detail` is a message or an exception of a library."""
    reason = detail if isinstance(detail, Message) else to_one_line(str(detail))[:MAX_ERROR_CHARS]
    return UnreadableError(Reason.UNPARSABLE, Message("Damaged: {detail}", detail=reason))


def missing_part_error(name: str) -> UnreadableError:
    """Return the error for a file without a part to which another part refers."""
    return damaged_error(Message("{name} is missing", name=name))


def rights_managed_error(mechanism: str) -> UnreadableError:
    """Return the error for a rights-managed file, with the mechanism in English."""
    message = Message("Encrypted: rights-managed (DRM)")
    return UnreadableError(Reason.PASSWORD_PROTECTED, message)


def no_text_error(page_count: int) -> UnreadableError:
    """Return the error for a file whose pages have no text."""
    message = Message("There is no text on the page", "There is no text on the {n} pages", n=page_count)
    return UnreadableError(Reason.NO_TEXT_LAYER if page_count else Reason.UNPARSABLE, message)


def scan_error(page_count: int) -> UnreadableError:
    """Return the error for a file of images without text."""
    message = Message(
        "1 page of images: a scan; apply OCR first", "{n} pages of images: a scan; apply OCR first", n=page_count
    )
    return UnreadableError(Reason.NO_TEXT_LAYER, message)


def garbled_text_error(garbled_count: int, page_count: int) -> UnreadableError:
    """Return the error for a file whose text is garbled."""
    return UnreadableError(
        Reason.GARBLED_TEXT,
        Message(
            "Text garbled on {n} of {total} pages: the fonts of the file do not state their characters",
            n=garbled_count,
            total=page_count,
        ),
    )


@dataclass(frozen=True)
class OpeningLine:
    """A line at the beginning of a document, as input of the title rules.

    `font_size` is in points, 0 if unknown. `role` is given by the style: `title`, `subtitle`, `heading` or "".
    Lines of one paragraph have the same `paragraph_number`.
    """

    text: str
    font_size: float = 0.0
    role: str = ""
    is_bold: bool = False
    is_centred: bool = False
    paragraph_number: int = 0


@dataclass(frozen=True)
class FileProperties:
    """Metadata of the file. Programs fill most of it, unless `is_authored` (for example the publisher of a book).

    `created` is a date, `YYYY-MM-DD`, or an empty string. `fallback_author` and `fallback_date` are used if the text
    states none; the reader of the format has checked that they are plausible.
    """

    title: str = ""
    author: str = ""
    created: str = ""
    language: str = ""
    is_authored: bool = False
    fallback_author: str = ""
    fallback_date: str = ""


@dataclass(frozen=True)
class DocumentContent:
    """The text of a document in reading order.

    `opening` are lines of its beginning. `body_font_size` is the font size of most of the text in points (0: unknown).
    `truncation` describes the text cut at a limit, an empty string if nothing was cut. `garbled_pages` and
    `scanned_pages` are the numbers of pages without readable text, among `page_count` pages (0: no pages).
    `text_source` is that of `domain.article.Article`. `damaged_parts` are the names of parts of the file that could not
    be read.
    """

    blocks: tuple[Block, ...]
    opening: tuple[OpeningLine, ...] = ()
    properties: FileProperties = field(default_factory=FileProperties)
    body_font_size: float = 0.0
    truncation: str = ""
    page_count: int = 0
    garbled_pages: tuple[int, ...] = ()
    scanned_pages: tuple[int, ...] = ()
    text_source: str = ""
    damaged_parts: tuple[str, ...] = ()


NO_PROPERTIES = FileProperties()
NO_DAMAGE: Mapping[str, UnreadableError] = {}


class DocumentBuilder:
    """Collects the blocks and opening lines of a document up to the limits. `is_full`: a limit is reached."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.opening: list[OpeningLine] = []
        self.char_count = 0
        self.paragraph_count = 0
        self.is_full = False

    def add(self, block: Block) -> None:
        """Add a block without control characters; a block without text counts only as a paragraph."""
        self.count_paragraph()
        if block.kind is BlockKind.CODE:
            text = CONTROL_CHARS_RE.sub("", block.text).rstrip()
        else:
            text = "\t".join(map(join_spaced_letters, clean_text(block.text).split("\t")))
        if not text or self.is_full:
            return
        self.blocks.append(replace(block, text=text[:MAX_BLOCK_CHARS]))
        self.char_count += len(text)
        self.is_full = self.char_count >= MAX_CHARACTERS or len(self.blocks) >= MAX_BLOCKS

    def count_paragraph(self) -> None:
        """Count a paragraph towards MAX_PARAGRAPHS."""
        self.paragraph_count += 1
        self.is_full = self.is_full or self.paragraph_count >= MAX_PARAGRAPHS

    @property
    def needs_opening(self) -> bool:
        """Whether further opening lines are used."""
        return len(self.opening) < MAX_OPENING_LINES

    def add_opening(
        self,
        text: str,
        font_size: float = 0.0,
        role: str = "",
        is_bold: bool = False,
        is_centred: bool = False,
        paragraph_number: int | None = None,
    ) -> None:
        """Add an opening line, up to MAX_OPENING_LINES. Without `paragraph_number` it is a paragraph of its own."""
        number = len(self.opening) if paragraph_number is None else paragraph_number
        if self.needs_opening:
            self.opening.append(OpeningLine(text[:500], font_size, role, is_bold, is_centred, number))

    def open_with_blocks(self, first_level_role: str = "title") -> None:
        """Add the first blocks as opening lines. A heading of level 1 gets the role `first_level_role`."""
        roles = {0: "", 1: first_level_role}
        for block in self.blocks[:MAX_OPENING_LINES]:
            self.add_opening(block.text, role=roles.get(heading_level(block), "heading"))

    @property
    def truncation(self) -> str:
        """Description of the cut for `DocumentContent.truncation`, or an empty string."""
        return f"cut at {self.char_count:,} letters" if self.is_full else ""

    def build(
        self,
        properties: FileProperties = NO_PROPERTIES,
        truncation: str = "",
        damaged_parts: Mapping[str, UnreadableError] = NO_DAMAGE,
    ) -> DocumentContent:
        """Return the content. `truncation` describes a cut at a limit of the format.

        Raises:
            UnreadableError: Parts are damaged, and no text is left.
        """
        if damaged_parts and not self.blocks:
            raise next(iter(damaged_parts.values()))
        blocks, opening, cut = tuple(self.blocks), tuple(self.opening), self.truncation or truncation
        return DocumentContent(blocks, opening, properties, truncation=cut, damaged_parts=tuple(damaged_parts))


def heading_level(block: Block) -> int:
    """Return the level of a heading, 0 for other blocks."""
    return block.level if block.kind is BlockKind.HEADING else 0


def clean_text(text: str) -> str:
    """Remove control characters and surrounding blanks, and replace compatibility characters (NFKC)."""
    text = CONTROL_CHARS_RE.sub("", text.replace("\xa0", " "))
    if not text.isascii():
        text = COMPATIBILITY_CHARS_RE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return text.strip()


def join_spaced_letters(text: str) -> str:
    """Remove the blanks from Chinese with wide letter spacing."""

    def join_match(match: re.Match[str]) -> str:
        letters = match[0].split()
        is_spaced = len(letters) >= MIN_SPACED_LETTERS or match[0] == text
        is_counting = len(letters) <= 3 * sum(map(str.isdecimal, letters))  # 泵 3 台: words and their numbers
        return "".join(letters) if is_spaced and not is_counting else match[0]

    return SPACED_LETTERS_RE.sub(join_match, text)


def to_one_line(text: str) -> str:
    """Clean a text and collapse its white space to single blanks."""
    return " ".join(clean_text(text).split())
