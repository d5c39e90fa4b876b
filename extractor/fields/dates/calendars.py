"""Dates that the patterns of date_text.py cannot read, rewritten as they can: as `YYYY-MM-DD` of the Western calendar.

    ۱۲ مرداد ۱۴۰۲   ۱۴۰۲/۰۵/۱۲              2023-08-03   the solar calendar of Iran and Afghanistan
    12 มกราคม พ.ศ. 2567   12 ม.ค. 67           2024-01-12   Buddhist years
    י״ב באייר תשפ״ד                          2024-05-20   the Hebrew calendar
    24 كانون الثاني / يناير 2024             2024-01-24   months that Arabs give two names, some of two words

The lunar calendar of Islam is left alone: its days depend on who saw the moon. All patterns are linear.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from typing import cast

from persiantools.jdatetime import JalaliDate
from pyluach.dates import HebrewDate
from pyluach.hebrewcal import Year

# Scripts in which such dates are written; the digits of a text are Western ones by now.
ARABIC_LETTERS_RE, THAI_LETTERS_RE, HEBREW_LETTERS_RE = (
    re.compile("[\u0600-\u06ff]"),
    re.compile("[\u0e00-\u0e7f]"),
    re.compile("[\u05d0-\u05ea]"),
)
DAY_PATTERN = r"(?<!\d)(?P<d>[0-3]?\d)"
# The years of the web in the Iranian calendar, 1990 to 2030; those of the lunar calendar are 1410 and more.
JALALI_YEAR_PATTERN = r"(?P<y>13[67]\d|13[89]\d|140\d)(?!\d)"
BUDDHIST_YEAR_PATTERN = r"(?P<y>25[3-7]\d)(?!\d)"
WESTERN_YEAR_RE = re.compile(r"(?<!\d)(?:199\d|20\d\d)(?!\d)")
BUDDHIST_YEAR_OFFSET = 543  # years before the Western ones
MIN_SHORT_BUDDHIST_YEAR = 40  # of the Buddhist years that are written 40 to 99; what is less is a Western year


def parse_month_rows(rows: str) -> dict[str, int]:
    """The month of each name in lines of names, "|" between them."""
    lines = enumerate(rows.strip().splitlines(), start=1)
    return {name.strip(): month for month, line in lines for name in line.split("|")}


def alternatives_group(names: Mapping[str, int], group: str) -> str:
    """A pattern for one of the names, the longest first."""
    return f"(?P<{group}>{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})"


JALALI_MONTHS = parse_month_rows("""
    فروردین|فروردين|حمل
    اردیبهشت|ارديبهشت|ثور
    خرداد|جوزا
    تیر|تير|سرطان
    مرداد|امرداد|اسد
    شهریور|شهريور|سنبله
    مهر|میزان|ميزان
    آبان|ابان|عقرب
    آذر|اذر|قوس
    دی|دي|جدی|جدي
    بهمن|دلو
    اسفند|حوت""")
ARABIC_MONTHS = parse_month_rows("""
    كانون الثاني|كانون ثاني|يناير|جانفي
    شباط|فبراير|فيفري
    آذار|أذار|اذار|مارس
    نيسان|أبريل|ابريل|إبريل|أفريل|افريل
    أيار|ايار|آيار|مايو|ماي
    حزيران|يونيو|يونيه|جوان
    تموز|يوليو|يوليه|يوليوز|جويلية
    آب|أغسطس|اغسطس|غشت|أوت
    أيلول|ايلول|سبتمبر|شتنبر
    تشرين الأول|تشرين الاول|تشرين أول|أكتوبر|اكتوبر
    تشرين الثاني|تشرين ثاني|نوفمبر|نونبر
    كانون الأول|كانون الاول|كانون أول|ديسمبر|دجنبر""")
THAI_MONTHS = parse_month_rows("""
    มกราคม|ม.ค.|ม.ค
    กุมภาพันธ์|ก.พ.|ก.พ
    มีนาคม|มี.ค.|มี.ค
    เมษายน|เม.ย.|เม.ย
    พฤษภาคม|พ.ค.|พ.ค
    มิถุนายน|มิ.ย.|มิ.ย
    กรกฎาคม|ก.ค.|ก.ค
    สิงหาคม|ส.ค.|ส.ค
    กันยายน|ก.ย.|ก.ย
    ตุลาคม|ต.ค.|ต.ค
    พฤศจิกายน|พ.ย.|พ.ย
    ธันวาคม|ธ.ค.|ธ.ค""")
# As pyluach numbers them: the year begins with the seventh; Adar of a leap year is the second one, unless it says so.
HEBREW_MONTHS = parse_month_rows("""
    ניסן
    אייר
    סיוון|סיון
    תמוז
    אב
    אלול
    תשרי
    חשוון|חשון|מרחשוון|מרחשון
    כסלו
    טבת
    שבט
    אדר|אדר א׳|אדר א'
    אדר ב׳|אדר ב'""")
HEBREW_LETTER_VALUES = dict(
    zip("אבגדהוזחטיכלמנסעפצקרשת", (*range(1, 10), *range(10, 100, 10), *range(100, 500, 100)), strict=True)
)
HEBREW_YEAR_OFFSET = 5000  # that Hebrew years leave out

JALALI_DATE_RE = re.compile(
    rf"{DAY_PATTERN}\s?(?:ام\s)?\s?{alternatives_group(JALALI_MONTHS, 'n')}\s?(?:ماه)?\s?[,،]?\s?(?:سال\s)?{JALALI_YEAR_PATTERN}"
)
JALALI_NUMERIC_DATE_RES = (
    re.compile(rf"(?<![\d/.-]){JALALI_YEAR_PATTERN}\s?([/.-])\s?(?P<m>0?[1-9]|1[0-2])\s?\2\s?(?P<d>[0-3]?\d)(?!\d)"),
    re.compile(rf"(?<![\d/.-])(?P<d>[0-3]?\d)\s?([/.-])\s?(?P<m>0?[1-9]|1[0-2])\s?\2\s?{JALALI_YEAR_PATTERN}"),
)
ARABIC_DATE_RE = re.compile(
    rf"{DAY_PATTERN}\s?(?:من\s)?{alternatives_group(ARABIC_MONTHS, 'n')}(?:\s?[-/–(]\s?{alternatives_group(ARABIC_MONTHS, 'n2')}\)?)?"
    r"\s?[,،]?\s?(?:من\s)?(?:سنة\s|عام\s)?(?P<y>199\d|20\d\d)(?!\d)"
)
THAI_DATE_RE = re.compile(
    rf"{DAY_PATTERN}\s?{alternatives_group(THAI_MONTHS, 'n')}\s?,?\s?(?:(?:พ\.?\s?ศ|ค\.?\s?ศ)\.?\s?)?"
    r"(?P<y>25\d\d|20\d\d|199\d|\d\d)(?!\d)(?!:\d)"
)
THAI_NUMERIC_DATE_RES = (
    re.compile(rf"(?<![\d/.-]){BUDDHIST_YEAR_PATTERN}([/.-])(?P<m>0?[1-9]|1[0-2])\2(?P<d>[0-3]?\d)(?!\d)"),
    re.compile(rf"(?<![\d/.-])(?P<d>[0-3]?\d)\s?([/.-])\s?(?P<m>0?[1-9]|1[0-2])\s?\2\s?{BUDDHIST_YEAR_PATTERN}"),
)
HEBREW_QUOTES = "\"״”“''׳’"
HEBREW_DATE_RE = re.compile(
    rf"(?<![א-ת])(?P<d>[א-ל][{HEBREW_QUOTES}]{{0,2}}[א-ט]?[{HEBREW_QUOTES}]?)\s(?:ב)?{alternatives_group(HEBREW_MONTHS, 'n')}\s,?\s?"
    rf"(?:ה[{HEBREW_QUOTES}]\s?)?(?P<y>ת[א-ת]{{0,2}}[{HEBREW_QUOTES}]{{1,2}}[א-ת])(?![א-ת])"
)


def to_gregorian(text: str, language: str = "") -> str:
    """A text with the days of other calendars as `YYYY-MM-DD`; its digits are Western.

    What the numbers 1402/05/12 mean, letters of the script beside them tell, or the `language` of the page.
    """
    if language in ("fa", "ps", "prs") or ARABIC_LETTERS_RE.search(text):
        text = ARABIC_DATE_RE.sub(arabic_to_iso, JALALI_DATE_RE.sub(jalali_to_iso, text))
        text = substitute_all(text, JALALI_NUMERIC_DATE_RES, jalali_to_iso)
    if language == "th" or THAI_LETTERS_RE.search(text):
        text = substitute_all(THAI_DATE_RE.sub(thai_to_iso, text), THAI_NUMERIC_DATE_RES, thai_to_iso)
    if HEBREW_LETTERS_RE.search(text) and not WESTERN_YEAR_RE.search(text):  # who writes both days means the same one
        text = HEBREW_DATE_RE.sub(hebrew_to_iso, text)
    return text


def substitute_all(text: str, patterns: tuple[re.Pattern[str], ...], convert: Callable[[re.Match[str]], str]) -> str:
    """A text with what some patterns find in it rewritten."""
    for pattern in patterns:
        text = pattern.sub(convert, text)
    return text


def month_number(match: re.Match[str], names: Mapping[str, int]) -> int:
    """The month of a match, by its name or its number."""
    groups = match.groupdict()
    return names[groups["n"]] if "n" in groups else int(groups["m"])


def jalali_to_iso(match: re.Match[str]) -> str:
    """A day of the solar calendar; what is none stays as it is."""
    year, month, day = int(match["y"]), month_number(match, JALALI_MONTHS), int(match["d"])
    if not JalaliDate.check_date(year, month, day):
        return match[0]
    return JalaliDate(year, month, day).to_gregorian().isoformat()  # type: ignore[no-untyped-call]


def arabic_to_iso(match: re.Match[str]) -> str:
    """A day whose month has one name, or two that mean the same."""
    month, second = ARABIC_MONTHS[match["n"]], match["n2"]
    if second is not None and ARABIC_MONTHS[second] != month:
        return match[0]
    return gregorian_to_iso(match, int(match["y"]), month)


def thai_to_iso(match: re.Match[str]) -> str:
    """A day of a Buddhist year, which may lack its century; of a Western year where it cannot be the other."""
    year = int(match["y"])
    if year < 100:
        year += 2500 if year >= MIN_SHORT_BUDDHIST_YEAR else 2000
    return gregorian_to_iso(
        match, year - BUDDHIST_YEAR_OFFSET if year > 2400 else year, month_number(match, THAI_MONTHS)
    )


def gregorian_to_iso(match: re.Match[str], year: int, month: int) -> str:
    """The day of a match in this month; what is none stays as it is."""
    try:
        return datetime.date(year, month, int(match["d"])).isoformat()
    except ValueError:
        return match[0]


def hebrew_to_iso(match: re.Match[str]) -> str:
    """A day of the Hebrew calendar; what is none stays as it is."""
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
    """A number written in Hebrew letters."""
    return sum(HEBREW_LETTER_VALUES.get(letter, 0) for letter in numeral)
