"""The URLs a page names: its own (canonical) and that of its article's next page. No input makes these raise."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urljoin, urlsplit

from extractor.fields.linked_data import LinkedArticle
from extractor.page.byline_zone import BylineZone
from extractor.page.document import Document
from extractor.page.markup_hints import attributes_of

LONGEST_URL = 2_000
ABOVE_END, BELOW_END = 10, 30  # lines before and behind the end of the text in which a pager stands
LONGEST_TEXT = 16  # of a link in a pager
NEXT_PAGE = frozenset(
    (
        "下一页", "下一頁", "下页", "下頁", "后一页", "下一页>", "下一页>>", "下一页»", "[下一页]", "next page",
        "next page >", "next page »", "nächste seite", "page suivante", "página siguiente", "próxima página",
        "pagina successiva", "次のページ", "다음 페이지", "следующая страница",
    )
)  # fmt: skip
NEXT = frozenset(
    ("next", "next >", "next »", "next ›", ">", "»", "›", ">>", "→", "next →", "weiter", "suivant", "次へ")
)
PAGE_PARAMETERS = frozenset(("page", "pn", "pg", "pageno", "page_no", "paged", "pageindex", "seite"))
# The number of a page in a path: /page/2, /2, _2.html, -2.html
PAGE_IN_PATH = re.compile(r"(?P<mark>/page/|/p|/|[_-]p?)(?P<number>\d{1,3})(?P<end>/?|\.\w{3,5})$")
NO_HOST = re.compile(r"localhost|example\.|\.local$|\.internal$|\.invalid$|^(?:dev|staging|preview)\.")


def absolute(base: str, address: str) -> str:
    """An http(s) URL made whole, without fragment; "" for anything else."""
    try:
        address = address.strip()[:LONGEST_URL]
        whole = address if address.startswith(("http://", "https://")) else urljoin(base, address)
        url = whole.partition("#")[0]
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > LONGEST_URL:
            return ""
    except ValueError:
        return ""
    return url.replace(" ", "%20") if url.isprintable() else ""


def find_canonical(document: Document, linked: LinkedArticle) -> str:
    """The URL that a page names as its own, or "": never a home page for an article, nor an inside host."""
    named = (document.links.get("canonical", ""), document.metas.get("og:url", ""), linked.url)
    whole = (absolute(document.url, address) for address in named if address)
    return next((url for url in whole if url and is_own(url, document.url)), "")


def is_own(named: str, url: str) -> bool:
    """A URL may be that of the page at `url` (which may be unknown)."""
    host, path, query = parts_of(named)
    if not host or is_inside(host) or ("." not in host):
        return False
    _, asked_path, asked_query = parts_of(url)
    is_home, asked_home = not (path.strip("/") or query), not (asked_path.strip("/") or asked_query)
    return not is_home or (asked_home and bool(url))


def parts_of(url: str) -> tuple[str, str, str]:
    """Host, path and query; empty where the URL is none."""
    try:
        parts = urlsplit(url[:LONGEST_URL])
        return (parts.hostname or "", parts.path, parts.query)
    except ValueError:
        return ("", "", "")


def is_inside(host: str) -> bool:
    """A host that no reader can reach: a URL as a number, or a name of a developer's machine."""
    try:
        ip_address(host)
    except ValueError:
        return NO_HOST.search(host) is not None
    return True


def find_next(document: Document, frame: BylineZone, canonical: str) -> str:
    """The URL of the page on which the article goes on, or "" where that is not sure."""
    base = document.url or canonical
    if not base:
        return ""
    here = page_address(base)
    linked = [("next page", document.links["next"])] if "next" in document.links else []
    links = [(text, absolute(base, address)) for text, address in (*linked, *pager_links(document, frame))]
    pages = [(text, url, page_address(url)) for text, url in links if url]
    if here.stem != here.whole and not any(text.isdecimal() and page.stem == here.stem for text, _, page in pages):
        pages = [one for one in pages if one[2].stem == here.whole]  # no pager: its number is its own
    return next((url for text, url, page in pages if leads_on(here, page, text)), "")


def pager_links(document: Document, frame: BylineZone) -> Iterator[tuple[str, str]]:
    """Text and URL of the short links around the end of the text."""
    lines = document.layout.lines
    for line in lines[max(frame.first, frame.end - ABOVE_END) : frame.end + BELOW_END]:
        for start, end, attributes in line.anchors:
            text = "".join(line.parts[start:end]).strip().lower()
            if text and len(text) <= LONGEST_TEXT and (text in NEXT_PAGE or text in NEXT or text.isdecimal()):
                yield text, attributes_of(attributes).get("href", "")


@dataclass(frozen=True, slots=True)
class PageUrl:
    """A URL as that of a page of an article: `whole` is all of it, `stem` what the pages share if `number` counts
    them. `counted` says that the number stands in a parameter or behind a mark, and is not the last part of the path.

    a.test/n/1_2.html has the stem a.test/n/1.html and the number 2, a.test/n/1.html has that whole.
    """

    whole: str
    stem: str
    number: int
    counted: bool


def page_address(url: str) -> PageUrl:
    """Read a URL; number 0 where it has none that may count pages."""
    host, path, query = parts_of(url)
    fields = parse_qsl(query, keep_blank_values=True)
    numbers = [value for name, value in fields if is_page(name, value)]
    rest = "&".join(f"{name}={value}" for name, value in fields if not is_page(name, value))
    whole = f"{host}{path.rstrip('/')}?{rest}"
    if numbers:
        return PageUrl(whole, whole, int(numbers[0]), True)
    match = PAGE_IN_PATH.search(path)
    if match is None:
        return PageUrl(whole, whole, 0, False)
    stem = f"{host}{path[: match.start()]}{match['end'].rstrip('/')}?{rest}"
    return PageUrl(whole, stem, int(match["number"]), match["mark"] != "/")


def is_page(name: str, value: str) -> bool:
    """A parameter that counts pages."""
    return name.lower() in PAGE_PARAMETERS and value.isdecimal() and len(value) <= 3


def leads_on(here: PageUrl, there: PageUrl, text: str) -> bool:
    """A link leads to the next page of the same article.

    A page without a number is the first; the next may be _2, or _1 where files are counted from nothing. Between two
    numbered pages a bare "next" is not enough: article 13 follows article 12 so.
    """
    if text.isdecimal() and int(text) != there.number and there.number != 1:
        return False
    in_parameter = here.number > 0 and here.stem == here.whole
    if there.stem == here.whole and there.number and not in_parameter:
        return there.number == 2 or (there.number == 1 and there.counted and text in NEXT_PAGE)
    said = text in NEXT_PAGE or (text.isdecimal() and there.counted)
    return said and there.stem == here.stem and here.number > 0 and there.number == here.number + 1
