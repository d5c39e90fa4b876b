"""Tables that were counted one after another, on disk, to be added up range by range of their keys.

table 1   |----|----|----|----|      each range is packed for itself, so that one range of all tables is read
table 2   |----|----|----|----|      without the others
"""

from itertools import chain
from typing import IO

import numpy as np

from lexicon.counting.hash_index import UInt64Array
from lexicon.counting.ngram_table import NgramRows
from lexicon.counting.row_serialization import deserialize_rows, serialize_rows

KEY_BITS = 64


class SortedRuns:
    """Rows in a file that is deleted when it is closed; `range_count`, a power of two, part all keys equally."""

    def __init__(self, file: IO[bytes], range_count: int) -> None:
        self.range_count = range_count
        self.rows_added = 0
        self._file = file
        self._segments_by_range: list[list[tuple[int, int]]] = [[] for _ in range(range_count)]

    def add_run(self, rows: NgramRows) -> None:
        """Put in a table, in the order of its keys."""
        ends = range_ends(rows.keys, self.range_count)
        self.rows_added += len(rows)
        for pieces, start, stop in zip(self._segments_by_range, [0, *ends[:-1]], ends, strict=True):
            if start < stop:
                pieces.append((self._file.tell(), self._file.write(serialize_rows(rows.slice_view(start, stop)))))

    def read_range(self, range_index: int, range_count: int) -> list[NgramRows]:
        """What the tables have in one of so many ranges of keys, as many as these or fewer; in no order."""
        ranges_merged = self.range_count // range_count
        parts = []
        for offset, size in chain(
            *self._segments_by_range[range_index * ranges_merged : (range_index + 1) * ranges_merged]
        ):
            self._file.seek(offset)
            parts.append(deserialize_rows(self._file.read(size)))
        return parts


def range_ends(keys: UInt64Array, range_count: int) -> list[int]:
    """Where in keys that rise each of so many equal ranges ends."""
    width = 2**KEY_BITS // range_count
    borders = np.array([width * index for index in range(1, range_count)], dtype=np.uint64)
    ends: list[int] = [*np.searchsorted(keys, borders).tolist(), len(keys)]
    return ends
