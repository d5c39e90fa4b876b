"""Tables that were counted one after another, on disk, to be added up range by range of their keys.

table 1   |----|----|----|----|      each range is packed for itself, so that one range of all tables is read
table 2   |----|----|----|----|      without the others
"""

from itertools import chain
from typing import IO

import numpy as np

from lexicon.counting.hashing import Hashes
from lexicon.counting.ngrams import Rows
from lexicon.counting.packing import pack, unpack

KEY_BITS = 64


class Runs:
    """Rows in a file that is deleted when it is closed; `ranges`, a power of two, part all keys equally."""

    def __init__(self, file: IO[bytes], ranges: int) -> None:
        self.ranges = ranges
        self.rows_added = 0
        self._file = file
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(ranges)]

    def add(self, rows: Rows) -> None:
        """Put in a table, in the order of its keys."""
        ends = ends_of(rows.keys, self.ranges)
        self.rows_added += len(rows)
        for pieces, start, stop in zip(self._pieces, [0, *ends[:-1]], ends, strict=True):
            if start < stop:
                pieces.append((self._file.tell(), self._file.write(pack(rows.part(start, stop)))))

    def read(self, number: int, ranges: int) -> list[Rows]:
        """What the tables have in one of so many ranges of keys, as many as these or fewer; in no order."""
        width = self.ranges // ranges
        found = []
        for place, size in chain(*self._pieces[number * width : (number + 1) * width]):
            self._file.seek(place)
            found.append(unpack(self._file.read(size)))
        return found


def ends_of(keys: Hashes, ranges: int) -> list[int]:
    """Where in keys that rise each of so many equal ranges ends."""
    width = 2**KEY_BITS // ranges
    borders = np.array([width * number for number in range(1, ranges)], dtype=np.uint64)
    ends: list[int] = [*np.searchsorted(keys, borders).tolist(), len(keys)]
    return ends
