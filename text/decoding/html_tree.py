"""Parses HTML for the crawler and the extractor: lxml, and Beautiful Soup where lxml does not reach the end of a page.

lxml stops at 2,048 nested elements. A title, a form field or a comment without an end, or an attribute without its
closing quote, swallows the rest of the page. A mark at the end of the page shows both without reading the page again.
"""

import re

from lxml import etree
from lxml.etree import _Element as Element

from text.decoding.html_limits import RAW_TEXT_TAGS, flatten_deep_elements, trim_attributes, truncate_markup

# The paper's list (WD-F3) without `br`, newer elements without readable text, and the source text of formulas.
REMOVED_TAGS = (
    "script", "noscript", "style", "iframe", "template", "svg", "canvas", "embed", "applet", "frameset", "noframes",
    "datalist", "video", "audio", "annotation", "annotation-xml",
)  # fmt: skip
CONTROL_BYTES = bytes((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)))
# Browsers continue the body after these tags, libxml2 ends the page.
DOCUMENT_END_RE = re.compile(rb"</(?:body|html)(?=[\s/>])[^>]*+>?", re.I)
MAX_SOUP_TAGS = 5_000  # and entities; Beautiful Soup takes 40 µs for each
END_ID = "end-of-page"
END_MARK = f'<br id="{END_ID}">'.encode()
_CODE_TAGS = (b"script", b"style")  # without an end tag they swallow the page in every browser


def parse_html(markup: bytes) -> tuple[Element | None, float]:
    """Parse UTF-8 bytes; returns the root element, and the share of the page that was read (0 to 1).

    The root is None if there is no element. If the nesting is too deep, the innermost elements are removed, but their
    text stays. Only the beginning of a page with too many elements is read. Of the trees of both parsers, the one with
    more text is returned. Entities and references to other files are not loaded.

    Raises:
        MemoryError: The parser got no memory.
    """
    page = trim_attributes(markup.translate(None, CONTROL_BYTES))
    data = truncate_markup(page)
    if not data.strip():
        return None, 1.0
    share, data = len(data) / len(page), _cut_unfinished_tag(DOCUMENT_END_RE.sub(b"", data))
    root, is_complete = _parse_to_mark(data)
    if not is_complete:
        root = max(root, _parse_to_mark(_repair(data))[0], key=_count_text_chars)
    return root, share


def _cut_unfinished_tag(data: bytes) -> bytes:
    """Return the markup without a tag at its end that has no `>`, as in a page that was cut."""
    start = data.rfind(b"<")
    next_char = data[start + 1 : start + 2]
    return data[:start] if start > data.rfind(b">") and (next_char.isalpha() or next_char == b"/") else data


def _parse_to_mark(data: bytes) -> tuple[Element | None, bool]:
    """Parse with lxml; returns the root element, without the mark, and whether the parser reached the end."""
    root = last = _parse(data + END_MARK)
    while last is not None and len(last):
        last = last[-1]
    if last is None or (parent := last.getparent()) is None or last.get("id") != END_ID:
        return _parse(data), False
    for element in last.iterancestors(*REMOVED_TAGS):  # without an end tag, it would remove the rest of the page
        element.tag = "div"
    parent.remove(last)
    return root if len(parent) or parent.text or parent.getprevious() is not None else _parse(data), True


def _parse(data: bytes) -> Element | None:
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, no_network=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):  # only comments, only a doctype ...
        root = None
    error = parser.error_log.last_error
    if error is not None and error.type == etree.ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError
    return root


def _repair(data: bytes) -> bytes:
    """Return the markup with an end for each element, and with at most 400 levels."""
    from bs4 import BeautifulSoup  # imported here, because few pages need it
    from bs4.exceptions import ParserRejectedMarkup

    raw_marks = ((b"<" + name, b"</" + name + b">") for name in RAW_TEXT_TAGS if name not in _CODE_TAGS)
    for start_mark, end_mark in (*raw_marks, (b"<!--", b"-->")):
        lowercase_data = data.lower()
        start = lowercase_data.find(start_mark, lowercase_data.rfind(end_mark) + 1)
        if start >= 0:  # without an end: it ends before the next tag, or with the page
            position = data.find(b"<", start + 1) % (len(data) + 1)
            data = data[:position] + end_mark + data[position:]
    data = flatten_deep_elements(data)
    if data.count(b"<") + data.count(b"&") > MAX_SOUP_TAGS:
        return data
    try:
        return str(BeautifulSoup(data.decode("utf-8", "replace"), "html.parser")).encode("utf-8", "replace")
    except ParserRejectedMarkup:
        return data


def _count_text_chars(root: Element | None) -> int:
    """Return the number of characters that readers see: not those of raw text, which may be swallowed markup."""
    raw_tags = frozenset(name.decode() for name in RAW_TEXT_TAGS)
    elements = root.iter() if root is not None else ()
    return sum(len(e.tail or "") + (len(e.text or "") if e.tag not in raw_tags else 0) for e in elements)
