"""A page as the decisions see it: what its head says, its cleaned tree, and its lines of text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lxml.etree import _Element as Element

from docstore.model import SiteTemplate
from extractor.page import dom
from extractor.page.layout import Layout, text_size
from extractor.page.layout_builder import build_layout
from extractor.page.mojibake import fix_double_encoding
from extractor.page.react_streaming import StreamMove, apply_stream_moves
from text.decoding.decode import decode_page as decode
from text.decoding.decode import is_ascii_based

TAG_RE = re.compile("<[^<>]{0,2000}>")


@dataclass(frozen=True)
class ParsedPage:
    """One parsed page.

    `title` is the text of <title>; `metas` maps a meta's name, property or itemprop (lower case) to its content and
    `head_links` the rel of a link element to its href, the first of a name winning; `json_ld` are the page's JSON-LD
    scripts as text; `root` is the cleaned tree (dom.clean) and `layout` its lines; `site_template` is what is known of its site.
    `is_complete`: nothing was left out of the layout. `generator_text` is what the page says of the tools that made it, in its meta
    "generator" or in comments, in lower case. `script_count` is how many scripts it had, and `asks_for_javascript`: it speaks
    of JavaScript to browsers without. `raw_bytes` are the page's bytes, scripts and all.
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

    def __getstate__(self) -> dict[str, object]:
        """All but the tree, which cannot be pickled, and the bytes: a document from another process has none."""
        return {**self.__dict__, "root": None, "raw_bytes": b""}


@dataclass(frozen=True)
class PageSource:
    """A page's text without scripts and the like (dom.cut_scripts); `json_ld` are its JSON-LD scripts, `generator_comments` the
    comments in which tools name themselves, and `noscript_markup` the markup that it has for browsers without scripts.
    `script_count` is how many scripts it had; `asks_for_javascript`: it speaks of JavaScript to browsers without. `raw_bytes` is the
    whole page in its encoding, `stream_moves` what its scripts put where.
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
    """The text of a page, or None where the bytes are no text. `content_type` is the HTTP header as sent."""
    if isinstance(html, str):
        raw = html.encode("utf-8", "surrogatepass")
        stripped_page = dom.strip_scripts(raw)
        return build_source(raw, stripped_page, stripped_page.markup.decode("utf-8", "surrogatepass"), "utf-8")
    if not is_ascii_based(html):  # nothing can be cut before it is decoded
        decoded = decode(html, content_type)
        return decode_page(decoded.text) if decoded is not None else None
    stripped_page = dom.strip_scripts(html)
    decoded = decode(stripped_page.markup, content_type)
    return build_source(html, stripped_page, decoded.text, decoded.encoding) if decoded is not None else None


def build_source(raw: bytes, stripped_page: dom.StrippedPage, text: str, encoding: str) -> PageSource:
    """The page as text, with what was cut; what was encoded twice is undone."""
    scripts, generator_comments, noscript_markup = (
        tuple(piece.decode(encoding, "replace") for piece in pieces)
        for pieces in (stripped_page.json_ld, stripped_page.generator_comments, stripped_page.noscript_markup)
    )
    if encoding == "utf-8":
        text, scripts = fix_double_encoding(text, scripts, stripped_page.markup)
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
    """Lay a decoded page out, or None where it has no element. `complete`: see `build_layout`."""
    source = decode_page(text)
    return parse_page(source, url, site_template, complete) if source is not None else None


def parse_page(
    source: PageSource, url: str, site_template: SiteTemplate | None = None, complete: bool = True
) -> ParsedPage | None:
    """Parse a page and lay it out, or None where it has no element. `complete`: see `build_layout`."""
    root = dom.parse(source.text)
    if root is None:
        return None
    apply_stream_moves(root, source.stream_moves)
    dom.remove_unread_elements(root)
    layout, head = build_layout(dom.serialize(root), complete)
    if source.noscript_markup and visible_text_size(layout) < text_size(TAG_RE.sub("", source.noscript_markup)):
        return parse_page(with_noscript_content(source), url, site_template, complete)
    known_site, generator_text = (
        site_template or SiteTemplate(),
        " ".join((head.metas.get("generator", ""), *source.generator_comments)).strip().lower(),
    )
    layout_fields = (source.json_ld, root, layout, known_site, complete, generator_text)
    script_fields = (source.script_count, source.asks_for_javascript)
    return ParsedPage(url, head.title, head.metas, head.head_links, *layout_fields, *script_fields, source.raw_bytes)


def with_noscript_content(source: PageSource) -> PageSource:
    """The page as a browser without scripts shows it; nothing is read behind the end of its body."""
    end = source.text.lower().rfind("</body")
    end = end if end >= 0 else len(source.text)
    return replace(source, text=source.text[:end] + source.noscript_markup + source.text[end:], noscript_markup="")


def visible_text_size(layout: Layout) -> float:
    """How much text outside links the lines of a page hold, in Chinese characters."""
    return sum(max(0.0, line.size - line.link_size) for line in layout.lines)


def with_complete_layout(page: ParsedPage) -> ParsedPage:
    """The same page with nothing left out of its layout."""
    if page.is_complete:
        return page
    return replace(page, layout=build_layout(dom.serialize(page.root))[0], is_complete=True)
