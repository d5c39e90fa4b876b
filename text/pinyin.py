"""Pinyin of Chinese text: `页岩气` -> `yeyanqi`, initials `yyq`. Pure."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import distribution
from itertools import islice
from pathlib import Path

from text.folding import word_key
from text.scripts import HAN

# Optional between syllables (xi'an) and inside terms (k-means).
_SYLLABLE_SEPARATORS = re.compile(r"[\s'’·-]+")
_HAN = re.compile(f"[{HAN}]")
_MAX_PHRASE_CHARS = 10
_MAX_SYLLABLE_LETTERS = 6  # zhuang
MAX_READINGS = 8
MAX_PINYIN_LETTERS = 60  # longer input is not read as pinyin
# Sounds that many speakers do not distinguish: each pattern is replaced by its second member.
_FUZZY_RULES = ((re.compile("^([zcs])h"), r"\1"), (re.compile("ng$"), "n"), (re.compile("^l(?=.)"), "n"))


def pinyin_syllables(text: str) -> tuple[str, ...]:
    """Return one syllable without tone per Chinese character. Other characters are folded and stay single.

    The result equals that of `pypinyin.lazy_pinyin`, which takes five times as long: it converts every syllable again.
    """
    syllables_by_text, folded_text = _syllables_by_text(), _SYLLABLE_SEPARATORS.sub("", word_key(text))
    syllables: list[str] = []
    start = 0
    while start < len(folded_text):
        ends = range(min(start + _MAX_PHRASE_CHARS, len(folded_text)), start, -1)
        end = next((end for end in ends if folded_text[start:end] in syllables_by_text), start + 1)
        syllables += syllables_by_text.get(folded_text[start:end], folded_text[start]).split("\t")
        start = end
    return tuple(syllables)


@cache
def _syllables_by_text() -> Mapping[str, str]:
    """Return the usual syllables, joined by tabs, of each phrase and each Chinese character."""
    text = _read_readings()
    syllables = text.translate({ord(char): _drop_tone(char) for char in set(text) if char < "\u3000"})
    return dict(line.split("\t", 1) for line in syllables.split("\n"))


def _read_readings() -> str:
    """Return lines of phrases and characters with their syllables, from the files of pypinyin.

    The package itself keeps 50 MB. A dictionary built beside the parsed files would keep several times its memory.
    """
    files = (distribution("pypinyin").locate_file(f"pypinyin/{name}_dict.json") for name in ("phrases", "pinyin"))
    phrases, chars = (json.loads(Path(str(file)).read_text("utf-8")) for file in files)
    readings = {phrase: [syllable for syllable, *_ in syllables] for phrase, syllables in phrases.items()}
    readings |= {chr(int(code)): [syllables.partition(",")[0]] for code, syllables in chars.items()}
    return "\n".join("\t".join((text, *syllables)) for text, syllables in readings.items())


def _drop_tone(letter: str) -> str:
    """Return a letter without its tone, `v` for `ü`; "" for the mark of a tone."""
    without_tone = re.sub("[\u0300\u0301\u0304\u030c]", "", unicodedata.normalize("NFD", letter))
    return unicodedata.normalize("NFC", without_tone).replace("ü", "v")


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
    first_readings = {syllables for text, syllables in _syllables_by_text().items() if len(text) == 1}
    return frozenset(syllable for syllable in first_readings if re.search("[aeiouv]", syllable))
