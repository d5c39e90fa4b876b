"""The headline above a page's text, where it leads to another page: then the text may be that page's, not this one's.

    <title>Posts tagged oil - Blog</title> <h1>oil</h1>
    <h2><a href="/2024/05/01/wells/">New wells</a></h2> <p>On Monday ...</p>        below another page's headline

    <title>New wells - Blog</title> <h1><a href="/2024/05/01/wells/">New wells</a></h1>    ... below its own: no teaser

Where the page has no headline of its own and nothing else says that it is an article, that is a list. Else the store
knows whether the other page has that text (teasers.py): an article may show another one's headline as well.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote, urljoin, urlsplit

from docstore.model import Teaser
from docstore.page_roles.pagination import is_same_site, site_host
from extractor.body_methods.base import Body
from extractor.fields.site_name import normalize_letters
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import MAX_TEXT_LINK_SHARE, Layout, Line
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import attribute_value, parse_attributes, unescape_markup

MAX_HEADLINE_LOOKBACK_LINES = 25  # lines above the first sentence in which its headline is looked for
MIN_SENTENCE_SIZE = 15.0  # shortest line that is text, in Chinese characters
FULL_LINK_SHARE = 0.9  # share of link text in a line that is one link
MIN_HEADLINE_SIZE, MAX_HEADLINE_SIZE = 2.0, 90.0  # sizes of a headline
MIN_OWN_TITLE_LETTERS = 4  # letters of a headline that <title> may hold by chance
MAX_SAMPLE_LINES, MAX_SAMPLE_LINE_CHARS = 5, 60  # lines of the text below that are kept, and characters of each
TITLE_CLASS_RE = re.compile(r"title|headline|heading|subject|biaoti")
REPLY_PREFIX_RE = re.compile(
    r"(?:(?:re|aw|sv|回复)\s*[:：]\s*)+", re.I
)  # what an answer in a forum has before the title
INDEX_FILE_RE = re.compile(r"/(?:index|default)\.\w{2,5}$")
FILE_EXTENSION_RE = re.compile(r"\.(?:s?html?|php|aspx?|jsp)$")


def find_teaser(page: ParsedPage, body: Body | None) -> Teaser | None:
    """The headline that the text of a page stands below, if it leads to another page of the site, and the page does not
    call itself so.
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
    """The beginnings of some lines, the first among them."""
    step = max(1, -(-len(lines) // MAX_SAMPLE_LINES))
    return tuple(line.text[:MAX_SAMPLE_LINE_CHARS] for line in lines[::step])


def has_own_headline_above(page: ParsedPage, headline_index: int) -> bool:
    """Above a headline stands one that the page calls itself, and that is not the site's name with a way home."""
    for line in page.layout.lines[:headline_index]:
        if is_title_like_line(page.layout, line) and is_page_title(page, line):
            url = link_target(line, base_url(page))
            if not url or normalized_page_url(url) == normalized_page_url(page.url):
                return True
    return False


def find_headline_above(page: ParsedPage, body_lines: Sequence[int]) -> int:
    """The line of the headline above the first sentence of a body, -1 for none.

    Headings of the body without a link are its text's own: the headline stands above them.
    """
    lines = page.layout.lines
    first_sentence = next((line_index for line_index in body_lines if is_sentence(lines[line_index])), body_lines[0])
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
    """The sentences of a body from a headline to the next one that is a link as a whole."""
    sentences = []
    for line_index in body_lines:
        line = layout.lines[line_index]
        if line_index > headline_index and is_title_like_line(layout, line) and line.link_share >= FULL_LINK_SHARE:
            break
        if line_index > headline_index and is_sentence(line):
            sentences.append(line)
    return sentences


def is_sentence(line: Line) -> bool:
    """A line of text."""
    return line.size >= MIN_SENTENCE_SIZE and line.link_share < MAX_TEXT_LINK_SHARE


def is_title_like_line(layout: Layout, line: Line) -> bool:
    """A heading, or a link that is called a title."""
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
    """The page calls itself what the line says."""
    letters = normalize_letters(REPLY_PREFIX_RE.sub("", line.text))
    declared_titles = (page.title, page.metas.get("og:title", ""))
    return len(letters) >= MIN_OWN_TITLE_LETTERS and any(letters in normalize_letters(text) for text in declared_titles)


def is_own_headline(page: ParsedPage, headline: Line, url: str) -> bool:
    """The headline is the page's own: it leads to the page itself in some spelling, to a front page or another site, or
    the page calls itself so.
    """
    if (
        not is_same_site(page.url, url)
        or not normalized_page_url(url).partition("/")[2]
        or is_page_title(page, headline)
    ):
        return True
    canonical_url = urljoin(page.url, page.head_links.get("canonical", ""))
    return normalized_page_url(url) in (normalized_page_url(page.url), normalized_page_url(canonical_url))


def link_target(line: Line, base: str) -> str:
    """The one URL that a line leads to as a whole, "" for another line."""
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
    """What relative links are relative to."""
    try:
        return urljoin(page.url, page.head_links.get("base", ""))
    except ValueError:
        return page.url


def normalized_page_url(url: str) -> str:
    """What the spellings of one page's URL have in common: scheme, www., the index file, the file's ending, a slash
    at the end, and the fragment apart.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = INDEX_FILE_RE.sub("/", unquote(parts.path).lower())
    query = f"?{parts.query}" if parts.query else ""
    return f"{site_host(url)}{FILE_EXTENSION_RE.sub('', path).rstrip('/')}{query}"
