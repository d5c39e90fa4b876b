"""Hashes numbered as they come, a million at a time: a hash table in two arrays, looked into by whole arrays.

Sorting is the usual way to bring equal keys of an array together. It takes ten times as long as this.
"""

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Places = NDArray[np.int64]

FREE = -1
FEWEST_SLOTS = 1024


class KeyNumbers:
    """Numbers 64-bit hashes (evenly spread: their first bits are their place) from 0 on."""

    def __init__(self) -> None:
        self._count = 0
        self._keys = np.zeros(FEWEST_SLOTS, dtype=np.uint64)
        self._slots = np.full(FEWEST_SLOTS, FREE, dtype=np.int32)

    def __len__(self) -> int:
        return self._count

    @property
    def keys(self) -> Hashes:
        """All keys in the order of their numbers."""
        return self._keys[: self._count]

    def numbers(self, keys: Hashes) -> tuple[Numbers, Places]:
        """The number of each of `keys`; and the places in `keys` of those that are new, each the first of its like, in
        the order of their numbers.
        """
        self._make_room(self._count + len(keys))
        found = np.empty(len(keys), dtype=np.int32)
        waiting, slots, new = np.arange(len(keys)), self._home(keys), []
        while len(waiting):
            wanted = keys[waiting]
            here, settled = self._look(wanted, slots)
            new.append(waiting[settled])
            same = self._keys[here] == wanted
            found[waiting[same]] = here[same]
            other = np.flatnonzero(~same)
            waiting, slots = waiting[other], (slots[other] + 1) % len(self._slots)
        return found, np.concatenate(new) if new else np.zeros(0, np.int64)

    def _look(self, wanted: Hashes, slots: Places) -> tuple[Numbers, Places]:
        """The number that stands in each slot; into a free one goes the first of `wanted` that comes to it."""
        here = self._slots[slots]
        free = np.flatnonzero(here == FREE)
        if not len(free):
            return here, free
        taken = slots[free]
        self._slots[taken[::-1]] = free[::-1]  # of several writes to one slot the last stays
        settled = free[self._slots[taken] == free]
        numbers = np.arange(self._count, self._count + len(settled), dtype=np.int32)
        self._slots[slots[settled]] = numbers
        self._keys[numbers] = wanted[settled]
        self._count += len(settled)
        here[free] = self._slots[taken]
        return here, settled

    def _home(self, keys: Hashes) -> Places:
        return (keys >> np.uint64(65 - len(self._slots).bit_length())).astype(np.int64)

    def _make_room(self, count: int) -> None:
        """At least every second slot stays free."""
        if 2 * count > len(self._slots):
            self._fill(self.keys, 1 << (2 * count - 1).bit_length())

    def _fill(self, keys: Hashes, size: int) -> None:
        """Hold just these keys, numbered in their order."""
        known = keys.copy()
        self._count, self._keys = 0, np.zeros(size // 2, dtype=np.uint64)
        self._slots = np.full(size, FREE, dtype=np.int32)
        numbers, _ = self.numbers(known)
        wanted = np.empty(len(known), dtype=np.int32)
        wanted[numbers] = np.arange(len(known), dtype=np.int32)
        used = np.flatnonzero(self._slots != FREE)
        self._slots[used] = wanted[self._slots[used]]
        self._keys[: len(known)] = known
