"""Finds the date of a document in its text, by the place where each kind of document states it. No I/O.

    an official document (has a document number)    the date alone on a line at its end, used for citation (成文日期)
    a law                                           the last date of its passing or amendment, below its title
    a report, a letter, a paper                     the first date alone on a line or after a label, above the text
    a preprint                                      its stamp: arXiv:2103.15348v2 [cs.CV] 21 Jun 2021

The date in the file properties is usually the date of an export. It is used only if an author wrote it (a book, the
front matter of Markdown), or if the text mentions its month. A PDF without any date in its text gets the date of the
file, unless its first page mentions other years only.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from domain.article import Block, BlockKind
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

MAX_FIRST_PAGE_BLOCKS = 60  # blocks of the first page that are searched for a date
MAX_CLOSING_BLOCKS = 8  # blocks at the end that are searched
MAX_LETTERS_AROUND_DATE = 30  # other characters on the line of a date alone: a place, a weekday
MAX_LINE_CHARS = 160  # longer lines are text, not date lines
MIN_PARAGRAPH_CHARS = 250  # a longer paragraph belongs to the text
MAX_TEXT_PARAGRAPHS = 2  # after these paragraphs of the text the search ends
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
YEAR_RE = re.compile(r"(?<!\d)(?:1[5-9]\d\d|20\d\d)(?!\d)")
WORD_CHAR_RE = re.compile(r"\w")


def find_document_date(content: DocumentContent, language: str, latest_date: str) -> tuple[str, str]:
    """Find the date of a document.

    Args:
        content: Text of the document.
        language: Its language; decides whether 5/9/2016 is May 9 (English) or 5 September.
        latest_date: Last accepted date, `YYYY-MM-DD`.

    Returns:
        The date (`YYYY-MM-DD`, or `YYYY-MM` if only the month is stated) and its source (`text` or `metadata`).
        Two empty strings if there is no date.
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
    if months:
        return months[0], "text"
    fallback_date = content.properties.fallback_date
    years = {match[0] for text in first_page_texts for match in YEAR_RE.finditer(text)}
    is_plausible = fallback_date and fallback_date <= latest_date and (not years or fallback_date[:4] in years)
    return (fallback_date, "metadata") if is_plausible else ("", "")


def iter_first_page_texts(content: DocumentContent) -> Iterator[str]:
    """Yield the texts of the first page up to the begin of the text, without code and table rows of 3 or more cells."""
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
    """Return the date at the end of an official document, or an empty string."""
    if not any(DOCUMENT_NUMBER_RE.search(text) for text in first_page_texts[:15]):
        return ""
    return last_standalone_date(content.blocks)


def last_standalone_date(blocks: Sequence[Block]) -> str:
    """Return the last date that is alone on a line, or an empty string."""
    for block in reversed(blocks):
        stamp = first_date(block.text, False) if len(block.text) <= MAX_LETTERS_AROUND_DATE else None
        if stamp is not None and count_letters_around(block.text, stamp) <= 2:
            return stamp.date
    return ""


def law_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """Return the latest date on which a law was passed or amended, stated below its title."""
    dates = [
        to_iso_date(*match.groups())
        for text in first_page_texts[:15]
        if LAW_DATE_RE.match(text) and LEGISLATION_RE.search(text)
        for match in HAN_DATE_RE.finditer(text)
    ]
    return max(dates, default="")


def preprint_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """Return the date of the stamp that a preprint archive prints on the first page."""
    stamp_text = next(
        (block.text for block in content.blocks[:MAX_FIRST_PAGE_BLOCKS] if PREPRINT_STAMP_RE.match(block.text)), ""
    )
    stamp = first_date(stamp_text, False) if stamp_text else None
    return stamp.date if stamp else ""


def labelled_date(content: DocumentContent, first_page_texts: Sequence[str], month_first: bool) -> str:
    """Return the first date alone on a line or after a label; else the first date in a line above the text."""
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
    """Return a date alone on one of the last lines, as in letters and statements."""
    return last_standalone_date(content.blocks[-MAX_CLOSING_BLOCKS:])


def first_date(text: str, month_first: bool) -> DateMatch | None:
    """Return the first date in a text, or None."""
    return find_first_date(normalize_date_text(text[:MAX_TEXT_CHARS]), month_first)


def count_letters_around(text: str, date_match: DateMatch) -> int:
    """Count the word characters of a line outside its date."""
    line = normalize_date_text(text)
    return len(WORD_CHAR_RE.findall(line[: date_match.start] + line[date_match.end :])) + max(
        0, len(text) - MAX_TEXT_CHARS
    )


def likelier_date(date_match: DateMatch, created: str) -> str:
    """Of the two readings of 5/9/2016, return the one that equals the creation date of the file."""
    return (
        date_match.swapped_date if date_match.swapped_date and date_match.swapped_date == created else date_match.date
    )


def mentioned_months(first_page_texts: Sequence[str]) -> list[str]:
    """Return the months (`YYYY-MM`) that short lines above the text mention."""
    months = []
    for text in first_page_texts:
        for match in YEAR_MONTH_RE.finditer(text) if len(text) <= MAX_LINE_CHARS else ():
            number = MONTH_NAMES.get(match[1].lower(), 0) if match[1] else int(match[4])
            if 1 <= number <= 12:
                months.append(f"{match[2] or match[3]}-{number:02d}")
    return months
