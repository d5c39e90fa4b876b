"""Month names of data/month_names.tsv, in lower case: in the languages of the web, and of other calendars."""

import unicodedata
from importlib.resources import files


def read_month_names() -> dict[str, dict[str, int]]:
    """Return the number of each month by its name, for each calendar of the table."""
    months_by_calendar, month_counts = dict[str, dict[str, int]](), dict[str, int]()
    for line in (files("extractor") / "data" / "month_names.tsv").read_text(encoding="utf-8").splitlines():
        calendar, _, names = line.partition("\t")
        if not line.startswith("#"):
            month = month_counts[calendar] = month_counts.get(calendar, 0) + 1
            months_by_calendar.setdefault(calendar, {}).update(dict.fromkeys(names.split("|"), month))
    return months_by_calendar


def strip_accents(name: str) -> str:
    """Return a name without accents, as typed on keyboards without them: décembre, decembre."""
    return "".join(char for char in unicodedata.normalize("NFD", name) if not "\u0300" <= char <= "\u036f")


MONTHS_BY_CALENDAR = read_month_names()
ALL_NAMES = {**MONTHS_BY_CALENDAR["cldr"], **MONTHS_BY_CALENDAR["web"]}
UNACCENTED_NAMES = {
    strip_accents(name): number for name, number in ALL_NAMES.items() if len(name) > 3 and name < "\u0250"
}
MONTH_NAMES = {**UNACCENTED_NAMES, **ALL_NAMES}
# Croatian puts a point after the day; Polish and Czech do not before full names. So 5. listopada is in October, and
# 5 listopada is in November.
MONTHS_AFTER_DAY_POINT = {"lip": 6, "listopada": 10, "listopad": 10, "lis": 10}
