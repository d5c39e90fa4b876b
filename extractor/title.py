"""The title of an article: WD-A3 of Wang Du 2019 (METHODS 1.5), with help from og:title and from the body's place.

A3 trusts <title>. Old Chinese pages give all their pages the site's name there, or nothing; then the title is the line
that stands above the text.
"""

import re
from collections.abc import Iterator, Sequence

from lxml.etree import _Element as Element

from extractor.document import Document
from extractor.dom import HEADINGS, text_of
from extractor.lines import Layout, Line, Span, size_of
from extractor.phrases import is_meta_line, is_template
from extractor.similarity import similarity

SIMILAR = 0.5  # headings at least this similar to <title> are the title [D]
SAME = 0.8  # sub-headings in the body, and lines that are no headings, must be this similar
MOST_HEADINGS = 200  # headings looked at on one page
LONGEST = 300  # characters of a title that are kept
SHORTEST = 4.0  # what is left of a title when the site name is cut, in Chinese characters
NAMED_LENGTH = range(6, 40)  # characters of an element named "title" that is one [X]
# Bonus and least similarity to <title> of a heading that is the title.
TITLE_RANK = {"h1": (0.5, 0.5)} | dict.fromkeys(HEADINGS[1:], (0.2, 0.75))
NEAR_TITLE = 15  # lines below the title in which a body is expected to start
LINK_LINE = 0.5  # lines with more link text than this are links
ABOVE = 8  # lines above the body in which its title is looked for
TITLE_SIZE = 4.0, 45.0  # of a line that may be a title, in Chinese characters
# "-" needs space around it between Latin words: "co-op - The Guardian".
SITE_JOINT = re.compile(r"\s*[_|｜—»]+\s*|\s+[-–·•:：]+\s+|(?<=[^\x00-\x7f])-+\s*|\s*-+(?=[^\x00-\x7f])|--+")


def find_title(document: Document, layout: Layout, body: Element | None) -> str:
    """The title of a page, or "" where it has none.

    WD-A3: the heading before (or in) the body most similar to <title>, else <title> without its site name; where that
    is missing, the element named "title". Ours: og:title where <title> is missing, and the line above the body where
    the page shows nothing like its <title>.
    """
    site = document.metas.get("og:site_name", "")
    wanted = [cut_site_name(text, site) for text in (document.title, document.metas.get("og:title", ""))]
    headings = list(headings_before(document.root, body))
    for text in wanted:
        heading = most_similar(headings, text)
        if heading:
            return heading
    stated = wanted[0] or wanted[1]
    if stated and (wanted[1] or is_shown(stated, layout.lines)):
        return stated[:LONGEST]
    return (line_above(layout, body) or stated or named_title(document.root))[:LONGEST]


def cut_site_name(title: str, site: str = "") -> str:
    """A title without the site and channel names behind (or the site's name before) it: `标题_新闻_某网` is 标题.

    What is cut is always shorter than what stays, so `棱镜|很长的标题` stays whole; only a known `site` may be longer.
    """
    title = " ".join(title[: 2 * LONGEST].split())
    joints = list(SITE_JOINT.finditer(title))
    for joint in reversed(joints):
        rest, tail = title[: joint.start()], title[joint.end() :]
        is_site = bool(site) and tail.lower() == site.lower()
        if size_of(rest) < SHORTEST or (size_of(tail) >= size_of(rest) and not is_site):
            break
        title = rest
    if site and joints and title[: joints[0].start()].lower() == site.lower():
        title = title[joints[0].end() :] or title
    return title.strip()


def headings_before(root: Element, body: Element | None) -> Iterator[tuple[str, float]]:
    """Texts of h1..h6 in document order up to the end of the body, each with the least similarity asked of it."""
    within = set(body.iter(*HEADINGS)) if body is not None else set()
    tags = HEADINGS if body is None else (*HEADINGS, str(body.tag))
    passed, count = False, 0
    for element in root.iter(*tags):
        passed = passed or element is body
        if count >= MOST_HEADINGS or (passed and element is not body and element not in within):
            return
        if element.tag in HEADINGS:
            count += 1
            yield text_of(element, LONGEST), SAME if element in within and element.tag != "h1" else SIMILAR


def most_similar(headings: Sequence[tuple[str, float]], title: str) -> str:
    """The heading most similar to a title, or "" where none is similar enough; the first of equals."""
    best, chosen = 0.0, ""
    for text, least in headings:
        likeness = similarity(text, title, least)
        if likeness >= least and likeness > best:
            best, chosen = likeness, text
    return chosen


def is_shown(title: str, lines: Sequence[Line]) -> bool:
    """The page shows its <title>, whole or in part, somewhere in its text outside links."""
    words = title.lower()
    return any(
        line.link_share <= LINK_LINE
        and (words in line.text.lower() or similarity(line.text, title, SIMILAR) >= SIMILAR)
        for line in lines
        if line.size <= 2 * TITLE_SIZE[1]
    )


def line_above(layout: Layout, body: Element | None) -> str:
    """The line nearest above the body's text that may be a title, or ""; named elements and headings first."""
    start = next((span.start for span in layout.spans if span.element is body), -1)
    if start < 0:
        return ""
    first = next((i for i in range(start, len(layout.lines)) if layout.lines[i].size > TITLE_SIZE[1]), start)
    nearby = [line for line in layout.lines[max(0, first - ABOVE) : first] if may_be_title(line)]
    nearby.sort(key=lambda line: line.element.tag in HEADINGS)  # stable: the nearest is still the last
    return nearby[-1].text if nearby else ""


def may_be_title(line: Line) -> bool:
    """Of a title's size, and neither links nor a label nor a line with date and author."""
    if line.link_share > LINK_LINE or not TITLE_SIZE[0] <= line.size <= TITLE_SIZE[1]:
        return False
    if line.text.endswith(("。", "，", ",", "；", ";", "：", ":")):
        return False
    return not (is_meta_line(line.text) or is_template(line.text))


def named_title(root: Element) -> str:
    """Text of the first element whose id or class is "title" (case 2 of WD-A3), 6 to 39 characters long [X]."""
    for element in root.iter():
        if "title" in ((element.get("id") or "").lower(), *(element.get("class") or "").lower().split()):
            text = text_of(element, LONGEST)
            if len(text) in NAMED_LENGTH:
                return text
    return ""


def title_place(lines: Sequence[Line], title: str) -> int:
    """Index of the line that is the title, -1 for none: the first best, h1 before other headings before any line."""
    best, place = 0.0, -1
    for index, line in enumerate(lines):
        if line.size > 2 * TITLE_SIZE[1] or line.link_share > LINK_LINE:
            continue
        rank, least = TITLE_RANK.get(line.element.tag, (0.0, 0.9))
        likeness = similarity(line.text, title, least)
        if likeness >= least and likeness + rank > best:
            best, place = likeness + rank, index
    return place


def is_near(span: Span, title: int) -> bool:
    """The element holds the title, or starts shortly below it."""
    return 0 <= title < span.end and span.start <= title + NEAR_TITLE
