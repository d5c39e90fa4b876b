"""Parse the Content-Type header by the MIME sniffing standard.

A server or proxy may send the header twice. Several values are combined by the Fetch standard (3.1, "extract a MIME
type").
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from text.decoding.encoding_labels import standard_encoding_name

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")
_ESSENCE = re.compile(r"([A-Za-z0-9!#$%&'*+\-.^_`|~]+)/([A-Za-z0-9!#$%&'*+\-.^_`|~]+)[\t\n\r ]*\Z")
_PARAMETER = re.compile(r"[\t\n\r ]*([^;=]*)(?:=(?:\"((?:[^\"\\]|\\.)*)(?:\"|\\?\Z)[^;]*|([^;]*)))?(?:;|\Z)", re.DOTALL)
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]+")
_LIST_VALUE = re.compile(r"(?:[^\",]++|\"[^\"]*+\"?+)++")  # up to a comma outside quotes
_MAX_PARAMETERS = 50
_MAX_VALUES = 10
_MAX_CHARS = 2000


@dataclass(frozen=True)
class ContentType:
    """A parsed Content-Type.

    Attributes:
        media_type: lower case, such as `text/html`, or "".
        charset: standard name (WHATWG) of the charset, or "".
    """

    media_type: str = ""
    charset: str = ""


@lru_cache(maxsize=4096)
def parse_content_type(header: str) -> ContentType:
    """Parse the value of a Content-Type header. Accepts any text.

    The last value with a media type counts. Without a charset of its own, it takes the charset of the preceding value
    if both have the same type.
    """
    header = header[:_MAX_CHARS]
    result = _parse_single(header)
    for value in _LIST_VALUE.findall(header)[:_MAX_VALUES] if "," in header else ():
        last = _parse_single(value)
        if last.media_type and last.media_type != "*/*":
            result = last if last.charset or last.media_type != result.media_type else result
    return result


def _parse_single(value: str) -> ContentType:
    essence, _, remainder = value.strip("\t\n\r ").partition(";")
    match = _ESSENCE.match(essence)
    if match is None:
        return ContentType()
    return ContentType(f"{match[1]}/{match[2]}".lower(), standard_encoding_name(_charset_parameter(remainder)))


def _charset_parameter(parameters: str) -> str:
    """Return the first valid charset in a list of parameters, or ""."""
    position = 0
    for _ in range(_MAX_PARAMETERS):
        match = _PARAMETER.match(parameters, position)
        if match is None or position >= len(parameters):
            return ""
        position = match.end()
        value = re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else (match[3] or "").rstrip("\t\n\r ")
        if match[1].lower() == "charset" and _VALUE.fullmatch(value):
            return value
    return ""
