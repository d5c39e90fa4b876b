"""Finds the visible dates of a page and rates how likely each is the date of the article, by its position."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from extractor.fields.byline import MAX_TITLE_LOOKBACK_LINES, MIN_TEXT_LINE_SIZE, BylineZone, find_byline_zone
from extractor.fields.dates.date_parsing import (
    FIRST_COMMON_DATE,
    MINGUO_CALENDAR,
    MINGUO_YEAR_PATTERN,
    NON_ASCII_DIGITS,
    OLD_YEAR_RE,
    DateMatch,
    find_first_date,
    normalize_date_text,
    parse_machine_date,
    to_western_digits,
)
from extractor.fields.title_matching import host_of
from extractor.page.layout import CODE_TAG, Layout, Line, text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import Hint, TagInfo

MAX_LONG_LINE_CHARS = 60  # beginning of a long line that is searched
MAX_SHORT_LINE_SIZE = 20.0  # in shorter lines 9.5.16 is a date; in Chinese characters
MAX_LINES_BELOW_TEXT_START = 8  # search range after the first line of text, which may be a summary above the date
MAX_LINES_BELOW_TEXT_END = 14  # search range after the end of the text
MAX_BODY_LINES = 80  # search range inside the text, in addition to its end
MAX_FOOTER_LINES = 12  # last lines of the page, where wikis show the date of the last change
MAX_LABEL_SIZE = 8.0  # of the text next to a date that stands alone: "Released on", a time of day
TABLE_CELL_TAGS = ("tr", "td", "th")
FAR_COST = 9.0  # cost of a date far after the end of the text
MIN_THREAD_DATES = 3  # a text with this number of labelled dates is a thread
MAX_CERTAIN_COST = 2.0  # a visible date up to this cost is certainly that of the article
MAX_ELEMENT_LINES = 6  # of a small element
MAX_SHORT_TEXT_CHARS = 40  # in shorter elements 9.5.16 is a date
DATE_CLASS_BONUS = 0.4  # cost reduction for an element that is named a date
PUBDATE_BONUS = 1.4  # cost reduction for an element that is marked as the date of publication
MAX_OLD_DATE_COST = 0.5  # of an element between title and text, where a date before FIRST_COMMON_DATE is searched
PUBDATE_ATTRIBUTE_RE = re.compile(r'(?<!\S)pubdate="')
MAX_LINES_ABOVE_TITLE = 12  # search range above the title at low cost
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
RECEIPT_LABEL_RE = re.compile(r"\b(?:received|accepted|submitted)\b|收稿|录用|修回")
OTHER_CONTENT_CLASS_RE = re.compile(
    "related|recommend|comment|sidebar|teaser|latest|trending|popular|rail|xiangguan|reply|widget|-card"
)
NON_ASCII_DATE_RE = re.compile(
    f"[{NON_ASCII_DIGITS}〇○零]|十|{MINGUO_YEAR_PATTERN}|民國|1[34]\\d\\d|25\\d\\d|[\u05d0-\u05ea][\"״”'׳’]|[\u0e00-\u0e7f]"
)
NON_GREGORIAN_LANGUAGES = ("fa", "ps", "prs", "th")  # languages whose pages use other calendars
DATE_ATTRIBUTES = (
    "datetime", "content", "data-time", "data-timestamp", "data-datetime", "data-date", "data-publish-time", "title",
)  # fmt: skip
MAX_MONTH = 12
SLASH_DATE_RE = re.compile(r"(?<![\d/])([0-3]?\d)/([0-3]?\d)/(?:199\d|20\d\d)(?!\d)")
MAX_SLASH_LINE_CHARS = 400  # beginning of a line that is searched for 5/9/2016
ISO_DATE_RE = re.compile(r"\s*(?:199\d|20\d\d)-\d\d-\d\d")
DAY_FIRST_REGIONS = ("gb", "au", "nz", "ie", "in", "za", "hk", "sg", "my", "uk")


@dataclass(frozen=True, slots=True)
class VisibleDate:
    """A visible date of a page.

    Attributes:
        date_match: The date and its offsets in `text`.
        text: The normalized text of its line or element.
        cost: Evidence against its being the date of the article; 0 or less for the best position.
        is_update: True if it is marked as the date of a change.
        source: `time` or `text` (see `PublicationDate.source`).
        stands_alone: True if almost no other text is next to it, and it is not in a table.
    """

    date_match: DateMatch
    text: str
    cost: float
    is_update: bool
    source: str
    stands_alone: bool = False


def is_month_first(page: ParsedPage) -> bool:
    """Return whether 5/9/2016 means May 9 on this page.

    Unambiguous dates of the page decide (25/9/2016). Otherwise True for English, Chinese and undeclared languages,
    except in regions that write the day first.
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
    """Yield for each unambiguous numeric date whether the day is before the month."""
    for first, second in SLASH_DATE_RE.findall(text[:MAX_SLASH_LINE_CHARS]):
        if (int(first) > MAX_MONTH) != (int(second) > MAX_MONTH):
            yield int(first) > MAX_MONTH


def time_element_dates(layout: Layout) -> frozenset[str]:
    """Return the dates of <time datetime="2016-05-09"> elements; they resolve 5/9/2016 in visible text."""
    values = (value for value in iter_datetime_attributes(layout) if ISO_DATE_RE.match(value))
    return frozenset(date_match.date for date_match in map(parse_machine_date, values) if date_match is not None)


def iter_datetime_attributes(layout: Layout) -> Iterator[str]:
    """Yield the `datetime` attributes of the time elements of a page."""
    tag_infos = (
        *(inline_element.tag_info for inline_element in layout.inline_elements),
        *(span.tag_info for span in layout.spans if span.tag_info.is_metadata),
    )
    return (tag_info.attributes.get("datetime", "") for tag_info in tag_infos if tag_info.tag == "time")


def find_visible_dates(page: ParsedPage, body_span: int, month_first: bool) -> list[VisibleDate]:
    """Find the visible dates of a page, lowest cost first."""
    layout = page.layout
    if not layout.spans or not 0 <= body_span < len(layout.spans):
        return []
    zone = find_byline_zone(page, body_span)
    language = non_gregorian_language(page)
    by_line = keep_first_thread_date(dict(iter_dated_lines(layout, zone, month_first, language)), zone)
    update_lines = [line_index for line_index, entry in by_line.items() if entry.is_update]
    visible_dates = [*by_line.values(), *iter_dated_elements(layout, zone, month_first, language, update_lines)]
    return sorted(visible_dates, key=lambda visible_date: visible_date.cost)


def iter_dated_lines(
    layout: Layout, zone: BylineZone, month_first: bool, language: str
) -> Iterator[tuple[int, VisibleDate]]:
    """Yield the lines around the article that contain a date, as (line index, date).

    A date before FIRST_COMMON_DATE must stand alone above the text, or after a label.
    """
    lines = layout.lines
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
        text = date_search_text(line, language) if line.tag != CODE_TAG or zone.is_preformatted else ""
        date_match = find_first_date(text, month_first, short=line.size < MAX_SHORT_LINE_SIZE) if text else None
        if date_match is None and text and zone.title_line < line_index < zone.first_text_line:
            old_match = find_first_date(text, month_first, min_date="")
            if old_match and (is_alone_in(text, old_match) or PUBLISHED_WORD_RE.search(text, 0, old_match.start)):
                date_match = old_match
        if date_match is not None:
            text, date_match = from_published_label(text, date_match, month_first)
            line_costs = position_cost(line_index, zone) + line_cost(line, text, date_match)
            cost = line_costs + region_cost(layout, line.span_index, zone)
            is_alone = line.tag not in TABLE_CELL_TAGS and is_alone_in(text, date_match)
            above = lines[line_index - 1] if date_match.start == 0 < line_index else None
            label = above.text.lower() if above and above.size <= MAX_LABEL_SIZE else label_before(text, date_match)
            yield line_index, VisibleDate(date_match, text, cost, is_update_label(label), "text", is_alone)


def from_published_label(text: str, date_match: DateMatch, month_first: bool) -> tuple[str, DateMatch]:
    """Return the text from its label of publication, and the date there, if its first date has another label."""
    label, published_word = label_before(text, date_match), PUBLISHED_WORD_RE.search(text, date_match.end)
    if published_word is not None and (UPDATED_WORD_RE.search(label) or RECEIPT_LABEL_RE.search(label)):
        rest = text[published_word.start() :]
        published = find_first_date(rest, month_first)
        if published and text_size(rest[: published.start]) <= MAX_LABEL_SIZE:
            return rest, published
    return text, date_match


def is_alone_in(text: str, date_match: DateMatch) -> bool:
    """Return whether a text is a date with at most a label."""
    return text_size(text) - text_size(text[date_match.start : date_match.end]) <= MAX_LABEL_SIZE


def keep_first_thread_date(by_line: dict[int, VisibleDate], zone: BylineZone) -> dict[int, VisibleDate]:
    """Keep only the first of many labelled dates inside the text, as in a forum: it is the date of the article.

    Returns the dates unchanged if there are fewer than MIN_THREAD_DATES labelled dates.
    """
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
    """Return whether the words before a date mark it as the date of publication."""
    return PUBLISHED_WORD_RE.search(visible_date.text, 0, visible_date.date_match.start) is not None


def non_gregorian_language(page: ParsedPage) -> str:
    """Return the language of a page if its pages use another calendar, otherwise an empty string."""
    spans = page.layout.spans
    language = spans[0].tag_info.attributes.get("lang", "").lower().replace("_", "-") if spans else ""
    if language.endswith("-tw") or host_of(page.url).endswith(".tw"):
        return MINGUO_CALENDAR
    return language[:3].strip("-") if language[:3].strip("-") in NON_GREGORIAN_LANGUAGES else ""


def date_search_text(line: Line, language: str = "") -> str:
    """Return the normalized text of a line for a date search, or an empty string if the line cannot contain a date.

    Long lines are cut after MAX_LONG_LINE_CHARS characters, because dates are at their beginning.
    """
    text = line.text
    if language:
        return to_western_digits(text[:MAX_LONG_LINE_CHARS] if line.size > MIN_TEXT_LINE_SIZE else text, language)
    if line.size > MIN_TEXT_LINE_SIZE:
        text = text[:MAX_LONG_LINE_CHARS]
    may_have_date = (
        "20" in text or "199" in text or (line.size < MAX_SHORT_LINE_SIZE and ("." in text or OLD_YEAR_RE.search(text)))
    )
    if may_have_date or (not text.isascii() and NON_ASCII_DATE_RE.search(text)):
        return to_western_digits(text)
    return ""  # most lines


def line_cost(line: Line, text: str, date_match: DateMatch) -> float:
    """Return the cost of a date by the text of its line."""
    cost = 2.0 if line.is_link else 0.0
    if line.size > MIN_TEXT_LINE_SIZE:
        cost += 5.0 if date_match.start else 1.0
    elif date_match.start == 0:
        cost -= 0.3
    elif line.punctuation_count and text.endswith(("。", ".", "！", "!")) and line.size > 15:
        cost += 1.0
    return cost + label_cost(text, date_match)


def label_cost(text: str, date_match: DateMatch) -> float:
    """Return the cost of a date by the words before it; negative if they mean publication."""
    preceding_text = label_before(text, date_match)
    if "(@" in preceding_text:  # a tweet
        return 3.0
    cost = -0.5 if PUBLISHED_WORD_RE.search(preceding_text) else 0.0
    if CURRENT_DATE_PHRASE_RE.search(preceding_text) or OTHER_DATE_LABEL_RE.search(preceding_text):
        return FAR_COST
    return cost + (3.0 if TODAY_WORD_RE.search(preceding_text) else 0.0)


def label_before(text: str, date_match: DateMatch) -> str:
    """Return the words before a date."""
    return text[max(0, date_match.start - 40) : date_match.start]


def is_update_label(text: str) -> bool:
    """Return whether words mark a date as that of a change."""
    return UPDATED_WORD_RE.search(text) is not None and PUBLISHED_WORD_RE.search(text) is None


def position_cost(line_index: int, zone: BylineZone) -> float:
    """Return the cost of a date by the position of its line relative to title and text."""
    title, first, end = zone.title_line, zone.first_text_line, zone.end_line
    if line_index == title:
        return 2.2  # the date of an event or of the subject of a report
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


def region_cost(layout: Layout, line_span_index: int, zone: BylineZone) -> float:
    """Return the cost of a date by the elements around its line, up to the elements that contain the article."""
    for span_index in layout.iter_enclosing(line_span_index):
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
    """Return the cost of a date inside an element with these identifiers. Cached, because sites use few names often."""
    if OTHER_CONTENT_CLASS_RE.search(name):
        return 4.0
    if CURRENT_DATE_CLASS_RE.search(name):
        return FAR_COST
    return 3.0 if TODAY_WORD_RE.search(name) else 0.0


def iter_dated_elements(
    layout: Layout, zone: BylineZone, month_first: bool, language: str, update_lines: Collection[int]
) -> Iterator[VisibleDate]:
    """Yield the dates of small elements that are named dates, anywhere on the page.

    `update_lines` are the indices of the lines whose date is marked as a change.
    """
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
            yield from iter_element_dates(layout, zone, element, month_first, language, update_lines)
    for index, span in enumerate(layout.spans):
        if (
            span.tag_info.is_metadata
            and span.end_line - span.start_line <= MAX_ELEMENT_LINES
            and is_date_element(span.tag_info)
        ):
            text = " ".join(line.text for line in lines[span.start_line : span.end_line])
            element = DatedElement(span.tag_info, text, span.start_line, index)
            yield from iter_element_dates(layout, zone, element, month_first, language, update_lines)


def is_code_line(layout: Layout, line_index: int) -> bool:
    """Return whether a line is code: its dates belong to an example or a log."""
    return line_index < len(layout.lines) and layout.lines[line_index].tag == CODE_TAG


@dataclass(frozen=True, slots=True)
class DatedElement:
    """A small element: tag, text, index of its first line, and index of its own or its enclosing span."""

    tag_info: TagInfo
    text: str
    line_index: int
    span_index: int


def is_date_element(tag_info: TagInfo) -> bool:
    """Return whether an element is a <time> element or is named a date."""
    return tag_info.tag == "time" or is_date_class(tag_info.identifiers)


@lru_cache(maxsize=20_000)
def is_date_class(name: str) -> bool:
    """Return whether identifiers name a date."""
    return DATE_CLASS_RE.search(name) is not None


def iter_element_dates(
    layout: Layout,
    zone: BylineZone,
    element: DatedElement,
    month_first: bool,
    language: str,
    update_lines: Collection[int],
) -> Iterator[VisibleDate]:
    """Yield the date of an element that is named a date, at most one. Visible text is preferred to attributes."""
    tag_info = element.tag_info
    is_publication_date = (
        'itemprop="datePublished"' in tag_info.attribute_text
        or PUBDATE_ATTRIBUTE_RE.search(tag_info.attribute_text) is not None
    )
    cost = position_cost(element.line_index, zone) - (PUBDATE_BONUS if is_publication_date else DATE_CLASS_BONUS)
    if cost >= FAR_COST - DATE_CLASS_BONUS:
        return
    text = normalize_date_text(element.text, language)
    min_date = "" if cost < MAX_OLD_DATE_COST else FIRST_COMMON_DATE
    date_match = find_first_date(text, month_first, short=len(text) < MAX_SHORT_TEXT_CHARS, min_date=min_date)
    if date_match is None:
        attributes = tag_info.attributes
        text = normalize_date_text(next((attributes[name] for name in DATE_ATTRIBUTES if name in attributes), ""))
        date_match = parse_machine_date(text, month_first) if text else None
    if date_match is None:
        return
    cost += label_cost(text, date_match) + region_cost(layout, element.span_index, zone)
    is_update = not is_publication_date and (
        element.line_index in update_lines or UPDATED_WORD_RE.search(tag_info.identifiers) is not None
    )
    source = "time" if tag_info.tag == "time" or is_publication_date else "text"
    is_alone = layout.spans[element.span_index].tag_info.tag not in TABLE_CELL_TAGS if element.span_index >= 0 else True
    is_update = is_update or is_update_label(label_before(text, date_match))
    yield VisibleDate(date_match, text, cost, is_update, source, is_alone and source == "time")
