"""Serialization of rows, about 30 bytes per row in a file. Predictable values are stored as small differences.

Most spans occur once. Their frequency, document count and one neighbour per side are then 1, and the best and expected
probability follow from the log-probability. Only key, words and scores carry information.
"""

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.errors import LexiconError
from lexicon.arrays import Int32Array, Int64Array, IntegerArray
from lexicon.counting.ngram_table import (
    COLUMN_INDEX,
    COUNT_COLUMNS,
    MAX_SEEN_DOCUMENTS,
    NEIGHBOUR_COLUMNS,
    NO_DOCUMENT,
    SUM_COLUMNS,
    NgramRows,
)
from lexicon.counting.occurrences import MAX_SPAN_WORDS, to_fixed_probability

ZLIB_LEVEL = 1  # higher levels take more time and save little space
LEADING_COUNT_COLUMNS = len(COUNT_COLUMNS) - len(NEIGHBOUR_COLUMNS)  # count columns before the neighbour columns


def serialize_rows(rows: NgramRows) -> bytes:
    """Return rows, which must be ordered by key, as bytes; about 70 bytes per row before compression."""
    counts, sums = rows.counts[:LEADING_COUNT_COLUMNS].copy(), rows.sums.copy()
    frequency, log_probability_sum = rows.frequency, rows.sums[COLUMN_INDEX["likely"]]
    counts[COLUMN_INDEX["documents"]] -= frequency
    sums[COLUMN_INDEX["expected"]] -= _predicted_expected(log_probability_sum, frequency)
    columns = (
        *counts,
        *sums,
        rows.best_log_probability - _floor_mean(log_probability_sum, frequency),
        *_to_sparse(rows.counts[LEADING_COUNT_COLUMNS:], 0),
        *_to_sparse(rows.word_ids, -1)[::2],
        *_to_sparse(rows.first_documents, NO_DOCUMENT)[::2],
    )
    keys = np.diff(rows.keys, prepend=np.uint64(0)).view(np.int64)
    downcast_columns = [keys, *map(_downcast, columns)]
    header = np.array([(column.itemsize, len(column)) for column in downcast_columns], dtype=np.int64)
    # All first bytes of the numbers, then all second bytes and so on: this compresses better.
    planes = (
        np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.itemsize).T.tobytes()
        for column in downcast_columns
    )
    return b"".join([header.tobytes(), *planes])


def deserialize_rows(data: bytes) -> NgramRows:
    """Return the rows of serialized bytes."""
    count = 1 + LEADING_COUNT_COLUMNS + len(SUM_COLUMNS) + 8
    header = np.frombuffer(data, dtype=np.int64, count=2 * count).reshape(-1, 2)
    byte_offsets = np.append(header.nbytes, header.nbytes + np.cumsum(header.prod(axis=1))).tolist()
    columns = [
        _from_byte_planes(np.frombuffer(data[start:stop], dtype=np.uint8), size)
        for (size, _), start, stop in zip(header.tolist(), byte_offsets[:-1], byte_offsets[1:], strict=True)
    ]
    keys = np.cumsum(columns[0].view(np.uint64), dtype=np.uint64)
    counts = np.zeros((len(COUNT_COLUMNS), len(keys)), np.int32)
    counts[:LEADING_COUNT_COLUMNS] = columns[1 : 1 + LEADING_COUNT_COLUMNS]
    sums = np.stack(columns[1 + LEADING_COUNT_COLUMNS : -8], dtype=np.int64)
    likeliest, neighbour_counts, neighbour_columns, counts_of_neighbours, sizes, words, document_counts, documents = (
        columns[-8:]
    )
    frequency, log_probability_sum = counts[COLUMN_INDEX["frequency"]], sums[COLUMN_INDEX["likely"]]
    counts[COLUMN_INDEX["documents"]] += frequency
    counts[
        LEADING_COUNT_COLUMNS + neighbour_columns.astype(np.intp), np.repeat(np.arange(len(keys)), neighbour_counts)
    ] = counts_of_neighbours
    sums[COLUMN_INDEX["expected"]] += _predicted_expected(log_probability_sum, frequency)
    return NgramRows(
        keys,
        counts,
        sums,
        _from_sparse(sizes, words, MAX_SPAN_WORDS, -1).astype(np.int32),
        (likeliest + _floor_mean(log_probability_sum, frequency)).astype(np.int32),
        _from_sparse(document_counts, documents, MAX_SEEN_DOCUMENTS, NO_DOCUMENT),
    )


def write_rows(rows: NgramRows, path: Path) -> None:
    """Write rows to a file for `read_rows`."""
    path.write_bytes(zlib.compress(serialize_rows(rows), ZLIB_LEVEL))


class DamagedCountsError(LexiconError):
    """Stored counts are missing or damaged. Counting the corpus again replaces them."""


def read_rows(path: Path) -> NgramRows:
    """Read the rows of a file.

    Raises:
        DamagedCountsError: the file is missing or damaged.
        LexiconError: the file cannot be read.
    """
    try:
        return deserialize_rows(zlib.decompress(path.read_bytes()))
    except (FileNotFoundError, ValueError, zlib.error) as error:
        raise DamagedCountsError(f"{path}: unreadable counts: {error}") from error
    except OSError as error:
        raise LexiconError(f"{path}: {error.strerror}") from error


def _floor_mean(total: Int64Array, frequency: Int32Array) -> Int64Array:
    return np.floor_divide(total, np.maximum(np.abs(frequency), 1))


def _predicted_expected(log_probability_sum: Int64Array, frequency: Int32Array) -> Int64Array:
    """Return the expected value if all occurrences had the mean log-probability."""
    return frequency * to_fixed_probability(
        np.minimum(_floor_mean(-np.abs(log_probability_sum), frequency), 0).astype(np.int32)
    )


def _to_sparse(table: IntegerArray, padding: int) -> tuple[IntegerArray, IntegerArray, IntegerArray]:
    """Return the number of values per column, then the row and the value of all values, column by column."""
    is_present = (table != padding).T
    positions = np.flatnonzero(is_present)
    return is_present.sum(axis=1), positions % len(table), np.ascontiguousarray(table.T).reshape(-1)[positions]


def _from_sparse(sizes: IntegerArray, values: IntegerArray, height: int, padding: int) -> Int64Array:
    table = np.full((len(sizes), height), padding, dtype=np.int64)
    table[np.arange(height) < sizes[:, None]] = values
    return np.ascontiguousarray(table.T)


def _downcast(column: IntegerArray) -> IntegerArray:
    """Return the column with the smallest integer type that fits."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    kinds = (np.int8, np.int16, np.int32, np.int64)
    kind = next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return column.astype(kind)


def _from_byte_planes(planes: NDArray[np.uint8], size: int) -> IntegerArray:
    kind = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}[size]
    values: IntegerArray = np.ascontiguousarray(planes.reshape(size, -1).T).view(kind).reshape(-1)
    return values
