"""The URL-seen test: a Bloom filter in front of the exact test (Wang Du 2019, WD-A1).

The paper stores every URL of all runs in a Bloom filter, and each false positive loses a page. This module accepts
"never seen" at once and verifies "seen" in the frontier table. A false positive costs one query and no page. The file
is a cache. New URLs of the table are added on load, so a killed run costs seconds. A missing, damaged or incompatible
file is rebuilt from the table.

File: magic (8 bytes), sha256 of the rest (32), number of URLs (8, little-endian), "pybloom " (8), pybloom-live filter.
The target error rate is one in a thousand: a lower one is not necessary, because the table decides.
"""

import hashlib
import io
import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from pybloom_live import ScalableBloomFilter

from crawler.schedule.frontier import CrawlTable
from locks.private_files import write_private_file

logger = logging.getLogger(__name__)

_MAGIC = b"PLSEEN02"
_KIND = b"pybloom "  # earlier versions also wrote filters of rbloom
_HEADER_BYTES = len(_MAGIC) + 32
ERROR_RATE = 1e-3
INITIAL_CAPACITY = 1 << 17
_MAX_RECENT_URLS = 50_000  # navigation links repeat on every page
_BATCH_SIZE = 10_000


def url_fingerprint(url: str) -> str:
    """The first 64 bits of the MD5 of a canonical URL, as 16 hex digits."""
    digest = hashlib.md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return digest.hexdigest()[:16]


class UrlSeenTest:
    """Finds URLs that were never added. Used by one thread."""

    def __init__(self, table: CrawlTable, capacity: int = 0) -> None:
        self._table = table
        growth = ScalableBloomFilter.LARGE_SET_GROWTH  # fewer filters to look into
        self._filter = ScalableBloomFilter(max(capacity, INITIAL_CAPACITY), ERROR_RATE, growth)
        self._url_count = 0
        self._recent_known: OrderedDict[str, None] = OrderedDict()  # a dict is slow to delete its first keys

    @classmethod
    def load(cls, path: Path, table: CrawlTable) -> "UrlSeenTest":
        """Load the filter from `path` and add the URLs that are new in the table.

        Rebuild it if the file is not usable.
        """
        url_count = table.url_count()
        url_seen = cls(table, capacity=2 * url_count)
        content = _read_file(path) or b""
        stored_count = int.from_bytes(content[:8], "little")
        if content[8:16] == _KIND and stored_count <= url_count:
            url_seen._filter = ScalableBloomFilter.fromfile(io.BytesIO(content[16:]))
            url_seen._url_count = stored_count
        elif path.exists():
            logger.warning("the seen filter %s is damaged or out of date: rebuilding it from the frontier", path)
        if url_seen._url_count < url_count:
            new_urls = islice(table.iter_urls(), url_seen._url_count, None)
            while batch := list(islice(new_urls, _BATCH_SIZE)):
                url_seen._add_to_filter(batch)
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
        self._add_to_filter(new_urls)
        self._remember(new_urls)

    @staticmethod
    def is_valid_file(path: Path) -> bool:
        """True if the file is not damaged. The next crawl rebuilds a filter of an earlier version."""
        return _read_file(path) is not None

    def save(self, path: Path) -> None:
        """Write the filter atomically. An OSError is logged, because the next crawl can rebuild the filter."""
        filter_file = io.BytesIO()
        self._filter.tofile(filter_file)
        content = self._url_count.to_bytes(8, "little") + _KIND + filter_file.getvalue()
        try:
            write_private_file(path, _MAGIC + hashlib.sha256(content).digest() + content)
        except OSError as error:
            logger.warning("the seen filter %s cannot be written (%s): the next crawl rebuilds it", path, error)

    def _add_to_filter(self, urls: Sequence[str]) -> None:
        for url in urls:
            self._filter.add(url_fingerprint(url))
        self._url_count += len(urls)

    def _remember(self, urls: Iterable[str]) -> None:
        for url in urls:
            self._recent_known[url] = None
        while len(self._recent_known) > _MAX_RECENT_URLS:
            self._recent_known.popitem(last=False)


def _read_file(path: Path) -> bytes | None:
    """Return the content of a filter file after the checksum; None if it is missing or damaged.

    The checksum is needed because pybloom loads a damaged file without an error and then misses URLs.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[len(_MAGIC) : _HEADER_BYTES], data[_HEADER_BYTES:]
    return content if data.startswith(_MAGIC) and hashlib.sha256(content).digest() == digest else None
