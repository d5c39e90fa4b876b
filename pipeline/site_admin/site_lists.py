"""Lists of sites in files of other programs: one URL per line, OPML of feed readers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from crawler.sitemaps.xml_records import decode_xml, local_name
from crawler.urls.canonical import Scope, UrlRules, canonicalize_url, host_of, rejection_reason, url_origin
from crawler.urls.registrable_domains import registrable_domain
from domain.errors import SettingsError
from domain.outcome import Reason
from text.decoding.html_limits import trim_attributes

MAX_FILE_BYTES = 1024 * 1024
MAX_SHOWN_CHARS = 200  # of a part of the file, in a note


@dataclass(frozen=True)
class SiteList:
    """The sites of a file.

    Attributes:
        seeds: Canonical URLs where the crawl begins.
        notes: One line about each part of the file that the settings cannot express.
    """

    seeds: tuple[str, ...]
    notes: tuple[str, ...]


def parse_seed(text: str, base: str = "") -> str | Reason:
    """Return the canonical form of a seed URL, or the reason why a crawl cannot begin there."""
    url = canonicalize_url(text, base)
    if isinstance(url, Reason):
        return url
    return rejection_reason(url, UrlRules((Scope(host_of(url)),))) or url


@dataclass(frozen=True)
class OpmlOutline:
    """An entry of an OPML file; texts are "" if the entry has none."""

    title: str
    site_url: str
    feed_url: str
    is_folder: bool


def parse_plain_list(content: bytes) -> SiteList:
    """Parse one URL or host per line. Blank lines and lines that start with `#` are skipped."""
    seeds, notes = [], []
    for number, line in enumerate(decode_text(content).splitlines(), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            seed = parse_seed(add_scheme(text))
            if isinstance(seed, Reason):
                notes.append(f"line {number}: {text[:MAX_SHOWN_CHARS]!r} is not the URL of a page")
            else:
                seeds.append(seed)
    return SiteList(tuple(dict.fromkeys(seeds)), tuple(notes))


def parse_opml(content: bytes) -> SiteList:
    """Parse the subscriptions of a feed reader. Seeds are the sites; the crawl finds the feeds that they declare."""
    text = decode_xml(content)
    seeds, notes, outlines = [], [], read_outlines(text)
    if unread_count := max(0, text.lower().count("<outline") - len(outlines)):
        notes.append(f"entries that cannot be read: {unread_count}")
    for outline in outlines:
        site, feed = parse_seed(add_scheme(outline.site_url)), canonicalize_url(add_scheme(outline.feed_url))
        label = (outline.title or outline.feed_url or outline.site_url)[:MAX_SHOWN_CHARS]
        if not isinstance(site, Reason):
            seeds.append(site)
            if not isinstance(feed, Reason) and site_name(feed) != site_name(site):
                notes.append(f"{label}: the feed {feed} is on another site than {site} and is not read")
        elif not isinstance(feed, Reason):
            seeds.append(f"{url_origin(feed)}/")
            notes.append(f"{label}: the file names no page for the feed {feed}; the crawl begins at {seeds[-1]}")
        elif not outline.is_folder:
            notes.append(f"{label or 'an entry without a title'}: no URL of a page")
    return SiteList(tuple(dict.fromkeys(seeds)), tuple(notes))


def read_outlines(text: str) -> list[OpmlOutline]:
    """Return the entries of an OPML document. Raises SettingsError for another document.

    Feed readers write invalid XML, so it is read as leniently as HTML. Declared entities are not expanded.
    """
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    root = etree.fromstring(trim_attributes(f"<html>{text}".encode("utf-8", "replace")), parser)
    outlines = []
    for element in root.iter():
        if local_name(element) == "outline":
            values = {str(name).lower(): str(value).strip() for name, value in element.attrib.items()}
            site_url = values.get("htmlurl", "") or values.get("url", "")
            title = values.get("text", "") or values.get("title", "")
            outlines.append(OpmlOutline(title, site_url, values.get("xmlurl", ""), is_folder=len(element) > 0))
    if not outlines and "opml" not in map(local_name, root.iter()):
        raise SettingsError("the file is no OPML: it has no element <opml>")
    return outlines


def add_scheme(text: str) -> str:
    """Return a URL with its scheme: https by default, http for `feed://`."""
    url = text.removeprefix("feed:")
    if url.startswith("//"):
        return f"http:{url}"
    return url if "://" in url or not url else f"https://{url}"


def site_name(url: str) -> str:
    """Return the registrable domain of a canonical URL."""
    return registrable_domain(host_of(url))


def decode_text(content: bytes) -> str:
    """Return UTF-8 text without a byte order mark. Raises SettingsError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError("the file is not UTF-8: save it as UTF-8") from error


PARSERS: Mapping[str, Callable[[bytes], SiteList]] = {
    "list": parse_plain_list,
    "opml": parse_opml,
}
"""Name of a format -> function that parses the content of a file. All raise SettingsError."""


def detect_format(name: str, content: bytes) -> str:
    """Return the key of PARSERS for a file, by its name and its first bytes."""
    is_xml = content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    return "opml" if is_xml or Path(name).suffix.lower() == ".opml" else "list"
