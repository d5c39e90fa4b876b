"""Extracts a thread as an article: question and all answers are the text, each post with its author and time.

Comments below an article are not a thread: there the first text is outside the repeated elements, and these are named
comments.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from domain.article import Block, BlockKind
from extractor.article_blocks import build_blocks
from extractor.body_methods.line_scoring import is_notice_or_label, positive_sum, weigh_lines
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Layout, Line, join_lines
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import Hint, TagInfo, attribute_value
from extractor.page_types.page_signals import PageSignals, TypeSignals, is_headline_line
from extractor.page_types.thread_posts import (
    USER_URL_RE,
    Post,
    PostGroup,
    attributable_share,
    author_and_time_near,
    classify_group_name,
    exclusive_ancestors,
    find_posts,
    group_spans_by_name,
)

MIN_THREAD_SCORE = 4  # points of a thread
COMMENT_POINTS = -2  # points of posts that are named comments
MAX_GROUP_POINTS = 6  # points of posts below the title, all with author and time
MAX_COMMENT_POINTS = 1  # the same for posts that are named comments
MAX_LINES_ABOVE_TITLE = 6  # search range for author and time of the opening post, above the title
MAX_LINES_TITLE_TO_POST = 12  # maximum distance between title and first post
MIN_MANY_POSTS = 3  # this number of posts is evidence of a thread
# Shares of posts with an author and a time: 2 points, 1 point, and the minimum for a thread.
HIGH_ATTRIBUTED_SHARE, MEDIUM_ATTRIBUTED_SHARE, MIN_ATTRIBUTED_SHARE = 0.75, 0.45, 0.2
MIN_OPENING_GAIN = 15.0  # minimum gain of a text above the first post that is the opening post
MIN_POST_TEXT_SIZE = 1.0  # minimum size of the text of all posts, in Chinese characters
MIN_POST_GAIN_SHARE = 0.3  # minimum share of the posts in the gain between the first and the last post
MAX_LINK_HEADING_SHARE = 0.5  # if more posts begin with a linked heading, they are entries of a list
MIN_POST_ELEMENTS = 3  # elements named like posts that make it worthwhile to search for posts
POST_WORDS = ("post", "comment", "repl", "answer", "message")  # POST_OR_COMMENT_CLASS_RE matches one of them
POST_OR_COMMENT_CLASS_RE = re.compile(
    r"(?:^|[\s_-])(?:post|posts|comment|comments|reply|replies|answer|answers|message|messages)"
)
FORUM_WORDS = ("message", "discussion", "thread", "forum", "answer")  # the same for FORUM_CLASS_RE
FORUM_CLASS_RE = re.compile(r"(?<![a-z])(?:message|discussion|thread|forum|answer)")
POST_CHROME_RE = re.compile(
    r"^\W*(?:last )?(?:edited|modified|updated)\b.{0,60}$|"
    r"^\W*(?:click to expand|show more|read more|expand|reply|quote|view attachment \d+|本帖最后由.{0,60}编辑)\W*$",
    re.I,
)
QUOTE_ATTRIBUTION_RE = re.compile(r"(?:said|wrote|posted|writes|asked|写道|说|发表于.{0,30})\s*+[:：]?+\s*+↑?$", re.I)
QUOTE_CLASS_RE = re.compile(
    r"(?<![a-z])(?:block|bb|ips|post|msg|message|text|user)?quot(?:e|ed|ation)s?(?![a-z])|yinyong"
)
SIGNATURE_CLASS_RE = re.compile(r"(?:^|[\s_-])(?:sig|signature|signatures|qianming)(?:$|[\s_-])|postsig|signature")


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread: its posts with their own lines, the index of the span around all posts, and the title line."""

    posts: tuple[Post, ...]
    span_index: int
    title_line: int
    reason: str

    def to_body(self, layout: Layout) -> Body:
        """Return the text of all posts as one body."""
        lines = tuple(index for post in self.posts for index in post.line_indices)
        return Body(self.span_index, lines, join_lines(layout.lines[index] for index in lines), self.title_line)

    def to_blocks(self, page: ParsedPage) -> tuple[Block, ...]:
        """Return the blocks of all posts, each post after a block that names its author and time."""
        blocks: list[Block] = []
        for post in self.posts:
            blocks.append(Block(BlockKind.POST_START, post.author, time=post.time))
            blocks += build_blocks(page, Body(self.span_index, post.line_indices, ""))
        return tuple(blocks)


def find_thread(signals: PageSignals) -> tuple[PageSignals, Thread] | None:
    """Find the thread of a page.

    Returns:
        The signals of the page with a complete layout and the thread, or None if the page is not a thread.
    """
    if not may_be_thread(signals.page, signals.type_signals) or not has_candidate_group(signals):
        return None
    is_forum = signals.type_signals.declares_thread or signals.type_signals.is_forum_software
    if signals.is_documentation and not is_forum:
        return None  # members of a class look like posts: "member" names their author, "since" their time
    complete_signals = signals.complete
    if not signals.page.is_complete and not has_candidate_group(complete_signals):
        return None
    page, title_line = complete_signals.page, complete_signals.title_line
    weights = weigh_lines(page.layout.lines, page.site_template.template_line_hashes)
    post_group = find_posts(page, weights)
    if (
        post_group is None
        or post_group.attributed_share < MIN_ATTRIBUTED_SHARE
        or post_group.gain < MIN_POST_GAIN_SHARE * positive_sum(weights[post_group.first_line : post_group.end_line])
    ):
        return None
    if is_article_list(page.layout, post_group):
        return None
    opening = find_opening_post(page, post_group, weights, title_line)
    group_evidence = GroupEvidence(
        len(post_group.posts),
        post_group.attributed_share,
        is_comment_name(post_group.element_name),
        bool(opening),
        is_near_title(post_group.first_line, title_line),
    )
    evidence = (*declared_evidence(signals.type_signals), *group_evidence.points())
    if sum(points for points, _ in evidence) < MIN_THREAD_SCORE:
        return None
    posts = clean_posts(page.layout, [*opening, *post_group.posts])
    if sum(page.layout.lines[index].size for post in posts for index in post.line_indices) < MIN_POST_TEXT_SIZE:
        return None
    reason = "; ".join(reason for points, reason in evidence if points > 0)
    return complete_signals, Thread(
        tuple(posts), enclosing_span(page.layout, [*post_group.span_indices]), title_line, reason
    )


def may_be_thread(page: ParsedPage, type_signals: TypeSignals) -> bool:
    """Return whether a search for posts is worthwhile: the page declares a thread or has elements named like posts."""
    if (
        type_signals.declares_thread
        or type_signals.is_forum_software
        or type_signals.has_thread_url
        or type_signals.has_forum_url
    ):
        return True
    # Articles have comments, which are named like posts.
    is_article = declares_any_article(page, type_signals)
    words, matches_name = (FORUM_WORDS, is_forum_class) if is_article else (POST_WORDS, is_post_class)
    names = [span.tag_info.identifiers for span in page.layout.spans]
    all_names = " ".join(names)
    if not any(word in all_names for word in words):
        return False
    return sum(map(matches_name, names)) >= MIN_POST_ELEMENTS


def declares_any_article(page: ParsedPage, type_signals: TypeSignals) -> bool:
    """Return whether the page declares an article, by schema.org, Open Graph or a date of publication."""
    return type_signals.declares_article or type_signals.og_type == "article" or "article:published_time" in page.metas


def has_candidate_group(signals: PageSignals) -> bool:
    """Return whether a group of elements of the page may get the points of a thread.

    Decides most pages without the complete layout and without the authors and times of posts: compares upper bounds of
    the points with MIN_THREAD_SCORE.
    """
    layout, title_line = signals.page.layout, signals.title_line
    declared_points = sum(points for points, _ in declared_evidence(signals.type_signals))
    if declared_points + MAX_GROUP_POINTS < MIN_THREAD_SCORE:
        return False
    matches_name = is_forum_class if declares_any_article(signals.page, signals.type_signals) else is_post_class
    if declared_points + MAX_COMMENT_POINTS >= MIN_THREAD_SCORE or any(
        may_contain_posts(layout.spans[element.span_index].tag_info, matches_name)
        for element in layout.skipped_elements
    ):
        return True
    for name, span_indices in group_spans_by_name(layout).items():
        first_line = layout.spans[exclusive_ancestors(layout, span_indices[:2])[0]].start_line
        group = GroupEvidence(
            len(span_indices), 1.0, is_comment_name(name), False, is_near_title(first_line, title_line)
        )
        if declared_points + group.score < MIN_THREAD_SCORE:
            continue
        share = attributable_share(layout, span_indices)
        if (
            share >= MIN_ATTRIBUTED_SHARE
            and declared_points + replace(group, attributed_share=share).score >= MIN_THREAD_SCORE
        ):
            return True
    return False


def may_contain_posts(tag_info: TagInfo, matches_name: Callable[[str], bool]) -> bool:
    """Return whether a skipped element may contain short replies: it is named so, and not navigation or comments."""
    return (
        tag_info.hint is Hint.FOOTER_OR_COMMENTS
        and matches_name(tag_info.identifiers)
        and not is_comment_name(tag_info.identifiers)
    )


@lru_cache(maxsize=20_000)
def is_post_class(name: str) -> bool:
    """Return whether the identifiers of an element are those of a post or comment."""
    return POST_OR_COMMENT_CLASS_RE.search(name) is not None


@lru_cache(maxsize=20_000)
def is_forum_class(name: str) -> bool:
    """Return whether the identifiers of an element are those of a forum."""
    return FORUM_CLASS_RE.search(name) is not None


def declared_evidence(type_signals: TypeSignals) -> Iterator[tuple[int, str]]:
    """Yield points for a thread with their reasons: what the page declares."""
    is_og_article = type_signals.og_type == "article" and not type_signals.declares_article
    yield 3 * type_signals.declares_thread, "declared as a discussion"
    yield 2 * type_signals.is_forum_software, "forum software"
    yield 2 * type_signals.has_thread_url, "URL of a thread"
    yield int(type_signals.has_forum_url), "URL of a forum"
    yield -2 * (type_signals.declares_article and not type_signals.declares_thread), "declared as an article"
    yield -1 * (is_og_article and not type_signals.declares_thread), "og:type is article"
    yield -3 * type_signals.declares_any_product, "declared as a product"


@dataclass(frozen=True, slots=True)
class GroupEvidence:
    """The evidence of a group of posts.

    Attributes:
        post_count: Number of posts.
        attributed_share: See `PostGroup.attributed_share`.
        are_comments: True if the posts are named comments.
        has_opening: True if a text above the posts is the opening post.
        is_near_title: True if the first post is shortly below the title.
    """

    post_count: int
    attributed_share: float
    are_comments: bool
    has_opening: bool
    is_near_title: bool

    def points(self) -> Iterator[tuple[int, str]]:
        """Yield points for a thread with their reasons."""
        has_many, share = self.post_count >= MIN_MANY_POSTS, self.attributed_share
        if self.is_near_title and not self.has_opening and not self.are_comments:
            yield 3 if has_many and share >= HIGH_ATTRIBUTED_SHARE else 2, "the first post has the title"
        yield (share >= HIGH_ATTRIBUTED_SHARE) + (share >= MEDIUM_ATTRIBUTED_SHARE), "posts have authors and times"
        yield int(has_many), f"{self.post_count} posts"
        yield COMMENT_POINTS * self.are_comments, "posts are named comments"
        yield -1 * self.has_opening, "text above the posts"

    @property
    def score(self) -> int:
        """Sum of the points."""
        return sum(points for points, _ in self.points())


def is_comment_name(name: str) -> bool:
    """Return whether a group is named comments."""
    return classify_group_name(name) == "comment"


def is_near_title(first_line: int, title_line: int) -> bool:
    """Return whether a first post that starts at `first_line` is shortly below the title."""
    return title_line >= 0 and 0 <= first_line - title_line <= MAX_LINES_TITLE_TO_POST


def is_article_list(layout: Layout, post_group: PostGroup) -> bool:
    """Return whether most of the repeated elements begin with a linked headline of their own: they are teasers.

    The posts of a thread repeat its headline.
    """
    headlines = {
        line.text
        for post in post_group.posts
        for line in layout.lines[max(0, post.line_indices[0] - 3) : post.line_indices[0] + 2]
        if line.tag in HEADING_TAGS[:4] and is_headline_line(line) and not links_to_user(line)
    }
    return len(post_group.posts) > 1 and len(headlines) > MAX_LINK_HEADING_SHARE * len(post_group.posts)


def links_to_user(line: Line) -> bool:
    """Return whether a link of the line leads to a user page."""
    return any(USER_URL_RE.search(attribute_value("href", attribute_text)) for _, _, attribute_text in line.links)


def find_opening_post(page: ParsedPage, post_group: PostGroup, weights: Sequence[float], title_line: int) -> list[Post]:
    """Return the text between title and first post as a post (a list of at most one item).

    Some forums use another markup for the first post than for its answers. Author and time come from nearby lines.
    """
    if not 0 <= title_line < post_group.first_line:
        return []
    lines = page.layout.lines
    text_lines = [
        index
        for index in range(title_line + 1, post_group.first_line)
        if weights[index] > 0 and is_sentence_line(lines[index])
    ]
    text_lines = [index for index in text_lines if not is_in_aside_or_hidden(page.layout, index)]
    if sum(weights[index] for index in text_lines) < MIN_OPENING_GAIN:
        return []
    post_lines = tuple(range(text_lines[0], text_lines[-1] + 1))
    nearby_lines = [
        *range(max(0, title_line - MAX_LINES_ABOVE_TITLE), text_lines[0]),
        *range(text_lines[-1] + 1, post_group.first_line),
    ]
    author, time = author_and_time_near(page.layout, nearby_lines)
    return [Post(post_lines, author, time)]


def is_sentence_line(line: Line) -> bool:
    """Return whether a line has punctuation or is long, and is mostly outside links."""
    return line.link_share < 0.5 and (line.has_punctuation or line.size > 15)


def is_in_aside_or_hidden(layout: Layout, index: int) -> bool:
    """Return whether a line is inside navigation or a hidden element."""
    hints = (
        layout.spans[span_index].tag_info.hint for span_index in layout.iter_enclosing(layout.lines[index].span_index)
    )
    return any(hint in (Hint.ASIDE, Hint.HIDDEN) for hint in hints)


def clean_posts(layout: Layout, posts: Sequence[Post]) -> list[Post]:
    """Remove quotes of other posts, signatures and labels from the posts, and posts without remaining text."""
    earlier_texts: set[str] = set()
    cleaned_posts = []
    for post in posts:
        lines = tuple(iter_own_lines(layout, post, earlier_texts))
        earlier_texts.update(layout.lines[index].text for index in lines)
        if lines:
            cleaned_posts.append(replace(post, line_indices=lines))
    return cleaned_posts


def iter_own_lines(layout: Layout, post: Post, earlier_texts: set[str]) -> Iterator[int]:
    """Yield the line indices of a post's own text. `earlier_texts` contains the lines of the earlier posts."""
    is_quote_by_span: dict[int, bool] = {}
    for index in post.line_indices:
        line = layout.lines[index]
        if is_notice_or_label(line.text, line.size) or POST_CHROME_RE.search(line.text):
            continue
        if is_in_quote(layout, line, earlier_texts, is_quote_by_span, post.line_indices):
            continue
        yield index


def is_in_quote(
    layout: Layout, line: Line, earlier_texts: set[str], is_quote_by_span: dict[int, bool], post_lines: Sequence[int]
) -> bool:
    """Return whether a line is in a quote of another post or in a signature.

    `is_quote_by_span` caches the decision for each span; `post_lines` are the line indices of the post.
    """
    for span_index in layout.iter_enclosing(line.span_index):
        span = layout.spans[span_index]
        if (
            span.start_line <= post_lines[0]
            and span.end_line > post_lines[-1]
            and span.end_line - span.start_line >= len(post_lines)
        ):
            break
        if span_index not in is_quote_by_span:
            is_quote_by_span[span_index] = SIGNATURE_CLASS_RE.search(span.tag_info.identifiers) is not None or (
                (span.tag_info.tag == "blockquote" or QUOTE_CLASS_RE.search(span.tag_info.identifiers) is not None)
                and is_quote_of_earlier(layout.lines[span.start_line : span.end_line], earlier_texts)
            )
        if is_quote_by_span[span_index]:
            return True
    return False


def is_quote_of_earlier(lines: Sequence[Line], earlier_texts: set[str]) -> bool:
    """Return whether the lines quote a post: they name its author, or most of them occur in an earlier post."""
    if not lines or QUOTE_ATTRIBUTION_RE.search(lines[0].text[-80:]):
        return True
    repeated_size = sum(line.size for line in lines if line.text in earlier_texts)
    return 2 * repeated_size > sum(line.size for line in lines)


def enclosing_span(layout: Layout, span_indices: Sequence[int]) -> int:
    """Return the index of the innermost span around all of the spans."""
    start, end = (
        min(layout.spans[span_index].start_line for span_index in span_indices),
        max(layout.spans[span_index].end_line for span_index in span_indices),
    )
    return next(
        span_index
        for span_index in layout.iter_enclosing(span_indices[0])
        if layout.spans[span_index].start_line <= start and layout.spans[span_index].end_line >= end
    )
