"""Is a page one article, or a list of many? What speaks for either is weighed; each piece of evidence has its points.

    for an article                                   for a list
      3  JSON-LD describes an article at this URL      4  JSON-LD describes a collection
      2  a meta says when it was published             3  it is a front page; a channel's URL  2, a short one  1
      1  og:type is article or video                   2  links outweigh the text
      2  the URL has a day or a long slug,             1  several headlines stand beside their days
      1  a number or a slug                            3  the text is teasers between headlines
      3  the text stands by a heading that is <title>  2  several <article>s begin with a headline
      3  one dateline, right above the text            3  "read more" stands below several texts

A page is a list if it looks like one and the points say so too: if links outweigh its text, its text is teasers,
several texts end in "read more", or several <article>s begin (3 points, where nothing else says so: they may stand
there whole). Where the points are even it is an article: a list more in the store does less harm than an article that
is missing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from docstore.model import Teaser
from extractor.fields.dates.date_text import date_in_url
from extractor.fields.linked_data import ARTICLE, COLLECTION, linked_article
from extractor.methods.anchor import is_near
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.layout import Layout, Line, Span, size_of
from extractor.page.markup_hints import value_of
from extractor.page.url_steps import steps_of
from extractor.settings import ExtractSettings

ARTICLE_TITLE = 6.0  # shortest title that names an article, not a channel, in Chinese characters
HEADLINE = 6.0  # shortest link that may be a headline
BESIDE = 12.0  # most text beside a headline on its line: a day, a name, a number
TEASER = 15.0  # shortest text between headlines
LONGEST_TEASER = 100.0  # a longer paragraph is a summary at best ...
LONGEST_SUMMARY = 300.0  # ... and no summary if it is longer than this
LIST_HEADLINES = 12  # headlines that make a page with little text a list ...
DATED_HEADLINES = 5  # ... or these, beside their days ...
HEADLINES_SHARE = 0.4  # ... from this share of links in its text
MAX_HEADLINES = 8  # headlines in a body that make one ask whether it is a list
MIN_RUNS = 4  # headlines with texts below them that do
MIN_ENTRIES = 3  # <article>s that begin with a headline
MIN_MORE = 4  # links to the rest of as many texts
DATELINE = re.compile(
    "(?:时间|時間|日期)[:：].{0,40}(?:来源|來源|作者|编辑|浏览|点击|阅读)|(?:来源|來源|作者)[:：].{0,40}(?:时间|時間|日期)[:：]"
)
DATELINE_ABOVE = 3  # lines above the body in which it may stand
DAY = re.compile(r"(?<!\d)(?:(?:19|20)\d\d\s?[-/.年]\s?)?\d{1,2}\s?[-/.月]\s?\d{1,2}(?!\d)|20\d\d")
AGO = re.compile(  # how long ago: a board says it of a topic and of its last answer
    r"\b(?:\d{1,6} (?:year|month|week|day|hour|min(?:ute)?|sec(?:ond)?)s? )+ago\b"
    r"|(?<!\d)\d{1,6}\s?(?:年|个月|周|天|小时|分钟|秒)前",  # bounded: a line of a million digits is read once
    re.I,
)
DAY_LINE = 10.0  # size of a line that is a day and no more
MORE = (
    "阅读全文", "閱讀全文", "查看全文", "阅读更多", "查看更多", "查看详情", "了解更多", "了解详情", "詳細內容",
    "继续阅读", "read more", "continue reading", "learn more", "read article", "full story", "full article",
    "keep reading", "weiterlesen", "lire la suite", "leer más",
)  # fmt: skip
MORE_LINK = 10.0  # size of the longest link that says so
LOCAL = re.compile(r"#[^\s!/]")
AROUND_MORE = " .…»›>→]】）)"
FRONT_PAGE = re.compile(r"/?(?:(?:index|default|home|main)(?:\.\w{2,5})?/?)?", re.I)
CHANNEL_STEPS = frozenset(
    (
        "tag", "tags", "category", "categories", "topic", "topics", "search", "list", "lists", "author", "authors",
        "channel", "channels", "page", "label", "labels", "section", "sections", "forum", "forums", "board", "feed",
        "results",
    )
)  # fmt: skip
CHANNEL_PAGE = re.compile(
    r"(?:(?:index|list|forum|default|page|search|channel|col|class|column)(?:[-_]?\d{1,9}){0,2}|(?:node|tag|board)_\d{1,9})"
    r"(?:\.\w{2,5})?"
)
LIST_KEYS = frozenset(("q", "query", "s", "search", "keyword", "keywords", "wd", "kw", "page", "tag"))
FILE = re.compile(r"\.(?:s?html?|php|aspx?|jsp|do)$")
NUMBER = re.compile(r"\d{4,}")
SLUG = re.compile(r"[^\W\d_]+")
SLUG_WORDS, LONG_SLUG = 4, 6
HAN_WORD = 2  # Chinese characters that say as much as a word
PUBLISHED_METAS = ("article:published_time", "og:article:published_time", "datepublished", "pubdate", "publishdate")
OG_ARTICLE = ("article", "video", "news", "blog", "post")


@dataclass(frozen=True, slots=True)
class Shape:
    """What the lines of a page or of an element are: headlines, those beside a day, texts, and runs of texts.

    `longest` is the size of the longest text, `more` how many links lead to the rest of a text.
    """

    headlines: int
    dated: int
    texts: int
    runs: int
    longest: float
    more: int


def list_reason(document: Document, body: Body | None, size: float, settings: ExtractSettings) -> str:
    """Why a page is a list, or "" where it is none. `size` is that of its body.

    Of the looks of the page and those of the body's element the worse count: they are of the same links.
    """
    looks = [found for found in (looks_of_page(document, size, settings), looks_of_body(document, body)) if found]
    if not looks:
        return ""
    worst = min(looks, key=lambda found: sum(points for points, _ in found))
    points = sum(points for points, _ in worst) + article_points(document, body)
    return "; ".join(why for _, why in worst) if points < 0 else ""


def teaser_reason(document: Document, body: Body | None, teaser: Teaser | None) -> str:
    """Why a page whose text stands below another page's headline is a list; "" where the page alone cannot tell."""
    if teaser is None or teaser.below_own or size_of(teaser.headline) < ARTICLE_TITLE:
        return ""
    if teaser.lines and article_points(document, body) > 0:
        return ""
    return f"its headline leads to {teaser.url}"


def article_points(document: Document, body: Body | None) -> int:
    """What the head, the URL and the place of the text say for an article; below 0: for a list."""
    return stated_points(document) + address_points(document.url) + place_points(document, body)


def stated_points(document: Document) -> int:
    """What a page says of itself to machines."""
    metas = document.metas
    linked = linked_article(document.json_ld, document.url)
    points = {ARTICLE: 3, COLLECTION: -4}.get(linked.kind, 1 if linked.published else 0)
    points += 2 * any(name in metas for name in PUBLISHED_METAS)
    return points + metas.get("og:type", "").lower().startswith(OG_ARTICLE)


def is_vouched(document: Document) -> bool:
    """Does the page say that it is an article, by more than a headline and a text below it? Lists have those too."""
    return stated_points(document) + address_points(document.url) > 0


def place_points(document: Document, body: Body | None) -> int:
    """What stands above the text of a page: a heading that is its <title>, or a dateline; teasers may have many."""
    if body is None or not body.lines or FRONT_PAGE.fullmatch(path_of(document.url)):
        return 0
    layout = document.layout
    title, first, span = body.title, body.lines[0], layout.spans[body.span]
    if (
        is_near(span, title, layout.lines)
        and layout.lines[title].size >= ARTICLE_TITLE
        and body.text != layout.lines[title].text
    ):
        return 3
    if not any(DATELINE.search(line.text) for line in layout.lines[max(0, first - DATELINE_ABOVE) : first]):
        return 0
    return 3 * (sum(DATELINE.search(line.text) is not None for line in layout.lines[span.start : span.end]) < 2)


def path_of(url: str) -> str:
    """Path of a URL; "-" where there is none to judge by: no URL, one with a query, or a broken one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "-"
    return parts.path if parts.netloc and not parts.query else "-"


def address_points(url: str) -> int:
    """What the URL says: of one article, a front page, a channel."""
    try:
        parts = urlsplit(url)
        keys = parse_qsl(parts.query, max_num_fields=50)
    except ValueError:
        return 0
    if not parts.netloc:
        return 0
    if not parts.query and FRONT_PAGE.fullmatch(parts.path):
        return -3
    steps = steps_of(url)
    points = points_of_article(steps)
    if is_channel(steps) or (not points and any(key.lower() in LIST_KEYS for key, _ in keys)):
        return -2
    if points or any(NUMBER.search(value) for _, value in keys):
        return max(1, points)
    return -1 if steps and not keys and not FILE.search(steps[-1]) and not any(map(str.isdigit, steps[-1])) else 0


def is_channel(steps: Sequence[str]) -> bool:
    """The path names a channel, a search, or one of a channel's pages; or nothing but a time."""
    if steps and CHANNEL_PAGE.fullmatch(steps[-1]):  # articles have index pages too: /2016/05/09/oil/index.html
        return is_channel(steps[:-1]) or points_of_article(steps[:-1]) == 0
    if steps and all(step.isdecimal() and len(step) <= 4 for step in steps):
        return True
    if CHANNEL_STEPS.isdisjoint(steps[-3:]):
        return False
    points = points_of_article(steps)
    return points == 0 or (points == 1 and not CHANNEL_STEPS.isdisjoint(steps[-2:]))


def points_of_article(steps: Sequence[str]) -> int:
    """How much a path looks like that of one article: by a number, the words of a title, or a day."""
    if not steps:
        return 0
    last = FILE.sub("", steps[-1])
    words = len(SLUG.findall(last)) + sum(char > "\u2e80" for char in last) // HAN_WORD
    if words >= LONG_SLUG or len(date_in_url("/".join(("", "", *steps)))) == len("2016-05-09"):
        return 2
    return int(words >= SLUG_WORDS or NUMBER.search(last) is not None)


def looks_of_page(document: Document, size: float, settings: ExtractSettings) -> list[tuple[int, str]]:
    """What looks like a list on a page with little text, with its points (below 0) and in words."""
    if size > settings.list_longest_body:
        return []
    layout = document.layout
    whole, share = shape_of(layout.lines), link_share(layout)
    many = whole.headlines + layout.left_out.headlines >= LIST_HEADLINES or whole.dated >= DATED_HEADLINES
    if share < settings.list_link_share and (share < HEADLINES_SHARE or not many):
        return []
    dated = [(-1, f"{whole.dated} dated headlines")] if whole.dated >= DATED_HEADLINES else []
    return [(-2, f"{share:.0%} of the text is links"), *dated]


def looks_of_body(document: Document, body: Body | None) -> list[tuple[int, str]]:
    """What looks like a list in the element that holds the text."""
    if body is None:
        return []
    layout, found = document.layout, list[tuple[int, str]]()
    span = layout.spans[body.span]
    shape = shape_of(layout.lines[span.start : span.end])
    if is_teaser_list(shape):
        found.append((-3, "the text is teasers between headlines"))
    if shape.more >= MIN_MORE:
        found.append((-3, f"{shape.more} links to read more"))
    entries = entries_of(layout, body)
    if len(entries) >= MIN_ENTRIES and (found or holds_most(layout, entries, span)):
        found.append((-2 if found else -3, f"{len(entries)} articles begin"))
    return found


def is_teaser_list(shape: Shape) -> bool:
    """As many headlines as texts, and these no longer than teasers; or summaries, but then between the headlines."""
    if shape.headlines >= max(MAX_HEADLINES, shape.texts) and shape.longest <= LONGEST_TEASER:
        return True
    between = shape.runs >= max(MIN_RUNS, shape.texts / 2) and shape.headlines >= MIN_RUNS
    return between and shape.longest <= LONGEST_SUMMARY


def entries_of(layout: Layout, body: Body) -> list[Span]:
    """The <article>s of the body's element that begin with a headline."""
    whole = layout.spans[body.span]
    return [
        span
        for span in layout.spans[body.span + 1 :]
        if span.facts.tag == "article" and whole.start <= span.start < span.end <= whole.end
        and any(map(is_headline, layout.lines[span.start : min(span.end, span.start + 2)]))
    ]  # fmt: skip


def holds_most(layout: Layout, entries: Sequence[Span], whole: Span) -> bool:
    """Most of an element's text stands in its entries: they are no cards beside an article."""
    inside = {place for entry in entries for place in range(entry.start, entry.end)}
    sizes = {place: layout.lines[place].size for place in range(whole.start, whole.end)}
    return 2 * sum(sizes[place] for place in inside) > sum(sizes.values())


def is_headline(line: Line) -> bool:
    """The line is a link to an article, with no more beside it than a day or a name."""
    if line.link_size < HEADLINE or line.size - line.link_size > BESIDE + sum(map(size_of, AGO.findall(line.text))):
        return False
    return not line.anchors or not all(stays_on_page(attributes) for _, _, attributes in line.anchors)


def stays_on_page(attributes: str) -> bool:
    """A link leads to a place of its own page, as those of a table of contents do; "#" alone is a button."""
    return LOCAL.match(value_of("href", attributes)) is not None


def shape_of(lines: Sequence[Line]) -> Shape:
    """The shape of some lines in their order."""
    headlines = dated = texts = runs = more = 0
    longest, below = 0.0, False
    for place, line in enumerate(lines):
        if line.link_size and line.link_size <= MORE_LINK and line.text.rstrip(AROUND_MORE).lower().endswith(MORE):
            more += 1
        if is_headline(line):
            headlines += 1
            dated += is_dated(lines, place)
            below = True
        elif line.size >= TEASER:
            texts += 1
            runs += below
            longest, below = max(longest, line.size), False
    return Shape(headlines, dated, texts, runs, longest, more)


def is_dated(lines: Sequence[Line], place: int) -> bool:
    """A day stands beside a headline, or on a line of its own below it."""
    line = lines[place]
    if line.size > line.link_size:
        return DAY.search(line.text) is not None
    below = lines[place + 1] if place + 1 < len(lines) else None
    return below is not None and below.size <= DAY_LINE and DAY.search(below.text) is not None


def link_share(layout: Layout) -> float:
    """Share of link text in the text of the page, 0 to 1."""
    left_out = layout.left_out
    total = left_out.size + sum(line.size for line in layout.lines)
    linked = left_out.link_size + sum(min(line.link_size, line.size) for line in layout.lines)
    return linked / total if total else 0.0
