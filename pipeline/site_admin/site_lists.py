"""Lists of sites in files of other programs: one URL per line, OPML of feed readers, YAML of Elastic Open Crawler."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from crawler.urls.canonical import canonicalize_url, host_of, url_origin
from crawler.urls.registrable_domains import registrable_domain
from domain.errors import SettingsError
from domain.outcome import Reason
from pipeline.site_admin.open_crawler import parse_open_crawler
from pipeline.site_admin.site_list import MAX_SHOWN_CHARS, SiteList, parse_seed

MAX_FILE_BYTES = 1024 * 1024


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
            seed = parse_seed(text if "://" in text else f"https://{text}")
            if isinstance(seed, Reason):
                notes.append(f"line {number}: {text[:MAX_SHOWN_CHARS]!r} is not the URL of a page")
            else:
                seeds.append(seed)
    return site_list(seeds, notes)


def parse_opml(content: bytes) -> SiteList:
    """Parse the subscriptions of a feed reader. Seeds are the sites; the crawl finds the feeds that they declare."""
    seeds, notes = [], []
    for outline in read_outlines(content):
        site, feed = parse_seed(outline.site_url), canonicalize_url(outline.feed_url)
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
    return site_list(seeds, notes)


def read_outlines(content: bytes) -> Iterable[OpmlOutline]:
    """Yield the entries of an OPML document. Raises SettingsError for invalid XML or XML with a document type."""
    if b"<!DOCTYPE" in content.replace(b"\0", b""):
        raise SettingsError("the file has a document type, which can declare XML entities: remove the line <!DOCTYPE")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise SettingsError(f"the file is not valid XML: {str(error)[:MAX_SHOWN_CHARS]}") from error
    if etree.QName(root).localname.lower() != "opml":
        raise SettingsError("the file is no OPML: its first element is not <opml>")
    for element in root.iter("outline", "Outline"):
        values = {str(name).lower(): str(value).strip() for name, value in element.attrib.items()}
        site_url = values.get("htmlurl", "") or values.get("url", "")
        title = values.get("text", "") or values.get("title", "")
        yield OpmlOutline(title, site_url, values.get("xmlurl", ""), is_folder=len(element) > 0)


def site_name(url: str) -> str:
    """Return the registrable domain of a canonical URL."""
    return registrable_domain(host_of(url))


def site_list(seeds: Iterable[str], notes: Iterable[str]) -> SiteList:
    """Return a list of whole hosts."""
    unique_seeds = tuple(dict.fromkeys(seeds))
    return SiteList(unique_seeds, tuple(dict.fromkeys(str(host_of(seed)) for seed in unique_seeds)), tuple(notes))


def decode_text(content: bytes) -> str:
    """Return UTF-8 text without a byte order mark. Raises SettingsError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError("the file is not UTF-8: save it as UTF-8") from error


PARSERS: Mapping[str, Callable[[bytes], SiteList]] = {
    "list": parse_plain_list,
    "opml": parse_opml,
    "open-crawler": parse_open_crawler,
}
"""Name of a format -> function that parses the content of a file. All raise SettingsError."""


def detect_format(name: str, content: bytes) -> str:
    """Return the key of PARSERS for a file, by its name and its first bytes."""
    suffix = Path(name).suffix.lower()
    if suffix in (".yml", ".yaml"):
        return "open-crawler"
    is_xml = content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    return "opml" if is_xml or suffix == ".opml" else "list"
