"""Finds the author and the source of an article in the lines around it and in the metadata of the page.

    2020-07-04 12:10 来源：求是网 作者：陈海峰 责任编辑：陈海峰    author 陈海峰, source 求是网
    本报记者 张楠 李四                                          author 张楠, 李四
    By Danielle DeSiato and Donna Enzmann                       author Danielle DeSiato, Donna Enzmann

Explicit labels rank before metadata, which contain the name of the site as often as that of a person.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from extractor.fields.json_ld import JsonLdArticle
from extractor.fields.person_names import (
    CAPITALIZED_WORD_PATTERN,
    DATE_OR_TIME_RE,
    HAN_NAME_PATTERN,
    LABEL_PATTERN,
    LATIN_NAME_PATTERN,
    MEDIA_NAME_RE,
    NAME_SEPARATOR_PATTERN,
    NON_NAME_PATTERN,
    PEN_NAME_PATTERN,
    clean_source,
    split_names,
)
from extractor.page.byline_zone import MIN_TEXT_LINE_SIZE, BylineZone
from extractor.page.layout import Line, Span
from extractor.page.parsed_page import ParsedPage
from text.scripts import HAN

MAX_NAMES = 12
# Search range for a byline: before the title, after the first line of text, and before and after the end of the text.
MAX_LINES_BEFORE_TITLE = 4
MAX_LINES_AFTER_TEXT_START = 10
MAX_LINES_AROUND_TEXT_END = 3
HAN_RE = re.compile(f"[{HAN}]")
# 作者：张三  文/张三  执笔/甲、乙
CHINESE_AUTHOR_RE = re.compile(
    rf"(?:(?<![{HAN}])(?:本文|文章|原文)?作者|撰文|撰稿|执笔|(?<![{HAN}])文)\s?[:：/／|丨]\s?"
    rf"(?P<names>{PEN_NAME_PATTERN}(?![\w=])(?:\s?[、,，&/]\s?(?!{LABEL_PATTERN}){PEN_NAME_PATTERN}){{0,5}}"
    rf"(?:\s{{1,2}}(?!{LABEL_PATTERN}|{NON_NAME_PATTERN}){HAN_NAME_PATTERN}(?![\w{HAN}:：])){{0,5}})"
)
UNPUNCTUATED_AUTHOR_RE = re.compile(rf"[|\s]作者\s?(?P<names>{PEN_NAME_PATTERN})")
# 本报记者 张三 李四    （记者张三）    記者林宸誼／即時報導
REPORTER_RE = re.compile(
    rf"(?:(?:特约|见习|实习|首席)?(?:记者|記者)|通讯员)\s?[:：]?\s?"
    rf"(?P<names>{HAN_NAME_PATTERN}(?:(?:{NAME_SEPARATOR_PATTERN})(?!{LABEL_PATTERN}|通讯员|报道){HAN_NAME_PATTERN}(?![{HAN}])){{0,5}})"
    rf"(?!\s?摄)(?=\s?(?:[)）／/|】\]]|报道|報導|文|$|\s))"
)
FULL_LATIN_NAME_RE = re.compile(rf"{CAPITALIZED_WORD_PATTERN} {LATIN_NAME_PATTERN}")
REPORTER_WORD_RE = re.compile("记者|記者")
NAME_AND_MEDIUM_RE = re.compile(
    rf"(?P<names>{HAN_NAME_PATTERN})\s?[/／]\s?(?P<medium>{MEDIA_NAME_RE.pattern})"
)  # 张三/某某报
MAX_REPORTER_CHARS = 60  # beginning of a line of text that is searched for （记者张三）
ENGLISH_AUTHOR_RE = re.compile(
    rf"(?:^|[|•·]\s?|\b)(?:(?:[Ww]ritten|[Rr]eported|[Pp]osted|[Ww]ords|[Ss]tory|[Aa]rticle) )?(?:[Bb]y|BY|Von|Par|Por)"
    rf":?\s{{1,2}}(?P<names>{LATIN_NAME_PATTERN}(?:(?:, and |, | and | & ){LATIN_NAME_PATTERN}){{0,6}})"
)
SOURCE_RE = re.compile(
    rf"(?:(?:(?<![{HAN}])|(?<=日))(?:稿件|文章|信息|新闻|资料|本文|内容)?(?:来源|來源)(?:于|自)?\s?[:：]?|"
    r"(?:稿源|转载自|轉載自|转自|摘自|出处|来自)\s?[:：])\s?"
    r"(?P<name>[^\s|｜,，;；:：()（）【】\[\]<>《》]{2,30}(?: [A-Z][\w.-]*){0,3})"
)
SOURCE_LABEL_RE = re.compile(r"^[\s(（]*(?:稿件|文章|信息|新闻)?(?:来源|來源|source)\s?[:：]?\s?", re.I)
AUTHOR_META_NAMES = (
    "author", "article:author", "article:author_name", "byl", "parsely-author", "sailthru.author", "dc.creator",
    "dcterms.creator", "dc.contributor", "citation_author", "cxenseparse:author", "byline", "creator",
)  # fmt: skip
SOURCE_META_NAMES = (
    "source", "mediaid", "news_source", "article:source", "contentsource", "originalsource", "dc.source",
    "original-source", "syndication-source",
)  # fmt: skip
AUTHOR_CLASS_RE = re.compile(
    r"(?:^|[\s_-])(?:author|authors|byline|writer|reporter|zuozhe)(?:s?[_-]{0,2}name)?(?:$|[\s_-])|"
    r"bylinename|authorname|byline-?author"
)
SOURCE_CLASS_RE = re.compile(r"(?:^|[\s_-])(?:source|laiyuan|origin|copyfrom|media-?name)(?:$|[\s_-])|source_baidu")


def find_author(page: ParsedPage, zone: BylineZone, json_ld_article: JsonLdArticle, site_names: frozenset[str]) -> str:
    """Return the authors of an article joined by ", ", or an empty string.

    `site_names` are the normalized names of the site; they are never authors.
    """
    person_names = [
        name
        for text in json_ld_article.person_names
        for name in split_names(text, frozenset() if " " in text.strip() else site_names)
    ]
    for texts in iter_author_texts(page, zone, json_ld_article, person_names):
        names = (
            person_names
            if texts is person_names
            else [name for text in texts for name in split_names(text, site_names)]
        )
        if names:
            return ", ".join(dict.fromkeys(names[:MAX_NAMES]))
    return ""


def iter_author_texts(
    page: ParsedPage, zone: BylineZone, json_ld_article: JsonLdArticle, person_names: list[str]
) -> Iterator[list[str]]:
    """Yield texts with names of authors, one list per source of evidence, most reliable first."""
    line_indices = byline_line_indices(page, zone)
    lines = [page.layout.lines[line_index] for line_index in line_indices]
    yield from ([match["names"]] for line in lines if (match := match_chinese_author(line)) is not None)
    yield person_names
    yield list(json_ld_article.author_names)
    yield from ([page.metas[name]] for name in AUTHOR_META_NAMES if name in page.metas)
    yield texts_by_class(page, line_indices, AUTHOR_CLASS_RE)
    yield from ([text] for line in lines if (text := author_link_text(line)))
    yield from ([match["names"]] for line in lines if (match := match_english_author(line)) is not None)
    yield from ([match["names"]] for match in iter_reporter_matches(page, zone))


def byline_line_indices(page: ParsedPage, zone: BylineZone) -> list[int]:
    """Return the indices of lines that may contain a byline: around the title and at both ends of the text."""
    first_line = zone.title_line if zone.title_line >= 0 else max(0, zone.first_text_line - MAX_LINES_AFTER_TEXT_START)
    start = max(0, first_line - MAX_LINES_BEFORE_TITLE)
    count = len(page.layout.lines)
    end_lines = range(
        max(zone.first_text_line, zone.end_line - MAX_LINES_AROUND_TEXT_END),
        min(count, zone.end_line + MAX_LINES_AROUND_TEXT_END),
    )
    return [
        *range(start, min(zone.first_text_line + MAX_LINES_AFTER_TEXT_START, count)),
        *(line_index for line_index in end_lines if line_index >= zone.first_text_line + MAX_LINES_AFTER_TEXT_START),
    ]


def match_chinese_author(line: Line) -> re.Match[str] | None:
    """Match the label 作者：, 文/ or 记者 with names in a short line; returns None if not found."""
    text = line.text
    if line.size > MIN_TEXT_LINE_SIZE or text.isascii():
        return None
    match = CHINESE_AUTHOR_RE.search(spaced_text(line) if "作者" in text else text)
    if match is None and ("记者" in text or "記者" in text):
        return REPORTER_RE.search(text)
    return match or (UNPUNCTUATED_AUTHOR_RE.search(text) if "作者" in text else NAME_AND_MEDIUM_RE.fullmatch(text))


def spaced_text(line: Line) -> str:
    """Return the text of a line with spaces between its inline elements, which often replace separators."""
    return " ".join(" ".join(line.text_pieces).split())


def match_english_author(line: Line) -> re.Match[str] | None:
    """Match "By" with names in a short line; returns None if not found."""
    if line.size > MIN_TEXT_LINE_SIZE or "y" not in line.text or HAN_RE.search(line.text):
        return None
    return ENGLISH_AUTHOR_RE.search(line.text[:150])


def author_link_text(line: Line) -> str:
    """Return the text of a link to an author, or an empty string.

    The link has rel="author", or leads to an author page and shows a full Latin name.
    """
    for start, end, attribute_text in line.links:
        text = "".join(line.text_pieces[start:end]).strip()
        if 'rel="author' in attribute_text or ("/author" in attribute_text and FULL_LATIN_NAME_RE.fullmatch(text)):
            return text
    return ""


def iter_reporter_matches(page: ParsedPage, zone: BylineZone) -> Iterator[re.Match[str]]:
    """Yield matches of （记者张三） in the first two lines of the text."""
    for line in page.layout.lines[zone.first_text_line : zone.first_text_line + 2]:
        text = line.text[:MAX_REPORTER_CHARS]
        if "记者" in text or "記者" in text:
            match = REPORTER_RE.search(text)
            if match is not None:
                yield match


def texts_by_class(page: ParsedPage, line_indices: list[int], class_re: re.Pattern[str]) -> list[str]:
    """Return the texts of the first small element near the title with a matching class, and of equally named ones."""
    if not line_indices:
        return []
    start, end = line_indices[0], line_indices[-1]
    for inline_element in page.layout.inline_elements:
        if (
            start <= inline_element.line_index <= end
            and inline_element.text
            and class_re.search(inline_element.tag_info.identifiers)
        ):
            nested_texts = [
                other.text
                for other in page.layout.inline_elements
                if other.tag_info.identifiers == inline_element.tag_info.identifiers
                and start <= other.line_index <= inline_element.line_index + 1
            ]
            return nested_texts[:MAX_NAMES]
    spans, lines = page.layout.spans, page.layout.lines
    first = bisect_left(spans, start, key=span_start)
    for span in spans[first : bisect_right(spans, end, key=span_start)]:
        if (
            span.tag_info.is_metadata
            and span.end_line - span.start_line == 1
            and class_re.search(span.tag_info.identifiers)
        ):
            return [lines[span.start_line].text]
    return []


def span_start(span: Span) -> int:
    """Return the first line of a span: the sort key of the spans of a layout."""
    return span.start_line


def find_source(page: ParsedPage, zone: BylineZone, json_ld_article: JsonLdArticle) -> str:
    """Return the medium that the article was taken from, or an empty string."""
    line_indices = byline_line_indices(page, zone)
    lines = [page.layout.lines[line_index] for line_index in line_indices]
    labelled_sources = (find_labelled_source(line) for line in lines)
    meta_values = (page.metas[name] for name in SOURCE_META_NAMES if name in page.metas)
    class_texts = (
        SOURCE_LABEL_RE.sub("", text)
        for text in texts_by_class(page, line_indices, SOURCE_CLASS_RE)
        if not text.isascii()
    )
    media_beside_dates = (find_medium_beside_date(line) for line in lines[:MAX_LINES_AFTER_TEXT_START])
    sources = (
        clean_source(text)
        for text in (*labelled_sources, *class_texts, *meta_values, json_ld_article.based_on, *media_beside_dates)
        if text
    )
    return next(filter(None, sources), "")


def find_labelled_source(line: Line) -> str:
    """Return the name after 来源： in a short line, or an empty string."""
    if line.size > MIN_TEXT_LINE_SIZE or line.text.isascii():
        return ""
    match = SOURCE_RE.search(spaced_text(line))
    name_and_medium = None if match else NAME_AND_MEDIUM_RE.fullmatch(line.text)
    return match["name"] if match else name_and_medium["medium"] if name_and_medium else ""


def find_medium_beside_date(line: Line) -> str:
    """Return the name of a medium if a line contains only that and a date: 2019年11月25日 18:57 参考消息."""
    if line.text.isascii() or line.size > MIN_TEXT_LINE_SIZE or "20" not in line.text:
        return ""
    text_without_date = DATE_OR_TIME_RE.sub(" ", line.text)
    medium = REPORTER_WORD_RE.split(text_without_date, maxsplit=1)[0].strip(" ()（）|,，·")
    return medium if text_without_date != line.text and MEDIA_NAME_RE.fullmatch(medium) else ""
