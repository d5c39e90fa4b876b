"""Finds the line that looks most like a title, for pages whose <title> is not usable."""

import re
from collections.abc import Sequence
from itertools import islice, takewhile

from extractor.fields.site_name import clean_title
from extractor.page.boilerplate_phrases import is_byline, is_template_label
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Layout, Line
from extractor.page.tag_info import Hint

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
