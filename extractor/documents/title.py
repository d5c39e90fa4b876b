"""The title of a document: what its author called the title, or the largest first lines of its beginning. Pure.

Programs fill the title of the properties with names of files and templates; it is believed where its words stand on the
first page. Of the page, the lines with the largest letters are the title, unless they are what stands above a title:
the name of the office that issues an official paper (its number follows), of a journal, a stamp, a day. Where nothing
stands out, there is no title: none misleads nobody.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from extractor.documents.content import Content, OpeningLine, one_line
from extractor.fields.persons import bare, names_in
from text.scripts import HAN

MAX_TITLE = 300  # characters
MAX_LINES = 6
MIN_LARGER = 1.12  # times the size of the text: letters that stand out
SAME_SIZE = 0.03
MAX_WHOLE = 2.5  # times the properties' title: a line of the page that says more
WORD_SIZE = 0.7  # of the largest letters: a title in these is preferred to a single word below it
FIRST_LINES = 12  # in which a title without size or role may stand
MAX_PLAIN = 120  # characters of a first line that is taken for a title though nothing sets it apart
PROGRAM = re.compile(
    r"^(?:microsoft (?:office )?(?:word|powerpoint|excel)|wps ?office|(?:open|libre)office\S*|adobe \w+)\s*[-–—]\s*",
    re.I,
)
FILE_NAME = re.compile(
    r"\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|qxp|tex|dvi|rtf|txt|od[tps]|ps|eps|html?|md|wps|p65|cdr|ai)$", re.I
)
EMPTY_NAME = re.compile(
    r"^(?:untitled|no title|title|document|presentation|slide|worksheet|book|sheet|template|powerpoint presentation|"
    r"[无無][标標][题題]|未命名|文[档檔件]|演示文稿|幻[灯燈]片|工作表|新建 ?\S{0,12}文[档件稿]|标题)[\s\d_.-]*$",
    re.I,
)
NUMBER_OF_PAPER = re.compile(
    rf"[{HAN}]{{1,12}}\s?[〔［\[（(【]\s?(?:19|20)\d\d\s?(?:年)?[〕］\]）)】]\s?第?\s?\d{{1,5}}\s?号"
)
OFFICE = re.compile(rf"^[{HAN}（）()、\s]{{2,40}}(?:文件|公报|公報|函|令|会议纪要|简报)?$")
NO_TITLE = re.compile(
    r"^(?:目\s*录|目\s*錄|目\s*次|contents?|table of contents|index|abstract|摘\s*要|前\s*言|引\s*言|序\s*言?|"
    r"附\s*件\s*[\d一二三四五六七八九十]*[:：]?|机\s*密.*|秘\s*密.*|绝\s*密.*|内部(?:资料|文件).*|特\s*急|急\s*件|draft|confidential|"
    r"introduction|summary|agenda|preface|foreword|acknowledge?ments?|references|参考文献|封面|cover|logo|page\s.*|第.{1,4}页.*|"
    r"thank you.*|谢谢.*|isbn.*|issn.*|doi\b.*|vol(?:ume|\.).*|no\.\s?\d.*|arxiv:.*|©.*|copyright.*|版权.*)$",
    re.I,
)
ADDRESS = re.compile(r"https?://|www\.|\S@\S+\.\w|^\W*\d[\d\s\W]*$")
# What a stamp is made of: a line of nothing else says when or in which form, and not what.
STAMP = re.compile(
    r"\d+(?:st|nd|rd|th)?|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-zéû]*|\b(?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)day|\b(?:draft|final|version|revised|revision|updated|vol|volume|issue|number|no|page|of|date|rev|edition|spring|"
    r"summer|autumn|fall|winter|ver|v)\b|[年月日第期卷版页号总星一二三四五六七八九十〇]|修订|征求意见稿|送审稿|草案|初稿",
    re.I,
)
DAY = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?,?\s(?:\d{1,2},?\s)?(?:19|20)\d\d\b", re.I
)
SENTENCE_END = re.compile(r"[。；;，,!！]$|[a-z\d)]\.$|[:：]$")
LETTERS = re.compile(r"[^\W\d_]")
HAN_LETTERS = re.compile(f"[{HAN}]")


SPACED = re.compile(r"\s+")
SPACED_OUT = re.compile(rf"[{HAN}](?:\s+[{HAN}])+")  # 通  知: a short title is spread over the line


def choose_title(content: Content) -> str:
    """The title, or "" where the document shows none that can be told."""
    stated = stated_title(content)
    if stated:
        return stated
    groups = [group for group in paragraphs_of(content.opening) if may_be_title(text_of(group))]
    groups = behind_number(content.opening, groups)
    for choose in (named_title, largest_title, heading_title, first_title):
        if found := choose(groups, content):
            return found[:MAX_TITLE]
    return ""


def stated_title(content: Content) -> str:
    """The title of the properties, where a person wrote it or the beginning shows it."""
    title = PROGRAM.sub("", content.properties.title).strip()
    if content.properties.edited and title:
        return title
    if not title or len(bare(title)) < 4 or EMPTY_NAME.match(title) or FILE_NAME.search(title):
        return ""
    page = bare("".join(line.text for line in content.opening))
    if bare(title) not in page or not may_be_title(title) or not is_long_enough(title):
        return ""
    around = [text_of(group) for group in paragraphs_of(content.opening) if bare(title) in bare(text_of(group))]
    whole = [text for text in around if len(text) <= MAX_WHOLE * len(title) and may_be_title(text)]
    return whole[0] if whole else title


def paragraphs_of(opening: Sequence[OpeningLine]) -> list[list[OpeningLine]]:
    """The lines of the beginning, those of one paragraph together."""
    return [list(lines) for _, lines in groupby(opening, key=lambda line: (line.place, line.role))]


def behind_number(opening: Sequence[OpeningLine], groups: list[list[OpeningLine]]) -> list[list[OpeningLine]]:
    """Of an official paper, what stands below its number: above it stands who issues it, in the largest letters."""
    number = next((at for at, line in enumerate(opening[:30]) if NUMBER_OF_PAPER.search(line.text)), -1)
    if number < 0 or not all(OFFICE.match(line.text) or not HAN_LETTERS.search(line.text) for line in opening[:number]):
        return groups
    below = {id(line) for line in opening[number + 1 :]}
    return [group for group in groups if id(group[0]) in below] or groups


def may_be_title(text: str) -> bool:
    """A text of a title's length that is no stamp, day, URL or heading of a part."""
    if not 2 <= len(text) <= MAX_TITLE or NO_TITLE.match(text) or ADDRESS.search(text):
        return False
    if not bare(STAMP.sub("", text)) or NUMBER_OF_PAPER.fullmatch(text):
        return False
    return len(LETTERS.findall(text)) * 2 >= len(text.replace(" ", ""))


def is_long_enough(text: str) -> bool:
    """A single letter or a logo's few are none."""
    return len(HAN_LETTERS.findall(text)) >= 2 or len(LETTERS.findall(text)) >= 4


def named_title(groups: Sequence[Sequence[OpeningLine]], content: Content) -> str:
    """What the author called the title: its first run of paragraphs."""
    titles = [group for group in groups if group[0].role == "title"]
    if not titles:
        return ""
    first = next(at for at, group in enumerate(groups) if group is titles[0])
    run = [titles[0]]
    for group in groups[first + 1 :]:
        if group[0].role != "title" or content.blocks[0].page:
            break
        run.append(group)
    return one_line(" ".join(text_of(group) for group in run))


def largest_title(groups: Sequence[Sequence[OpeningLine]], content: Content) -> str:
    """The paragraph with the largest letters, where these are larger than those of the text."""
    sized = [group for group in groups if group[0].size and is_long_enough(text_of(group)) and len(group) <= MAX_LINES]
    largest = max((group[0].size for group in sized), default=0.0)
    if not largest or largest < MIN_LARGER * text_size(content):
        return ""
    first = next(at for at, group in enumerate(sized) if is_size(group, largest))
    if is_single_word(text_of(sized[first])):
        above = [group for group in sized[:first] if group[0].size >= WORD_SIZE * largest]
        wordy = [group for group in above if not is_single_word(text_of(group))]
        return text_of((wordy or [sized[first]])[0])
    return text_of(sized[first])


def is_single_word(text: str) -> bool:
    """It is one word of Latin letters, as the names of houses and of kinds of papers are."""
    return " " not in text and not HAN_LETTERS.search(text)


def heading_title(groups: Sequence[Sequence[OpeningLine]], content: Content) -> str:
    """The first heading, where only other headings or short lines stand above it."""
    for group in groups[:FIRST_LINES]:
        if group[0].role == "heading":
            return text_of(group)
        if len(text_of(group)) > MAX_PLAIN:
            break
    return ""


def first_title(groups: Sequence[Sequence[OpeningLine]], content: Content) -> str:
    """The first paragraph, where it is a short line that does not end as a sentence does, and text follows it."""
    if not groups or len(content.blocks) < 2:
        return ""
    first = groups[0]
    text = text_of(first)
    stands_out = first[0].bold or first[0].centred or not first[0].size
    is_first = first[0].place == content.opening[0].place
    fits = len(text) <= MAX_PLAIN and not (SENTENCE_END.search(text) or DAY.search(text)) and is_long_enough(text)
    return text if stands_out and is_first and fits else ""


def text_size(content: Content) -> float:
    """The size of letters that most of the text has; of formats that tell it of the beginning alone, most of that."""
    sizes = Counter[float]()
    for line in content.opening:
        sizes[line.size] += len(line.text) if line.size else 0
    return content.body_size or (sizes.most_common(1)[0][0] if sizes else 0.0)


def is_size(group: Sequence[OpeningLine], size: float) -> bool:
    """The letters of a paragraph have this size."""
    return abs(group[0].size - size) <= SAME_SIZE * size


def text_of(group: Sequence[OpeningLine]) -> str:
    """The lines of a paragraph as one; Chinese ones without a blank between."""
    text = ""
    for line in group:
        dense = text and HAN_LETTERS.match(text[-1]) and HAN_LETTERS.match(line.text[:1])
        text += line.text if not text or dense else " " + line.text
    return one_line(SPACED.sub("", text) if SPACED_OUT.fullmatch(text.strip()) else text)


def find_author(content: Content) -> str:
    """Who wrote it: the author of the properties, where the beginning shows that name or the file was edited."""
    names = names_in(content.properties.author, frozenset())
    page = bare("".join(line.text for line in content.opening))
    shown = [name for name in names if content.properties.edited or bare(name) in page]
    return ", ".join(shown)
