"""Words by the Unicode word boundaries (UAX #29), and the spellings that a search has to treat as equal."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import opencc
import regex

APOSTROPHES = "'’ʼ‘`´＇ʻ"
HYPHENS = "-‐‑–−"
NATIVE_ZERO = {"ar": "٠", "fa": "۰", "hi": "०", "bn": "০", "ta": "௦", "th": "๐", "km": "០", "lo": "໐", "my": "၀"}
_WORD_RE = regex.compile(r"(?wV1)\b.+?\b", regex.DOTALL)
_IS_WORD_RE = regex.compile(r"(?V1)[[\p{L}\p{Nd}]--[\p{lb=SA}\p{Han}\p{Hiragana}]]")
_STROKE_LETTERS = str.maketrans(
    dict(zip("đðħıłøŧĐĦŁØ", "ddhilotDHLO", strict=True)) | {"æ": "ae", "œ": "oe", "þ": "th", "ß": "ss", "Æ": "AE"}
)
_ACCENTS_RE = re.compile("[\u0300-\u036f]")
_UNIT_RE = re.compile(r"(?<=\d)( ?)(?=[^\d\s.,:/٫-])")
_HALF_WIDTH_KANA = {
    unicodedata.normalize("NFKC", narrow): narrow
    for char in map(chr, range(0xFF66, 0xFF9E))
    for narrow in (char, char + "\uff9e", char + "\uff9f")
} | {"ー": "\uff70"}
_TO_SIMPLIFIED, _TO_TRADITIONAL = opencc.OpenCC("t2s"), opencc.OpenCC("s2t")


class Word(NamedTuple):
    """A word of a text: its characters and its offsets."""

    text: str
    start: int
    end: int


def cut_words(text: str, vocabulary: Collection[str] = ()) -> list[Word]:
    """Return the words of a text that have a letter or a digit, without those that continue with a superscript.

    Inside scripts without spaces Unicode has boundaries between characters only: there the longest words of
    `vocabulary` are taken, and the other text is left out.
    """
    words, offset = [], 0
    longest_first = "|".join(map(re.escape, sorted(vocabulary, key=len, reverse=True)))
    known = [Word(match[0], *match.span()) for match in re.finditer(longest_first, text)] if vocabulary else []
    for entry in [*known, Word("", len(text), len(text))]:
        words += [
            Word(m[0], m.start() + offset, m.end() + offset) for m in _WORD_RE.finditer(text[offset : entry.start])
        ]
        words.append(entry)
        offset = entry.end
    return [
        word
        for word in words
        if word.text in vocabulary
        or (_IS_WORD_RE.search(word.text) and unicodedata.category(text[word.end : word.end + 1] or " ") != "No")
    ]


def search_key(text: str) -> str:
    """Return what all spellings of a string have in common, to count the pages that contain any of them."""
    folded = without_accents(unicodedata.normalize("NFKC", text).casefold(), "")
    folded = "".join("'" if char in APOSTROPHES else "-" if char in HYPHENS + "־" else char for char in folded)
    visible = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return str(_TO_SIMPLIFIED.convert(visible))


def without_accents(text: str, language: str) -> str:
    """Return the Latin and Greek letters without accents. Only ё is a Cyrillic letter that is written without."""
    letters = "".join(
        char if "Ѐ" <= char <= "ӿ" and char not in "ёЁ" else unicodedata.normalize("NFD", char) for char in text
    )
    return unicodedata.normalize("NFC", _ACCENTS_RE.sub("", letters).translate(_STROKE_LETTERS))


def to_nfd(text: str, language: str) -> str:
    """Return the canonical decomposition."""
    return unicodedata.normalize("NFD", text)


def to_upper(text: str, language: str) -> str:
    """Return upper case as the language writes it; Armenian և has no settled form."""
    if language == "tr":
        text = text.replace("i", "İ")
    return text if "և" in text else (without_accents(text, "") if language == "el" else text).upper()


def to_lower(text: str, language: str) -> str:
    """Return lower case as the language writes it."""
    return (text.replace("I", "ı") if language == "tr" else text).replace("İ", "i").lower()


def to_full_width(text: str, language: str) -> str:
    """Return ASCII text in full-width characters, other text unchanged."""
    return "".join(chr(ord(char) + 0xFEE0) for char in text) if re.fullmatch("[!-~]+", text) else text


def to_other_kana_width(text: str, language: str) -> str:
    """Return katakana of the other width, other text unchanged."""
    if re.fullmatch("[\uff66-\uff9f]+", text):
        return unicodedata.normalize("NFKC", text)
    return "".join(_HALF_WIDTH_KANA[char] for char in text) if all(char in _HALF_WIDTH_KANA for char in text) else text


def to_other_script(text: str, language: str) -> str:
    """Return simplified Chinese in traditional characters, and the reverse."""
    if not language.startswith("zh"):
        return text
    simplified = str(_TO_SIMPLIFIED.convert(text))
    return simplified if simplified != text else str(_TO_TRADITIONAL.convert(text))


def to_other_unit_spacing(text: str, language: str) -> str:
    """Return a number and its unit without the blank between them, or with one."""
    return _UNIT_RE.sub(lambda match: "" if match[1] else " ", text, count=1)


def to_ascii_digits(text: str, language: str) -> str:
    """Return the digits of any script as 0 to 9."""
    return "".join(str(unicodedata.digit(char, char)) for char in text).replace("٫", ".")


def to_native_digits(text: str, language: str) -> str:
    """Return the digits 0 to 9 in the script of the language."""
    zero = ord(NATIVE_ZERO.get(language, "0"))
    return re.sub("[0-9]", lambda digit: chr(zero + int(digit[0])), text)


def _other_marks(marks: str) -> Callable[[str, str], Iterator[str]]:
    def spell(text: str, language: str) -> Iterator[str]:
        if any(char in marks for char in text):
            for mark in marks:
                yield "".join(mark if char in marks else char for char in text)

    return spell


def _one(spell: Callable[[str, str], str]) -> Callable[[str, str], Iterator[str]]:
    return lambda text, language: iter((spell(text, language),))


FORMS: Mapping[str, Callable[[str, str], Iterator[str]]] = {
    "no_accents": _one(without_accents),
    "nfd": _one(to_nfd),
    "upper": _one(to_upper),
    "lower": _one(to_lower),
    "full_width": _one(to_full_width),
    "kana_width": _one(to_other_kana_width),
    "other_script": _one(to_other_script),
    "unit_spacing": _one(to_other_unit_spacing),
    "ascii_digits": _one(to_ascii_digits),
    "apostrophes": _other_marks(APOSTROPHES),
    "hyphens": _other_marks(HYPHENS),
}
"""Other spellings of a string in a language, by name. A spelling can equal the string."""
