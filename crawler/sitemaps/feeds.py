"""What a feed offers: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed. Titles are plain text, without markup."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

from crawler.sitemaps.timestamps import moment_of
from crawler.sitemaps.xml_records import Field, Record, records, xml_text
from crawler.urls.canonical import address_of, canonical
from docstore.model import Reason

MAX_ENTRIES = 5000
LARGEST = 10_000_000  # bytes that are read
_LONGEST_TITLE = 500
_RECORDS = frozenset(("item", "entry"))
_FEED_TAG = re.compile(r"<(?:\w+:)?(rss|feed|rdf|channel)[\s>]", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_DATES = ("updated", "modified", "pubdate", "published", "date", "issued", "created")


@dataclass(frozen=True)
class FeedEntry:
    """One entry: its URL, canonical and as it is to be asked for, plain title, and when it was published or
    changed (seconds), if it says."""

    url: str
    fetch: str
    title: str = ""
    at: float | None = None


@dataclass(frozen=True)
class Feed:
    """A feed that was read: `kind` is `rss`, `atom` or `json`, "" for what is no feed. `refused` counts entries whose
    URL has no canonical form."""

    kind: str = ""
    title: str = ""
    entries: tuple[FeedEntry, ...] = ()
    refused: int = 0


NO_FEED = Feed()


def read_feed(body: bytes, url: str, content_type: str = "") -> Feed:
    """The feed in an answer from `url`; NO_FEED if there is none. Any bytes will do, nothing is fetched."""
    text = xml_text(body[:LARGEST], content_type)
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _json_feed(text, url)
    match = _FEED_TAG.search(text[:100_000])
    if match is None:
        return NO_FEED
    title = ""
    found: list[Record] = []
    for record in records(text, _RECORDS):
        if record.name:
            found.append(record)
            if len(found) >= MAX_ENTRIES:
                break
        elif not title and record.fields[0].name == "title":
            title = _words(record.fields[0].text)
    kind = "atom" if match[1].lower() == "feed" else "rss"
    return _feed(kind, title, (_entry(record, url) for record in found))


def _feed(kind: str, title: str, entries: Iterable[FeedEntry | None]) -> Feed:
    """Each URL once; the entries that have none are counted."""
    once: dict[str, FeedEntry] = {}
    refused = 0
    for entry in entries:
        if entry is None:
            refused += 1
        else:
            once.setdefault(entry.url, entry)
    return Feed(kind, title, tuple(once.values()), refused)


def _entry(record: Record, url: str) -> FeedEntry | None:
    base = canonical(record.base, url) if record.base else url
    for text in _addresses(record):
        address = address_of(text, url if isinstance(base, Reason) else base)
        if not isinstance(address, Reason):
            title = record.first("title")
            moments = (moment_of(one.text) for name in _DATES if (one := record.first(name)) is not None)
            return FeedEntry(*address, _words(title.text) if title else "", next((at for at in moments if at), None))
    return None


def _addresses(record: Record) -> Iterator[str]:
    """Where an entry may lead, the surest place first."""
    links = [one for one in record.fields if one.name == "link"]
    yield from (one.text for one in links if one.text and not one.namespace)
    yield from (one.attributes["href"] for one in links if one.attributes.get("href") and _is_page(one))
    yield from (one.text for one in record.fields if one.name == "guid" and _is_address(one))
    if record.attributes.get("about"):
        yield record.attributes["about"]


def _is_page(link: Field) -> bool:
    return link.attributes.get("rel", "alternate").strip().lower() == "alternate"


def _is_address(guid: Field) -> bool:
    return guid.attributes.get("ispermalink", "true").lower() == "true" and "://" in guid.text


def _json_feed(text: str, url: str) -> Feed:
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return NO_FEED
    if not isinstance(value, dict) or "jsonfeed.org" not in str(value.get("version")):
        return NO_FEED
    items = value.get("items")
    items = items[:MAX_ENTRIES] if isinstance(items, list) else []
    return _feed("json", _words(value.get("title")), (_json_entry(item, url) for item in items))


def _json_entry(item: object, url: str) -> FeedEntry | None:
    if not isinstance(item, dict):
        return None
    for name in ("url", "external_url", "id"):
        text = item.get(name)
        address = address_of(text, url if name != "id" else "") if isinstance(text, str) and text else Reason.BAD_URL
        if not isinstance(address, Reason):
            dates = (moment_of(str(item.get(key) or "")) for key in ("date_modified", "date_published"))
            return FeedEntry(*address, _words(item.get("title")), next((at for at in dates if at), None))
    return None


def _words(text: object) -> str:
    """A title as plain text: feeds put markup into it, escaped once or not at all."""
    if not isinstance(text, str):
        return ""
    bare = unescape(_TAG.sub("", text[: 10 * _LONGEST_TITLE]))
    return " ".join(_TAG.sub("", bare).split())[:_LONGEST_TITLE]
