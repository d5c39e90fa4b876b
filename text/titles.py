"""Normalized titles, and the numbers that distinguish the items of a series.

title_key("《油气周报》 第 3 期")           -> "油气周报第3期"
extract_numbers("油气周报（2024）第三期")   -> ("2024", "3")
"""

import re
import unicodedata

from text.folding import fold_term, fold_width

MAX_KEY_CHARS = 200  # titles with the same first characters are equal
MAX_NUMBERS = 20  # per text
MAX_NUMBER_CHARS = 24

_DIGIT_VALUES = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_UNIT_VALUES = {"十": 10, "百": 100, "千": 1000}
_CHINESE_NUMERAL = f"[{''.join(_DIGIT_VALUES)}{''.join(_UNIT_VALUES)}]{{1,9}}"
# A Chinese numeral is a number only where it counts: `三` in 三中全会 is part of a name. So is the 4 in `neo4j`.
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.])[vV]?(?P<digits>[0-9]+(?:\.[0-9]+)*)(?![A-Za-z0-9_])|(?<=第)\s*(?P<ordinal>{_CHINESE_NUMERAL})|(?P<dated>{_CHINESE_NUMERAL})(?=[年月])"
)
_ANY_NUMERAL = "[0-9一二三四五六七八九十百千零〇两]+"
_PART_NUMBER = re.compile(
    rf"第\s*{_ANY_NUMERAL}\s*(?:条|章|节|回|集|期|讲|篇|部分|卷|话|课|季|辑|编)(?:之{_ANY_NUMERAL})?(?=\s|[:：]|$)"
    rf"|[（(]\s*{_ANY_NUMERAL}\s*[)）]$"
    r"|(?<=\s)(?:part|chapter|section|episode)\s+[0-9ivxlc]+(?=\s|[:：]|$)",
    re.IGNORECASE,
)


def series_name(title: str) -> str:
    """Return the name of the series that `title` is a numbered part of, in lower case, or "".

    `刑法 第九条` and `刑法 第一百三十三条之一` are parts of 刑法, `The wells, part 2` of `the wells,`. The name
    is the text before the number.
    """
    folded_title = " ".join(fold_width(title).split())
    part = _PART_NUMBER.search(folded_title)
    return folded_title[: part.start()].strip().lower() if part else ""


def title_key(title: str) -> str:
    """Normalize a title: without case, width, blanks and signs, at most `MAX_KEY_CHARS` characters."""
    folded_title = fold_term(unicodedata.normalize("NFKC", title))
    return "".join(char for char in folded_title if char.isalnum())[:MAX_KEY_CHARS]


def title_lookup_keys(title: str) -> list[str]:
    """Return the lookup keys of a title: its `title_key`, and its exact text after a `=`, with case and signs."""
    exact_title = " ".join(unicodedata.normalize("NFKC", title).split())[:MAX_KEY_CHARS]
    return [key, f"={exact_title}"] if (key := title_key(title)) else []


def extract_numbers(text: str) -> tuple[str, ...]:
    """Return the numbers in `text` in order, each once, at most `MAX_NUMBERS`: `007` is `7`, `第三期` has `3`."""
    numbers: dict[str, None] = {}
    for match in _NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        digits, chinese = match["digits"], match["ordinal"] or match["dated"]
        number = (
            parse_chinese_number(chinese)
            if chinese
            else ".".join(part.lstrip("0") or "0" for part in digits.split("."))
        )
        numbers[number[:MAX_NUMBER_CHARS]] = None
        if len(numbers) == MAX_NUMBERS:
            break
    return tuple(numbers)


def parse_chinese_number(numeral: str) -> str:
    """Convert a Chinese numeral: `二十一` -> `21`, `一百零五` -> `105`, `二〇二三` -> `2023`."""
    if not any(char in _UNIT_VALUES for char in numeral):
        return "".join(str(_DIGIT_VALUES[char]) for char in numeral).lstrip("0") or "0"
    total = digit = 0
    for char in numeral:
        if char in _DIGIT_VALUES:
            digit = _DIGIT_VALUES[char]
        else:
            total += (digit or 1) * _UNIT_VALUES[char]
            digit = 0
    return str(total + digit)
