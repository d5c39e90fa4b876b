"""A thread as an article: the question and all answers are its text, each post under its author and time.

What others say below an article is no thread: there the first text stands outside of what repeats, and nothing but
comments does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from docstore.model import Block, BlockKind
from extractor.list_page import is_headline
from extractor.methods.anchor import title_place
from extractor.methods.contract import Body
from extractor.methods.line_scoring import gain_of, is_notice_or_label, weigh_all
from extractor.page.document import Document, with_all_lines
from extractor.page.dom import HEADINGS
from extractor.page.layout import Layout, Line, render
from extractor.page.markup_hints import Hint, value_of
from extractor.page.structure import blocks_of
from extractor.types.marks import TypeMarks
from extractor.types.posts import USER_URL, Post, Posts, beside, find_posts, kind_of_name

ENOUGH = 4  # points that make a thread
ABOVE = 6  # lines above the title in which its author and time may stand
NEAR = 12  # lines between the title and the first post
MANY = 3  # posts that speak for one by themselves
ATTRIBUTED, HALF, FEW = 0.75, 0.45, 0.2  # share of posts with an author and a time
OPENING = 15.0  # gain of a text above the first post, that makes it a post
MIN_TEXT = 1.0  # size of the text of all posts
MIN_HELD = 0.3  # of the gain between the first post and the last that their texts hold
HEADED = 0.5  # share of posts that begin with a heading that is a link: then they are entries of a list
EDITED = re.compile(
    r"^\W*(?:last )?(?:edited|modified|updated)\b.{0,60}$|"
    r"^\W*(?:click to expand|show more|read more|expand|reply|quote|view attachment \d+|本帖最后由.{0,60}编辑)\W*$",
    re.I,
)
QUOTED = re.compile(r"(?:said|wrote|posted|writes|asked|写道|说|发表于.{0,30})\s*[:：]?\s*(?:↑)?$", re.I)
QUOTE_NAME = re.compile(r"(?<![a-z])(?:block|bb|ips|post|msg|message|text|user)?quot(?:e|ed|ation)s?(?![a-z])|yinyong")
SIGNATURE = re.compile(r"(?:^|[\s_-])(?:sig|signature|signatures|qianming)(?:$|[\s_-])|postsig|signature")


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread: its posts with the lines of each that are kept, and the span around all."""

    posts: tuple[Post, ...]
    span: int
    title: int
    why: str

    def body(self, layout: Layout) -> Body:
        """All posts as one text."""
        lines = tuple(index for post in self.posts for index in post.lines)
        return Body(self.span, lines, render(layout.lines[index] for index in lines), self.title)

    def blocks(self, document: Document) -> tuple[Block, ...]:
        """The blocks of each post, behind the one that begins it."""
        found: list[Block] = []
        for post in self.posts:
            found.append(Block(BlockKind.POST, post.author, time=post.time))
            found += blocks_of(document, Body(self.span, post.lines, ""))
        return tuple(found)


def find_thread(document: Document, marks: TypeMarks) -> tuple[Document, Thread] | None:
    """The thread that a page is, with the page as it was read for that; None where it is none."""
    if not may_be_thread(document, marks):
        return None
    document = with_all_lines(document)
    weights = weigh_all(document.layout.lines, document.site.repeated)
    title = title_place(document)
    found = find_posts(document, weights)
    if found is None or found.attributed < FEW or found.gain < MIN_HELD * gain_of(weights[found.first : found.end]):
        return None
    if is_list_of_entries(document.layout, found):
        return None
    opening = opening_of(document, found, weights, title)
    points, why = thread_points(marks, found, opening, title >= 0 and 0 <= found.first - title <= NEAR)
    if points < ENOUGH:
        return None
    posts = cleaned(document.layout, [*opening, *found.posts])
    if sum(document.layout.lines[index].size for post in posts for index in post.lines) < MIN_TEXT:
        return None
    return document, Thread(tuple(posts), around(document.layout, [*found.spans]), title, why)


POST_NAMES = re.compile(r"(?:^|[\s_-])(?:post|posts|comment|comments|reply|replies|answer|answers|message|messages)")
BOARD_NAMES = re.compile(r"(?<![a-z])(?:message|discussion|thread|forum|answer)")
MIN_NAMED = 3


def may_be_thread(document: Document, marks: TypeMarks) -> bool:
    """It is worth to look for posts: the page says so, or has elements that are called so."""
    if marks.says_thread or marks.is_board or marks.thread_url or marks.board_url:
        return True
    is_article = marks.says_article or marks.graph == "article" or "article:published_time" in document.metas
    may_be = calls_itself_board if is_article else calls_itself_post  # articles have comments
    return sum(may_be(span.facts.name) for span in document.layout.spans if span.facts.name) >= MIN_NAMED


@lru_cache(maxsize=20_000)
def calls_itself_post(name: str) -> bool:
    """The name of an element is a post's, or a comment's."""
    return POST_NAMES.search(name) is not None


@lru_cache(maxsize=20_000)
def calls_itself_board(name: str) -> bool:
    """The name of an element is one of a board."""
    return BOARD_NAMES.search(name) is not None


def thread_points(marks: TypeMarks, found: Posts, opening: Sequence[Post], near: bool) -> tuple[int, str]:
    """What speaks for a thread, and the same in words. `near`: the first post stands shortly below the title."""
    commented = kind_of_name(found.name) == "comment"
    own = near and not opening and not commented
    evidence = (
        (3 * marks.says_thread, "it calls itself a discussion"),
        (2 * marks.is_board, "a board made it"),
        (2 * marks.thread_url, "its URL is a thread's"),
        (int(marks.board_url), "its URL is a board's"),
        (-2 * (marks.says_article and not marks.says_thread), "it calls itself an article"),
        (
            -1 * (marks.graph == "article" and not marks.says_thread and not marks.says_article),
            "it is called an article",
        ),
        (-3 * marks.says_product, "it calls itself a product"),
        (own and (3 if len(found.posts) >= MANY and found.attributed >= ATTRIBUTED else 2), "the first has the title"),
        (2 * (found.attributed >= ATTRIBUTED) or int(found.attributed >= HALF), "posts have authors and times"),
        (int(len(found.posts) >= MANY), f"{len(found.posts)} posts"),
        (-2 * commented, "they are called comments"),
        (-1 * bool(opening), "a text stands above them"),
    )
    return sum(points for points, _ in evidence), "; ".join(why for points, why in evidence if points > 0)


def is_list_of_entries(layout: Layout, found: Posts) -> bool:
    """Most of what repeats begins with a headline that is a link: these are articles that begin, no posts."""
    headed = 0
    for post in found.posts:
        first = layout.lines[max(0, post.lines[0] - 3) : post.lines[0] + 2]
        headed += any(line.tag in HEADINGS[:4] and is_headline(line) and not names_user(line) for line in first)
    return len(found.posts) > 1 and headed > HEADED * len(found.posts)


def names_user(line: Line) -> bool:
    """The links of a line lead to somebody."""
    return any(USER_URL.search(value_of("href", attributes)) for _, _, attributes in line.anchors)


def opening_of(document: Document, found: Posts, weights: Sequence[float], title: int) -> list[Post]:
    """The text between the title and the first post, as a post of its own, where there is one: boards that set the
    first post in another way than its answers. The author and time are found as those of an article.
    """
    if not 0 <= title < found.first:
        return []
    lines = document.layout.lines
    kept = [index for index in range(title + 1, found.first) if weights[index] > 0 and is_text(lines[index])]
    kept = [index for index in kept if not is_apart(document.layout, index)]
    if sum(weights[index] for index in kept) < OPENING:
        return []
    text = tuple(range(kept[0], kept[-1] + 1))
    region = [*range(max(0, title - ABOVE), kept[0]), *range(kept[-1] + 1, found.first)]
    author, time = beside(document.layout, region)
    return [Post(text, author, time)]


def is_text(line: Line) -> bool:
    """A sentence outside links."""
    return line.link_share < 0.5 and (line.punctuated or line.size > 15)


def is_apart(layout: Layout, index: int) -> bool:
    """The line stands in what is called navigation, or is hidden."""
    hints = (layout.spans[place].facts.hint for place in layout.above(layout.lines[index].span))
    return any(hint in (Hint.ASIDE, Hint.HIDDEN) for hint in hints)


def cleaned(layout: Layout, posts: Sequence[Post]) -> list[Post]:
    """The posts without quotes of one another, signatures, and labels; those without text are gone."""
    seen: set[str] = set()
    kept = []
    for post in posts:
        lines = tuple(kept_lines(layout, post, seen))
        seen.update(layout.lines[index].text for index in lines)
        if lines:
            kept.append(replace(post, lines=lines))
    return kept


def kept_lines(layout: Layout, post: Post, seen: set[str]) -> Iterator[int]:
    """The lines of a post that are its own text. `seen` are lines of the posts before it."""
    left_out: dict[int, bool] = {}
    for index in post.lines:
        line = layout.lines[index]
        if is_notice_or_label(line.text, line.size) or EDITED.search(line.text):
            continue
        if is_in_quote(layout, line, seen, left_out, post.lines):
            continue
        yield index


def is_in_quote(layout: Layout, line: Line, seen: set[str], known: dict[int, bool], post: Sequence[int]) -> bool:
    """The line stands in a quote of another post, or in a signature."""
    for place in layout.above(line.span):
        span = layout.spans[place]
        if span.start <= post[0] and span.end > post[-1] and span.end - span.start >= len(post):
            break
        if place not in known:
            known[place] = SIGNATURE.search(span.facts.name) is not None or (
                (span.facts.tag == "blockquote" or QUOTE_NAME.search(span.facts.name) is not None)
                and quotes(layout.lines[span.start : span.end], seen)
            )
        if known[place]:
            return True
    return False


def quotes(lines: Sequence[Line], seen: set[str]) -> bool:
    """These lines are a quote of a post: they say whose, or stand in a post before."""
    if not lines or QUOTED.search(lines[0].text[-80:]):
        return True
    known = sum(line.size for line in lines if line.text in seen)
    return 2 * known > sum(line.size for line in lines)


def around(layout: Layout, places: Sequence[int]) -> int:
    """The innermost element around all of these."""
    start, end = min(layout.spans[one].start for one in places), max(layout.spans[one].end for one in places)
    return next(
        one for one in layout.above(places[0]) if layout.spans[one].start <= start and layout.spans[one].end >= end
    )
