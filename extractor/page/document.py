"""A page as the decisions see it: what its head says, its cleaned tree, and its lines of text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lxml.etree import _Element as Element

from docstore.model import SiteKnowledge
from extractor.page import dom
from extractor.page.double_encoding import undone
from extractor.page.layout import Layout, size_of
from extractor.page.lines import read_lines
from extractor.page.streamed import Move, put_in_place
from text.decoding.encoding import decode, is_ascii_based

TAG = re.compile("<[^<>]{0,2000}>")


@dataclass(frozen=True)
class Document:
    """One parsed page.

    `title` is the text of <title>; `metas` maps a meta's name, property or itemprop (lower case) to its content and
    `links` the rel of a link element to its href, the first of a name winning; `json_ld` are the page's JSON-LD
    scripts as text; `root` is the cleaned tree (dom.clean) and `layout` its lines; `site` is what is known of its site.
    `whole`: nothing was left out of the layout. `made_by` is what the page says of the tools that made it, in its meta
    "generator" or in comments, in lower case. `scripts` is how many scripts it had, and `asks_for_scripts`: it speaks
    of JavaScript to browsers without. `raw` are the page's bytes, scripts and all.
    """

    url: str
    title: str
    metas: Mapping[str, str]
    links: Mapping[str, str]
    json_ld: tuple[str, ...]
    root: Element
    layout: Layout
    site: SiteKnowledge
    whole: bool = True
    made_by: str = ""
    scripts: int = 0
    asks_for_scripts: bool = False
    raw: bytes = b""

    def __getstate__(self) -> dict[str, object]:
        """All but the tree, which cannot be pickled, and the bytes: a document from another process has none."""
        return {**self.__dict__, "root": None, "raw": b""}


@dataclass(frozen=True)
class Source:
    """A page's text without scripts and the like (dom.cut_scripts); `json_ld` are its JSON-LD scripts, `makers` the
    comments in which tools name themselves, and `unscripted` the markup that it has for browsers without scripts.
    `scripts` is how many scripts it had; `asks_for_scripts`: it speaks of JavaScript to browsers without. `raw` is the
    whole page in its encoding, `moves` what its scripts put where.
    """

    text: str
    json_ld: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
    unscripted: str = ""
    scripts: int = 0
    asks_for_scripts: bool = False
    raw: bytes = b""
    moves: tuple[Move, ...] = ()


def source_of(html: bytes | str, content_type: str = "") -> Source | None:
    """The text of a page, or None where the bytes are no text. `content_type` is the HTTP header as sent."""
    if isinstance(html, str):
        raw = html.encode("utf-8", "surrogatepass")
        cut = dom.cut_scripts(raw)
        return read_source(raw, cut, cut.data.decode("utf-8", "surrogatepass"), "utf-8")
    if not is_ascii_based(html):  # nothing can be cut before it is decoded
        decoded = decode(html, content_type)
        return source_of(decoded.text) if decoded is not None else None
    cut = dom.cut_scripts(html)
    decoded = decode(cut.data, content_type)
    return read_source(html, cut, decoded.text, decoded.encoding) if decoded is not None else None


def read_source(raw: bytes, cut: dom.Cut, text: str, encoding: str) -> Source:
    """The page as text, with what was cut; what was encoded twice is undone."""
    scripts, makers, unscripted = (
        tuple(piece.decode(encoding, "replace") for piece in pieces)
        for pieces in (cut.json_ld, cut.makers, cut.unscripted)
    )
    if encoding == "utf-8":
        text, scripts = undone(text, scripts, cut.data)
    return Source(text, scripts, makers, "".join(unscripted), cut.scripts, cut.asks, raw, cut.moves)


def document_of(text: str, url: str, site: SiteKnowledge | None = None, whole: bool = True) -> Document | None:
    """Lay a decoded page out, or None where it has no element. `whole`: see `read_lines`."""
    source = source_of(text)
    return lay_out(source, url, site, whole) if source is not None else None


def lay_out(source: Source, url: str, site: SiteKnowledge | None = None, whole: bool = True) -> Document | None:
    """Parse a page and lay it out, or None where it has no element. `whole`: see `read_lines`."""
    root = dom.parse(source.text)
    if root is None:
        return None
    put_in_place(root, source.moves)
    dom.clean(root)
    layout, head = read_lines(dom.markup_of(root), whole)
    if source.unscripted and shown_size(layout) < size_of(TAG.sub("", source.unscripted)):
        return lay_out(without_scripts(source), url, site, whole)
    known, made_by = (
        site or SiteKnowledge(),
        " ".join((head.metas.get("generator", ""), *source.makers)).strip().lower(),
    )
    shown = (source.json_ld, root, layout, known, whole, made_by)
    of_scripts = (source.scripts, source.asks_for_scripts)
    return Document(url, head.title, head.metas, head.links, *shown, *of_scripts, source.raw)


def without_scripts(source: Source) -> Source:
    """The page as a browser without scripts shows it; nothing is read behind the end of its body."""
    end = source.text.lower().rfind("</body")
    end = end if end >= 0 else len(source.text)
    return replace(source, text=source.text[:end] + source.unscripted + source.text[end:], unscripted="")


def shown_size(layout: Layout) -> float:
    """How much text outside links the lines of a page hold, in Chinese characters."""
    return sum(max(0.0, line.size - line.link_size) for line in layout.lines)


def with_all_lines(document: Document) -> Document:
    """The same page with nothing left out of its layout."""
    if document.whole:
        return document
    return replace(document, layout=read_lines(dom.markup_of(document.root))[0], whole=True)
