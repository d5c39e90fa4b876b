"""MinHash signature of a text, used to find near-duplicates (Broder 1997).

If two texts share the fraction s of all their shingles (text/similarity/shingles.py), their signatures are equal in
about the fraction s of their positions. The standard deviation is 0.035 at s = 0.8. A library for this is larger and
slower (docs/decisions/0052).
"""

from functools import cache

import numpy

from text.similarity.shingles import SHINGLE_SIZE, shingle_hashes, tokenize_folded

NUM_PERMUTATIONS = 128
MIN_SHINGLES = 16  # with fewer, a shared caption or price line would make two pages near-duplicates
MAX_CHARS = 200_000  # the rest of a longer text (a data dump) is ignored
BATCH_SHINGLES = 1 << 11  # each shingle takes 1 kB of memory while it is hashed
SEED = 1


def minhash_signature(body: str) -> tuple[int, ...]:
    """Return the signature of a text: NUM_PERMUTATIONS unsigned 32-bit numbers.

    The signature of a text is equal on every machine. It is () for a text with fewer than MIN_SHINGLES shingles.
    """
    tokens = tokenize_folded(body[:MAX_CHARS])
    if len(tokens) < MIN_SHINGLES + SHINGLE_SIZE - 1:
        return ()
    factors, summands = permutations()
    hashes = mix_bits(shingle_hashes(tokens).astype(numpy.uint32))[:, None]
    minima = numpy.full(NUM_PERMUTATIONS, numpy.iinfo(numpy.uint32).max, numpy.uint32)
    for start in range(0, len(hashes), BATCH_SHINGLES):
        values = hashes[start : start + BATCH_SHINGLES] * factors + summands
        numpy.minimum(minima, values.min(axis=0), out=minima)
    return tuple(minima.tolist())


@cache
def permutations() -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return a and b of the permutations h -> a * h + b modulo 2**32. With an odd a no two hashes become equal."""
    generator = numpy.random.RandomState(SEED)  # its numbers are the same in every version of numpy
    halves = generator.randint(0, 1 << 31, NUM_PERMUTATIONS, dtype=numpy.uint32)
    return halves * numpy.uint32(2) + numpy.uint32(1), generator.randint(0, 1 << 32, NUM_PERMUTATIONS, numpy.uint32)


def mix_bits(hashes: numpy.ndarray) -> numpy.ndarray:
    """Spread the bits of 32-bit hashes, so that similar hashes differ everywhere: the finalizer of MurmurHash3."""
    hashes = (hashes ^ (hashes >> numpy.uint32(16))) * numpy.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> numpy.uint32(13))) * numpy.uint32(0xC2B2AE35)
    hashes ^= hashes >> numpy.uint32(16)
    return hashes
