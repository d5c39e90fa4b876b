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

from docstore.grouping.pagination import is_same_site, site_of
from docstore.model import Teaser
from extractor.fields.site_name import letters_of
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.dom import HEADINGS
from extractor.page.layout import LINK_LINE, Layout, Line
from extractor.page.markup_hints import attributes_of, plain, value_of

ABOVE = 25  # lines above the first sentence in which its headline is looked for
SENTENCE = 15.0  # shortest line that is text, in Chinese characters
ALL_LINK = 0.9  # share of link text in a line that is one link
SHORTEST, LONGEST = 2.0, 90.0  # sizes of a headline
MIN_OWN = 4  # letters of a headline that <title> may hold by chance
MAX_LINES, MAX_LINE = 5, 60  # lines of the text below that are kept, and characters of each
NAMED = re.compile(r"title|headline|heading|subject|biaoti")
ANSWER = re.compile(r"(?:(?:re|aw|sv|回复)\s*[:：]\s*)+", re.I)  # what an answer in a forum has before the title
INDEX_FILE = re.compile(r"/(?:index|default)\.\w{2,5}$")
FILE_ENDING = re.compile(r"\.(?:s?html?|php|aspx?|jsp)$")


def find_teaser(document: Document, body: Body | None) -> Teaser | None:
    """The headline that the text of a page stands below, if it leads to another page of the site, and the page does not
    call itself so.
    """
    if not document.url or body is None or not body.lines:
        return None
    lines = document.layout.lines
    headline = headline_above(document, body.lines)
    if headline < 0:
        return None
    url = target_of(lines[headline], base_of(document))
    if not url or is_own(document, lines[headline], url):
        return None
    below = sampled(text_below(document.layout, headline, body.lines))
    return Teaser(url, lines[headline].text, below, shows_own(document, headline))


def sampled(lines: Sequence[Line]) -> tuple[str, ...]:
    """The beginnings of some lines, the first among them."""
    step = max(1, -(-len(lines) // MAX_LINES))
    return tuple(line.text[:MAX_LINE] for line in lines[::step])


def shows_own(document: Document, headline: int) -> bool:
    """Above a headline stands one that the page calls itself, and that is not the site's name with a way home."""
    for line in document.layout.lines[:headline]:
        if is_headline(document.layout, line) and is_named(document, line):
            url = target_of(line, base_of(document))
            if not url or page_key(url) == page_key(document.url):
                return True
    return False


def headline_above(document: Document, body: Sequence[int]) -> int:
    """The line of the headline above the first sentence of a body, -1 for none.

    Headings of the body without a link are its text's own: the headline stands above them.
    """
    lines = document.layout.lines
    first = next((place for place in body if is_sentence(lines[place])), body[0])
    own = frozenset(body)
    for place in range(first, max(-1, first - ABOVE), -1):
        if not is_headline(document.layout, lines[place]):
            continue
        if target_of(lines[place], base_of(document)) or is_named(document, lines[place]) or place not in own:
            return place
    return -1


def text_below(layout: Layout, headline: int, body: Sequence[int]) -> list[Line]:
    """The sentences of a body from a headline to the next one that is a link as a whole."""
    found = []
    for place in body:
        line = layout.lines[place]
        if place > headline and is_headline(layout, line) and line.link_share >= ALL_LINK:
            break
        if place > headline and is_sentence(line):
            found.append(line)
    return found


def is_sentence(line: Line) -> bool:
    """A line of text."""
    return line.size >= SENTENCE and line.link_share < LINK_LINE


def is_headline(layout: Layout, line: Line) -> bool:
    """A heading, or a link that is called a title."""
    if not SHORTEST <= line.size <= LONGEST:
        return False
    if line.tag in HEADINGS:
        return True
    if line.link_share < ALL_LINK:
        return False
    names = [value_of("class", attributes).lower() for _, _, attributes in line.anchors]
    if line.span >= 0:
        names.append(layout.spans[line.span].facts.name)
    return any(NAMED.search(name) for name in names)


def is_named(document: Document, line: Line) -> bool:
    """The page calls itself what the line says."""
    letters = letters_of(ANSWER.sub("", line.text))
    stated = (document.title, document.metas.get("og:title", ""))
    return len(letters) >= MIN_OWN and any(letters in letters_of(text) for text in stated)


def is_own(document: Document, headline: Line, url: str) -> bool:
    """The headline is the page's own: it leads to the page itself in some spelling, to a front page or another site, or
    the page calls itself so.
    """
    if not is_same_site(document.url, url) or not page_key(url).partition("/")[2] or is_named(document, headline):
        return True
    named = urljoin(document.url, document.links.get("canonical", ""))
    return page_key(url) in (page_key(document.url), page_key(named))


def target_of(line: Line, base: str) -> str:
    """The one URL that a line leads to as a whole, "" for another line."""
    if line.link_share < ALL_LINK:
        return ""
    found = {plain(attributes_of(attributes).get("href", "")).strip() for _, _, attributes in line.anchors}
    try:
        urls = {urljoin(base, href).partition("#")[0] for href in found if href and href[0] != "#"}
    except ValueError:
        return ""
    url = urls.pop() if len(urls) == 1 else ""
    return url if url.startswith(("http://", "https://")) else ""


def base_of(document: Document) -> str:
    """What relative links are relative to."""
    try:
        return urljoin(document.url, document.links.get("base", ""))
    except ValueError:
        return document.url


def page_key(url: str) -> str:
    """What the spellings of one page's URL have in common: scheme, www., the index file, the file's ending, a slash
    at the end, and the fragment apart.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = INDEX_FILE.sub("/", unquote(parts.path).lower())
    query = f"?{parts.query}" if parts.query else ""
    return f"{site_of(url)}{FILE_ENDING.sub('', path).rstrip('/')}{query}"
