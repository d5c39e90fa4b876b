"""The URL-seen test: a Bloom filter in front of the exact test (Wang Du 2019, WD-A1).

The paper stores every URL of all runs in a Bloom filter, and each false positive loses a page. This module accepts
"never seen" at once and verifies "seen" in the frontier table. A false positive costs one query and no page. The file
is a cache. New URLs of the table are added on load, so a killed run costs seconds. A missing, damaged or incompatible
file is rebuilt from the table.

File: magic (8 bytes), sha256 of the rest (32), number of URLs (8, little-endian), kind of the filter (8), filter.
"""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from crawler.schedule.bloom_filters import FILTER_BY_NAME, FingerprintFilter
from crawler.schedule.frontier import CrawlTable
from locks.private_files import write_private_file

logger = logging.getLogger(__name__)

_MAGIC = b"PLSEEN02"
_KIND_BYTES = 8
_HEADER_BYTES = len(_MAGIC) + 32 + 8 + _KIND_BYTES
_MAX_RECENT_URLS = 50_000  # navigation links repeat on every page
_BATCH_SIZE = 10_000


def url_fingerprint(url: str) -> str:
    """The first 64 bits of the MD5 of a canonical URL, as 16 hex digits."""
    digest = hashlib.md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return digest.hexdigest()[:16]


class UrlSeenTest:
    """Finds URLs that were never added. Used by one thread."""

    def __init__(self, table: CrawlTable, filter_kind: str = "rbloom", capacity: int = 0) -> None:
        self._table = table
        self._kind = filter_kind
        self._filter = FILTER_BY_NAME[filter_kind](capacity, b"")
        self._url_count = 0
        self._recent_known: OrderedDict[str, None] = OrderedDict()  # a dict is slow to delete its first keys

    @classmethod
    def load(cls, path: Path, table: CrawlTable, filter_kind: str = "rbloom") -> "UrlSeenTest":
        """Load the filter from `path` and add the URLs that are new in the table.

        Rebuild it if the file is not usable.
        """
        url_count = table.url_count()
        stored_filter = _read_file(path, filter_kind)
        url_seen = cls(table, filter_kind, capacity=2 * url_count)
        if stored_filter is not None and stored_filter[1] <= url_count:
            url_seen._filter, url_seen._url_count = stored_filter
        elif path.exists():
            logger.warning("the seen filter %s is damaged or out of date: rebuilding it from the frontier", path)
        if url_seen._url_count < url_count:
            new_urls = islice(table.iter_urls(), url_seen._url_count, None)
            while batch := list(islice(new_urls, _BATCH_SIZE)):
                url_seen._filter.update(map(url_fingerprint, batch))
                url_seen._url_count += len(batch)
        return url_seen

    def filter_unseen(self, urls: Iterable[str]) -> list[str]:
        """Return the URLs that were never added, each once, in their order."""
        candidate_urls = [url for url in dict.fromkeys(urls) if url not in self._recent_known]
        possibly_seen = [url for url in candidate_urls if url_fingerprint(url) in self._filter]
        known_urls = self._table.known_urls(possibly_seen) if possibly_seen else set()
        self._remember(known_urls)
        return [url for url in candidate_urls if url not in known_urls]

    def add(self, urls: Iterable[str]) -> None:
        """Record URLs that are being added to the table (see `filter_unseen`)."""
        new_urls = list(urls)
        self._filter.update(map(url_fingerprint, new_urls))
        self._url_count += len(new_urls)
        self._remember(new_urls)

    @staticmethod
    def is_valid_file(path: Path, filter_kind: str) -> bool:
        """True if the file contains a valid filter."""
        return _read_file(path, filter_kind) is not None

    def save(self, path: Path) -> None:
        """Write the filter atomically. An OSError is logged, because the next crawl can rebuild the filter."""
        remainder = (
            self._url_count.to_bytes(8, "little") + self._kind.encode().ljust(_KIND_BYTES) + self._filter.to_bytes()
        )
        try:
            write_private_file(path, _MAGIC + hashlib.sha256(remainder).digest() + remainder)
        except OSError as error:
            logger.warning("the seen filter %s cannot be written (%s): the next crawl rebuilds it", path, error)

    def _remember(self, urls: Iterable[str]) -> None:
        for url in urls:
            self._recent_known[url] = None
        while len(self._recent_known) > _MAX_RECENT_URLS:
            self._recent_known.popitem(last=False)


def _read_file(path: Path, filter_kind: str) -> tuple[FingerprintFilter, int] | None:
    """Read a filter file. Returns the filter and the number of URLs added to it; None if it cannot be used.

    A file cannot be used if it is missing or damaged, or was written by another filter library (`filter_kind`). The
    checksum is needed because pybloom loads a damaged file without an error and then misses URLs.
    """
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
