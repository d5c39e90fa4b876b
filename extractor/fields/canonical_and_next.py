"""Finds the URLs that a page declares: its canonical URL and the next page of its article. Never raises."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urljoin, urlsplit

from extractor.fields.json_ld import JsonLdArticle
from extractor.page.byline_zone import BylineZone
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import parse_attributes

MAX_URL_CHARS = 2_000
# Search range for a pager, before and after the end of the text.
MAX_PAGER_LINES_BEFORE_END = 10
MAX_PAGER_LINES_AFTER_END = 30
MAX_PAGER_TEXT_CHARS = 16  # of a link in a pager
NEXT_PAGE_LABELS = frozenset(
    (
        "下一页", "下一頁", "下页", "下頁", "后一页", "下一页>", "下一页>>", "下一页»", "[下一页]", "next page",
        "next page >", "next page »", "nächste seite", "page suivante", "página siguiente", "próxima página",
        "pagina successiva", "次のページ", "다음 페이지", "следующая страница",
    )
)  # fmt: skip
WEAK_NEXT_LABELS = frozenset(
    ("next", "next >", "next »", "next ›", ">", "»", "›", ">>", "→", "next →", "weiter", "suivant", "次へ")
)
PAGE_NUMBER_PARAMS = frozenset(("page", "pn", "pg", "pageno", "page_no", "paged", "pageindex", "seite"))
# Page number in a path: /page/2, /2, _2.html, -2.html
PAGE_NUMBER_PATH_RE = re.compile(r"(?P<mark>/page/|/p|/|[_-]p?)(?P<number>\d{1,3})(?P<end>/?|\.\w{3,5})$")
PRIVATE_HOST_RE = re.compile(r"localhost|example\.|\.local$|\.internal$|\.invalid$|^(?:dev|staging|preview)\.")


def absolute_url(base: str, href: str) -> str:
    """Return an absolute http(s) URL without fragment, or an empty string for any other value."""
    try:
        href = href.strip()[:MAX_URL_CHARS]
        absolute_href = href if href.startswith(("http://", "https://")) else urljoin(base, href)
        url = absolute_href.partition("#")[0]
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > MAX_URL_CHARS:
            return ""
    except ValueError:
        return ""
    return url.replace(" ", "%20") if url.isprintable() else ""


def find_canonical(page: ParsedPage, json_ld_article: JsonLdArticle) -> str:
    """Return the canonical URL that a page declares, or an empty string.

    The URL of a home page is not accepted for an article, nor is a private host.
    """
    candidates = (page.head_links.get("canonical", ""), page.metas.get("og:url", ""), json_ld_article.url)
    absolute_urls = (absolute_url(page.url, candidate) for candidate in candidates if candidate)
    return next((url for url in absolute_urls if url and may_be_canonical(url, page.url)), "")


def may_be_canonical(candidate: str, url: str) -> bool:
    """Return whether a URL may be the canonical URL of the page at `url`, which may be empty (unknown)."""
    host, path, query = split_url(candidate)
    if not host or is_private_host(host) or ("." not in host):
        return False
    _, page_path, page_query = split_url(url)
    is_home, is_page_home = not (path.strip("/") or query), not (page_path.strip("/") or page_query)
    return not is_home or (is_page_home and bool(url))


def split_url(url: str) -> tuple[str, str, str]:
    """Return host, path and query of a URL; empty strings if it is malformed."""
    try:
        parts = urlsplit(url[:MAX_URL_CHARS])
        return (parts.hostname or "", parts.path, parts.query)
    except ValueError:
        return ("", "", "")


def is_private_host(host: str) -> bool:
    """Return whether a host is not a public name: an IP address, or the name of a development machine."""
    try:
        ip_address(host)
    except ValueError:
        return PRIVATE_HOST_RE.search(host) is not None
    return True


def find_next_page_url(page: ParsedPage, zone: BylineZone, canonical: str) -> str:
    """Return the URL of the next page of the article, or an empty string if it is not certain."""
    base = page.url or canonical
    if not base:
        return ""
    current = parse_paged_url(base)
    link_rel_next = [("next page", page.head_links["next"])] if "next" in page.head_links else []
    links = [(text, absolute_url(base, href)) for text, href in (*link_rel_next, *iter_pager_links(page, zone))]
    pages = [(text, url, parse_paged_url(url)) for text, url in links if url]
    if current.base != current.full_url and not any(
        text.isdecimal() and candidate.base == current.base for text, _, candidate in pages
    ):
        # No pager: the number in the URL belongs to the article, not to a page of it.
        pages = [entry for entry in pages if entry[2].base == current.full_url]
    return next((url for text, url, candidate in pages if leads_to_next_page(current, candidate, text)), "")


def iter_pager_links(page: ParsedPage, zone: BylineZone) -> Iterator[tuple[str, str]]:
    """Yield text (lower case) and href of pager links around the end of the text."""
    lines = page.layout.lines
    for line in lines[
        max(zone.first_text_line, zone.end_line - MAX_PAGER_LINES_BEFORE_END) : zone.end_line
        + MAX_PAGER_LINES_AFTER_END
    ]:
        for start, end, attribute_text in line.links:
            text = "".join(line.text_pieces[start:end]).strip().lower()
            if (
                text
                and len(text) <= MAX_PAGER_TEXT_CHARS
                and (text in NEXT_PAGE_LABELS or text in WEAK_NEXT_LABELS or text.isdecimal())
            ):
                yield text, parse_attributes(attribute_text).get("href", "")


@dataclass(frozen=True, slots=True)
class PagedUrl:
    """A URL as that of one page of an article. a.test/n/1_2.html has the base a.test/n/1.html and the number 2.

    Attributes:
        full_url: Host, path and query without page number parameters.
        base: The part that all pages of the article share, if `number` is a page number.
        number: Page number; 0 if the URL has none.
        is_explicit_number: True if the number is in a parameter or after a separator, and not a complete path segment.
    """

    full_url: str
    base: str
    number: int
    is_explicit_number: bool


def parse_paged_url(url: str) -> PagedUrl:
    """Parse a URL that may contain a page number."""
    host, path, query = split_url(url)
    params = parse_qsl(query, keep_blank_values=True)
    numbers = [value for name, value in params if is_page_number_param(name, value)]
    other_params = "&".join(f"{name}={value}" for name, value in params if not is_page_number_param(name, value))
    full_url = f"{host}{path.rstrip('/')}?{other_params}"
    if numbers:
        return PagedUrl(full_url, full_url, int(numbers[0]), True)
    match = PAGE_NUMBER_PATH_RE.search(path)
    if match is None:
        return PagedUrl(full_url, full_url, 0, False)
    stem = f"{host}{path[: match.start()]}{match['end'].rstrip('/')}?{other_params}"
    return PagedUrl(full_url, stem, int(match["number"]), match["mark"] != "/")


def is_page_number_param(name: str, value: str) -> bool:
    """Return whether a query parameter is a page number."""
    return name.lower() in PAGE_NUMBER_PARAMS and value.isdecimal() and len(value) <= 3


def leads_to_next_page(current: PagedUrl, candidate: PagedUrl, text: str) -> bool:
    """Return whether a link with this text leads to the next page of the same article.

    A page without a number is the first. Its next page has the number 2, or 1 if the pages are counted from 0. Between
    two numbered pages a link "next" is not sufficient, because article 13 may follow article 12 in the same way.
    """
    if text.isdecimal() and int(text) != candidate.number and candidate.number != 1:
        return False
    is_number_in_query = current.number > 0 and current.base == current.full_url
    if candidate.base == current.full_url and candidate.number and not is_number_in_query:
        return candidate.number == 2 or (
            candidate.number == 1 and candidate.is_explicit_number and text in NEXT_PAGE_LABELS
        )
    is_labelled_next = text in NEXT_PAGE_LABELS or (text.isdecimal() and candidate.is_explicit_number)
    return (
        is_labelled_next
        and candidate.base == current.base
        and current.number > 0
        and candidate.number == current.number + 1
    )
