"""Matches the lines of a page with its declared titles: site names in titles, similarity, and the line of the title.

Strips the names of site and channel from a title: `标题_新闻_某网` is 标题, "Title | The Guardian" is Title. In order
of certainty: suffixes learned from other pages of the site (SiteTemplate); names that the page declares; any short text
after a title separator.

The body starts below the line with the title. Titles are compared as in WD-A3. For pages whose <title> is not usable,
`best_title_line` finds the line that looks most like a title.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice, takewhile

from rapidfuzz.distance import LCSseq

from extractor.page.boilerplate_phrases import is_byline, is_template_label
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Layout, Line, Span, text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import Hint, unescape_markup
from extractor.page.urls import split_url
from text.scripts import HAN

MAX_TITLE_CHARS = 300  # longer titles are cut
MAX_SITE_NAME_SIZE = 30.0  # a longer suffix is not a name; in Chinese characters
MIN_TITLE_SIZE = 4.0  # minimum size of a title after stripping, in Chinese characters
MIN_HOST_LABEL_CHARS = 3  # a shorter host label is not a name
# "-" between Latin words is a separator only with spaces: "co-op - The Guardian".
# "_" inside Latin words is part of a name: "ngx_http_rewrite_module".
# A double dash is a separator only before a known name: 绿色发展——某地纪实 is one title.
TITLE_SEPARATOR_RE = re.compile(
    r"\s{0,9}(?:[|｜»][_|｜»]*|(?<![a-zA-Z\d_])_[_|｜»]*|(?<!_)_++(?![a-zA-Z\d])[|｜»]*)\s*|\s{0,9}(?<!—)—(?!—)\s*"
    r"|\s{1,9}[-–·•:：*]++\s+|(?<=[^\x00-\x7f])-+\s*|\s{0,9}-++(?=[^\x00-\x7f])|--+"
)
DOUBLE_DASH = "——"
CLOSING_QUOTE = "»"  # also a separator, in titles without the opening quotation mark
FUNCTION_WORDS = frozenset(
    ("a", "and", "at", "de", "des", "for", "für", "in", "of", "on", "the", "to", "und", "&", "-")
)
SITE_NAME_META_NAMES = ("og:site_name", "application-name", "apple-mobile-web-app-title", "publisher", "dc.publisher")
JSON_STRING_PATTERN = r'\s*:\s*"((?:[^"\\]|\\.){1,500})"'
PUBLISHER_NAME_RE = re.compile(r'"publisher"\s*:\s*\{[^{}]{0,300}?"name"' + JSON_STRING_PATTERN)
# Invisible characters, and private-use characters (icons in the site's font).
INVISIBLE_CHARS_RE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\ue000-\uf8ff]")
# "ByteSink (Guava 33.3 API)"; the heading may add the kind of thing in words or symbols: "Class ByteSink<T>".
PARENTHESIZED_TITLE_RE = re.compile(r"(.{1,200}?)\s*[(（][^()（）]{1,200}[)）]")
KIND_PREFIX_RE, KIND_SUFFIX_RE = re.compile(r"(?:[^\W\d_]{1,20}\s){0,2}"), re.compile(r"(?:\s?<.*)?", re.S)
KEY_WORD_RE = re.compile(rf"[a-z0-9]{{3,}}|[{HAN}]")  # words that tell titles apart, in lower case
INLINE_TAG_RE = re.compile(r"</?(?:i|em|b|strong|sup|sub|span)>", re.I)
NUMERIC_ENTITY_RE = re.compile(r"&#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}));")


def clean_title(text: str) -> str:
    """Clean a title: one line, doubly escaped entities resolved, no invisible characters, no separators at the ends."""
    text = text[: 2 * MAX_TITLE_CHARS]
    if "&" in text:
        text = NUMERIC_ENTITY_RE.sub(entity_char, unescape_markup(text)).replace("&apos;", "'").replace("&nbsp;", " ")
    if "<" in text:
        text = INLINE_TAG_RE.sub("", text)
    if not text.isascii():
        text = INVISIBLE_CHARS_RE.sub("", text)
    return " ".join(text.split()).strip("|_ ").removesuffix("- -").strip()


def entity_char(entity: re.Match[str]) -> str:
    """Return the character of a numeric entity, or the entity itself if there is no such character."""
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else entity[0]


@lru_cache(maxsize=8)  # every heading of a page is compared with the same title
def title_separators(title: str) -> list[re.Match[str]]:
    """Return the separators of a title. `»` is a quotation mark if the title also contains `«`."""
    has_quotes = "«" in title
    return [match for match in TITLE_SEPARATOR_RE.finditer(title) if not (has_quotes and CLOSING_QUOTE in match[0])]


def is_title_before_separator(heading: str, declared_title: str) -> bool:
    """Return whether a heading of any length is the part of <title> before its first separator or its last parenthesis.

    >>> is_title_before_separator("IDA*", "IDA* - OI Wiki")
    True
    >>> is_title_before_separator("Class Foo<T>", "Foo (Bar 3.2 API)")
    True
    """
    separators = title_separators(declared_title)
    if separators and heading == declared_title[: separators[0].start()] and normalize_letters(heading):
        return True
    parenthesis_match = PARENTHESIZED_TITLE_RE.fullmatch(declared_title)
    position = heading.find(parenthesis_match[1]) if parenthesis_match is not None else -1
    if parenthesis_match is None or position < 0:
        return False
    remainder = heading[position + len(parenthesis_match[1]) :]
    return KIND_PREFIX_RE.fullmatch(heading[:position]) is not None and KIND_SUFFIX_RE.fullmatch(remainder) is not None


def normalize_letters(text: str) -> str:
    """Return the letters and digits of a text, case-folded, which are equal in all spellings of a name."""
    return "".join(filter(str.isalnum, text.casefold()))


def strip_site_names(title: str, *names: str, suffixes: Sequence[str] = (), host: str = "") -> str:
    """Strip site and channel names after a title, and the site name before it.

    A stripped part is shorter than the remaining title, so `棱镜|很长的标题` is not changed. Only a known name of the
    site may be longer: one of `names`, one of the learned `suffixes`, or a name that `host` spells.
    """
    known_letters = {normalize_letters(name) for name in names}
    title = strip_after_double_dash(strip_learned_suffix(clean_title(title), suffixes), known_letters, host)
    separators = title_separators(title)
    for separator in reversed(separators):
        remainder, suffix = title[: separator.start()], title[separator.end() :]
        if text_size(remainder) < MIN_TITLE_SIZE or (
            text_size(suffix) >= text_size(remainder) and not is_site_name(suffix, known_letters, host)
        ):
            break
        title = remainder
    if separators and is_site_name(title[: separators[0].start()], known_letters):
        title = title[separators[0].end() :] or title
    return title.strip()


def strip_known_site_names(title: str, names: Iterable[str], suffixes: Sequence[str] = (), host: str = "") -> str:
    """Strip a known site name, or one that the host spells, from a cleaned title; other parts after separators stay."""
    known_letters = {normalize_letters(name) for name in names}
    title = strip_after_double_dash(strip_learned_suffix(title, suffixes), known_letters, host)
    for separator in title_separators(title):
        if (
            is_site_name(title[separator.end() :], known_letters, host)
            and text_size(title[: separator.start()]) >= MIN_TITLE_SIZE
        ):
            return title[: separator.start()].strip()
    return title


def strip_after_double_dash(title: str, known_letters: set[str], host: str) -> str:
    """Strip a known name after a double dash from a title."""
    remainder, _, suffix = title.rpartition(DOUBLE_DASH)
    return (
        remainder.rstrip()
        if text_size(remainder) >= MIN_TITLE_SIZE and is_site_name(suffix, known_letters, host)
        else title
    )


def has_separator_at(text: str, position: int) -> bool:
    """Return whether a title separator or a double dash begins at this offset."""
    return TITLE_SEPARATOR_RE.match(text, position) is not None or text.startswith(DOUBLE_DASH, position)


def strip_learned_suffix(title: str, suffixes: Sequence[str]) -> str:
    """Strip the longest learned suffix of the site from a title."""
    longest_suffix = max((suffix for suffix in suffixes if suffix and title.endswith(suffix)), key=len, default="")
    return title[: len(title) - len(longest_suffix)].rstrip() or title


def is_site_name(text: str, known_letters: set[str], host: str = "") -> bool:
    """Return whether a text is a known name, or a name that the host spells: "BBC News" at bbc.co.uk.

    `known_letters` contains the letters of the known names (see `normalize_letters`).
    """
    letters = normalize_letters(text)
    return bool(letters) and (letters in known_letters or (bool(host) and is_spelled_by_host(text, letters, host)))


def is_spelled_by_host(text: str, letters: str, host: str) -> bool:
    """Return whether the host contains a name, or a host label is the beginning or the initials of the name.

    `letters` are the letters of `text` (see `normalize_letters`).
    """
    if not letters.isascii() or text_size(text) > MAX_SITE_NAME_SIZE:
        return False
    initials = "".join(word[0] for word in text.lower().split() if word not in FUNCTION_WORDS)
    if len(letters) >= MIN_HOST_LABEL_CHARS and letters in normalize_letters(host):
        return True
    labels = [label for label in host.lower().split(".")[:-1] if len(label) >= MIN_HOST_LABEL_CHARS and label != "www"]
    return any(letters.startswith(normalize_letters(label)) or initials == label for label in labels)


def declared_site_names(page: ParsedPage) -> list[str]:
    """Return the names of the site that a page declares in metas and in the publisher of its JSON-LD."""
    names = [page.metas[key] for key in SITE_NAME_META_NAMES if key in page.metas]
    for script in page.json_ld:
        if match := PUBLISHER_NAME_RE.search(script):
            names.append(match[1])
            break
    return [clean_title(name) for name in names]


def host_of(url: str) -> str:
    """Return the host of a URL in lower case without "www.", or an empty string."""
    return (split_url(url).hostname or "").removeprefix("www.")


def title_suffix(declared_title: str, title: str = "") -> str:
    """Return the suffix of a <title> that the site may use on other pages too: a separator and the text after it.

    Args:
        declared_title: Text of <title>.
        title: The title of the article, if known. If <title> does not begin with it, the last separator is used.

    Returns:
        The suffix; an empty string if there is no separator or the suffix is too long for a name.
    """
    declared_title, title = clean_title(declared_title), clean_title(title)
    if title and declared_title.startswith(title) and has_separator_at(declared_title, len(title)):
        suffix = declared_title[len(title) :]
    else:
        separators = title_separators(declared_title)
        suffix = declared_title[separators[-1].start() :] if separators else ""
    return suffix if text_size(suffix) <= MAX_SITE_NAME_SIZE else ""


MAX_COMPARED_CHARS = 200  # beginning of each text that is compared
MAX_TITLE_LINE_SIZE = 90.0  # of a line that may be a title, in Chinese characters
MIN_TITLE_LINE_SIZE = 2.0
TITLE_PREFIX_TAGS = ("h1", "h2")  # headings of any length that may be <title> without the site name
LINKABLE_TITLE_TAGS = ("h1", "h2", "h3")
MAX_LINES_TITLE_TO_BODY = 15  # a body is expected to start within this distance below the title
# Bonus and minimum similarity to <title> for a line that is the title, by tag.
TITLE_BONUS_AND_MIN_SIMILARITY = {"h1": (0.5, 0.5)} | dict.fromkeys(HEADING_TAGS[1:], (0.2, 0.75))
PLAIN_LINE_BONUS_AND_MIN_SIMILARITY = (0.0, 0.9)
PREFIX_SIMILARITY = 0.95  # similarity of a heading at the beginning of <title>
CONTAINED_SIMILARITY = 0.8  # similarity of a heading elsewhere in <title> that is most of it
MIN_CONTAINED_SHARE = 0.5


class TextComparer:
    """Compares one text with many others."""

    def __init__(self, text: str) -> None:
        self.text = normalize_text(text)

    def similarity(self, other: str, min_similarity: float = 0.0) -> float:
        """Return the length of the longest common subsequence divided by the longer length, 0 to 1.

        Returns 0 if one text is empty or at least three times as long as the other. Also returns 0 if the lengths show
        that `min_similarity` cannot be reached.
        """
        if len(other) < min_similarity * len(self.text):  # normalization only shortens the text
            return 0.0
        other = normalize_text(other)
        shorter, longer = sorted((len(self.text), len(other)))
        if shorter == 0 or longer >= 3 * shorter or shorter < min_similarity * longer:
            return 0.0
        return LCSseq.similarity(self.text, other) / longer


def normalize_text(text: str) -> str:
    """Return the part of a text that is compared: lower case, white space collapsed, at most MAX_COMPARED_CHARS."""
    return " ".join(text[: MAX_COMPARED_CHARS * 2].split())[:MAX_COMPARED_CHARS].lower()


def find_title_line(page: ParsedPage) -> int:
    """Return the index of the title line, -1 if not found: the first of the best lines, h1 before other headings."""
    titles = {page.title, page.metas.get("og:title", "")} - {""}
    targets = [(normalize_letters(title), TextComparer(strip_site_names(title))) for title in sorted(titles)]
    shortest, longest = plain_title_length_range([len(comparer.text) for _, comparer in targets])
    declared_title = clean_title(page.title)
    best_score, best_index = 0.0, -1
    for index, line in enumerate(page.layout.lines):
        if (
            line.tag in TITLE_PREFIX_TAGS
            and not line.is_link
            and is_title_before_separator(clean_title(line.text), declared_title)
        ):
            similarity, bonus = PREFIX_SIMILARITY, TITLE_BONUS_AND_MIN_SIMILARITY[line.tag][0]
            if similarity + bonus > best_score:
                best_score, best_index = similarity + bonus, index
            continue
        if (
            not shortest <= len(line.text) <= longest and line.tag not in TITLE_BONUS_AND_MIN_SIMILARITY
        ) or not has_title_shape(line):
            continue
        bonus, min_similarity = TITLE_BONUS_AND_MIN_SIMILARITY.get(line.tag, PLAIN_LINE_BONUS_AND_MIN_SIMILARITY)
        similarity = max(
            (title_similarity(line, title_letters, comparer, min_similarity) for title_letters, comparer in targets),
            default=0.0,
        )
        if similarity >= min_similarity and similarity + bonus > best_score:
            best_score, best_index = similarity + bonus, index
    return best_index


def plain_title_length_range(target_lengths: Sequence[int]) -> tuple[float, float]:
    """Return the minimum and maximum length of a line outside headings that can match one of these titles."""
    min_similarity = PLAIN_LINE_BONUS_AND_MIN_SIMILARITY[1]
    longest = max(target_lengths, default=0) / min_similarity
    return min_similarity * min(target_lengths, default=0), longest if longest < MAX_COMPARED_CHARS else math.inf


def has_title_shape(line: Line) -> bool:
    """Return whether a line has the size of a title and is not a link outside headings."""
    if not MIN_TITLE_LINE_SIZE <= line.size <= MAX_TITLE_LINE_SIZE:
        return False
    return not line.is_link or line.tag in LINKABLE_TITLE_TAGS


def title_similarity(line: Line, title_letters: str, comparer: TextComparer, min_similarity: float) -> float:
    """Return the similarity of a line and a <title>, 0 to 1.

    `title_letters` are the letters of <title>; `comparer` contains its text without the site name.
    """
    if line.tag in HEADING_TAGS:
        text = normalize_letters(line.text)
        if text and text in title_letters:
            # At the beginning of <title> it is the title; elsewhere it may be the name of the site.
            share = len(text) / len(title_letters)
            if title_letters.startswith(text) and (line.size >= 4 or share > MIN_CONTAINED_SHARE):
                return PREFIX_SIMILARITY
            return CONTAINED_SIMILARITY if share > MIN_CONTAINED_SHARE else share
    return comparer.similarity(line.text, min_similarity)


def is_near_title(span: Span, title_line: int, lines: Sequence[Line]) -> bool:
    """Return whether an element contains the title or starts shortly below it."""
    return title_line < span.end_line and span.start_line_number <= last_line_number_near_title(title_line, lines)


def last_line_number_near_title(title_line: int, lines: Sequence[Line]) -> int:
    """Return the last line number at which an element near the title may start; -1 if there is no title."""
    return lines[title_line].line_number + MAX_LINES_TITLE_TO_BODY if title_line >= 0 else -1


MAX_LINES_ABOVE_BODY = 16  # search range for the title, above the body
MAX_LINES_TO_FIRST_SENTENCE = 12  # search range for the first sentence, from the start of the body
TITLE_SIZE_RANGE = 4.0, 45.0  # of a line that may be a title, in Chinese characters
MIN_SENTENCE_SIZE = 20.0  # a longer line that ends with a full stop or comma is the beginning of the text
MIN_USUAL_TITLE_SIZE = 6.0  # a shorter line is rarely a title
MAX_ENCLOSING_ELEMENTS = 3  # elements around a line whose names are read
MIN_STRONG_SHARE = 0.8  # lines with a larger share of strong text are strong
TITLE_CLASS_RE = re.compile(r"title|headline|heading|subject|biaoti")
TITLE_LABEL_RE = re.compile(r"(?:文章|帖子|新闻)?(?:主题|标题|题目)\s*[:：]\s*")
LIST_NUMBER_RE = re.compile(r"[（(]?[一二三四五六七八九十\d]{1,3}[、.．)）]")
BREADCRUMB_RE = re.compile(r"[>»→]|::|^\W*(?:首页|主页|home\b)")
# Words of a byline that do not occur in titles. "发布" without a label separator occurs in titles.
BYLINE_RE = re.compile(
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d|\d{1,2}:\d\d|\b(?:by|updated|published)\b|min read|"
    r"(?:来源|來源|作者|编辑|編輯|发布|發布|时间|時間|日期|阅读|閱讀|浏览|瀏覽|评论|評論|字号)(?:人|者|时间|次数|数|量)?\s*[:：\d|]"
)
# Points for and against a line: see `title_line_score`.
(
    HEADING_POINTS,
    SMALL_HEADING_POINTS,
    TITLE_CLASS_POINTS,
    STRONG_POINTS,
    CENTRED_POINTS,
    REPEATED_POINTS,
    REPEATED_NEARBY_POINTS,
    BEFORE_BYLINE_POINTS,
) = 3, 1, 2, 2, 1, 2, 1, 2
LINK_POINTS, NUMBERED_POINTS, SHORT_POINTS, ASIDE_POINTS = -4, -2, -1, -2


def lines_above_body(layout: Layout, body_span: int) -> list[Line]:
    """Return the lines from MAX_LINES_ABOVE_BODY above the body to its first sentence."""
    start, line_number = layout.spans[body_span].start_line, layout.spans[body_span].start_line_number
    body_lines = layout.lines[start : start + MAX_LINES_TO_FIRST_SENTENCE]
    lines_above = [
        line
        for line in layout.lines[max(0, start - MAX_LINES_ABOVE_BODY) : start]
        if line.line_number >= line_number - MAX_LINES_ABOVE_BODY
    ]
    return [*lines_above, *takewhile(lambda line: not is_body_sentence(line), body_lines)]


def is_body_sentence(line: Line) -> bool:
    """Return whether a line is a sentence of the body text."""
    return line.size > TITLE_SIZE_RANGE[1] or (
        line.size > MIN_SENTENCE_SIZE and line.text.endswith(("。", "，", "；", ".", ","))
    )


def best_title_line(layout: Layout, body_span: int, min_points: float = LINK_POINTS) -> str:
    """Return the text of the line above the body that looks most like a title, the last of equals.

    Returns an empty string if no line has more than `min_points` points.
    """
    lines = lines_above_body(layout, body_span)
    best_points, best_text = min_points, ""
    for position, line in enumerate(lines):
        if may_be_title_line(line):
            points = title_line_score(position, lines, layout)
            if points >= best_points and points > min_points:
                best_points, best_text = points, line.text
    return TITLE_LABEL_RE.sub("", clean_title(best_text), count=1)


def may_be_title_line(line: Line) -> bool:
    """Return whether a line has the size of a title and is not a label, a breadcrumb trail or a byline."""
    if not TITLE_SIZE_RANGE[0] <= line.size <= TITLE_SIZE_RANGE[1] or line.text.endswith(
        ("。", "，", ".", ",", "；", ";", "：", ":")
    ):
        return False
    return not (is_byline_line(line) or is_template_label(line.text) or BREADCRUMB_RE.search(line.text.lower()))


def is_byline_line(line: Line) -> bool:
    """Return whether a line is a byline; a title that contains one of the byline words does not count."""
    return is_byline(line.text) and BYLINE_RE.search(line.text.lower()) is not None


def title_line_score(position: int, lines: Sequence[Line], layout: Layout) -> float:
    """Return the points of a line as a title: tag, style, repetition, neighbours and enclosing elements.

    `position` is the index of the line in `lines`.
    """
    line = lines[position]
    evidence = (
        (heading_points(line.tag), True),
        (STRONG_POINTS, line.strong_size > MIN_STRONG_SHARE * line.size),
        (REPEATED_POINTS, any(line.text in other.text and other is not line for other in layout.lines)),
        (REPEATED_NEARBY_POINTS, any(line.text == other.text and other is not line for other in lines)),
        (BEFORE_BYLINE_POINTS, any(map(is_byline_line, lines[position + 1 : position + 2]))),
        (LINK_POINTS, line.is_link and line.tag not in HEADING_TAGS),
        (NUMBERED_POINTS, LIST_NUMBER_RE.match(line.text) is not None),
        (SHORT_POINTS, line.size < MIN_USUAL_TITLE_SIZE),
    )
    return sum(points for points, holds in evidence if holds) + element_points(line, layout)


def heading_points(tag: str) -> float:
    """Return the points of a tag as that of a title."""
    if tag not in HEADING_TAGS:
        return 0.0
    return HEADING_POINTS if tag < "h4" else SMALL_HEADING_POINTS


def element_points(line: Line, layout: Layout) -> float:
    """Return the points of the names and the alignment of the elements around a line."""
    ancestor_tags = [
        layout.spans[span].tag_info for span in islice(layout.iter_enclosing(line.span_index), MAX_ENCLOSING_ELEMENTS)
    ]
    is_named = any(TITLE_CLASS_RE.search(tag_info.identifiers) for tag_info in ancestor_tags[:1])
    is_centred = any(
        tag_info.tag == "center" or tag_info.attributes.get("align") == "center" for tag_info in ancestor_tags[:2]
    )
    is_aside = any(tag_info.hint in (Hint.ASIDE, Hint.FOOTER_OR_COMMENTS) for tag_info in ancestor_tags)
    return TITLE_CLASS_POINTS * is_named + CENTRED_POINTS * is_centred + ASIDE_POINTS * is_aside
