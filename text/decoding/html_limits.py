"""What no HTML parser should be given: with these, libxml2 takes time that grows with the square of a page.

    without_excess_attributes   each attribute of a start tag is compared with all before it
    without_excess_depth        each end tag is looked for among all open elements

And with these a tree of a hundred times the page's bytes:

    without_excess_markup       elements and attributes without end

The crawler reads links with the same parser as the extractor reads articles: both cut here, before it. Bytes in an
encoding in which `<` is always `<`; what is done takes time that grows with their number alone.
"""

import re
from collections import Counter

MAX_ATTRIBUTES_PER_TAG = 500  # of a start tag; those of real pages have some thirty at most
MAX_TAGS_AND_ATTRIBUTES = (
    110_000  # start tags and attributes: a tree of some 60 MB; the largest of 1,541 real pages has half
)
MAX_DEPTH = 400  # of elements; libxml2's own limit is 2,048
SMALL_PAGE_BYTES = 50_000  # bytes: what attributes stand in so few costs a quarter of a second at most
# As HTML's tokenizer has it: a quote means something behind "=" only, and one that is not closed reaches to the end.
ATTRIBUTE_VALUE = rb"""(?:"[^"]*+"?+|'[^']*+'?+|[^\s>"'][^\s>]*+)?+"""
ATTRIBUTE = rb"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+" + ATTRIBUTE_VALUE + rb")?+"
BOUNDED_ATTRIBUTES = rb"(?:%b){0,%d}+" % (ATTRIBUTE, MAX_ATTRIBUTES_PER_TAG)
# Text up to its end tag, whatever stands in it.
RAW_TEXT_TAGS = (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
RAW_ELEMENT = rb"<(?i:%b)(?=[\s/>])" + BOUNDED_ATTRIBUTES + rb"[\s/]*+>[^<]*+(?:<(?!/(?i:%b)[\s/>])[^<]*+)*+"
COMMENT = rb"<!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+)"
# A tag in which more attributes have no room: to see that is half as much work as to count them. First letters, and
# values in closed quotes, are asked for before all others: most tags need no more.
SMALL_TAG = (
    rb"<(?!(?=[stxinSTXIN])(?i:%b)[\s/>])[a-zA-Z][^>=]{0,%d}+(?:=(?:\"[^\"]*+\"|\s*+%b)[^>=]{0,%d}+){0,%d}+>[^<]*+"
) % (
    b"|".join(RAW_TEXT_TAGS), MAX_ATTRIBUTES_PER_TAG, ATTRIBUTE_VALUE, MAX_ATTRIBUTES_PER_TAG // 2, MAX_ATTRIBUTES_PER_TAG // 2
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
    """A page with the first MAX_ATTRIBUTES attributes of each start tag."""
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
    """Where what has no long tag ends, of a page from `start` on: at such a tag, or at the page's end."""
    match = WITHIN_LIMITS.match(html, start)
    return match.end() if match else start


def truncate_markup(html: bytes) -> bytes:
    """A page up to the tag at which its elements and attributes are more than MAX_MARKUP; the rest is left out.

    Counted by `<`, but for end tags, and `=`, so that what an ordinary page has is counted in no time.
    """
    if html.count(b"<") - html.count(b"</") + html.count(b"=") <= MAX_TAGS_AND_ATTRIBUTES:
        return html
    for count, sign in enumerate(MARKUP_SIGN.finditer(html), 1):
        if count > MAX_TAGS_AND_ATTRIBUTES:
            return html[: max(html.rfind(b"<", 0, sign.start()), 0)]
    return html


def flatten_deep_elements(html: bytes) -> bytes:
    """A page of at most MAX_DEPTH elements within each other, for parsers that have given up on its depth.

    What would be deeper loses its tags, never its text: blocks become line breaks, links lose what they are around.
    End tags without start are left out.
    """
    return ANY_TAG.sub(_DepthLimiter().rewrite_tag, html)


class _DepthLimiter:
    """The open elements of a page in the course of being read, by their explicit end tags alone."""

    def __init__(self) -> None:
        self.depth = 0
        self.open_by_name = Counter[bytes]()
        self.dropped_by_name = Counter[bytes]()  # those whose start tag was left out

    def rewrite_tag(self, tag: re.Match[bytes]) -> bytes:
        """What becomes of a tag."""
        name = tag[2].lower()
        if name in VOID_TAGS or name in RAW_TEXT_TAGS:
            return tag[0]
        return self.rewrite_end_tag(name, tag[0]) if tag[1] else self.rewrite_start_tag(name, tag[0])

    def rewrite_start_tag(self, name: bytes, tag: bytes) -> bytes:
        """What becomes of a start tag."""
        if self.depth < MAX_DEPTH:
            self.depth += 1
            self.open_by_name[name] += 1
            return tag
        self.dropped_by_name[name] += 1
        if name == b"a":
            return tag + b"</a>"
        return b"" if name in INLINE_TAGS else b"<br>"

    def rewrite_end_tag(self, name: bytes, tag: bytes) -> bytes:
        """What becomes of an end tag: it belongs to the innermost element of its name."""
        if self.dropped_by_name[name]:
            self.dropped_by_name[name] -= 1
            return b""
        if not self.open_by_name[name]:
            return b""
        self.depth -= 1
        self.open_by_name[name] -= 1
        return tag
