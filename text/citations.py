"""What a text cites and what a document is cited by, as keys that are equal where both mean the same. Pure.

    cited("依照《中华人民共和国刑法》第九条和GB/T 1234—2008")  -> "name 刑法", "name 刑法第九条", "standard GB 1234"
    own_keys("刑法 第九条", urls)                                -> the same first two, and a key for each URL

A name is what stands between 《》, 〈〉 or 「」; a link counts where it stands in a sentence, not in a list of links.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from text.titles import series_name, title_key

MAX_CITATION_KEYS = 500  # keys of one text
MAX_TEXT_CHARS = 500_000  # characters of one text
MAX_DOCUMENT_KEYS = 12  # keys of one document
MIN_NAME_CHARS = 2  # letters of a name, 刑法; a sign alone names nothing
MAX_LINK_SHARE = 0.5  # of a block's text: where links are more than this, it is a list of links

_QUOTED_NAME = re.compile(r"《((?:[^《》]|《[^《》]{0,80}》){2,120})》|「([^「」]{4,80})」|〈([^〈〉]{4,80})〉")
_NUMBER = "[0-9一二三四五六七八九十百千零〇两]{1,12}"
_ARTICLE_NUMBER_AFTER = re.compile(rf"\s?第\s?{_NUMBER}条(?:之{_NUMBER})?")
_COUNTRY_PREFIX = "中华人民共和国"  # a law is cited with it or without it
_EDITION_SUFFIX = re.compile(r"[（(][^（）()]{0,20}(?:修正|修订|修改|试行|暂行|[12]\d{3}|公告)[^（）()]{0,20}[）)]\s*$")
# Of the standards' bodies those that write a number behind their letters; of others the year or the T tells.
_STANDARD_NUMBER = re.compile(
    r"(?<![A-Za-z0-9])(?:(?P<known>GBZ|GB|ISO|IEC|IEEE|RFC|ASTM|DIN|ANSI|API|ITU|ETSI|NIST)(?P<kind>/[A-Z]{1,4})?"
    r"|(?P<other>[A-Z]{2,4}\d{0,2})(?:(?P<voluntary>/[TZ])|(?=[\s-]?\d{2,6}(?:\.\d{1,3})?[-—–:](?:19|20)\d\d(?!\d))))"
    r"[\s-]?(?P<number>[A-Z]?\d{2,6}(?:[.-]\d{1,3}){0,3})(?!\d)"
)


def extract_citation_keys(text: str) -> Iterator[str]:
    """The keys of what `text` cites by name or by number, each once, at most `MAX_CITATION_KEYS`."""
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
    """The keys of the standards that `text` names: without the year, which a citation may leave out."""
    for match in _STANDARD_NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        letters = match["known"] or match["other"]
        kind = (match["kind"] or match["voluntary"] or "").replace("/T", "").replace("/Z", "")
        yield f"standard {letters}{kind} {match['number']}"


def extract_link_keys(blocks: Iterable[tuple[str, Sequence[tuple[int, int, str]]]]) -> Iterator[str]:
    """The keys of the links that stand in sentences: `blocks` are texts with their links (start, end, URL)."""
    link_keys = (url_key(url) for text, links in blocks if _is_running_text(text, links) for _, _, url in links)
    return islice(dict.fromkeys(link_keys), MAX_CITATION_KEYS)


def _is_running_text(text: str, links: Sequence[tuple[int, int, str]]) -> bool:
    return bool(links) and sum(end - start for start, end, _ in links) <= MAX_LINK_SHARE * len(text)


def document_keys(title: str, urls: Iterable[str]) -> list[str]:
    """The keys by which a document with this title and these URLs is cited."""
    names = [key for name in (series_name(title), title) if len(key := name_key(name)) >= MIN_NAME_CHARS]
    keys = [f"name {name}" for name in names] + list(iter_standard_keys(title)) + [url_key(url) for url in urls if url]
    return list(dict.fromkeys(keys))[:MAX_DOCUMENT_KEYS]


def name_key(name: str) -> str:
    """A title as it is compared: letters and digits alone, without the country of a law and without its edition."""
    return title_key(_EDITION_SUFFIX.sub("", name).replace(_COUNTRY_PREFIX, ""))


def url_key(url: str) -> str:
    """A URL as it is compared: without its scheme, without a place in the page."""
    return "url " + url.partition("://")[2].partition("#")[0].rstrip("/")
