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
_GROWTH = 4
_LENGTH = 8  # bytes of a number in a file
_SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC835  # odd: 64 bits become 128 without loss


class UrlFilter(Protocol):
    """Remembers fingerprints (16 hex digits each)."""

    def update(self, fingerprints: Iterable[str], /) -> None:
        """Add them."""

    def __contains__(self, fingerprint: str, /) -> bool:
        """False: was never added. True: very probably was."""

    def dump(self) -> bytes:
        """All of it, as `FILTERS` can load it again."""


class ChainedFilter:
    """rbloom's filters, each four times as large as the one before; the share of wrong answers stays below twice
    ERROR_RATE however many there are."""

    def __init__(self, capacity: int = INITIAL_CAPACITY, data: bytes = b"") -> None:
        self._links: list[Bloom] = []
        self._room = 0
        rest = memoryview(data)
        while rest:
            room, size = (int.from_bytes(rest[at : at + _LENGTH], "little") for at in (0, _LENGTH))
            self._links.append(Bloom.load_bytes(bytes(rest[2 * _LENGTH : 2 * _LENGTH + size]), _wide))
            rest = rest[2 * _LENGTH + size :]
            self._room = room
        if not self._links:
            self._grow(max(capacity, INITIAL_CAPACITY))

    def update(self, fingerprints: Iterable[str], /) -> None:
        """Add them."""
        for fingerprint in fingerprints:
            if self._room <= 0:
                self._grow(_GROWTH * round(self._links[-1].approx_items))
            self._links[-1].add(fingerprint)
            self._room -= 1

    def __contains__(self, fingerprint: str, /) -> bool:
        """False: was never added."""
        return any(fingerprint in link for link in self._links)

    def dump(self) -> bytes:
        """Of each filter: room left, length, and what rbloom writes."""
        parts: list[bytes] = []
        for number, link in enumerate(self._links):
            data = link.save_bytes()
            room = self._room if number == len(self._links) - 1 else 0
            parts += [max(room, 0).to_bytes(_LENGTH, "little"), len(data).to_bytes(_LENGTH, "little"), data]
        return b"".join(parts)

    def _grow(self, capacity: int) -> None:
        self._links.append(Bloom(capacity, ERROR_RATE / 2 ** len(self._links), _wide))
        self._room = capacity


def _wide(fingerprint: str) -> int:
    """128 signed bits, as rbloom wants them; the same in every process, unlike Python's own hash."""
    return ((int(fingerprint, 16) * _SPREAD) & ((1 << 128) - 1)) - (1 << 127)


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

    def dump(self) -> bytes:
        """As pybloom writes it."""
        data = io.BytesIO()
        self._filter.tofile(data)
        return data.getvalue()


FILTERS: Mapping[str, Callable[[int, bytes], UrlFilter]] = MappingProxyType(
    {"rbloom": ChainedFilter, "pybloom": PybloomFilter}
)
