"""Finds the posts of a thread: repeated elements with the same name, each with a text, an author and a time next to it.

    <div class="post"><a href="/user/7">alice</a> <time>2024-05-01</time> <div class="body">How do I ...?</div></div>
    <div class="post"><a href="/user/9">bob</a>   <time>2024-05-02</time> <div class="body">You can ...</div></div>

Groups elements by class, id or itemprop. The best group is the one with the most text whose members each have their
own container with an author and a time. Uses no names of single forums.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice

from extractor.fields.dates.date_parsing import datetime_after, find_first_date, normalize_date_text, parse_machine_date
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import InlineElement, Layout, Line, Span
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import TagInfo, attribute_value
from extractor.page_types.page_signals import RELATIVE_TIME_RE

MAX_POSTS = 1_000
MAX_CANDIDATE_NAMES = 16  # groups that are examined: those with the most text
MIN_ATTRIBUTION_FACTOR = 0.1  # of the worth of a group whose posts have neither author nor time
MAX_CLASSES = 12  # classes of one element that are read
MAX_LINES_ABOVE_POST = 8  # search range for author and time, above the container of a post
MAX_ENCLOSING_SPANS, MAX_ENCLOSING_LINES = 3, 8  # elements around a line that may name an author, and their lines
MAX_LABEL_SIZE = 40.0  # of a line with an author or a time, in Chinese characters
MIN_AUTHOR_CHARS, MAX_AUTHOR_SIZE = 2, 16.0  # a single letter is the text of an avatar, not a name
DIGITS_RE = re.compile(r"\d+")
# The first matches the URL of a user page, the second an element with the name of a user.
USER_URL_RE = re.compile(
    r"(?:^|[/?&;=.])(?:u|user|users|member|members|profile|profiles|people|author|authors|space|account|contributor)"
    r"(?:[/=-](?!login|register|signup)[^/?#&]|\.php\?|info)|(?:^|[?&;])(?:uid|userid|user_id|memberid|showuser|mod=space)|"
    r"mode=viewprofile|action=profile|space-u|/@\w|member\.php|profile\.php",
    re.I,
)
USER_CLASS_RE = re.compile(
    r"(?:^|[\s_-])(?:user-?name|user|author|poster|member|nick(?:name)?|screen-?name|creator|owner|asker|answerer|"
    r"byline|zuozhe|yonghu)(?:$|[\s_-])|username|user-name|authorname|author-name|postuser|postauthor|nickname",
)
NOT_AUTHOR_RE = re.compile(
    r"^(?:\W*|\W*\d[\d.,k]*\W*|profile|view profile|member|guest|find|reply|quote|report|share|like|follow|edit|"
    r"message|online|offline|op|author|admin|moderator|posts?|more|level.*|thread starter|original poster|"
    r"top \d.*|只看该作者|楼主|回复|举报|发消息|加好友|关注|点评)$",
    re.I,
)
AUTHOR_LABEL_RE = re.compile(
    r"^(?:by|from|posted by|author|asked by|answered by|written by|作者|楼主|发帖人|发表人)\s*[:：]?\s+", re.I
)
# A date next to these words is not the date of the post.
OTHER_DATE_LABEL_RE = re.compile(
    r"join|register|member since|since\b|edit|modif|updat|last |active|seen|注册|编辑|修改|加入|最后|登录|更新", re.I
)
TIME_CLASS_RE = re.compile(r"time|date|posted|created|published|authi|poston|shijian|riqi")
COMMENT_CLASS_RE = re.compile(r"comment|pinglun|cmt")
POST_CLASS_RE = re.compile(r"post|message|answer|question|topic|thread|reply|content|body|text")
GROUP_WEIGHT_BY_KIND = {"comment": 0.6, "post": 1.25, "": 1.0}
NON_POST_TAGS = frozenset(("nav", "aside", "footer", "dialog"))
NOTICE_CLASS_RE = re.compile(r"cookie|consent|gdpr|privacy")


@dataclass(frozen=True, slots=True)
class Post:
    """One post.

    Attributes:
        line_indices: Line indices of its text.
        author: Name of the author, or an empty string.
        time: Date, or date with time of day (as `Article.published_at`), or an empty string.
        has_time: True if any time is next to the post, even a relative one ("2 days ago").
    """

    line_indices: tuple[int, ...]
    author: str = ""
    time: str = ""
    has_time: bool = False


@dataclass(frozen=True, slots=True)
class PostGroup:
    """The posts of a page.

    Attributes:
        posts: The posts in page order.
        element_name: The shared class, id or itemprop of their text elements.
        attributed_share: Mean of "has author" and "has time" over all posts, 0 to 1.
        span_indices: Spans of their texts.
        gain: Net weight of their texts.
        first_line: Line at which the first container begins.
        end_line: Line after the end of the last container.
    """

    posts: tuple[Post, ...]
    element_name: str
    attributed_share: float
    span_indices: tuple[int, ...]
    gain: float
    first_line: int
    end_line: int


def find_posts(page: ParsedPage, weights: Sequence[float]) -> PostGroup | None:
    """Find the posts of a page; returns None if no repeated elements look like posts.

    `weights` are the weights of the lines of the page (see `weigh_lines`).
    """
    layout = page.layout
    cumulative_weight = [0.0, *accumulate(weights)]
    inline_elements = inline_elements_by_line(layout)
    groups = [
        (gain, name, span_indices)
        for name, span_indices in group_spans_by_name(layout).items()
        if (gain := net_weight(layout, span_indices, cumulative_weight)) > 0
    ]
    groups.sort(key=lambda group: -group[0] * name_weight(group[1]))
    best_group: PostGroup | None = None
    best_worth = 0.0
    for gain, name, span_indices in groups[:MAX_CANDIDATE_NAMES]:
        if gain * group_worth(name, 1.0) <= best_worth:
            break  # nor is any later group better
        if gain * group_worth(name, attributable_share(layout, span_indices)) <= best_worth:
            continue
        group = build_post_group(layout, name, span_indices, gain, inline_elements)
        worth = gain * group_worth(name, group.attributed_share)
        if worth > best_worth:
            best_group, best_worth = group, worth
    return best_group


@lru_cache(maxsize=2_000)
def classify_group_name(name: str) -> str:
    """Return the kind of elements with this name: "comment", "post", or an empty string."""
    if COMMENT_CLASS_RE.search(name):
        return "comment"
    return "post" if POST_CLASS_RE.search(name) else ""


def group_worth(name: str, attributed_share: float) -> float:
    """Return the worth of a group per unit of text, by its name and by its share of posts with author and time."""
    return (MIN_ATTRIBUTION_FACTOR + attributed_share) * name_weight(name)


def name_weight(name: str) -> float:
    """Return the weight of a group by its name: posts count more than comments."""
    return GROUP_WEIGHT_BY_KIND[classify_group_name(name)]


def group_spans_by_name(layout: Layout) -> dict[str, list[int]]:
    """Group the spans with text that share a name; returns for each name of 2 to MAX_POSTS spans their indices."""
    span_indices_by_name: dict[str, list[int]] = {}
    last_end_by_name: dict[str, int] = {}
    skip_until = 0  # lines before this index are in an element without posts; other boilerplate names are ignored here
    for span_index, span in enumerate(layout.spans):
        if span.end_line <= span.start_line or span.start_line < skip_until:
            continue
        is_small = 2 * (span.end_line - span.start_line) < len(layout.lines)
        if is_small and (span.tag_info.tag in NON_POST_TAGS or NOTICE_CLASS_RE.search(span.tag_info.identifiers)):
            skip_until = span.end_line
            continue
        for name in grouping_names(span.tag_info):
            if span.start_line >= last_end_by_name.get(name, 0):  # otherwise it is inside a span of the same name
                span_indices_by_name.setdefault(name, []).append(span_index)
                last_end_by_name[name] = span.end_line
    return {name: indices for name, indices in span_indices_by_name.items() if 2 <= len(indices) <= MAX_POSTS}


def net_weight(layout: Layout, span_indices: Sequence[int], cumulative_weight: Sequence[float]) -> float:
    """Return the sum of the positive weights of spans. `cumulative_weight` is the sum before each line index."""
    spans = (layout.spans[span_index] for span_index in span_indices)
    return sum(max(0.0, cumulative_weight[span.end_line] - cumulative_weight[span.start_line]) for span in spans)


@lru_cache(maxsize=20_000)
def grouping_names(tag_info: TagInfo) -> tuple[str, ...]:
    """Return the names of an element for grouping: classes, itemprop, and its id if it contains a number.

    Numbers are replaced by "#", so that ids of the same kind are equal.
    """
    if not tag_info.attribute_text:
        return ()
    names = [
        DIGITS_RE.sub("#", class_name.lower())
        for class_name in attribute_value("class", tag_info.attribute_text).split()[:MAX_CLASSES]
    ]
    element_id = attribute_value("id", tag_info.attribute_text)
    if DIGITS_RE.search(element_id):
        names.append("#" + DIGITS_RE.sub("#", element_id.lower()))
    if itemprop := attribute_value("itemprop", tag_info.attribute_text):
        names.append("@" + itemprop.lower())
    return tuple(dict.fromkeys(f"{tag_info.tag}.{name}" for name in names))


def author_and_time_near(layout: Layout, line_indices: Sequence[int]) -> tuple[str, str]:
    """Return author and time from these lines, each an empty string if not found."""
    by_line = inline_elements_by_line(layout)
    inline_elements_near = [inline_element for line in line_indices for inline_element in by_line.get(line, ())]
    return find_author_name(layout, line_indices, inline_elements_near), find_post_time(
        layout, line_indices, inline_elements_near
    )[0]


def build_post_group(
    layout: Layout,
    name: str,
    span_indices: Sequence[int],
    gain: float,
    inline_elements: Mapping[int, Sequence[InlineElement]],
) -> PostGroup:
    """Build the posts whose texts are in these spans. `inline_elements` are the inline elements by line index."""
    ancestor_indices = exclusive_ancestors(layout, span_indices)
    posts, previous_end = [], 0
    for span_index, ancestor_index in zip(span_indices, ancestor_indices, strict=True):
        span, ancestor = layout.spans[span_index], layout.spans[ancestor_index]
        region = [
            *range(max(previous_end, ancestor.start_line - MAX_LINES_ABOVE_POST), span.start_line),
            *range(span.end_line, ancestor.end_line),
        ]
        inline_elements_near = [inline_element for line in region for inline_element in inline_elements.get(line, ())]
        time, has_time = find_post_time(layout, region, inline_elements_near)
        posts.append(
            Post(
                tuple(range(span.start_line, span.end_line)),
                find_author_name(layout, region, inline_elements_near),
                time,
                has_time,
            )
        )
        previous_end = ancestor.end_line
    attributed_share = sum(bool(post.author) + post.has_time for post in posts) / (2 * len(posts))
    return PostGroup(
        tuple(posts),
        name,
        attributed_share,
        tuple(span_indices),
        gain,
        layout.spans[ancestor_indices[0]].start_line,
        previous_end,
    )


def exclusive_ancestors(layout: Layout, span_indices: Sequence[int]) -> list[int]:
    """Return for each span the index of the largest enclosing span that contains none of the other spans.

    The spans are in document order, each with lines of its own.
    """
    spans = layout.spans
    ancestor_indices = []
    for position, span_index in enumerate(span_indices):
        previous_end = spans[span_indices[position - 1]].end_line if position else 0
        is_last = position + 1 == len(span_indices)
        next_start = len(layout.lines) if is_last else spans[span_indices[position + 1]].start_line
        ancestor_index = span_index
        for candidate in layout.iter_enclosing(span_index):
            if spans[candidate].start_line < previous_end or spans[candidate].end_line > next_start:
                break
            ancestor_index = candidate
        ancestor_indices.append(ancestor_index)
    return ancestor_indices


def attributable_share(layout: Layout, span_indices: Sequence[int]) -> float:
    """Return an upper bound of `PostGroup.attributed_share`, without a search for names and times.

    A post can have an author if there is any line next to its text, and a time if such a line has a digit or an inline
    element. A skipped element counts as such a line.
    """
    skipped_lines = [element.line_index for element in layout.skipped_elements]
    inline_lines = {inline_element.line_index for inline_element in layout.inline_elements}
    attribution_count, previous_end = 0, 0
    for span_index, ancestor_index in zip(span_indices, exclusive_ancestors(layout, span_indices), strict=True):
        span, ancestor = layout.spans[span_index], layout.spans[ancestor_index]
        start = max(previous_end, ancestor.start_line - MAX_LINES_ABOVE_POST)
        region = [*range(start, span.start_line), *range(span.end_line, ancestor.end_line)]
        if bisect_left(skipped_lines, start) < bisect_right(skipped_lines, ancestor.end_line):
            attribution_count += 2
        elif region:
            attribution_count += 1 + any(
                line_index in inline_lines or DIGITS_RE.search(layout.lines[line_index].text) for line_index in region
            )
        previous_end = ancestor.end_line
    return attribution_count / (2 * len(span_indices))


def inline_elements_by_line(layout: Layout) -> dict[int, list[InlineElement]]:
    """Return the inline elements with metadata by the index of their first line."""
    by_line: dict[int, list[InlineElement]] = {}
    for inline_element in layout.inline_elements:
        by_line.setdefault(inline_element.line_index, []).append(inline_element)
    return by_line


def find_author_name(layout: Layout, line_indices: Sequence[int], inline_elements: Sequence[InlineElement]) -> str:
    """Return the first valid author name in these lines, or an empty string."""
    return next(
        (
            name
            for text in iter_post_author_texts(layout, line_indices, inline_elements)
            if (name := clean_author_name(text))
        ),
        "",
    )


def iter_post_author_texts(
    layout: Layout, line_indices: Sequence[int], inline_elements: Sequence[InlineElement]
) -> Iterator[str]:
    """Yield texts that may name the author of a post, most reliable first."""
    lines = [layout.lines[line_index] for line_index in line_indices]
    for line in lines:
        for span in small_enclosing_spans(layout, line):
            if has_itemprop(span.tag_info, "author"):
                yield first_link_text(line) or line.text
    for inline_element in inline_elements:
        if has_itemprop(inline_element.tag_info, "author"):
            yield inline_element.text
    for line in lines:
        for start, end, attribute_text in line.links:
            if USER_URL_RE.search(attribute_value("href", attribute_text)) or USER_CLASS_RE.search(
                attribute_value("class", attribute_text).lower()
            ):
                yield "".join(line.text_pieces[start:end])
    for line in lines:
        if line.size <= MAX_AUTHOR_SIZE and any(
            USER_CLASS_RE.search(span.tag_info.identifiers) for span in small_enclosing_spans(layout, line)
        ):
            yield line.text
    for inline_element in inline_elements:
        if USER_CLASS_RE.search(inline_element.tag_info.identifiers):
            yield inline_element.text


def small_enclosing_spans(layout: Layout, line: Line) -> Iterator[Span]:
    """Yield the innermost spans around a line, up to the first one with more than MAX_ENCLOSING_LINES lines."""
    for span_index in islice(layout.iter_enclosing(line.span_index), MAX_ENCLOSING_SPANS):
        span = layout.spans[span_index]
        if span.end_line - span.start_line > MAX_ENCLOSING_LINES:
            return
        yield span


def has_itemprop(tag_info: TagInfo, itemprop: str) -> bool:
    """Return whether an element has this microdata property."""
    return (
        "itemprop" in tag_info.attribute_text
        and itemprop in attribute_value("itemprop", tag_info.attribute_text).lower().split()
    )


def first_link_text(line: Line) -> str:
    """Return the text of the first link of a line, or an empty string."""
    return "".join("".join(line.text_pieces[start:end]) for start, end, _ in line.links[:1])


def clean_author_name(text: str) -> str:
    """Return the name of an author from a text, or an empty string if the text is not a name."""
    name = AUTHOR_LABEL_RE.sub("", " ".join(text.split())).strip(" :,·•|-–—")
    name = name.partition(" (")[0] or name  # remove the full name in parentheses
    if (
        not MIN_AUTHOR_CHARS <= len(name) <= 3 * MAX_AUTHOR_SIZE
        or NOT_AUTHOR_RE.match(name)
        or RELATIVE_TIME_RE.search(name)
    ):
        return ""
    return "" if find_first_date(normalize_date_text(name)) else name


def find_post_time(
    layout: Layout, line_indices: Sequence[int], inline_elements: Sequence[InlineElement]
) -> tuple[str, bool]:
    """Return the time of a post from these lines, and whether the lines contain any time, even a relative one."""
    has_time = False
    for text, label in iter_time_texts(layout, line_indices, inline_elements):
        if OTHER_DATE_LABEL_RE.search(label):
            continue
        timestamp = parse_post_time(text)
        if timestamp:
            return timestamp, True
        has_time = has_time or RELATIVE_TIME_RE.search(text) is not None
    return "", has_time


def iter_time_texts(
    layout: Layout, line_indices: Sequence[int], inline_elements: Sequence[InlineElement]
) -> Iterator[tuple[str, str]]:
    """Yield texts that may contain the time of a post, most reliable first, each with the text around it."""
    for inline_element in inline_elements:
        if inline_element.tag_info.tag == "time" or TIME_CLASS_RE.search(inline_element.tag_info.identifiers):
            label = (
                layout.lines[inline_element.line_index].text[:80]
                if inline_element.line_index < len(layout.lines)
                else ""
            )
            for attribute in ("datetime", "content", "title", "data-time", "data-timestamp"):
                if value := attribute_value(attribute, inline_element.tag_info.attribute_text):
                    yield value, label
            yield inline_element.text, label
    lines = [layout.lines[line_index] for line_index in line_indices]
    for line in lines:
        if line.size <= MAX_LABEL_SIZE and line.tag not in HEADING_TAGS:
            yield line.text, line.text


def parse_post_time(text: str) -> str:
    """Return the date in a text, with the time of day if given, or an empty string."""
    if not any(char.isdecimal() for char in text[:200]):
        return ""
    date_match = parse_machine_date(text)
    normalized_text = normalize_date_text(text[:200])
    date_match = date_match or find_first_date(normalized_text)
    return (datetime_after(normalized_text, date_match) or date_match.date) if date_match else ""
