"""Converts dates of other calendars to `YYYY-MM-DD` of the Gregorian calendar, for the patterns of date_parsing.py.

    ۱۲ مرداد ۱۴۰۲   ۱۴۰۲/۰۵/۱۲              2023-08-03   the solar calendar of Iran and Afghanistan
    12 มกราคม พ.ศ. 2567   12 ม.ค. 67           2024-01-12   Buddhist years
    י״ב באייר תשפ״ד                          2024-05-20   the Hebrew calendar
    24 كانون الثاني / يناير 2024             2024-01-24   Arabic months with two names, some of two words

The lunar Islamic calendar is not converted, because its dates depend on the sighting of the moon. All patterns are
linear.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from typing import cast

from persiantools.jdatetime import JalaliDate
from pyluach.dates import HebrewDate
from pyluach.hebrewcal import Year

from extractor.fields.dates.month_names import MONTHS_BY_CALENDAR

# Scripts of such dates. The digits are already converted to ASCII.
ARABIC_LETTERS_RE, THAI_LETTERS_RE, HEBREW_LETTERS_RE = (
    re.compile("[\u0600-\u06ff]"),
    re.compile("[\u0e00-\u0e7f]"),
    re.compile("[\u05d0-\u05ea]"),
)
DAY_PATTERN = r"(?<!\d)(?P<d>[0-3]?\d)"
# The years 1990 to 2030 in the Iranian calendar; those of the lunar calendar begin at 1410.
JALALI_YEAR_PATTERN = r"(?P<y>13[67]\d|13[89]\d|140\d)(?!\d)"
BUDDHIST_YEAR_PATTERN = r"(?P<y>25[3-7]\d)(?!\d)"
WESTERN_YEAR_RE = re.compile(r"(?<!\d)(?:199\d|20\d\d)(?!\d)")
BUDDHIST_YEAR_OFFSET = 543  # Buddhist year minus Gregorian year
MIN_SHORT_BUDDHIST_YEAR = 40  # two-digit years from 40 to 99 are Buddhist, smaller ones Gregorian


def month_name_group(names: Mapping[str, int], group: str) -> str:
    """Return a regular expression group that matches any of the names, the longest first."""
    return f"(?P<{group}>{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})"


JALALI_MONTHS, ARABIC_MONTHS, THAI_MONTHS, HEBREW_MONTHS = map(
    MONTHS_BY_CALENDAR.__getitem__, ("jalali", "arabic", "thai", "hebrew")
)
HEBREW_LETTER_VALUES = dict(
    zip("אבגדהוזחטיכלמנסעפצקרשת", (*range(1, 10), *range(10, 100, 10), *range(100, 500, 100)), strict=True)
)
HEBREW_YEAR_OFFSET = 5000  # Hebrew years are written without their thousands

JALALI_DATE_RE = re.compile(
    rf"{DAY_PATTERN}\s?(?:ام\s)?\s?{month_name_group(JALALI_MONTHS, 'n')}"
    rf"\s?(?:ماه)?\s?[,،]?\s?(?:سال\s)?{JALALI_YEAR_PATTERN}"
)
JALALI_NUMERIC_DATE_RES = (
    re.compile(rf"(?<![\d/.-]){JALALI_YEAR_PATTERN}\s?([/.-])\s?(?P<m>0?[1-9]|1[0-2])\s?\2\s?(?P<d>[0-3]?\d)(?!\d)"),
    re.compile(rf"(?<![\d/.-])(?P<d>[0-3]?\d)\s?([/.-])\s?(?P<m>0?[1-9]|1[0-2])\s?\2\s?{JALALI_YEAR_PATTERN}"),
)
ARABIC_DATE_RE = re.compile(
    rf"{DAY_PATTERN}\s?(?:من\s)?{month_name_group(ARABIC_MONTHS, 'n')}"
    rf"(?:\s?[-/–(]\s?{month_name_group(ARABIC_MONTHS, 'n2')}\)?)?"
    r"\s?[,،]?\s?(?:من\s)?(?:سنة\s|عام\s)?(?P<y>199\d|20\d\d)(?!\d)"
)
THAI_DATE_RE = re.compile(
    rf"{DAY_PATTERN}\s?{month_name_group(THAI_MONTHS, 'n')}\s?,?\s?(?:(?:พ\.?\s?ศ|ค\.?\s?ศ)\.?\s?)?"
    r"(?P<y>25\d\d|20\d\d|199\d|\d\d)(?!\d)(?!:\d)"
)
THAI_NUMERIC_DATE_RES = (
    re.compile(rf"(?<![\d/.-]){BUDDHIST_YEAR_PATTERN}([/.-])(?P<m>0?[1-9]|1[0-2])\2(?P<d>[0-3]?\d)(?!\d)"),
    re.compile(rf"(?<![\d/.-])(?P<d>[0-3]?\d)\s?([/.-])\s?(?P<m>0?[1-9]|1[0-2])\s?\2\s?{BUDDHIST_YEAR_PATTERN}"),
)
HEBREW_QUOTES = "\"״”“''׳’"
HEBREW_DATE_RE = re.compile(
    rf"(?<![א-ת])(?P<d>[א-ל][{HEBREW_QUOTES}]{{0,2}}[א-ט]?[{HEBREW_QUOTES}]?)"
    rf"\s(?:ב)?{month_name_group(HEBREW_MONTHS, 'n')}\s,?\s?"
    rf"(?:ה[{HEBREW_QUOTES}]\s?)?(?P<y>ת[א-ת]{{0,2}}[{HEBREW_QUOTES}]{{1,2}}[א-ת])(?![א-ת])"
)


def to_gregorian(text: str, language: str = "") -> str:
    """Replace the dates of other calendars in a text by `YYYY-MM-DD`.

    A numeric date such as 1402/05/12 is interpreted by the script of the text or the `language` of the page.

    Args:
        text: Text with ASCII digits.
        language: ISO 639 code of the page's language, or an empty string.
    """
    if language in ("fa", "ps", "prs") or ARABIC_LETTERS_RE.search(text):
        text = ARABIC_DATE_RE.sub(arabic_to_iso, JALALI_DATE_RE.sub(jalali_to_iso, text))
        text = substitute_all(text, JALALI_NUMERIC_DATE_RES, jalali_to_iso)
    if language == "th" or THAI_LETTERS_RE.search(text):
        text = substitute_all(THAI_DATE_RE.sub(thai_to_iso, text), THAI_NUMERIC_DATE_RES, thai_to_iso)
    if HEBREW_LETTERS_RE.search(text) and not WESTERN_YEAR_RE.search(
        text
    ):  # otherwise the date is also given in both calendars
        text = HEBREW_DATE_RE.sub(hebrew_to_iso, text)
    return text


def substitute_all(text: str, patterns: tuple[re.Pattern[str], ...], convert: Callable[[re.Match[str]], str]) -> str:
    """Replace all matches of several patterns in a text."""
    for pattern in patterns:
        text = pattern.sub(convert, text)
    return text


def month_number(match: re.Match[str], names: Mapping[str, int]) -> int:
    """Return the month number of a match, from its name or its number."""
    groups = match.groupdict()
    return names[groups["n"]] if "n" in groups else int(groups["m"])


def jalali_to_iso(match: re.Match[str]) -> str:
    """Convert a date of the Iranian solar calendar; an invalid date stays unchanged."""
    year, month, day = int(match["y"]), month_number(match, JALALI_MONTHS), int(match["d"])
    if not JalaliDate.check_date(year, month, day):
        return match[0]
    return JalaliDate(year, month, day).to_gregorian().isoformat()  # type: ignore[no-untyped-call]


def arabic_to_iso(match: re.Match[str]) -> str:
    """Convert a date with an Arabic month name, or with two names of the same month; other dates stay unchanged."""
    month, second_name = ARABIC_MONTHS[match["n"]], match["n2"]
    if second_name is not None and ARABIC_MONTHS[second_name] != month:
        return match[0]
    return gregorian_to_iso(match, int(match["y"]), month)


def thai_to_iso(match: re.Match[str]) -> str:
    """Convert a date with a Buddhist year (two or four digits) or a Gregorian year; an invalid date stays unchanged."""
    year = int(match["y"])
    if year < 100:
        year += 2500 if year >= MIN_SHORT_BUDDHIST_YEAR else 2000
    return gregorian_to_iso(
        match, year - BUDDHIST_YEAR_OFFSET if year > 2400 else year, month_number(match, THAI_MONTHS)
    )


def gregorian_to_iso(match: re.Match[str], year: int, month: int) -> str:
    """Return the date of a match with this year and month; an invalid date stays unchanged."""
    try:
        return datetime.date(year, month, int(match["d"])).isoformat()
    except ValueError:
        return match[0]


def hebrew_to_iso(match: re.Match[str]) -> str:
    """Convert a date of the Hebrew calendar; an invalid date stays unchanged."""
    year, day, month = (
        HEBREW_YEAR_OFFSET + hebrew_numeral_value(match["y"]),
        hebrew_numeral_value(match["d"]),
        HEBREW_MONTHS[match["n"]],
    )
    try:
        if match["n"] == "אדר" and Year(year).leap:
            month += 1
        return cast(datetime.date, HebrewDate(year, month, day).to_pydate()).isoformat()
    except ValueError:
        return match[0]


def hebrew_numeral_value(numeral: str) -> int:
    """Return the value of a number in Hebrew letters."""
    return sum(HEBREW_LETTER_VALUES.get(letter, 0) for letter in numeral)
