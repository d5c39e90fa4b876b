"""Pinyin of Chinese text: `页岩气` -> `yeyanqi`, initials `yyq`. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice

from text.folding import word_key
from text.scripts import HAN

# Optional between syllables (xi'an) and inside terms (k-means).
_SYLLABLE_SEPARATORS = re.compile(r"[\s'’·-]+")
_HAN = re.compile(f"[{HAN}]")
_MAX_SYLLABLE_LETTERS = 6  # zhuang
MAX_READINGS = 8
MAX_PINYIN_LETTERS = 60  # longer input is not read as pinyin
# Sounds that many speakers do not distinguish: each pattern is replaced by its second member.
_FUZZY_RULES = ((re.compile("^([zcs])h"), r"\1"), (re.compile("ng$"), "n"), (re.compile("^l(?=.)"), "n"))


def pinyin_syllables(text: str) -> tuple[str, ...]:
    """Return one syllable without tone per Chinese character. Other characters are folded and stay single.

    The result equals that of `pypinyin.lazy_pinyin`, which takes five times as long: it converts every syllable again.
    """
    from pypinyin.constants import PHRASES_DICT  # loading takes 0.3 s
    from pypinyin.seg.mmseg import p_set as phrase_beginnings

    folded_text = _SYLLABLE_SEPARATORS.sub("", word_key(text))
    syllables: list[str] = []
    start = 0
    while start < len(folded_text):
        end = phrase_end = start + 1
        while end < len(folded_text) and folded_text[start : end + 1] in phrase_beginnings:
            end += 1
            if folded_text[start:end] in PHRASES_DICT:
                phrase_end = end
        if phrase_end > start + 1:
            syllables += [_drop_tone(readings[0]) for readings in PHRASES_DICT[folded_text[start:phrase_end]]]
        else:
            syllables.append(_char_syllable(folded_text[start]))
        start = phrase_end
    return tuple(syllables)


@lru_cache(1 << 15)
def _char_syllable(char: str) -> str:
    """Return the usual syllable of a Chinese character; any other character as it is."""
    from pypinyin.constants import PINYIN_DICT

    reading = PINYIN_DICT.get(ord(char))
    return _drop_tone(reading.split(",", 1)[0]) if reading else char


@cache
def _drop_tone(reading: str) -> str:
    from pypinyin.contrib.tone_convert import to_normal

    return str(to_normal(reading))


def join_syllables(syllables: Sequence[str]) -> str:
    """Join syllables as they are typed."""
    return "".join(syllables)


def initials(syllables: Sequence[str]) -> str:
    """Join the first letters of the syllables."""
    return "".join(syllable[0] for syllable in syllables)


def fuzzy_pinyin(syllables: Sequence[str]) -> str:
    """Join syllables with easily confused sounds (zh z, ng n, l n) made equal."""
    return "".join(map(_fuzzy_syllable, syllables))


@lru_cache(1 << 12)
def _fuzzy_syllable(syllable: str) -> str:
    for pattern, replacement in _FUZZY_RULES:
        syllable = pattern.sub(replacement, syllable)
    return syllable


def has_han(text: str) -> bool:
    """True if `text` contains a Chinese character."""
    return _HAN.search(text) is not None


def to_pinyin(text: str) -> str:
    """Convert typed text to pinyin: `页yan` and `ye'yan` -> `yeyan`."""
    return join_syllables(pinyin_syllables(text))


def split_pinyin(letters: str) -> tuple[tuple[str, ...], ...]:
    """Return the possible readings of lower-case letters as pinyin, at most `MAX_READINGS`: `xian`, `xi an`.

    Returns () if there is no reading.
    """
    if len(letters) > MAX_PINYIN_LETTERS:
        return ()
    syllables = _all_syllables()
    readable_from = {len(letters)}  # positions from which the rest can be read, so that no reading ends early
    steps: dict[int, list[int]] = {}
    for position in range(len(letters) - 1, -1, -1):
        ends = range(min(position + _MAX_SYLLABLE_LETTERS, len(letters)), position, -1)
        steps[position] = [end for end in ends if end in readable_from and letters[position:end] in syllables]
        readable_from |= {position} if steps[position] else set()
    return tuple(islice(_iter_splits(letters, 0, steps), MAX_READINGS)) if letters else ()


def _iter_splits(letters: str, position: int, steps: Mapping[int, Sequence[int]]) -> Iterator[tuple[str, ...]]:
    if position == len(letters):
        yield ()
        return
    for end in steps[position]:
        yield from ((letters[position:end], *remainder) for remainder in _iter_splits(letters, end, steps))


@cache
def _all_syllables() -> frozenset[str]:
    """Return every syllable that is the first reading of a character."""
    from pypinyin.constants import PINYIN_DICT
    from pypinyin.contrib.tone_convert import to_normal

    first_readings = {readings.partition(",")[0] for readings in PINYIN_DICT.values()}
    return frozenset(syllable for syllable in map(to_normal, first_readings) if re.search("[aeiouv]", syllable))
