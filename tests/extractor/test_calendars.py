"""Dates of other calendars, and month names in the languages of the world."""

import datetime

import pytest
from babel import Locale
from babel.dates import format_date

from benchmarks.training.month_names import OUT, table
from extractor.fields.dates.date_parsing import find_date_in_text, to_western_digits

# Languages in which much is published, from all scripts; "long" dates name the month and no era.
LANGUAGES = (
    "af", "am", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fi",
    "fil", "fr", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ka", "kk", "km", "kn", "ko",
    "ky", "lo", "lt", "lv", "mk", "ml", "mr", "ms", "my", "nb", "nl", "pa", "pl", "pt", "ro", "ru", "si", "sk",
    "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tk", "tr", "uk", "ur", "uz", "vi", "zh",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("۱۲ مرداد ۱۴۰۲", "2023-08-03"), ("تاریخ انتشار: ۱۴۰۲/۰۵/۱۲ - ۱۰:۳۰", "2023-08-03"),
        ("پنجشنبه 12 مرداد ماه 1402", "2023-08-03"), ("1402-5-12 ساعت", "2023-08-03"), ("۱۲/۰۵/۱۴۰۲", "2023-08-03"),
        ("۱۲ اسد ۱۴۰۲", "2023-08-03"), ("۳۰ اسفند ۱۴۰۳", "2025-03-20"), ("۳۰ اسفند ۱۴۰۲", ""), ("۴۵ مرداد ۱۴۰۲", ""),
        ("۱۴۴۵/۰۵/۱۲ هـ", ""), ("1402/05/12", ""), ("12 محرم 1445", ""),
        ("24 كانون الثاني / يناير 2024", "2024-01-24"), ("24 شباط/فبراير 2024", "2024-02-24"),
        ("الخميس ١٥ آب ٢٠٢٤", "2024-08-15"), ("15 تشرين الأول 2023 - 10:30", "2023-10-15"),
        ("15 كانون الأول (ديسمبر) 2023", "2023-12-15"), ("15 شباط/مارس 2023", ""), ("12 جانفي 2023", "2023-01-12"),
        ("3 غشت 2022", "2022-08-03"), ("31 شباط 2024", ""),
        ("12 มกราคม พ.ศ. 2567", "2024-01-12"), ("12 ม.ค. 2567 10:30 น.", "2024-01-12"), ("12 ม.ค. 67", "2024-01-12"),
        ("๑๒ มกราคม ๒๕๖๗", "2024-01-12"), ("12 ม.ค. 2024", "2024-01-12"), ("วันที่ 12/01/2567", "2024-01-12"),
        ("31 กุมภาพันธ์ 2567", ""), ("12/01/2567", ""),
        ("י״ב באייר תשפ״ד", "2024-05-20"), ("כ\"ג בתשרי ה'תשפ\"ד", "2023-10-08"), ("ט״ו אדר ב׳ תשפ״ד", "2024-03-25"),
        ("ט״ו באדר תשפ״ג", "2023-03-08"), ("ל״ב באייר תשפ״ד", ""), ("12 בינואר 2024, ב׳ בשבט תשפ״ד", "2024-01-12"),
        ("2024(e)ko urtarrilaren 13a", "2024-01-13"), ("2024 оны 1 сарын 13", "2024-01-13"),
        ("2024 ж. 13 қаңтар", "2024-01-13"), ("2024-ж., 13-январь", "2024-01-13"), ("13 decembre 2023", "2023-12-13"),
        ("13 Ionawr 2024", "2024-01-13"), ("13 មករា 2024", "2024-01-13"), ("13 van 2024", ""),
    ],
)  # fmt: skip
def test_dates_of_other_calendars_and_languages(text: str, day: str) -> None:
    assert find_date_in_text(text) == day


def test_the_page_language_decides_the_calendar_of_numeric_dates() -> None:
    assert to_western_digits("1402/05/12", "fa") == "2023-08-03"
    assert to_western_digits("12/01/2567", "th") == "2024-01-12"
    assert to_western_digits("1402/05/12") == "1402/05/12"


@pytest.mark.parametrize("language", LANGUAGES)
def test_complete_dates_of_the_cldr_are_parsed(language: str) -> None:
    days = [datetime.date(2024, month, 13) for month in range(1, 13)]
    read = [find_date_in_text(format_date(day, "long", locale=Locale.parse(language))) for day in days]
    assert sum(day.isoformat() == date for day, date in zip(days, read, strict=True)) >= 10
    assert all(date in ("", day.isoformat()) for day, date in zip(days, read, strict=True))


def test_the_month_table_equals_the_cldr() -> None:
    assert table() == OUT.read_text(encoding="utf-8")
