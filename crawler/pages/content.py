"""What a page says, as fingerprints that cost little: to tell whether two URLs show the same page, and whether a page
says anything that others do not.

The crawl compares pages of one run by them. Whether a page has changed since an earlier run is a matter of its article,
which the extractor reads: see `FrontierTable.discount_spurious_changes`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import unquote_to_bytes

from lxml import etree

_SPACE = b" \t\n\f\r"
_DIGITS = b"0123456789"
_FEWEST = 40  # bytes of text: what says less (a script makes the page) says nothing of whether it is another page's
_ENDS = (b". ", b"! ", b"? ", b"; ", *(end.encode() for end in "。！？；"))  # of sentences
_NOTHING = _SPACE + _DIGITS
_WORDS = re.compile(rb"[^0-9A-Za-z\x80-\xff]+")

_NOTHING = _SPACE + _DIGITS
_MAX_PIECES = 400
_MIN_TOKEN = 4  # bytes
_MAX_TOKENS = 12


@dataclass(frozen=True)
class Content:
    """Fingerprints of a page's text without white space: `exact` of all, links too, and `loose`, in which digits
    (dates, counters, numbers of pages) do not count. Both "" where there is hardly any text.

    `pieces` are the lines and sentences outside of links, each as (hash, bytes), without digits and without what the
    URL says already: "nothing was found for xyz" is the same whatever was looked for. The hashes hold for one process.
    """

    exact: str = ""
    loose: str = ""
    pieces: tuple[tuple[int, int], ...] = ()


NO_CONTENT = Content()


def content_of(root: etree._Element, url: str = "", anchors: Iterable[str] = ()) -> Content:
    """The fingerprints of a page at `url` whose links have these `anchors`. Takes scripts, styles and links out of the
    tree."""
    etree.strip_elements(root, "script", "style", "noscript", "template", "a", with_tail=False)
    outside = etree.tostring(root, method="text", encoding="utf-8")
    text = outside.translate(None, _SPACE) + "".join(anchors).encode("utf-8", "replace").translate(None, _SPACE)
    if len(text) < _FEWEST:
        return NO_CONTENT
    return Content(_digest(text), _digest(text.translate(None, _DIGITS)), _pieces(outside, _tokens(url)))


def content_of_file(body: bytes) -> Content:
    """The fingerprint of a document: it says what another one says where it is the same file."""
    digest = _digest(body)
    return Content(digest, digest, ((hash(digest), len(body)),))


def _tokens(url: str) -> list[bytes]:
    """What stands in a URL and may stand in the text: its parts, the longest first, and their words."""
    _, _, rest = url.partition("://")
    parts = [one for one in re.split(r"[/?&=]", rest.partition("/")[2]) if one]
    said = [unquote_to_bytes(one) for one in parts]
    words = [word for one in said for word in _WORDS.split(one)]
    found = {one for one in (*said, *words) if len(one) >= _MIN_TOKEN}
    return sorted(found, key=len, reverse=True)[:_MAX_TOKENS]


def _pieces(text: bytes, tokens: list[bytes]) -> tuple[tuple[int, int], ...]:
    for token in tokens:
        text = text.replace(token, b"")
    for end in _ENDS:
        text = text.replace(end, b"\n")
    bare = (one.translate(None, _NOTHING) for one in text.split(b"\n", _MAX_PIECES))
    return tuple((hash(one), len(one)) for one in bare if one)


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=12).hexdigest()
