"""What is left out of a page's layout: menus, footers and lists of links, looked through once and counted."""

import re
from dataclasses import dataclass

from extractor.page.layout import BoilerplateSkip, size_of
from extractor.page.markup_hints import Hint, TagInfo
from extractor.page.tokens import odd_start

# It holds no text outside links that is longer than a label, in Chinese characters, nor a year ...
LONGEST_LABEL = 12.0
YEAR = re.compile(r"(?:19|20)\d\d")
# ... and none of these elements.
TELLING = frozenset(("h1", "main", "article", "time"))
LISTS = ("ul", "ol")
SHORTEST_LIST = 3  # links that make a list of links
LONGEST_LOSS = 20.0  # of one link's text
HEADLINE = 6.0  # shortest link that may be a headline


@dataclass(slots=True)
class Scan(BoilerplateSkip):
    """An element looked through: what it holds, the token of its end tag (0: it must be read), and tokens looked at."""

    end: int = 0
    tokens: int = 0
    elements: int = 0
    links: int = 0
    loss: float = 0.0


def may_be_left_out(facts: TagInfo) -> bool:
    """It is called no part of the article, or is a list."""
    return facts.apart or facts.tag in LISTS


def is_left_out(facts: TagInfo, found: Scan) -> bool:
    """Nothing in it must be read; and a list is one of links."""
    return found.end > 0 and (facts.apart or found.links >= max(SHORTEST_LIST, found.rows))


def scan(tokens: list[str], at: int, facts: TagInfo, most: int) -> Scan:
    """Look through the element whose first token is `at`, at most `most` tokens far.

    Years are let pass in what is called comments or footer.
    """
    tag, close, dated = facts.tag, "/" + facts.tag, facts.hint is not Hint.AFTER
    found, depth, elements, in_link, place = Scan(), 1, 0, False, at - 1
    for place in range(at, min(len(tokens), at + most)):
        head, _, text = tokens[place].partition(">")
        if head == close:
            depth -= 1
            if depth == 0:
                found.end = place
                break
        elif head == "/a":
            in_link = False
        elif head[:1] != "/":
            elements += 1
            name = head.partition(" ")[0]
            if not name.isalnum():
                name = odd_start(head)[0]
            if name == tag:
                depth += head[-1:] != "/"
            elif name == "a":
                in_link = head not in ("a", "a ")
            elif name in TELLING:
                break
        if text and not text.isspace():
            size = count(found, text, in_link)
            if not in_link and (size >= LONGEST_LABEL or (dated and YEAR.search(text))):
                break
    found.elements = elements
    found.tokens = place - at + 1
    return found


def count(found: Scan, text: str, in_link: bool) -> float:
    """Count one run of text; returns its size."""
    size = size_of(text)
    found.size += size
    found.rows += 1
    if in_link:
        found.link_size += size
        found.links += 1
        found.headlines += size >= HEADLINE
        found.loss += min(size, LONGEST_LOSS)
    return size
