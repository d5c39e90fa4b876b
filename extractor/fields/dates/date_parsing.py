"""Parses dates in URLs and text, in many languages. Only patterns; the choice among several dates is made elsewhere.

    http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml    2016-05-09
    发布时间：2016年5月9日 10:30                                  2016-05-09, at 2016-05-09T10:30
    9 мая 2016 г.   9 de mayo de 2016   May 9th, 2016            2016-05-09
    民國105年5月9日   二〇一六年五月九日   ２０１６．５．９        2016-05-09
    ۱۲ مرداد ۱۴۰۲   12 ม.ค. 2567                                 calendars.py

All patterns are linear and all input is bounded, so no text takes long.
"""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from extractor.fields.dates.calendars import to_gregorian
from extractor.fields.dates.month_names import MONTH_NAMES, MONTHS_AFTER_DAY_POINT
from text.scripts import HAN

MAX_URL_CHARS = 2_000
MAX_VERSION_NAME_CHARS = 32  # before 9.5.16; searched for the name of a product with that version
MAX_TEXT_CHARS = 400  # beginning of a text that is searched for a date
YEAR_PATTERN = r"(?P<y>199\d|20\d\d)"
OLD_YEAR_PATTERN = r"(?P<y>1[5-9]\d\d|20\d\d)"  # a date before FIRST_COMMON_DATE is often that of an event or a person
FIRST_COMMON_DATE = "1990"
MONTH_PATTERN = r"(?P<m>1[0-2]|0?[1-9])"
TWO_DIGIT_MONTH_PATTERN = r"(?P<m>1[0-2]|0[1-9])"
DAY_PATTERN = r"(?P<d>3[01]|[12]\d|0?[1-9])"
TWO_DIGIT_DAY_PATTERN = r"(?P<d>3[01]|[12]\d|0[1-9])"
# A date is not part of a longer run of digits, except directly before a time of day: "28 luglio 202010:43".
NUMBER_BOUNDARIES = r"(?<!\d)", r"(?!\d(?!\d?:\d\d))"


def compile_bounded(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """Compile patterns that do not match a part of a longer number."""
    return tuple(re.compile(NUMBER_BOUNDARIES[0] + pattern + NUMBER_BOUNDARIES[1]) for pattern in patterns)


# WD-A4, most reliable first. URL_MONTH_RES match a year and month only.
URL_DATE_RES = compile_bounded(
    rf"{OLD_YEAR_PATTERN}/{MONTH_PATTERN}/(?P<d>3[01]|[12]\d|0[1-9]|[1-9](?=/))",  # 2016/05/1.html: page 1 of May
    rf"{YEAR_PATTERN}[-_]{MONTH_PATTERN}[-_/]{DAY_PATTERN}",
    rf"{YEAR_PATTERN}/{TWO_DIGIT_MONTH_PATTERN}{TWO_DIGIT_DAY_PATTERN}",
    rf"{YEAR_PATTERN}{TWO_DIGIT_MONTH_PATTERN}/?{TWO_DIGIT_DAY_PATTERN}",
    rf"{TWO_DIGIT_DAY_PATTERN}-{TWO_DIGIT_MONTH_PATTERN}-{YEAR_PATTERN}",
)
URL_NAMED_MONTH_RE = re.compile(
    rf"/{YEAR_PATTERN}/(?P<n>[a-z]{{3,9}})/(?P<d>3[01]|[12]\d|0?[1-9])(?=/)"
)  # /2016/may/09/
SLUG_WORD_RE = re.compile(r"[^\W\d_]{2,}")
MIN_SLUG_WORDS = 3  # the file extension counts as a word
URL_MONTH_RES = compile_bounded(
    rf"{YEAR_PATTERN}/{MONTH_PATTERN}(?=/|$)",
    rf"{YEAR_PATTERN}[_-]{TWO_DIGIT_MONTH_PATTERN}(?=/|$)",
    rf"(?<=/){YEAR_PATTERN}{TWO_DIGIT_MONTH_PATTERN}(?=/)",
)

SPACE_PATTERN = r"[\s\xa0]{0,3}"
# Includes vowel signs, which are not letters for Python. The name of May has two characters in Indian scripts.
LETTERS_PATTERN = r"(?:[a-z\u00c0-\u1fff]{3,16}|[\u0900-\u0dff]{2})"
MONTH_WORD_PATTERN = (
    rf"(?P<n>{LETTERS_PATTERN})(?:/{LETTERS_PATTERN})?"  # looked up in MONTH_NAMES; Bosnians write juni/lipanj
)
ORDINAL_PATTERN = r"(?:st|nd|rd|th|er|[.º°ª]|-?го|\. ?d\.)?"
OF_PATTERN = r"(?:(?:de|of|del|den|di)\s|d['’])?"
GAP_PATTERN = r"[\s\xa0.,/-]{1,3}"
# Groups: `y` year, `m` month, `n` month name, `d` day; `p` and `q` are day and month in either order.
TEXT_DATE_RES = (
    *compile_bounded(
        rf"{OLD_YEAR_PATTERN}{SPACE_PATTERN}(?:[-/.年년]|оны){SPACE_PATTERN}{MONTH_PATTERN}{SPACE_PATTERN}(?:[-/.月월]|(?:дугаар|дүгээр|-р)?\s?сарын){SPACE_PATTERN}{DAY_PATTERN}",
        rf"{DAY_PATTERN}{ORDINAL_PATTERN}{GAP_PATTERN}{OF_PATTERN}{MONTH_WORD_PATTERN}{GAP_PATTERN}{OF_PATTERN}(?:,\s)?{OLD_YEAR_PATTERN}",
        rf"(?P<p>1[0-2]|0?[1-9]|[12]\d|3[01]){SPACE_PATTERN}(?P<s>[-/.]|tháng|thg){SPACE_PATTERN}"
        rf"(?P<q>1[0-2]|0?[1-9]|[12]\d|3[01]){SPACE_PATTERN}(?:[-/.]|năm|,){SPACE_PATTERN}{OLD_YEAR_PATTERN}",
        rf"{YEAR_PATTERN}{TWO_DIGIT_MONTH_PATTERN}{TWO_DIGIT_DAY_PATTERN}",
        rf"{YEAR_PATTERN}(?:\(?e?\)?ko)?{GAP_PATTERN}(?:m\.\s|թ\.\s|gada\s)?(?:{MONTH_WORD_PATTERN}{GAP_PATTERN}{DAY_PATTERN}|(?P<d2>3[01]|[12]\d|0?[1-9])\.\s(?P<n2>{LETTERS_PATTERN}))",
    ),
    re.compile(
        rf"(?<![a-z\u00c0-\u1fff]){MONTH_WORD_PATTERN}[.,]?[\s\xa0]{{1,2}}{DAY_PATTERN}(?:st|nd|rd|th)?[.,]?{SPACE_PATTERN}"
        rf"(?:\d?\d:\d\d(?::\d\d)?,?\s)?(?:[a-z]{{3,4}}\s)?{OLD_YEAR_PATTERN}(?![\d:])"
    ),
    re.compile(
        rf"(?<!\d){YEAR_PATTERN}[\s-]?ж(?:\.|ыл[а-яғ]{{1,3}}),?\s{DAY_PATTERN}[\s-]{MONTH_WORD_PATTERN}"
    ),  # Kazakh and Kyrgyz
)
YEAR_FIRST_RES = (TEXT_DATE_RES[0], TEXT_DATE_RES[3], TEXT_DATE_RES[4], TEXT_DATE_RES[6])
YEAR_LAST_RES = (TEXT_DATE_RES[1], TEXT_DATE_RES[2], TEXT_DATE_RES[5])
SHORT_YEAR_DATE_RE = re.compile(
    r"(?<![\d.])(?P<d>3[01]|[12]\d|0?[1-9])\.(?P<m>1[0-2]|0?[1-9])\.(?P<y>[0-4]\d)(?![\d.])"
)
# After a name 9.5.16 is a version number, except after words that introduce a date: "am 9.5.16", "Stand 9.5.16".
VERSION_PREFIX_RE = re.compile(
    r"(?:[<>=~]\s?|(?<![^\W_])(?!(?:am|vom|den|der|dem|ab|bis|seit|zum|stand|le|du|il|del|dne|od|do|dato|den|kl|on|of|from|until|data|"
    r"datum|dated?|fecha|дата|от|на|до|uhr|mo|di|mi|do|fr|sa|so|пн|вт|ср|чт|пт|сб|вс|\w{1,12}(?:day|tag|woch|ed|icht))[\s\xa0]?$)"
    r"[^\W\d_]\w{0,29}[\s\xa0]?)$"
)
ISO_DATE_RE = re.compile(r"(1[5-9]\d\d|20\d\d)-(\d\d)-(\d\d)(?!\d)")
YEAR_RE, OLD_YEAR_RE = re.compile(r"20\d\d|199\d"), re.compile(r"20\d\d|1[5-9]\d\d")
DIGIT_RE = re.compile(r"\d")
MAX_YEARS_SEARCHED = 5  # years in one text around which a date is searched
MAX_CHARS_AROUND_YEAR = 36  # search range before and after a year
ERA_YEAR_RE = re.compile(r"(民[國国]|令和|平成)\s?(\d{1,3}|元)\s?(?=年)")
# Taiwan counts years from 1912: 112/03/01. With a label before it, or on a page from Taiwan.
MINGUO_YEAR_PATTERN = rf"[{HAN}][:：]?\s?1[0-4]\d\s?[-/.年]"
MINGUO_YEAR_RE = re.compile(
    rf"(?P<label>[{HAN}][:：]?\s?)?(?<![\d/.-])(?P<y>1[0-4]\d|[6-9]\d)(?=\s?[-/.年]\s?{MONTH_PATTERN}\s?[-/.月]\s?{DAY_PATTERN}(?![\d.]))"
)
MINGUO_CALENDAR = "minguo"
ERA_OFFSETS = {"民國": 1911, "民国": 1911, "令和": 2018, "平成": 1988}
HAN_NUMBER_RE = re.compile(r"[〇○零一二三四五六七八九十廿卅]{1,4}(?=[年月日])")
HAN_DIGIT_TABLE = str.maketrans("〇○零一二三四五六七八九", "000123456789")
NON_ASCII_ZEROS = "０٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"  # of the scripts whose digits occur in dates
NON_ASCII_DIGITS = "".join(chr(ord(zero) + number) for zero in NON_ASCII_ZEROS for number in range(10))
NON_GREGORIAN_SCRIPT_RE = re.compile("[\u05d0-\u05ea\u0600-\u06ff\u0e00-\u0e7f]")  # Hebrew, Arabic and Thai letters
PERSIAN_DIGIT_RE = re.compile("[۰-۹]")
NON_ASCII_DIGIT_RE = re.compile(f"[{NON_ASCII_DIGITS}\u060c\u200e\u200f]|[‐‑–](?=\\d)")
ASCII_DIGIT_TABLE = str.maketrans(
    NON_ASCII_DIGITS + "．／－：‐‑–\u060c\u200e\u200f",
    "0123456789" * len(NON_ASCII_ZEROS) + "./-:---,  ",
)
EPOCH_RE = re.compile(r"(1\d{9})(?:\d{3})?(?:\.0)?")  # seconds or milliseconds since 1970
YEAR_MONTH_RE = re.compile(rf"{YEAR_PATTERN}[-/.年]{MONTH_PATTERN}月?")
TIME_OF_DAY_RE = re.compile(
    r"[\s\xa0t,|·•\-–—/()（日号號일г.周星期一二三四五六天at@à]{0,12}(?:kl\.?|um|at|às|a las|ore)?\s?"
    r"(?P<half>上午|下午|晚上|凌晨|午後|午前)?\s?(?P<h>[01]?\d|2[0-3])[:：h时時點点.](?P<i>[0-5]\d)"
    r"(?:[:：分](?P<s>[0-5]\d))?(?:[.,]\d{1,9})?"
    r"(?!\d)\s?(?P<ap>[ap]\.?m\b)?\.?\s?\(?(?P<z>z\b|utc|gmt|[+-]\d\d:?\d\d|[a-z]{3,4}\b)?"
)
UTC_OFFSET_MINUTES = {
    "z": 0, "utc": 0, "gmt": 0, "est": -300, "edt": -240, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480,
    "pdt": -420, "cet": 60, "cest": 120, "mez": 60, "eet": 120, "eest": 180, "msk": 180, "jst": 540, "kst": 540,
    "aest": 600, "aedt": 660, "hkt": 480,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DateMatch:
    """A date in a text.

    Attributes:
        date: `YYYY-MM-DD` or `YYYY-MM`.
        start: Offset of its first character in the normalized text (see `normalize_date_text`).
        end: Offset after its last character.
        swapped_date: The other reading of an ambiguous date such as 5/9/2016, or an empty string.
    """

    date: str
    start: int
    end: int
    swapped_date: str = ""


def find_date_in_url(url: str) -> str:
    """Return the date in a URL as `YYYY-MM-DD` or `YYYY-MM` (WD-A4), or an empty string."""
    path = url[:MAX_URL_CHARS].split("//", 1)[-1]
    if not OLD_YEAR_RE.search(path):
        return ""
    dates = (
        to_iso_date(match["y"], match["m"], match["d"]) for pattern in URL_DATE_RES for match in pattern.finditer(path)
    )
    named_month = URL_NAMED_MONTH_RE.search(path.lower())
    named_date = (
        to_iso_date(named_month["y"], MONTH_NAMES.get(named_month["n"], 0), named_month["d"]) if named_month else ""
    )
    date = next(filter(None, dates), named_date)
    if date:
        return date
    months = (pattern.search(path) for pattern in URL_MONTH_RES)
    return next((f"{match['y']}-{int(match['m']):02d}" for match in months if match), "")


def is_date_in_slug(url: str) -> bool:
    """Return whether the date in a URL is among words, as in a title about that date: /t/no-train-on-2016-05-09."""
    for segment in url[:MAX_URL_CHARS].split("//", 1)[-1].split("/")[1:]:
        if find_date_in_url(f"/{segment}") and len(SLUG_WORD_RE.findall(segment)) >= MIN_SLUG_WORDS:
            return True
    return False


def find_date_in_text(text: str) -> str:
    """Return the first date in the first MAX_TEXT_CHARS characters of a text as `YYYY-MM-DD`, or an empty string."""
    date_match = find_first_date(normalize_date_text(text))
    return date_match.date if date_match else ""


def normalize_date_text(text: str, language: str = "") -> str:
    """Normalize the beginning of a text for date patterns: one line, lower case, ASCII digits, Gregorian years."""
    return to_western_digits(" ".join(text[:MAX_TEXT_CHARS].split()), language)


def to_western_digits(line: str, language: str = "") -> str:
    """Convert a line to lower case, ASCII digits and Gregorian years.

    The `language` of the page decides its calendar; MINGUO_CALENDAR stands for Chinese of Taiwan.
    """
    text = line.lower()
    if language == MINGUO_CALENDAR or not text.isascii():
        text = MINGUO_YEAR_RE.sub(lambda match: minguo_to_western_year(match, language), text)
    if text.isascii():
        return to_gregorian(text, language) if language else text
    if NON_ASCII_DIGIT_RE.search(text):
        language = language or ("fa" if PERSIAN_DIGIT_RE.search(text) else "")
        text = text.translate(ASCII_DIGIT_TABLE)
    if "年" in text:
        text = HAN_NUMBER_RE.sub(lambda match: parse_han_number(match[0]), text)
        text = ERA_YEAR_RE.sub(era_to_western_year, text)
    return to_gregorian(text, language) if language or NON_GREGORIAN_SCRIPT_RE.search(text) else text


def parse_han_number(text: str) -> str:
    """Convert a Chinese number to digits: 二〇一九 2019, 二十三 23, 十 10."""
    if len(text) == 4 and text[0] not in "十廿卅":
        return text.translate(HAN_DIGIT_TABLE)
    text = text.replace("廿", "二十").replace("卅", "三十")
    tens, ten, units = text.partition("十")
    if not ten:
        return text.translate(HAN_DIGIT_TABLE)
    return f"{tens.translate(HAN_DIGIT_TABLE) or '1'}{units.translate(HAN_DIGIT_TABLE) or '0'}"


def minguo_to_western_year(match: re.Match[str], language: str) -> str:
    """Convert the year of a date without era. Years of two digits may be those of the 20th century elsewhere."""
    is_minguo = language == MINGUO_CALENDAR or (match["label"] and len(match["y"]) > 2)
    return (match["label"] or "") + str(ERA_OFFSETS["民國"] + int(match["y"])) if is_minguo else match[0]


def era_to_western_year(match: re.Match[str]) -> str:
    """Convert a year of an era: 民國105 is 2016, 令和2 is 2020."""
    return str(ERA_OFFSETS[match[1]] + (1 if match[2] == "元" else int(match[2])))


@lru_cache(maxsize=512)  # an element and its line contain the same text
def find_first_date(
    text: str, month_first: bool = False, short: bool = False, min_date: str = FIRST_COMMON_DATE
) -> DateMatch | None:
    """Return the first date in a normalized text (see `normalize_date_text`), or None.

    Args:
        text: The normalized text.
        month_first: True to read 5/9/2016 as May 9.
        short: True to read 9.5.16 as well, which is as often a version number as a date.
        min_date: Earlier dates are skipped; empty to read dates before FIRST_COMMON_DATE.
    """
    date_match = None
    iso_match = ISO_DATE_RE.match(text)
    if iso_match is not None and (date := to_iso_date(iso_match[1], iso_match[2], iso_match[3])) > min_date:
        return DateMatch(date, 0, iso_match.end())
    if not min_date or "20" in text or "199" in text:
        date_match = next(iter_dates(text, month_first, min_date), None)
    if date_match is None and short:
        match = SHORT_YEAR_DATE_RE.search(text)
        is_day = (
            match is not None
            and VERSION_PREFIX_RE.search(text[max(0, match.start() - MAX_VERSION_NAME_CHARS) : match.start()]) is None
        )
        date = to_iso_date("20" + match["y"], match["m"], match["d"]) if match and is_day else ""
        return DateMatch(date, match.start(), match.end()) if match and date else None
    return date_match


def iter_dates(text: str, month_first: bool, min_date: str) -> Iterator[DateMatch]:
    """Yield the first date around the first year that has one, of the first MAX_YEARS_SEARCHED years of a text."""
    for year in islice((YEAR_RE if min_date else OLD_YEAR_RE).finditer(text), MAX_YEARS_SEARCHED):
        start, end = max(0, year.start() - MAX_CHARS_AROUND_YEAR), year.end() + MAX_CHARS_AROUND_YEAR
        has_digit_before = DIGIT_RE.search(text, start, year.start()) is not None
        has_digit_after = DIGIT_RE.search(text, year.end(), end) is not None
        # Most years have no date. A day before or after the year needs digits there.
        patterns = (
            (TEXT_DATE_RES if has_digit_after else YEAR_LAST_RES)
            if has_digit_before
            else (YEAR_FIRST_RES if has_digit_after else ())
        )
        candidates = (match_pattern(pattern, text, start, end, month_first, min_date) for pattern in patterns)
        date_matches = [date_match for date_match in candidates if date_match]
        if date_matches:
            yield min(date_matches, key=lambda date_match: date_match.start)
            return


def match_pattern(
    pattern: re.Pattern[str], text: str, start: int, end: int, month_first: bool, min_date: str
) -> DateMatch | None:
    """Return the first date after `min_date` that a pattern matches between two offsets of a text, or None."""
    for match in pattern.finditer(text, start, end):
        date = match_to_iso(match, month_first)
        if date > min_date:
            swapped_date = match_to_iso(match, not month_first) if "p" in pattern.groupindex else ""
            return DateMatch(date, match.start(), match.end(), swapped_date if swapped_date != date else "")
    return None


def match_to_iso(match: re.Match[str], month_first: bool) -> str:
    """Convert a match of TEXT_DATE_RES to `YYYY-MM-DD`; returns an empty string for an invalid date."""
    parts = match.groupdict()
    if "p" in parts:
        return resolve_ambiguous_day(parts["p"], parts["q"], parts["y"], month_first and parts["s"] == "/")
    name = parts.get("n") or parts.get("n2")
    month = named_month_number(match, name) if name else parts["m"]
    return to_iso_date(parts["y"], month, parts["d"] or parts.get("d2") or 0)


def named_month_number(match: re.Match[str], name: str) -> int:
    """Return the number of the month with this name, 0 if the word is not a month."""
    has_point = name in MONTHS_AFTER_DAY_POINT and match.string.startswith(".", match.end("d"))
    return MONTHS_AFTER_DAY_POINT[name] if has_point else MONTH_NAMES.get(name, 0)


def resolve_ambiguous_day(first: str, second: str, year: str, month_first: bool) -> str:
    """Return the date of 9/5/2016 or 5/9/2016 in the preferred order, or in the other order if only that is valid."""
    if month_first:
        return to_iso_date(year, first, second) or to_iso_date(year, second, first)
    return to_iso_date(year, second, first) or to_iso_date(year, first, second)


def to_iso_date(year: str | int, month: str | int, day: str | int) -> str:
    """Return `YYYY-MM-DD`, or an empty string if the calendar has no such date."""
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


def parse_machine_date(value: str, month_first: bool = False) -> DateMatch | None:
    """Parse the date of a metadata value, or return None if the value is not a date.

    The value is a date, a month, or a Unix time in seconds or milliseconds.
    """
    text = normalize_date_text(value)
    date_match = find_first_date(text, month_first, short=True, min_date="")
    if date_match is not None:
        return date_match
    month = YEAR_MONTH_RE.fullmatch(text)
    if month:
        return DateMatch(f"{month['y']}-{int(month['m']):02d}", 0, len(text))
    epoch = EPOCH_RE.fullmatch(text)
    if epoch is None:
        return None
    return DateMatch(datetime.datetime.fromtimestamp(int(epoch[1]), datetime.UTC).date().isoformat(), 0, len(text))


def datetime_after(text: str, date_match: DateMatch) -> str:
    """Return the date with the time of day and UTC offset that follow it in the text, as ISO 8601.

    2016年5月9日 10:30 gives 2016-05-09T10:30, 2016-05-09t10:30:00.5z gives 2016-05-09T10:30:00+00:00 (without the
    fraction). A text that is only a Unix timestamp gives its time in UTC. Returns "" if no time of day follows, or if
    the date has no day.
    """
    epoch = EPOCH_RE.fullmatch(text)
    if epoch:
        return datetime.datetime.fromtimestamp(int(epoch[1]), datetime.UTC).isoformat()
    match = TIME_OF_DAY_RE.match(text, date_match.end)
    if match is None or len(date_match.date) != 10:
        return ""
    hour = to_24_hours(int(match["h"]), (match["ap"] or "")[:1], match["half"] or "")
    second = f":{match['s']}" if match["s"] else ""
    return f"{date_match.date}T{hour:02d}:{match['i']}{second}{utc_offset(match['z'] or '')}"


def to_24_hours(hour: int, meridiem: str, han_meridiem: str) -> int:
    """Convert an hour to 24-hour time: 3 p.m. and 下午3 are 15, 12 a.m. is 0."""
    if (meridiem == "p" or han_meridiem in ("下午", "晚上", "午後")) and hour < 12:
        return hour + 12
    return 0 if hour == 12 and (meridiem == "a" or han_meridiem in ("凌晨",)) else hour


def utc_offset(text: str) -> str:
    """Return the UTC offset of a time zone, such as `+08:00` for +0800; an empty string for an unknown zone."""
    if text[:1] in ("+", "-"):
        hours, minutes = int(text[1:3]), int(text[-2:])
        return f"{text[:3]}:{text[-2:]}" if hours <= 14 and minutes < 60 else ""
    if text not in UTC_OFFSET_MINUTES:
        return ""
    sign, minutes = "-" if UTC_OFFSET_MINUTES[text] < 0 else "+", abs(UTC_OFFSET_MINUTES[text])
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
