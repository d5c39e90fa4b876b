"""What is left out of a page's layout: menus, footers and lists of links, looked through once and counted."""

import re
from dataclasses import dataclass

from extractor.page.layout import SkippedContent, text_size
from extractor.page.tag_info import Hint, TagInfo
from extractor.page.tokenizer import parse_odd_start_tag

# It holds no text outside links that is longer than a label, in Chinese characters, nor a year ...
MAX_LABEL_SIZE = 12.0
YEAR_RE = re.compile(r"(?:19|20)\d\d")
# ... and none of these elements.
CONTENT_TAGS = frozenset(("h1", "main", "article", "time"))
LIST_TAGS = ("ul", "ol")
MIN_LINK_LIST_ITEMS = 3  # links that make a list of links
MAX_LOSS_PER_LINK = 20.0  # of one link's text
MIN_HEADLINE_SIZE = 6.0  # shortest link that may be a headline


@dataclass(slots=True)
class ElementScan(SkippedContent):
    """An element looked through: what it holds, the token of its end tag (0: it must be read), and tokens looked at."""

    end_token: int = 0
    token_count: int = 0
    element_count: int = 0
    link_count: int = 0
    skipped_link_size: float = 0.0


def may_skip(tag_info: TagInfo) -> bool:
    """It is called no part of the article, or is a list."""
    return tag_info.is_boilerplate or tag_info.tag in LIST_TAGS


def should_skip(tag_info: TagInfo, result: ElementScan) -> bool:
    """Nothing in it must be read; and a list is one of links."""
    return result.end_token > 0 and (
        tag_info.is_boilerplate or result.link_count >= max(MIN_LINK_LIST_ITEMS, result.line_count)
    )


def scan_element(tokens: list[str], start: int, tag_info: TagInfo, max_tokens: int) -> ElementScan:
    """Look through the element whose first token is `start`, at most `max_tokens` tokens far.

    Years are let pass in what is called comments or footer.
    """
    tag, end_tag, checks_years = tag_info.tag, "/" + tag_info.tag, tag_info.hint is not Hint.FOOTER_OR_COMMENTS
    result, depth, elements, in_link, position = ElementScan(), 1, 0, False, start - 1
    for position in range(start, min(len(tokens), start + max_tokens)):
        tag_text, _, text = tokens[position].partition(">")
        if tag_text == end_tag:
            depth -= 1
            if depth == 0:
                result.end_token = position
                break
        elif tag_text == "/a":
            in_link = False
        elif tag_text[:1] != "/":
            elements += 1
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
            size = count_text_run(result, text, in_link)
            if not in_link and (size >= MAX_LABEL_SIZE or (checks_years and YEAR_RE.search(text))):
                break
    result.element_count = elements
    result.token_count = position - start + 1
    return result


def count_text_run(result: ElementScan, text: str, in_link: bool) -> float:
    """Count one run of text; returns its size."""
    size = text_size(text)
    result.size += size
    result.line_count += 1
    if in_link:
        result.link_size += size
        result.link_count += 1
        result.headline_count += size >= MIN_HEADLINE_SIZE
        result.skipped_link_size += min(size, MAX_LOSS_PER_LINK)
    return size
