"""The encoding that a page declares in its first bytes, found before anything is parsed (HTML standard, 13.2.3.2)."""

import re

from text.decoding.encoding_labels import encoding_named

_READ = 65_536  # the standard's 1,024 are too few: pages put long comments and scripts first
_BOMS = (
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
_END = re.compile(rb"[\t\n\f\r /]*>")
_CHARSET = re.compile(
    r"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|(?![\"'])([^\t\n\f\r ;]*))", re.IGNORECASE
)
_MAX_ATTRIBUTES = 200
_LOOSE = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{2,30})", re.IGNORECASE)
_BEFORE_NAME = 310  # bytes in which a meta element begins before its charset


def bom_encoding(body: bytes) -> tuple[str, int]:
    """The encoding that a byte order mark names, or "", and the length of the mark."""
    return next(((name, len(mark)) for mark, name in _BOMS if body.startswith(mark)), ("", 0))


def declared_encoding(body: bytes) -> str:
    """The standard name of the encoding that a `meta` names in the first bytes of a page, or "".

    A page that says UTF-16 in ASCII bytes cannot mean it, and is UTF-8.
    """
    head = body[:_READ]
    at = 0
    while (tag := _TAG.search(head, at)) is not None:
        if tag[1]:
            end = head.find(b"-->", tag.end() - 2)
            at = end + 3 if end >= 0 else len(head)
        elif tag[0] in (b"<!", b"</", b"<?"):
            at = head.find(b">", tag.end()) % (len(head) + 1)
        else:
            attributes, at = _attributes(head, tag.end())
            found = _declared(attributes) if tag[2] else ""
            if found:
                return "utf-8" if found.startswith("utf-16") else found
    return ""


def loosely_declared(body: bytes) -> list[str]:
    """The labels of all `meta` elements that name a charset, however they are written and wherever they stand.

    Looks only where the word stands, which is much faster than looking all over.
    """
    found: list[bytes] = []
    lower, at = body.lower(), -1
    while (at := lower.find(b"charset", at + 1)) >= 0:
        found += _LOOSE.findall(body[max(0, at - _BEFORE_NAME) : at + 60])[-1:]
    return [label.decode("ascii", "ignore") for label in found]


def _attributes(head: bytes, at: int) -> tuple[dict[str, str], int]:
    """The attributes of a tag, and where the tag ends. One that does not end has none: it may be cut off."""
    found: dict[str, str] = {}
    for _ in range(_MAX_ATTRIBUTES):
        end = _END.match(head, at)
        if end is not None:
            return found, end.end()
        match = _ATTRIBUTE.match(head, at)
        if match is None or match[4]:
            break
        value = next((one for one in (match[2], match[3], match[5]) if one is not None), b"")
        found.setdefault(match[1].decode("latin-1").lower(), value.decode("latin-1"))
        at = match.end()
    return {}, len(head)


def _declared(attributes: dict[str, str]) -> str:
    if "charset" in attributes:
        return encoding_named(attributes["charset"])
    if attributes.get("http-equiv", "").lower() != "content-type":
        return ""
    match = _CHARSET.search(attributes.get("content", ""))
    return encoding_named(next((one for one in match.groups() if one is not None), "")) if match else ""
