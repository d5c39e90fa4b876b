"""The seen filter: a Bloom filter before the exact test (Wang Du 2019, WD-A1).

The paper keeps every URL of all runs in a Bloom filter and loses a page for ever to each false positive. Here
"never seen" is believed at once, "seen" only after asking the frontier table, so a false positive costs one query
and no page. The file is a cache: what the table has got since is added (so a killed run costs seconds), and a file that
is missing, damaged or of another kind is made anew from the table.

File: magic (8 bytes), sha256 of the rest (32), number of URLs (8, little-endian), kind of the filter (8), filter.
"""

import hashlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from crawler.schedule.bloom import FILTERS, UrlFilter

logger = logging.getLogger(__name__)

_MAGIC = b"PLSEEN02"
_KIND = 8
_HEAD = len(_MAGIC) + 32 + 8 + _KIND
_RECENT = 50_000  # URLs; navigation links come back on every page
_BATCH = 10_000


class KnownUrls(Protocol):
    """The exact side: what was ever added to the frontier."""

    def known(self, wanted: Sequence[str], /) -> set[str]:
        """Which of them were ever added."""

    def urls(self) -> Iterator[str]:
        """Every URL."""

    def count(self) -> int:
        """How many."""


def fingerprint(url: str) -> str:
    """The first 64 bits of the MD5 of a canonical URL, as 16 hex digits (METHODS 1.3 a)."""
    digest = hashlib.md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return digest.hexdigest()[:16]


class UrlSeenTest:
    """Says which URLs are new. Used by one thread."""

    def __init__(self, table: KnownUrls, kind: str = "rbloom", capacity: int = 0) -> None:
        self._table = table
        self._kind = kind
        self._filter = FILTERS[kind](capacity, b"")
        self._count = 0
        self._recent: dict[str, None] = {}

    @classmethod
    def load(cls, path: Path, table: KnownUrls, kind: str = "rbloom") -> "UrlSeenTest":
        """The filter of `path`, with what the table has got since; if it cannot be that, one made from the table."""
        known = table.count()
        loaded = _read(path, kind)
        seen = cls(table, kind, capacity=2 * known)
        if loaded is not None and loaded[1] <= known:
            seen._filter, seen._count = loaded
        elif path.exists():
            logger.warning("the seen filter %s is damaged or out of date: made anew from the frontier", path)
        if seen._count < known:
            seen._catch_up(islice(table.urls(), seen._count, None))
        return seen

    def _catch_up(self, urls: Iterator[str]) -> None:
        while batch := list(islice(urls, _BATCH)):
            self._filter.update(map(fingerprint, batch))
            self._count += len(batch)

    def new_among(self, urls: Iterable[str]) -> list[str]:
        """Those never added before, each once, in their order."""
        wanted = [url for url in dict.fromkeys(urls) if url not in self._recent]
        maybe = [url for url in wanted if fingerprint(url) in self._filter]
        known = self._table.known(maybe) if maybe else set()
        self._remember(known)
        return [url for url in wanted if url not in known]

    def add(self, urls: Iterable[str]) -> None:
        """Remember URLs that are new to the table (see `new_among`) and are being added to it."""
        new = list(urls)
        self._filter.update(map(fingerprint, new))
        self._count += len(new)
        self._remember(new)

    @staticmethod
    def is_whole(path: Path, kind: str) -> bool:
        """Can the filter in this file be believed?"""
        return _read(path, kind) is not None

    def save(self, path: Path) -> None:
        """Write the filter so that `path` holds the old file or the whole new one, whatever happens.

        A disk that does not take it is no fault of the crawl: the next one makes the filter anew.
        """
        try:
            self._write(path)
        except OSError as error:
            logger.warning("the seen filter %s cannot be written (%s): the next crawl makes it anew", path, error)

    def _write(self, path: Path) -> None:
        rest = self._count.to_bytes(8, "little") + self._kind.encode().ljust(_KIND) + self._filter.dump()
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(path.name + ".new")
        with half.open("wb") as file:
            file.write(_MAGIC + hashlib.sha256(rest).digest() + rest)
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)

    def _remember(self, urls: Iterable[str]) -> None:
        for url in urls:
            self._recent[url] = None
        while len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]


def _read(path: Path, kind: str) -> tuple[UrlFilter, int] | None:
    """pybloom loads a damaged file without a word and forgets keys, hence the checksum."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, rest = data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
    if len(data) < _HEAD or data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(rest).digest() != digest:
        return None
    if rest[8 : 8 + _KIND].decode("ascii", "replace").strip() != kind:
        return None
    return FILTERS[kind](0, rest[8 + _KIND :]), int.from_bytes(rest[:8], "little")
