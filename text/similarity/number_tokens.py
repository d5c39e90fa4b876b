"""Classify and compare number and date tokens. Pure.

Numbers are tokens with digits, Chinese numerals, number words, and names of months and days. These parts change when a
report is reused for another event.
"""

import re
from collections.abc import Iterable, Sequence

_CARDINAL_WORDS = (
    "one first i", "two second ii", "three third iii", "four fourth iv", "five fifth v", "six sixth vi",
    "seven seventh vii", "eight eighth viii", "nine ninth ix", "ten tenth x", "eleven eleventh xi",
    "twelve twelfth xii",
)  # fmt: skip
_NAMED_NUMBERS = (
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
    "september sep sept", "october oct", "november nov", "december dec", "monday mon", "tuesday tue tues",
    "wednesday wed", "thursday thu thurs", "friday fri", "saturday sat", "sunday sun", "half", "quarter", "dozen",
    "hundred", "thousand", "million mln", "billion bln",
)  # fmt: skip
_VALUE_BY_WORD = {
    **{char: str(value) for value, char in enumerate("零一二三四五六七八九")},
    **{word: str(value) for value, words in enumerate(_CARDINAL_WORDS, 1) for word in words.split()},
    **{word: words.split()[0] for words in _NAMED_NUMBERS for word in words.split()},
    **{char: char for char in "十百千万亿"},
    "〇": "0", "两": "2",
}  # fmt: skip
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_DATE_TOKENS = frozenset("年月日号时点分秒") | {"am", "pm", "st", "nd", "rd", "th", "utc", "gmt"}


def has_digit(token: str) -> bool:
    """True if the token contains a digit, as 2016 and mp3 do."""
    return any(map(str.isdigit, token))


def is_number(token: str) -> bool:
    """True if the folded token is a number or part of a date."""
    return token in _VALUE_BY_WORD or has_digit(token)


def is_date_token(token: str) -> bool:
    """True if the token can be part of a date or time: a number, or a sign such as 年 and am."""
    return token in _DATE_TOKENS or is_number(token)


def are_equal_numbers(left: Sequence[str], right: Sequence[str]) -> bool:
    """True if two runs of number tokens have equal values.

    Equal: 2,000 and 2000, 05 and 5, 一九九八 and 1998, 9 May and May 9, Jan and January, third and 3rd.
    """
    left_values, right_values = list(map(_normalized_number, left)), list(map(_normalized_number, right))
    is_date = any(value.isalpha() or has_year([value]) for value in left_values)
    return "".join(left_values) == "".join(right_values) or (is_date and sorted(left_values) == sorted(right_values))


def has_year(tokens: Iterable[str]) -> bool:
    """True if one of the tokens is a year from 1900 to 2099."""
    return any(len(token) == 4 and token.isdigit() and "1900" <= token < "2100" for token in tokens)


def _normalized_number(number: str) -> str:
    """Normalize a number for comparison."""
    if number in _VALUE_BY_WORD:
        return _VALUE_BY_WORD[number]
    ordinal = _ORDINAL.fullmatch(number)
    digits = ordinal[1] if ordinal else number
    return digits.lstrip("0") or "0" if digits.isdigit() else number
