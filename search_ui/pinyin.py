"""Chinese by its sound, as it is typed: `页岩气` -> `yeyanqi`, and `yyq` by the first letters. Pure."""

import re
from collections.abc import Sequence

from pypinyin import lazy_pinyin

from semantics.folding import fold_term
from semantics.scripts import HAN

_TYPED_SIGNS = re.compile(r"[\s'’·-]+")  # between syllables (xi'an) and in terms (k-means) some type them, some do not
_HAN = re.compile(f"[{HAN}]")
# Sounds that many speakers do not tell apart; each line's first is written as its second.
_BLURRED = ((re.compile("^([zcs])h"), r"\1"), (re.compile("ng$"), "n"), (re.compile("^l(?=.)"), "n"))


def syllables(text: str) -> tuple[str, ...]:
    """One syllable a Chinese character, in letters without tones; any other character, folded, is its own."""
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
    return "".join(_blurred(syllable) for syllable in of)


def _blurred(syllable: str) -> str:
    for heard, written in _BLURRED:
        syllable = heard.sub(written, syllable)
    return syllable


def has_han(text: str) -> bool:
    """True if there is a Chinese character in `text`."""
    return _HAN.search(text) is not None


def typed_sound(text: str) -> str:
    """What was typed, by sound: `页yan` and `ye'yan` -> `yeyan`."""
    return sound(syllables(text))
