"""The signature of a text, by which near-duplicates are found: MinHash over its shingles (Broder 1997).

Two texts that share the part s of all their shingles (text/similarity/shingles.py) have signatures of which about the
part s of the places are equal, within 0.035 (one standard deviation, at s = 0.8).
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy

from text.similarity.shingles import SHINGLE_SIZE, shingle_hashes, tokenize_folded

if TYPE_CHECKING:
    from datasketch import MinHash

NUM_PERMUTATIONS = 128
MIN_SHINGLES = 16  # shingles; fewer say little, and a shared caption or price line would make two pages one
MAX_CHARS = 200_000  # characters; what follows in a dump of data changes nothing
BATCH_SHINGLES = 1 << 13  # shingles: each takes a kilobyte while it is looked at
SEED = 1
SCHEME = "affine32"


def minhash_signature(body: str) -> tuple[int, ...]:
    """PLACES numbers of 32 bits, the same for the same text everywhere; () for a text of fewer than LEAST shingles."""
    tokens = tokenize_folded(body[:MAX_CHARS])
    if len(tokens) < MIN_SHINGLES + SHINGLE_SIZE - 1:
        return ()
    minhash = new_minhash()
    hashes = shingle_hashes(tokens)
    for start in range(0, len(hashes), BATCH_SHINGLES):
        minhash.update_batch(hashes[start : start + BATCH_SHINGLES].tolist())
    return tuple(minhash.hashvalues.tolist())


def new_minhash() -> "MinHash":
    """A sketch of no shingles."""
    from datasketch import MinHash  # here: it loads scipy, for which every `plumb` command would wait half a second

    return MinHash(NUM_PERMUTATIONS, seed=SEED, hashfunc=int, permutations=shared_permutations(), scheme=SCHEME)


@cache
def shared_permutations() -> numpy.ndarray:
    """The permutations of all sketches; making them takes longer than using them."""
    from datasketch import MinHash

    permutations: numpy.ndarray = MinHash(NUM_PERMUTATIONS, seed=SEED, scheme=SCHEME).permutations
    return permutations
