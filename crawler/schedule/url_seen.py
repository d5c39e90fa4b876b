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

from crawler.schedule.bloom_filters import FILTER_BY_NAME, FingerprintFilter

logger = logging.getLogger(__name__)

_MAGIC = b"PLSEEN02"
_KIND_BYTES = 8
_HEADER_BYTES = len(_MAGIC) + 32 + 8 + _KIND_BYTES
_MAX_RECENT_URLS = 50_000  # URLs; navigation links come back on every page
_BATCH_SIZE = 10_000


class KnownUrls(Protocol):
    """The exact side: what was ever added to the frontier."""

    def known_urls(self, urls_to_find: Sequence[str], /) -> set[str]:
        """Which of them were ever added."""

    def iter_urls(self) -> Iterator[str]:
        """Every URL."""

    def url_count(self) -> int:
        """How many."""


def url_fingerprint(url: str) -> str:
    """The first 64 bits of the MD5 of a canonical URL, as 16 hex digits (METHODS 1.3 a)."""
    digest = hashlib.md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return digest.hexdigest()[:16]


class UrlSeenTest:
    """Says which URLs are new. Used by one thread."""

    def __init__(self, table: KnownUrls, filter_kind: str = "rbloom", capacity: int = 0) -> None:
        self._table = table
        self._kind = filter_kind
        self._filter = FILTER_BY_NAME[filter_kind](capacity, b"")
        self._url_count = 0
        self._recent_known: dict[str, None] = {}

    @classmethod
    def load(cls, path: Path, table: KnownUrls, filter_kind: str = "rbloom") -> "UrlSeenTest":
        """The filter of `path`, with what the table has got since; if it cannot be that, one made from the table."""
        url_count = table.url_count()
        stored_filter = _read_file(path, filter_kind)
        url_seen = cls(table, filter_kind, capacity=2 * url_count)
        if stored_filter is not None and stored_filter[1] <= url_count:
            url_seen._filter, url_seen._url_count = stored_filter
        elif path.exists():
            logger.warning("the seen filter %s is damaged or out of date: made anew from the frontier", path)
        if url_seen._url_count < url_count:
            url_seen._add_from_table(islice(table.iter_urls(), url_seen._url_count, None))
        return url_seen

    def _add_from_table(self, urls: Iterator[str]) -> None:
        while batch := list(islice(urls, _BATCH_SIZE)):
            self._filter.update(map(url_fingerprint, batch))
            self._url_count += len(batch)

    def filter_unseen(self, urls: Iterable[str]) -> list[str]:
        """Those never added before, each once, in their order."""
        candidate_urls = [url for url in dict.fromkeys(urls) if url not in self._recent_known]
        possibly_seen = [url for url in candidate_urls if url_fingerprint(url) in self._filter]
        known_urls = self._table.known_urls(possibly_seen) if possibly_seen else set()
        self._remember(known_urls)
        return [url for url in candidate_urls if url not in known_urls]

    def add(self, urls: Iterable[str]) -> None:
        """Remember URLs that are new to the table (see `filter_unseen`) and are being added to it."""
        new = list(urls)
        self._filter.update(map(url_fingerprint, new))
        self._url_count += len(new)
        self._remember(new)

    @staticmethod
    def is_valid_file(path: Path, filter_kind: str) -> bool:
        """Can the filter in this file be believed?"""
        return _read_file(path, filter_kind) is not None

    def save(self, path: Path) -> None:
        """Write the filter so that `path` holds the old file or the whole new one, whatever happens.

        A disk that does not take it is no fault of the crawl: the next one makes the filter anew.
        """
        try:
            self._write(path)
        except OSError as error:
            logger.warning("the seen filter %s cannot be written (%s): the next crawl makes it anew", path, error)

    def _write(self, path: Path) -> None:
        remainder = (
            self._url_count.to_bytes(8, "little") + self._kind.encode().ljust(_KIND_BYTES) + self._filter.to_bytes()
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary_path = path.with_name(path.name + ".new")
        with temporary_path.open("wb") as file:
            file.write(_MAGIC + hashlib.sha256(remainder).digest() + remainder)
            file.flush()
            os.fsync(file.fileno())
        temporary_path.replace(path)

    def _remember(self, urls: Iterable[str]) -> None:
        for url in urls:
            self._recent_known[url] = None
        while len(self._recent_known) > _MAX_RECENT_URLS:
            del self._recent_known[next(iter(self._recent_known))]


def _read_file(path: Path, filter_kind: str) -> tuple[FingerprintFilter, int] | None:
    """pybloom loads a damaged file without a word and forgets keys, hence the checksum."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, remainder = data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
    if len(data) < _HEADER_BYTES or data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(remainder).digest() != digest:
        return None
    if remainder[8 : 8 + _KIND_BYTES].decode("ascii", "replace").strip() != filter_kind:
        return None
    return FILTER_BY_NAME[filter_kind](0, remainder[8 + _KIND_BYTES :]), int.from_bytes(remainder[:8], "little")
