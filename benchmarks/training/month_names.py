"""Generate `extractor/fields/dates/cldr_months.py`: month names from the Unicode CLDR, as Babel provides it.

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

from extractor.fields.dates.date_parsing import MONTH_WORD_RE

OUT = Path("extractor") / "fields" / "dates" / "cldr_months.py"
HEAD = '''"""Names of the months in the official languages of the world, in lower case: January first.

Made by `python -m benchmarks.training.month_names` from the Unicode CLDR (Unicode License v3). Of a name that means
several months the language with more countries has it.
"""

CLDR_ROWS = (
'''
LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
WIDTH = 108  # columns of a row of names


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
    return [(name, number) for name, number in found if MONTH_WORD_RE.fullmatch(name)]


def rows() -> list[list[str]]:
    """Return the names of each month, those of the languages of most territories first."""
    known: dict[str, int] = {}
    for language in official_languages():
        for name, number in names_of(language):
            known.setdefault(name, number)
    return [[name for name, number in known.items() if number == month] for month in range(1, 13)]


def source() -> str:
    """Return the source code of the module."""
    text = [HEAD]
    for row in rows():
        lines: list[str] = [""]
        for name in row:
            if len(lines[-1]) + len(name) + 1 > WIDTH:
                lines.append("")
            lines[-1] += f"{name} "
        lines[-1] = lines[-1].rstrip()
        body = "\n".join(f'    "{line}"' for line in lines)
        text.append(f"{body},\n")
    return "".join([*text, ")\n"])


if __name__ == "__main__":
    OUT.write_text(source(), encoding="utf-8")
