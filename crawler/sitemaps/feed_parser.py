"""Parse feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed. Titles are plain text without markup."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

from crawler.sitemaps.timestamps import parse_timestamp
from crawler.sitemaps.xml_records import Field, Record, decode_xml, iter_xml_records
from crawler.urls.canonical import canonicalize_url, parse_url_forms
from domain.outcome import Reason

MAX_ENTRIES = 5000
MAX_FEED_BYTES = 10_000_000  # the rest is ignored
_MAX_TITLE_CHARS = 500
_RECORD_NAMES = frozenset(("item", "entry"))
_FEED_TAG = re.compile(r"<(?:\w+:)?(rss|feed|rdf|channel)[\s>]", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_DATE_FIELDS = ("updated", "modified", "pubdate", "published", "date", "issued", "created")


@dataclass(frozen=True)
class FeedEntry:
    """One feed entry.

    Attributes:
        url: canonical URL.
        request_url: URL as a browser would request it.
        title: plain text.
        updated_at: epoch seconds of the change or publication, None if not given.
    """

    url: str
    request_url: str
    title: str = ""
    updated_at: float | None = None


@dataclass(frozen=True)
class Feed:
    """A parsed feed.

    Attributes:
        kind: `rss`, `atom` or `json`, "" if the file is not a feed.
        rejected_count: number of entries without a canonical URL.
    """

    kind: str = ""
    title: str = ""
    entries: tuple[FeedEntry, ...] = ()
    rejected_count: int = 0


EMPTY_FEED = Feed()


def parse_feed(body: bytes, url: str, content_type: str = "") -> Feed:
    """Parse the feed in a response from `url`.

    Returns EMPTY_FEED for other files. Accepts any bytes, fetches nothing.
    """
    text = decode_xml(body[:MAX_FEED_BYTES], content_type)
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _parse_json_feed(text, url)
    match = _FEED_TAG.search(text[:100_000])
    if match is None:
        return EMPTY_FEED
    title = ""
    records: list[Record] = []
    for record in iter_xml_records(text, _RECORD_NAMES):
        if record.name:
            records.append(record)
            if len(records) >= MAX_ENTRIES:
                break
        elif not title and record.fields[0].name == "title":
            title = _plain_text(record.fields[0].text)
    kind = "atom" if match[1].lower() == "feed" else "rss"
    return _build_feed(kind, title, (_parse_entry(record, url) for record in records))


def _build_feed(kind: str, title: str, entries: Iterable[FeedEntry | None]) -> Feed:
    """Build the feed with each URL once. Entries without a URL are counted."""
    entry_by_url: dict[str, FeedEntry] = {}
    rejected_count = 0
    for entry in entries:
        if entry is None:
            rejected_count += 1
        else:
            entry_by_url.setdefault(entry.url, entry)
    return Feed(kind, title, tuple(entry_by_url.values()), rejected_count)


def _parse_entry(record: Record, url: str) -> FeedEntry | None:
    base = canonicalize_url(record.base_url, url) if record.base_url else url
    for text in _iter_url_candidates(record):
        url_forms = parse_url_forms(text, url if isinstance(base, Reason) else base)
        if not isinstance(url_forms, Reason):
            title = record.first_field("title")
            timestamps = (
                parse_timestamp(field.text) for name in _DATE_FIELDS if (field := record.first_field(name)) is not None
            )
            return FeedEntry(
                *url_forms,
                _plain_text(title.text) if title else "",
                next((timestamp for timestamp in timestamps if timestamp), None),
            )
    return None


def _iter_url_candidates(record: Record) -> Iterator[str]:
    """Iterate over the possible URLs of an entry, most reliable first."""
    links = [field for field in record.fields if field.name == "link"]
    yield from (field.text for field in links if field.text and not field.namespace)
    yield from (
        field.attributes["href"] for field in links if field.attributes.get("href") and _is_alternate_link(field)
    )
    yield from (field.text for field in record.fields if field.name == "guid" and _is_permalink(field))
    if record.attributes.get("about"):
        yield record.attributes["about"]


def _is_alternate_link(field: Field) -> bool:
    return field.attributes.get("rel", "alternate").strip().lower() == "alternate"


def _is_permalink(field: Field) -> bool:
    return field.attributes.get("ispermalink", "true").lower() == "true" and "://" in field.text


def _parse_json_feed(text: str, url: str) -> Feed:
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return EMPTY_FEED
    if not isinstance(value, dict) or "jsonfeed.org" not in str(value.get("version")):
        return EMPTY_FEED
    items = value.get("items")
    items = items[:MAX_ENTRIES] if isinstance(items, list) else []
    return _build_feed("json", _plain_text(value.get("title")), (_parse_json_entry(item, url) for item in items))


def _parse_json_entry(item: object, url: str) -> FeedEntry | None:
    if not isinstance(item, dict):
        return None
    for name in ("url", "external_url", "id"):
        text = item.get(name)
        url_forms = (
            parse_url_forms(text, url if name != "id" else "") if isinstance(text, str) and text else Reason.INVALID_URL
        )
        if not isinstance(url_forms, Reason):
            dates = (parse_timestamp(str(item.get(key) or "")) for key in ("date_modified", "date_published"))
            return FeedEntry(
                *url_forms, _plain_text(item.get("title")), next((timestamp for timestamp in dates if timestamp), None)
            )
    return None


def _plain_text(text: object) -> str:
    """Convert a title to plain text. Feeds contain markup, escaped once or not at all."""
    if not isinstance(text, str):
        return ""
    unescaped_text = unescape(_TAG.sub("", text[: 10 * _MAX_TITLE_CHARS]))
    return " ".join(_TAG.sub("", unescaped_text).split())[:_MAX_TITLE_CHARS]
