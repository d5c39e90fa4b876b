"""Dates as they stand in URLs and in text, in many languages: pure patterns, no choice among places.

    http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml    2016-05-09
    发布时间：2016年5月9日 10:30                                  2016-05-09, at 2016-05-09T10:30
    9 мая 2016 г.   9 de mayo de 2016   May 9th, 2016            2016-05-09
    民國105年5月9日   二〇一六年五月九日   ２０１６．５．９        2016-05-09
    ۱۲ مرداد ۱۴۰۲   12 ม.ค. 2567                                 calendars.py

All patterns are linear and all input is capped, so no text makes this slow.
"""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from extractor.fields.dates.calendars import western_calendar
from extractor.fields.dates.month_names import AFTER_A_POINT, MONTH_NAMES

LONGEST_URL = 2_000
MAX_NAME = 32  # characters before 9.5.16 in which the name of what has that version is looked for
LONGEST_TEXT = 400  # characters of one text in which a date is looked for
YEAR = r"(?P<y>199\d|20\d\d)"
MONTH = r"(?P<m>1[0-2]|0?[1-9])"
MONTH2 = r"(?P<m>1[0-2]|0[1-9])"
DAY = r"(?P<d>3[01]|[12]\d|0?[1-9])"
DAY2 = r"(?P<d>3[01]|[12]\d|0[1-9])"
# Never out of a longer run of digits, but for a clock that stands next to the date: "28 luglio 202010:43".
ALONE = r"(?<!\d)", r"(?!\d(?!\d?:\d\d))"


def alone(*pieces: str) -> tuple[re.Pattern[str], ...]:
    """Patterns that match no part of a longer number."""
    return tuple(re.compile(ALONE[0] + piece + ALONE[1]) for piece in pieces)


# WD-A4, in order of trust; the second group knows the month only.
URL_DAYS = alone(
    rf"{YEAR}/{MONTH}/(?P<d>3[01]|[12]\d|0[1-9]|[1-9](?=/))",  # 2016/05/1.html is number 1 of May
    rf"{YEAR}[-_]{MONTH}[-_/]{DAY}",
    rf"{YEAR}/{MONTH2}{DAY2}",
    rf"{YEAR}{MONTH2}/?{DAY2}",
    rf"{DAY2}-{MONTH2}-{YEAR}",
)
URL_NAMED_DAY = re.compile(rf"/{YEAR}/(?P<n>[a-z]{{3,9}})/(?P<d>3[01]|[12]\d|0?[1-9])(?=/)")  # /2016/may/09/
SLUG_WORD = re.compile(r"[^\W\d_]{2,}")
MIN_SLUG_WORDS = 3  # with the ending of a file's name
URL_MONTHS = alone(rf"{YEAR}/{MONTH}(?=/|$)", rf"{YEAR}[_-]{MONTH2}(?=/|$)", rf"(?<=/){YEAR}{MONTH2}(?=/)")

SPACE = r"[\s\xa0]{0,3}"
# With the signs that stand for vowels, which are no letters for Python; May is short in India.
LETTERS = r"(?:[a-z\u00c0-\u1fff]{3,16}|[\u0900-\u0dff]{2})"
MONTH_WORD = re.compile(LETTERS)
WORD = rf"(?P<n>{LETTERS})(?:/{LETTERS})?"  # looked up in MONTH_NAMES; Bosnians write juni/lipanj
ORDINAL = r"(?:st|nd|rd|th|er|[.º°ª]|-?го|\. ?d\.)?"
OF = r"(?:(?:de|of|del|den|di)\s|d['’])?"
GAP = r"[\s\xa0.,/-]{1,3}"
# The year may be 2016 or, in the last, 16; `k` are the two halves of a day and a month in either order.
TEXT_DAYS = (
    *alone(
        rf"{YEAR}{SPACE}(?:[-/.年년]|оны){SPACE}{MONTH}{SPACE}(?:[-/.月월]|(?:дугаар|дүгээр|-р)?\s?сарын){SPACE}{DAY}",
        rf"{DAY}{ORDINAL}{GAP}{OF}{WORD}{GAP}{OF}(?:,\s)?{YEAR}",
        rf"(?P<p>1[0-2]|0?[1-9]|[12]\d|3[01]){SPACE}(?P<s>[-/.]|tháng|thg){SPACE}"
        rf"(?P<q>1[0-2]|0?[1-9]|[12]\d|3[01]){SPACE}(?:[-/.]|năm|,){SPACE}{YEAR}",
        rf"{YEAR}{MONTH2}{DAY2}",
        rf"{YEAR}(?:\(?e?\)?ko)?{GAP}(?:m\.\s|թ\.\s|gada\s)?(?:{WORD}{GAP}{DAY}|(?P<d2>3[01]|[12]\d|0?[1-9])\.\s(?P<n2>{LETTERS}))",
    ),
    re.compile(
        rf"(?<![a-z\u00c0-\u1fff]){WORD}[.,]?[\s\xa0]{{1,2}}{DAY}(?:st|nd|rd|th)?[.,]?{SPACE}"
        rf"(?:\d?\d:\d\d(?::\d\d)?,?\s)?(?:[a-z]{{3,4}}\s)?{YEAR}(?![\d:])"
    ),
    re.compile(rf"(?<!\d){YEAR}[\s-]?ж(?:\.|ыл[а-яғ]{{1,3}}),?\s{DAY}[\s-]{WORD}"),  # Kazakh and Kyrgyz
)
DAY_BEHIND = (TEXT_DAYS[0], TEXT_DAYS[3], TEXT_DAYS[4], TEXT_DAYS[6])  # the year
DAY_BEFORE = (TEXT_DAYS[1], TEXT_DAYS[2], TEXT_DAYS[5])
SHORT_YEAR = re.compile(r"(?<![\d.])(?P<d>3[01]|[12]\d|0?[1-9])\.(?P<m>1[0-2]|0?[1-9])\.(?P<y>[0-4]\d)(?![\d.])")
# A name before 9.5.16 makes it a version, but for the words that lead to a day: "am 9.5.16", "Stand 9.5.16".
VERSION = re.compile(
    r"(?:[<>=~]\s?|(?<![^\W_])(?!(?:am|vom|den|der|dem|ab|bis|seit|zum|stand|le|du|il|del|dne|od|do|dato|den|kl|on|of|from|until|data|"
    r"datum|dated?|fecha|дата|от|на|до|uhr|mo|di|mi|do|fr|sa|so|пн|вт|ср|чт|пт|сб|вс|\w{1,12}(?:day|tag|woch|ed|icht))[\s\xa0]?$)"
    r"[^\W\d_]\w{0,29}[\s\xa0]?)$"
)
ISO = re.compile(r"(199\d|20\d\d)-(\d\d)-(\d\d)(?!\d)")
HAS_YEAR = re.compile(r"20\d\d|199\d")
DIGIT = re.compile(r"\d")
MAX_YEARS = 5  # in one text that are looked around
AROUND = 36  # characters before and behind a year
ROC_OR_ERA = re.compile(r"(民[國国]|令和|平成)\s?(\d{1,3}|元)\s?(?=年)")
YEARS_BEFORE = {"民國": 1911, "民国": 1911, "令和": 2018, "平成": 1988}
HAN_NUMBER = re.compile(r"[〇○零一二三四五六七八九十廿卅]{1,4}(?=[年月日])")
HAN_VALUES = str.maketrans("〇○零一二三四五六七八九", "000123456789")
ZEROS = "０٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"  # of the scripts whose digits stand in dates
ODD_DIGITS = "".join(chr(ord(zero) + number) for zero in ZEROS for number in range(10))
OTHER_CALENDAR = re.compile("[\u05d0-\u05ea\u0600-\u06ff\u0e00-\u0e7f]")  # Hebrew, Arabic and Thai letters
PERSIAN_DIGIT = re.compile("[۰-۹]")
ODD_DIGIT = re.compile(f"[{ODD_DIGITS}\u060c\u200e\u200f]|[‐‑–](?=\\d)")
DIGITS = str.maketrans(
    ODD_DIGITS + "．／－：‐‑–\u060c\u200e\u200f",
    "0123456789" * len(ZEROS) + "./-:---,  ",
)
EPOCH = re.compile(r"(1\d{9})(?:\d{3})?(?:\.0)?")  # seconds or milliseconds since 1970
WHOLE_MONTH = re.compile(rf"{YEAR}[-/.年]{MONTH}月?")
CLOCK = re.compile(
    r"[\s\xa0t,|·•\-–—/()（日号號일г.周星期一二三四五六天at@à]{0,12}(?:kl\.?|um|at|às|a las|ore)?\s?"
    r"(?P<half>上午|下午|晚上|凌晨|午後|午前)?\s?(?P<h>[01]?\d|2[0-3])[:：h时時點点.](?P<i>[0-5]\d)"
    r"(?:[:：分](?P<s>[0-5]\d))?(?:[.,]\d{1,9})?"
    r"(?!\d)\s?(?P<ap>[ap]\.?m\b)?\.?\s?\(?(?P<z>z\b|utc|gmt|[+-]\d\d:?\d\d|[a-z]{3,4}\b)?"
)
ZONES = {
    "z": 0, "utc": 0, "gmt": 0, "est": -300, "edt": -240, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480,
    "pdt": -420, "cet": 60, "cest": 120, "mez": 60, "eet": 120, "eest": 180, "msk": 180, "jst": 540, "kst": 540,
    "aest": 600, "aedt": 660, "hkt": 480,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stamp:
    """A date read from a text: `YYYY-MM-DD` (or `YYYY-MM`), and where in that text (see `plain_digits`) it stands.

    `swapped` is the other day that 5/9/2016 may mean, "" where there is none.
    """

    day: str
    start: int
    end: int
    swapped: str = ""


def date_in_url(url: str) -> str:
    """WD-A4: the year, month and (if there) day in a URL, as `YYYY-MM-DD` or `YYYY-MM`; "" where there is none."""
    path = url[:LONGEST_URL].split("//", 1)[-1]
    if "20" not in path and "199" not in path:
        return ""
    days = (as_day(match["y"], match["m"], match["d"]) for pattern in URL_DAYS for match in pattern.finditer(path))
    named = URL_NAMED_DAY.search(path.lower())
    spelt = as_day(named["y"], MONTH_NAMES.get(named["n"], 0), named["d"]) if named else ""
    found = next(filter(None, days), spelt)
    if found:
        return found
    months = (pattern.search(path) for pattern in URL_MONTHS)
    return next((f"{match['y']}-{int(match['m']):02d}" for match in months if match), "")


def is_in_slug(url: str) -> bool:
    """The day in a URL stands among words, as in the title of a page about that day: /t/no-train-on-2016-05-09."""
    for step in url[:LONGEST_URL].split("//", 1)[-1].split("/")[1:]:
        if date_in_url(f"/{step}") and len(SLUG_WORD.findall(step)) >= MIN_SLUG_WORDS:
            return True
    return False


def date_in_text(text: str) -> str:
    """The first day in the first LONGEST_TEXT characters of a text, `YYYY-MM-DD`, or ""."""
    found = first_stamp(plain_digits(text))
    return found.day if found else ""


def plain_digits(text: str, language: str = "") -> str:
    """The beginning of a text in lower case on one line, with Western digits and years."""
    return western_digits(" ".join(text[:LONGEST_TEXT].split()), language)


def western_digits(line: str, language: str = "") -> str:
    """A line in lower case, with Western digits and years; the `language` of its page tells whose its years are."""
    text = line.lower()
    if text.isascii():
        return western_calendar(text, language) if language else text
    if ODD_DIGIT.search(text):
        language = language or ("fa" if PERSIAN_DIGIT.search(text) else "")
        text = text.translate(DIGITS)
    if "年" in text:
        text = HAN_NUMBER.sub(lambda match: han_number(match[0]), text)
        text = ROC_OR_ERA.sub(western_year, text)
    return western_calendar(text, language) if language or OTHER_CALENDAR.search(text) else text


def han_number(text: str) -> str:
    """A Chinese number as digits: 二〇一九 2019, 二十三 23, 十 10."""
    if len(text) == 4 and text[0] not in "十廿卅":
        return text.translate(HAN_VALUES)
    text = text.replace("廿", "二十").replace("卅", "三十")
    tens, mark, ones = text.partition("十")
    if not mark:
        return text.translate(HAN_VALUES)
    return f"{tens.translate(HAN_VALUES) or '1'}{ones.translate(HAN_VALUES) or '0'}"


def western_year(match: re.Match[str]) -> str:
    """民國105 is 2016, 令和2 is 2020."""
    return str(YEARS_BEFORE[match[1]] + (1 if match[2] == "元" else int(match[2])))


@lru_cache(maxsize=512)  # an element and its line hold the same text
def first_stamp(text: str, month_first: bool = False, short: bool = False) -> Stamp | None:
    """The first day in a text that went through `plain_digits`.

    `month_first` reads 5/9/2016 as the American 9 May; `short` reads 9.5.16 too, which is a version as often as a day.
    """
    found = None
    iso = ISO.match(text)
    if iso is not None and (day := as_day(iso[1], iso[2], iso[3])):
        return Stamp(day, 0, iso.end())
    if "20" in text or "199" in text:
        found = next(stamps(text, month_first), None)
    if found is None and short:
        match = SHORT_YEAR.search(text)
        is_day = match is not None and VERSION.search(text[max(0, match.start() - MAX_NAME) : match.start()]) is None
        day = as_day("20" + match["y"], match["m"], match["d"]) if match and is_day else ""
        return Stamp(day, match.start(), match.end()) if match and day else None
    return found


def stamps(text: str, month_first: bool) -> Iterator[Stamp]:
    """The days around the first years of a text: for each year, the first of those that the patterns find there."""
    for year in islice(HAS_YEAR.finditer(text), MAX_YEARS):
        start, end = max(0, year.start() - AROUND), year.end() + AROUND
        before = DIGIT.search(text, start, year.start()) is not None
        behind = DIGIT.search(text, year.end(), end) is not None
        # Most years stand alone; a day before the year, or behind it, needs digits there.
        patterns = (TEXT_DAYS if behind else DAY_BEFORE) if before else (DAY_BEHIND if behind else ())
        found = [stamp for pattern in patterns if (stamp := match_of(pattern, text, start, end, month_first))]
        if found:
            yield min(found, key=lambda stamp: stamp.start)
            return


def match_of(pattern: re.Pattern[str], text: str, start: int, end: int, month_first: bool) -> Stamp | None:
    """The first day that a pattern finds between two places of a text."""
    for match in pattern.finditer(text, start, end):
        day = day_of(match, month_first)
        if day:
            swapped = day_of(match, not month_first) if "p" in pattern.groupindex else ""
            return Stamp(day, match.start(), match.end(), swapped if swapped != day else "")
    return None


def day_of(match: re.Match[str], month_first: bool) -> str:
    """A match of TEXT_DAYS as `YYYY-MM-DD`, or "" where it is none."""
    parts = match.groupdict()
    if "p" in parts:
        return in_order(parts["p"], parts["q"], parts["y"], month_first and parts["s"] == "/")
    name = parts.get("n") or parts.get("n2")
    month = named_month(match, name) if name else parts["m"]
    return as_day(parts["y"], month, parts["d"] or parts.get("d2") or 0)


def named_month(match: re.Match[str], name: str) -> int:
    """The number of the month that a match names, 0 for another word."""
    has_point = name in AFTER_A_POINT and match.string.startswith(".", match.end("d"))
    return AFTER_A_POINT[name] if has_point else MONTH_NAMES.get(name, 0)


def in_order(first: str, second: str, year: str, month_first: bool) -> str:
    """The day of 9/5/2016 or 5/9/2016; the calendar decides where it can."""
    if month_first:
        return as_day(year, first, second) or as_day(year, second, first)
    return as_day(year, second, first) or as_day(year, first, second)


def as_day(year: str | int, month: str | int, day: str | int) -> str:
    """`YYYY-MM-DD`, or "" where the calendar has no such day."""
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


def stated_date(value: str, month_first: bool = False) -> Stamp | None:
    """The date of a value meant for machines: a day, a month alone, or seconds or milliseconds since 1970."""
    text = plain_digits(value)
    found = first_stamp(text, month_first, short=True)
    if found is not None:
        return found
    month = WHOLE_MONTH.fullmatch(text)
    if month:
        return Stamp(f"{month['y']}-{int(month['m']):02d}", 0, len(text))
    epoch = EPOCH.fullmatch(text)
    if epoch is None:
        return None
    return Stamp(datetime.datetime.fromtimestamp(int(epoch[1]), datetime.UTC).date().isoformat(), 0, len(text))


def time_after(text: str, stamp: Stamp) -> str:
    """The stamp with the time of day and the zone that stand behind it in the text, as ISO; "" where there is no time.

    2016年5月9日 10:30 gives 2016-05-09T10:30, 2016-05-09t10:30:00.5z gives 2016-05-09T10:30:00+00:00.
    """
    epoch = EPOCH.fullmatch(text)
    if epoch:
        return datetime.datetime.fromtimestamp(int(epoch[1]), datetime.UTC).isoformat()
    match = CLOCK.match(text, stamp.end)
    if match is None or len(stamp.day) != 10:
        return ""
    hour = hour_of(int(match["h"]), (match["ap"] or "")[:1], match["half"] or "")
    second = f":{match['s']}" if match["s"] else ""
    return f"{stamp.day}T{hour:02d}:{match['i']}{second}{zone_of(match['z'] or '')}"


def hour_of(hour: int, letter: str, half: str) -> int:
    """The hour of the 24: 3 p.m. and 下午3 are 15, 12 a.m. is 0."""
    if (letter == "p" or half in ("下午", "晚上", "午後")) and hour < 12:
        return hour + 12
    return 0 if hour == 12 and (letter == "a" or half in ("凌晨",)) else hour


def zone_of(text: str) -> str:
    """`+08:00` for +0800, EST ...; "" for what is no zone that clocks can have."""
    if text[:1] in ("+", "-"):
        hours, minutes = int(text[1:3]), int(text[-2:])
        return f"{text[:3]}:{text[-2:]}" if hours <= 14 and minutes < 60 else ""
    if text not in ZONES:
        return ""
    sign, minutes = "-" if ZONES[text] < 0 else "+", abs(ZONES[text])
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
