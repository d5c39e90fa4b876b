"""Canonical addresses and the refusals that need no network.

One form serves for fetching, hashing and the seen test (METHODS 0.4): scheme and host in lower case, host in ASCII
(IDNA, IPv4 in dots), no fragment, no default port, no credentials, `.` and `..` resolved, the query as it is except
that what may not stand in a request line is percent-encoded. Where browsers repair an address (WHATWG URL standard:
backslashes, missing slashes, tabs and newlines inside) we repair it the same way, because pages are written for
browsers; where that would be ambiguous about the host, the address is refused.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, unquote_to_bytes, urljoin

import idna

from docstore.model import Reason

_LONGEST_INPUT = 20_000  # a sane upper bound before any work; `refuse` has the real limit
_EDGES = "".join(map(chr, range(0x21)))
_TAB_NEWLINE = str.maketrans("", "", "\t\r\n")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DEFAULT_PORT = {"http": 80, "https": 443}
_PATH_SAFE = "!$&'()*+,;=:@/-._~%|"
_QUERY_SAFE = "!$&()*+,;=:@/?-._~%|[]"
_ALL_SAFE = re.compile(r"[A-Za-z0-9!$&()*+,;=:@/?\-._~|]*")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

_SUFFIXES = """
    7z aac apk avi bin bmp bz2 css csv dat deb dmg doc docx eot epub exe flac flv gif gz ico iso jar
    jpeg jpg js json m3u8 m4a m4v mid mkv mov mp3 mp4 mpeg mpg msi odt ogg otf pdf png ppt pptx ps psd
    rar rm rpm rss rtf svg swf tar tgz tif tiff torrent ts ttf wasm wav webm webp wma wmv woff woff2 wps
    xls xlsx xml xz zip
"""
NOT_TEXT_SUFFIXES = frozenset(_SUFFIXES.split())


class _BadUrl(ValueError):
    """The address has no canonical form."""


def canonical(text: str, base: str = "", encoding: str = "utf-8") -> str | Reason:
    """The one form of an address, or why there is none. Never raises, and canonical of canonical is itself.

    Tell the two by `isinstance(found, Reason)`: a Reason is a str as well.
    `base` is the canonical address that relative ones are resolved against; `encoding` is that of the page, in
    which browsers encode the query (the path is always UTF-8).
    """
    if len(text) > _LONGEST_INPUT:
        return Reason.TOO_LONG
    try:
        absolute = _absolute(_cleaned(text), base)
        scheme, authority, path, query = _parts(absolute)
        url = f"{scheme}://{_authority(authority, scheme)}{_path(path)}"
        return f"{url}?{_query(query, encoding)}" if query else url
    except (ValueError, LookupError):  # LookupError: an encoding that Python does not know
        return Reason.BAD_URL


def host_of(url: str) -> str:
    """`host[:port]` of a canonical address; the port only where it is not the scheme's own."""
    return url.split("/", 3)[2]


def origin_of(url: str) -> str:
    """`scheme://host[:port]` of a canonical address."""
    return "/".join(url.split("/", 3)[:3])


@dataclass(frozen=True)
class Scope:
    """One allowed part of the web: `host` exactly, or also everything `below` it, with paths from `prefix` on."""

    host: str
    prefix: str = "/"
    below: bool = False

    def covers(self, host: str, path: str) -> bool:
        """Does the address with this host and path (with query) belong to it?"""
        same = host == self.host or (self.below and host.endswith("." + self.host))
        return same and path.startswith(self.prefix)


@dataclass(frozen=True)
class UrlRules:
    """What an address must keep to so that it may be fetched at all."""

    scopes: tuple[Scope, ...]
    deepest: int = 3
    longest: int = 2000
    skipped: frozenset[str] = NOT_TEXT_SUFFIXES


def scope_of(text: str) -> Scope | None:
    """The scope that a setting like `news.example.com/oil/` or `*.example.com` names; None if it names none."""
    bare = re.sub(r"^https?://", "", text.strip(), flags=re.IGNORECASE)
    below = bare.startswith("*.")
    url = canonical("http://" + bare.removeprefix("*."))
    if isinstance(url, Reason):
        return None
    host = host_of(url)
    if re.match(r"https://", text.strip(), flags=re.IGNORECASE):
        host = host.removesuffix(":443")
    return Scope(host, url[len(origin_of(url)) :], below)


def refuse(url: str, rules: UrlRules, depth: int = 0) -> Reason | None:
    """Why a canonical address is not fetched, cheapest test first; None if nothing speaks against it."""
    if len(url) > rules.longest:
        return Reason.TOO_LONG
    origin = origin_of(url)
    path = url[len(origin) :]
    host = host_of(url)
    if not any(scope.covers(host, path) for scope in rules.scopes):
        return Reason.OFF_SCOPE
    if _suffix(path) in rules.skipped:
        return Reason.NOT_TEXT
    if depth > rules.deepest:
        return Reason.TOO_DEEP
    return None


def _suffix(path: str) -> str:
    last = path.partition("?")[0].rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def _cleaned(text: str) -> str:
    """As browsers do: no blanks at the ends, no tabs and newlines inside. Other control characters are refused."""
    clean = text.strip(_EDGES).translate(_TAB_NEWLINE)
    if _CONTROL.search(clean):
        raise _BadUrl("control character")
    return clean


def _absolute(text: str, base: str) -> str:
    text = _slashes(text)
    scheme = _SCHEME.match(text)
    if scheme is not None:
        name = scheme[1].lower()
        if name not in _DEFAULT_PORT:
            raise _BadUrl("not http")
        rest = text[scheme.end() :]
        if rest.startswith("//") or not base.startswith(name + ":"):
            return f"{name}://{rest.lstrip('/')}"
        text = rest  # `http:page.html` is relative to a base of the same scheme
    if not base:
        raise _BadUrl("relative")
    if text.startswith("//"):
        return f"{base.partition(':')[0]}://{text.lstrip('/')}"
    if ":" in re.split(r"[/?#]", text, maxsplit=1)[0]:
        text = "./" + text  # `12:30.html` is a path, not a scheme
    return urljoin(base, text)


def _slashes(text: str) -> str:
    """Backslashes before the query count as slashes."""
    if "\\" not in text:
        return text
    end = re.search(r"[?#]|$", text)
    cut = end.start() if end else len(text)
    return text[:cut].replace("\\", "/") + text[cut:]


def _parts(url: str) -> tuple[str, str, str, str]:
    match = _PARTS.match(url)
    if match is None:
        raise _BadUrl("no parts")
    return match[1], match[2], match[3], match[4] or ""


@lru_cache(maxsize=4096)
def _authority(authority: str, scheme: str) -> str:
    if "@" in authority:
        raise _BadUrl("credentials")
    match = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", authority, re.ASCII)
    if match is None:
        raise _BadUrl("port")
    host = _ipv6(match[1]) if match[1].startswith("[") else _name(match[1])
    port = int(match[2] or _DEFAULT_PORT[scheme]) if len(match[2] or "") <= 10 else 0
    if not 0 < port < 65536:
        raise _BadUrl("port")
    return host if port == _DEFAULT_PORT[scheme] else f"{host}:{port}"


def _ipv6(text: str) -> str:
    if "%" in text:
        raise _BadUrl("zone")
    return f"[{IPv6Address(text[1:-1])}]"


def _name(text: str) -> str:
    """Host name in ASCII, or an IPv4 address in dots however it was written."""
    name = unquote_to_bytes(text).decode("utf-8").lower()
    if not name.isascii():
        name = idna.encode(name, uts46=True).decode("ascii")
    elif "xn--" in name:
        idna.decode(name)
    name = name.removesuffix(".")
    if len(name) > 253 or not _HOST.fullmatch(name):
        raise _BadUrl("host")
    labels = name.split(".")
    return _ipv4(labels) if _NUMBER.fullmatch(labels[-1]) else name


def _ipv4(labels: list[str]) -> str:
    """`0x7f.1`, `2130706433`, `0177.0.0.1`: every spelling the C library accepts (WHATWG, IPv4 parser)."""
    if len(labels) > 4:
        raise _BadUrl("IPv4")
    numbers = [_number(label) for label in labels]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        raise _BadUrl("IPv4")
    value = numbers[-1] + sum(number << (24 - 8 * i) for i, number in enumerate(numbers[:-1]))
    return str(IPv4Address(value))


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") else int(label)


def _path(path: str) -> str:
    return _without_dots(_quoted(path, _PATH_SAFE, "utf-8")) if path else "/"


def _query(query: str, encoding: str) -> str:
    return _quoted(query, _QUERY_SAFE, encoding, decode=False)


def _quoted(text: str, safe: str, encoding: str, decode: bool = True) -> str:
    """Percent-encode what may not stand in a request line; with `decode`, spell escapes one way (RFC 3986, 6.2.2)."""
    if _ALL_SAFE.fullmatch(text):
        return text
    text = _STRAY_PERCENT.sub("%25", text)
    if decode:
        text = _ESCAPE.sub(_one_spelling, text)
    return quote(text, safe, encoding, "xmlcharrefreplace")


def _one_spelling(match: re.Match[str]) -> str:
    byte = int(match[0][1:], 16)
    return chr(byte) if byte in _UNRESERVED else match[0].upper()


def _without_dots(path: str) -> str:
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)
