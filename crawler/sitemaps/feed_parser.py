"""Parse feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed."""

import json
import re
from collections.abc import Iterator
from itertools import islice

from crawler.sitemaps.sitemap import EMPTY_SITEMAP, Sitemap, SitemapEntry
from crawler.sitemaps.timestamps import parse_timestamp
from crawler.sitemaps.xml_records import Record, decode_xml, iter_xml_records
from crawler.urls.canonical import canonicalize_url, parse_url_forms
from domain.outcome import Reason

MAX_ENTRIES = 5000
MAX_FEED_BYTES = 10_000_000  # the rest is ignored
_RECORD_NAMES = frozenset(("item", "entry"))
_FEED_TAG = re.compile(r"<(?:\w+:)?(?:rss|feed|rdf|channel)[\s>]", re.IGNORECASE)
_DATE_FIELDS = ("updated", "modified", "pubdate", "published", "date", "issued", "created")


def parse_feed(body: bytes, url: str, content_type: str = "") -> Sitemap:
    """Parse the feed in a response from `url`. The entries have their date of change or publication.

    Returns EMPTY_SITEMAP for other files. Accepts any bytes, fetches nothing.
    """
    text = decode_xml(body[:MAX_FEED_BYTES], content_type)
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        entries = (_parse_json_entry(item, url) for item in _json_feed_items(text))
    elif _FEED_TAG.search(text[:100_000]):
        records = (record for record in iter_xml_records(text, _RECORD_NAMES) if record.name)
        entries = (_parse_entry(record, url) for record in islice(records, MAX_ENTRIES))
    else:
        return EMPTY_SITEMAP
    entry_by_url: dict[str, SitemapEntry] = {}
    for entry in filter(None, entries):
        entry_by_url.setdefault(entry.url, entry)
    return Sitemap(tuple(entry_by_url.values()))


def _parse_entry(record: Record, url: str) -> SitemapEntry | None:
    base = canonicalize_url(record.base_url, url) if record.base_url else url
    for text in _iter_url_candidates(record):
        url_forms = parse_url_forms(text, url if isinstance(base, Reason) else base)
        if not isinstance(url_forms, Reason):
            timestamps = (
                parse_timestamp(field.text) for name in _DATE_FIELDS if (field := record.first_field(name)) is not None
            )
            return SitemapEntry(url_forms.url, next(filter(None, timestamps), None))
    return None


def _iter_url_candidates(record: Record) -> Iterator[str]:
    """Iterate over the possible URLs of an entry, most reliable first."""
    links = [field for field in record.fields if field.name == "link"]
    yield from (field.text for field in links if field.text and not field.namespace)
    for field in links:
        if field.attributes.get("href") and field.attributes.get("rel", "alternate").strip().lower() == "alternate":
            yield field.attributes["href"]
    for field in record.fields:
        is_permalink = field.attributes.get("ispermalink", "true").lower() == "true" and "://" in field.text
        if field.name == "guid" and is_permalink:
            yield field.text
    if record.attributes.get("about"):
        yield record.attributes["about"]


def _json_feed_items(text: str) -> list[object]:
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict) or "jsonfeed.org" not in str(value.get("version")):
        return []
    items = value.get("items")
    return items[:MAX_ENTRIES] if isinstance(items, list) else []


def _parse_json_entry(item: object, url: str) -> SitemapEntry | None:
    if not isinstance(item, dict):
        return None
    for name in ("url", "external_url", "id"):
        text = item.get(name)
        url_forms = (
            parse_url_forms(text, url if name != "id" else "") if isinstance(text, str) and text else Reason.INVALID_URL
        )
        if not isinstance(url_forms, Reason):
            dates = (parse_timestamp(str(item.get(key) or "")) for key in ("date_modified", "date_published"))
            return SitemapEntry(url_forms.url, next(filter(None, dates), None))
    return None
