"""The signature of a text, by which near-duplicates are found: MinHash over its shingles (Broder 1997).

A shingle is SHINGLE consecutive tokens; each Chinese character is a token, other text is split into words. Width, case
and punctuation do not count. Two texts that share the part s of all their shingles have signatures of which about the
part s of the places are equal, within 0.035 (one standard deviation, at s = 0.8).
"""

import re
import unicodedata
import zlib
from functools import cache
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from datasketch import MinHash

PLACES = 128
SHINGLE = 4
LEAST = 16  # shingles; fewer say little, and a shared caption or price line would make two pages one
LONGEST = 200_000  # characters; what follows in a dump of data changes nothing
SEED = 1
SCHEME = "affine32"
HAN_KANA = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
TOKEN = re.compile(f"[{HAN_KANA}]|[^\\W_{HAN_KANA}]+")
MIX = numpy.uint64(0x9E3779B97F4A7C15)  # the golden ratio's bits: neighbours in a shingle must not cancel out


def signature(body: str) -> tuple[int, ...]:
    """PLACES numbers of 32 bits, the same for the same text everywhere; () for a text of fewer than LEAST shingles."""
    tokens = TOKEN.findall(unicodedata.normalize("NFKC", body[:LONGEST]).casefold())
    if len(tokens) < LEAST + SHINGLE - 1:
        return ()
    found = empty_sketch()
    found.update_batch(shingle_hashes(tokens))
    return tuple(found.hashvalues.tolist())


def shingle_hashes(tokens: list[str]) -> list[int]:
    """32 bits for each run of SHINGLE tokens."""
    codes = [ord(token) if len(token) == 1 else zlib.crc32(token.encode("utf-8", "replace")) for token in tokens]
    numbers = numpy.array(codes, dtype=numpy.uint64)
    count = len(numbers) - SHINGLE + 1
    hashes = numpy.zeros(count, dtype=numpy.uint64)
    for start in range(SHINGLE):
        hashes = (hashes ^ numbers[start : start + count]) * MIX
        hashes ^= hashes >> numpy.uint64(29)
    mixed: list[int] = (hashes >> numpy.uint64(32)).tolist()
    return mixed


def empty_sketch() -> "MinHash":
    """A sketch of no shingles."""
    from datasketch import MinHash  # here: it loads scipy, for which every `plumb` command would wait half a second

    return MinHash(PLACES, seed=SEED, hashfunc=int, permutations=permutations(), scheme=SCHEME)


@cache
def permutations() -> numpy.ndarray:
    """The permutations of all sketches; making them takes longer than using them."""
    from datasketch import MinHash

    made: numpy.ndarray = MinHash(PLACES, seed=SEED, scheme=SCHEME).permutations
    return made
