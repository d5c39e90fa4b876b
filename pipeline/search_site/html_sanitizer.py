"""Sanitizes a saved page: only text, structure and inline styles remain, nothing that runs or loads.

    bytes -> text -> tree -> without active content -> only allowed elements and attributes -> HTML in UTF-8

The search site serves the result in a frame without scripts, under a policy that blocks all loading
(`search_ui/pages/originals.py`). This module is the second safeguard: the HTML contains nothing that would load.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from lxml import etree
from lxml.etree import _Element as Element

from crawler.robots.page_directives import parse_meta_robots, parse_x_robots_tag
from extractor.page.dom import CONTENT_TAGS, parse
from text.decoding.decode import decode_page

MAX_HTML_LENGTH = 3_000_000  # characters of a page that is shown
MAX_DATA_URI_LENGTH = 300_000  # characters of an inline picture
MAX_TITLE_LENGTH = 500  # characters of the link target in the title attribute
# Removed with their content, which is not text of the page.
REMOVED_TAGS = ("script", "template", "iframe", "noframes", "svg", "math", "datalist", "frameset")
FORM_CONTROL_TAGS = ("select", "textarea")  # removed too, unless a missing end tag made them include the page
# Replaced by their content, because the parser extends some of them beyond their end in browsers.
UNWRAPPED_TAGS = (
    *("object", "embed", "applet", "frame", "canvas", "audio", "video", "source", "track", "link", "meta", "base"),
    *("input", "area", "map", "dialog", "portal", "param", "fencedframe", "noscript", "picture", "bgsound", "keygen"),
)
_ALLOWED_TAGS = """
    html head body title style a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code
    col colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img
    ins kbd label legend li main mark menu nav ol p pre q rp rt ruby s samp section small span strike strong sub summary
    sup table tbody td tfoot th thead time tr tt u ul var wbr
"""
ALLOWED_TAGS = frozenset(_ALLOWED_TAGS.split())
REPLACED_TAGS = {"form": "div", "fieldset": "div", "xmp": "pre", "listing": "pre", "plaintext": "pre", "dir": "ul"}
_ALLOWED_ATTRIBUTES = """
    align alt bgcolor border cellpadding cellspacing class color colspan datetime dir face headers height id lang open
    rowspan scope size span start summary title type valign value width
"""
ALLOWED_ATTRIBUTES = frozenset(_ALLOWED_ATTRIBUTES.split())
DATA_IMAGE_URI = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
CSS_AT_RULE = re.compile(r"@(?:import|namespace|charset)\b[^;{}]*;?", re.IGNORECASE)
CSS_LOADING_FUNCTION = re.compile(
    r"\b(?:url|src|image|image-set|-webkit-image-set|cross-fade|expression|element)\s*\([^)]*\)?", re.I
)


@dataclass(frozen=True)
class SanitizedPage:
    """Result of `sanitize_page`.

    `html` is the safe page; "" if the page cannot be parsed, or if it forbids saved copies (`is_noarchive`).
    """

    html: str = ""
    is_noarchive: bool = False


def sanitize_page(body: bytes, content_type: str, url: str, robots: Sequence[str], robots_agent: str) -> SanitizedPage:
    """Sanitize the page `body` that was fetched from `url`. `robots` contains its X-Robots-Tag headers."""
    decoded_page = decode_page(body, content_type)
    root = parse(decoded_page.text) if decoded_page else None
    if root is None:
        return SanitizedPage()
    if is_noarchive_page(root, robots, robots_agent):
        return SanitizedPage(is_noarchive=True)
    sanitize_tree(root, url)
    return SanitizedPage("<!doctype html>\n" + etree.tostring(root, method="html", encoding="unicode"))


def is_noarchive_page(root: Element, robots: Sequence[str], robots_agent: str) -> bool:
    """True if the page forbids saved copies, for all robots or for `robots_agent`."""
    directives = parse_x_robots_tag(robots, robots_agent)
    for meta in root.iter("meta"):
        if name := str(meta.get("name") or ""):
            directives |= parse_meta_robots(name, str(meta.get("content") or ""), robots_agent)
    return directives.noarchive


def sanitize_tree(root: Element, url: str) -> None:
    """Remove active, loading and unknown content from a tree, in place."""
    url = base_url(root, url)
    for control in list(root.iter(*FORM_CONTROL_TAGS)):
        control.tag = REMOVED_TAGS[0] if next(control.iter(*CONTENT_TAGS), None) is None else UNWRAPPED_TAGS[0]
    etree.strip_elements(root, *REMOVED_TAGS, with_tail=False)
    etree.strip_tags(root, *UNWRAPPED_TAGS)
    for element in list(root.iter(etree.Element)):
        element.tag = name = REPLACED_TAGS.get(
            str(element.tag), str(element.tag) if element.tag in ALLOWED_TAGS else "span"
        )
        source, target = str(element.get("src") or ""), str(element.get("href") or "")
        for key in list(element.attrib):
            if key not in ALLOWED_ATTRIBUTES and key != "style":
                del element.attrib[key]
        if style := element.get("style"):
            element.set("style", sanitize_css(str(style)))
        if name == "style":
            element.text = sanitize_css(element.text or "")
        elif name == "a" and target:
            disable_link(element, target, url)
        elif name == "img":
            sanitize_image(element, source)
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    head.insert(0, etree.Element("meta", charset="utf-8"))


def base_url(root: Element, url: str) -> str:
    """Return the base URL of the links of a page."""
    base_href = next((str(base.get("href")) for base in root.iter("base") if base.get("href")), "")
    try:
        return urljoin(url, base_href.strip())
    except ValueError:
        return url


def sanitize_css(css: str) -> str:
    """Remove everything that loads from CSS. Backslashes are removed, since an escape could hide a function name."""
    css = CSS_AT_RULE.sub("", css.replace("\\", "").replace("<", ""))
    return CSS_LOADING_FUNCTION.sub("none", css)


def disable_link(element: Element, target: str, url: str) -> None:
    """Leave links within the page; for any other link show the target as title and remove the link."""
    target = target.strip()
    if target.startswith("#"):
        element.set("href", target)
        return
    try:
        element.set("title", urljoin(url, target)[:MAX_TITLE_LENGTH])
    except ValueError:
        element.set("title", target[:MAX_TITLE_LENGTH])


def sanitize_image(element: Element, source: str) -> None:
    """Leave an inline picture; replace any other picture by its alternative text."""
    if len(source) <= MAX_DATA_URI_LENGTH and DATA_IMAGE_URI.fullmatch(source):
        element.set("src", source)
        return
    alt_text = str(element.get("alt") or "").strip()
    element.tag = "span"
    for key in ("width", "height", "alt", "style"):
        if key in element.attrib:
            del element.attrib[key]
    element.text = f"[{alt_text}]" if alt_text else None


def x_robots_tags(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the X-Robots-Tag headers of a response."""
    return tuple(value for name, value in headers if name.lower() == "x-robots-tag")
