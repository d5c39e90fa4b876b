"""Limit HTML before parsing. libxml2 needs quadratic time without these limits.

    trim_attributes          each attribute of a start tag is compared with all before it
    flatten_deep_elements    each end tag is searched among all open elements

Without this one, the tree needs a hundred times the page's bytes:

    truncate_markup          unlimited elements and attributes

Crawler and extractor use the same parser and apply these limits first. The input is bytes in an encoding in which `<`
is always `<`. The time is linear in the size.
"""

import re
from collections import Counter

MAX_ATTRIBUTES_PER_TAG = 500  # per start tag; real pages have about thirty at most
# Start tags and attributes: a tree of about 60 MB. The largest of 1,541 real pages has half of it.
MAX_TAGS_AND_ATTRIBUTES = 110_000
MAX_DEPTH = 400  # nested elements; libxml2's own limit is 2,048
SMALL_PAGE_BYTES = 50_000  # the attributes of a page this small cost at most a quarter of a second
# As in HTML's tokenizer: a quote has a meaning only after "=". Without a closing quote it reaches to the end.
ATTRIBUTE_VALUE = rb"""(?:"[^"]*+"?+|'[^']*+'?+|[^\s>"'][^\s>]*+)?+"""
ATTRIBUTE = rb"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+" + ATTRIBUTE_VALUE + rb")?+"
BOUNDED_ATTRIBUTES = rb"(?:%b){0,%d}+" % (ATTRIBUTE, MAX_ATTRIBUTES_PER_TAG)
# Raw text: everything up to the end tag is text.
RAW_TEXT_TAGS = (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
RAW_ELEMENT = rb"<(?i:%b)(?=[\s/>])" + BOUNDED_ATTRIBUTES + rb"[\s/]*+>[^<]*+(?:<(?!/(?i:%b)[\s/>])[^<]*+)*+"
COMMENT = rb"<!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+)"
# Fast path: matches a tag too short to exceed the attribute limit, without counting. Raw-text tags are excluded by
# first letter; quoted values are tried first.
SMALL_TAG = (
    rb"<(?!(?=[stxinSTXIN])(?i:%b)[\s/>])[a-zA-Z][^>=]{0,%d}+(?:=(?:\"[^\"]*+\"|\s*+%b)[^>=]{0,%d}+){0,%d}+>[^<]*+"
) % (
    b"|".join(RAW_TEXT_TAGS), MAX_ATTRIBUTES_PER_TAG, ATTRIBUTE_VALUE,
    MAX_ATTRIBUTES_PER_TAG // 2, MAX_ATTRIBUTES_PER_TAG // 2,
)  # fmt: skip
NON_TAG_TEXT = rb"[^<]++|<(?!!--|[a-zA-Z])[^<]*+"
RAW_ELEMENTS = b"|".join(RAW_ELEMENT % (name, name) for name in RAW_TEXT_TAGS)
WITHIN_LIMITS = re.compile(b"(?:%b)*+" % b"|".join((SMALL_TAG, NON_TAG_TEXT, COMMENT, RAW_ELEMENTS)))
OVERSIZED_TAG = re.compile(rb"(<[a-zA-Z][^\s/>]*+%b)((?:%b)*+)" % (BOUNDED_ATTRIBUTES, ATTRIBUTE))
MARKUP_SIGN = re.compile(rb"<(?!/)|=")
ANY_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*+)(?:%b)*+[\s/]*+>?" % ATTRIBUTE)
VOID_TAGS = frozenset(
    (
        b"area", b"base", b"br", b"col", b"embed", b"frame", b"hr", b"img", b"input", b"link", b"meta", b"param",
        b"source", b"track", b"wbr",
    )
)  # fmt: skip
INLINE_TAGS = frozenset(
    (
        b"abbr", b"acronym", b"b", b"bdo", b"big", b"cite", b"code", b"del", b"dfn", b"em", b"font", b"i", b"ins",
        b"kbd", b"label", b"mark", b"nobr", b"q", b"s", b"samp", b"small", b"span", b"strike", b"strong", b"sub",
        b"sup", b"tt", b"u", b"var",
    )
)  # fmt: skip


def trim_attributes(html: bytes) -> bytes:
    """Keep only the first MAX_ATTRIBUTES_PER_TAG attributes of each start tag."""
    if len(html) <= SMALL_PAGE_BYTES:
        return html
    parts, copied_until, position = [], 0, 0
    while tag := OVERSIZED_TAG.match(html, find_oversized_tag(html, position)):
        position = tag.end()
        if tag[2]:
            parts.append(html[copied_until : tag.end(1)])
            copied_until = position
    return b"".join([*parts, html[copied_until:]]) if parts else html


def find_oversized_tag(html: bytes, start: int) -> int:
    """Return the position of the next tag with too many attributes from `start` on, or the end of the page."""
    match = WITHIN_LIMITS.match(html, start)
    return match.end() if match else start


def truncate_markup(html: bytes) -> bytes:
    """Cut a page at the tag that exceeds MAX_TAGS_AND_ATTRIBUTES.

    Counts `<` (without end tags) and `=`, which is fast for ordinary pages.
    """
    if len(html) <= MAX_TAGS_AND_ATTRIBUTES:  # most pages have fewer bytes
        return html
    if html.count(b"<") - html.count(b"</") + html.count(b"=") <= MAX_TAGS_AND_ATTRIBUTES:
        return html
    for count, sign in enumerate(MARKUP_SIGN.finditer(html), 1):
        if count > MAX_TAGS_AND_ATTRIBUTES:
            return html[: max(html.rfind(b"<", 0, sign.start()), 0)]
    return html


def flatten_deep_elements(html: bytes) -> bytes:
    """Limit a page to MAX_DEPTH nested elements, for parsers that failed on its depth.

    Deeper elements lose their tags, but not their text. Blocks become line breaks, links lose their content. End tags
    without a start tag are removed.
    """
    return ANY_TAG.sub(_DepthLimiter().rewrite_tag, html)


class _DepthLimiter:
    """The open elements of a page, tracked by explicit end tags only."""

    def __init__(self) -> None:
        self.depth = 0
        self.open_by_name = Counter[bytes]()
        self.dropped_by_name = Counter[bytes]()  # elements whose start tag was removed

    def rewrite_tag(self, tag: re.Match[bytes]) -> bytes:
        """Return the replacement of a tag."""
        name = tag[2].lower()
        if name in VOID_TAGS or name in RAW_TEXT_TAGS:
            return tag[0]
        return self.rewrite_end_tag(name, tag[0]) if tag[1] else self.rewrite_start_tag(name, tag[0])

    def rewrite_start_tag(self, name: bytes, tag: bytes) -> bytes:
        """Return the replacement of a start tag."""
        if self.depth < MAX_DEPTH:
            self.depth += 1
            self.open_by_name[name] += 1
            return tag
        self.dropped_by_name[name] += 1
        if name == b"a":
            return tag + b"</a>"
        return b"" if name in INLINE_TAGS else b"<br>"

    def rewrite_end_tag(self, name: bytes, tag: bytes) -> bytes:
        """Return the replacement of an end tag. It closes the innermost element with its name."""
        if self.dropped_by_name[name]:
            self.dropped_by_name[name] -= 1
            return b""
        if not self.open_by_name[name]:
            return b""
        self.depth -= 1
        self.open_by_name[name] -= 1
        return tag
