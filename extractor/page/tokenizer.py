"""Splits well-formed markup into tokens: a tag and the text after it, up to the next `<`.

    <li class="a">首页</li>   ->   'li class="a">首页'   '/li>'

Splitting a string is the fastest way to read a page. Menus, footers and link lists are scanned once and only counted.
"""

import re
from dataclasses import dataclass

from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import SkippedContent
from extractor.page.tag_info import Hint, TagInfo

BLOCK_TAGS = frozenset(
    (
        "html", "body", "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend",
        "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
        "thead", "tr", "ul", "caption", *HEADING_TAGS,
    )
)  # fmt: skip
# Name of a tag, its attributes (and "/" if the element is empty), and the text after the tag.
TOKEN_RE = re.compile(r"<(/?[^\s>/]++) ?+([^>]*+)(?:>([^<]*+)|\Z)")
TAG_NAME_RE = re.compile(r"([^\s/]*+) ?+(.*)", re.S)
ODD_END_TAG_RE = re.compile(r"</[^\s>/]*+[^>]")


def tokenize_markup(markup: str) -> list[str]:
    """Split well-formed markup into tokens. Attributes and unusual element names may contain `<` or white space."""
    tokens = markup.split("<")
    del tokens[0]
    if len(tokens) == markup.count(">") and ODD_END_TAG_RE.search(markup) is None:
        return tokens
    return [
        f"{name}>{text}" if name[0] == "/" else f"{name} {attributes}>{text}"
        for name, attributes, text in TOKEN_RE.findall(markup)
    ]


def parse_odd_start_tag(tag_text: str) -> tuple[str, str]:
    """Return name and attributes of a start tag whose name does not end at a space: `br/`, `x-note`.

    >>> parse_odd_start_tag("br/"), parse_odd_start_tag('x-note class="a"')
    (('br', '/'), ('x-note', 'class="a"'))
    """
    match = TAG_NAME_RE.match(tag_text)
    return (match[1], match[2]) if match else (tag_text, "")


# An element is skipped only if it contains no text of this size outside links, no year and none of CONTENT_TAGS.
MAX_LABEL_SIZE = 12.0  # in Chinese characters
YEAR_RE = re.compile(r"(?:19|20)\d\d")
CONTENT_TAGS = frozenset(("h1", "main", "article", "time"))
LIST_TAGS = ("ul", "ol")  # skipped if they are link lists
MIN_LINK_LIST_ITEMS = 3  # a list with fewer links is not a link list
MAX_LOSS_PER_LINK = 20.0  # maximum size counted as skipped for one link
MIN_HEADLINE_SIZE = 6.0  # size of the shortest link that counts as a headline


@dataclass(slots=True)
class ElementScan(SkippedContent):
    """Result of scanning one element: counts and sizes of its content.

    `end_token` is the index of the token of its end tag; 0 means that the element must be laid out.
    `token_count` is the number of tokens scanned. `skipped_link_size` counts at most MAX_LOSS_PER_LINK for each link.
    """

    end_token: int = 0
    token_count: int = 0
    element_count: int = 0
    link_count: int = 0
    skipped_link_size: float = 0.0


def should_skip(tag_info: TagInfo, scan: ElementScan) -> bool:
    """Return whether a scanned element can be skipped: nothing in it must be laid out; a list must be a link list."""
    return scan.end_token > 0 and (
        tag_info.is_boilerplate or scan.link_count >= max(MIN_LINK_LIST_ITEMS, scan.line_count)
    )


def scan_element(tokens: list[str], start: int, tag_info: TagInfo, max_tokens: int) -> ElementScan:
    """Scan the content of an element and count its text and links.

    Stops at the end tag, or at content that must be laid out: long text outside links, a year outside links (years are
    allowed in footers and comments), or one of CONTENT_TAGS.

    Args:
        tokens: Tokens of the page (see `tokenize_markup`).
        start: Index of the first token after the start tag.
        tag_info: Start tag of the element.
        max_tokens: Maximum number of tokens to scan.

    Returns:
        The scan; its `end_token` is 0 if the end tag was not reached.
    """
    tag, end_tag, checks_years = tag_info.tag, "/" + tag_info.tag, tag_info.hint is not Hint.FOOTER_OR_COMMENTS
    depth, in_link, position, end_token = 1, False, start - 1, 0
    element_count = line_count = link_count = headline_count = 0
    total_size = link_size = skipped_link_size = 0.0
    for position in range(start, min(len(tokens), start + max_tokens)):
        tag_text, _, text = tokens[position].partition(">")
        if tag_text[:1] == "/":
            if tag_text == end_tag:
                depth -= 1
                if depth == 0:
                    end_token = position
                    break
            elif tag_text == "/a":
                in_link = False
        else:
            element_count += 1
            name = tag_text.partition(" ")[0]
            if not name.isalnum():
                name = parse_odd_start_tag(tag_text)[0]
            if name == tag:
                depth += tag_text[-1:] != "/"
            elif name == "a":
                in_link = tag_text not in ("a", "a ")
            elif name in CONTENT_TAGS:
                break
        if text and not text.isspace():
            compact = "".join(text.split())
            size = len(compact if compact.isascii() else compact.encode("utf-8", "replace")) / 3  # as in text_size
            total_size += size
            line_count += 1
            if in_link:
                link_size += size
                link_count += 1
                headline_count += size >= MIN_HEADLINE_SIZE
                skipped_link_size += min(size, MAX_LOSS_PER_LINK)
            elif size >= MAX_LABEL_SIZE or (checks_years and YEAR_RE.search(text)):
                break
    token_count = position - start + 1
    totals = (total_size, link_size, headline_count, line_count)
    return ElementScan(*totals, end_token, token_count, element_count, link_count, skipped_link_size)
