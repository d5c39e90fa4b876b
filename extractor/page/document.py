"""A page as the decisions see it: what its head says, its cleaned tree, and its lines of text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lxml.etree import _Element as Element

from docstore.model import SiteKnowledge
from extractor.page import dom
from extractor.page.double_encoding import undone
from extractor.page.layout import Layout
from extractor.page.lines import read_lines
from extractor.page.streamed import Move, put_in_place
from text.decoding.encoding import decode, is_ascii_based


@dataclass(frozen=True)
class Document:
    """One parsed page.

    `title` is the text of <title>; `metas` maps a meta's name, property or itemprop (lower case) to its content and
    `links` the rel of a link element to its href, the first of a name winning; `json_ld` are the page's JSON-LD
    scripts as text; `root` is the cleaned tree (dom.clean) and `layout` its lines; `site` is what is known of its
    site. `whole`: nothing was left out of the layout. `raw` are the page's bytes, scripts and all. `made_by` is
    what the page says of the tools that made it, in its meta "generator" or in comments, in lower case.
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
    raw: bytes = b""

    def __getstate__(self) -> dict[str, object]:
        """All but the tree, which cannot be pickled, and the bytes: a document from another process has none."""
        return {**self.__dict__, "root": None, "raw": b""}


@dataclass(frozen=True)
class Source:
    """A page's text without scripts and the like (dom.cut_scripts); `json_ld` are its JSON-LD scripts and `makers` the
    comments in which tools name themselves; `raw` is the whole page in its encoding, `moves` what its scripts put
    where.
    """

    text: str
    json_ld: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
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
    scripts, makers = (
        tuple(piece.decode(encoding, "replace") for piece in pieces) for pieces in (cut.json_ld, cut.makers)
    )
    if encoding == "utf-8":
        text, scripts = undone(text, scripts, cut.data)
    return Source(text, scripts, makers, raw, cut.moves)


def read_document(text: str, url: str, site: SiteKnowledge | None = None, whole: bool = True) -> Document | None:
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
    known, made_by = (
        site or SiteKnowledge(),
        " ".join((head.metas.get("generator", ""), *source.makers)).strip().lower(),
    )
    about = (head.title, head.metas, head.links, source.json_ld)
    return Document(url, *about, root, layout, known, whole, made_by, source.raw)


def with_all_lines(document: Document) -> Document:
    """The same page with nothing left out of its layout."""
    if document.whole:
        return document
    return replace(document, layout=read_lines(dom.markup_of(document.root))[0], whole=True)
