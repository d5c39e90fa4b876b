"""The links of a page, with the words in and around them.

Read by lxml, whose parser runs outside the interpreter lock. What a page can cost is bounded: the part of it that is
read, the number of links taken, the text kept with each.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup, SoupStrainer
from charset_normalizer import from_bytes
from lxml import etree
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, resolve_encoding

from crawler.urls import canonical
from docstore.model import Link, Page, Reason

MOST_LINKS = 2000
LONGEST_ANCHOR = 200
LONGEST_CONTEXT = 300
_READ = 2_000_000  # bytes of a page that are read for links
_SAMPLE = 32_768  # bytes that the charset is guessed from
_SOURCES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_SINGLE_BYTE = frozenset(("cp1252", "iso8859-1", "latin-1", "ascii"))
_REFRESH_URL = re.compile(r"^\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_NO_PAGE = re.compile(r"(?:javascript|mailto|tel|sms|data|about|blob):", re.IGNORECASE)  # never meant as a page
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class PageLinks:
    """Links to canonical addresses, each address once, in page order; and the reasons of those that have none."""

    links: tuple[Link, ...] = ()
    refused: tuple[Reason, ...] = field(default=())


def links_of(page: Page) -> PageLinks:
    """The links of a page; none if it asks not to be followed. Any bytes will do."""
    if _forbids(" ".join(value for key, value in page.headers if key.lower() == "x-robots-tag")):
        return PageLinks()
    encoding = encoding_of(page.body[:_READ], page.content_type)
    root = _tree(page.body[:_READ].decode(encoding, "replace"))
    if root is None:
        return PageLinks()
    return _collected(root, page.final_url, encoding)


def encoding_of(body: bytes, content_type: str) -> str:
    """A Python codec that reads the page well enough for links: UTF-8 if it is that, else what its labels say, else
    a guess. Addresses are mostly ASCII; the extractor decides about the text with more care."""
    bom = read_bom(body)[0]
    if bom is not None:
        return bom
    labels = (http_content_type_encoding(content_type), html_body_declared_encoding(body))
    trusted = [label for label in labels if label and label not in _SINGLE_BYTE]
    for name in ("utf-8", *trusted):
        if _reads(body, name):
            return name
    best = from_bytes(body[:_SAMPLE]).best()
    return (resolve_encoding(best.encoding) if best else None) or "gb18030"


def _reads(body: bytes, encoding: str) -> bool:
    """Does the body decode without error, but for a character cut off at its end?"""
    try:
        body.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start >= len(body) - 4 and len(body) == _READ
    except LookupError:
        return False
    return True


def _tree(text: str) -> etree._Element | None:
    """The page's tree. libxml2 gives up below 2,048 levels; such a page is read again with only the tags of links.

    Beautiful Soup reads any depth, if slowly: here it is off the hot path, and sees only what a link is made of.
    """
    root, whole = _parsed(text)
    if whole:
        return root
    soup = BeautifulSoup(text, "lxml", parse_only=SoupStrainer([*_SOURCES, "base", "meta"]))
    return _parsed(str(soup))[0]


def _parsed(text: str) -> tuple[etree._Element | None, bool]:
    """The tree, and whether the text was read to its end. Nothing is fetched, entities are not expanded."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        # NULs end the text for libxml2.
        root = etree.fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    last = parser.error_log.last_error
    return root, last is None or last.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT


def _collected(root: etree._Element, page_url: str, encoding: str) -> PageLinks:
    base = page_url
    found: dict[str, Link] = {}
    refused: list[Reason] = []
    for element in root.iter("a", "area", "frame", "iframe", "base", "meta"):
        if element.tag == "base":
            base = _base(element, page_url) if base is page_url else base
            continue
        if element.tag == "meta" and _forbids_following(element):
            return PageLinks()
        address = _address(element)
        if address is None:
            continue
        url = canonical(address, base, encoding)
        if isinstance(url, Reason):
            refused.append(url)
        elif url not in found or (not found[url].anchor and element.tag == "a"):
            found[url] = Link(url, _anchor(element), _context(element))
        if len(found) + len(refused) >= MOST_LINKS:
            break
    return PageLinks(tuple(found.values()), tuple(refused))


def _base(element: etree._Element, page_url: str) -> str:
    url = canonical(str(element.get("href") or ""), page_url)
    return page_url if isinstance(url, Reason) else url


def _forbids_following(meta: etree._Element) -> bool:
    return str(meta.get("name") or "").strip().lower() == "robots" and _forbids(str(meta.get("content") or ""))


def _forbids(directives: str) -> bool:
    words = re.findall(r"[a-z]+", directives.lower())
    return "nofollow" in words or "none" in words


def _address(element: etree._Element) -> str | None:
    """The address that an element points at; None if at nothing or only within its own page."""
    if element.tag == "meta":
        refreshes = str(element.get("http-equiv") or "").strip().lower() == "refresh"
        match = _REFRESH_URL.match(str(element.get("content") or "")) if refreshes else None
        return match[1].strip() if match else None
    if "nofollow" in str(element.get("rel") or "").lower().split():
        return None
    address = str(element.get(_SOURCES.get(str(element.tag), "href")) or "").strip()
    return None if not address or address.startswith("#") or _NO_PAGE.match(address) else address


def _anchor(element: etree._Element) -> str:
    """The text of a link, or what stands for it."""
    text = _joined(element.itertext(), LONGEST_ANCHOR)
    if text:
        return text
    image = next(element.iter("img"), None)
    stands = element.get("title") or (image.get("alt") if image is not None else "")
    return _squeezed(str(stands or ""))[:LONGEST_ANCHOR]


def _context(element: etree._Element) -> str:
    """The words around a link: of its own line, or where it stands alone there, of the lines about it."""
    for place in _outward(element, steps=3):
        before = place.getprevious()
        parent = place.getparent()
        lead = before.tail if before is not None else parent.text if parent is not None else ""
        text = _squeezed(f"{(lead or '')[-LONGEST_CONTEXT:]} {(place.tail or '')[:LONGEST_CONTEXT]}")
        if text:
            return text[:LONGEST_CONTEXT]
    return ""


def _outward(element: etree._Element, steps: int) -> Iterator[etree._Element]:
    place: etree._Element | None = element
    for _ in range(steps):
        if place is None:
            return
        yield place
        place = place.getparent()


def _joined(texts: Iterator[object], longest: int) -> str:
    parts: list[str] = []
    size = 0
    for text in texts:
        part = str(text)[: longest * 2]
        parts.append(part)
        size += len(part.strip())
        if size >= longest or len(parts) >= 50:
            break
    return _squeezed(" ".join(parts))[:longest]


def _squeezed(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
