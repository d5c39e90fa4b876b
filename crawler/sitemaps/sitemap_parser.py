"""Parse sitemaps and sitemap indexes, and text lists and feeds that serve as sitemaps (sitemaps.org)."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from crawler.sitemaps.feed_parser import EMPTY_FEED, parse_feed
from crawler.sitemaps.timestamps import parse_timestamp
from crawler.sitemaps.xml_records import Field, Record, decode_xml, iter_xml_records
from crawler.urls.canonical import parse_url_forms
from domain.outcome import Reason

MAX_SITEMAP_BYTES = 50_000_000  # per file, after decompression
MAX_URLS_PER_SITEMAP = 50_000
_MAX_LINE_CHARS = 2100
_RECORD_NAMES = frozenset(("url", "sitemap"))
_LOC_TAG = re.compile(r"<(?:\w+:)?loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]+)", re.IGNORECASE)
RawEntry = tuple[str, float | None, str]  # URL, lastmod and title, as written
_MARKUP_START = re.compile(r"\A\s*<(?:\?xml|!|\w)")


@dataclass(frozen=True)
class SitemapEntry:
    """One URL of a sitemap.

    Attributes:
        url: canonical URL.
        request_url: URL as a browser would request it.
        lastmod: epoch seconds of the last change, None if not given.
    """

    url: str
    request_url: str
    lastmod: float | None = None
    title: str = ""


@dataclass(frozen=True)
class Sitemap:
    """A parsed sitemap.

    Attributes:
        entries: pages.
        child_sitemaps: sitemaps listed in an index.
        rejected_count: number of URLs without a canonical form.
    """

    entries: tuple[SitemapEntry, ...] = ()
    child_sitemaps: tuple[SitemapEntry, ...] = ()
    rejected_count: int = 0


def parse_sitemap(body: bytes, url: str, content_type: str = "") -> Sitemap:
    """Parse the sitemap in a response from `url`.

    Returns an empty one for other files. Accepts any bytes, fetches nothing.

    A file over the size limit is cut. The readable part of broken XML is used.
    """
    content = _gunzip_tolerant(body)[:MAX_SITEMAP_BYTES]
    text = decode_xml(content, content_type)
    if not _MARKUP_START.match(text):
        return _build_sitemap(
            [(line[:_MAX_LINE_CHARS].strip(), None, "") for line in islice(text.splitlines(), 2 * MAX_URLS_PER_SITEMAP)]
        )
    pages: list[RawEntry] = []
    sitemaps: list[RawEntry] = []
    for record in iter_xml_records(text, _RECORD_NAMES):
        if record.name:
            (sitemaps if record.name == "sitemap" else pages).append(_raw_entry(record))
            if max(len(pages), len(sitemaps)) >= MAX_URLS_PER_SITEMAP:
                break
    if pages or sitemaps:
        page_entries, child_entries = _build_sitemap(pages, url), _build_sitemap(sitemaps, url)
        return Sitemap(
            page_entries.entries, child_entries.entries, page_entries.rejected_count + child_entries.rejected_count
        )
    feed = parse_feed(content, url, content_type)
    if feed != EMPTY_FEED:
        entries = tuple(
            SitemapEntry(feed_entry.url, feed_entry.request_url, feed_entry.updated_at, feed_entry.title)
            for feed_entry in feed.entries
        )
        return Sitemap(entries, rejected_count=feed.rejected_count)
    return _build_sitemap([(raw_url, None, "") for raw_url in _LOC_TAG.findall(text)])


def _gunzip_tolerant(body: bytes) -> bytes:
    """Decompress gzip data; other data is returned unchanged. A broken file is read up to the error."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    parts: list[bytes] = []
    byte_count = 0
    try:
        for offset in range(0, len(body), 1 << 16):
            parts.append(stream.decompress(body[offset : offset + (1 << 16)], MAX_SITEMAP_BYTES - byte_count + 1))
            byte_count += len(parts[-1])
            if byte_count > MAX_SITEMAP_BYTES:
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _raw_entry(record: Record) -> RawEntry:
    """Return URL, lastmod and title of a record. Some files contain the URL without `loc`."""
    own_fields = [field for field in record.fields if not field.namespace]
    raw_url = _field_text(own_fields, "loc") or _field_text(list(record.fields), "loc") or record.text
    lastmod = _field_text(own_fields, "lastmod") or _field_text(list(record.fields), "publication_date")
    return raw_url, parse_timestamp(lastmod), _field_text(list(record.fields), "title")[:500]


def _field_text(fields: list[Field], name: str) -> str:
    return next((field.text for field in fields if field.name == name), "")


def _build_sitemap(raw_entries: Sequence[RawEntry], url: str = "") -> Sitemap:
    """Build the sitemap with each URL once. URLs without a host are resolved, other relative URLs are rejected."""
    entry_by_url: dict[str, SitemapEntry] = {}
    rejected_count = 0
    for raw_url, lastmod, title in raw_entries:
        if not raw_url:
            continue
        url_forms = parse_url_forms(raw_url, url if raw_url.startswith("/") else "")
        if isinstance(url_forms, Reason):
            rejected_count += 1
        else:
            entry_by_url.setdefault(url_forms.url, SitemapEntry(*url_forms, lastmod, title))
    return Sitemap(tuple(islice(entry_by_url.values(), MAX_URLS_PER_SITEMAP)), rejected_count=rejected_count)


class LastmodTrustLevel(StrEnum):
    """How reliable a site's lastmod is."""

    UNKNOWN = "unknown"  # too few visits
    RELIABLE = "right"  # pages with an unchanged lastmod have not changed
    UNRELIABLE = "wrong"


_MIN_OBSERVATIONS = 10
_MAX_MISSED_SHARE = 0.05
_MIN_CONFIRMED_SHARE = 0.2


def rate_lastmod(observations: Sequence[tuple[bool, bool]]) -> LastmodTrustLevel:
    """Rate a site's lastmod by its last visits, given as pairs (lastmod moved, page changed).

    It is unreliable if it misses changes, or if it often moves without a change.
    """
    changes_when_moved = [changed for lastmod_moved, changed in observations if lastmod_moved]
    changes_when_still = [changed for lastmod_moved, changed in observations if not lastmod_moved]
    if len(changes_when_still) >= _MIN_OBSERVATIONS and sum(changes_when_still) > _MAX_MISSED_SHARE * len(
        changes_when_still
    ):
        return LastmodTrustLevel.UNRELIABLE
    if len(changes_when_moved) >= _MIN_OBSERVATIONS and sum(changes_when_moved) < _MIN_CONFIRMED_SHARE * len(
        changes_when_moved
    ):
        return LastmodTrustLevel.UNRELIABLE
    return LastmodTrustLevel.RELIABLE if len(changes_when_still) >= _MIN_OBSERVATIONS else LastmodTrustLevel.UNKNOWN
