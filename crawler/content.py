"""What a page says, as two fingerprints that cost little: to tell whether two addresses show the same page.

The crawl compares pages of one run by them. Whether a page has changed since an earlier run is a matter of its article,
which the extractor reads: see `FrontierTable.discount_noise`.
"""

from dataclasses import dataclass
from hashlib import blake2b

from lxml import etree

_SPACE = b" \t\n\f\r"
_DIGITS = b"0123456789"
_FEWEST = 40  # bytes of text: what says less (a script makes the page) says nothing of whether it is another page's


@dataclass(frozen=True)
class Content:
    """Fingerprints of a page's text without white space, links and all: `exact`, and `loose`, in which digits (dates,
    counters, numbers of pages) do not count. Both "" where there is hardly any text."""

    exact: str = ""
    loose: str = ""


NO_CONTENT = Content()


def content_of(root: etree._Element) -> Content:
    """The fingerprints of a page. Takes scripts and styles out of the tree."""
    etree.strip_elements(root, "script", "style", "noscript", "template", with_tail=False)
    text = etree.tostring(root, method="text", encoding="utf-8").translate(None, _SPACE)
    if len(text) < _FEWEST:
        return NO_CONTENT
    return Content(_digest(text), _digest(text.translate(None, _DIGITS)))


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=12).hexdigest()
