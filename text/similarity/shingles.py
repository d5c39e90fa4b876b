"""Tokens and shingles of a text, to compare possible duplicates.

Each Chinese character is a token; other text is split into words. Width, case, traditional characters and punctuation
are ignored. A shingle is a run of SHINGLE_SIZE tokens.
"""

import re
import unicodedata
import zlib
from collections.abc import Sequence

import numpy

from text.folding import SIMPLIFIED_BY_TRADITIONAL

SHINGLE_SIZE = 4
HAN_KANA = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
TOKEN = re.compile(f"[{HAN_KANA}]|[^\\W_{HAN_KANA}]+")
TOKEN_BOUNDARY = re.compile(f"[\\W_{HAN_KANA}]")  # a text can be cut here without cutting a token
# Characters or tokens. Equal tokens are interned: a million characters would otherwise be 100 MB of strings.
CHUNK_SIZE = 1 << 15
# Bits of the golden ratio: neighbours in a shingle must not cancel out.
HASH_MULTIPLIER = numpy.uint64(0x9E3779B97F4A7C15)
_SIMPLIFY_TABLE = str.maketrans(dict(SIMPLIFIED_BY_TRADITIONAL))


def split_tokens(text: str) -> list[str]:
    """Split a text into tokens as written, with normalized width and accents."""
    normalized = unicodedata.normalize("NFKC", text)
    if len(normalized) <= CHUNK_SIZE:
        return TOKEN.findall(normalized)
    tokens, interned_tokens, start = list[str](), dict[str, str](), 0
    while start < len(normalized):
        boundary = TOKEN_BOUNDARY.search(normalized, start + CHUNK_SIZE)
        end = boundary.start() if boundary else len(normalized)
        tokens += map(interned_tokens.setdefault, *[TOKEN.findall(normalized, start, end)] * 2)
        start = end
    return tokens


def fold_tokens(tokens: Sequence[str]) -> list[str]:
    """Fold tokens: without case, in simplified characters."""
    folded_parts, interned_tokens = list[str](), dict[str, str]()
    for start in range(0, len(tokens), CHUNK_SIZE):
        folded_chunk = "\0".join(tokens[start : start + CHUNK_SIZE]).casefold().translate(_SIMPLIFY_TABLE).split("\0")
        folded_parts += (
            folded_chunk if len(tokens) <= CHUNK_SIZE else map(interned_tokens.setdefault, folded_chunk, folded_chunk)
        )
    return folded_parts


def tokenize_folded(text: str) -> list[str]:
    """Split a text into folded tokens."""
    return fold_tokens(split_tokens(text))


def shingle_hashes(tokens: Sequence[str]) -> numpy.ndarray:
    """Return 32-bit hashes (as uint64) of each run of SHINGLE_SIZE tokens. Empty for fewer tokens."""
    codes = (ord(token) if len(token) == 1 else zlib.crc32(token.encode("utf-8", "replace")) for token in tokens)
    numbers = numpy.fromiter(codes, numpy.uint64, len(tokens))
    count = max(0, len(numbers) - SHINGLE_SIZE + 1)
    hashes = numpy.zeros(count, dtype=numpy.uint64)
    for start in range(SHINGLE_SIZE):
        hashes ^= numbers[start : start + count]
        hashes *= HASH_MULTIPLIER
        hashes ^= hashes >> numpy.uint64(29)
    hashes >>= numpy.uint64(32)
    return hashes
