"""Rows as bytes, about 30 each in a file: what most of them have in common is written so that it takes next to no room.

Most spans were seen once. Then frequency, documents and one neighbour on either side are 1, the best place is the only
one, and what is expected of it follows from how likely it was: what is left is the key, the words, the judgement.
"""

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docstore.errors import LexiconError
from lexicon.counting.ngrams import AT, COUNTS, NOWHERE, SEEN, SIDES, SUMS, Ints, Longs, Rows
from lexicon.counting.occurrences import MAX_WORDS, expected

LEVEL = 1  # of compression: more takes time and saves little
PLAIN = len(COUNTS) - len(SIDES)  # counts that are not of neighbours
Numbers = NDArray[np.integer]


def pack(rows: Rows) -> bytes:
    """The bytes of rows that stand in the order of their keys, about 70 each."""
    counts, sums = rows.counts[:PLAIN].copy(), rows.sums.copy()
    frequency, likely = rows.frequency, rows.sums[AT["likely"]]
    counts[AT["documents"]] -= frequency
    sums[AT["expected"]] -= _expected_at(likely, frequency)
    columns = (
        *counts,
        *sums,
        rows.likeliest - _mean(likely, frequency),
        *_closed_up(rows.counts[PLAIN:], 0),
        *_closed_up(rows.words, -1)[::2],
        *_closed_up(rows.seen_in, NOWHERE)[::2],
    )
    keys = np.diff(rows.keys, prepend=np.uint64(0)).view(np.int64)
    narrow = [keys, *map(_narrow, columns)]
    head = np.array([(column.itemsize, len(column)) for column in narrow], dtype=np.int64)
    return b"".join([head.tobytes(), *(_planes(column) for column in narrow)])


def unpack(packed: bytes) -> Rows:
    """The rows in such bytes."""
    columns = _columns_in(packed)
    keys = np.cumsum(columns[0].view(np.uint64), dtype=np.uint64)
    counts = np.zeros((len(COUNTS), len(keys)), np.int32)
    counts[:PLAIN] = columns[1 : 1 + PLAIN]
    sums = np.stack(columns[1 + PLAIN : -8], dtype=np.int64)
    likeliest, sides, kinds, times, sizes, words, seen, documents = columns[-8:]
    frequency, likely = counts[AT["frequency"]], sums[AT["likely"]]
    counts[AT["documents"]] += frequency
    counts[PLAIN + kinds.astype(np.intp), np.repeat(np.arange(len(keys)), sides)] = times
    sums[AT["expected"]] += _expected_at(likely, frequency)
    return Rows(
        keys,
        counts,
        sums,
        _opened(sizes, words, MAX_WORDS, -1).astype(np.int32),
        (likeliest + _mean(likely, frequency)).astype(np.int32),
        _opened(seen, documents, SEEN, NOWHERE),
    )


def _columns_in(data: bytes) -> list[Numbers]:
    count = 1 + PLAIN + len(SUMS) + 8
    head = np.frombuffer(data, dtype=np.int64, count=2 * count).reshape(-1, 2)
    places = np.append(head.nbytes, head.nbytes + np.cumsum(head.prod(axis=1))).tolist()
    return [
        _whole(np.frombuffer(data[start:stop], dtype=np.uint8), size)
        for (size, _), start, stop in zip(head.tolist(), places[:-1], places[1:], strict=True)
    ]


def write_rows(rows: Rows, path: Path) -> None:
    """Write a file that `read_rows` reads."""
    path.write_bytes(zlib.compress(pack(rows), LEVEL))


def read_rows(path: Path) -> Rows:
    """The rows in a file of `write_rows`. LexiconError if there are none."""
    try:
        return unpack(zlib.decompress(path.read_bytes()))
    except (OSError, ValueError, zlib.error) as error:
        raise LexiconError(f"{path}: no counts: {error}") from error


def _mean(total: Longs, frequency: Ints) -> Longs:
    return np.floor_divide(total, np.maximum(np.abs(frequency), 1))


def _expected_at(likely: Longs, frequency: Ints) -> Longs:
    """What would be expected of so many places that are all alike."""
    return frequency * expected(np.minimum(_mean(-np.abs(likely), frequency), 0).astype(np.int32))


def _closed_up(table: Numbers, nothing: int) -> tuple[Numbers, Numbers, Numbers]:
    """Of each column of a table how many values it has; of all values, column by column, their row and themselves."""
    there = (table != nothing).T
    places = np.flatnonzero(there)
    return there.sum(axis=1), places % len(table), np.ascontiguousarray(table.T).reshape(-1)[places]


def _opened(sizes: Numbers, values: Numbers, height: int, nothing: int) -> Longs:
    table = np.full((len(sizes), height), nothing, dtype=np.int64)
    table[np.arange(height) < sizes[:, None]] = values
    return np.ascontiguousarray(table.T)


def _narrow(column: Numbers) -> Numbers:
    """The same numbers in as few bytes as hold them."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    kinds = (np.int8, np.int16, np.int32, np.int64)
    kind = next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return column.astype(kind)


def _planes(column: Numbers) -> bytes:
    """The first bytes of all numbers, then the second ones ..., which are more alike."""
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.itemsize).T.tobytes()


def _whole(planes: NDArray[np.uint8], size: int) -> Numbers:
    kind = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}[size]
    whole: Numbers = np.ascontiguousarray(planes.reshape(size, -1).T).view(kind).reshape(-1)
    return whole
