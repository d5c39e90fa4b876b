"""Letter width and case, traditional characters and white space made comparable, if possible without moving any.

Traditional characters become simplified one by one (the table is OpenCC's), whatever word they stand in: 乾 is 干 in
乾燥 and stays 乾 in 乾隆, but as both sides of a comparison are folded, that costs nothing. Solr reads the same table
from `solr_conf/lang`; after an update of the package write it anew with `python -m text.folding`.
"""

import re
from collections.abc import Mapping
from importlib.resources import files

from text.scripts import UNSPACED_SCRIPTS

# Full-width digits and letters: `ＰＤＣ` is typed for `PDC`. Full-width punctuation stays, it is Chinese punctuation.
_FULL_WIDTH = {
    chr(code): chr(code - 0xFEE0) for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}


def _load_simplified() -> dict[str, str]:
    """Each traditional character of the Basic Multilingual Plane -> the simplified one that is likeliest meant."""
    table = (files("opencc") / "dictionary" / "TSCharacters.txt").read_text("utf-8")
    pairs = dict(line.split()[:2] for line in table.splitlines() if line)
    pairs_folded_twice = {old: pairs.get(new, new) for old, new in pairs.items()}  # folded twice is folded once
    return {old: new for old, new in pairs_folded_twice.items() if old != new and max(old + new) <= "\uffff"}


SIMPLIFIED_BY_TRADITIONAL: Mapping[str, str] = _load_simplified()
_FOLD_TABLE = {**_FULL_WIDTH, **SIMPLIFIED_BY_TRADITIONAL}
_FOLDABLE_OR_SURROGATE = re.compile(f"[\ud800-\udfff{''.join(_FOLD_TABLE)}]")
# Inside a term the signs that may join its parts count by their meaning, and any blank is a blank.
_TERM_FOLD_TABLE = _FOLD_TABLE | dict(zip("－‐‑‒–−／＋．＃＆％＿＇’\t\u00a0\u3000", "------/+.#&%_''   ", strict=True))
_TERM_FOLDABLE = re.compile(f"[{''.join(_TERM_FOLD_TABLE)}]")

ALPHABETIC = rf"[^\W_{UNSPACED_SCRIPTS}]"
"""Regex class of letters and digits of scripts that write words with spaces between them (Latin, Greek, ...)."""

_HAN_ONLY = re.compile("[\u4e00-\u9fff]+")  # the common case
_BLANK_RUN = re.compile(r"\s+")
_BLANK_BESIDE_HAN = re.compile(f"(?<=[{UNSPACED_SCRIPTS}]) | (?=[{UNSPACED_SCRIPTS}])")


def fold_width(text: str) -> str:
    """`text` with full-width letters and digits half-width, traditional characters simplified; same length.

    Lone surrogates become U+FFFD: they are no characters, and Rust strings refuse them.
    """
    return _FOLDABLE_OR_SURROGATE.sub(lambda match: _FOLD_TABLE.get(match[0], "\ufffd"), text)


def fold_term(text: str) -> str:
    """`text` as terms are compared: lower case, half width, simplified, one kind of dash and blank; same length."""
    return _lowercase_same_length(_TERM_FOLDABLE.sub(lambda match: _TERM_FOLD_TABLE[match[0]], text))


def word_key(text: str) -> str:
    """The form in which two spellings of one term are equal: `ＰＤＣ 鑽頭`, `pdc钻头` -> `pdc钻头`.

    Case, width, traditional characters and the kind of dash do not count; a run of white space is one space, and none
    beside a Chinese character.
    """
    if _HAN_ONLY.fullmatch(text):
        return fold_width(text)
    return _BLANK_BESIDE_HAN.sub("", _BLANK_RUN.sub(" ", fold_term(text).strip()))


def _lowercase_same_length(text: str) -> str:
    lowercase_text = text.lower()
    if len(lowercase_text) != len(
        text
    ):  # only `İ` grows in lower case; every other character is lowered where it stands
        lowercase_text = "".join(char if len(char.lower()) != 1 else char.lower() for char in text)
    return lowercase_text.replace("ς", "σ")  # which of the two `Σ` becomes hangs on its neighbours


def render_solr_mapping() -> str:
    """The table of `SIMPLIFIED_BY_TRADITIONAL` as Solr's MappingCharFilter reads it."""
    lines = "".join(f'"{old}" => "{new}"\n' for old, new in sorted(SIMPLIFIED_BY_TRADITIONAL.items()))
    return f"# Traditional to simplified characters, from OpenCC (Apache License 2.0) by text/folding.py.\n{lines}"


if __name__ == "__main__":
    print(render_solr_mapping(), end="")
