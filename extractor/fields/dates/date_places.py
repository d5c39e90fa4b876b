"""The dates that a page shows, and how much their places speak for the article's own date."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from extractor.fields.dates.date_text import ODD_DIGITS, Stamp, first_stamp, plain_digits, stated_date, western_digits
from extractor.page.byline_zone import ABOVE, LONG, BylineZone, byline_zone_of
from extractor.page.document import Document
from extractor.page.layout import CODE_TAG, LINK_LINE, Layout, Line, size_of
from extractor.page.markup_hints import Hint, TagInfo

BEGINNING = 60  # characters of a long line that are looked at
SHORT_LINE = 20.0
BELOW_FIRST = 8  # lines behind the first line of text, which may be a summary above the date
BELOW = 14  # lines behind the end of the text that are looked at
INSIDE = 80  # lines of the text that are looked at, its end apart
FOOTER = 12  # lines at the end of a page, where wikis say when it was changed
MAX_LABEL = 8.0  # beside a date that stands alone: "Released on", a time of day; in Chinese characters
CELLS = ("tr", "td", "th")
FAR = 9.0  # cost of a place far behind the end of the text
THREAD = 3  # labelled dates inside a text that make it a thread
SURE = 2.0  # cost of a place up to which a date shown there is the article's
MAX_LINES = 6  # of a small element
SHORT = 40  # characters of an element in which 9.5.16 is a date
NAMED = 0.4  # what it is worth to be named a date, and to be marked as the date of publication
PUBDATE = 1.4
PUBDATE_ATTRIBUTE = re.compile(r'(?<!\S)pubdate="')
NEAR_TITLE = 12  # lines above a title in which its date may stand
PUBLISHED = re.compile(
    "发布|發布|發佈|发表|發表|时间|時間|日期|publish|posted|première|premier|veröffentlich|publié|publicad|pubblicat|"
    "опубликов|wrote|created|erschienen|gepubliceerd|pubdate|fabu|publi|pubt"
)
UPDATED = re.compile(
    "updat|modif|更新|修改|revised|aktualis|geändert|mis à jour|màj|actualiz|atualiz|aggiorna|обновл|zuletzt|reviewed|"
    "bijgewerkt|lastmod|edited"
)
DATED = re.compile("date|time|publi|pubt|posted|post-?meta|entry-meta|byline|riqi|shijian|fabu|article-?info|artinfo")
TODAY = re.compile("今天|今日|today|now|current|calendar|edition|heute|aujourd")
CLOCK = re.compile(
    "今天是|今日是|现在是|现在时间|当前时间|today is|current (?:date|time)|server time|heute ist|nous sommes"
)
CLOCK_NAME = re.compile("todays?-?date|current-?(?:date|time)|clock|weather|tianqi|server-?time")
NOT_THE_DAY = re.compile(
    "copyright|©|版权|版權|expire|deadline|截止|截至|有效期|valid until|born|died|生于|出生|"
    r"registered|joined|member since|注册|註冊|registriert|beigetreten|inscrit|registrad|iscritto"
)
OTHERS = re.compile(
    "related|recommend|comment|sidebar|teaser|latest|trending|popular|rail|xiangguan|reply|widget|-card"
)
OTHER_DATE = re.compile(f"[{ODD_DIGITS}〇○零]|十|民國|1[34]\\d\\d|25\\d\\d|[\u05d0-\u05ea][\"״”'׳’]|[\u0e00-\u0e7f]")
OTHER_CALENDARS = ("fa", "ps", "prs", "th")  # languages whose pages count the years in another way
STATED_IN = ("datetime", "content", "data-time", "data-timestamp", "data-datetime", "data-date", "data-publish-time",
             "title")  # fmt: skip
MONTHS = 12
SLASHED = re.compile(r"(?<![\d/])([0-3]?\d)/([0-3]?\d)/(?:199\d|20\d\d)(?!\d)")
LONGEST_SLASHED = 400  # characters of a line
ISO_DAY = re.compile(r"\s*(?:199\d|20\d\d)-\d\d-\d\d")
BRITISH = ("gb", "au", "nz", "ie", "in", "za", "hk", "sg", "my", "uk")


@dataclass(frozen=True, slots=True)
class Shown:
    """A date shown on the page: what it costs to believe that it is the article's (0: nothing), and its text.

    `alone`: hardly anything stands beside it but what it is the date of, and it is no value in a table.
    """

    stamp: Stamp
    text: str
    cost: float
    updated: bool
    source: str
    alone: bool = False


def is_month_first(document: Document) -> bool:
    """Whether 5/9/2016 is a day in May here: as the page's other days say (25/9/2016 is none of any other month), else
    on American pages, and on Chinese ones, whose servers write it so.
    """
    orders = {day_first for line in document.layout.lines if "/" in line.text for day_first in orders_in(line.text)}
    if len(orders) == 1:
        return not orders.pop()
    spans = document.layout.spans
    language, _, region = (spans[0].facts.attributes.get("lang", "") if spans else "").lower().partition("-")
    region = region or document.metas.get("og:locale", "").lower().replace("-", "_").partition("_")[2]
    host = document.url.partition("://")[2].partition("/")[0].partition(":")[0]
    return language in ("en", "zh", "") and region not in BRITISH and host.rpartition(".")[2] not in BRITISH


def orders_in(text: str) -> Iterator[bool]:
    """For each date of numbers that can be read in one way only: does the day stand before the month?"""
    for first, second in SLASHED.findall(text[:LONGEST_SLASHED]):
        if (int(first) > MONTHS) != (int(second) > MONTHS):
            yield int(first) > MONTHS


def machine_days(layout: Layout) -> frozenset[str]:
    """The days that <time datetime="2016-05-09"> says: they settle what 5/9/2016 means in the text beside it."""
    stamps = (stated_date(value) for value in machine_values(layout) if ISO_DAY.match(value))
    return frozenset(stamp.day for stamp in stamps if stamp is not None)


def machine_values(layout: Layout) -> Iterator[str]:
    """What the time elements of a page say to machines."""
    marked = (*(note.facts for note in layout.notes), *(span.facts for span in layout.spans if span.facts.marked))
    return (facts.attributes.get("datetime", "") for facts in marked if facts.tag == "time")


def shown_dates(document: Document, body: int, month_first: bool) -> list[Shown]:
    """The dates that a page shows, cheapest first."""
    layout = document.layout
    if not layout.spans or not 0 <= body < len(layout.spans):
        return []
    frame = byline_zone_of(document, body)
    by_line = first_of_thread(dict(dated_lines(layout, frame, month_first)), frame)
    updated = [place for place, one in by_line.items() if one.updated]
    found = [*by_line.values(), *dated_elements(layout, frame, month_first, updated)]
    return sorted(found, key=lambda shown: shown.cost)


def dated_lines(layout: Layout, frame: BylineZone, month_first: bool) -> Iterator[tuple[int, Shown]]:
    """Lines around the article that hold a date, by their place."""
    lines, language = layout.lines, other_calendar(layout)
    start = max(0, min(frame.first, frame.title if frame.title >= 0 else frame.first) - ABOVE)
    middle, end = max(frame.first + INSIDE, start), min(len(lines), frame.end + BELOW)
    places = (*range(start, min(middle, end)), *range(max(middle, frame.end - BELOW), end))
    for place in (*places, *range(max(end, len(lines) - FOOTER), len(lines))):
        line = lines[place]
        text = readable(line, language) if frame.is_code or not is_in_code(layout, place) else ""
        stamp = first_stamp(text, month_first, short=line.size < SHORT_LINE) if text else None
        if stamp is not None:
            cost = place_cost(place, frame) + line_cost(line, text, stamp) + region_cost(layout, line.span, frame)
            is_alone = line.tag not in CELLS and size_of(text) - size_of(text[stamp.start : stamp.end]) <= MAX_LABEL
            is_labelled = stamp.start == 0 and place > 0 and is_update_label(lines[place - 1])
            is_change = is_labelled or is_updated(text, stamp)
            yield place, Shown(stamp, text, cost, is_change, "text", is_alone)


def first_of_thread(by_line: dict[int, Shown], frame: BylineZone) -> dict[int, Shown]:
    """Where many labelled dates stand inside the text, as in a forum, the first is the article's, none at the end."""
    posts = [place for place in by_line if frame.first <= place < frame.end and says_published(by_line[place])]
    if len(posts) < THREAD:
        return by_line
    first = replace(by_line[posts[0]], cost=SURE)
    return {place: one for place, one in by_line.items() if place not in posts} | {posts[0]: first}


def says_published(shown: Shown) -> bool:
    """The words before a date call it that of publication."""
    return PUBLISHED.search(shown.text, 0, shown.stamp.start) is not None


def other_calendar(layout: Layout) -> str:
    """The language of a page, if it is one whose years are not the Western ones; else ""."""
    language = layout.spans[0].facts.attributes.get("lang", "").lower()[:3].strip("-_") if layout.spans else ""
    return language if language in OTHER_CALENDARS else ""


def readable(line: Line, language: str = "") -> str:
    """A line with plain digits, "" where it can hold no date; of a long line only the beginning, where dates stand."""
    text = line.text
    if language:
        return western_digits(text[:BEGINNING] if line.size > LONG else text, language)
    if text.isascii() and "20" not in text and "199" not in text and "." not in text:
        return ""  # most lines
    if line.size > LONG:
        text = text[:BEGINNING]
    if "20" in text or "199" in text or (line.size < SHORT_LINE and "." in text):
        return western_digits(text)
    return western_digits(text) if not text.isascii() and OTHER_DATE.search(text) else ""


def line_cost(line: Line, text: str, stamp: Stamp) -> float:
    """What speaks against a line, by its words."""
    cost = 2.0 if line.link_share > LINK_LINE else 0.0
    if line.size > LONG:
        cost += 5.0 if stamp.start else 1.0
    elif stamp.start == 0:
        cost -= 0.3
    elif line.marks and text.endswith(("。", ".", "！", "!")) and line.size > 15:
        cost += 1.0
    return cost + words_cost(text, stamp)


def words_cost(text: str, stamp: Stamp) -> float:
    """What the words before a date say for it or against it."""
    before = text[max(0, stamp.start - 40) : stamp.start]
    if "(@" in before:  # a tweet
        return 3.0
    cost = -0.5 if PUBLISHED.search(before) else 0.0
    if CLOCK.search(before) or NOT_THE_DAY.search(before):
        return FAR
    return cost + (3.0 if TODAY.search(before) else 0.0)


def is_updated(text: str, stamp: Stamp) -> bool:
    """The word next before a date says that it is the day of a change."""
    before = text[max(0, stamp.start - 40) : stamp.start]
    return UPDATED.search(before) is not None and PUBLISHED.search(before) is None


def is_update_label(line: Line) -> bool:
    """The line is the label of a day of change that stands below it."""
    text = line.text.lower()
    return line.size <= MAX_LABEL and UPDATED.search(text) is not None and PUBLISHED.search(text) is None


def place_cost(place: int, frame: BylineZone) -> float:
    """How little a line's place is that of the article's date."""
    title, first, end = frame.title, frame.first, frame.end
    if place == title:
        return 2.2  # of the event, or of what a report is about
    if title < place < first:
        return 0.02 * (place - title) if title >= 0 else 0.5 + 0.1 * (first - place)
    if place < first:
        distance = (title if title >= 0 else first) - place
        return 0.8 + 0.1 * distance if distance <= NEAR_TITLE else 2.0 + 0.1 * distance
    if place < first + BELOW_FIRST:
        return 1.5
    if end - 5 <= place < end + BELOW:
        return 2.5 + 0.1 * abs(place - end)
    return 5.0 + 0.01 * (place - first) if place < end else FAR


def region_cost(layout: Layout, span: int, frame: BylineZone) -> float:
    """What the names of the elements around a line say against it, those around the article apart."""
    for place in layout.above(span):
        if place in frame.around:
            return 0.0
        facts = layout.spans[place].facts
        if facts.hint is Hint.AFTER or facts.tag in ("nav", "aside"):
            return 4.0
        if cost := name_cost(facts.name):
            return cost
    return 0.0


@lru_cache(maxsize=20_000)
def name_cost(name: str) -> float:
    """What the name of an element around a date says against it. Sites have few names, and use them often."""
    if OTHERS.search(name):
        return 4.0
    if CLOCK_NAME.search(name):
        return FAR
    return 3.0 if TODAY.search(name) else 0.0


def dated_elements(layout: Layout, frame: BylineZone, month_first: bool, updated: Collection[int]) -> Iterator[Shown]:
    """Small elements that say that they are a date, anywhere on the page; `updated` are lines that say the contrary."""
    lines = layout.lines
    for note in layout.notes:
        if is_dated(note.facts) and (frame.is_code or not is_in_code(layout, note.line)):
            around = lines[note.line].span if note.line < len(lines) else -1
            element = Element(note.facts, note.text, note.line, around)
            yield from dated_element(layout, frame, element, month_first, updated)
    for index, span in enumerate(layout.spans):
        if span.facts.marked and span.end - span.start <= MAX_LINES and is_dated(span.facts):
            text = " ".join(line.text for line in lines[span.start : span.end])
            element = Element(span.facts, text, span.start, index)
            yield from dated_element(layout, frame, element, month_first, updated)


def is_in_code(layout: Layout, place: int) -> bool:
    """A line stands in an example or a log: its dates are no part of the page."""
    return place < len(layout.lines) and layout.lines[place].tag == CODE_TAG


@dataclass(frozen=True, slots=True)
class Element:
    """A small element: what its tag says, its text, its first line, and its span or the one around it."""

    facts: TagInfo
    text: str
    line: int
    span: int


def is_dated(facts: TagInfo) -> bool:
    """The element says that it is a date."""
    return facts.tag == "time" or speaks_of_date(facts.name)


@lru_cache(maxsize=20_000)
def speaks_of_date(name: str) -> bool:
    """The name of an element does so."""
    return DATED.search(name) is not None


def dated_element(
    layout: Layout, frame: BylineZone, element: Element, month_first: bool, updated: Collection[int]
) -> Iterator[Shown]:
    """The date of an element that is named as one; what it shows goes before what it says to machines."""
    facts = element.facts
    own = 'itemprop="datePublished"' in facts.markup or PUBDATE_ATTRIBUTE.search(facts.markup) is not None
    cost = place_cost(element.line, frame) - (PUBDATE if own else NAMED)
    if cost >= FAR - NAMED:
        return
    text = plain_digits(element.text, other_calendar(layout))
    stamp = first_stamp(text, month_first, short=len(text) < SHORT)
    if stamp is None:
        attributes = facts.attributes
        text = plain_digits(next((attributes[name] for name in STATED_IN if name in attributes), ""))
        stamp = stated_date(text, month_first) if text else None
    if stamp is None:
        return
    cost += words_cost(text, stamp) + region_cost(layout, element.span, frame)
    change = not own and (element.line in updated or UPDATED.search(facts.name) is not None)
    source = "time" if facts.tag == "time" or own else "text"
    is_alone = layout.spans[element.span].facts.tag not in CELLS if element.span >= 0 else True
    yield Shown(stamp, text, cost, change or is_updated(text, stamp), source, is_alone and source == "time")
