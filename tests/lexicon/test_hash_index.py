"""Hashes numbered by whole arrays, against a dict."""

import numpy as np
import pytest

from lexicon.counting.hash_index import HashIndex


def by_dict(chunks: list[list[int]]) -> list[list[bool]]:
    """For each chunk which keys are new, each the first of its like."""
    seen: set[int] = set()
    found = []
    for chunk in chunks:
        found.append([key not in seen and key not in chunk[:place] for place, key in enumerate(chunk)])
        seen.update(chunk)
    return found


def random_chunks(high_bits: int, distinct: int) -> list[list[int]]:
    """Keys of which many have the same first bits, and so the same place in the table."""
    chance = np.random.default_rng(high_bits)
    keys = (chance.integers(0, 2**high_bits, distinct, dtype=np.uint64) << np.uint64(64 - high_bits)) + np.arange(
        distinct, dtype=np.uint64
    )
    return [keys[chance.integers(0, distinct, size)].tolist() for size in (0, 1, 700, 50, 3000)]


@pytest.mark.parametrize("chunks", [random_chunks(3, 40), random_chunks(60, 2000), [[0, 0], [2**64 - 1, 0]]], ids=len)
def test_equal_keys_have_equal_numbers_and_new_ones_are_told(chunks: list[list[int]]) -> None:
    table = HashIndex()
    numbers: dict[int, int] = {}
    for chunk, is_new in zip(chunks, by_dict(chunks), strict=True):
        found, new = table.get_or_add(np.array(chunk, dtype=np.uint64))
        assert sorted(new.tolist()) == np.flatnonzero(is_new).tolist()
        assert found[new].tolist() == list(range(len(numbers), len(numbers) + len(new)))
        for key, number in zip(chunk, found.tolist(), strict=True):
            assert numbers.setdefault(key, number) == number
    assert len(set(numbers.values())) == len(numbers) == len(table)
    assert dict(zip(table.keys.tolist(), range(len(table)), strict=True)) == numbers
