"""The line that is a title by its looks and its place, for pages whose <title> does not tell."""

import re
from collections.abc import Sequence
from itertools import islice, takewhile

from extractor.fields.site_name import tidy
from extractor.page.dom import HEADINGS
from extractor.page.layout import LINK_LINE, Layout, Line
from extractor.page.markup_hints import Hint
from extractor.page.phrases import is_meta_line, is_template

ABOVE = 16  # lines above the body in which its title is looked for
LONGEST_HEAD = 12  # lines between a body's start and its first sentence
TITLE_SIZE = 4.0, 45.0  # of a line that may be a title, in Chinese characters
SENTENCE = 20.0  # a longer line with a full stop or a comma at its end begins the text
SHORTEST = 6.0  # a shorter line is rarely a title
AROUND = 3  # elements around a line whose names are read
STRONG_LINE = 0.8  # lines with more strong text than this are strong
NAMED = re.compile(r"title|headline|heading|subject|biaoti")
LABEL = re.compile(r"(?:文章|帖子|新闻)?(?:主题|标题|题目)\s*[:：]\s*")
NUMBERED = re.compile(r"[（(]?[一二三四五六七八九十\d]{1,3}[、.．)）]")
PATH = re.compile(r"[>»→]|::|^\W*(?:首页|主页|home\b)")
# Of the words of a line with date and author, those that no title has: "发布" alone is one of a title's.
META = re.compile(
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d|\d{1,2}:\d\d|\b(?:by|updated|published)\b|min read|"
    r"(?:来源|來源|作者|编辑|編輯|发布|發布|时间|時間|日期|阅读|閱讀|浏览|瀏覽|评论|評論|字号)(?:人|者|时间|次数|数|量)?\s*[:：\d|]"
)
# What speaks for a line and against it: see `score`.
HEADING, SMALL_HEADING, NAME, STRONG, CENTRED, REPEATED, REPEATED_HERE, BEFORE_META = 3, 1, 2, 2, 1, 2, 1, 2
LINK, NUMBER, SHORT, ASIDE = -4, -2, -1, -2


def lines_above(layout: Layout, body: int) -> list[Line]:
    """The lines from a little above the body down to its first sentence."""
    start, row = layout.spans[body].start, layout.spans[body].row
    head = takewhile(lambda line: not is_text(line), layout.lines[start : start + LONGEST_HEAD])
    above = [line for line in layout.lines[max(0, start - ABOVE) : start] if line.row >= row - ABOVE]
    return [*above, *head]


def is_text(line: Line) -> bool:
    """A sentence of the text."""
    return line.size > TITLE_SIZE[1] or (line.size > SENTENCE and line.text.endswith(("。", "，", "；", ".", ",")))


def line_above(layout: Layout, body: int, least: float = LINK) -> str:
    """The line above the text that looks most like a title, with more than `least` points, or ""; the nearest of
    equals.
    """
    lines = lines_above(layout, body)
    best, chosen = least, ""
    for place, line in enumerate(lines):
        if may_be_title(line):
            points = score(place, lines, layout)
            if points >= best and points > least:
                best, chosen = points, line.text
    return LABEL.sub("", tidy(chosen), count=1)


def may_be_title(line: Line) -> bool:
    """Of a title's size, and neither a label, a path of channels, nor a line with date and author."""
    if not TITLE_SIZE[0] <= line.size <= TITLE_SIZE[1] or line.text.endswith(
        ("。", "，", ".", ",", "；", ";", "：", ":")
    ):
        return False
    return not (has_meta(line) or is_template(line.text) or PATH.search(line.text.lower()))


def has_meta(line: Line) -> bool:
    """A line with date, source or author, but for titles that hold one of the words for them."""
    return is_meta_line(line.text) and META.search(line.text.lower()) is not None


def score(place: int, lines: Sequence[Line], layout: Layout) -> float:
    """How much a line looks like a title: what its element is and is called, how it is set, what stands by it."""
    line = lines[place]
    evidence = (
        (kind_of_heading(line.tag), True),
        (STRONG, line.strong_size > STRONG_LINE * line.size),
        (REPEATED, any(line.text in other.text and other is not line for other in layout.lines)),
        (REPEATED_HERE, any(line.text == other.text and other is not line for other in lines)),
        (BEFORE_META, any(map(has_meta, lines[place + 1 : place + 2]))),
        (LINK, line.link_share > LINK_LINE and line.tag not in HEADINGS),
        (NUMBER, NUMBERED.match(line.text) is not None),
        (SHORT, line.size < SHORTEST),
    )
    return sum(points for points, holds in evidence if holds) + setting(line, layout)


def kind_of_heading(tag: str) -> float:
    """What an element's tag says for its being the title."""
    if tag not in HEADINGS:
        return 0.0
    return HEADING if tag < "h4" else SMALL_HEADING


def setting(line: Line, layout: Layout) -> float:
    """What the names and the alignment of the elements around a line say."""
    around = [layout.spans[span].facts for span in islice(layout.above(line.span), AROUND)]
    is_named = any(NAMED.search(facts.name) for facts in around[:1])
    is_centred = any(facts.tag == "center" or facts.attributes.get("align") == "center" for facts in around[:2])
    is_aside = any(facts.hint in (Hint.ASIDE, Hint.AFTER) for facts in around)
    return NAME * is_named + CENTRED * is_centred + ASIDE * is_aside
