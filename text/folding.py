"""Make letter width, case, traditional characters and white space comparable, where possible without moving offsets.

Traditional characters are simplified one by one with OpenCC's table, whatever their word. 乾 becomes 干 in 乾燥 and
should stay in 乾隆, but this does not matter, because both sides of a comparison are folded. Solr reads the same table
from `solr_conf/lang`. After an update of the package, write it again (benchmarks/training/solr_characters.py).

`normalize_text` treats queries, and texts that are segmented in Python, as Solr treats all text before it creates
tokens (`tokens` in `solr_conf/schema.xml`). A test compares the two.
"""

import re
import unicodedata
from collections.abc import Mapping
from importlib.resources import files

from text.scripts import ALPHABETIC, UNSPACED_SCRIPTS

# Full-width digits and letters: `ＰＤＣ` is typed for `PDC`. Full-width punctuation is Chinese and stays.
_FULL_WIDTH = {
    chr(code): chr(code - 0xFEE0) for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}


def _load_simplified() -> dict[str, str]:
    """Map each traditional character of the Basic Multilingual Plane to its most likely simplified form."""
    table = (files("opencc") / "dictionary" / "TSCharacters.txt").read_text("utf-8")
    pairs = dict(line.split()[:2] for line in table.splitlines() if line)
    pairs_folded_twice = {old: pairs.get(new, new) for old, new in pairs.items()}  # makes folding idempotent
    return {old: new for old, new in pairs_folded_twice.items() if old != new and max(old + new) <= "\uffff"}


SIMPLIFIED_BY_TRADITIONAL: Mapping[str, str] = _load_simplified()
_FOLD_TABLE = {**_FULL_WIDTH, **SIMPLIFIED_BY_TRADITIONAL}
_FOLDABLE_OR_SURROGATE = re.compile(f"[\ud800-\udfff{''.join(_FOLD_TABLE)}]")
# Inside a term, all dash-like and joining signs of one meaning, brackets and blanks of one kind are equal.
_TERM_FOLD_TABLE = _FOLD_TABLE | dict(
    zip("－‐‑‒–−／＋．＃＆％＿＇’（）［］：\t\u00a0\u3000", "------/+.#&%_''()[]:   ", strict=True)
)
_TERM_FOLDABLE = re.compile(f"[{''.join(_TERM_FOLD_TABLE)}]")

INSIDE_WORD_RE = re.compile(f"(?<={ALPHABETIC})(?={ALPHABETIC})")
"""Matches the empty string between two letters of a word in these scripts."""

# Invisible characters inside words: soft hyphen, zero-width characters, direction marks, variation selectors.
_INVISIBLE = (
    "\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
INVISIBLE_RE = re.compile(f"[{_INVISIBLE}]+")
# Apostrophes, trade marks that NFKC would join to the word, and Chinese punctuation that it would turn into signs that
# join two numbers.
PLAIN_SIGNS: Mapping[str, str] = {
    **dict.fromkeys("\xb4\u2018\u2019\u02bb\u02bc\u2032\uff07\ua78c", "'"),
    **dict.fromkeys("™℠", " "),
    **dict.fromkeys("，；", "、"),
}
_PLAIN_SIGN_RE = re.compile(f"[{''.join(PLAIN_SIGNS)}]")

_HAN_ONLY = re.compile("[\u4e00-\u9fff]+")  # the common case
_BLANK_RUN = re.compile(r"\s+")
_REDUNDANT_BLANK = re.compile(f"(?<=[{UNSPACED_SCRIPTS} ]) | (?= *[{UNSPACED_SCRIPTS}])")
_BLANK_BESIDE_HAN = re.compile(f"(?<=[{UNSPACED_SCRIPTS}]) | (?=[{UNSPACED_SCRIPTS}])")


def normalize_text(text: str) -> str:
    """Return `text` without differences that nobody types: NFKC, no invisible characters, one apostrophe.

    Keeps case, accents and traditional characters.
    """
    if text.isascii():
        return text
    plain_text = _PLAIN_SIGN_RE.sub(lambda match: PLAIN_SIGNS[match[0]], INVISIBLE_RE.sub("", text))
    return unicodedata.normalize("NFKC", plain_text)


def fold_width(text: str) -> str:
    """Convert full-width letters and digits to half width and simplify traditional characters. Keeps the length.

    Lone surrogates become U+FFFD, because Rust strings cannot contain them.
    """
    return _FOLDABLE_OR_SURROGATE.sub(lambda match: _FOLD_TABLE.get(match[0], "\ufffd"), text)


def fold_term(text: str) -> str:
    """Fold a text for term comparison: lower case, half width, simplified, one dash and one blank. Keeps the length."""
    return _lowercase_same_length(_TERM_FOLDABLE.sub(lambda match: _TERM_FOLD_TABLE[match[0]], text))


def word_key(text: str) -> str:
    """Return the form in which two spellings of a term are equal: `ＰＤＣ 鑽頭`, `pdc钻头` -> `pdc钻头`.

    Case, width, traditional characters and the kind of dash are ignored. White space becomes one space, or none next to
    a Chinese character.
    """
    if _HAN_ONLY.fullmatch(text):
        return fold_width(text)
    return _BLANK_BESIDE_HAN.sub("", _BLANK_RUN.sub(" ", fold_term(text).strip()))


def query_key(text: str) -> str:
    """Return the form in which two spellings of a query are equal: `word_key` after NFKC."""
    return word_key(normalize_text(text))


def fold_to_key(text: str) -> tuple[str, list[int]]:
    """Fold a line of text like `word_key`, so that the keys of the terms in it are parts of the result.

    Returns:
        The folded text, and the offsets in `text` of the blanks that it does not have, ascending.
    """
    folded_text = fold_term(text)
    left_out = [match.start() for match in _REDUNDANT_BLANK.finditer(folded_text)]
    return (_REDUNDANT_BLANK.sub("", folded_text) if left_out else folded_text), left_out


def _lowercase_same_length(text: str) -> str:
    lowercase_text = text.lower()
    if len(lowercase_text) != len(text):  # only `İ` grows in lower case
        lowercase_text = "".join(char if len(char.lower()) != 1 else char.lower() for char in text)
    return lowercase_text.replace("ς", "σ")  # the lower case of `Σ` depends on its neighbours
