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

MAX_ATTRIBUTES = 500  # of a start tag; those of real pages have some thirty at most
MAX_MARKUP = 110_000  # start tags and attributes: a tree of some 60 MB; the largest of 1,541 real pages has half
MAX_DEPTH = 400  # of elements; libxml2's own limit is 2,048
SHORT = 50_000  # bytes: what attributes stand in so few costs a quarter of a second at most
# As HTML's tokenizer has it: a quote means something behind "=" only, and one that is not closed reaches to the end.
VALUE = rb"""(?:"[^"]*+"?+|'[^']*+'?+|[^\s>"'][^\s>]*+)?+"""
ATTRIBUTE = rb"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+" + VALUE + rb")?+"
FEW = rb"(?:%b){0,%d}+" % (ATTRIBUTE, MAX_ATTRIBUTES)
# Text up to its end tag, whatever stands in it.
RAW = (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
RAW_ELEMENT = rb"<(?i:%b)(?=[\s/>])" + FEW + rb"[\s/]*+>[^<]*+(?:<(?!/(?i:%b)[\s/>])[^<]*+)*+"
COMMENT = rb"<!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+)"
# A tag in which more attributes have no room: to see that is half as much work as to count them. First letters, and
# values in closed quotes, are asked for before all others: most tags need no more.
SMALL_TAG = (
    rb"<(?!(?=[stxinSTXIN])(?i:%b)[\s/>])[a-zA-Z][^>=]{0,%d}+(?:=(?:\"[^\"]*+\"|\s*+%b)[^>=]{0,%d}+){0,%d}+>[^<]*+"
) % (
    b"|".join(RAW), MAX_ATTRIBUTES, VALUE, MAX_ATTRIBUTES // 2, MAX_ATTRIBUTES // 2
)  # fmt: skip
NO_TAG = rb"[^<]++|<(?!!--|[a-zA-Z])[^<]*+"
RAW_ELEMENTS = b"|".join(RAW_ELEMENT % (name, name) for name in RAW)
ORDINARY = re.compile(b"(?:%b)*+" % b"|".join((SMALL_TAG, NO_TAG, COMMENT, RAW_ELEMENTS)))
LONG_TAG = re.compile(rb"(<[a-zA-Z][^\s/>]*+%b)((?:%b)*+)" % (FEW, ATTRIBUTE))
MARKUP = re.compile(rb"<(?!/)|=")
ANY_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*+)(?:%b)*+[\s/]*+>?" % ATTRIBUTE)
VOID = frozenset(
    (
        b"area", b"base", b"br", b"col", b"embed", b"frame", b"hr", b"img", b"input", b"link", b"meta", b"param",
        b"source", b"track", b"wbr",
    )
)  # fmt: skip
INLINE = frozenset(
    (
        b"abbr", b"acronym", b"b", b"bdo", b"big", b"cite", b"code", b"del", b"dfn", b"em", b"font", b"i", b"ins",
        b"kbd", b"label", b"mark", b"nobr", b"q", b"s", b"samp", b"small", b"span", b"strike", b"strong", b"sub",
        b"sup", b"tt", b"u", b"var",
    )
)  # fmt: skip


def without_excess_attributes(html: bytes) -> bytes:
    """A page with the first MAX_ATTRIBUTES attributes of each start tag."""
    if len(html) <= SHORT:
        return html
    kept, done, at = [], 0, 0
    while tag := LONG_TAG.match(html, end_of_ordinary(html, at)):
        at = tag.end()
        if tag[2]:
            kept.append(html[done : tag.end(1)])
            done = at
    return b"".join([*kept, html[done:]]) if kept else html


def end_of_ordinary(html: bytes, start: int) -> int:
    """Where what has no long tag ends, of a page from `start` on: at such a tag, or at the page's end."""
    found = ORDINARY.match(html, start)
    return found.end() if found else start


def without_excess_markup(html: bytes) -> bytes:
    """A page up to the tag at which its elements and attributes are more than MAX_MARKUP; the rest is left out.

    Counted by `<`, but for end tags, and `=`, so that what an ordinary page has is counted in no time.
    """
    if html.count(b"<") - html.count(b"</") + html.count(b"=") <= MAX_MARKUP:
        return html
    for count, sign in enumerate(MARKUP.finditer(html), 1):
        if count > MAX_MARKUP:
            return html[: max(html.rfind(b"<", 0, sign.start()), 0)]
    return html


def without_excess_depth(html: bytes) -> bytes:
    """A page of at most MAX_DEPTH elements within each other, for parsers that have given up on its depth.

    What would be deeper loses its tags, never its text: blocks become line breaks, links lose what they are around.
    End tags without start are left out.
    """
    return ANY_TAG.sub(_Depth().settle, html)


class _Depth:
    """The open elements of a page in the course of being read, by their explicit end tags alone."""

    def __init__(self) -> None:
        self.depth = 0
        self.open = Counter[bytes]()
        self.flat = Counter[bytes]()  # those whose start tag was left out

    def settle(self, tag: re.Match[bytes]) -> bytes:
        """What becomes of a tag."""
        name = tag[2].lower()
        if name in VOID or name in RAW:
            return tag[0]
        return self.end(name, tag[0]) if tag[1] else self.start(name, tag[0])

    def start(self, name: bytes, tag: bytes) -> bytes:
        """What becomes of a start tag."""
        if self.depth < MAX_DEPTH:
            self.depth += 1
            self.open[name] += 1
            return tag
        self.flat[name] += 1
        if name == b"a":
            return tag + b"</a>"
        return b"" if name in INLINE else b"<br>"

    def end(self, name: bytes, tag: bytes) -> bytes:
        """What becomes of an end tag: it belongs to the innermost element of its name."""
        if self.flat[name]:
            self.flat[name] -= 1
            return b""
        if not self.open[name]:
            return b""
        self.depth -= 1
        self.open[name] -= 1
        return tag
