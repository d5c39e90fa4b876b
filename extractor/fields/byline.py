"""Who wrote an article and whom it was taken over from, as the lines around it and the page's fields say.

    2020-07-04 12:10 来源：求是网 作者：陈海峰 责任编辑：陈海峰    author 陈海峰, source 求是网
    本报记者 张楠 李四                                          author 张楠, 李四
    By Danielle DeSiato and Donna Enzmann                       author Danielle DeSiato, Donna Enzmann

Explicit labels go before fields meant for machines, which hold the site's name as often as a person's.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from extractor.fields.linked_data import LinkedArticle
from extractor.fields.persons import (
    AND,
    CAPITAL_WORD,
    DATE_OR_TIME,
    HAN_NAME,
    LABELS,
    LATIN_NAME,
    MEDIUM,
    NOT_NAMES,
    PEN_NAME,
    clean_source,
    names_in,
)
from extractor.page.byline_zone import LONG, BylineZone
from extractor.page.document import Document
from extractor.page.layout import Line, Span
from text.scripts import HAN

MAX_NAMES = 12
BEFORE, BEHIND = 4, 10  # lines before the title and behind the text's first line that may hold a byline
LAST = 3  # lines at the end of the text that may hold one
CHINESE = re.compile(f"[{HAN}]")
# 作者：张三  文/张三  执笔/甲、乙
CHINESE_AUTHOR = re.compile(
    rf"(?:(?<![{HAN}])(?:本文|文章|原文)?作者|撰文|撰稿|执笔|(?<![{HAN}])文)\s?[:：/／|丨]\s?"
    rf"(?P<names>{PEN_NAME}(?![\w=])(?:\s?[、,，&/]\s?(?!{LABELS}){PEN_NAME}){{0,5}}"
    rf"(?:\s{{1,2}}(?!{LABELS}|{NOT_NAMES}){HAN_NAME}(?![\w{HAN}:：])){{0,5}})"
)
BARE_AUTHOR = re.compile(rf"[|\s]作者\s?(?P<names>{PEN_NAME})")
# 本报记者 张三 李四    （记者张三）    記者林宸誼／即時報導
REPORTER = re.compile(
    rf"(?:(?:特约|见习|实习|首席)?(?:记者|記者)|通讯员)\s?[:：]?\s?"
    rf"(?P<names>{HAN_NAME}(?:(?:{AND})(?!{LABELS}|通讯员|报道){HAN_NAME}(?![{HAN}])){{0,5}})"
    rf"(?!\s?摄)(?=\s?(?:[)）／/|】\]]|报道|報導|文|$|\s))"
)
FULL_NAME = re.compile(rf"{CAPITAL_WORD} {LATIN_NAME}")
REPORTER_WORD = re.compile("记者|記者")
OF_MEDIUM = re.compile(rf"(?P<names>{HAN_NAME})\s?[/／]\s?(?P<medium>{MEDIUM.pattern})")  # 张三/某某报
REPORTER_HEAD = 60  # characters of the first line of text in which （记者张三） stands
ENGLISH_AUTHOR = re.compile(
    rf"(?:^|[|•·]\s?|\b)(?:(?:[Ww]ritten|[Rr]eported|[Pp]osted|[Ww]ords|[Ss]tory|[Aa]rticle) )?(?:[Bb]y|BY|Von|Par|Por)"
    rf":?\s{{1,2}}(?P<names>{LATIN_NAME}(?:(?:, and |, | and | & ){LATIN_NAME}){{0,6}})"
)
SOURCE = re.compile(
    rf"(?:(?:(?<![{HAN}])|(?<=日))(?:稿件|文章|信息|新闻|资料|本文|内容)?(?:来源|來源)(?:于|自)?\s?[:：]?|"
    r"(?:稿源|转载自|轉載自|转自|摘自|出处|来自)\s?[:：])\s?"
    r"(?P<name>[^\s|｜,，;；:：()（）【】\[\]<>《》]{2,30}(?: [A-Z][\w.-]*){0,3})"
)
SOURCE_LABEL = re.compile(r"^[\s(（]*(?:稿件|文章|信息|新闻)?(?:来源|來源|source)\s?[:：]?\s?", re.I)
AUTHOR_METAS = (
    "author", "article:author", "article:author_name", "byl", "parsely-author", "sailthru.author", "dc.creator",
    "dcterms.creator", "dc.contributor", "citation_author", "cxenseparse:author", "byline", "creator",
)  # fmt: skip
SOURCE_METAS = ("source", "mediaid", "news_source", "article:source", "contentsource", "originalsource", "dc.source",
                "original-source", "syndication-source")  # fmt: skip
AUTHOR_NOTE = re.compile(
    r"(?:^|[\s_-])(?:author|authors|byline|writer|reporter|zuozhe)(?:s?[_-]{0,2}name)?(?:$|[\s_-])|"
    r"bylinename|authorname|byline-?author"
)
SOURCE_NOTE = re.compile(r"(?:^|[\s_-])(?:source|laiyuan|origin|copyfrom|media-?name)(?:$|[\s_-])|source_baidu")


def find_author(document: Document, frame: BylineZone, linked: LinkedArticle, site: frozenset[str]) -> str:
    """The authors of an article, joined by ", ", or "". `site` are the names of the site, which are nobody's."""
    people = [name for text in linked.people for name in names_in(text, frozenset() if " " in text.strip() else site)]
    for texts in candidates(document, frame, linked, people):
        names = people if texts is people else [name for text in texts for name in names_in(text, site)]
        if names:
            return ", ".join(dict.fromkeys(names[:MAX_NAMES]))
    return ""


def candidates(document: Document, frame: BylineZone, linked: LinkedArticle, people: list[str]) -> Iterator[list[str]]:
    """Texts that hold the authors' names, one list for a place, most trusted first."""
    near = near_lines(document, frame)
    lines = [document.layout.lines[place] for place in near]
    yield from ([match["names"]] for line in lines if (match := chinese_author(line)) is not None)
    yield people
    yield list(linked.authors)
    yield from ([document.metas[name]] for name in AUTHOR_METAS if name in document.metas)
    yield noted(document, near, AUTHOR_NOTE)
    yield from ([text] for line in lines if (text := author_link(line)))
    yield from ([match["names"]] for line in lines if (match := english_author(line)) is not None)
    yield from ([match["names"]] for match in reporters(document, frame))


def near_lines(document: Document, frame: BylineZone) -> list[int]:
    """Places of the lines that may hold a byline: around the title down to the text, then at the text's end."""
    top = frame.title if frame.title >= 0 else max(0, frame.first - BEHIND)
    start = max(0, top - BEFORE)
    count = len(document.layout.lines)
    behind = range(max(frame.first, frame.end - LAST), min(count, frame.end + LAST))
    return [
        *range(start, min(frame.first + BEHIND, count)),
        *(place for place in behind if place >= frame.first + BEHIND),
    ]


def chinese_author(line: Line) -> re.Match[str] | None:
    """A short line's label 作者：, 文/ or 记者, and the names behind it."""
    text = line.text
    if line.size > LONG or text.isascii():
        return None
    found = CHINESE_AUTHOR.search(in_pieces(line) if "作者" in text else text)
    if found is None and ("记者" in text or "記者" in text):
        return REPORTER.search(text)
    return found or (BARE_AUTHOR.search(text) if "作者" in text else OF_MEDIUM.fullmatch(text))


def in_pieces(line: Line) -> str:
    """A line with a space between its inline elements, which may stand for one."""
    return " ".join(" ".join(line.parts).split())


def english_author(line: Line) -> re.Match[str] | None:
    """A short line that begins with "By", and the names behind it."""
    if line.size > LONG or "y" not in line.text or CHINESE.search(line.text):
        return None
    return ENGLISH_AUTHOR.search(line.text[:150])


def author_link(line: Line) -> str:
    """The text of a link to an author: by its rel, or by the URL of a page about somebody with a Latin name."""
    for start, end, attributes in line.anchors:
        text = "".join(line.parts[start:end]).strip()
        if 'rel="author' in attributes or ("/author" in attributes and FULL_NAME.fullmatch(text)):
            return text
    return ""


def reporters(document: Document, frame: BylineZone) -> Iterator[re.Match[str]]:
    """（记者张三） at the beginning of the text."""
    for line in document.layout.lines[frame.first : frame.first + 2]:
        text = line.text[:REPORTER_HEAD]
        if "记者" in text or "記者" in text:
            match = REPORTER.search(text)
            if match is not None:
                yield match


def noted(document: Document, near: list[int], name: re.Pattern[str]) -> list[str]:
    """The texts of small elements near the title that are named so; of those in one another the first."""
    if not near:
        return []
    start, end = near[0], near[-1]
    for note in document.layout.notes:
        if start <= note.line <= end and note.text and name.search(note.facts.name):
            same = [
                n.text
                for n in document.layout.notes
                if n.facts.name == note.facts.name and start <= n.line <= note.line + 1
            ]
            return same[:MAX_NAMES]
    spans, lines = document.layout.spans, document.layout.lines
    first = bisect_left(spans, start, key=line_of)
    for span in spans[first : bisect_right(spans, end, key=line_of)]:
        if span.facts.marked and span.end - span.start == 1 and name.search(span.facts.name):
            return [lines[span.start].text]
    return []


def line_of(span: Span) -> int:
    """The line at which a span begins; spans are in the order of these."""
    return span.start


def find_source(document: Document, frame: BylineZone, linked: LinkedArticle) -> str:
    """Whom the article was taken over from, as it says itself, or ""."""
    near = near_lines(document, frame)
    lines = [document.layout.lines[place] for place in near]
    stated = (source_in(line) for line in lines)
    fields = (document.metas[name] for name in SOURCE_METAS if name in document.metas)
    notes = (SOURCE_LABEL.sub("", text) for text in noted(document, near, SOURCE_NOTE) if not text.isascii())
    beside = (medium_beside_date(line) for line in lines[:BEHIND])
    found = (clean_source(text) for text in (*stated, *notes, *fields, linked.based_on, *beside) if text)
    return next(filter(None, found), "")


def source_in(line: Line) -> str:
    """What stands behind 来源： in a short line."""
    if line.size > LONG or line.text.isascii():
        return ""
    match = SOURCE.search(in_pieces(line))
    beside = None if match else OF_MEDIUM.fullmatch(line.text)
    return match["name"] if match else beside["medium"] if beside else ""


def medium_beside_date(line: Line) -> str:
    """参考消息 in 2019年11月25日 18:57 参考消息: all that a line holds but its date."""
    if line.text.isascii() or line.size > LONG or "20" not in line.text:
        return ""
    rest = DATE_OR_TIME.sub(" ", line.text)
    medium = REPORTER_WORD.split(rest, maxsplit=1)[0].strip(" ()（）|,，·")
    return medium if rest != line.text and MEDIUM.fullmatch(medium) else ""
