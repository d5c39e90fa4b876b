"""Detect the declared encoding of a page before parsing (HTML standard, 13.2.3.2)."""

import re

from text.decoding.encoding_labels import standard_encoding_name

_MAX_SCANNED_BYTES = 65_536  # the standard's 1,024 are not enough: some pages begin with long comments and scripts
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16le"),
    (b"\xfe\xff", "utf-16be"),
)
_TAG = re.compile(rb"<(?:(!--)|(meta)(?=[\t\n\f\r /])|/?[A-Za-z][^\t\n\f\r >]*|[!/?])", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*(=?[^\t\n\f\r />=]+|=(?=[\t\n\f\r />=]))"
    rb"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([\"'])|([^\t\n\f\r >]*)))?"
)
_TAG_END = re.compile(rb"[\t\n\f\r /]*>")
_CONTENT_CHARSET = re.compile(
    r"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|(?![\"'])([^\t\n\f\r ;]*))", re.IGNORECASE
)
_MAX_ATTRIBUTES = 200
_LOOSE_META_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*+=\s*+[\"']?+\s*+([\w.:-]{2,30})", re.IGNORECASE)
_LOOKBEHIND_BYTES = 310  # a meta element begins at most this far before its charset


def detect_bom(body: bytes) -> tuple[str, int]:
    """Return the encoding of a byte order mark ("" without one) and the length of the mark."""
    return next(((name, len(mark)) for mark, name in _BYTE_ORDER_MARKS if body.startswith(mark)), ("", 0))


def find_meta_charset(body: bytes) -> str:
    """Return the standard name of the encoding in a `meta` element near the start of a page, or "".

    A declaration of UTF-16 in ASCII bytes is wrong and read as UTF-8.
    """
    head = body[:_MAX_SCANNED_BYTES]
    position = 0
    while (tag := _TAG.search(head, position)) is not None:
        if tag[1]:
            end = head.find(b"-->", tag.end() - 2)
            position = end + 3 if end >= 0 else len(head)
        elif tag[0] in (b"<!", b"</", b"<?"):
            position = head.find(b">", tag.end()) % (len(head) + 1)
        else:
            attributes, position = _parse_attributes(head, tag.end())
            charset = _charset_of_attributes(attributes) if tag[2] else ""
            if charset:
                return "utf-8" if charset.startswith("utf-16") else charset
    return ""


def find_loose_meta_charsets(body: bytes) -> list[str]:
    """Return the charset labels of all `meta` elements, in any form and position.

    Searches only around the word `charset`, which is much faster than a search of the whole page.
    """
    labels: list[bytes] = []
    lower_body, position = body.lower(), -1
    while (position := lower_body.find(b"charset", position + 1)) >= 0:
        labels += _LOOSE_META_CHARSET.findall(body[max(0, position - _LOOKBEHIND_BYTES) : position + 60])[-1:]
    return [label.decode("ascii", "ignore") for label in labels]


def _parse_attributes(head: bytes, position: int) -> tuple[dict[str, str], int]:
    """Return the attributes of a tag and its end. A tag without an end may be cut off and has no attributes."""
    attributes: dict[str, str] = {}
    for _ in range(_MAX_ATTRIBUTES):
        end = _TAG_END.match(head, position)
        if end is not None:
            return attributes, end.end()
        match = _ATTRIBUTE.match(head, position)
        if match is None or match[4]:
            break
        value = next((group for group in (match[2], match[3], match[5]) if group is not None), b"")
        attributes.setdefault(match[1].decode("latin-1").lower(), value.decode("latin-1"))
        position = match.end()
    return {}, len(head)


def _charset_of_attributes(attributes: dict[str, str]) -> str:
    if "charset" in attributes:
        return standard_encoding_name(attributes["charset"])
    if attributes.get("http-equiv", "").lower() != "content-type":
        return ""
    match = _CONTENT_CHARSET.search(attributes.get("content", ""))
    return standard_encoding_name(next((group for group in match.groups() if group is not None), "")) if match else ""
