"""Bloom filters behind one contract: "never added" is certain, "added" is probable.

    rbloom    Rust, a million operations a second; filters of fixed size, chained as they fill (the default)
    pybloom   pure Python, as in the papers' time: needs no compiled wheel, and its files can be read by pybloom-live

The table is asked about what a filter claims to know (`url_seen.py`), so the error rate is a matter of speed alone.
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
_INTEGER_BYTES = 8  # bytes of a number in a file
_HASH_MULTIPLIER = 0x9E3779B97F4A7C15F39CC0605CEDC835  # odd: 64 bits become 128 without loss


class FingerprintFilter(Protocol):
    """Remembers fingerprints (16 hex digits each)."""

    def update(self, fingerprints: Iterable[str], /) -> None:
        """Add them."""

    def __contains__(self, fingerprint: str, /) -> bool:
        """False: was never added. True: very probably was."""

    def to_bytes(self) -> bytes:
        """All of it, as `FILTER_BY_NAME` can load it again."""


class RbloomFilter:
    """rbloom's filters, each four times as large as the one before; the share of wrong answers stays below twice
    ERROR_RATE however many there are."""

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
        """Add them."""
        for fingerprint in fingerprints:
            if self._remaining_capacity <= 0:
                self._grow(_GROWTH_FACTOR * round(self._filters[-1].approx_items))
            self._filters[-1].add(fingerprint)
            self._remaining_capacity -= 1

    def __contains__(self, fingerprint: str, /) -> bool:
        """False: was never added."""
        return any(fingerprint in bloom for bloom in self._filters)

    def to_bytes(self) -> bytes:
        """Of each filter: room left, length, and what rbloom writes."""
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
    """128 signed bits, as rbloom wants them; the same in every process, unlike Python's own hash."""
    return ((int(fingerprint, 16) * _HASH_MULTIPLIER) & ((1 << 128) - 1)) - (1 << 127)


class PybloomFilter:
    """pybloom-live's scalable filter."""

    def __init__(self, capacity: int = INITIAL_CAPACITY, data: bytes = b"") -> None:
        if data:
            self._filter = ScalableBloomFilter.fromfile(io.BytesIO(data))
        else:
            growth = ScalableBloomFilter.SMALL_SET_GROWTH
            self._filter = ScalableBloomFilter(max(capacity, INITIAL_CAPACITY), ERROR_RATE, growth)

    def update(self, fingerprints: Iterable[str], /) -> None:
        """Add them."""
        for fingerprint in fingerprints:
            self._filter.add(fingerprint)

    def __contains__(self, fingerprint: str, /) -> bool:
        """False: was never added."""
        return fingerprint in self._filter

    def to_bytes(self) -> bytes:
        """As pybloom writes it."""
        data = io.BytesIO()
        self._filter.tofile(data)
        return data.getvalue()


FILTER_BY_NAME: Mapping[str, Callable[[int, bytes], FingerprintFilter]] = MappingProxyType(
    {"rbloom": RbloomFilter, "pybloom": PybloomFilter}
)
