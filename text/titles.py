"""What identifies a title: its letters and digits alone, and the numbers that tell one of a series from the next.

title_key("《油气周报》 第 3 期")   -> "油气周报第3期"
numbers("油气周报（2024）第三期")   -> ("2024", "3")
"""

import re
import unicodedata

from text.folding import fold_term, fold_width

MAX_KEY = 200  # characters; titles that are the same so far are the same
MAX_NUMBERS = 20  # of one text
MAX_DIGITS = 24  # characters of one

_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_CHINESE = f"[{''.join(_DIGITS)}{''.join(_UNITS)}]{{1,9}}"
# A Chinese numeral is a number where it counts: `三` in 三中全会 is a part of a name. So is the 4 in `neo4j`.
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.])[vV]?(?P<digits>[0-9]+(?:\.[0-9]+)*)(?![A-Za-z0-9_])|(?<=第)\s*(?P<ordinal>{_CHINESE})|(?P<dated>{_CHINESE})(?=[年月])"
)
_COUNT = "[0-9一二三四五六七八九十百千零〇两]+"
_PART = re.compile(
    rf"第\s*{_COUNT}\s*(?:条|章|节|回|集|期|讲|篇|部分|卷|话|课|季|辑|编)(?:之{_COUNT})?(?=\s|[:：]|$)"
    rf"|[（(]\s*{_COUNT}\s*[)）]$"
    r"|(?<=\s)(?:part|chapter|section|episode)\s+[0-9ivxlc]+(?=\s|[:：]|$)",
    re.IGNORECASE,
)


def work_name(title: str) -> str:
    """The name of what `title` is a numbered part of, in small letters; "" if it is on its own.

    `刑法 第九条` and `刑法 第一百三十三条之一` are parts of 刑法, `The wells, part 2` of `the wells,`; what stands
    before the number is the name of the whole, and without one there is none.
    """
    folded = " ".join(fold_width(title).split())
    part = _PART.search(folded)
    return folded[: part.start()].strip().lower() if part else ""


def title_key(title: str) -> str:
    """`title` without case, width, blanks and signs, at most `MAX_KEY` characters: equal for one title in two forms."""
    folded = fold_term(unicodedata.normalize("NFKC", title))
    return "".join(char for char in folded if char.isalnum())[:MAX_KEY]


def title_keys(title: str) -> list[str]:
    """What a title is known by: its key, and itself as it stands (behind a `=`), where case and signs count."""
    stands = " ".join(unicodedata.normalize("NFKC", title).split())[:MAX_KEY]
    return [key, f"={stands}"] if (key := title_key(title)) else []


def numbers(text: str) -> tuple[str, ...]:
    """The numbers in `text` in their order, each once, at most `MAX_NUMBERS`: `007` is `7`, `第三期` has `3`."""
    found: dict[str, None] = {}
    for match in _NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        digits, chinese = match["digits"], match["ordinal"] or match["dated"]
        number = chinese_number(chinese) if chinese else ".".join(part.lstrip("0") or "0" for part in digits.split("."))
        found[number[:MAX_DIGITS]] = None
        if len(found) == MAX_NUMBERS:
            break
    return tuple(found)


def chinese_number(numeral: str) -> str:
    """`二十一` -> `21`, `一百零五` -> `105`, `二〇二三` -> `2023`."""
    if not any(char in _UNITS for char in numeral):
        return "".join(str(_DIGITS[char]) for char in numeral).lstrip("0") or "0"
    total = digit = 0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
        else:
            total += (digit or 1) * _UNITS[char]
            digit = 0
    return str(total + digit)
