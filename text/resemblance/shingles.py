"""A text as a run of tokens, and its shingles: what texts are compared by that may be copies of each other.

Each Chinese character is a token, other text is split into words. Width, case, traditional characters and punctuation
do not count. A shingle is SHINGLE consecutive tokens.
"""

import re
import unicodedata
import zlib
from collections.abc import Sequence

import numpy

from text.folding import SIMPLIFIED

SHINGLE = 4
HAN_KANA = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
TOKEN = re.compile(f"[{HAN_KANA}]|[^\\W_{HAN_KANA}]+")
BETWEEN = re.compile(f"[\\W_{HAN_KANA}]")  # where one may cut a text, and no token
AT_ONCE = 1 << 15  # characters or tokens; equal ones are one string: a million characters would be 100 MB of strings
MIX = numpy.uint64(0x9E3779B97F4A7C15)  # the golden ratio's bits: neighbours in a shingle must not cancel out
_SIMPLIFIED = str.maketrans(dict(SIMPLIFIED))


def written_tokens(text: str) -> list[str]:
    """The tokens of a text as they are written, but for width and how accents are encoded."""
    whole = unicodedata.normalize("NFKC", text)
    if len(whole) <= AT_ONCE:
        return TOKEN.findall(whole)
    found, once, start = list[str](), dict[str, str](), 0
    while start < len(whole):
        after = BETWEEN.search(whole, start + AT_ONCE)
        end = after.start() if after else len(whole)
        found += map(once.setdefault, *[TOKEN.findall(whole, start, end)] * 2)
        start = end
    return found


def folded_tokens(written: Sequence[str]) -> list[str]:
    """Each of these tokens without case, and in simplified characters."""
    found, once = list[str](), dict[str, str]()
    for start in range(0, len(written), AT_ONCE):
        folded = "\0".join(written[start : start + AT_ONCE]).casefold().translate(_SIMPLIFIED).split("\0")
        found += folded if len(written) <= AT_ONCE else map(once.setdefault, folded, folded)
    return found


def tokens_of(text: str) -> list[str]:
    """The tokens of a text, folded."""
    return folded_tokens(written_tokens(text))


def shingle_hashes(tokens: Sequence[str]) -> numpy.ndarray:
    """32 bits (uint64) for each run of SHINGLE tokens; empty for fewer."""
    codes = (ord(token) if len(token) == 1 else zlib.crc32(token.encode("utf-8", "replace")) for token in tokens)
    numbers = numpy.fromiter(codes, numpy.uint64, len(tokens))
    count = max(0, len(numbers) - SHINGLE + 1)
    hashes = numpy.zeros(count, dtype=numpy.uint64)
    for start in range(SHINGLE):
        hashes ^= numbers[start : start + count]
        hashes *= MIX
        hashes ^= hashes >> numpy.uint64(29)
    hashes >>= numpy.uint64(32)
    return hashes
