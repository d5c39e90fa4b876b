"""The dates that a page shows, and how much their places speak for the article's own date."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from extractor.fields.dates.date_parsing import (
    NON_ASCII_DIGITS,
    DateMatch,
    find_first_date,
    normalize_date_text,
    parse_machine_date,
    to_western_digits,
)
from extractor.page.byline_zone import MAX_TITLE_LOOKBACK_LINES, MIN_TEXT_LINE_SIZE, BylineZone, find_byline_zone
from extractor.page.layout import CODE_TAG, MAX_TEXT_LINK_SHARE, Layout, Line, text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import Hint, TagInfo

MAX_LONG_LINE_CHARS = 60  # characters of a long line that are looked at
MAX_SHORT_LINE_SIZE = 20.0
MAX_LINES_BELOW_TEXT_START = 8  # lines behind the first line of text, which may be a summary above the date
MAX_LINES_BELOW_TEXT_END = 14  # lines behind the end of the text that are looked at
MAX_BODY_LINES = 80  # lines of the text that are looked at, its end apart
MAX_FOOTER_LINES = 12  # lines at the end of a page, where wikis say when it was changed
MAX_LABEL_SIZE = 8.0  # beside a date that stands alone: "Released on", a time of day; in Chinese characters
TABLE_CELL_TAGS = ("tr", "td", "th")
FAR_COST = 9.0  # cost of a place far behind the end of the text
MIN_THREAD_DATES = 3  # labelled dates inside a text that make it a thread
MAX_CERTAIN_COST = 2.0  # cost of a place up to which a date shown there is the article's
MAX_ELEMENT_LINES = 6  # of a small element
MAX_SHORT_TEXT_CHARS = 40  # characters of an element in which 9.5.16 is a date
DATE_CLASS_BONUS = 0.4  # what it is worth to be named a date, and to be marked as the date of publication
PUBDATE_BONUS = 1.4
PUBDATE_ATTRIBUTE_RE = re.compile(r'(?<!\S)pubdate="')
MAX_LINES_ABOVE_TITLE = 12  # lines above a title in which its date may stand
PUBLISHED_WORD_RE = re.compile(
    "发布|發布|發佈|发表|發表|时间|時間|日期|publish|posted|première|premier|veröffentlich|publié|publicad|pubblicat|"
    "опубликов|wrote|created|erschienen|gepubliceerd|pubdate|fabu|publi|pubt"
)
UPDATED_WORD_RE = re.compile(
    "updat|modif|更新|修改|revised|aktualis|geändert|mis à jour|màj|actualiz|atualiz|aggiorna|обновл|zuletzt|reviewed|"
    "bijgewerkt|lastmod|edited"
)
DATE_CLASS_RE = re.compile(
    "date|time|publi|pubt|posted|post-?meta|entry-meta|byline|riqi|shijian|fabu|article-?info|artinfo"
)
TODAY_WORD_RE = re.compile("今天|今日|today|now|current|calendar|edition|heute|aujourd")
CURRENT_DATE_PHRASE_RE = re.compile(
    "今天是|今日是|现在是|现在时间|当前时间|today is|current (?:date|time)|server time|heute ist|nous sommes"
)
CURRENT_DATE_CLASS_RE = re.compile("todays?-?date|current-?(?:date|time)|clock|weather|tianqi|server-?time")
OTHER_DATE_LABEL_RE = re.compile(
    "copyright|©|版权|版權|expire|deadline|截止|截至|有效期|valid until|born|died|生于|出生|"
    r"registered|joined|member since|注册|註冊|registriert|beigetreten|inscrit|registrad|iscritto"
)
OTHER_CONTENT_CLASS_RE = re.compile(
    "related|recommend|comment|sidebar|teaser|latest|trending|popular|rail|xiangguan|reply|widget|-card"
)
NON_ASCII_DATE_RE = re.compile(
    f"[{NON_ASCII_DIGITS}〇○零]|十|民國|1[34]\\d\\d|25\\d\\d|[\u05d0-\u05ea][\"״”'׳’]|[\u0e00-\u0e7f]"
)
NON_GREGORIAN_LANGUAGES = ("fa", "ps", "prs", "th")  # languages whose pages count the years in another way
DATE_ATTRIBUTES = ("datetime", "content", "data-time", "data-timestamp", "data-datetime", "data-date", "data-publish-time",
             "title")  # fmt: skip
MAX_MONTH = 12
SLASH_DATE_RE = re.compile(r"(?<![\d/])([0-3]?\d)/([0-3]?\d)/(?:199\d|20\d\d)(?!\d)")
MAX_SLASH_LINE_CHARS = 400  # characters of a line
ISO_DATE_RE = re.compile(r"\s*(?:199\d|20\d\d)-\d\d-\d\d")
DAY_FIRST_REGIONS = ("gb", "au", "nz", "ie", "in", "za", "hk", "sg", "my", "uk")


@dataclass(frozen=True, slots=True)
class VisibleDate:
    """A date shown on the page: what it costs to believe that it is the article's (0: nothing), and its text.

    `stands_alone`: hardly anything stands beside it but what it is the date of, and it is no value in a table.
    """

    date_match: DateMatch
    text: str
    cost: float
    is_update: bool
    source: str
    stands_alone: bool = False


def is_month_first(page: ParsedPage) -> bool:
    """Whether 5/9/2016 is a day in May here: as the page's other days say (25/9/2016 is none of any other month), else
    on American pages, and on Chinese ones, whose servers write it so.
    """
    orders = {day_first for line in page.layout.lines if "/" in line.text for day_first in iter_day_first(line.text)}
    if len(orders) == 1:
        return not orders.pop()
    spans = page.layout.spans
    language, _, region = (spans[0].tag_info.attributes.get("lang", "") if spans else "").lower().partition("-")
    region = region or page.metas.get("og:locale", "").lower().replace("-", "_").partition("_")[2]
    host = page.url.partition("://")[2].partition("/")[0].partition(":")[0]
    return (
        language in ("en", "zh", "")
        and region not in DAY_FIRST_REGIONS
        and host.rpartition(".")[2] not in DAY_FIRST_REGIONS
    )


def iter_day_first(text: str) -> Iterator[bool]:
    """For each date of numbers that can be read in one way only: does the day stand before the month?"""
    for first, second in SLASH_DATE_RE.findall(text[:MAX_SLASH_LINE_CHARS]):
        if (int(first) > MAX_MONTH) != (int(second) > MAX_MONTH):
            yield int(first) > MAX_MONTH


def time_element_dates(layout: Layout) -> frozenset[str]:
    """The days that <time datetime="2016-05-09"> says: they settle what 5/9/2016 means in the text beside it."""
    stamps = (parse_machine_date(value) for value in iter_datetime_attributes(layout) if ISO_DATE_RE.match(value))
    return frozenset(stamp.date for stamp in stamps if stamp is not None)


def iter_datetime_attributes(layout: Layout) -> Iterator[str]:
    """What the time elements of a page say to machines."""
    tag_infos = (
        *(inline_element.tag_info for inline_element in layout.inline_elements),
        *(span.tag_info for span in layout.spans if span.tag_info.is_metadata),
    )
    return (tag_info.attributes.get("datetime", "") for tag_info in tag_infos if tag_info.tag == "time")


def find_visible_dates(page: ParsedPage, body_span: int, month_first: bool) -> list[VisibleDate]:
    """The dates that a page shows, cheapest first."""
    layout = page.layout
    if not layout.spans or not 0 <= body_span < len(layout.spans):
        return []
    frame = find_byline_zone(page, body_span)
    by_line = keep_first_thread_date(dict(iter_dated_lines(layout, frame, month_first)), frame)
    update_lines = [line_index for line_index, entry in by_line.items() if entry.is_update]
    visible_dates = [*by_line.values(), *iter_dated_elements(layout, frame, month_first, update_lines)]
    return sorted(visible_dates, key=lambda visible_date: visible_date.cost)


def iter_dated_lines(layout: Layout, zone: BylineZone, month_first: bool) -> Iterator[tuple[int, VisibleDate]]:
    """Lines around the article that hold a date, by their place."""
    lines, language = layout.lines, non_gregorian_language(layout)
    start = max(
        0,
        min(zone.first_text_line, zone.title_line if zone.title_line >= 0 else zone.first_text_line)
        - MAX_TITLE_LOOKBACK_LINES,
    )
    middle, end = (
        max(zone.first_text_line + MAX_BODY_LINES, start),
        min(len(lines), zone.end_line + MAX_LINES_BELOW_TEXT_END),
    )
    line_indices = (*range(start, min(middle, end)), *range(max(middle, zone.end_line - MAX_LINES_BELOW_TEXT_END), end))
    for line_index in (*line_indices, *range(max(end, len(lines) - MAX_FOOTER_LINES), len(lines))):
        line = lines[line_index]
        text = date_search_text(line, language) if zone.is_preformatted or not is_code_line(layout, line_index) else ""
        stamp = find_first_date(text, month_first, short=line.size < MAX_SHORT_LINE_SIZE) if text else None
        if stamp is not None:
            line_costs = position_cost(line_index, zone) + line_cost(line, text, stamp)
            cost = line_costs + region_cost(layout, line.span_index, zone)
            is_alone = (
                line.tag not in TABLE_CELL_TAGS
                and text_size(text) - text_size(text[stamp.start : stamp.end]) <= MAX_LABEL_SIZE
            )
            is_labelled = stamp.start == 0 and line_index > 0 and is_update_label_line(lines[line_index - 1])
            is_change = is_labelled or has_update_label(text, stamp)
            yield line_index, VisibleDate(stamp, text, cost, is_change, "text", is_alone)


def keep_first_thread_date(by_line: dict[int, VisibleDate], zone: BylineZone) -> dict[int, VisibleDate]:
    """Where many labelled dates stand inside the text, as in a forum, the first is the article's, none at the end."""
    posts = [
        line_index
        for line_index in by_line
        if zone.first_text_line <= line_index < zone.end_line and has_published_label(by_line[line_index])
    ]
    if len(posts) < MIN_THREAD_DATES:
        return by_line
    first = replace(by_line[posts[0]], cost=MAX_CERTAIN_COST)
    return {line_index: visible_date for line_index, visible_date in by_line.items() if line_index not in posts} | {
        posts[0]: first
    }


def has_published_label(visible_date: VisibleDate) -> bool:
    """The words before a date call it that of publication."""
    return PUBLISHED_WORD_RE.search(visible_date.text, 0, visible_date.date_match.start) is not None


def non_gregorian_language(layout: Layout) -> str:
    """The language of a page, if it is one whose years are not the Western ones; else ""."""
    language = layout.spans[0].tag_info.attributes.get("lang", "").lower()[:3].strip("-_") if layout.spans else ""
    return language if language in NON_GREGORIAN_LANGUAGES else ""


def date_search_text(line: Line, language: str = "") -> str:
    """A line with plain digits, "" where it can hold no date; of a long line only the beginning, where dates stand."""
    text = line.text
    if language:
        return to_western_digits(text[:MAX_LONG_LINE_CHARS] if line.size > MIN_TEXT_LINE_SIZE else text, language)
    if text.isascii() and "20" not in text and "199" not in text and "." not in text:
        return ""  # most lines
    if line.size > MIN_TEXT_LINE_SIZE:
        text = text[:MAX_LONG_LINE_CHARS]
    if "20" in text or "199" in text or (line.size < MAX_SHORT_LINE_SIZE and "." in text):
        return to_western_digits(text)
    return to_western_digits(text) if not text.isascii() and NON_ASCII_DATE_RE.search(text) else ""


def line_cost(line: Line, text: str, date_match: DateMatch) -> float:
    """What speaks against a line, by its words."""
    cost = 2.0 if line.link_share > MAX_TEXT_LINK_SHARE else 0.0
    if line.size > MIN_TEXT_LINE_SIZE:
        cost += 5.0 if date_match.start else 1.0
    elif date_match.start == 0:
        cost -= 0.3
    elif line.punctuation_count and text.endswith(("。", ".", "！", "!")) and line.size > 15:
        cost += 1.0
    return cost + label_cost(text, date_match)


def label_cost(text: str, date_match: DateMatch) -> float:
    """What the words before a date say for it or against it."""
    preceding_text = text[max(0, date_match.start - 40) : date_match.start]
    if "(@" in preceding_text:  # a tweet
        return 3.0
    cost = -0.5 if PUBLISHED_WORD_RE.search(preceding_text) else 0.0
    if CURRENT_DATE_PHRASE_RE.search(preceding_text) or OTHER_DATE_LABEL_RE.search(preceding_text):
        return FAR_COST
    return cost + (3.0 if TODAY_WORD_RE.search(preceding_text) else 0.0)


def has_update_label(text: str, date_match: DateMatch) -> bool:
    """The word next before a date says that it is the day of a change."""
    preceding_text = text[max(0, date_match.start - 40) : date_match.start]
    return UPDATED_WORD_RE.search(preceding_text) is not None and PUBLISHED_WORD_RE.search(preceding_text) is None


def is_update_label_line(line: Line) -> bool:
    """The line is the label of a day of change that stands below it."""
    text = line.text.lower()
    return (
        line.size <= MAX_LABEL_SIZE
        and UPDATED_WORD_RE.search(text) is not None
        and PUBLISHED_WORD_RE.search(text) is None
    )


def position_cost(line_index: int, zone: BylineZone) -> float:
    """How little a line's place is that of the article's date."""
    title, first, end = zone.title_line, zone.first_text_line, zone.end_line
    if line_index == title:
        return 2.2  # of the event, or of what a report is about
    if title < line_index < first:
        return 0.02 * (line_index - title) if title >= 0 else 0.5 + 0.1 * (first - line_index)
    if line_index < first:
        distance = (title if title >= 0 else first) - line_index
        return 0.8 + 0.1 * distance if distance <= MAX_LINES_ABOVE_TITLE else 2.0 + 0.1 * distance
    if line_index < first + MAX_LINES_BELOW_TEXT_START:
        return 1.5
    if end - 5 <= line_index < end + MAX_LINES_BELOW_TEXT_END:
        return 2.5 + 0.1 * abs(line_index - end)
    return 5.0 + 0.01 * (line_index - first) if line_index < end else FAR_COST


def region_cost(layout: Layout, span: int, zone: BylineZone) -> float:
    """What the names of the elements around a line say against it, those around the article apart."""
    for span_index in layout.iter_enclosing(span):
        if span_index in zone.ancestor_spans:
            return 0.0
        tag_info = layout.spans[span_index].tag_info
        if tag_info.hint is Hint.FOOTER_OR_COMMENTS or tag_info.tag in ("nav", "aside"):
            return 4.0
        if cost := class_cost(tag_info.identifiers):
            return cost
    return 0.0


@lru_cache(maxsize=20_000)
def class_cost(name: str) -> float:
    """What the name of an element around a date says against it. Sites have few names, and use them often."""
    if OTHER_CONTENT_CLASS_RE.search(name):
        return 4.0
    if CURRENT_DATE_CLASS_RE.search(name):
        return FAR_COST
    return 3.0 if TODAY_WORD_RE.search(name) else 0.0


def iter_dated_elements(
    layout: Layout, zone: BylineZone, month_first: bool, update_lines: Collection[int]
) -> Iterator[VisibleDate]:
    """Small elements that say that they are a date, anywhere on the page; `update_lines` are lines that say the contrary."""
    lines = layout.lines
    for inline_element in layout.inline_elements:
        if is_date_element(inline_element.tag_info) and (
            zone.is_preformatted or not is_code_line(layout, inline_element.line_index)
        ):
            enclosing_span = (
                lines[inline_element.line_index].span_index if inline_element.line_index < len(lines) else -1
            )
            element = DatedElement(
                inline_element.tag_info, inline_element.text, inline_element.line_index, enclosing_span
            )
            yield from iter_element_dates(layout, zone, element, month_first, update_lines)
    for index, span in enumerate(layout.spans):
        if (
            span.tag_info.is_metadata
            and span.end_line - span.start_line <= MAX_ELEMENT_LINES
            and is_date_element(span.tag_info)
        ):
            text = " ".join(line.text for line in lines[span.start_line : span.end_line])
            element = DatedElement(span.tag_info, text, span.start_line, index)
            yield from iter_element_dates(layout, zone, element, month_first, update_lines)


def is_code_line(layout: Layout, line_index: int) -> bool:
    """A line stands in an example or a log: its dates are no part of the page."""
    return line_index < len(layout.lines) and layout.lines[line_index].tag == CODE_TAG


@dataclass(frozen=True, slots=True)
class DatedElement:
    """A small element: what its tag says, its text, its first line, and its span or the one around it."""

    tag_info: TagInfo
    text: str
    line_index: int
    span_index: int


def is_date_element(tag_info: TagInfo) -> bool:
    """The element says that it is a date."""
    return tag_info.tag == "time" or is_date_class(tag_info.identifiers)


@lru_cache(maxsize=20_000)
def is_date_class(name: str) -> bool:
    """The name of an element does so."""
    return DATE_CLASS_RE.search(name) is not None


def iter_element_dates(
    layout: Layout, zone: BylineZone, element: DatedElement, month_first: bool, update_lines: Collection[int]
) -> Iterator[VisibleDate]:
    """The date of an element that is named as one; what it shows goes before what it says to machines."""
    tag_info = element.tag_info
    is_publication_date = (
        'itemprop="datePublished"' in tag_info.attribute_text
        or PUBDATE_ATTRIBUTE_RE.search(tag_info.attribute_text) is not None
    )
    cost = position_cost(element.line_index, zone) - (PUBDATE_BONUS if is_publication_date else DATE_CLASS_BONUS)
    if cost >= FAR_COST - DATE_CLASS_BONUS:
        return
    text = normalize_date_text(element.text, non_gregorian_language(layout))
    stamp = find_first_date(text, month_first, short=len(text) < MAX_SHORT_TEXT_CHARS)
    if stamp is None:
        attributes = tag_info.attributes
        text = normalize_date_text(next((attributes[name] for name in DATE_ATTRIBUTES if name in attributes), ""))
        stamp = parse_machine_date(text, month_first) if text else None
    if stamp is None:
        return
    cost += label_cost(text, stamp) + region_cost(layout, element.span_index, zone)
    is_update = not is_publication_date and (
        element.line_index in update_lines or UPDATED_WORD_RE.search(tag_info.identifiers) is not None
    )
    source = "time" if tag_info.tag == "time" or is_publication_date else "text"
    is_alone = layout.spans[element.span_index].tag_info.tag not in TABLE_CELL_TAGS if element.span_index >= 0 else True
    yield VisibleDate(
        stamp, text, cost, is_update or has_update_label(text, stamp), source, is_alone and source == "time"
    )
