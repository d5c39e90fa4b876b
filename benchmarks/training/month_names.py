"""Generate the rows `cldr` of `extractor/data/month_names.tsv`: names from the Unicode CLDR, as Babel provides it.

    python -m benchmarks.training.month_names

Includes every language that is official in some territory, with its names in dates and standalone. Short names are
included only for scripts other than Latin, because in Latin script they are also words of other languages ("van",
"jen"). The extractor itself then needs neither Babel nor the time to read its data.
"""

import re
from collections import Counter
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.core import get_global

from extractor.fields.dates.date_parsing import LETTERS_PATTERN

OUT = Path("extractor") / "data" / "month_names.tsv"
LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


def official_languages() -> list[str]:
    """Return languages that are official in some territory, those of most territories first."""
    count: Counter[str] = Counter()
    for languages in get_global("territory_languages").values():
        count.update({name.partition("_")[0] for name, about in languages.items() if about["official_status"]})
    return sorted(count, key=lambda name: (-count[name], name))


def names_of(language: str) -> list[tuple[str, int]]:
    """Return the one-word month names of a language, with the number of the month."""
    try:
        months = Locale.parse(language).months
    except (UnknownLocaleError, ValueError):
        return []
    found = dict.fromkeys(
        (months[context][width][number].lower().strip(" .׳"), number)
        for width in ("wide", "abbreviated")
        for context in ("format", "stand-alone")
        for number in months[context][width]
        if width == "wide" or not LATIN.match(months[context][width][number])
    )
    return [(name, number) for name, number in found if re.fullmatch(LETTERS_PATTERN, name)]


def rows() -> list[list[str]]:
    """Return the names of each month, those of the languages of most territories first."""
    known: dict[str, int] = {}
    for language in official_languages():
        for name, number in names_of(language):
            known.setdefault(name, number)
    return [[name for name, number in known.items() if number == month] for month in range(1, 13)]


def table() -> str:
    """Return the text of the table with new rows `cldr`."""
    lines = OUT.read_text(encoding="utf-8").splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("cldr\t"))
    new_lines = ["cldr\t" + "|".join(row) for row in rows()]
    return "\n".join([*lines[:first], *new_lines, *lines[first + len(new_lines) :], ""])


if __name__ == "__main__":
    OUT.write_text(table(), encoding="utf-8")
