"""Parse the links of a page with their text and context, and the declarations in its head.

lxml parses outside the interpreter lock. The cost of a page is bounded: bytes parsed, number of links, text per link.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lxml import etree

from crawler.dedup.content_fingerprint import (
    EMPTY_FINGERPRINT,
    ContentFingerprint,
    fingerprint_document,
    fingerprint_page,
)
from crawler.parsing.meta_refresh import parse_meta_refresh
from crawler.parsing.status_pages import find_status_outcome, has_login_form, is_bare_page
from crawler.robots.page_directives import NO_DIRECTIVES, Directives, parse_meta_robots, parse_x_robots_tag
from crawler.urls.canonical import canonicalize_url, parse_url_forms
from domain.file_formats import HTML_FORMAT
from domain.outcome import Outcome, Reason
from domain.page import Link, Page
from text.decoding.decode import decode_page, decode_strictly, is_ascii_based
from text.decoding.html_tree import parse_html

MAX_LINKS = 10_000  # enough for the index of a manual or a blog archive on one page
MAX_ANCHOR_CHARS = 200
MAX_CONTEXT_CHARS = 300
MAX_DECLARED_URLS = 20  # feeds, sitemaps and series pages per page
MAX_PARSED_BYTES = 5_000_000  # enough for the index of a manual
_URL_ATTRIBUTE_BY_TAG = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_TAGS = (*_URL_ATTRIBUTE_BY_TAG, "base", "meta", "link")
_SERIES_RELS = frozenset(
    ("next", "prev", "previous", "first", "last", "start", "contents", "toc", "chapter", "section", "up")
)
_FEED_TYPE = re.compile("rss|atom|rdf|feed")
_NON_PAGE_PREFIXES = ("javascript:", "mailto:", "tel:", "sms:", "data:", "about:", "blob:", "#")
_MAX_SHELL_LINKS = 3  # of a page whose script may lead to another page
_MAX_SCRIPT_CHARS = 100_000
_SCRIPT_LOCATION = re.compile(
    r"\blocation(?:\.href)?\s{0,9}(?:=|\.(?:replace|assign)\s{0,9}\()\s{0,9}[\"']([^\"'\s<>]{1,500})[\"'](?!\s{0,9}\+)"
)
_LINK_HEADER = re.compile(r"<([^<>]*+)>([^,<\"]*(?:\"[^\"]*\"[^,<\"]*)*)")
_REL = re.compile(r"\brel\s*=\s*\"?([^\";]*)", re.IGNORECASE)
_TYPE = re.compile(r"\btype\s*=\s*\"?([^\";]*)", re.IGNORECASE)


@dataclass(frozen=True)
class ParsedPage:
    """The links and declarations of a page.

    Attributes:
        links: links to canonical URLs, each URL once, in page order.
        rejected_reasons: reasons for links without a canonical URL.
        canonical_url: the page's own URL by rel=canonical, or "".
        feeds: URLs of declared feeds.
        sitemaps: URLs of declared sitemaps.
        directives: robots directives of the page.
        fingerprint: content fingerprint, to compare pages.
        is_bare: True if the page has little text outside links and no article markup.
        has_login_form: True for a bare page with a login form; see `status_pages.has_login_form`.
        reloads: True if the page asks the browser to load it again.
        status: what the page says about the request, if that is all it says.
    """

    links: tuple[Link, ...] = ()
    rejected_reasons: tuple[Reason, ...] = ()
    canonical_url: str = ""
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    directives: Directives = NO_DIRECTIVES
    fingerprint: ContentFingerprint = EMPTY_FINGERPRINT
    is_bare: bool = False
    has_login_form: bool = False
    reloads: bool = False
    status: Outcome | None = None


def parse_page(page: Page, agent: str = "") -> ParsedPage:
    """Parse the links and declarations of a page.

    A page with `nofollow`, for all crawlers or for the product token `agent`, has no links. Accepts any bytes. For a
    document only the headers are parsed.
    """
    if page.format != HTML_FORMAT:
        collector = _LinkCollector(page.final_url, "utf-8", agent)
        collector.read_headers(page)
        return replace(collector.result(), fingerprint=fingerprint_document(page.body))
    body = page.body[:MAX_PARSED_BYTES]
    encoding = detect_encoding(body, page.content_type)
    collector = _LinkCollector(page.final_url, encoding, agent)
    collector.read_headers(page)
    root, _ = parse_html(body if encoding == "utf-8" else body.decode(encoding, "replace").encode("utf-8", "replace"))
    if root is not None:
        for base in root.iter("base"):  # also applies to links before it
            collector.add_element(base)
        for element in root.iter(*_TAGS):
            collector.add_element(element)
            if collector.link_count >= MAX_LINKS:
                break
        anchors = [link.anchor for link in collector.links_by_url.values()]
        scripts = [
            str(next(root.iter("body"), root).get("onload") or ""),
            *(script.text or "" for script in root.iter("script")),
        ]
        fingerprint = fingerprint_page(root, page.url, anchors)  # removes scripts and links
        is_bare = is_bare_page(fingerprint, body)
        status = find_status_outcome(root, collector.link_count) if is_bare else None
        has_form = is_bare and has_login_form(root, collector.link_count)
        if is_bare and collector.link_count <= _MAX_SHELL_LINKS:
            for match in _SCRIPT_LOCATION.finditer("\n".join(scripts)[:_MAX_SCRIPT_CHARS]):
                collector.add_url(match[1].replace("\\/", "/"))
        parsed_page = replace(collector.result(), fingerprint=fingerprint, is_bare=is_bare, status=status)
        return replace(parsed_page, has_login_form=has_form)
    return collector.result()


def detect_encoding(body: bytes, content_type: str) -> str:
    """Return the Python codec of a page, as the extractor reads it. Returns UTF-8 if the bytes are not text."""
    if is_ascii_based(body) and decode_strictly(body, "utf-8"):
        return "utf-8"
    decoded_page = decode_page(body, content_type)
    return decoded_page.encoding if decoded_page else "utf-8"


@dataclass
class _LinkCollector:
    """Collects the links and declarations of one page."""

    page_url: str
    encoding: str
    product_token: str
    base_url: str = ""
    links_by_url: dict[str, Link] = field(default_factory=dict)
    rejected_reasons: list[Reason] = field(default_factory=list)
    canonical_url: str = ""
    feeds: dict[str, None] = field(default_factory=dict)
    sitemaps: dict[str, None] = field(default_factory=dict)
    series_urls: dict[str, None] = field(default_factory=dict)  # other pages of a series, from head or headers
    directives: Directives = NO_DIRECTIVES
    reloads: bool = False

    @property
    def link_count(self) -> int:
        """Number of links so far, rejected ones included."""
        return len(self.links_by_url) + len(self.rejected_reasons)

    def read_headers(self, page: Page) -> None:
        """Read the X-Robots-Tag and Link headers."""
        tags = [value for key, value in page.headers if key.lower() == "x-robots-tag"]
        self.directives = parse_x_robots_tag(tags, self.product_token)
        for key, value in page.headers:
            if key.lower() == "link":
                for href, parameters in _LINK_HEADER.findall(value):
                    rel, media_type = _REL.search(parameters), _TYPE.search(parameters)
                    is_version = "hreflang" in parameters.lower()
                    self._add_link_relation(
                        rel[1] if rel else "", href, media_type[1] if media_type else "", is_version
                    )

    def add_element(self, element: etree._Element) -> None:
        """Add one element, in page order."""
        tag = element.tag
        source = _URL_ATTRIBUTE_BY_TAG.get(str(tag))
        if source is not None:
            self._add_hyperlink(element, str(element.get(source) or ""))
        elif tag == "link":
            rel, href, media_type = (str(element.get(name) or "") for name in ("rel", "href", "type"))
            self._add_link_relation(rel, href, media_type, bool(element.get("hreflang") or element.get("media")))
        elif tag == "meta":
            self._add_meta(element)
        elif not self.base_url and element.get("href"):
            url = canonicalize_url(str(element.get("href") or ""), self.page_url)
            self.base_url = self.page_url if isinstance(url, Reason) else url

    def add_url(self, text: str) -> None:
        """Add a URL without an element."""
        url = canonicalize_url(text, self.base_url or self.page_url, self.encoding)
        if not isinstance(url, Reason) and len(self.series_urls) < MAX_DECLARED_URLS:
            self.series_urls[url] = None

    def result(self) -> ParsedPage:
        """Build the result. It has no links if the page has `nofollow`."""
        parsed_page = ParsedPage(
            canonical_url=self.canonical_url,
            feeds=tuple(self.feeds),
            sitemaps=tuple(self.sitemaps),
            directives=self.directives,
            reloads=self.reloads,
        )
        if self.directives.nofollow:
            return parsed_page
        series_links = (Link(url) for url in self.series_urls if url not in self.links_by_url)
        links, rejected_reasons = (*self.links_by_url.values(), *series_links), tuple(self.rejected_reasons)
        return replace(parsed_page, links=links, rejected_reasons=rejected_reasons)

    def _add_meta(self, element: etree._Element) -> None:
        name, content = element.get("name"), str(element.get("content") or "")
        if name:
            self.directives |= parse_meta_robots(str(name), content, self.product_token)
        elif str(element.get("http-equiv") or "").strip().lower() == "refresh":
            refresh = parse_meta_refresh(content)
            if refresh is not None and refresh.url:
                self._add_hyperlink(element, refresh.url)
            if refresh is not None:
                target = canonicalize_url(refresh.url or self.page_url, self.page_url)
                self.reloads |= target == canonicalize_url(self.page_url)

    def _add_link_relation(self, rel: str, href: str, media_type: str, is_version: bool) -> None:
        """Add a `link` relation: canonical URL, feed, sitemap, or page of a series.

        `is_version` says that the target is the page in another language or for another device.
        """
        rel_words = rel.lower().split()
        bucket = self._bucket_for_rel(rel_words, media_type.lower(), is_version)
        if bucket is None and ("canonical" not in rel_words or self.canonical_url):
            return
        url_forms = (
            parse_url_forms(href, self.base_url or self.page_url, self.encoding) if href.strip() else Reason.INVALID_URL
        )
        if isinstance(url_forms, Reason):
            return
        if bucket is None:
            self.canonical_url = url_forms.url
        elif len(bucket) < MAX_DECLARED_URLS:
            bucket[url_forms.url] = None

    def _bucket_for_rel(self, rel_words: Sequence[str], media_type: str, is_version: bool) -> dict[str, None] | None:
        """Return the collection for a `link` with these rel words, or None if it names no other file of the site.

        Many feeds have a wrong type or none: the content of the file decides.
        """
        if "feed" in rel_words:
            return self.feeds
        if "alternate" in rel_words:
            is_version |= "stylesheet" in rel_words or "oembed" in media_type
            return None if is_version and not _FEED_TYPE.search(media_type) else self.feeds
        if "sitemap" in rel_words:
            return self.sitemaps
        return self.series_urls if not _SERIES_RELS.isdisjoint(rel_words) else None

    def _add_hyperlink(self, element: etree._Element, text: str) -> None:
        href = text.strip()
        if not href or href[:11].lower().startswith(_NON_PAGE_PREFIXES):
            return
        rel = element.get("rel")
        if rel and "nofollow" in str(rel).lower().split():
            return
        url_forms = parse_url_forms(href, self.base_url or self.page_url, self.encoding)
        if isinstance(url_forms, Reason):
            self.rejected_reasons.append(url_forms)
            return
        existing = self.links_by_url.get(url_forms.url)
        if existing is None:
            self.links_by_url[url_forms.url] = Link(url_forms.url, _anchor_text(element), _context_text(element))
        elif not existing.anchor:
            self.links_by_url[url_forms.url] = existing._replace(anchor=_anchor_text(element))


def _anchor_text(element: etree._Element) -> str:
    """Return the text of a link, or its title or image text."""
    text = (
        _collapse_whitespace(element.text or "")
        if not len(element)
        else _join_texts(element.itertext(), MAX_ANCHOR_CHARS)
    )
    if text:
        return text[:MAX_ANCHOR_CHARS]
    image = next(element.iter("img"), None)
    substitute = element.get("title") or (image.get("alt") if image is not None else "")
    return _collapse_whitespace(str(substitute or ""))[:MAX_ANCHOR_CHARS]


def _context_text(element: etree._Element) -> str:
    """Return the text around a link on its line, or on an enclosing line if the link stands alone."""
    node: etree._Element | None = element
    for _ in range(3):
        if node is None:
            return ""
        before = node.getprevious()
        parent = node.getparent()
        leading_text = before.tail if before is not None else parent.text if parent is not None else None
        trailing_text = node.tail
        if leading_text or trailing_text:
            text = _collapse_whitespace(
                f"{(leading_text or '')[-MAX_CONTEXT_CHARS:]} {(trailing_text or '')[:MAX_CONTEXT_CHARS]}"
            )
            if text:
                return text[:MAX_CONTEXT_CHARS]
        node = parent
    return ""


def _join_texts(texts: Iterator[object], max_chars: int) -> str:
    parts: list[str] = []
    char_count = 0
    for text in texts:
        part = str(text)[: max_chars * 2]
        parts.append(part)
        char_count += len(part.strip())
        if char_count >= max_chars or len(parts) >= 50:
            break
    return _collapse_whitespace(" ".join(parts))[:max_chars]


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
