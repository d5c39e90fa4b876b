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
from extractor.documents.content import DocumentContent
from extractor.documents.document_title import DOCUMENT_NUMBER_RE
from extractor.fields.dates.date_parsing import (
    MAX_TEXT_CHARS,
    DateMatch,
    find_first_date,
    normalize_date_text,
    to_iso_date,
)
from extractor.fields.dates.month_names import MONTH_NAMES

MAX_FIRST_PAGE_BLOCKS = 60  # blocks of the first page in which a day is looked for
MAX_CLOSING_BLOCKS = 40  # blocks of the end
MAX_LETTERS_AROUND_DATE = 30  # letters beside a day that stands alone: a place, a weekday
MAX_LINE_CHARS = 160  # characters of a line above the text that may hold a day
MIN_PARAGRAPH_CHARS = 250  # characters of a paragraph: the text has begun
MAX_TEXT_PARAGRAPHS = 2  # of the text, in which no day is looked for any more
DATE_LABEL_RE = re.compile(
    r"\b(?:date|dated|issued?|published|released?|updated|revised|posted|print date|last modified|version of|as of)\b"
    r"|发布|發佈|发文|印发|印發|日期|时间|公布|公告日|编制|制定|修订|签发|报告日",
    re.I,
)
OTHER_DATE_LABEL_RE = re.compile(
    r"\b(?:valid|expir|deadline|due|until|before|born|birth|received|accepted|effective|retrieved|accessed|from|since|meeting)"
    r"|截止|有效|施行|实施|生效|出生|到期|收稿|会议|开会|至",
    re.I,
)
LEGISLATION_RE = re.compile("通过|修订|修正|公布|批准|颁布|发布")
LAW_DATE_RE = re.compile(r"^[（(]?\s?(?:19|20)\d\d\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日")
HAN_DATE_RE = re.compile(r"((?:19|20)\d\d)\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
PREPRINT_STAMP_RE = re.compile(r"^arxiv:\d{4}\.\d{4,5}", re.I)
YEAR_MONTH_RE = re.compile(
    r"\b([a-z\u00c0-\u024f]{3,10})\.?,?\s(19[5-9]\d|20\d\d)\b|((?:19|20)\d\d)\s?年\s?(\d{1,2})\s?月(?!\s?\d)", re.I
)
WORD_CHAR_RE = re.compile(r"\w")


def find_document_date(content: DocumentContent, language: str, latest_date: str) -> tuple[str, str]:
    """The day (`YYYY-MM-DD`, or `YYYY-MM` where only the month is stated) and where it was read (`text`, `metadata`).

    Two empty strings where there is none. `latest_date` is the last day that it may be.
    """
    first_page_texts = list(iter_first_page_texts(content))
    month_first = language == "en"
    finders = (official_document_date, law_date, preprint_date, labelled_date, closing_date)
    dates = (finder(content, first_page_texts, month_first) for finder in finders)
    if date := next((date for date in dates if date and date <= latest_date), ""):
        return date, "text"
    created = content.properties.created
    months = [month for month in mentioned_months(first_page_texts) if month <= latest_date[:7]]
    if created and created <= latest_date and (content.properties.is_authored or created[:7] in months):
        return created, "metadata"
    return (months[0], "text") if months else ("", "")


def iter_first_page_texts(content: DocumentContent) -> Iterator[str]:
    """The texts of the first page, down to where the text has begun; of tables only what is no table."""
    paragraphs = 0
    page = content.blocks[0].page if content.blocks else 0
    for block in islice(content.blocks, MAX_FIRST_PAGE_BLOCKS):
        if block.page > max(page, 1) or paragraphs >= MAX_TEXT_PARAGRAPHS:
            return
        paragraphs += len(block.text) > MIN_PARAGRAPH_CHARS
        if block.kind is BlockKind.CODE or (block.kind is BlockKind.TABLE_ROW and block.text.count("\t") > 1):
            continue
        yield block.text


def official_document_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """The day at the end of an official paper."""
    if not any(DOCUMENT_NUMBER_RE.search(text) for text in first_page_texts[:15]):
        return ""
    return last_standalone_date(content.blocks)


def last_standalone_date(blocks: Sequence[Block]) -> str:
    """The last day that stands alone on a line."""
    for block in reversed(blocks):
        stamp = first_date(block.text, False) if len(block.text) <= MAX_LETTERS_AROUND_DATE else None
        if stamp is not None and count_letters_around(block.text, stamp) <= 2:
            return stamp.date
    return ""


def law_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """The last of the days on which a law was passed or changed, which stand below its title."""
    dates = [
        to_iso_date(*match.groups())
        for text in first_page_texts[:15]
        if LAW_DATE_RE.match(text) and LEGISLATION_RE.search(text)
        for match in HAN_DATE_RE.finditer(text)
    ]
    return max(dates, default="")


def preprint_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """The day of the stamp that an archive of preprints puts beside the first page."""
    stamp_text = next(
        (block.text for block in content.blocks[:MAX_FIRST_PAGE_BLOCKS] if PREPRINT_STAMP_RE.match(block.text)), ""
    )
    stamp = first_date(stamp_text, False) if stamp_text else None
    return stamp.date if stamp else ""


def labelled_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """The first day that stands alone or by a label; else the first in a line above the text."""
    fallback_date = ""
    for text in first_page_texts:
        stamp = first_date(text, month_first)
        if stamp is None or OTHER_DATE_LABEL_RE.search(normalize_date_text(text)[: stamp.start]):
            continue
        date = likelier_date(stamp, content.properties.created)
        if count_letters_around(text, stamp) <= MAX_LETTERS_AROUND_DATE or DATE_LABEL_RE.search(
            normalize_date_text(text)[: stamp.start][-40:]
        ):
            return date
        if not fallback_date and len(text) <= MAX_LINE_CHARS:
            fallback_date = date
    return fallback_date


def closing_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """A day alone on one of the last lines, as letters and statements end."""
    return last_standalone_date(content.blocks[-MAX_CLOSING_BLOCKS:][-8:])


def first_date(text: str, month_first: bool) -> DateMatch | None:
    """The first day in a text."""
    return find_first_date(normalize_date_text(text[:MAX_TEXT_CHARS]), month_first)


def count_letters_around(text: str, date_match: DateMatch) -> int:
    """How many letters a line has beside its day."""
    line = normalize_date_text(text)
    return len(WORD_CHAR_RE.findall(line[: date_match.start] + line[date_match.end :])) + max(
        0, len(text) - MAX_TEXT_CHARS
    )


def likelier_date(date_match: DateMatch, created: str) -> str:
    """Of the two days that 5/9/2016 may be, the one on which the file was made."""
    return (
        date_match.swapped_date if date_match.swapped_date and date_match.swapped_date == created else date_match.date
    )


def mentioned_months(first_page_texts: Sequence[str]) -> list[str]:
    """The months (`YYYY-MM`) that short lines above the text name."""
    months = []
    for text in first_page_texts:
        for match in YEAR_MONTH_RE.finditer(text) if len(text) <= MAX_LINE_CHARS else ():
            number = MONTH_NAMES.get(match[1].lower(), 0) if match[1] else int(match[4])
            if 1 <= number <= 12:
                months.append(f"{match[2] or match[3]}-{number:02d}")
    return months
