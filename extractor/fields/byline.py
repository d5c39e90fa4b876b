"""Finds the author and the source of an article in the lines around it and in the metadata of the page.

    2020-07-04 12:10 来源：求是网 作者：陈海峰 责任编辑：陈海峰    author 陈海峰, source 求是网
    本报记者 张楠 李四                                          author 张楠, 李四
    By Danielle DeSiato and Donna Enzmann                       author Danielle DeSiato, Donna Enzmann

Explicit labels rank before metadata, which contain the name of the site as often as that of a person. Labels and roles
are removed from names, and texts that are not names are rejected. `BylineZone` locates the article among the lines.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from extractor.fields.dates.date_parsing import find_first_date, normalize_date_text
from extractor.fields.dates.month_names import MONTH_NAMES
from extractor.fields.json_ld import JsonLdArticle
from extractor.fields.title_matching import normalize_letters
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import CODE_TAG, Line, Span
from extractor.page.parsed_page import ParsedPage
from text.scripts import HAN

MIN_TEXT_LINE_SIZE = 40.0  # larger lines are body text; in Chinese characters
MAX_FIRST_LINE_OFFSET = 30  # search range for the first line of text, from the start of the body element
MAX_TITLE_LOOKBACK_LINES = 60  # search range for the title, above the first line of text


@dataclass(frozen=True, slots=True)
class BylineZone:
    """Line indices of an article: title (-1: not found), first line of text, and end (exclusive).

    `ancestor_spans` are the indices of the body's span and of all spans around it: they contain the article, no matter
    what their class names say. `is_preformatted` is True if most of the text is preformatted, as in letters and old
    news; then preformatted lines are not treated as examples.
    """

    title_line: int
    first_text_line: int
    end_line: int
    ancestor_spans: frozenset[int]
    is_preformatted: bool = False


def find_byline_zone(page: ParsedPage, body_span: int) -> BylineZone:
    """Return the byline zone of the article whose body is the span `body_span`."""
    lines, span = page.layout.lines, page.layout.spans[body_span]
    first_lines = range(span.start_line, min(span.end_line, span.start_line + MAX_FIRST_LINE_OFFSET))
    first = next(
        (line_index for line_index in first_lines if lines[line_index].size > MIN_TEXT_LINE_SIZE), span.start_line
    )
    ancestor_spans = frozenset(page.layout.iter_enclosing(body_span))
    return BylineZone(
        find_title_line_above(page, first),
        first,
        span.end_line,
        ancestor_spans,
        is_mostly_code(lines[span.start_line : span.end_line]),
    )


def is_mostly_code(lines: Sequence[Line]) -> bool:
    """Return whether more than half of the text of the lines is preformatted."""
    return 2 * sum(line.size for line in lines if line.tag == CODE_TAG) > sum(line.size for line in lines)


def find_title_line_above(page: ParsedPage, first: int) -> int:
    """Return the index of the nearest line above the text that is an h1 or part of <title>; -1 if not found."""
    lines = page.layout.lines
    for line_index in range(min(first + 3, len(lines)) - 1, max(-1, first - MAX_TITLE_LOOKBACK_LINES), -1):
        line = lines[line_index]
        if line.tag == "h1" or (line.size >= 4 and line.text in page.title and not line.is_link):
            return line_index
    return -1


MAX_NAME_CHARS = 60
MAX_NAME_WORDS = 7
# Labels that may follow a name on the same line.
LABEL_PATTERN = (
    "(?:作者|记者|記者|来源|來源|责任编辑|責任編輯|责编|编辑|編輯|发布|發布|时间|時間|日期|点击|阅读|浏览|评论|字号|"
    "校对|审核|摄影|标签|分享|我来说|我要)"
)
NON_NAME_PATTERN = "(?:整合|整理|编译|综合|报道)"
HAN_NAME_PATTERN = rf"[{HAN}]{{2,4}}(?:·[{HAN}]{{1,8}}){{0,3}}"
# A longer word, and one with an underscore, is an identifier of a program.
CAPITALIZED_WORD_PATTERN = r"[A-Z\u00c0-\u024f](?:[^\W_]|[.'’-]){0,24}(?![A-Za-z0-9_\u00c0-\u024f])"
# Small words of names, and a nickname: Ludwig van der Berg, Robert "Bob" Miller.
NAME_PARTICLE_PATTERN = (
    r"(?:(?:d[aei]|del|della|de[rn]|dos|das|du|el|la|le|los|van|von|zu[rm]?|te[rn]|af|av|al|ben|bin|ibn|y|'t) |"
    r"[\"“'‘(][^\s\"”'’()@][^\"”'’()@]{0,19}[\"”'’)] )"
)
LATIN_NAME_PATTERN = rf"{CAPITALIZED_WORD_PATTERN}(?: {NAME_PARTICLE_PATTERN}{{0,3}}{CAPITALIZED_WORD_PATTERN}){{0,4}}"
PEN_NAME_PATTERN = r"[\w·_.-]{2,20}"
NAME_SEPARATOR_PATTERN = r"\s?[、,，&/]\s?|\s(?:和|与)\s|\s{1,2}"
HAN_NAMES_RE = re.compile(rf"{HAN_NAME_PATTERN}(?:\s{HAN_NAME_PATTERN}){{1,5}}")
NAME_SEPARATOR_RE = re.compile(
    rf"\s?[;；、|／]\s?|,\s(?=[A-Z])|,(?=[A-Z{HAN}])|，|(?<=[{HAN}])&|\s(?:and|&|und|et|y|e)\s"
)
DATE_OR_TIME_RE = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?|\d{1,2}[:：]\d\d(?:[:：]\d\d)?"
)
DATE_LABEL_RE = re.compile(  # a weekday, or what happened on the day; Sun is also a name
    r"\s?[|,·–—-]\s?(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}|(?:last )?(?:published|posted|updated)(?: on)?)$",
    re.I,
)
MEDIA_NAME_RE = re.compile(
    f"[{HAN}A-Za-z]{{1,12}}(?:网|網|报|報|报道|社|电视台|广播|新闻|新聞|消息|周刊|週刊|杂志|雜誌|在线|快讯|"
    "快訊|客户端|通讯|综合|中文站)"
)
NON_NAMES = frozenset(
    (
        "admin", "administrator", "root", "webmaster", "editor", "editors", "staff", "name", "author", "unknown",
        "none", "by", "null", "anonymous", "user", "guest", "team", "the team", "test", "佚名", "未知", "不详", "本站",
        "原创", "本站原创", "网络", "互联网", "網路", "網絡", "转载", "转载文章", "本网", "综合", "其他", "其它",
        "网站", "管理员", "匿名", "小编", "编辑", "作者", "记者", "责任编辑", "最新文章", "专栏", "个人", "网友",
        "整理", "整合", "来源", "发布", "网络转载", "系统管理员",
    )
)  # fmt: skip
NOT_NAME_RE = re.compile(
    r"https?:|^https?$|www\.|@|[。！？!?{}<>=]|\.(?:com|net|org|cn)\b|版权|copyright|^\W*$|^[\d\W]+$|\d\s?[篇次条]|"
    "责任|编辑|点击|阅读|发布",
    re.I,
)
WRITTEN_BY_RE = re.compile(r"^.{0,60}\b(?:written|posted|reported) by\s")
BYLINE_PREFIX_RE = re.compile(
    r"^(?:(?:written |posted |reported )?by|von|par|por|di|作者|文|记者)\s?[:：/]?\s+|"
    rf"^(?:作者|文|记者|記者)\s?[:：/]\s?|^(?:本报)?(?:记者|記者)(?=[{HAN}]{{2,4}}$)",
    re.I,
)
EDITOR_LABEL_RE = re.compile(r"\s?[\[【(（]?(?:责任|責任|本文|网络)?(?:编辑|編輯|责编)")
ROLE_SUFFIX_RE = re.compile(
    r"\s?[|(（,–—-]\s?(?:[\w ]{0,40}\b(?:editor|writer|reporter|correspondent|staff|contributor)\b|摄|文|图|编).*$",
    re.I,
)
TRAILING_ROLE_RE = re.compile(
    r"\s(?:senior |staff |contributing |associate ){0,3}(?:writer|reporter|correspondent|editor|contributor)s?$", re.I
)
JOB_TITLE_RE = re.compile(
    r"\b(?:of|for|at|manager|director|officer|founder|developer|engineer|professor|team lead)\b|^(?:phd|md|ceo)$", re.I
)
HANDLE_RE = re.compile(r"\s?[(（\[]@[\w.]{2,30}[)）\]]")
SUFFIX_RE = re.compile(r",?\s(Jr|Sr)\b\.?")
DEGREE_RE = re.compile(r",\s(?:Ph\.?\s?D|(?:[A-Z]\.?){2,5}(?![\w ]))[.®*†]*(?=\W|$)")  # "Jane Moss, M.D."
HAN_ROLE_RE = re.compile(
    rf"(?<=[{HAN}]{{2}})\s?(?:特约)?(?:记者|記者|教授|博士|院士|研究员|研究員|律师|律師|先生|女士)(?=$|[\s、,，;；|(（])"
)
DAY_RE = re.compile(r"(?:\d{1,2}\S{0,2}\s)?([^\W\d_]{3,12})\.?(?:\s\d{1,2}\S{0,2})?")
UNCLOSED_PARENTHESIS_RE = re.compile(r"\s?[(（][^)）]*$")
NAME_STRIP_CHARS = " .,;:：|/-—–()（）[]【】·•\"“”'\u200b"
SOURCE_SUFFIX_RE = re.compile(rf"\s?{LABEL_PATTERN}|参与互动|\s{{2,}}|[|｜]")


def split_names(text: str, site_names: frozenset[str]) -> list[str]:
    """Return the names in a text without roles; texts that are URLs, sentences or names of the site are removed."""
    text = WRITTEN_BY_RE.sub("", html.unescape(" ".join(text[:500].split())))
    text = DEGREE_RE.sub("", SUFFIX_RE.sub(r" \1.", HANDLE_RE.sub("", HAN_ROLE_RE.sub("", cut_date(text)))))
    text = EDITOR_LABEL_RE.split(BYLINE_PREFIX_RE.sub("", text), maxsplit=1)[0].strip()
    parts = NAME_SEPARATOR_RE.split(text)
    if len(parts) == 1 and HAN_NAMES_RE.fullmatch(text):
        parts = text.split()
    names = [name for part in parts if may_be_person_name(name := strip_role(part), site_names)]
    names = [name for name in names if not JOB_TITLE_RE.search(name)] or names[:1]
    return [name for name in names if not MEDIA_NAME_RE.fullmatch(name)] or names


def cut_date(text: str) -> str:
    """Return the text before the date in a byline, or the text after it if the byline begins with the date."""
    name_text = next((part.strip() for part in DATE_OR_TIME_RE.split(text) if part.strip(NAME_STRIP_CHARS)), "")
    normalized_text = normalize_date_text(name_text)
    date_match = find_first_date(normalized_text) if len(normalized_text) == len(name_text) else None
    if date_match is not None:
        before, after = (
            part.strip(NAME_STRIP_CHARS) for part in (name_text[: date_match.start], name_text[date_match.end :])
        )
        name_text = after if BYLINE_PREFIX_RE.match(after) or not before else DATE_LABEL_RE.sub("", before)
    words = name_text.split()
    while len(words) > 1 and words[-1].isalpha() and words[-1].islower():
        words.pop()  # "Jane Moss on" a date
    return name_text if name_text == text else " ".join(words)


def strip_role(text: str) -> str:
    """Remove "By" before a name and the role after it."""
    name = UNCLOSED_PARENTHESIS_RE.sub(
        "", TRAILING_ROLE_RE.sub("", ROLE_SUFFIX_RE.sub("", BYLINE_PREFIX_RE.sub("", text)))
    )
    has_suffix = name.rstrip().endswith(("Jr.", "Sr."))
    name = name.strip(NAME_STRIP_CHARS) + "." * has_suffix
    return f"{name})" if "(" in name and ")" not in name else name


def may_be_person_name(name: str, site_names: frozenset[str]) -> bool:
    """Return whether a text may be the name of a person, a group or a company."""
    folded_name = name.casefold()
    if (
        not 2 <= len(name) <= MAX_NAME_CHARS
        or folded_name in NON_NAMES
        or NOT_NAME_RE.search(name)
        or ((day := DAY_RE.fullmatch(name)) and day[1].lower() in MONTH_NAMES and not name.isalpha())
        or len(name.split()) > MAX_NAME_WORDS
    ):
        return False
    return not matches_site_name(name, site_names)


def matches_site_name(name: str, site_names: frozenset[str]) -> bool:
    """Return whether a name equals a name of the site, or one begins with the other: 网易 and 网易新闻."""
    normalized = normalize_letters(name)
    return any(normalized.startswith(other) or other.startswith(normalized) for other in site_names)


def clean_source(text: str) -> str:
    """Return the name of a source without the labels after it, or an empty string if it is not a name."""
    text = SOURCE_SUFFIX_RE.split(DATE_OR_TIME_RE.sub(" ", text).strip(), maxsplit=1)[0].strip(NAME_STRIP_CHARS)
    if not 2 <= len(text) <= MAX_NAME_CHARS or text.casefold() in NON_NAMES or NOT_NAME_RE.search(text):
        return ""
    return text


MAX_NAMES = 12
# Search range for a byline: before the title, after the first line of text, and before and after the end of the text.
MAX_LINES_BEFORE_TITLE = 4
MAX_LINES_AFTER_TEXT_START = 10
MAX_LINES_AROUND_TEXT_END = 3
HAN_RE = re.compile(f"[{HAN}]")
# 作者：张三  文/张三  执笔/甲、乙
CHINESE_AUTHOR_RE = re.compile(
    rf"(?:(?<![{HAN}])(?:本文|文章|原文)?作者|撰文|撰稿|执笔|(?<![{HAN}])文)\s?[:：/／|丨]\s?"
    rf"(?P<names>{LATIN_NAME_PATTERN}(?=\s*(?:$|[|｜、，,(（]|[{HAN}]{{2,4}}\s?[:：]))"
    rf"|{PEN_NAME_PATTERN}(?![\w=])(?:\s?[、,，&/]\s?(?!{LABEL_PATTERN}){PEN_NAME_PATTERN}){{0,5}}"
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
    rf"\b(?:[Bb]y|BY|Von|Par|Por):?\s{{1,2}}"
    rf"(?P<names>{LATIN_NAME_PATTERN}(?:(?:, and |, | and | & ){LATIN_NAME_PATTERN}){{0,6}})"
)
# The line before "by": nothing, a separator, a date or time, or the article and what its author did. A sentence
# such as "a statement prepared by PREPARE" names no author.
BEFORE_BY_RE = re.compile(
    r"(?:.*(?:[|•·:>»–—-]|\d{4}|\bago|\d{1,2}[:.]\d\d(?:\s?[ap]\.?m\.?)?(?:\s[a-z]{2,4})?))?\s*"
    r"(?:(?:[\w'’-]{1,40}+\s){0,2}(?:written|reported|posted|published|submitted|contributed|created|updated"
    r"|(?:words|text|story)(?:\s(?:and|&)\s(?:photos|pictures|images))?|article|report|review|opinion|analysis|interview|column|commentary|essay|post|blog)\s)?",
    re.I,
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
# A writer or reporter within a longer identifier may be a program: `guc-wal-writer-delay`.
AUTHOR_CLASS_RE = re.compile(
    r"(?:^|[\s_-])(?:author|authors|byline|zuozhe)(?:s?[_-]{0,2}name)?(?:$|[\s_-])|"
    r"(?:^|\s)(?:(?:article|news|story|post|art|view)[_-])?(?:writer|reporter)(?:s?[_-]{0,2}(?:name|info))?(?:$|\s)|"
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
    title = page.layout.lines[zone.title_line] if zone.title_line >= 0 else None
    label_lines = [line for line in lines if line.tag not in HEADING_TAGS and line is not title]
    yield from ([match["names"]] for line in label_lines if (match := match_chinese_author(line)) is not None)
    yield person_names
    yield list(json_ld_article.author_names)
    yield from ([page.metas[name]] for name in AUTHOR_META_NAMES if name in page.metas)
    yield texts_by_class(page, line_indices, AUTHOR_CLASS_RE)
    yield from filter(None, map(author_link_texts, lines))
    yield from ([match["names"]] for line in lines if (match := match_english_author(line)) is not None)
    yield from ([match["names"]] for match in iter_reporter_matches(page, zone))
    yield from ([line.text] for line in lines if names_account_after_date(line))


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
    if line.size > MIN_TEXT_LINE_SIZE or HAN_RE.search(line.text):
        return None
    line_text = line.text[:150]
    return next(
        (
            match
            for text in dict.fromkeys((cut_date(line_text), line_text))
            for match in ENGLISH_AUTHOR_RE.finditer(text)
            if BEFORE_BY_RE.fullmatch(text, 0, match.start())
        ),
        None,
    )


def names_account_after_date(line: Line) -> bool:
    """Return whether a short line consists of a date and names with accounts: `2026-04-11 - Jane Moss (@jane)`."""
    if line.size > MIN_TEXT_LINE_SIZE or not HANDLE_RE.search(line.text):
        return False
    return not line.text.startswith(cut_date(line.text).strip())


def author_link_texts(line: Line) -> list[str]:
    """Return the texts of the links to authors in a line.

    Such a link has rel="author", or leads to an author page and shows a full Latin name.
    """
    links = (("".join(line.text_pieces[start:end]).strip(), attributes) for start, end, attributes in line.links)
    return [
        text
        for text, attribute_text in links
        if 'rel="author' in attribute_text or ("/author" in attribute_text and FULL_LATIN_NAME_RE.fullmatch(text))
    ]


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
    named_spans = [
        span
        for span in spans[bisect_left(spans, start, key=span_start) : bisect_right(spans, end, key=span_start)]
        if span.tag_info.is_metadata
        and span.end_line - span.start_line == 1
        and class_re.search(span.tag_info.identifiers)
    ]
    texts = list[str]()
    for previous, span in zip([*named_spans[:1], *named_spans], named_spans, strict=False):
        if span.tag_info.identifiers != previous.tag_info.identifiers or span.start_line > previous.start_line + 1:
            break
        texts.append(lines[span.start_line].text)
    return texts[:MAX_NAMES]


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
