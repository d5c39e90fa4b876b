"""A page as the decisions see it: what its head says, its cleaned tree, and its lines of text."""

from collections.abc import Mapping
from dataclasses import dataclass

from lxml.etree import _Element as Element

from docstore.model import SiteKnowledge
from extractor import dom
from extractor.lines import Layout, read_lines


@dataclass(frozen=True)
class Document:
    """One parsed page.

    `title` is the text of <title>; `metas` maps a meta's name, property or itemprop (lower case) to its content and
    `links` the rel of a link element to its href, the first of a name winning; `json_ld` are the page's JSON-LD
    scripts as text; `root` is the cleaned tree (dom.clean) and `layout` its lines; `site` is what is known of its site.
    """

    url: str
    title: str
    metas: Mapping[str, str]
    links: Mapping[str, str]
    json_ld: tuple[str, ...]
    root: Element
    layout: Layout
    site: SiteKnowledge


def read_document(text: str, url: str, site: SiteKnowledge | None = None) -> Document | None:
    """Parse a page and lay it out, or None where it has no element."""
    source = dom.cut_scripts(text)
    root = dom.parse(source.text)
    if root is None:
        return None
    dom.clean(root)
    layout, head = read_lines(dom.markup_of(root))
    return Document(url, head.title, head.metas, head.links, source.json_ld, root, layout, site or SiteKnowledge())
