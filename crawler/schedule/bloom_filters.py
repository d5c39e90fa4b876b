"""Bloom filters with one interface. "Never added" is certain, "added" is probable.

    rbloom    Rust, a million operations per second; filters of fixed size, chained as they fill (the default)
    pybloom   pure Python, as in the papers; needs no compiled wheel; pybloom-live can read its files

The table verifies every positive result (`url_seen.py`). The error rate therefore affects only the speed.
"""

import io
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from pybloom_live import ScalableBloomFilter
from rbloom import Bloom

ERROR_RATE = 1e-3
INITIAL_CAPACITY = 1 << 17
_GROWTH_FACTOR = 4
_INTEGER_BYTES = 8  # size of an integer in a file
_HASH_MULTIPLIER = 0x9E3779B97F4A7C15F39CC0605CEDC835  # odd, so 64 bits map to 128 without loss


class FingerprintFilter(Protocol):
    """A set of fingerprints (16 hex digits each)."""

    def update(self, fingerprints: Iterable[str], /) -> None:
        """Add fingerprints of URLs to the filter."""

    def __contains__(self, fingerprint: str, /) -> bool:
        """False if the fingerprint was never added. True means it probably was."""

    def to_bytes(self) -> bytes:
        """Serialize the filter. `FILTER_BY_NAME` loads the bytes."""


class RbloomFilter:
    """Chained rbloom filters, each four times as large as the one before.

    The total error rate stays below twice ERROR_RATE for any number of fingerprints.
    """

    def __init__(self, capacity: int = INITIAL_CAPACITY, data: bytes = b"") -> None:
        self._filters: list[Bloom] = []
        self._remaining_capacity = 0
        remainder = memoryview(data)
        while remainder:
            remaining_capacity, size = (
                int.from_bytes(remainder[offset : offset + _INTEGER_BYTES], "little") for offset in (0, _INTEGER_BYTES)
            )
            self._filters.append(
                Bloom.load_bytes(bytes(remainder[2 * _INTEGER_BYTES : 2 * _INTEGER_BYTES + size]), _hash_to_128_bits)
            )
            remainder = remainder[2 * _INTEGER_BYTES + size :]
            self._remaining_capacity = remaining_capacity
        if not self._filters:
            self._grow(max(capacity, INITIAL_CAPACITY))

    def update(self, fingerprints: Iterable[str], /) -> None:
        """Add fingerprints of URLs to the filter."""
        for fingerprint in fingerprints:
            if self._remaining_capacity <= 0:
                self._grow(_GROWTH_FACTOR * round(self._filters[-1].approx_items))
            self._filters[-1].add(fingerprint)
            self._remaining_capacity -= 1

    def __contains__(self, fingerprint: str, /) -> bool:
        """False if the fingerprint was never added."""
        return any(fingerprint in bloom for bloom in self._filters)

    def to_bytes(self) -> bytes:
        """Serialize each filter as remaining capacity, length and rbloom data."""
        parts: list[bytes] = []
        for filter_index, bloom in enumerate(self._filters):
            data = bloom.save_bytes()
            remaining_capacity = self._remaining_capacity if filter_index == len(self._filters) - 1 else 0
            parts += [
                max(remaining_capacity, 0).to_bytes(_INTEGER_BYTES, "little"),
                len(data).to_bytes(_INTEGER_BYTES, "little"),
                data,
            ]
        return b"".join(parts)

    def _grow(self, capacity: int) -> None:
        self._filters.append(Bloom(capacity, ERROR_RATE / 2 ** len(self._filters), _hash_to_128_bits))
        self._remaining_capacity = capacity


def _hash_to_128_bits(fingerprint: str) -> int:
    """Map a fingerprint to 128 signed bits, as rbloom requires. Unlike Python's hash, it is equal in every process."""
    return ((int(fingerprint, 16) * _HASH_MULTIPLIER) & ((1 << 128) - 1)) - (1 << 127)


class PybloomFilter:
    """The scalable filter of pybloom-live."""

    def __init__(self, capacity: int = INITIAL_CAPACITY, data: bytes = b"") -> None:
        if data:
            self._filter = ScalableBloomFilter.fromfile(io.BytesIO(data))
        else:
            growth = ScalableBloomFilter.SMALL_SET_GROWTH
            self._filter = ScalableBloomFilter(max(capacity, INITIAL_CAPACITY), ERROR_RATE, growth)

    def update(self, fingerprints: Iterable[str], /) -> None:
        """Add fingerprints of URLs to the filter."""
        for fingerprint in fingerprints:
            self._filter.add(fingerprint)

    def __contains__(self, fingerprint: str, /) -> bool:
        """False if the fingerprint was never added."""
        return fingerprint in self._filter

    def to_bytes(self) -> bytes:
        """Serialize the filter in pybloom's format."""
        data = io.BytesIO()
        self._filter.tofile(data)
        return data.getvalue()


FILTER_BY_NAME: Mapping[str, Callable[[int, bytes], FingerprintFilter]] = MappingProxyType(
    {"rbloom": RbloomFilter, "pybloom": PybloomFilter}
)
