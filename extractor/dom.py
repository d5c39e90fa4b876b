"""Text to a DOM that the rest can walk: parsing that survives anything, and cleaning as a list of steps."""

import re
from collections.abc import Callable

from lxml import etree
from lxml.etree import _Element as Element

# The paper's list (WD-F3; `br` is passed over by all walks instead), and today's elements that hold no reading text.
DEAD_TAGS = (
    "script", "noscript", "style", "iframe", "title",
    "template", "svg", "canvas", "embed", "applet", "frameset", "noframes", "datalist", "video", "audio",
)  # fmt: skip
# Dead too, unless their end tag is missing and they have swallowed the page.
CONTROLS = ("select", "textarea", "button", "object")
PAGE_TAGS = ("p", "h1", "table", "article")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
DEEPEST = 400  # nesting kept from pages on which libxml2 gives up (its own limit is 2,048)
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
PROLOGUE = re.compile(r"\s*<\?xml[^>]{0,200}\?>")


def parse(text: str) -> Element | None:
    """The root element of a page, or None where there is no element at all.

    Never raises for any text. Very deep nesting loses its innermost elements, never their text.
    """
    prologue = PROLOGUE.match(text)
    data = NOT_XML.sub("", text[prologue.end() :] if prologue else text).encode("utf-8")
    if not data.strip():
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:  # only comments, only a doctype ...
        root = None
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        return parse_deep(data)
    return root


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


def drop_dead_elements(root: Element) -> None:
    """Take out what is never read: scripts, styles, frames; the title has been read before."""
    etree.strip_elements(root, *DEAD_TAGS, with_tail=False)


def drop_controls(root: Element) -> None:
    """Take out form controls; what follows them stays."""
    for control in list(root.iter(*CONTROLS)):
        parent = control.getparent()
        if parent is not None and next(control.iter(*PAGE_TAGS), None) is None:
            control.tag = "iframe"  # strip_elements knows how to keep what follows
    etree.strip_elements(root, "iframe", with_tail=False)


CLEANING: tuple[Callable[[Element], None], ...] = (drop_dead_elements, drop_controls)


def clean(root: Element) -> None:
    """Take all steps of CLEANING, in place."""
    for step in CLEANING:
        step(root)


def text_of(element: Element, longest: int = 100_000) -> str:
    """All text below an element with white space collapsed, up to about `longest` characters."""
    parts, size = [], 0
    for part in element.itertext():
        parts.append(str(part))
        size += len(part)
        if size > longest:
            break
    return " ".join("".join(parts)[:longest].split())
