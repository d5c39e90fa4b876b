"""Scripts of characters, and letters that look like those of another script.

    char_script("岩") "Han"    char_script("а") "Cyrillic"    char_script("3") ""
    mixed_script_reason("pаy")    names the Cyrillic "а"

Chinese characters are those of all Unicode blocks reserved for them (Scripts.txt, Script=Han). Planes 2 and 3 are
included completely. They are reserved for ideographs and grow with each Unicode version, and Python knows an older one.

The rules for mixing follow UTS 39 (Unicode Security Mechanisms), "highly restrictive": Latin letters may stand with
Chinese, Japanese and Korean ones; other scripts stand alone. Greek is allowed for science (β-内酰胺), except letters
that look like Latin ones there (confusables.txt of UTS 39).
"""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, for a regex class."""

UNSPACED_SCRIPTS = "\u2e80-\U0003ffff"
"""Scripts without blanks between words, with their punctuation, for a regex class: Han, kana, Hangul ..."""


def _alphabetic_ranges(first: int, categories: tuple[str, ...]) -> str:
    """Return characters of the scripts with blanks between words, from code point `first`, as ranges for a regex."""
    runs = groupby(map(chr, range(first, 0x2E80)), lambda char: unicodedata.category(char).startswith(categories))
    alphabetic_runs = ("".join(chars) for is_alphabetic, chars in runs if is_alphabetic)
    return "".join(f"{run[0]}-{run[-1]}" for run in alphabetic_runs)


ALPHABETIC = f"[{_alphabetic_ranges(0, ('L', 'M', 'N'))}]"
"""Regex class of letters, digits and marks of scripts that separate words with spaces (Latin, Greek, Hindi ...)."""

FOREIGN_LETTER = f"[{_alphabetic_ranges(0x80, ('L', 'M', 'Nd'))}]"
"""Regex class of the letters, marks and decimal digits of these scripts without ASCII."""

LANGUAGE_PATTERNS = {"zh": f"[{HAN}]", "en": f"^[^{HAN}]*$"}
"""Language -> regex of its terms. A term with a Chinese character is Chinese, any other English."""

_HAN = re.compile(f"[{HAN}]")
_UNSPACED = re.compile(f"[{UNSPACED_SCRIPTS}]")
_HAN_NAME_PREFIXES = frozenset({"CJK", "IDEOGRAPHIC"})
_MIXABLE_SCRIPTS = frozenset({"Latin", "Greek", "Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"})
# Greek letters -> the Latin letters that they look like.
_LATIN_BY_GREEK_LOOKALIKE = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορυ", "ABEZHIKMNOPTYXayiknopu", strict=True))


@lru_cache(maxsize=4096)
def char_script(char: str) -> str:
    """Return the script of a letter by its Unicode name (`Latin`, `Han`, ...), or "" if it has no single script."""
    if _HAN.match(char):
        return "Han"
    if not char.isalpha():
        return ""
    first = unicodedata.name(char, "").partition(" ")[0]
    if first in ("MODIFIER", "KATAKANA-HIRAGANA", ""):
        return ""
    return "Han" if first in _HAN_NAME_PREFIXES else first.capitalize()


def is_unspaced(text: str) -> bool:
    """Return True if the first character of `text` belongs to a script without blanks between words."""
    return _UNSPACED.match(text) is not None


def language_of_term(text: str) -> str:
    """Return the language of a term, a key of `LANGUAGE_PATTERNS`."""
    return "zh" if _HAN.search(text) else "en"


def mixed_script_reason(text: str) -> str:
    """Return why the letters of `text` cannot form one word, or "" if they can."""
    scripts = {script: char for char in reversed(text) if (script := char_script(char))}
    if len(scripts) > 1 and (unexpected_scripts := sorted(scripts.keys() - _MIXABLE_SCRIPTS)):
        other_scripts = " and ".join(sorted(scripts.keys() - {unexpected_scripts[0]}))
        unexpected_script = unexpected_scripts[0]
        return f"the {unexpected_script} letter {_describe_char(scripts[unexpected_script])} among {other_scripts} ones"
    return _greek_lookalike_reason(text) if len(scripts) > 1 and "Greek" in scripts else ""


def _greek_lookalike_reason(text: str) -> str:
    for index, char in enumerate(text):
        latin_lookalike = _LATIN_BY_GREEK_LOOKALIKE.get(char)
        if latin_lookalike and _reads_as_latin(latin_lookalike, text[:index][-1:], text[index + 1 :][:1]):
            return f"the Greek letter {_describe_char(char)}, which looks like the Latin {latin_lookalike}"
    return ""


def _reads_as_latin(latin_lookalike: str, char_before: str, char_after: str) -> bool:
    """True if a Greek letter that looks like `latin_lookalike` reads as that letter in a word of other letters.

    Always for capitals and `o`, which science does not use. For other letters only between lower-case Latin letters
    (`pαyment`); at the edge it is a symbol.
    """
    return (
        latin_lookalike.isupper()
        or latin_lookalike == "o"
        or all(char.islower() and char_script(char) == "Latin" for char in (char_before, char_after))
    )


def _describe_char(char: str) -> str:
    return f"{char} (U+{ord(char):04X})"
