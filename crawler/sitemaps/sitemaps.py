"""What a site says it holds: sitemaps, indexes of sitemaps, and lists and feeds that serve as one (sitemaps.org)."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from crawler.sitemaps.feeds import NO_FEED, read_feed
from crawler.sitemaps.timestamps import moment_of
from crawler.sitemaps.xml_records import Field, Record, records, xml_text
from crawler.urls.canonical import address_of
from docstore.model import Reason

LARGEST = 50_000_000  # bytes of one file, after decompression
MAX_URLS = 50_000
_LONGEST_LINE = 2100
_RECORDS = frozenset(("url", "sitemap"))
_LOCATION = re.compile(r"<(?:\w+:)?loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]+)", re.IGNORECASE)
Place = tuple[str, float | None, str]  # URL, lastmod and title, as written
_MARKUP = re.compile(r"\A\s*<(?:\?xml|!|\w)")


@dataclass(frozen=True)
class SitemapEntry:
    """A URL, canonical and as it is to be asked for, and when its page last changed (seconds), if that is said."""

    url: str
    fetch: str
    lastmod: float | None = None
    title: str = ""


@dataclass(frozen=True)
class Sitemap:
    """A file that was read: `urls` of pages, `sitemaps` that an index names, `refused` URLs without a form."""

    urls: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[SitemapEntry, ...] = ()
    refused: int = 0


def read_sitemap(body: bytes, url: str, content_type: str = "") -> Sitemap:
    """The sitemap in an answer from `url`, empty if there is none. Any bytes will do, nothing is fetched.

    Of a file that is too large the beginning is read, of broken XML what can be.
    """
    unpacked = _unpacked(body)[:LARGEST]
    text = xml_text(unpacked, content_type)
    if not _MARKUP.match(text):
        return _listed([(line[:_LONGEST_LINE].strip(), None, "") for line in islice(text.splitlines(), 2 * MAX_URLS)])
    pages: list[Place] = []
    sitemaps: list[Place] = []
    for record in records(text, _RECORDS):
        if record.name:
            (sitemaps if record.name == "sitemap" else pages).append(_place(record))
            if max(len(pages), len(sitemaps)) >= MAX_URLS:
                break
    if pages or sitemaps:
        listed, indexed = _listed(pages, url), _listed(sitemaps, url)
        return Sitemap(listed.urls, indexed.urls, listed.refused + indexed.refused)
    feed = read_feed(unpacked, url, content_type)
    if feed != NO_FEED:
        entries = tuple(SitemapEntry(one.url, one.fetch, one.at, one.title) for one in feed.entries)
        return Sitemap(entries, refused=feed.refused)
    return _listed([(place, None, "") for place in _LOCATION.findall(text)])


def _unpacked(body: bytes) -> bytes:
    """Without gzip, if it has any; of a broken file what can be read."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    parts: list[bytes] = []
    size = 0
    try:
        for at in range(0, len(body), 1 << 16):
            parts.append(stream.decompress(body[at : at + (1 << 16)], LARGEST - size + 1))
            size += len(parts[-1])
            if size > LARGEST:
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _place(record: Record) -> Place:
    """URL, lastmod and title of a record; some files have the URL without `loc`."""
    own = [one for one in record.fields if not one.namespace]
    place = _of(own, "loc") or _of(list(record.fields), "loc") or record.text
    lastmod = _of(own, "lastmod") or _of(list(record.fields), "publication_date")
    return place, moment_of(lastmod), _of(list(record.fields), "title")[:500]


def _of(fields: list[Field], name: str) -> str:
    return next((one.text for one in fields if one.name == name), "")


def _listed(places: Sequence[Place], url: str = "") -> Sitemap:
    """Each URL once. Some sitemaps leave out the host; anything else that is not absolute is no URL."""
    found: dict[str, SitemapEntry] = {}
    refused = 0
    for place, lastmod, title in places:
        if not place:
            continue
        address = address_of(place, url if place.startswith("/") else "")
        if isinstance(address, Reason):
            refused += 1
        else:
            found.setdefault(address.url, SitemapEntry(*address, lastmod, title))
    return Sitemap(tuple(islice(found.values(), MAX_URLS)), refused=refused)


class Trust(StrEnum):
    """What a site's lastmod is worth."""

    UNKNOWN = "unknown"  # too few visits to tell
    RIGHT = "right"  # pages whose lastmod stands still have not changed
    WRONG = "wrong"


_FEWEST = 10
_MAX_MISSED = 0.05
_FEWEST_TRUE = 0.2


def lastmod_trust(visits: Sequence[tuple[bool, bool]]) -> Trust:
    """Whether a site's lastmod proves right, from its last visits as pairs (lastmod had moved, page had changed).

    It is wrong if it misses changes, or if it moves so often without one that it says nothing.
    """
    moved = [changed for claimed, changed in visits if claimed]
    still = [changed for claimed, changed in visits if not claimed]
    if len(still) >= _FEWEST and sum(still) > _MAX_MISSED * len(still):
        return Trust.WRONG
    if len(moved) >= _FEWEST and sum(moved) < _FEWEST_TRUE * len(moved):
        return Trust.WRONG
    return Trust.RIGHT if len(still) >= _FEWEST else Trust.UNKNOWN
