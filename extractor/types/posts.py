"""The posts of a thread, found by what repeats: elements of one name, each with a text, an author and a time beside it.

    <div class="post"><a href="/user/7">alice</a> <time>2024-05-01</time> <div class="body">How do I ...?</div></div>
    <div class="post"><a href="/user/9">bob</a>   <time>2024-05-02</time> <div class="body">You can ...</div></div>

The texts are looked for first: of all names that several elements share, the one whose elements hold most text and
have, each in an element around it alone, an author and a time. No board's own names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice

from extractor.fields.dates.date_text import first_stamp, plain_digits, stated_date, time_after
from extractor.list_page import AGO
from extractor.page.document import Document
from extractor.page.dom import HEADINGS
from extractor.page.layout import Layout, Line, Note, Span
from extractor.page.markup_hints import TagInfo, value_of

MAX_POSTS = 1_000
MAX_NAMES = 16  # names that are looked at more closely, those with the most text
MAX_TOKENS = 12  # classes of one element
GAP = 8  # lines above a post's element in which its author and time may stand
MAX_AROUND, MAX_AROUND_LINES = 3, 8  # elements around a line that may name somebody, and lines of these
MAX_LABEL = 40.0  # size of a line with an author or a time
MIN_AUTHOR, MAX_AUTHOR = 2, 16.0  # characters of an author's name, an avatar's letter is none; and its size
DIGITS = re.compile(r"\d+")
# Of a link: it leads to somebody. Of an element: it names somebody.
USER_URL = re.compile(
    r"(?:^|[/?&;=.])(?:u|user|users|member|members|profile|profiles|people|author|authors|space|account|contributor)"
    r"(?:[/=-](?!login|register|signup)[^/?#&]|\.php\?|info)|(?:^|[?&;])(?:uid|userid|user_id|memberid|showuser|mod=space)|"
    r"mode=viewprofile|action=profile|space-u|/@\w|member\.php|profile\.php",
    re.I,
)
USER_NAME = re.compile(
    r"(?:^|[\s_-])(?:user-?name|user|author|poster|member|nick(?:name)?|screen-?name|creator|owner|asker|answerer|"
    r"byline|zuozhe|yonghu)(?:$|[\s_-])|username|user-name|authorname|author-name|postuser|postauthor|nickname",
)
NO_AUTHOR = re.compile(
    r"^(?:\W*|\W*\d[\d.,k]*\W*|profile|view profile|member|guest|find|reply|quote|report|share|like|follow|edit|"
    r"message|online|offline|op|author|admin|moderator|posts?|more|level.*|thread starter|original poster|"
    r"top \d.*|只看该作者|楼主|回复|举报|发消息|加好友|关注|点评)$",
    re.I,
)
LABELED = re.compile(
    r"^(?:by|from|posted by|author|asked by|answered by|written by|作者|楼主|发帖人|发表人)\s*[:：]?\s+", re.I
)
# A day beside these is no day of writing.
OTHER_DAY = re.compile(
    r"join|register|member since|since\b|edit|modif|updat|last |active|seen|注册|编辑|修改|加入|最后|登录|更新", re.I
)
TIME_NAME = re.compile(r"time|date|posted|created|published|authi|poston|shijian|riqi")


@dataclass(frozen=True, slots=True)
class Post:
    """One post: the lines of its text, who wrote it ("": nobody is named), when (`Article.published_at`, or ""), and
    whether any time stands beside it, though it be "2 days ago".
    """

    lines: tuple[int, ...]
    author: str = ""
    time: str = ""
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Posts:
    """The posts of a page in order, the name that their texts share, the share of them that have an author and a time,
    the spans of their texts, the gain of all, and the lines at which the first element begins and the last ends.
    """

    posts: tuple[Post, ...]
    name: str
    attributed: float
    spans: tuple[int, ...]
    gain: float
    first: int
    end: int


def find_posts(document: Document, weights: Sequence[float]) -> Posts | None:
    """The posts of a page, None where nothing repeats like posts. `weights` are those of its lines."""
    layout = document.layout
    sums = [0.0, *accumulate(weights)]
    notes = notes_by_line(layout)
    groups = named_spans(layout, sums)
    names = sorted(groups.items(), key=lambda pair: -pair[1][0] * worth_of_name(pair[0]))[:MAX_NAMES]
    best: Posts | None = None
    worth = 0.0
    for name, (net, places) in names:
        found = posts_at(layout, name, places, net, notes)
        value = net * (0.1 + found.attributed) * worth_of_name(name)
        if value > worth:
            best, worth = found, value
    return best


COMMENT_NAME = re.compile(r"comment|pinglun|cmt")
POST_NAME = re.compile(r"post|message|answer|question|topic|thread|reply|content|body|text")
NAME_WORTH = {"comment": 0.6, "post": 1.25, "": 1.0}


@lru_cache(maxsize=2_000)
def kind_of_name(name: str) -> str:
    """What the name of an element says: a comment, a post, or nothing."""
    if COMMENT_NAME.search(name):
        return "comment"
    return "post" if POST_NAME.search(name) else ""


NO_POSTS = frozenset(("nav", "aside", "footer", "dialog"))
NOTICE_NAME = re.compile(r"cookie|consent|gdpr|privacy")


def worth_of_name(name: str) -> float:
    """How much a name speaks for posts."""
    return NAME_WORTH[kind_of_name(name)]


def named_spans(layout: Layout, sums: Sequence[float]) -> dict[str, tuple[float, list[int]]]:
    """Names that several elements share which hold text, with the net weight of these and their spans in order."""
    groups: dict[str, list[int]] = {}
    ends: dict[str, int] = {}
    apart = 0  # lines before this one stand in what holds no posts; other names of asides are not believed here
    for place, span in enumerate(layout.spans):
        if span.end <= span.start or span.start < apart:
            continue
        small = 2 * (span.end - span.start) < len(layout.lines)
        if small and (span.facts.tag in NO_POSTS or NOTICE_NAME.search(span.facts.name)):
            apart = span.end
            continue
        for name in names_of(span.facts):
            if span.start >= ends.get(name, 0):  # else it stands in another of its name
                groups.setdefault(name, []).append(place)
                ends[name] = span.end
    found = {}
    for name, places in groups.items():
        if not 2 <= len(places) <= MAX_POSTS:
            continue
        net = sum(max(0.0, sums[layout.spans[one].end] - sums[layout.spans[one].start]) for one in places)
        if net > 0:
            found[name] = (net, places)
    return found


@lru_cache(maxsize=20_000)
def names_of(facts: TagInfo) -> tuple[str, ...]:
    """The classes of an element, and its id where it is one of many: numbers in them are all alike."""
    if not facts.markup:
        return ()
    names = [DIGITS.sub("#", one.lower()) for one in value_of("class", facts.markup).split()[:MAX_TOKENS]]
    numbered = value_of("id", facts.markup)
    if DIGITS.search(numbered):
        names.append("#" + DIGITS.sub("#", numbered.lower()))
    if prop := value_of("itemprop", facts.markup):
        names.append("@" + prop.lower())
    return tuple(dict.fromkeys(f"{facts.tag}.{name}" for name in names))


def beside(layout: Layout, region: Sequence[int]) -> tuple[str, str]:
    """Author and time that these lines name."""
    notes = notes_by_line(layout)
    near = [note for line in region for note in notes.get(line, ())]
    return author_in(layout, region, near), time_in(layout, region, near)[0]


def posts_at(
    layout: Layout, name: str, places: Sequence[int], net: float, notes: Mapping[int, Sequence[Note]]
) -> Posts:
    """The posts whose texts stand in these spans."""
    around = elements_around(layout, places)
    posts, before = [], 0
    for place, holder in zip(places, around, strict=True):
        span, outer = layout.spans[place], layout.spans[holder]
        region = [*range(max(before, outer.start - GAP), span.start), *range(span.end, outer.end)]
        near = [note for line in region for note in notes.get(line, ())]
        time, timed = time_in(layout, region, near)
        posts.append(Post(tuple(range(span.start, span.end)), author_in(layout, region, near), time, timed))
        before = outer.end
    told = sum(bool(post.author) + post.timed for post in posts) / (2 * len(posts))
    return Posts(tuple(posts), name, told, tuple(places), net, layout.spans[around[0]].start, before)


def elements_around(layout: Layout, places: Sequence[int]) -> list[int]:
    """For each of these spans the largest element around it that holds none of the others."""
    count: dict[int, int] = {}
    for place in places:
        for one in layout.above(place):
            count[one] = count.get(one, 0) + 1
    found = []
    for place in places:
        holder = place
        for one in layout.above(place):
            if count[one] > 1:
                break
            holder = one
        found.append(holder)
    return found


def notes_by_line(layout: Layout) -> dict[int, list[Note]]:
    """Small elements that say what they are, by the line in which they begin."""
    found: dict[int, list[Note]] = {}
    for note in layout.notes:
        found.setdefault(note.line, []).append(note)
    return found


def author_in(layout: Layout, region: Sequence[int], notes: Sequence[Note]) -> str:
    """Who is named in these lines."""
    return next((name for text in authors_in(layout, region, notes) if (name := name_of(text))), "")


def authors_in(layout: Layout, region: Sequence[int], notes: Sequence[Note]) -> Iterator[str]:
    """Texts that may name the author, most trusted first."""
    lines = [layout.lines[one] for one in region]
    for line in lines:
        for span in near_spans(layout, line):
            if says(span.facts, "author"):
                yield first_link(line) or line.text
    for note in notes:
        if says(note.facts, "author"):
            yield note.text
    for line in lines:
        for start, end, attributes in line.anchors:
            if USER_URL.search(value_of("href", attributes)) or USER_NAME.search(value_of("class", attributes).lower()):
                yield "".join(line.parts[start:end])
    for line in lines:
        if line.size <= MAX_AUTHOR and any(USER_NAME.search(span.facts.name) for span in near_spans(layout, line)):
            yield line.text
    for note in notes:
        if USER_NAME.search(note.facts.name):
            yield note.text


def near_spans(layout: Layout, line: Line) -> Iterator[Span]:
    """The innermost elements around a line, as long as they are small."""
    for one in islice(layout.above(line.span), MAX_AROUND):
        span = layout.spans[one]
        if span.end - span.start > MAX_AROUND_LINES:
            return
        yield span


def says(facts: TagInfo, prop: str) -> bool:
    """The element has this property in microdata."""
    return "itemprop" in facts.markup and prop in value_of("itemprop", facts.markup).lower().split()


def first_link(line: Line) -> str:
    """The text of the first link of a line."""
    return "".join("".join(line.parts[start:end]) for start, end, _ in line.anchors[:1])


def name_of(text: str) -> str:
    """A text as somebody's name, or ""."""
    name = LABELED.sub("", " ".join(text.split())).strip(" :,·•|-–—")
    name = name.partition(" (")[0] or name  # a name in full behind it
    if not MIN_AUTHOR <= len(name) <= 3 * MAX_AUTHOR or NO_AUTHOR.match(name) or AGO.search(name):
        return ""
    return "" if first_stamp(plain_digits(name)) else name


def time_in(layout: Layout, region: Sequence[int], notes: Sequence[Note]) -> tuple[str, bool]:
    """When something was written by these lines, and whether they name any time."""
    timed = False
    for text, label in times_in(layout, region, notes):
        if OTHER_DAY.search(label):
            continue
        found = moment_of(text)
        if found:
            return found, True
        timed = timed or AGO.search(text) is not None
    return "", timed


def times_in(layout: Layout, region: Sequence[int], notes: Sequence[Note]) -> Iterator[tuple[str, str]]:
    """Texts that may hold the time, most trusted first, and what stands around each."""
    for note in notes:
        if note.facts.tag == "time" or TIME_NAME.search(note.facts.name):
            label = layout.lines[note.line].text[:80] if note.line < len(layout.lines) else ""
            for attribute in ("datetime", "content", "title", "data-time", "data-timestamp"):
                if value := value_of(attribute, note.facts.markup):
                    yield value, label
            yield note.text, label
    lines = [layout.lines[one] for one in region]
    for line in lines:
        if line.size <= MAX_LABEL and line.tag not in HEADINGS:
            yield line.text, line.text


def moment_of(text: str) -> str:
    """A text's day with its time of day as far as it says one, or ""."""
    if not any(char.isdecimal() for char in text[:200]):
        return ""
    stamp = stated_date(text)
    digits = plain_digits(text[:200])
    stamp = stamp or first_stamp(digits)
    return (time_after(digits, stamp) or stamp.day) if stamp else ""
