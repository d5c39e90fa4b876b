"""Text to a clean tree that the rest can read: scripts cut out, parsed whatever it is, dead elements removed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element as Element

from semantics.parser_limits import without_excess_attributes, without_excess_depth

# Cut from the bytes before they are decoded and parsed: half of a page is script today, and slow to parse.
CUT_START = re.compile(b"<(?:!--|s(?:cript|tyle|vg)|noscript)")
HOLDS_ANYTHING = (b"<!--", b"<script", b"<style")  # markup in them is none
SPACES = (b" ", b"\t", b"\n", b"\r", b"\f", b"/", b">")  # what may stand behind the name of a tag
LINKED_DATA = re.compile(rb"""type\s*=\s*["']?application/ld\+json""")
LONGEST_TAG = 2_000  # bytes of a start tag that are looked at
LONGEST_JSON = 400_000
# The paper's list (WD-F3; `br` is passed over by all walks instead), and today's elements that hold no reading text.
DEAD_TAGS = (
    "script", "noscript", "style", "iframe", "template", "svg", "canvas", "embed", "applet", "frameset", "noframes",
    "datalist", "video", "audio", "math",
)  # fmt: skip
# Dead too, unless their end tag is missing and they have swallowed the page.
CONTROLS = ("select", "textarea", "button", "object")
PAGE_TAGS = ("p", "h1", "table", "article")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
SURROGATE = re.compile("[\ud800-\udfff]")
NO_CHARACTERS = ("\ufffe".encode(), "\uffff".encode())
CONTROL = bytes((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)))
PROLOGUE = re.compile(r"\s*<\?xml[^>]{0,200}\?>")


@dataclass(frozen=True)
class Cut:
    """A page without what is never read (CUT_START); `json_ld` are its JSON-LD scripts. All in the page's encoding."""

    data: bytes
    json_ld: tuple[bytes, ...] = ()


def cut_scripts(raw: bytes) -> Cut:
    """Take out comments, scripts, styles, drawings and what browsers do not show, from start to end tag.

    `raw` is in an encoding in which `<` is always `<`. What has no end is left; behind a comment or script without
    one, nothing more is cut.
    """
    low = raw.lower()
    kept: list[bytes] = []
    json_ld: list[bytes] = []
    at = 0
    for start, end, behind in cuts(low):
        if low.startswith(b"<script", start):
            json_ld += linked_data(raw, low, start, end)
        kept.append(raw[at:start])
        at = behind
    kept.append(raw[at:])
    return Cut(b"".join(kept), tuple(json_ld))


def cuts(low: bytes) -> Iterator[tuple[int, int, int]]:
    """What to cut from a page in lower case: where each piece begins, where its end tag does, and what follows."""
    look = 0
    endless: set[bytes] = set()
    while found := CUT_START.search(low, look):
        start, mark = found.start(), found[0]
        end, behind = end_of_cut(low, start, mark) if mark not in endless else (-1, 0)
        if end >= 0:
            yield start, end, behind
            look = behind
        elif behind < 0 and mark in HOLDS_ANYTHING:
            return
        else:
            look = start + 1
            if behind < 0:  # nor has any behind it
                endless.add(mark)


def end_of_cut(low: bytes, start: int, mark: bytes) -> tuple[int, int]:
    """Where the end tag of what begins at `start` stands, and what follows it; (-1, -1) where it has none, (-1, 0)
    where another element was meant (`<scripted>`).
    """
    if mark == b"<!--":
        end = low.find(b"-->", start + 2)  # `<!-->` is a whole comment
        return (end, end + 3) if end >= 0 else (-1, -1)
    behind = start + len(mark)
    if low[behind : behind + 1] not in SPACES:
        return -1, 0
    close = b"</" + mark[1:]
    end = low.find(close, behind)
    while end >= 0 and low[end + len(close) : end + len(close) + 1] not in SPACES:
        end = low.find(close, end + 1)
    if end < 0:
        return -1, -1
    return end, low.find(b">", end) + 1 or len(low)


def linked_data(raw: bytes, low: bytes, start: int, end: int) -> list[bytes]:
    """The content of a script, if its type is JSON-LD."""
    content = low.find(b">", start, end) + 1
    if not content or not LINKED_DATA.search(low, start, min(content, start + LONGEST_TAG)):
        return []
    return [raw[content:end][:LONGEST_JSON]]


def parse(text: str) -> Element | None:
    """The root element of a page, or None where there is no element at all.

    Never raises for any text. Very deep nesting loses its innermost elements, never their text.
    """
    prologue = PROLOGUE.match(text)
    text = text[prologue.end() :] if prologue else text
    data = without_excess_attributes(encode(text).translate(None, CONTROL))
    if not data.strip():
        return None
    root, whole = parsed(data)
    return root if whole else parsed(without_excess_depth(data))[0]


def parsed(data: bytes) -> tuple[Element | None, bool]:
    """The root element of UTF-8 bytes, and whether the parser got to their end."""
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:  # only comments, only a doctype ...
        root = None
    error = parser.error_log.last_error
    if error is not None and error.type == etree.ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError
    return root, error is None or error.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT


def encode(text: str) -> bytes:
    """UTF-8 without what XML cannot hold (control characters apart)."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        data = SURROGATE.sub("", text).encode("utf-8")
    for char in NO_CHARACTERS:
        data = data.replace(char, b"") if char in data else data
    return data


def clean(root: Element) -> None:
    """Take out, in place, what is never read: scripts, frames, pictures drawn in markup, form controls."""
    for control in list(root.iter(*CONTROLS)):
        parent = control.getparent()
        if parent is not None and next(control.iter(*PAGE_TAGS), None) is None:
            control.tag = "iframe"  # strip_elements knows how to keep what follows
    etree.strip_elements(root, *DEAD_TAGS, with_tail=False)


def markup_of(root: Element) -> str:
    """A tree as well-formed markup: every tag closed, `<` and `>` nowhere but around tags."""
    return str(etree.tostring(root, encoding="unicode", with_tail=False))


def text_of(element: Element, longest: int = 100_000) -> str:
    """All text below an element with white space collapsed, up to about `longest` characters."""
    parts, size = [], 0
    for part in element.itertext():
        parts.append(str(part))
        size += len(part)
        if size > longest:
            break
    return " ".join("".join(parts)[:longest].split())
