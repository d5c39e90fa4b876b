"""Parse sitemaps and sitemap indexes, and text lists and feeds that serve as sitemaps (sitemaps.org)."""

import re
import zlib
from collections.abc import Sequence
from enum import StrEnum
from itertools import islice

from crawler.sitemaps.feed_parser import parse_feed
from crawler.sitemaps.sitemap import Sitemap, SitemapEntry
from crawler.sitemaps.timestamps import parse_timestamp
from crawler.sitemaps.xml_records import Field, Record, decode_xml, iter_xml_records
from crawler.urls.canonical import parse_url_forms
from domain.outcome import Reason

MAX_SITEMAP_BYTES = 50_000_000  # per file, after decompression
MAX_URLS_PER_SITEMAP = 50_000
_MAX_LINE_CHARS = 2100
_RECORD_NAMES = frozenset(("url", "sitemap"))
_LOC_TAG = re.compile(r"<(?:\w+:)?loc>\s*+(?:<!\[CDATA\[)?+\s*+([^<\]\s]++)", re.IGNORECASE)
RawEntry = tuple[str, float | None]  # URL as written, lastmod in epoch seconds
_MARKUP_START = re.compile(r"\A\s*<(?:\?xml|!|\w)")


def parse_sitemap(body: bytes, url: str, content_type: str = "") -> Sitemap:
    """Parse the sitemap in a response from `url`.

    Returns an empty one for other files. Accepts any bytes, fetches nothing.

    A file over the size limit is cut. The readable part of broken XML is used.
    """
    content = _gunzip_tolerant(body)[:MAX_SITEMAP_BYTES]
    text = decode_xml(content, content_type)
    if not _MARKUP_START.match(text):
        lines = islice(text.splitlines(), 2 * MAX_URLS_PER_SITEMAP)
        return Sitemap(_build_entries([(line[:_MAX_LINE_CHARS].strip(), None) for line in lines]))
    pages: list[RawEntry] = []
    sitemaps: list[RawEntry] = []
    for record in iter_xml_records(text, _RECORD_NAMES):
        if record.name:
            (sitemaps if record.name == "sitemap" else pages).append(_raw_entry(record))
            if max(len(pages), len(sitemaps)) >= MAX_URLS_PER_SITEMAP:
                break
    if pages or sitemaps:
        child_sitemaps = tuple(entry.url for entry in _build_entries(sitemaps, url))
        return Sitemap(_build_entries(pages, url), child_sitemaps)
    feed = parse_feed(content, url, content_type)
    return feed if feed.entries else Sitemap(_build_entries([(raw_url, None) for raw_url in _LOC_TAG.findall(text)]))


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
    """Return URL and lastmod of a record. Some files contain the URL without `loc`."""
    own_fields = [field for field in record.fields if not field.namespace]
    raw_url = _field_text(own_fields, "loc") or _field_text(list(record.fields), "loc") or record.text
    lastmod = _field_text(own_fields, "lastmod") or _field_text(list(record.fields), "publication_date")
    return raw_url, parse_timestamp(lastmod)


def _field_text(fields: list[Field], name: str) -> str:
    return next((field.text for field in fields if field.name == name), "")


def _build_entries(raw_entries: Sequence[RawEntry], url: str = "") -> tuple[SitemapEntry, ...]:
    """Build the entries with each URL once. URLs without a host are resolved, other relative URLs are left out."""
    entry_by_url: dict[str, SitemapEntry] = {}
    for raw_url, lastmod in raw_entries:
        if not raw_url:
            continue
        url_forms = parse_url_forms(raw_url, url if raw_url.startswith("/") else "")
        if not isinstance(url_forms, Reason):
            entry_by_url.setdefault(url_forms.url, SitemapEntry(url_forms.url, lastmod))
    return tuple(islice(entry_by_url.values(), MAX_URLS_PER_SITEMAP))


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
