"""The publication date: WD-A4 of Wang Du 2019 (METHODS 1.6) from the URL, else what the page says of itself.

    url    http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml   -> 2016-05-09, source "url"
    page   JSON-LD, meta, <time>, then the text nearest to title and body -> source "page"

All patterns are linear and all input is capped, so no text makes this slow.
"""

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lxml.etree import _Element as Element

from extractor.document import Document
from extractor.dom import text_of
from extractor.lines import Layout

LONGEST_URL = 2_000
LONGEST_TEXT = 400  # characters of one line or attribute in which a date is looked for
LONGEST_META_LINE = 40.0  # of a line with date, source and author, in Chinese characters
NEAREST = 60  # lines of text around the body's start that are looked at
YEAR = r"(?P<y>(?:199|20\d)\d)"
MONTH = r"(?P<m>1[0-2]|0?[1-9])"
MONTH2 = r"(?P<m>1[0-2]|0[1-9])"
DAY = r"(?P<d>3[01]|[12]\d|0?[1-9])"
DAY2 = r"(?P<d>3[01]|[12]\d|0[1-9])"
NOT_CUT = r"(?<!\d)", r"(?!\d)"  # never out of a longer run of digits
# WD-A4, in order of trust; the last knows the month only.
URL_PATTERNS = tuple(
    re.compile(NOT_CUT[0] + pattern + NOT_CUT[1])
    for pattern in (
        rf"{YEAR}/{MONTH}/(?P<d>3[01]|[12]\d|0[1-9]|[1-9](?=/))",  # 2016/05/1.html is number 1 of May
        rf"{YEAR}[-_]{MONTH}[-_/]{DAY}",
        rf"{YEAR}/{MONTH2}{DAY2}",
        rf"{YEAR}{MONTH2}/?{DAY2}",
    )
)
URL_MONTHS = tuple(
    re.compile(NOT_CUT[0] + pattern + NOT_CUT[1])
    for pattern in (rf"{YEAR}/{MONTH}(?=/|$)", rf"{YEAR}[_-]{MONTH2}(?=/|$)", rf"(?<=/){YEAR}{MONTH2}(?=/)")
)
MONTH_NAMES = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar janvier enero janeiro gennaio",
            "feb february februar février febrero fevereiro febbraio",
            "mar march märz mars marzo março", "apr april avril abril aprile", "may mai mayo maio maggio",
            "jun june juni juin junio junho giugno", "jul july juli juillet julio julho luglio",
            "aug august août agosto", "sep sept september septembre septiembre setembro settembre",
            "oct october oktober octobre octubre outubro ottobre okt", "nov november novembre noviembre novembro",
            "dec december dezember décembre diciembre dezembro dicembre dez",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
NAME = "(?P<n>" + "|".join(sorted(MONTH_NAMES, key=len, reverse=True)) + ")"
TEXT_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?<!\d){YEAR}\s?[-/.年]\s?{MONTH}\s?[-/.月]\s?{DAY}(?!\d)",
        rf"(?<!\d){DAY}(?:st|nd|rd|th|\.)?[\s-](?:de )?{NAME}\.?,?[\s-](?:de )?{YEAR}(?!\d)",
        rf"\b{NAME}\.?\s{DAY}(?:st|nd|rd|th)?,?\s{YEAR}(?!\d)",
        rf"(?<!\d){DAY}\.\s?{MONTH}\.\s?{YEAR}(?!\d)",
        rf"(?<!\d){YEAR}{MONTH2}{DAY2}(?!\d)",
        rf"(?<!\d){DAY2}/{MONTH2}/{YEAR}(?!\d)",
    )
)
METAS = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished", "pubdate",
    "publishdate", "publish_date", "publish-date", "publication_date", "date.published", "dc.date.issued",
    "dcterms.created", "dc.date.created", "dc.date", "dcterms.date", "sailthru.date", "parsely-pub-date",
    "published_time_telegram", "weibo:article:create_at", "weibo: article:create_at", "apub:time",
    "og:release_date", "article:published", "article_date_original", "cxenseparse:recs:publishtime",
    "published-date", "publishtime", "datecreated", "originalpublicationdate", "date", "article.published",
    "timestamp", "og:time", "published_on", "uploaddate", "w-published-date",
)  # fmt: skip
LAST_METAS = ("article:modified_time", "dateupdate", "datemodified", "og:updated_time", "last-modified", "lastmod")
JSON_PUBLISHED = re.compile(r'"(?:datePublished|pubDate|publishDate)"\s{0,9}:\s{0,9}"([^"]{4,40})"')
JSON_CREATED = re.compile(r'"(?:dateCreated|uploadDate)"\s{0,9}:\s{0,9}"([^"]{4,40})"')
TIME_CLASS = re.compile(
    r"date|time|publi|pubt|post-?meta|byline|riqi|shijian|fabu|entry-meta|article-?info|artinfo", re.I
)
UPDATED = re.compile(r"updat|modif|更新|修改", re.I)


@dataclass(frozen=True)
class Published:
    """`day` is `YYYY-MM-DD`, `YYYY-MM` or ""; `source` says where it was read: `url`, `page` or ""."""

    day: str = ""
    source: str = ""


def find_date(document: Document, layout: Layout, body: Element | None, latest: str = "2099-12-31") -> Published:
    """The publication date of a page. No date after `latest` (`YYYY-MM-DD`) is believed.

    A day in the URL is the answer. A month in the URL is made exact by a date on the page that lies in it.
    """
    found = date_in_url(document.url)
    found = found if found <= latest else ""
    if len(found) == 10:
        return Published(found, "url")
    for day in dates_on_page(document, layout, body):
        if day <= latest and (not found or day.startswith(found)):
            return Published(day, "page")
    return Published(found, "url" if found else "")


def date_in_url(url: str) -> str:
    """WD-A4: the year, month and (if there) day in a URL, as `YYYY-MM-DD` or `YYYY-MM`; "" where there is none."""
    path = url[:LONGEST_URL].split("//", 1)[-1]
    for pattern in URL_PATTERNS:
        for match in pattern.finditer(path):
            day = as_day(match)
            if day:
                return day
    months = (pattern.search(path) for pattern in URL_MONTHS)
    return next((f"{match['y']}-{int(match['m']):02d}" for match in months if match), "")


def date_in_text(text: str) -> str:
    """The first date in the first LONGEST_TEXT characters of a text, or ""."""
    text = " ".join(text[:LONGEST_TEXT].split())
    best, place = "", len(text)
    for pattern in TEXT_PATTERNS:
        for match in pattern.finditer(text):
            day = as_day(match)
            if day and match.start() < place:
                best, place = day, match.start()
                break
    return best


def as_day(match: re.Match[str]) -> str:
    """A match as `YYYY-MM-DD`, or "" where the calendar has no such day."""
    parts = match.groupdict()
    month = MONTH_NAMES[parts["n"].lower()] if parts.get("n") else int(parts["m"])
    try:
        return datetime.date(int(parts["y"]), month, int(parts["d"])).isoformat()
    except ValueError:
        return ""


def dates_on_page(document: Document, layout: Layout, body: Element | None) -> Iterator[str]:
    """Dates on the page, in order of trust."""
    sources = (
        dates_in_json(document.json_ld, JSON_PUBLISHED),
        stated(document.metas, METAS),
        times_of(document.root),
        dated_elements(document.root),
        text_near(layout, body),
        dates_in_json(document.json_ld, JSON_CREATED),
        stated(document.metas, LAST_METAS),
    )
    for texts in sources:
        for text in texts:
            day = date_in_text(text)
            if day:
                yield day


def stated(metas: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """What the metas of these names say."""
    return (metas[name] for name in names if name in metas)


def dates_in_json(scripts: Sequence[str], pattern: re.Pattern[str]) -> Iterator[str]:
    """Values of a date field in JSON-LD. Read by pattern: one broken comma must not hide the date."""
    for script in scripts:
        yield from pattern.findall(script)


def times_of(root: Element) -> Iterator[str]:
    """Microdata and <time> elements, those that say "published" first."""
    rest: list[str] = []
    for element in root.iter("time", "meta", "span", "div", "p", "abbr"):
        wanted = element.get("itemprop") in ("datePublished", "dateCreated") or element.get("pubdate") is not None
        if not wanted and element.tag != "time":
            continue
        stated = element.get("datetime") or element.get("content") or element.get("title") or ""
        text = f"{stated} {element.text or ''}"
        if wanted:
            yield text
        elif not UPDATED.search(element.get("class") or ""):
            rest.append(text)
    yield from rest[:5]


def dated_elements(root: Element) -> Iterator[str]:
    """Text of small elements whose class or id speaks of date or time."""
    for element in root.iter("span", "div", "p", "em", "i", "td", "li", "a", "small", "h5", "h6", "dd", "cite"):
        name = f"{element.get('class') or ''} {element.get('id') or ''}"
        if len(name) > 1 and TIME_CLASS.search(name[:200]) and len(element) <= 12:
            yield text_of(element, LONGEST_TEXT)


def text_near(layout: Layout, body: Element | None) -> Iterator[str]:
    """Lines around the start of the body: short ones nearest above it first, then what stands below."""
    lines = layout.lines
    start = next((span.start for span in layout.spans if span.element is body), 0)
    first = next((i for i in range(start, len(lines)) if lines[i].size > LONGEST_META_LINE), len(lines))
    above, below = lines[max(0, first - NEAREST) : first], lines[first : first + NEAREST]
    near = [line for line in reversed(above) if line.size <= LONGEST_META_LINE]
    for line in (*near, *(line for line in below if line.size <= LONGEST_META_LINE), *below):
        yield line.text
