"""Letter width, letter case and white space made comparable, where possible without moving any character."""

import re

# Full-width digits and letters: `ＰＤＣ` is typed for `PDC`. Full-width punctuation stays, it is Chinese punctuation.
_WIDE = {
    chr(code): chr(code - 0xFEE0) for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}
_WIDE_OR_LONE = re.compile("[\ud800-\udfff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
# Inside a term the signs that may join its parts count by their meaning, and any blank is a blank.
_SIGNS = _WIDE | dict(zip("－‐‑‒–−／＋．＃＆％＿＇’\t\u00a0\u3000", "------/+.#&%_''   ", strict=True))
_SIGN = re.compile(f"[{''.join(_SIGNS)}]")

ALPHABETIC = r"[^\W_\u2e80-\U0003ffff]"
"""Regex class of letters and digits of scripts that write words with spaces between them (Latin, Greek, ...)."""

_CHINESE = re.compile("[\u4e00-\u9fff]+")  # nothing to fold: the common case
_BLANK_RUN = re.compile(r"\s+")
_BLANK_BESIDE_HAN = re.compile(r"(?<=[\u2e80-\U0003ffff]) | (?=[\u2e80-\U0003ffff])")


def fold_width(text: str) -> str:
    """`text` with full-width letters and digits made half-width and lone surrogates U+FFFD; same length."""
    # A lone surrogate is no character: Rust strings refuse it, so the segmenter is shown U+FFFD in its place.
    return _WIDE_OR_LONE.sub(lambda match: _WIDE.get(match[0], "\ufffd"), text)


def fold_term(text: str) -> str:
    """`text` as terms are compared: lower case, half width, one kind of dash and blank; same length."""
    return _lower(_SIGN.sub(lambda match: _SIGNS[match[0]], text))


def word_key(text: str) -> str:
    """The form in which two spellings of one term are equal: `ＰＤＣ 钻头`, `pdc钻头` -> `pdc钻头`.

    Case, width and the kind of dash do not count; a run of white space is one space, and none beside a Chinese
    character.
    """
    if _CHINESE.fullmatch(text):
        return text
    return _BLANK_BESIDE_HAN.sub("", _BLANK_RUN.sub(" ", fold_term(text).strip()))


def _lower(text: str) -> str:
    low = text.lower()
    if len(low) != len(text):  # only `İ` grows in lower case; every other character is lowered where it stands
        low = "".join(char if len(char.lower()) != 1 else char.lower() for char in text)
    return low.replace("ς", "σ")  # which of the two `Σ` becomes hangs on its neighbours
