"""Detects list pages. Adds up points for an article and for a list; the table shows every signal and its points.

    for an article                                   for a list
      3  JSON-LD describes an article at this URL      4  JSON-LD describes a collection
      2  a meta gives the date of publication          3  home page; the URL of a channel  2, a short one  1
      1  og:type is article or video                   2  link text outweighs other text
      2  the URL has a date or a long slug,            1  several headlines have dates
      1  a number or a slug                            3  the text is teasers between headlines
      3  the text follows a heading that is <title>    2  several <article>s begin with a headline
      3  one dateline, right above the text            3  "read more" links below several texts

A page is a list if (1) its content looks like a list (link share, teasers, "read more" links, several <article>
elements) and (2) the total score is below 0. Several <article> elements alone count 3 points, and only if they contain
most of the text. A score of 0 means article: indexing one list too many costs less than losing an article.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from domain.article import Teaser
from extractor.body_methods.base import Body
from extractor.fields.dates.date_parsing import find_date_in_url
from extractor.fields.json_ld import PAGE_IS_ARTICLE, PAGE_IS_COLLECTION, find_json_ld_article
from extractor.fields.title_anchor import is_near_title
from extractor.page.layout import Layout, Line, Span, text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import attribute_value
from extractor.page.urls import path_segments
from extractor.settings import ExtractSettings

# Sizes are in Chinese characters.
MIN_ARTICLE_TITLE_SIZE = 6.0  # a shorter title names a channel, not an article
MIN_HEADLINE_SIZE = 6.0  # a shorter link is not a headline
MAX_TEXT_SIZE_BESIDE_HEADLINE = 12.0  # a date, a name or a number on the line of a headline
MIN_TEASER_SIZE = 15.0  # a shorter text between headlines is not a teaser
MAX_TEASER_SIZE = 100.0  # a longer paragraph may be a summary, not a teaser ...
MAX_SUMMARY_SIZE = 300.0  # ... and an even longer paragraph is not a summary
# A page with little text is a list if it has one of these numbers of headlines, and this share of link text.
MIN_LIST_HEADLINES = 12
MIN_DATED_HEADLINES = 5
MIN_HEADLINE_LINK_SHARE = 0.4
MIN_BODY_HEADLINES = 8  # a body with fewer headlines is not a list of teasers ...
MIN_HEADLINE_TEXT_PAIRS = 4  # ... unless at least this number of texts follow a headline each
MIN_ARTICLE_ELEMENTS = 3  # <article> elements that begin with a headline
MIN_READ_MORE_LINKS = 4
DATELINE_RE = re.compile(
    "(?:时间|時間|日期)[:：].{0,40}(?:来源|來源|作者|编辑|浏览|点击|阅读)|(?:来源|來源|作者)[:：].{0,40}(?:时间|時間|日期)[:：]"
)
DATELINE_LOOKBACK_LINES = 3  # search range for the dateline, above the body
DATE_RE = re.compile(r"(?<!\d)(?:(?:19|20)\d\d\s?[-/.年]\s?)?\d{1,2}\s?[-/.月]\s?\d{1,2}(?!\d)|20\d\d")
RELATIVE_TIME_RE = re.compile(  # "2 days ago", as forums show it for a topic and for its last reply
    r"\b(?:\d{1,6} (?:year|month|week|day|hour|min(?:ute)?|sec(?:ond)?)s? )+ago\b"
    r"|(?<!\d)\d{1,6}\s?(?:年|个月|周|天|小时|分钟|秒)前",  # bounded: linear time for long digit runs
    re.I,
)
MAX_DATE_LINE_SIZE = 10.0  # a longer line contains more than a date
READ_MORE_PHRASES = (
    "阅读全文", "閱讀全文", "查看全文", "阅读更多", "查看更多", "查看详情", "了解更多", "了解详情", "詳細內容",
    "继续阅读", "read more", "continue reading", "learn more", "read article", "full story", "full article",
    "keep reading", "weiterlesen", "lire la suite", "leer más",
)  # fmt: skip
MAX_READ_MORE_SIZE = 10.0  # a longer link is not a "read more" link
FRAGMENT_LINK_RE = re.compile(r"#[^\s!/]")
READ_MORE_TRAILING_CHARS = " .…»›>→]】）)"
FRONT_PAGE_PATH_RE = re.compile(r"/?(?:(?:index|default|home|main)(?:\.\w{2,5})?/?)?", re.I)
CHANNEL_SEGMENTS = frozenset(
    (
        "tag", "tags", "category", "categories", "topic", "topics", "search", "list", "lists", "author", "authors",
        "channel", "channels", "page", "label", "labels", "section", "sections", "forum", "forums", "board", "feed",
        "results",
    )
)  # fmt: skip
CHANNEL_FILE_RE = re.compile(
    r"(?:(?:index|list|forum|default|page|search|channel|col|class|column)(?:[-_]?\d{1,9}){0,2}|(?:node|tag|board)_\d{1,9})"
    r"(?:\.\w{2,5})?"
)
LIST_QUERY_KEYS = frozenset(("q", "query", "s", "search", "keyword", "keywords", "wd", "kw", "page", "tag"))
FILE_EXTENSION_RE = re.compile(r"\.(?:s?html?|php|aspx?|jsp|do)$")
LONG_NUMBER_RE = re.compile(r"\d{4,}")
SLUG_WORD_RE = re.compile(r"[^\W\d_]+")
MIN_SLUG_WORDS, MIN_LONG_SLUG_WORDS = 4, 6
HAN_CHARS_PER_WORD = 2  # Chinese characters that count as one word of a slug
PUBLISHED_META_NAMES = (
    "article:published_time",
    "og:article:published_time",
    "datepublished",
    "pubdate",
    "publishdate",
)
OG_ARTICLE_TYPES = ("article", "video", "news", "blog", "post")


@dataclass(frozen=True, slots=True)
class LineStatistics:
    """Counts of a sequence of lines: headlines, dated headlines, texts, and texts that follow a headline.

    Attributes:
        headline_text_pairs: Number of texts that directly follow a headline.
        longest_text_size: Size of the longest text in Chinese characters.
        read_more_count: Number of "read more" links.
    """

    headline_count: int
    dated_headline_count: int
    text_count: int
    headline_text_pairs: int
    longest_text_size: float
    read_more_count: int


def find_list_reason(page: ParsedPage, body: Body | None, size: float, settings: ExtractSettings) -> str:
    """Return why a page is a list, or an empty string. `size` is the size of its body in Chinese characters.

    Page-level and body-level evidence describe the same links, so only the stronger of the two is counted.
    """
    evidence_sets = [
        evidence for evidence in (page_list_evidence(page, size, settings), body_list_evidence(page, body)) if evidence
    ]
    if not evidence_sets:
        return ""
    strongest_evidence = min(evidence_sets, key=lambda evidence: sum(score for score, _ in evidence))
    score = sum(score for score, _ in strongest_evidence) + article_score(page, body)
    return "; ".join(reason for _, reason in strongest_evidence) if score < 0 else ""


def find_teaser_reason(page: ParsedPage, body: Body | None, teaser: Teaser | None) -> str:
    """Return why a page whose text is below another page's headline is a list.

    Returns an empty string if the page alone cannot decide.
    """
    if teaser is None or teaser.is_below_own_headline or text_size(teaser.headline) < MIN_ARTICLE_TITLE_SIZE:
        return ""
    if teaser.sample_lines and article_score(page, body) > 0:
        return ""
    return f"headline links to {teaser.url}"


def article_score(page: ParsedPage, body: Body | None) -> int:
    """Return the points of head, URL and text position for an article; a negative score means a list."""
    return declared_score(page) + url_score(page.url) + position_score(page, body)


def declared_score(page: ParsedPage) -> int:
    """Return the points of the declared metadata: JSON-LD, date metas and og:type."""
    metas = page.metas
    json_ld_article = find_json_ld_article(page.json_ld, page.url)
    score = {PAGE_IS_ARTICLE: 3, PAGE_IS_COLLECTION: -4}.get(
        json_ld_article.page_kind, 1 if json_ld_article.published else 0
    )
    score += 2 * any(name in metas for name in PUBLISHED_META_NAMES)
    return score + metas.get("og:type", "").lower().startswith(OG_ARTICLE_TYPES)


def is_declared_article(page: ParsedPage) -> bool:
    """Return whether metadata and URL declare an article. The text position does not count: lists have it too."""
    return declared_score(page) + url_score(page.url) > 0


def position_score(page: ParsedPage, body: Body | None) -> int:
    """Return 3 points if a heading that is <title>, or the only dateline, is right above the text; otherwise 0."""
    if body is None or not body.line_indices or FRONT_PAGE_PATH_RE.fullmatch(path_without_query(page.url)):
        return 0
    layout = page.layout
    title_line, first_line, span = body.title_line, body.line_indices[0], layout.spans[body.span_index]
    if (
        is_near_title(span, title_line, layout.lines)
        and layout.lines[title_line].size >= MIN_ARTICLE_TITLE_SIZE
        and body.text != layout.lines[title_line].text
    ):
        return 3
    lines_above = layout.lines[max(0, first_line - DATELINE_LOOKBACK_LINES) : first_line]
    if not any(DATELINE_RE.search(line.text) for line in lines_above):
        return 0
    return 3 * (
        sum(DATELINE_RE.search(line.text) is not None for line in layout.lines[span.start_line : span.end_line]) < 2
    )


def path_without_query(url: str) -> str:
    """Return the path of a URL; "-" if the URL is empty, malformed or has a query, so that it cannot be a home page."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "-"
    return parts.path if parts.netloc and not parts.query else "-"


def url_score(url: str) -> int:
    """Return the points of the URL: positive for one article, negative for a home page or a channel."""
    try:
        parts = urlsplit(url)
        query_params = parse_qsl(parts.query, max_num_fields=50)
    except ValueError:
        return 0
    if not parts.netloc:
        return 0
    if not parts.query and FRONT_PAGE_PATH_RE.fullmatch(parts.path):
        return -3
    segments = path_segments(url)
    score = article_path_score(segments)
    if is_channel_path(segments) or (not score and any(key.lower() in LIST_QUERY_KEYS for key, _ in query_params)):
        return -2
    if score or any(LONG_NUMBER_RE.search(value) for _, value in query_params):
        return max(1, score)
    return (
        -1
        if segments
        and not query_params
        and not FILE_EXTENSION_RE.search(segments[-1])
        and not any(map(str.isdigit, segments[-1]))
        else 0
    )


def is_channel_path(segments: Sequence[str]) -> bool:
    """Return whether a path names a channel, a search, a page of a channel, or only a date."""
    # Articles have index pages too: /2016/05/09/oil/index.html
    if segments and CHANNEL_FILE_RE.fullmatch(segments[-1]):
        return is_channel_path(segments[:-1]) or article_path_score(segments[:-1]) == 0
    if segments and all(segment.isdecimal() and len(segment) <= 4 for segment in segments):
        return True
    if CHANNEL_SEGMENTS.isdisjoint(segments[-3:]):
        return False
    score = article_path_score(segments)
    return score == 0 or (score == 1 and not CHANNEL_SEGMENTS.isdisjoint(segments[-2:]))


def article_path_score(segments: Sequence[str]) -> int:
    """Return the points of a path: 2 for a date or a long slug, 1 for a slug or a long number, otherwise 0."""
    if not segments:
        return 0
    last_segment = FILE_EXTENSION_RE.sub("", segments[-1])
    han_count = sum(char > "\u2e80" for char in last_segment)
    word_count = len(SLUG_WORD_RE.findall(last_segment)) + han_count // HAN_CHARS_PER_WORD
    if word_count >= MIN_LONG_SLUG_WORDS or len(find_date_in_url("/".join(("", "", *segments)))) == len("2016-05-09"):
        return 2
    return int(word_count >= MIN_SLUG_WORDS or LONG_NUMBER_RE.search(last_segment) is not None)


def page_list_evidence(page: ParsedPage, size: float, settings: ExtractSettings) -> list[tuple[int, str]]:
    """Return the list evidence of a page with little text, as (points below 0, reason)."""
    if size > settings.list_longest_body:
        return []
    layout = page.layout
    page_statistics, link_share = line_statistics(layout.lines), page_link_share(layout)
    has_many_headlines = (
        page_statistics.headline_count + layout.skipped.headline_count >= MIN_LIST_HEADLINES
        or page_statistics.dated_headline_count >= MIN_DATED_HEADLINES
    )
    if link_share < settings.list_link_share and (link_share < MIN_HEADLINE_LINK_SHARE or not has_many_headlines):
        return []
    dated_evidence = (
        [(-1, f"{page_statistics.dated_headline_count} dated headlines")]
        if page_statistics.dated_headline_count >= MIN_DATED_HEADLINES
        else []
    )
    return [(-2, f"{link_share:.0%} of the text is links"), *dated_evidence]


def body_list_evidence(page: ParsedPage, body: Body | None) -> list[tuple[int, str]]:
    """Return the list evidence of the body element, as (points below 0, reason)."""
    if body is None:
        return []
    layout, evidence = page.layout, list[tuple[int, str]]()
    span = layout.spans[body.span_index]
    statistics = line_statistics(layout.lines[span.start_line : span.end_line])
    if is_teaser_list(statistics):
        evidence.append((-3, "the text is teasers between headlines"))
    if statistics.read_more_count >= MIN_READ_MORE_LINKS:
        evidence.append((-3, f'{statistics.read_more_count} "read more" links'))
    article_elements = article_elements_in_body(layout, body)
    if len(article_elements) >= MIN_ARTICLE_ELEMENTS and (evidence or covers_most_text(layout, article_elements, span)):
        evidence.append((-2 if evidence else -3, f"{len(article_elements)} <article> elements"))
    return evidence


def is_teaser_list(statistics: LineStatistics) -> bool:
    """Return whether the lines are teasers or summaries between headlines.

    True if there are at least as many headlines as texts and no text is longer than a teaser; or if most texts follow a
    headline and no text is longer than a summary.
    """
    if (
        statistics.headline_count >= max(MIN_BODY_HEADLINES, statistics.text_count)
        and statistics.longest_text_size <= MAX_TEASER_SIZE
    ):
        return True
    is_alternating = (
        statistics.headline_text_pairs >= max(MIN_HEADLINE_TEXT_PAIRS, statistics.text_count / 2)
        and statistics.headline_count >= MIN_HEADLINE_TEXT_PAIRS
    )
    return is_alternating and statistics.longest_text_size <= MAX_SUMMARY_SIZE


def article_elements_in_body(layout: Layout, body: Body) -> list[Span]:
    """Return the <article> elements of the body element that begin with a headline."""
    body_span = layout.spans[body.span_index]
    return [
        span
        for span in layout.spans[body.span_index + 1 :]
        if span.tag_info.tag == "article"
        and body_span.start_line <= span.start_line < span.end_line <= body_span.end_line
        and any(map(is_headline_line, layout.lines[span.start_line : min(span.end_line, span.start_line + 2)]))
    ]  # fmt: skip


def covers_most_text(layout: Layout, article_elements: Sequence[Span], body_span: Span) -> bool:
    """Return whether the article elements contain more than half of the body's text. Otherwise they are cards."""
    covered_lines = {line_index for entry in article_elements for line_index in range(entry.start_line, entry.end_line)}
    sizes = {
        line_index: layout.lines[line_index].size for line_index in range(body_span.start_line, body_span.end_line)
    }
    return 2 * sum(sizes[line_index] for line_index in covered_lines) > sum(sizes.values())


def is_headline_line(line: Line) -> bool:
    """Return whether a line is a link to an article, with at most a date or a name next to the link."""
    if line.link_size < MIN_HEADLINE_SIZE or line.size - line.link_size > MAX_TEXT_SIZE_BESIDE_HEADLINE + sum(
        map(text_size, RELATIVE_TIME_RE.findall(line.text))
    ):
        return False
    return not line.links or not all(is_fragment_link(attribute_text) for _, _, attribute_text in line.links)


def is_fragment_link(attribute_text: str) -> bool:
    """Return whether a link leads to a fragment of its own page, as in a table of contents. "#" alone is a button."""
    return FRAGMENT_LINK_RE.match(attribute_value("href", attribute_text)) is not None


def line_statistics(lines: Sequence[Line]) -> LineStatistics:
    """Count headlines, texts and "read more" links in a sequence of lines."""
    headline_count = dated_headline_count = text_count = headline_text_pairs = read_more_count = 0
    longest_text_size, follows_headline = 0.0, False
    for line_index, line in enumerate(lines):
        if (
            line.link_size
            and line.link_size <= MAX_READ_MORE_SIZE
            and line.text.rstrip(READ_MORE_TRAILING_CHARS).lower().endswith(READ_MORE_PHRASES)
        ):
            read_more_count += 1
        if is_headline_line(line):
            headline_count += 1
            dated_headline_count += has_date_beside(lines, line_index)
            follows_headline = True
        elif line.size >= MIN_TEASER_SIZE:
            text_count += 1
            headline_text_pairs += follows_headline
            longest_text_size, follows_headline = max(longest_text_size, line.size), False
    return LineStatistics(
        headline_count, dated_headline_count, text_count, headline_text_pairs, longest_text_size, read_more_count
    )


def has_date_beside(lines: Sequence[Line], line_index: int) -> bool:
    """Return whether a headline has a date on its line, or on a separate line below it."""
    line = lines[line_index]
    if line.size > line.link_size:
        return DATE_RE.search(line.text) is not None
    next_line = lines[line_index + 1] if line_index + 1 < len(lines) else None
    return next_line is not None and next_line.size <= MAX_DATE_LINE_SIZE and DATE_RE.search(next_line.text) is not None


def page_link_share(layout: Layout) -> float:
    """Return the share of link text in the text of the page, skipped boilerplate included; 0 to 1."""
    skipped = layout.skipped
    total = skipped.size + sum(line.size for line in layout.lines)
    link_size = skipped.link_size + sum(min(line.link_size, line.size) for line in layout.lines)
    return link_size / total if total else 0.0
