"""Sorted runs: tables counted one after another and stored on disk, to be merged by key range.

table 1   |----|----|----|----|      each range is serialized separately, so that one range of all tables
table 2   |----|----|----|----|      is read without the others
"""

from itertools import chain
from typing import IO

import numpy as np

from lexicon.arrays import UInt64Array
from lexicon.counting.ngram_table import NgramRows
from lexicon.counting.row_serialization import deserialize_rows, serialize_rows

KEY_BITS = 64


class SortedRuns:
    """Rows in a temporary file, split into `range_count` equal key ranges, a power of two."""

    def __init__(self, file: IO[bytes], range_count: int) -> None:
        self.range_count = range_count
        self.rows_added = 0
        self._file = file
        self._segments_by_range: list[list[tuple[int, int]]] = [[] for _ in range(range_count)]

    def add_run(self, rows: NgramRows) -> None:
        """Append a table, which must be ordered by key."""
        ends = range_ends(rows.keys, self.range_count)
        self.rows_added += len(rows)
        for pieces, start, stop in zip(self._segments_by_range, [0, *ends[:-1]], ends, strict=True):
            if start < stop:
                pieces.append((self._file.tell(), self._file.write(serialize_rows(rows.slice_view(start, stop)))))

    def read_range(self, range_index: int, range_count: int) -> list[NgramRows]:
        """Return the rows of all tables in one of `range_count` key ranges, in no order.

        `range_count` must be at most the number of stored ranges.
        """
        ranges_merged = self.range_count // range_count
        parts = []
        for offset, size in chain(
            *self._segments_by_range[range_index * ranges_merged : (range_index + 1) * ranges_merged]
        ):
            self._file.seek(offset)
            parts.append(deserialize_rows(self._file.read(size)))
        return parts


def range_ends(keys: UInt64Array, range_count: int) -> list[int]:
    """Return the end index of each of `range_count` equal key ranges in ascending keys."""
    width = 2**KEY_BITS // range_count
    borders = np.array([width * index for index in range(1, range_count)], dtype=np.uint64)
    ends: list[int] = [*np.searchsorted(keys, borders).tolist(), len(keys)]
    return ends
