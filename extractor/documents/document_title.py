"""Finds the title of a document: a line with the style "title", or the largest first lines. No I/O.

Programs fill the title property with file names and template names. It is used only if its words occur on the first
page. On the page, the lines with the largest font are the title, except the lines above a title: the issuing office of
an official document (its number follows), a journal, a stamp, a date. If no line stands out, the title is empty, which
is better than a wrong title.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from extractor.documents.content import DocumentContent, OpeningLine, join_spaced_letters, to_one_line
from extractor.fields.byline import split_names
from extractor.fields.title_matching import normalize_letters
from text.scripts import HAN

MAX_TITLE_CHARS = 300
MAX_TITLE_LINES = 6
MIN_TITLE_SIZE_RATIO = 1.12  # minimum font size of a title, relative to the text
MAX_SIZE_DIFFERENCE = 0.03
MAX_TITLE_LENGTH_RATIO = 2.5  # maximum length of a fuller title on the page, relative to the title property
MIN_WORDY_SIZE_RATIO = 0.7  # minimum font size, relative to the largest, of a title above a single large word
MAX_FIRST_PARAGRAPHS = 12  # paragraphs searched for a title without font size or role
MAX_PLAIN_TITLE_CHARS = 120  # maximum length of a first line used as title without other evidence
PROGRAM_PREFIX_RE = re.compile(
    r"^(?:microsoft (?:office )?(?:word|powerpoint|excel)|wps ?office|(?:open|libre)office\S*|adobe \w+)\s*[-–—]\s*",
    re.I,
)
FILE_NAME_RE = re.compile(
    r"\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|qxp|tex|dvi|rtf|txt|od[tps]|ps|eps|html?|md|wps|p65|cdr|ai)$", re.I
)
PLACEHOLDER_TITLE_RE = re.compile(
    r"^(?:untitled|no title|title|document|presentation|slide|worksheet|book|sheet|template|powerpoint presentation|"
    r"[无無][标標][题題]|未命名|文[档檔件]|演示文稿|幻[灯燈]片|工作表|新建 ?\S{0,12}文[档件稿]|标题)[\s\d_.-]*$",
    re.I,
)
DOCUMENT_NUMBER_RE = re.compile(
    rf"[{HAN}]{{1,12}}\s?[〔［\[（(【]\s?(?:19|20)\d\d\s?(?:年)?[〕］\]）)】]\s?第?\s?\d{{1,5}}\s?号"
)
ISSUING_OFFICE_RE = re.compile(rf"^[{HAN}（）()、\s]{{2,40}}(?:文件|公报|公報|函|令|会议纪要|简报)?$")
SECTION_HEADING_RE = re.compile(
    r"^(?:目\s*录|目\s*錄|目\s*次|contents?|table of contents|index|abstract|摘\s*要|前\s*言|引\s*言|序\s*言?|"
    r"附\s*件\s*[\d一二三四五六七八九十]*[:：]?|机\s*密.*|秘\s*密.*|绝\s*密.*|内部(?:资料|文件).*|特\s*急|急\s*件|draft|confidential|"
    r"introduction|summary|agenda|preface|foreword|acknowledge?ments?|references|参考文献|封面|cover|logo|page\s.*|第.{1,4}页.*|"
    r"thank you.*|谢谢.*|isbn.*|issn.*|doi\b.*|vol(?:ume|\.).*|no\.\s?\d.*|arxiv:.*|©.*|copyright.*|版权.*)$",
    re.I,
)
URL_OR_NUMBER_RE = re.compile(r"https?://|www\.|\S@[^\s@]+\.\w|^\W*\d[\d\s\W]*$")
# Words of a stamp. A line of only such words states the date or version, not the title.
VERSION_OR_DATE_WORD_RE = re.compile(
    r"\d+(?:st|nd|rd|th)?|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-zéû]*|\b(?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)day|\b(?:draft|final|version|revised|revision|updated|vol|volume|issue|number|no|page|of|date|rev|edition|spring|"
    r"summer|autumn|fall|winter|ver|v)\b|[年月日第期卷版页号总星一二三四五六七八九十〇]|修订|征求意见稿|送审稿|草案|初稿",
    re.I,
)
MONTH_YEAR_RE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?,?\s(?:\d{1,2},?\s)?(?:19|20)\d\d\b", re.I
)
SENTENCE_END_RE = re.compile(r"[。；;，,!！]$|[a-z\d)]\.$|[:：]$")
LETTER_RE = re.compile(r"[^\W\d_]")
HAN_RE = re.compile(f"[{HAN}]")


def find_document_title(content: DocumentContent) -> str:
    """Find the title of a document; returns an empty string if no line is clearly the title."""
    properties_title = title_from_properties(content)
    if properties_title:
        return properties_title
    groups = [group for group in group_paragraphs(content.opening) if may_be_title(paragraph_text(group))]
    groups = paragraphs_after_number(content.opening, groups)
    for finder in (title_by_role, title_by_font_size, title_by_heading, title_by_position):
        if title := finder(groups, content):
            return title[:MAX_TITLE_CHARS]
    return ""


def title_from_properties(content: DocumentContent) -> str:
    """Return the title property if an author wrote it or the opening contains it, else an empty string."""
    title = PROGRAM_PREFIX_RE.sub("", content.properties.title).strip()
    if content.properties.is_authored and title:
        return title
    if (
        not title
        or len(normalize_letters(title)) < 4
        or PLACEHOLDER_TITLE_RE.match(title)
        or FILE_NAME_RE.search(title)
    ):
        return ""
    opening_letters = normalize_letters("".join(line.text for line in content.opening))
    if normalize_letters(title) not in opening_letters or not may_be_title(title) or not is_long_enough(title):
        return ""
    containing_paragraphs = [
        paragraph_text(group)
        for group in group_paragraphs(content.opening)
        if normalize_letters(title) in normalize_letters(paragraph_text(group))
    ]
    fuller_titles = [
        text
        for text in containing_paragraphs
        if len(text) <= MAX_TITLE_LENGTH_RATIO * len(title) and may_be_title(text)
    ]
    return fuller_titles[0] if fuller_titles else title


def group_paragraphs(opening: Sequence[OpeningLine]) -> list[list[OpeningLine]]:
    """Group the opening lines by paragraph."""
    return [list(lines) for _, lines in groupby(opening, key=lambda line: (line.paragraph_number, line.role))]


def paragraphs_after_number(opening: Sequence[OpeningLine], groups: list[list[OpeningLine]]) -> list[list[OpeningLine]]:
    """For an official document, return only the paragraphs below its document number.

    Above the number is the name of the issuing office, in the largest font.
    """
    number = next((index for index, line in enumerate(opening[:30]) if DOCUMENT_NUMBER_RE.search(line.text)), -1)
    if number < 0 or not all(
        ISSUING_OFFICE_RE.match(line.text) or not HAN_RE.search(line.text) for line in opening[:number]
    ):
        return groups
    below = {id(line) for line in opening[number + 1 :]}
    return [group for group in groups if id(group[0]) in below] or groups


def may_be_title(text: str) -> bool:
    """Return True for a text of a title's length that is not a stamp, date, URL or section heading."""
    if not 2 <= len(text) <= MAX_TITLE_CHARS or SECTION_HEADING_RE.match(text) or URL_OR_NUMBER_RE.search(text):
        return False
    if not normalize_letters(VERSION_OR_DATE_WORD_RE.sub("", text)) or DOCUMENT_NUMBER_RE.fullmatch(text):
        return False
    return len(LETTER_RE.findall(text)) * 2 >= len(text.replace(" ", ""))


def is_long_enough(text: str) -> bool:
    """Return False for a single letter or the few letters of a logo."""
    return len(HAN_RE.findall(text)) >= 2 or len(LETTER_RE.findall(text)) >= 4


def title_by_role(groups: Sequence[Sequence[OpeningLine]], content: DocumentContent) -> str:
    """Return the first run of paragraphs with the style "title"."""
    titles = [group for group in groups if group[0].role == "title"]
    if not titles:
        return ""
    first = next(index for index, group in enumerate(groups) if group is titles[0])
    title_run = [titles[0]]
    for group in groups[first + 1 :]:
        if group[0].role != "title" or content.blocks[0].page:
            break
        title_run.append(group)
    return to_one_line(" ".join(paragraph_text(group) for group in title_run))


def title_by_font_size(groups: Sequence[Sequence[OpeningLine]], content: DocumentContent) -> str:
    """Return the paragraph with the largest font, if it is larger than the font of the text."""
    sized_groups = [
        group
        for group in groups
        if group[0].font_size and is_long_enough(paragraph_text(group)) and len(group) <= MAX_TITLE_LINES
    ]
    largest = max((group[0].font_size for group in sized_groups), default=0.0)
    if not largest or largest < MIN_TITLE_SIZE_RATIO * body_font_size(content):
        return ""
    first = next(index for index, group in enumerate(sized_groups) if has_font_size(group, largest))
    if is_single_word(paragraph_text(sized_groups[first])):
        groups_above = [group for group in sized_groups[:first] if group[0].font_size >= MIN_WORDY_SIZE_RATIO * largest]
        wordy = [group for group in groups_above if not is_single_word(paragraph_text(group))]
        return paragraph_text((wordy or [sized_groups[first]])[0])
    return paragraph_text(sized_groups[first])


def is_single_word(text: str) -> bool:
    """Return True for a single Latin word, such as the name of a company or a document type."""
    return " " not in text and not HAN_RE.search(text)


def title_by_heading(groups: Sequence[Sequence[OpeningLine]], content: DocumentContent) -> str:
    """Return the first heading, if only short lines are above it."""
    for group in groups[:MAX_FIRST_PARAGRAPHS]:
        if group[0].role == "heading":
            return paragraph_text(group)
        if len(paragraph_text(group)) > MAX_PLAIN_TITLE_CHARS:
            break
    return ""


def title_by_position(groups: Sequence[Sequence[OpeningLine]], content: DocumentContent) -> str:
    """Return the first paragraph, if it is a short line that does not end like a sentence and text follows."""
    if not groups or len(content.blocks) < 2:
        return ""
    first = groups[0]
    text = paragraph_text(first)
    stands_out = first[0].is_bold or first[0].is_centred or not first[0].font_size
    is_first = first[0].paragraph_number == content.opening[0].paragraph_number
    fits = (
        len(text) <= MAX_PLAIN_TITLE_CHARS
        and not (SENTENCE_END_RE.search(text) or MONTH_YEAR_RE.search(text))
        and is_long_enough(text)
    )
    return text if stands_out and is_first and fits else ""


def body_font_size(content: DocumentContent) -> float:
    """Return the font size of most of the text in points.

    If the format gives none for the text, returns the most frequent font size of the opening lines.
    """
    sizes = Counter[float]()
    for line in content.opening:
        sizes[line.font_size] += len(line.text) if line.font_size else 0
    return content.body_font_size or (sizes.most_common(1)[0][0] if sizes else 0.0)


def has_font_size(group: Sequence[OpeningLine], size: float) -> bool:
    """Return True if a paragraph has this font size, within MAX_SIZE_DIFFERENCE."""
    return abs(group[0].font_size - size) <= MAX_SIZE_DIFFERENCE * size


def paragraph_text(group: Sequence[OpeningLine]) -> str:
    """Join the lines of a paragraph, without a blank between Chinese lines."""
    text = ""
    for line in group:
        dense = text and HAN_RE.match(text[-1]) and HAN_RE.match(line.text[:1])
        text += line.text if not text or dense else " " + line.text
    return to_one_line(join_spaced_letters(text))


def find_document_author(content: DocumentContent) -> str:
    """Return the author property, limited to names that the opening contains unless an author wrote it.

    Without such a name, return the fallback author of the file.
    """
    names = split_names(content.properties.author, frozenset())
    opening_letters = normalize_letters("".join(line.text for line in content.opening))
    confirmed_names = [
        name for name in names if content.properties.is_authored or normalize_letters(name) in opening_letters
    ]
    return ", ".join(confirmed_names) or content.properties.fallback_author
