"""How unlikely typing errors are: negative decimal logarithms, infinite if one word cannot be typed for the other.

They are chosen on half of the errors of `benchmarks/search_typos.py`.
"""

import unicodedata
from math import inf

from rapidfuzz.distance import OSA, Postfix, Prefix

from text.pinyin import has_han

SLIP = 0.7  # two characters swapped, one doubled
LIKELY = 1.0  # a neighbouring key, a letter or an accent omitted; the same sound
POSSIBLE = 1.5  # a similar sound
UNLIKELY = 2.5  # another character
TWO_EDITS = 4.5
FIRST_CHARACTER = 1.0  # added for an error in the first letter
SHORT_TEXT = 1.0  # added for two Chinese characters in a longer text
MAX_EDITS = 2
MIN_LETTERS, MIN_HAN_CHARS = 4, 3  # nearly all shorter words are one edit apart
MIN_LETTERS_FOR_TWO_EDITS = 8
_KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_KEY_POSITIONS = {key: (row, column + row / 2) for row, keys in enumerate(_KEY_ROWS) for column, key in enumerate(keys)}


def edit_penalty(typed: str, word: str) -> float:
    """Return the penalty of typing `typed` instead of `word`. Both are lower case."""
    start = Prefix.similarity(typed, word)
    end_length = Postfix.similarity(typed[start:], word[start:])
    old, new = typed[start : len(typed) - end_length], word[start : len(word) - end_length]
    edits, length = OSA.distance(typed, word), min(len(typed), len(word))
    if length < (MIN_HAN_CHARS if has_han(word) else MIN_LETTERS):
        return inf
    if edits > 1:
        return TWO_EDITS if edits == MAX_EDITS and length >= MIN_LETTERS_FOR_TWO_EDITS and not has_han(word) else inf
    beside = typed[start - 1 : start] + typed[len(typed) - end_length :][:1]
    if len(old) == 2 or (not (old and new) and old + new in beside):
        return SLIP
    is_likely = not old or _are_neighbours(old, new) or _plain(old) == _plain(new)
    return (LIKELY if is_likely else UNLIKELY) + (0 if start or has_han(word) else FIRST_CHARACTER)


def _are_neighbours(first: str, second: str) -> bool:
    """Return True if two keys touch each other."""
    positions = [_KEY_POSITIONS.get(_plain(key)) for key in (first, second)]
    return None not in positions and all(abs(a - b) <= 1 for a, b in zip(*positions, strict=True))


def _plain(letter: str) -> str:
    """Return a letter without its accent."""
    return unicodedata.normalize("NFD", letter)[:1]
