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

A page is also a list if its text may be a teaser of the page that the headline above it links to (`find_teaser`):

    <title>Posts tagged oil - Blog</title> <h1>oil</h1>
    <h2><a href="/2024/05/01/wells/">New wells</a></h2> <p>On Monday ...</p>        below another page's headline

    <title>New wells - Blog</title> <h1><a href="/2024/05/01/wells/">New wells</a></h1>    ... below its own: no teaser

That holds for a page without a headline of its own and without other signals of an article. For other pages the store
checks whether the linked page contains the text (docstore/page_roles/teasers.py): an article may also show another
article's headline.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from domain.article import Teaser
from domain.message import Message
from domain.pagination import is_same_site, site_host
from extractor.fields.metadata import absolute_url
from extractor.fields.title_matching import is_near_title, normalize_letters
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import MAX_TEXT_LINK_SHARE, MIN_STORY_PARAGRAPHS, Layout, Line, Span, text_size
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import attribute_value, parse_attributes, unescape_markup
from extractor.page_types.page_signals import CHANNEL_URL_SCORE, PageSignals, is_headline_line, url_score
from extractor.settings import ExtractSettings

# Sizes are in Chinese characters.
MIN_ARTICLE_TITLE_SIZE = 6.0  # a shorter title names a channel, not an article
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
MAX_DATE_LINE_SIZE = 10.0  # a longer line contains more than a date
READ_MORE_PHRASES = (
    "阅读全文", "閱讀全文", "查看全文", "阅读更多", "查看更多", "查看详情", "了解更多", "了解详情", "詳細內容",
    "继续阅读", "read more", "continue reading", "learn more", "read article", "full story", "full article",
    "keep reading", "weiterlesen", "lire la suite", "leer más",
)  # fmt: skip
MIN_STORY_PARAGRAPH_SIZE = 20.0
MIN_OWN_PARAGRAPH_SIZE = 40.0  # of the introduction of a collection
MAX_OWN_PARAGRAPH_DISTANCE_LINES = 12  # of the introduction from the title
MAX_READ_MORE_SIZE = 10.0  # a longer link is not a "read more" link
READ_MORE_TRAILING_CHARS = " .…»›>→]】）)"


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


def find_list_reason(signals: PageSignals, body: Body | None, size: float, settings: ExtractSettings) -> str:
    """Return why a page is a list as a coded message, or an empty string.

    `size` is the size of its body in Chinese characters.

    Page-level and body-level evidence describe the same links, so only the stronger of the two is counted.
    """
    if body is not None and body.line_indices:
        lines = (signals.page.layout.lines[index] for index in body.line_indices)
        size = min(size, sum(line.size - min(line.link_size, line.size) for line in lines))
    evidence_sets = [
        evidence
        for evidence in (
            page_list_evidence(signals.page.layout, size, settings),
            body_list_evidence(signals.page.layout, body),
        )
        if evidence
    ]
    if not evidence_sets:
        return ""
    strongest_evidence = min(evidence_sets, key=lambda evidence: sum(score for score, _ in evidence))
    score = sum(score for score, _ in strongest_evidence) + article_score(signals, body)
    if score >= 0:
        return ""
    reasons = tuple(reason for _, reason in strongest_evidence)
    return Message("{reasons}", reasons=reasons)


def find_teaser_reason(signals: PageSignals, body: Body | None, teaser: Teaser | None) -> str:
    """Return why a page whose text is below another page's headline is a list.

    Returns an empty string if the page alone cannot decide. A headline of its own says nothing on a page whose URL is
    that of a channel or a month, or of the folder of the other page.
    """
    if teaser is None or text_size(teaser.headline) < MIN_ARTICLE_TITLE_SIZE:
        return ""
    folder = signals.page.url.partition("?")[0].rstrip("/") + "/"
    is_archive = teaser.url.startswith(folder) or url_score(signals.page.url) <= CHANNEL_URL_SCORE
    if teaser.is_below_own_headline and not (is_archive and signals.declared_article_score <= 0):
        return ""
    if teaser.sample_lines and article_score(signals, body) > 0:
        return ""
    return Message("The headline links to {url}", url=teaser.url)


def article_score(signals: PageSignals, body: Body | None) -> int:
    """Return the points of head, URL and text position for an article; a negative score means a list."""
    return signals.declared_article_score + position_score(signals, body)


def position_score(signals: PageSignals, body: Body | None) -> int:
    """Return 3 points if a heading that is <title>, or the only dateline, is right above the text; otherwise 0."""
    if body is None or not body.line_indices or signals.is_front_page:
        return 0
    layout = signals.page.layout
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


def page_list_evidence(layout: Layout, size: float, settings: ExtractSettings) -> list[tuple[int, Message]]:
    """Return the list evidence of a page with little text, as (points below 0, reason)."""
    if size > settings.list_longest_body:
        return []
    page_statistics, link_share = line_statistics(layout.lines), page_link_share(layout)
    has_many_headlines = (
        page_statistics.headline_count + layout.skipped.headline_count >= MIN_LIST_HEADLINES
        or page_statistics.dated_headline_count >= MIN_DATED_HEADLINES
    )
    if link_share < settings.list_link_share and (link_share < MIN_HEADLINE_LINK_SHARE or not has_many_headlines):
        return []
    share, dated_count = f"{link_share:.0%}", page_statistics.dated_headline_count
    evidence = [(-2, Message("{share} of the text is links", share=share))]
    if dated_count >= MIN_DATED_HEADLINES:
        evidence.append((-1, Message("1 dated headline", "{n} dated headlines", n=dated_count)))
    return evidence


def body_list_evidence(layout: Layout, body: Body | None) -> list[tuple[int, Message]]:
    """Return the list evidence of the body element, as (points below 0, reason)."""
    if body is None:
        return []
    evidence = list[tuple[int, Message]]()
    span = layout.spans[body.span_index]
    lines = [layout.lines[index] for index in body.line_indices]
    paragraph_count = sum(
        line.size >= MIN_STORY_PARAGRAPH_SIZE and line.has_punctuation and not line.is_link for line in lines
    )
    # The teasers of other articles below a story are not part of it.
    end_line = body.line_indices[-1] + 1 if paragraph_count >= MIN_STORY_PARAGRAPHS else span.end_line
    statistics = line_statistics(layout.lines[span.start_line : end_line])
    if is_teaser_list(statistics):
        evidence.append((-3, Message("The text is teasers between headlines")))
    if (link_count := statistics.read_more_count) >= MIN_READ_MORE_LINKS:
        evidence.append((-3, Message("1 “read more” link", "{n} “read more” links", n=link_count)))
    article_elements = article_elements_in_body(layout, body)
    if len(article_elements) >= MIN_ARTICLE_ELEMENTS and (evidence or covers_most_text(layout, article_elements, span)):
        element_reason = Message("1 <article> element", "{n} <article> elements", n=len(article_elements))
        evidence.append((-2 if evidence else -3, element_reason))
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


def has_own_paragraph(signals: PageSignals) -> bool:
    """Return whether a list has an introduction: a paragraph between its title and the first listed headline."""
    lines, title_line = signals.page.layout.lines, signals.title_line
    if title_line < 0:
        title_line = next((line_index for line_index, line in enumerate(lines) if line.tag == "h1"), -1)
    if title_line < 0:
        return False
    for line_index in range(title_line + 1, min(len(lines), title_line + 1 + MAX_OWN_PARAGRAPH_DISTANCE_LINES)):
        line = lines[line_index]
        if is_headline_line(line):
            return False
        if signals.readable_mask[line_index] and line.size >= MIN_OWN_PARAGRAPH_SIZE and line.has_punctuation:
            return True
    return False


MAX_HEADLINE_LOOKBACK_LINES = 25  # search range for the headline, above the first sentence
MIN_SENTENCE_SIZE = 15.0  # shorter lines are not text; in Chinese characters
FULL_LINK_SHARE = 0.9  # minimum share of link text in a line that is one link
MIN_HEADLINE_SIZE, MAX_HEADLINE_SIZE = 2.0, 90.0  # in Chinese characters
MIN_OWN_TITLE_LETTERS = 4  # shorter headlines may occur in <title> by chance
MAX_SAMPLE_LINES, MAX_SAMPLE_LINE_CHARS = 5, 60  # stored lines of the text below the headline, and characters of each
TITLE_CLASS_RE = re.compile(r"title|headline|heading|subject|biaoti")
# Prefix of the title of a forum reply.
REPLY_PREFIX_RE = re.compile(r"(?:(?:re|aw|sv|回复)\s*[:：]\s*)+", re.I)
INDEX_FILE_RE = re.compile(r"/(?:index|default)\.\w{2,5}$")
FILE_EXTENSION_RE = re.compile(r"\.(?:s?html?|php|aspx?|jsp)$")


def find_teaser(page: ParsedPage, body: Body | None) -> Teaser | None:
    """Return the linked headline above the body if it leads to another page of the same site, otherwise None.

    A headline that repeats the title of this page does not count.
    """
    if not page.url or body is None or not body.line_indices:
        return None
    lines = page.layout.lines
    headline_index = find_headline_above(page, body.line_indices)
    if headline_index < 0:
        return None
    url = link_target(lines[headline_index], base_url(page))
    if not url or is_own_headline(page, lines[headline_index], url):
        return None
    sample = sample_lines(sentences_below(page.layout, headline_index, body.line_indices))
    return Teaser(url, lines[headline_index].text, sample, has_own_headline_above(page, headline_index))


def sample_lines(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the beginnings of at most MAX_SAMPLE_LINES evenly spaced lines, the first line included."""
    step = max(1, -(-len(lines) // MAX_SAMPLE_LINES))
    return tuple(line.text[:MAX_SAMPLE_LINE_CHARS] for line in lines[::step])


def has_own_headline_above(page: ParsedPage, headline_index: int) -> bool:
    """Return whether a heading above `headline_index` repeats the page title and does not link to another page.

    A linked site name in the page header does not count.
    """
    for line in page.layout.lines[:headline_index]:
        if is_title_like_line(page.layout, line) and is_page_title(page, line):
            url = link_target(line, base_url(page))
            if not url or normalized_page_url(url) == normalized_page_url(page.url):
                return True
    return False


def find_headline_above(page: ParsedPage, body_lines: Sequence[int]) -> int:
    """Return the line index of the headline above the first sentence of a body, -1 for none.

    Headings inside the body that are not links are subheadings of its text: the headline is above them.
    """
    lines = page.layout.lines
    first_sentence = next((line_index for line_index in body_lines if is_text_line(lines[line_index])), body_lines[0])
    body_line_set = frozenset(body_lines)
    for line_index in range(first_sentence, max(-1, first_sentence - MAX_HEADLINE_LOOKBACK_LINES), -1):
        if not is_title_like_line(page.layout, lines[line_index]):
            continue
        if (
            link_target(lines[line_index], base_url(page))
            or is_page_title(page, lines[line_index])
            or line_index not in body_line_set
        ):
            return line_index
    return -1


def sentences_below(layout: Layout, headline_index: int, body_lines: Sequence[int]) -> list[Line]:
    """Return the sentences of a body below a headline, up to the next fully linked headline."""
    sentences = []
    for line_index in body_lines:
        line = layout.lines[line_index]
        if line_index > headline_index and is_title_like_line(layout, line) and line.link_share >= FULL_LINK_SHARE:
            break
        if line_index > headline_index and is_text_line(line):
            sentences.append(line)
    return sentences


def is_text_line(line: Line) -> bool:
    """Return whether a line is long enough to be text and is mostly outside links."""
    return line.size >= MIN_SENTENCE_SIZE and line.link_share < MAX_TEXT_LINK_SHARE


def is_title_like_line(layout: Layout, line: Line) -> bool:
    """Return whether a line is a heading, or a link whose class names it a title."""
    if not MIN_HEADLINE_SIZE <= line.size <= MAX_HEADLINE_SIZE:
        return False
    if line.tag in HEADING_TAGS:
        return True
    if line.link_share < FULL_LINK_SHARE:
        return False
    class_names = [attribute_value("class", attribute_text).lower() for _, _, attribute_text in line.links]
    if line.span_index >= 0:
        class_names.append(layout.spans[line.span_index].tag_info.identifiers)
    return any(TITLE_CLASS_RE.search(name) for name in class_names)


def is_page_title(page: ParsedPage, line: Line) -> bool:
    """Return whether the text of a line is part of <title> or og:title."""
    letters = normalize_letters(REPLY_PREFIX_RE.sub("", line.text))
    declared_titles = (page.title, page.metas.get("og:title", ""))
    return len(letters) >= MIN_OWN_TITLE_LETTERS and any(letters in normalize_letters(text) for text in declared_titles)


def is_own_headline(page: ParsedPage, headline: Line, url: str) -> bool:
    """Return whether a headline belongs to this page.

    It does if it repeats the page title, or if it links to this page (in any spelling of the URL), to a home page or to
    another site.
    """
    if (
        not is_same_site(page.url, url)
        or not normalized_page_url(url).partition("/")[2]
        or is_page_title(page, headline)
    ):
        return True
    canonical_url = absolute_url(page.url, page.head_links.get("canonical", ""))
    return normalized_page_url(url) in (normalized_page_url(page.url), normalized_page_url(canonical_url))


def link_target(line: Line, base: str) -> str:
    """Return the only URL that a fully linked line leads to, or an empty string."""
    if line.link_share < FULL_LINK_SHARE:
        return ""
    hrefs = {
        unescape_markup(parse_attributes(attribute_text).get("href", "")).strip() for _, _, attribute_text in line.links
    }
    try:
        urls = {urljoin(base, href).partition("#")[0] for href in hrefs if href and href[0] != "#"}
    except ValueError:
        return ""
    url = urls.pop() if len(urls) == 1 else ""
    return url if url.startswith(("http://", "https://")) else ""


def base_url(page: ParsedPage) -> str:
    """Return the base URL for relative links."""
    try:
        return urljoin(page.url, page.head_links.get("base", ""))
    except ValueError:
        return page.url


def normalized_page_url(url: str) -> str:
    """Return the common part of all spellings of a page's URL.

    Removes scheme, "www.", the name of an index file, the file extension, a trailing slash and the fragment.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = INDEX_FILE_RE.sub("/", unquote(parts.path).lower())
    query = f"?{parts.query}" if parts.query else ""
    return f"{site_host(url)}{FILE_EXTENSION_RE.sub('', path).rstrip('/')}{query}"
