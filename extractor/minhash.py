"""MinHash signature of a text, used to find near-duplicates (Broder 1997).

If two texts share the fraction s of all their shingles (text/similarity/shingles.py), their signatures are equal in
about the fraction s of their positions. The standard deviation is 0.035 at s = 0.8.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy

from text.similarity.shingles import SHINGLE_SIZE, shingle_hashes, tokenize_folded

if TYPE_CHECKING:
    from datasketch import MinHash

NUM_PERMUTATIONS = 128
MIN_SHINGLES = 16  # with fewer, a shared caption or price line would make two pages near-duplicates
MAX_CHARS = 200_000  # the rest of a longer text (a data dump) is ignored
BATCH_SHINGLES = 1 << 13  # each shingle takes 1 kB of memory while it is hashed
SEED = 1
SCHEME = "affine32"


def minhash_signature(body: str) -> tuple[int, ...]:
    """Return the signature of a text: NUM_PERMUTATIONS unsigned 32-bit numbers.

    The signature of a text is equal on every machine. It is () for a text with fewer than MIN_SHINGLES shingles.
    """
    tokens = tokenize_folded(body[:MAX_CHARS])
    if len(tokens) < MIN_SHINGLES + SHINGLE_SIZE - 1:
        return ()
    minhash = new_minhash()
    hashes = shingle_hashes(tokens)
    for start in range(0, len(hashes), BATCH_SHINGLES):
        minhash.update_batch(hashes[start : start + BATCH_SHINGLES].tolist())
    return tuple(minhash.hashvalues.tolist())


def new_minhash() -> "MinHash":
    """Return a MinHash of an empty set."""
    from datasketch import MinHash  # lazy: it loads scipy, which would delay every `plumb` command by 0.5 s

    return MinHash(NUM_PERMUTATIONS, seed=SEED, hashfunc=int, permutations=shared_permutations(), scheme=SCHEME)


@cache
def shared_permutations() -> numpy.ndarray:
    """Return the permutations that all sketches share; creating them takes longer than using them."""
    from datasketch import MinHash

    permutations: numpy.ndarray = MinHash(NUM_PERMUTATIONS, seed=SEED, scheme=SCHEME).permutations
    return permutations
