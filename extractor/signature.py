"""The signature of a text, by which near-duplicates are found: MinHash over its shingles (Broder 1997).

Two texts that share the part s of all their shingles (text/resemblance/shingles.py) have signatures of which about the
part s of the places are equal, within 0.035 (one standard deviation, at s = 0.8).
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy

from text.resemblance.shingles import SHINGLE, shingle_hashes, tokens_of

if TYPE_CHECKING:
    from datasketch import MinHash

PLACES = 128
LEAST = 16  # shingles; fewer say little, and a shared caption or price line would make two pages one
LONGEST = 200_000  # characters; what follows in a dump of data changes nothing
AT_ONCE = 1 << 13  # shingles: each takes a kilobyte while it is looked at
SEED = 1
SCHEME = "affine32"


def signature(body: str) -> tuple[int, ...]:
    """PLACES numbers of 32 bits, the same for the same text everywhere; () for a text of fewer than LEAST shingles."""
    tokens = tokens_of(body[:LONGEST])
    if len(tokens) < LEAST + SHINGLE - 1:
        return ()
    found = empty_sketch()
    hashes = shingle_hashes(tokens)
    for start in range(0, len(hashes), AT_ONCE):
        found.update_batch(hashes[start : start + AT_ONCE].tolist())
    return tuple(found.hashvalues.tolist())


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
