"""Chinese by its sound, as it is typed: `页岩气` -> `yeyanqi`, and `yyq` by the first letters. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice

from text.folding import fold_term
from text.scripts import HAN

_TYPED_SIGNS = re.compile(r"[\s'’·-]+")  # between syllables (xi'an) and in terms (k-means) some type them, some do not
_HAN = re.compile(f"[{HAN}]")
_LONGEST = 6  # letters of a syllable: zhuang
MAX_READINGS = 8
MAX_SPELT = 60  # letters that are read as pinyin
# Sounds that many speakers do not tell apart; each line's first is written as its second.
_BLURRED = ((re.compile("^([zcs])h"), r"\1"), (re.compile("ng$"), "n"), (re.compile("^l(?=.)"), "n"))


def syllables(text: str) -> tuple[str, ...]:
    """One syllable a Chinese character, in letters without tones; any other character, folded, is its own."""
    from pypinyin import lazy_pinyin  # loading its dictionary takes 0.3 s

    bare = _TYPED_SIGNS.sub("", fold_term(text))
    return tuple(lazy_pinyin(bare, errors=list))  # type: ignore[arg-type]  # it takes several for one as well


def sound(of: Sequence[str]) -> str:
    """Syllables as they are typed."""
    return "".join(of)


def initials(of: Sequence[str]) -> str:
    """The first letter of each syllable."""
    return "".join(syllable[0] for syllable in of)


def blurred_sound(of: Sequence[str]) -> str:
    """Syllables as they are typed, with what is often mixed up (zh z, ng n, l n) made the same."""
    return "".join(blurred(syllable) for syllable in of)


def blurred(syllable: str) -> str:
    """A syllable with what is often mixed up made the same."""
    for heard, written in _BLURRED:
        syllable = heard.sub(written, syllable)
    return syllable


def has_han(text: str) -> bool:
    """True if there is a Chinese character in `text`."""
    return _HAN.search(text) is not None


def typed_sound(text: str) -> str:
    """What was typed, by sound: `页yan` and `ye'yan` -> `yeyan`."""
    return sound(syllables(text))


def sounded(words: Iterable[str]) -> list[tuple[str, str]]:
    """What stands in a text and how it sounds, blurred: each Chinese character, and each other word as one.

    sounded(["页岩", "PDC", " ", "层"]) -> [("页", "ye"), ("岩", "yan"), ("PDC", "pdc"), ("层", "cen")]
    """
    return [unit for word in words for unit in _sounded_word(word)]


@lru_cache(1 << 15)  # the same words stand in all titles
def _sounded_word(word: str) -> tuple[tuple[str, str], ...]:
    if not any(map(str.isalnum, word)):
        return ()
    one = syllables(word)
    if has_han(word) and len(one) == len(word):
        return tuple((char, blurred(syllable)) for char, syllable in zip(word, one, strict=True))
    return ((word, "".join(one)),)


def spelt_out(letters: str) -> tuple[tuple[str, ...], ...]:
    """The ways to read small letters as pinyin, at most `MAX_READINGS`: `xian`, `xi an`; () if they are none."""
    if len(letters) > MAX_SPELT:
        return ()
    known = _all_syllables()
    goes_on = {len(letters)}  # places from which the rest can be read: no reading ends in the middle
    steps: dict[int, list[int]] = {}
    for at in range(len(letters) - 1, -1, -1):
        ends = range(min(at + _LONGEST, len(letters)), at, -1)
        steps[at] = [end for end in ends if end in goes_on and letters[at:end] in known]
        goes_on |= {at} if steps[at] else set()
    return tuple(islice(_readings(letters, 0, steps), MAX_READINGS)) if letters else ()


def _readings(letters: str, at: int, steps: Mapping[int, Sequence[int]]) -> Iterator[tuple[str, ...]]:
    if at == len(letters):
        yield ()
        return
    for end in steps[at]:
        yield from ((letters[at:end], *rest) for rest in _readings(letters, end, steps))


@cache
def _all_syllables() -> frozenset[str]:
    """Every syllable that a character is read with."""
    from pypinyin.constants import PINYIN_DICT
    from pypinyin.contrib.tone_convert import to_normal

    spelt = {to_normal(reading) for readings in PINYIN_DICT.values() for reading in readings.split(",")[:1]}
    return frozenset(one for one in spelt if re.search("[aeiouv]", one))
