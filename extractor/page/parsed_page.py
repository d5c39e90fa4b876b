"""A parsed page, the input of all rules: head data, cleaned tree and lines of text; and its chosen body."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

from lxml.etree import _Element as Element

from domain.article import SiteTemplate
from extractor.page import dom
from extractor.page.layout import Layout, text_size
from extractor.page.layout_builder import build_layout
from extractor.page.layout_completion import complete_layout
from extractor.page.linked_text import mark_linked_text
from extractor.page.mojibake import MOJIBAKE_BYTES_RE, fix_double_encoding
from extractor.page.react_streaming import StreamMove, apply_stream_moves
from text.decoding.decode import decode_page as decode_bytes
from text.decoding.decode import is_ascii_based

TAG_RE = re.compile("<[^<>]{0,2000}>")


@dataclass(frozen=True)
class ParsedPage:
    """One parsed page.

    Attributes:
        title: Text of <title>.
        metas: Content of each meta by its name, property or itemprop (lower case); the first of a name wins.
        head_links: Href of each link element by its rel; the first of a rel wins.
        json_ld: Texts of the JSON-LD scripts.
        root: The cleaned tree (`dom.parse`, `dom.remove_unread_elements`).
        layout: The lines and spans of the tree.
        site_template: Learned data of the site.
        is_complete: True if the layout includes navigation, footers and other boilerplate.
        generator_text: Meta "generator" and comments that name the generator of the page, in lower case.
        script_count: Number of scripts of the page.
        asks_for_javascript: True if a <noscript> mentions JavaScript.
        raw_bytes: The page in its encoding, scripts included.
        read_share: Share of the page that was read, 0 to 1; below 1 for a page with too many elements.
    """

    url: str
    title: str
    metas: Mapping[str, str]
    head_links: Mapping[str, str]
    json_ld: tuple[str, ...]
    root: Element
    layout: Layout
    site_template: SiteTemplate
    is_complete: bool = True
    generator_text: str = ""
    script_count: int = 0
    asks_for_javascript: bool = False
    raw_bytes: bytes = b""
    read_share: float = 1.0

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the tree, which cannot be pickled, and without the bytes of the page."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"root": None, "raw_bytes": b""}

    @property
    def head_titles(self) -> tuple[str, ...]:
        """The titles in the head of the page that are not empty."""
        return tuple(filter(None, (self.title, self.metas.get("og:title"), self.metas.get("twitter:title"))))

    @cached_property
    def complete_page(self) -> "ParsedPage":
        """The page with a complete layout, boilerplate included."""
        layout = complete_layout(self.layout) or build_layout(dom.serialize(self.root))[0]
        mark_linked_text(layout)
        return replace(self, layout=layout, is_complete=True)


@dataclass(frozen=True)
class Body:
    """A chosen body.

    `span_index` is the element it was read from, `line_indices` its lines, `title_line` the line of the title (-1:
    none).
    `is_confident` is False if only elements with boilerplate names (navigation, comments ...) contained text.
    """

    span_index: int
    line_indices: tuple[int, ...]
    text: str
    title_line: int = -1
    is_confident: bool = True


@dataclass(frozen=True)
class PageSource:
    """The decoded text of a page without the parts that `dom.strip_scripts` removes.

    Attributes:
        text: The remaining markup.
        json_ld: Texts of the JSON-LD scripts.
        generator_comments: Comments that name the tool that generated the page.
        noscript_markup: Contents of long <noscript> elements.
        script_count: Number of scripts of the page.
        asks_for_javascript: True if a <noscript> mentions JavaScript.
        raw_bytes: The complete page in its encoding.
        stream_moves: Moves of late content by the page's scripts (react_streaming.py).
    """

    text: str
    json_ld: tuple[str, ...] = ()
    generator_comments: tuple[str, ...] = ()
    noscript_markup: str = ""
    script_count: int = 0
    asks_for_javascript: bool = False
    raw_bytes: bytes = b""
    stream_moves: tuple[StreamMove, ...] = ()


def decode_page(html: bytes | str, content_type: str = "") -> PageSource | None:
    """Decode a page and separate its scripts; returns None if the bytes cannot be decoded.

    Args:
        html: The page as bytes, or as text.
        content_type: The HTTP header Content-Type as received.
    """
    if isinstance(html, str):
        raw = html.encode("utf-8", "surrogatepass")
        stripped_page = dom.strip_scripts(raw)
        return build_source(raw, stripped_page, stripped_page.markup.decode("utf-8", "surrogatepass"), "utf-8")
    if not is_ascii_based(html):  # scripts can be removed only after decoding
        decoded_page = decode_bytes(html, content_type)
        return decode_page(decoded_page.text) if decoded_page is not None else None
    stripped_page = dom.strip_scripts(html)
    decoded_page = decode_bytes(stripped_page.markup, content_type)
    if decoded_page is None:
        return None
    return build_source(html, stripped_page, decoded_page.text, decoded_page.encoding)


def build_source(raw: bytes, stripped_page: dom.StrippedPage, text: str, encoding: str) -> PageSource:
    """Build the page source from the decoded text and the stripped parts; repairs double encoding of UTF-8 pages."""
    scripts, generator_comments, noscript_markup = (
        tuple(piece.decode(encoding, "replace") for piece in pieces)
        for pieces in (stripped_page.json_ld, stripped_page.generator_comments, stripped_page.noscript_markup)
    )
    if encoding == "utf-8" and MOJIBAKE_BYTES_RE.search(stripped_page.markup):
        text, scripts = fix_double_encoding(text, scripts)
    return PageSource(
        text,
        scripts,
        generator_comments,
        "".join(noscript_markup),
        stripped_page.script_count,
        stripped_page.asks_for_javascript,
        raw,
        stripped_page.stream_moves,
    )


def parse_text(
    text: str, url: str, site_template: SiteTemplate | None = None, complete: bool = True
) -> ParsedPage | None:
    """Parse and lay out a decoded page; returns None if it has no element. For `complete` see `build_layout`."""
    source = decode_page(text)
    return parse_page(source, url, site_template, complete) if source is not None else None


def parse_page(
    source: PageSource, url: str, site_template: SiteTemplate | None = None, complete: bool = True
) -> ParsedPage | None:
    """Parse and lay out a page; returns None if it has no element. For `complete` see `build_layout`.

    If the <noscript> elements contain more text than the page shows, they are inserted and the page is parsed again.
    """
    root, read_share = dom.parse_share(source.text)
    if root is None:
        return None
    if source.stream_moves:
        apply_stream_moves(root, source.stream_moves)
    dom.remove_unread_elements(root)
    layout, head = build_layout(dom.serialize(root), complete)
    if source.noscript_markup and visible_text_size(layout) < text_size(TAG_RE.sub("", source.noscript_markup)):
        source = replace(source, text=source.text + source.noscript_markup, noscript_markup="")
        return parse_page(source, url, site_template, complete)
    mark_linked_text(layout)
    known_site, generator_text = (
        site_template or SiteTemplate(),
        " ".join((head.metas.get("generator", ""), *source.generator_comments)).strip().lower(),
    )
    layout_fields = (source.json_ld, root, layout, known_site, complete, generator_text)
    script_fields = (source.script_count, source.asks_for_javascript, source.raw_bytes)
    return ParsedPage(url, head.title, head.metas, head.head_links, *layout_fields, *script_fields, read_share)


def visible_text_size(layout: Layout) -> float:
    """Return the size of the text outside links in all lines, in Chinese characters."""
    return sum(line.size - line.link_size for line in layout.lines if line.size > line.link_size)


def with_complete_layout(page: ParsedPage) -> ParsedPage:
    """Return the page with a complete layout, boilerplate included; the page itself if its layout is complete."""
    return page if page.is_complete else page.complete_page
