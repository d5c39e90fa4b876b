"""Cheap fingerprints of a page's content, to find pages with equal content and pages without new content.

The crawl compares pages of one run with them. Changes since an earlier run are detected on the extracted article: see
`FrontierTable.discount_spurious_changes`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import unquote_to_bytes
from zlib import crc32

from lxml import etree

_WHITESPACE = b" \t\n\f\r"
_DIGITS = b"0123456789"
_MIN_TEXT_BYTES = 40  # pages with less text (script-built pages) are not compared
_SENTENCE_ENDS = (b". ", b"! ", b"? ", b"; ", *(end.encode() for end in "。！？；"))
_IGNORED_BYTES = _WHITESPACE.replace(b"\n", b"") + _DIGITS  # in a line
_NON_WORD = re.compile(rb"[^0-9A-Za-z\x80-\xff]+")

_MAX_SENTENCES = 400
_MIN_TOKEN_BYTES = 4
_MAX_URL_TOKENS = 12


@dataclass(frozen=True)
class ContentFingerprint:
    """Fingerprints of a page's text without white space.

    Attributes:
        exact_digest: digest of the whole text with links, "" for very short text.
        digitless_digest: the same without digits (dates, counters, page numbers).
        sentence_hashes: (CRC-32, size in bytes) of each line or sentence outside links, without digits and URL words.
            "Nothing was found for xyz" is then equal for every query.
    """

    exact_digest: str = ""
    digitless_digest: str = ""
    sentence_hashes: tuple[tuple[int, int], ...] = ()


EMPTY_FINGERPRINT = ContentFingerprint()


def fingerprint_page(root: etree._Element, url: str = "", anchors: Iterable[str] = ()) -> ContentFingerprint:
    """Compute the fingerprints of a page at `url` with these link texts.

    Removes scripts, styles and links from the tree.
    """
    etree.strip_elements(root, "script", "style", "noscript", "template", "a", with_tail=False)
    text_outside_links = etree.tostring(root, method="text", encoding="utf-8")
    text = text_outside_links.translate(None, _WHITESPACE) + "".join(anchors).encode("utf-8", "replace").translate(
        None, _WHITESPACE
    )
    if len(text) < _MIN_TEXT_BYTES:
        return EMPTY_FINGERPRINT
    return ContentFingerprint(
        _digest(text), _digest(text.translate(None, _DIGITS)), _hash_sentences(text_outside_links, _url_tokens(url))
    )


def fingerprint_document(body: bytes) -> ContentFingerprint:
    """Compute the fingerprint of a document. Only identical files are equal."""
    digest = _digest(body)
    return ContentFingerprint(digest, digest, ((crc32(digest.encode()), len(body)),))


def _url_tokens(url: str) -> list[bytes]:
    """Return the parts and words of a URL that may occur in the text, parts and longer ones first."""
    _, _, remainder = url.partition("://")
    parts = [part for part in re.split(r"[/?&=]", remainder.partition("/")[2]) if part]
    decoded_parts = [unquote_to_bytes(part) for part in parts]
    word_tokens = [word for part in decoded_parts for word in _NON_WORD.split(part)]
    tokens = {part for part in (*decoded_parts, *word_tokens) if len(part) >= _MIN_TOKEN_BYTES}
    return sorted(tokens, key=len, reverse=True)[:_MAX_URL_TOKENS]


def _hash_sentences(text: bytes, tokens: list[bytes]) -> tuple[tuple[int, int], ...]:
    for token in tokens:
        text = text.replace(token, b"")
    for end in _SENTENCE_ENDS:
        text = text.replace(end, b"\n")
    sentences = text.translate(None, _IGNORED_BYTES).split(b"\n", _MAX_SENTENCES)
    sentences[-1] = sentences[-1].replace(b"\n", b"")  # the rest of a long text
    return tuple([(crc32(sentence), len(sentence)) for sentence in sentences if sentence])


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=12).hexdigest()
