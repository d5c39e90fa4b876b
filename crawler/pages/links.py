"""The links of a page, with the words in and around them, and what else its head says to a crawler.

Read by lxml, whose parser runs outside the interpreter lock. What a page can cost is bounded: the part of it that is
read, the number of links taken, the text kept with each.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bs4 import BeautifulSoup, SoupStrainer
from lxml import etree

from crawler.pages.content import NO_CONTENT, Content, content_of, content_of_file
from crawler.pages.meta_refresh import refresh_of
from crawler.robots.directives import NOTHING_ASKED, Directives, header_directives, meta_directives
from crawler.urls.canonical import address_of, canonical
from docstore.formats import HTML
from docstore.model import Link, Page, Reason
from text.decoding.encoding import decode
from text.decoding.parser_limits import without_excess_attributes, without_excess_depth, without_excess_markup

MAX_LINKS = 10_000  # a manual's index, a blog's archive on one page
LONGEST_ANCHOR = 200
LONGEST_CONTEXT = 300
MAX_NAMED = 20  # feeds, sitemaps and pages of a series that one page may name
_READ = 5_000_000  # bytes of a page that are read for links: indexes of manuals are that long
_SOURCES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_TAGS = (*_SOURCES, "base", "meta", "link")
_SERIES = frozenset(
    ("next", "prev", "previous", "first", "last", "start", "contents", "toc", "chapter", "section", "up")
)
_FEED_TYPES = frozenset(
    ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json", "text/xml")
)
_ENDINGS = (b"\x00", b"</html>", b"</HTML>", b"</body>", b"</BODY>")
_NO_PAGE = ("javascript:", "mailto:", "tel:", "sms:", "data:", "about:", "blob:", "#")  # never meant as a page
_LINK_HEADER = re.compile(r"<([^>]*)>([^,<\"]*(?:\"[^\"]*\"[^,<\"]*)*)")
_REL = re.compile(r"rel\s*=\s*\"?([^\";]*)", re.IGNORECASE)


@dataclass(frozen=True)
class PageLinks:
    """What a page says to a crawler.

    `links` lead to canonical URLs, each URL once, in page order; `refused` are the reasons of those that
    have none. `fetch` and `languages` tell of some of these URLs how they are to be asked for (where that is not
    the canonical form), and the language that the link promises (`hreflang`). `canonical` is the URL that the
    page names as its own, or ""; `feeds` and `sitemaps` are the URLs of those that it names; `content`
    tells whether it says what another page says.
    """

    links: tuple[Link, ...] = ()
    refused: tuple[Reason, ...] = ()
    fetch: Mapping[str, str] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=dict)
    canonical: str = ""
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    directives: Directives = NOTHING_ASKED
    content: Content = NO_CONTENT


def links_of(page: Page, agent: str = "") -> PageLinks:
    """The links of a page; none if it asks that they be not followed, all of us or `agent` by name.

    Any bytes will do. Of a document the headers alone are read.
    """
    if page.format != HTML:
        reading = _Reading(page.final_url, "utf-8", agent)
        reading.headers(page)
        return replace(reading.result(), content=content_of_file(page.body))
    body = page.body[:_READ]
    encoding = encoding_of(body, page.content_type)
    reading = _Reading(page.final_url, encoding, agent)
    reading.headers(page)
    root = _tree(body, encoding)
    if root is not None:
        for base in root.iter("base"):  # it holds for what stands before it as well
            reading.take(base)
        for element in root.iter(*_TAGS):
            reading.take(element)
            if reading.count >= MAX_LINKS:
                break
        anchors = [link.anchor for link in reading.found.values()]
        return replace(reading.result(), content=content_of(root, page.url, anchors))
    return reading.result()


def encoding_of(body: bytes, content_type: str) -> str:
    """The Python codec that reads a page, as the extractor reads it; UTF-8 where the bytes are no text."""
    decoded = decode(body, content_type)
    return decoded.encoding if decoded else "utf-8"


def _tree(body: bytes, encoding: str) -> etree._Element | None:
    """The page's tree. libxml2 gives up below 2,048 levels; such a page is read again with only the tags of links.

    Beautiful Soup reads any depth, if slowly: here it is off the hot path, and sees only what a link is made of.
    """
    if encoding != "utf-8":
        body = body.decode(encoding, "replace").encode("utf-8", "replace")
    root, whole = _parsed(body)
    if whole:
        return root
    flat = without_excess_depth(body).decode("utf-8", "replace")
    soup = BeautifulSoup(flat, "lxml", parse_only=SoupStrainer(list(_TAGS)))
    return _parsed(str(soup).encode("utf-8", "replace"))[0]


def _parsed(body: bytes) -> tuple[etree._Element | None, bool]:
    """The tree, and whether the text was read to its end. Nothing is fetched, entities are not expanded."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    body = without_excess_markup(without_excess_attributes(body))
    for ending in _ENDINGS:  # for libxml2 nothing comes after them, for browsers and many pages there does
        body = body.replace(ending, b"")
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    last = parser.error_log.last_error
    return root, last is None or last.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT


@dataclass
class _Reading:
    """A page in the course of being read."""

    page_url: str
    encoding: str
    agent: str
    base: str = ""
    found: dict[str, Link] = field(default_factory=dict)
    refused: list[Reason] = field(default_factory=list)
    fetch: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    canonical: str = ""
    feeds: dict[str, None] = field(default_factory=dict)
    sitemaps: dict[str, None] = field(default_factory=dict)
    series: dict[str, None] = field(default_factory=dict)  # URLs that head or headers name as other pages of a series
    directives: Directives = NOTHING_ASKED

    @property
    def count(self) -> int:
        """Links so far, those refused among them."""
        return len(self.found) + len(self.refused)

    def headers(self, page: Page) -> None:
        """What the answer's headers say: X-Robots-Tag, and Link with rel=canonical."""
        tags = [value for key, value in page.headers if key.lower() == "x-robots-tag"]
        self.directives = header_directives(tags, self.agent)
        for key, value in page.headers:
            if key.lower() == "link":
                for address, parameters in _LINK_HEADER.findall(value):
                    rel = _REL.search(parameters)
                    self._names(rel[1] if rel else "", address)

    def take(self, element: etree._Element) -> None:
        """One element, in page order."""
        source = _SOURCES.get(str(element.tag))
        if source is not None:
            self._link(element, str(element.get(source) or ""))
        elif element.tag == "link":
            self._names(str(element.get("rel") or ""), str(element.get("href") or ""), str(element.get("type") or ""))
        elif element.tag == "meta":
            self._meta(element)
        elif not self.base and element.get("href"):
            url = canonical(str(element.get("href") or ""), self.page_url)
            self.base = self.page_url if isinstance(url, Reason) else url

    def result(self) -> PageLinks:
        """What was found; without the links, if they are not to be followed."""
        said = PageLinks(
            canonical=self.canonical,
            feeds=tuple(self.feeds),
            sitemaps=tuple(self.sitemaps),
            directives=self.directives,
        )
        if self.directives.nofollow:
            return said
        named = (Link(url) for url in self.series if url not in self.found)
        links, refused = (*self.found.values(), *named), tuple(self.refused)
        return replace(said, links=links, refused=refused, fetch=self.fetch, languages=self.languages)

    def _meta(self, element: etree._Element) -> None:
        name, content = element.get("name"), str(element.get("content") or "")
        if name:
            self.directives |= meta_directives(str(name), content, self.agent)
        elif str(element.get("http-equiv") or "").strip().lower() == "refresh":
            refresh = refresh_of(content)
            if refresh is not None and refresh.url:
                self._link(element, refresh.url)

    def _names(self, rel: str, address: str, kind: str = "") -> None:
        """A `link`: the page's own URL, a feed, a sitemap, or the next page of a series."""
        words = rel.lower().split()
        place = self._place_of(words, kind.strip().lower())
        if place is None and ("canonical" not in words or self.canonical):
            return
        both = address_of(address, self.base or self.page_url, self.encoding) if address.strip() else Reason.BAD_URL
        if isinstance(both, Reason):
            return
        if place is None:
            self.canonical = both.url
        elif len(place) < MAX_NAMED:
            place[both.url] = None

    def _place_of(self, words: Sequence[str], kind: str) -> dict[str, None] | None:
        """Where a `link` with these words of its rel belongs, if it names another file of the site."""
        if "alternate" in words:
            return self.feeds if kind in _FEED_TYPES else None
        if "sitemap" in words:
            return self.sitemaps
        return self.series if not _SERIES.isdisjoint(words) else None

    def _link(self, element: etree._Element, text: str) -> None:
        address = text.strip()
        if not address or address.startswith("#") or address[:11].lower().startswith(_NO_PAGE):
            return
        rel = element.get("rel")
        if rel and "nofollow" in str(rel).lower().split():
            return
        both = address_of(address, self.base or self.page_url, self.encoding)
        if isinstance(both, Reason):
            self.refused.append(both)
            return
        known = self.found.get(both.url)
        if known is None:
            self._add(element, both.url, both.fetch)
        elif not known.anchor:
            self.found[both.url] = replace(known, anchor=_anchor(element))

    def _add(self, element: etree._Element, url: str, fetch: str) -> None:
        self.found[url] = Link(url, _anchor(element), _context(element))
        if fetch != url:
            self.fetch[url] = fetch
        language = element.get("hreflang")
        if language:
            self.languages[url] = str(language)[:20]


def _anchor(element: etree._Element) -> str:
    """The text of a link, or what stands for it."""
    text = _squeezed(element.text or "") if not len(element) else _joined(element.itertext(), LONGEST_ANCHOR)
    if text:
        return text[:LONGEST_ANCHOR]
    image = next(element.iter("img"), None)
    stands = element.get("title") or (image.get("alt") if image is not None else "")
    return _squeezed(str(stands or ""))[:LONGEST_ANCHOR]


def _context(element: etree._Element) -> str:
    """The words around a link: of its own line, or where it stands alone there, of the lines about it."""
    place: etree._Element | None = element
    for _ in range(3):
        if place is None:
            return ""
        before = place.getprevious()
        parent = place.getparent()
        lead = before.tail if before is not None else parent.text if parent is not None else None
        tail = place.tail
        if lead or tail:
            text = _squeezed(f"{(lead or '')[-LONGEST_CONTEXT:]} {(tail or '')[:LONGEST_CONTEXT]}")
            if text:
                return text[:LONGEST_CONTEXT]
        place = parent
    return ""


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
    return " ".join(text.split())
