"""Text to a clean tree that the rest can read: scripts cut out, parsed whatever it is, dead elements removed."""

import re
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element as Element

# Cut from the text before it is parsed, with comments: half of a page is script today, and slow to parse.
CUT = ("script", "style", "svg", "noscript")
CUT_START = re.compile(rf"<(?:!--|({'|'.join(CUT)})(?=[\s/>]))", re.I)
CUT_END = {name: re.compile(rf"</{name}[\s/>]", re.I) for name in CUT}
CASES = (str.lower, str.upper, str.title)
LINKED_DATA = re.compile(r"""type\s*=\s*["']?application/ld\+json""", re.I)
LONGEST_TAG = 2_000  # characters of a start tag that are looked at
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
DEEPEST = 400  # nesting kept from pages on which libxml2 gives up (its own limit is 2,048)
NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
CONTROL = bytes((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)))
PROLOGUE = re.compile(r"\s*<\?xml[^>]{0,200}\?>")


@dataclass(frozen=True)
class Source:
    """A page's text without what is never read (see CUT); `json_ld` are its JSON-LD scripts as text."""

    text: str
    json_ld: tuple[str, ...] = ()


def cut_scripts(text: str) -> Source:
    """Take out comments, scripts, styles, drawings and what browsers do not show, from start to end tag.

    What has no end is left; behind a comment or script without one, nothing more is cut.
    """
    kept: list[str] = []
    json_ld: list[str] = []
    at = look = 0
    while (match := CUT_START.search(text, look)) is not None:
        name = (match[1] or "").lower()
        end = end_of_cut(text, match.end(), name)
        if end < 0 and name in ("", "script", "style"):
            break
        if end < 0:
            look = match.end()
            continue
        if name == "script" and LINKED_DATA.search(text, match.start(), match.end() + LONGEST_TAG):
            json_ld += linked_data(text[match.end() : end])
        kept.append(text[at : match.start()])
        at = look = text.find(">", end) + 1 or len(text)
    kept.append(text[at:])
    return Source("".join(kept), tuple(json_ld))


def end_of_cut(text: str, start: int, name: str) -> int:
    """Where the end tag of an element (or the `--` that ends a comment) stands, -1 for nowhere."""
    if not name:
        return text.find("-->", max(0, start - 2))  # `<!-->` is a whole comment
    end, found = len(text), -1
    for case in CASES:  # the pattern alone would look at every character of long scripts
        at = text.find(f"</{case(name)}", start, end)
        if at >= 0:
            end, found = at + len(name) + 3, at
    if found < 0 or CUT_END[name].match(text, found) is None:
        odd = CUT_END[name].search(text, start)
        return odd.start() if odd else -1
    return found


def linked_data(script: str) -> list[str]:
    """The content of a script (its start tag's rest still before it), if its type is JSON-LD."""
    tag, _, content = script.partition(">")
    return [content[:LONGEST_JSON]] if LINKED_DATA.search(tag[:LONGEST_TAG]) else []


def parse(text: str) -> Element | None:
    """The root element of a page, or None where there is no element at all.

    Never raises for any text. Very deep nesting loses its innermost elements, never their text.
    """
    prologue = PROLOGUE.match(text)
    text = text[prologue.end() :] if prologue else text
    data = encode(text).translate(None, CONTROL)
    if not data.strip():
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:  # only comments, only a doctype ...
        root = None
    error = parser.error_log.last_error
    if error is not None and error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        return parse_deep(data)
    return root


def encode(text: str) -> bytes:
    """UTF-8 without what XML cannot hold (control characters apart)."""
    if not text.isascii() and NOT_XML.search(text):
        text = NOT_XML.sub("", text)
    return text.encode("utf-8")


def parse_deep(data: bytes) -> Element | None:
    """Parse UTF-8 bytes that nest deeper than libxml2's tree may: the tags beyond DEEPEST become one level."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, target=_ShallowTree(DEEPEST))
    try:
        root: Element | None = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None
    return root


class _ShallowTree:
    """lxml parser target that builds a tree of bounded depth; what nests deeper is hung on the last level."""

    def __init__(self, deepest: int) -> None:
        self.builder = etree.TreeBuilder()
        self.deepest = deepest
        self.depth = 0
        self.dead = 0  # open elements whose text is never read

    def start(self, tag: str | bytes, attrib: dict[str | bytes, str | bytes]) -> None:
        self.depth += 1
        self.dead += tag in DEAD_TAGS
        if self.depth <= self.deepest:
            self.builder.start(tag, dict(attrib))

    def end(self, tag: str | bytes) -> None:
        if self.depth <= self.deepest:
            self.builder.end(tag)
        self.depth -= 1
        self.dead -= tag in DEAD_TAGS

    def data(self, data: str | bytes) -> None:
        if not self.dead:
            self.builder.data(data)

    def comment(self, text: str | bytes) -> None:
        """Comments are no text."""

    def close(self) -> Element | None:
        try:
            return self.builder.close()
        except (AssertionError, etree.XMLSyntaxError):  # no element was ever opened
            return None


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
