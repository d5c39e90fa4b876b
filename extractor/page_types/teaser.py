"""Finds the linked headline above the text of a page: the text may be a teaser of the page that the headline links to.

    <title>Posts tagged oil - Blog</title> <h1>oil</h1>
    <h2><a href="/2024/05/01/wells/">New wells</a></h2> <p>On Monday ...</p>        below another page's headline

    <title>New wells - Blog</title> <h1><a href="/2024/05/01/wells/">New wells</a></h1>    ... below its own: no teaser

A page without a headline of its own and without other signals of an article is then a list. For other pages the store
checks whether the linked page contains the text (docstore/page_roles/teasers.py): an article may also show another
article's headline.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote, urljoin, urlsplit

from domain.article import Teaser
from domain.pagination import is_same_site, site_host
from extractor.fields.metadata import absolute_url
from extractor.fields.site_name import normalize_letters
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import MAX_TEXT_LINK_SHARE, Layout, Line
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import attribute_value, parse_attributes, unescape_markup

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
