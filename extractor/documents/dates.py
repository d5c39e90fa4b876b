"""The day of a document: off its text, by where papers state it. Pure.

    an official paper (its number stands on it)     the day alone on a line at its end, by which it is cited (成文日期)
    a law                                           the last day on which it was passed or changed, below its title
    a report, a letter, a paper                     the first day that stands alone, or by a label, above the text
    a preprint                                      its stamp: arXiv:2103.15348v2 [cs.CV] 21 Jun 2021

The day that a file's properties hold is mostly that of an export. It is believed where its maker wrote it (a book, the
fields above a Markdown text), or where the page names the month that it is in.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from docstore.model import Block, BlockKind
from extractor.documents.content import Content
from extractor.documents.title import NUMBER_OF_PAPER
from extractor.fields.dates.date_text import LONGEST_TEXT, Stamp, as_day, first_stamp, plain_digits
from extractor.fields.dates.month_names import MONTH_NAMES

MAX_FIRST = 60  # blocks of the first page in which a day is looked for
MAX_LAST = 40  # blocks of the end
MAX_AROUND = 30  # letters beside a day that stands alone: a place, a weekday
MAX_LINE = 160  # characters of a line above the text that may hold a day
LONG = 250  # characters of a paragraph: the text has begun
PARAGRAPHS = 2  # of the text, in which no day is looked for any more
LABEL = re.compile(
    r"\b(?:date|dated|issued?|published|released?|updated|revised|posted|print date|last modified|version of|as of)\b"
    r"|发布|發佈|发文|印发|印發|日期|时间|公布|公告日|编制|制定|修订|签发|报告日",
    re.I,
)
OTHER_DAY = re.compile(
    r"\b(?:valid|expir|deadline|due|until|before|born|birth|received|accepted|effective|retrieved|accessed|from|since|meeting)"
    r"|截止|有效|施行|实施|生效|出生|到期|收稿|会议|开会|至",
    re.I,
)
PASSED = re.compile("通过|修订|修正|公布|批准|颁布|发布")
LAW_DAY = re.compile(r"^[（(]?\s?(?:19|20)\d\d\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日")
FULL_DAY = re.compile(r"((?:19|20)\d\d)\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
PREPRINT = re.compile(r"^arxiv:\d{4}\.\d{4,5}", re.I)
MONTH = re.compile(
    r"\b([a-z\u00c0-\u024f]{3,10})\.?,?\s(19[5-9]\d|20\d\d)\b|((?:19|20)\d\d)\s?年\s?(\d{1,2})\s?月(?!\s?\d)", re.I
)
LETTER = re.compile(r"\w")


def find_day(content: Content, language: str, latest: str) -> tuple[str, str]:
    """The day (`YYYY-MM-DD`, or `YYYY-MM` where only the month is stated) and where it was read (`text`, `metadata`).

    Two empty strings where there is none. `latest` is the last day that it may be.
    """
    first = list(first_blocks(content))
    month_first = language == "en"
    finders = (official_day, law_day, preprint_day, stated_day, closing_day)
    days = (find(content, first, month_first) for find in finders)
    if day := next((day for day in days if day and day <= latest), ""):
        return day, "text"
    created = content.properties.created
    months = [month for month in stated_months(first) if month <= latest[:7]]
    if created and created <= latest and (content.properties.edited or created[:7] in months):
        return created, "metadata"
    return (months[0], "text") if months else ("", "")


def first_blocks(content: Content) -> Iterator[str]:
    """The texts of the first page, down to where the text has begun; of tables only what is no table."""
    paragraphs = 0
    page = content.blocks[0].page if content.blocks else 0
    for block in islice(content.blocks, MAX_FIRST):
        if block.page > max(page, 1) or paragraphs >= PARAGRAPHS:
            return
        paragraphs += len(block.text) > LONG
        if block.kind is BlockKind.CODE or (block.kind is BlockKind.ROW and block.text.count("\t") > 1):
            continue
        yield block.text


def official_day(content: Content, first: Sequence[str], month_first: bool) -> str:
    """The day at the end of an official paper."""
    if not any(NUMBER_OF_PAPER.search(text) for text in first[:15]):
        return ""
    return last_day_alone(content.blocks)


def last_day_alone(blocks: Sequence[Block]) -> str:
    """The last day that stands alone on a line."""
    for block in reversed(blocks):
        stamp = stamp_of(block.text, False) if len(block.text) <= MAX_AROUND else None
        if stamp is not None and letters_around(block.text, stamp) <= 2:
            return stamp.day
    return ""


def law_day(content: Content, first: Sequence[str], month_first: bool) -> str:
    """The last of the days on which a law was passed or changed, which stand below its title."""
    days = [
        as_day(*match.groups())
        for text in first[:15]
        if LAW_DAY.match(text) and PASSED.search(text)
        for match in FULL_DAY.finditer(text)
    ]
    return max(days, default="")


def preprint_day(content: Content, first: Sequence[str], month_first: bool) -> str:
    """The day of the stamp that an archive of preprints puts beside the first page."""
    stamped = next((block.text for block in content.blocks[:MAX_FIRST] if PREPRINT.match(block.text)), "")
    stamp = stamp_of(stamped, False) if stamped else None
    return stamp.day if stamp else ""


def stated_day(content: Content, first: Sequence[str], month_first: bool) -> str:
    """The first day that stands alone or by a label; else the first in a line above the text."""
    near = ""
    for text in first:
        stamp = stamp_of(text, month_first)
        if stamp is None or OTHER_DAY.search(plain_digits(text)[: stamp.start]):
            continue
        day = likelier(stamp, content.properties.created)
        if letters_around(text, stamp) <= MAX_AROUND or LABEL.search(plain_digits(text)[: stamp.start][-40:]):
            return day
        if not near and len(text) <= MAX_LINE:
            near = day
    return near


def closing_day(content: Content, first: Sequence[str], month_first: bool) -> str:
    """A day alone on one of the last lines, as letters and statements end."""
    return last_day_alone(content.blocks[-MAX_LAST:][-8:])


def stamp_of(text: str, month_first: bool) -> Stamp | None:
    """The first day in a text."""
    return first_stamp(plain_digits(text[:LONGEST_TEXT]), month_first)


def letters_around(text: str, stamp: Stamp) -> int:
    """How many letters a line has beside its day."""
    line = plain_digits(text)
    return len(LETTER.findall(line[: stamp.start] + line[stamp.end :])) + max(0, len(text) - LONGEST_TEXT)


def likelier(stamp: Stamp, created: str) -> str:
    """Of the two days that 5/9/2016 may be, the one on which the file was made."""
    return stamp.swapped if stamp.swapped and stamp.swapped == created else stamp.day


def stated_months(first: Sequence[str]) -> list[str]:
    """The months (`YYYY-MM`) that short lines above the text name."""
    found = []
    for text in first:
        for match in MONTH.finditer(text) if len(text) <= MAX_LINE else ():
            number = MONTH_NAMES.get(match[1].lower(), 0) if match[1] else int(match[4])
            if 1 <= number <= 12:
                found.append(f"{match[2] or match[3]}-{number:02d}")
    return found
