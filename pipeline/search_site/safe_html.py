"""A page as it was fetched, made harmless: its text, structure and inline styles, and nothing that acts or loads.

    bytes -> text -> tree -> without what acts -> only known elements and attributes -> HTML in UTF-8

What is served of it stands in a frame without scripts, under a policy that lets nothing be loaded
(`search_ui/pages/originals.py`). This is the other half: there is nothing in it that would ask for anything.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from lxml import etree
from lxml.etree import _Element as Element

from crawler.robots.directives import header_directives, meta_directives
from extractor.page.dom import PAGE_TAGS, parse
from text.decoding.encoding import decode

MAX_HTML = 3_000_000  # characters that are shown
MAX_PICTURE = 300_000  # characters of a picture that stands in the page itself
MAX_TITLE = 500  # characters of what a link is said to lead to
# Gone with what stands in them, which is no text of the page.
DROPPED = ("script", "template", "iframe", "noframes", "svg", "math", "datalist", "frameset")
CONTROLS = ("select", "textarea")  # gone too, unless their end tag is missing and they have swallowed the page
# Gone, and what stands in them stays: for the parser some of them go on where browsers see them end.
UNWRAPPED = (
    *("object", "embed", "applet", "frame", "canvas", "audio", "video", "source", "track", "link", "meta", "base"),
    *("input", "area", "map", "dialog", "portal", "param", "fencedframe", "noscript", "picture", "bgsound", "keygen"),
)
_KEPT = """
    html head body title style a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code
    col colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img
    ins kbd label legend li main mark menu nav ol p pre q rp rt ruby s samp section small span strike strong sub summary
    sup table tbody td tfoot th thead time tr tt u ul var wbr
"""
KEPT = frozenset(_KEPT.split())
RENAMED = {"form": "div", "fieldset": "div", "xmp": "pre", "listing": "pre", "plaintext": "pre", "dir": "ul"}
_ATTRIBUTES = """
    align alt bgcolor border cellpadding cellspacing class color colspan datetime dir face headers height id lang open
    rowspan scope size span start summary title type valign value width
"""
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
IMPORT = re.compile(r"@(?:import|namespace|charset)\b[^;{}]*;?", re.IGNORECASE)
LOADED = re.compile(r"\b(?:url|src|image|image-set|-webkit-image-set|cross-fade|expression|element)\s*\([^)]*\)?", re.I)


@dataclass(frozen=True)
class SafePage:
    """`html` is the harmless page; "" where nothing can be read, or where its author asks that no copy be shown
    (`refused`)."""

    html: str = ""
    refused: bool = False


def safe_page(body: bytes, content_type: str, url: str, robots: Sequence[str], agent: str) -> SafePage:
    """The page in `body`, which was fetched at `url` with these X-Robots-Tag headers, as it can be shown."""
    decoded = decode(body, content_type)
    root = parse(decoded.text) if decoded else None
    if root is None:
        return SafePage()
    if asks_no_copy(root, robots, agent):
        return SafePage(refused=True)
    make_safe(root, url)
    return SafePage("<!doctype html>\n" + etree.tostring(root, method="html", encoding="unicode"))


def asks_no_copy(root: Element, robots: Sequence[str], agent: str) -> bool:
    """Does the page ask that no copy of it be shown, all of us or `agent` by name?"""
    asked = header_directives(robots, agent)
    for meta in root.iter("meta"):
        if name := str(meta.get("name") or ""):
            asked |= meta_directives(name, str(meta.get("content") or ""), agent)
    return asked.noarchive


def asks_no_copy_of_file(robots: Sequence[str], agent: str) -> bool:
    """The same of a document, which has nothing but its headers to say so."""
    return header_directives(robots, agent).noarchive


def make_safe(root: Element, url: str) -> None:
    """Take out of a tree, in place, what acts, what loads, and what is not known to do neither."""
    url = base_of(root, url)
    for control in list(root.iter(*CONTROLS)):
        control.tag = DROPPED[0] if next(control.iter(*PAGE_TAGS), None) is None else UNWRAPPED[0]
    etree.strip_elements(root, *DROPPED, with_tail=False)
    etree.strip_tags(root, *UNWRAPPED)
    for element in list(root.iter(etree.Element)):
        element.tag = name = RENAMED.get(str(element.tag), str(element.tag) if element.tag in KEPT else "span")
        source, target = str(element.get("src") or ""), str(element.get("href") or "")
        for key in list(element.attrib):
            if key not in ATTRIBUTES and key != "style":
                del element.attrib[key]
        if style := element.get("style"):
            element.set("style", safe_css(str(style)))
        if name == "style":
            element.text = safe_css(element.text or "")
        elif name == "a" and target:
            inert_link(element, target, url)
        elif name == "img":
            safe_picture(element, source)
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    head.insert(0, etree.Element("meta", charset="utf-8"))


def base_of(root: Element, url: str) -> str:
    """What the links of a page are relative to."""
    stated = next((str(base.get("href")) for base in root.iter("base") if base.get("href")), "")
    try:
        return urljoin(url, stated.strip())
    except ValueError:
        return url


def safe_css(css: str) -> str:
    """Styles that load nothing. An escape could hide what does: it loses its backslash, and with it its meaning."""
    css = IMPORT.sub("", css.replace("\\", "").replace("<", ""))
    return LOADED.sub("none", css)


def inert_link(element: Element, target: str, url: str) -> None:
    """A link within the page works; any other says where it led to, and leads nowhere."""
    target = target.strip()
    if target.startswith("#"):
        element.set("href", target)
        return
    try:
        element.set("title", urljoin(url, target)[:MAX_TITLE])
    except ValueError:
        element.set("title", target[:MAX_TITLE])


def safe_picture(element: Element, source: str) -> None:
    """A picture that stands in the page itself; of any other, what stands for it in words."""
    if len(source) <= MAX_PICTURE and PICTURE.fullmatch(source):
        element.set("src", source)
        return
    words = str(element.get("alt") or "").strip()
    element.tag = "span"
    for key in ("width", "height", "alt", "style"):
        if key in element.attrib:
            del element.attrib[key]
    element.text = f"[{words}]" if words else None


def robots_headers(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The X-Robots-Tag headers of an answer."""
    return tuple(value for name, value in headers if name.lower() == "x-robots-tag")
