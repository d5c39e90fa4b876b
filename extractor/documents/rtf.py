r"""Reader for RTF: paragraphs, tables, lists, text boxes, notes and formulas. Ignores pictures and hidden text.

Characters are bytes in the code page of their font, raw or as `\'c4\'e3`, or UTF-16 units (`\u20320`).
"""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass, replace

from domain.article import Block, BlockKind
from domain.outcome import Reason
from extractor.documents.content import (
    NESTED_TOO_DEEP_MESSAGE,
    DocumentBuilder,
    DocumentContent,
    FileProperties,
    UnreadableError,
)
from extractor.documents.office.formulas import eq_field_text
from extractor.fields.dates.date_parsing import to_iso_date

MAX_TOKENS = 5_000_000
MAX_FALLBACK_CHARS = 100
MAX_DEPTH = 1_000  # nesting of groups
CONTROL = rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])"
TOKEN_RE = re.compile(CONTROL + rb"|([^\\{}]+|\\)", re.S)
# In East Asian code pages, the second byte of a character can be a backslash or a brace.
WIDE_TOKEN_RE = re.compile(CONTROL + rb"|((?:[\x81-\xfe][^\r\n]|[^\\{}\x81-\xfe])+|.)", re.S)
WIDE_ENCODINGS = ("cp932", "cp949", "cp950", "gb18030")
ENCODING_BY_CHARSET = {
    "77": "mac_roman", "128": "cp932", "129": "cp949", "134": "gb18030", "136": "cp950", "161": "cp1253",
    "162": "cp1254", "163": "cp1258", "177": "cp1255", "178": "cp1256", "186": "cp1257", "204": "cp1251",
    "222": "cp874", "238": "cp1250",
}  # fmt: skip
CREATION_TIME_RE = re.compile(rb"\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
TEXT_BY_CONTROL = {
    "par": "\n", "line": "\n", "page": "\n", "sect": "\n", "\n": "\n", "\r": "\n", "tab": " ", "cell": "\t",
    "nestcell": " ", "nestrow": " ", "row": "\v\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ", "~": " ",
    "_": "-", "mden": "/", "msup": "^",
}  # fmt: skip
# Groups without text of the document; so are those that begin with `\*`, except READ_GROUPS.
SKIPPED_GROUPS = frozenset(
    (
        *("fonttbl", "colortbl", "stylesheet", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl"),
        *("footerr", "footerf", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "annotation", "upr", "nonesttables"),
        *("shprslt", "nonshppict", "sp", "pn", "tc", "xe", "rxe", "objdata", "mmathPict"),
    )
)
READ_GROUPS = frozenset(["shpinst", "ud", "moMath", "moMathPara", "fldinst"])
COLLECTED_GROUPS = frozenset(["info", "title", "author", "footnote", "fldinst", "listtext", "pntext"])
MATH_PROPERTIES_RE = re.compile(r"m\w+Pr")


@dataclass
class Group:
    """A group: the list that its text is added to, its name if it is collected, and the state of its characters."""

    parts: list[str]
    name: str = ""
    encoding: str = "cp1252"
    fallback_chars: int = 1  # characters after a `\u` for readers that do not know it
    is_skipped: bool = False
    is_hidden: bool = False
    is_in_table: bool = False


class RtfReader:
    """Converts one file to text; the texts of collected groups are in `texts_by_group`."""

    def __init__(self) -> None:
        self.encoding = "cp1252"
        self.encoding_by_font: dict[str, str] = {}
        self.font = ""  # in the font table
        self.code = bytearray()  # bytes that are not decoded yet
        self.texts_by_group: dict[str, list[str]] = {}
        self.is_cut = False

    def read(self, data: bytes) -> str:
        """Return the text of the document: paragraphs end with a line feed, cells with a tab, rows with U+000B."""
        group = Group([])
        body, groups = group.parts, list[Group]()
        position = skipped_chars = 0
        is_optional = False
        for _ in range(MAX_TOKENS):
            pattern = WIDE_TOKEN_RE if group.encoding in WIDE_ENCODINGS else TOKEN_RE
            token = pattern.match(data, position)
            if token is None:
                break
            position = token.end()
            word, number, code, char, brace, raw = (part.decode("latin-1") if part else "" for part in token.groups())
            if code or raw:
                text = bytes.fromhex(code) if code else token[6].translate(None, b"\r\n\0")
                skipped_count = min(skipped_chars, len(text))
                skipped_chars -= skipped_count
                if not (group.is_skipped or group.is_hidden):
                    self.code += text[skipped_count:]
            elif char in ("{", "}", "\\") and not (group.is_skipped or group.is_hidden):
                self.code += char.encode()
            elif word == "u" and number:
                self.add(group, chr(int(number) & 0xFFFF))
                skipped_chars = group.fallback_chars
            elif word == "bin":
                position += max(int(number or 0), 0)
            elif brace == "{":
                self.add(group, "")
                groups.append(group)
                group, skipped_chars = replace(group, name=""), 0
                if len(groups) > MAX_DEPTH:
                    raise UnreadableError(Reason.TOO_LARGE, NESTED_TOO_DEEP_MESSAGE)
            elif brace and groups:
                self.add(group, "")
                inner, group, skipped_chars = group, groups.pop(), 0
                self.finish(inner, group)
            elif char == "*":
                is_optional = True
                continue
            elif word or char:
                if (
                    word in SKIPPED_GROUPS
                    or (is_optional and word not in READ_GROUPS)
                    or MATH_PROPERTIES_RE.fullmatch(word)
                ):
                    group.is_skipped, group.name = True, word
                elif word == "ud" and len(groups) > 1:  # the Unicode form of a text; the other is skipped
                    group.is_skipped = groups[-2].is_skipped
                elif word in COLLECTED_GROUPS and not group.is_skipped:
                    group.parts, group.name = [], word
                self.add(group, TEXT_BY_CONTROL.get(word or char, ""))
                self.apply(group, word, number)
            is_optional = False
        self.add(group, "")
        self.is_cut = position < len(data) and bool(groups)
        return combine_surrogates("".join(body))

    def add(self, group: Group, text: str) -> None:
        """Decode the pending bytes in the encoding of a group, and add them and a text to it."""
        group.parts.append(self.code.decode(group.encoding, "replace"))
        self.code.clear()
        if not (group.is_skipped or group.is_hidden):
            group.parts.append(" " if group.is_in_table and text == "\n" else text)

    def apply(self, group: Group, word: str, number: str) -> None:
        """Apply a control word to the state of its group."""
        match word:
            case "f":
                self.font = number
                group.encoding = self.encoding_by_font.get(number, self.encoding)
            case "fcharset" if number in ENCODING_BY_CHARSET:
                self.encoding_by_font[self.font] = ENCODING_BY_CHARSET[number]
            case "ansicpg" if number in ("936", "54936"):
                self.encoding = group.encoding = "gb18030"
            case "ansicpg":
                with suppress(LookupError):
                    self.encoding = group.encoding = codecs.lookup(f"cp{number}").name
            case "uc":
                group.fallback_chars = min(int(number or 1), MAX_FALLBACK_CHARS)
            case "v" | "deleted":
                group.is_hidden = number != "0"
            case "plain":
                group.is_hidden, group.encoding = False, self.encoding
            case "pard" | "intbl":
                group.is_in_table = word == "intbl"

    def finish(self, inner: Group, outer: Group) -> None:
        """Use the text of a collected group when it ends."""
        if inner.is_skipped or inner.name not in COLLECTED_GROUPS:
            return
        text = "".join(inner.parts)
        if inner.name == "fldinst":
            outer.parts.append(eq_field_text(text))
        elif inner.name in ("listtext", "pntext"):  # the label of an item; of a bullet, a sign of a symbol font
            outer.parts.append(f"{text.strip()} " if any(map(str.isalnum, text)) else "")
        else:
            self.texts_by_group.setdefault(inner.name, []).append(combine_surrogates(text))


def read(data: bytes) -> DocumentContent:
    """Read an RTF file. Raises UnreadableError."""
    reader, builder = RtfReader(), DocumentBuilder()
    body = reader.read(data)
    for line in "\n".join((body, *reader.texts_by_group.get("footnote", ()))).split("\n"):
        cells = [" ".join(cell.split()) for cell in line.removesuffix("\v").removesuffix("\t").split("\t")]
        is_row = line.endswith("\v") and len(cells) > 1
        builder.add(
            Block(BlockKind.TABLE_ROW if is_row else BlockKind.PARAGRAPH, ("\t" if is_row else " ").join(cells))
        )
    builder.open_with_blocks()
    created = CREATION_TIME_RE.search(data[:50_000])
    title, author = (" ".join("".join(reader.texts_by_group.get(name, ())).split()) for name in ("title", "author"))
    date = to_iso_date(*(part.decode() for part in created.groups())) if created else ""
    return builder.build(FileProperties(title, author, date), f"{MAX_TOKENS:,} tokens read" if reader.is_cut else "")


def combine_surrogates(text: str) -> str:
    """Combine the UTF-16 units of a text to characters."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
