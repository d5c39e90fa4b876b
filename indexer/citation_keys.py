"""Keys of the works that a text cites and of the works that a document is. Equal keys mean the same work. Pure.

    extract_citation_keys("依照《中华人民共和国刑法》第九条和GB/T 1234—2008")
        -> "name 刑法", "name 刑法第九条", "standard GB 1234"
    document_keys("刑法 第九条", urls)    -> the same first two, and a key for each URL

A name is the text between 《》, 〈〉 or 「」. A link counts inside a sentence, not in a list of links.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from text.titles import series_name, title_key

MAX_CITATION_KEYS = 500  # per text
MAX_TEXT_CHARS = 500_000  # per text
MAX_DOCUMENT_KEYS = 12  # per document
MIN_NAME_CHARS = 2  # e.g. 刑法; a single character names nothing
MAX_LINK_SHARE = 0.5  # share of a block's text; above this, the block is a list of links

_QUOTED_NAME = re.compile(r"《((?:[^《》]|《[^《》]{0,80}》){2,120})》|「([^「」]{4,80})」|〈([^〈〉]{4,80})〉")
_NUMBER = "[0-9一二三四五六七八九十百千零〇两]{1,12}"
_ARTICLE_NUMBER_AFTER = re.compile(rf"\s?第\s?{_NUMBER}条(?:之{_NUMBER})?")
_COUNTRY_PREFIX = "中华人民共和国"  # laws are cited with or without it
_EDITION_SUFFIX = re.compile(r"[（(][^（）()]{0,20}(?:修正|修订|修改|试行|暂行|[12]\d{3}|公告)[^（）()]{0,20}[）)]\s*$")
# Known bodies write a number after their letters. For other letters, the year or the T identifies a standard.
_STANDARD_NUMBER = re.compile(
    r"(?<![A-Za-z0-9])(?:(?P<known>GBZ|GB|ISO|IEC|IEEE|RFC|ASTM|DIN|ANSI|API|ITU|ETSI|NIST)(?P<kind>/[A-Z]{1,4})?"
    r"|(?P<other>[A-Z]{2,4}\d{0,2})(?:(?P<voluntary>/[TZ])|(?=[\s-]?\d{2,6}(?:\.\d{1,3})?[-—–:](?:19|20)\d\d(?!\d))))"
    r"[\s-]?(?P<number>[A-Z]?\d{2,6}(?:[.-]\d{1,3}){0,3})(?!\d)"
)


def extract_citation_keys(text: str) -> Iterator[str]:
    """Iterate over the keys of cited names and standards, each once, at most `MAX_CITATION_KEYS`."""
    text = text[:MAX_TEXT_CHARS]
    return islice(dict.fromkeys(chain(_iter_name_keys(text), iter_standard_keys(text))), MAX_CITATION_KEYS)


def _iter_name_keys(text: str) -> Iterator[str]:
    for match in _QUOTED_NAME.finditer(text):
        name = name_key(match[match.lastindex or 0])
        if len(name) >= MIN_NAME_CHARS:
            yield f"name {name}"
            if part := _ARTICLE_NUMBER_AFTER.match(text, match.end()):
                yield f"name {name}{title_key(part[0])}"


def iter_standard_keys(text: str) -> Iterator[str]:
    """Iterate over the keys of cited standards, without the year, which a citation may omit."""
    for match in _STANDARD_NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        letters = match["known"] or match["other"]
        kind = (match["kind"] or match["voluntary"] or "").replace("/T", "").replace("/Z", "")
        yield f"standard {letters}{kind} {match['number']}"


def extract_link_keys(blocks: Iterable[tuple[str, Sequence[tuple[int, int, str]]]]) -> Iterator[str]:
    """Iterate over the keys of links inside sentences. `blocks` are texts with their links (start, end, URL)."""
    link_keys = (url_key(url) for text, links in blocks if _is_running_text(text, links) for _, _, url in links)
    return islice(dict.fromkeys(link_keys), MAX_CITATION_KEYS)


def _is_running_text(text: str, links: Sequence[tuple[int, int, str]]) -> bool:
    return bool(links) and sum(end - start for start, end, _ in links) <= MAX_LINK_SHARE * len(text)


def document_keys(title: str, urls: Iterable[str]) -> list[str]:
    """Return the keys by which other texts cite a document with this title and these URLs."""
    names = [key for name in (series_name(title), title) if len(key := name_key(name)) >= MIN_NAME_CHARS]
    keys = [f"name {name}" for name in names] + list(iter_standard_keys(title)) + [url_key(url) for url in urls if url]
    return list(dict.fromkeys(keys))[:MAX_DOCUMENT_KEYS]


def name_key(name: str) -> str:
    """Normalize a title: letters and digits only, without the country of a law and without the edition."""
    return title_key(_EDITION_SUFFIX.sub("", name).replace(_COUNTRY_PREFIX, ""))


def url_key(url: str) -> str:
    """Normalize a URL for comparison: without scheme and fragment."""
    return "url " + url.partition("://")[2].partition("#")[0].rstrip("/")
