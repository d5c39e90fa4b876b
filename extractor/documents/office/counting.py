"""Labels of automatic numbering, such as 第十二条, 4.1.2 and 附录 A. Counting systems have the names of Word."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

PLACEHOLDER_RE = re.compile("%([1-9])")
MAX_COUNT = 99_999  # larger numbers are written in digits
ROMAN_SIGNS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
CHINESE_NUMERALS = "零一二三四五六七八九", ("", "十", "百", "千", "万")
FORMAL_NUMERALS = "零壹贰叁肆伍陆柒捌玖", ("", "拾", "佰", "仟", "万")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def to_roman(number: int) -> str:
    """Return a number as a lower-case Roman numeral."""
    text = ""
    for value, sign in ROMAN_SIGNS:
        text, number = text + sign * (number // value), number % value
    return text


def to_chinese(number: int, numerals: tuple[str, tuple[str, ...]] = CHINESE_NUMERALS) -> str:
    """Return a number as it is spoken: 12 十二, 105 一百零五."""
    zero, decimals = numerals[0][0], str(number)
    digits = [numerals[0][int(digit)] for digit in decimals]
    units = reversed(numerals[1][: len(decimals)])
    text = "".join(digit + unit if digit != zero else zero for digit, unit in zip(digits, units, strict=True))
    text = zero if text.endswith(zero * len(text)) else zero.join(filter(None, text.split(zero)))
    return text.removeprefix("一") if 10 <= number < 20 else text


def from_letters(letters: str) -> Callable[[int], str]:
    """Return the system of an alphabet, which repeats its letters: 27 is aa."""
    return lambda number: letters[(number - 1) % len(letters)] * min((number - 1) // len(letters) + 1, 20)


SYSTEMS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "upperRoman": lambda number: to_roman(number).upper(),
    "lowerRoman": to_roman,
    "upperLetter": from_letters(LETTERS.upper()),
    "lowerLetter": from_letters(LETTERS),
    "ideographTraditional": from_letters("甲乙丙丁戊己庚辛壬癸"),
    "ideographZodiac": from_letters("子丑寅卯辰巳午未申酉戌亥"),
    "decimalFullWidth": lambda number: str(number).translate({48 + digit: 0xFF10 + digit for digit in range(10)}),
    "none": lambda number: "",
    **dict.fromkeys(
        ("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting",
         "taiwaneseCountingThousand"), to_chinese,
    ),
    **dict.fromkeys(
        ("ideographDigital", "japaneseDigitalTenThousand", "taiwaneseDigital"),
        lambda number: str(number).translate(str.maketrans("0123456789", "〇一二三四五六七八九")),
    ),
    **dict.fromkeys(
        ("chineseLegalSimplified", "ideographLegalTraditional"), lambda number: to_chinese(number, FORMAL_NUMERALS)
    ),
    **dict.fromkeys(
        ("decimalEnclosedCircle", "decimalEnclosedCircleChinese"),
        lambda number: chr(0x245F + number) if number <= 20 else str(number),
    ),
}  # fmt: skip


def parse_count(text: str, default: int) -> int:
    """Parse a number of a file; `default` if it is missing, invalid or very large."""
    return int(text) if text.isdecimal() and len(text) < 8 else default


def format_count(number: int, system: str) -> str:
    """Return a number in a counting system, in digits if it is unknown. `001, 002` is a system of three digits."""
    if system[:1] == "0":
        return f"{number:0{min(len(system.partition(',')[0]), 9)}}"
    return SYSTEMS.get(system, str)(number) if 0 < number <= MAX_COUNT else str(number)


@dataclass(frozen=True)
class ListLevel:
    """A level of a list. `%1` to `%9` in `template` are the numbers of the levels; a bullet has an empty template."""

    template: str = ""
    system: str = "decimal"
    start: int = 1
    is_legal: bool = False  # all numbers in digits
    restart_level: int = 9  # a paragraph of a level above this number (from 1) restarts the level; 0: none does


@dataclass
class ListCounter:
    """Counts the paragraphs of a list; levels are numbered from 0."""

    levels: dict[int, ListLevel]
    numbers: dict[int, int] = field(default_factory=dict)

    def next_label(self, level: int, start: int | None = None) -> str:
        """Count a paragraph and return its label; `start` is its number if it does not continue the list."""
        item_level = self.levels.get(level, ListLevel())
        self.numbers[level] = start if start is not None else self.numbers.get(level, item_level.start - 1) + 1
        for lower in [lower for lower in self.numbers if lower > level]:
            if level < self.levels.get(lower, ListLevel()).restart_level:
                del self.numbers[lower]

        def number_text(placeholder: re.Match[str]) -> str:
            upper_level = self.levels.get(int(placeholder[1]) - 1, ListLevel())
            system = "decimal" if item_level.is_legal and upper_level.system != "none" else upper_level.system
            return format_count(self.numbers.get(int(placeholder[1]) - 1, upper_level.start), system)

        return PLACEHOLDER_RE.sub(number_text, item_level.template)
