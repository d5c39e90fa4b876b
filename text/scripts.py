"""Which script a character is of, and letters of one script that pass for those of another.

    HAN, DENSE     what stands between the brackets of a regex class
    script_of("岩") "Han"    script_of("а") "Cyrillic"    script_of("3") ""
    disguised("pаy")         the "а" is Cyrillic

Chinese characters are those of every block that Unicode keeps for them (Scripts.txt, Script=Han): planes 2 and 3 whole,
as they are set aside for ideographs and grow with every version of Unicode, of which Python knows an older one.

Mixing follows UTS 39 (Unicode Security Mechanisms), "highly restrictive": Latin letters stand beside Chinese, Japanese
and Korean ones, any other script stands alone. Greek is let in as science writes it (β-内酰胺), but for letters that
pass for Latin ones there (confusables.txt of UTS 39).
"""

import re
import unicodedata
from functools import lru_cache

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, for a regex class."""

UNSPACED_SCRIPTS = "\u2e80-\U0003ffff"
"""Scripts that write no blanks between words, with their punctuation, for a regex class: Han, kana, Hangul ..."""

LANGUAGE_PATTERNS = {"zh": f"[{HAN}]", "en": f"^[^{HAN}]*$"}
"""What terms are told apart by, each with the regex of its terms: Chinese if one character is, else as English."""

_HAN = re.compile(f"[{HAN}]")
_HAN_NAME_PREFIXES = frozenset({"CJK", "IDEOGRAPHIC"})
_MIXABLE_SCRIPTS = frozenset({"Latin", "Greek", "Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"})
# Greek letters, and the Latin ones that they are drawn like.
_LATIN_BY_GREEK_LOOKALIKE = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορυ", "ABEZHIKMNOPTYXayiknopu", strict=True))


@lru_cache(maxsize=4096)
def script_of(char: str) -> str:
    """The script of a letter by its name in Unicode (`Latin`, `Han`, ...); "" for what is no letter of one script."""
    if _HAN.match(char):
        return "Han"
    if not char.isalpha():
        return ""
    first = unicodedata.name(char, "").partition(" ")[0]
    if first in ("MODIFIER", "KATAKANA-HIRAGANA", ""):
        return ""
    return "Han" if first in _HAN_NAME_PREFIXES else first.capitalize()


def language_of_term(text: str) -> str:
    """One of LANGUAGES."""
    return "zh" if _HAN.search(text) else "en"


def mixed_script_reason(text: str) -> str:
    """Why the letters of `text` cannot stand in one word, in a few words; "" where they can."""
    scripts = {script: char for char in reversed(text) if (script := script_of(char))}
    if len(scripts) > 1 and (unexpected_scripts := sorted(scripts.keys() - _MIXABLE_SCRIPTS)):
        other_scripts = " and ".join(sorted(scripts.keys() - {unexpected_scripts[0]}))
        return f"the {unexpected_scripts[0]} letter {_describe_char(scripts[unexpected_scripts[0]])} among {other_scripts} ones"
    return _greek_lookalike_reason(text) if len(scripts) > 1 and "Greek" in scripts else ""


def _greek_lookalike_reason(text: str) -> str:
    for index, char in enumerate(text):
        latin_lookalike = _LATIN_BY_GREEK_LOOKALIKE.get(char)
        if latin_lookalike and _reads_as_latin(latin_lookalike, text[:index][-1:], text[index + 1 :][:1]):
            return f"the Greek letter {_describe_char(char)}, which passes for the Latin {latin_lookalike}"
    return ""


def _reads_as_latin(latin_lookalike: str, due_before: str, after: str) -> bool:
    """Whether a Greek letter drawn like the Latin one `latin_lookalike` reads as that in a word of other letters: a capital and an
    `o` always, for no science uses them; any other amid small Latin letters (`pαyment`), at the edge it is a sign."""
    return (
        latin_lookalike.isupper()
        or latin_lookalike == "o"
        or all(char.islower() and script_of(char) == "Latin" for char in (due_before, after))
    )


def _describe_char(char: str) -> str:
    return f"{char} (U+{ord(char):04X})"
