"""URLs: the form that is asked for, the form that is compared, and the refusals that need no network.

    text -> resolved (WHATWG, by ada) -> Address.fetch, what the site is asked for, as a browser would ask
                                      -> Address.url, the canonical form: what seen set and tables know it by

Both lack what cannot change the page: fragment, tracking parameters, session ids. The canonical form further spells
escapes one way (RFC 3986, 6.2.2), drops the dot after a host and runs of slashes, and puts the parameters of a query
in order. It can be asked for as well: every server we know answers both forms alike.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import ada_url

from crawler.urls.parameters import without_idle, without_sessions
from docstore.model import Host, Origin, Reason

_LONGEST_INPUT = 20_000  # a sane upper bound before any work; `refuse` has the real limit
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HREF = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?")
_AUTHORITY = re.compile(r"((?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\])\.?((?::[0-9]+)?)")
_ODD = re.compile(r"%([0-9A-Fa-f]{2})?|[^A-Za-z0-9!$&'()*+,;=:@/?\-._~%]")
_SLASHES = re.compile("//+")
_DOTS = re.compile(r"/\.\.?(?=/|\Z)")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# What most links look like; both forms of it are the same but for the query, and no parser is needed.
_PLAIN = re.compile(
    r"(https?://[a-z0-9.\-]+(?::[0-9]+)?(?=[/?#]|\Z))?"
    r"(/?(?:[A-Za-z0-9_~][A-Za-z0-9_~.,+=@\-]*(?:/[A-Za-z0-9_~][A-Za-z0-9_~.,+=@\-]*)*/?)?)"
    r"(?:\?([A-Za-z0-9_~.,+=@\-/&:!*]+))?(?:#[^\x00-\x20]*)?"
)

_SUFFIXES = """
    7z aac apk avi bin bmp bz2 css csv dat deb dmg doc docx eot epub exe flac flv gif gz ico iso jar
    jpeg jpg js json m3u8 m4a m4v mid mkv mov mp3 mp4 mpeg mpg msi odt ogg otf pdf png ppt pptx ps psd
    rar rm rpm rss rtf svg swf tar tgz tif tiff torrent ts ttf wasm wav webm webp wma wmv woff woff2 wps
    xls xlsx xml xz zip
"""
# Plain text that sites keep for programs, at places agreed upon.
_FOR_MACHINES = frozenset(
    f"/{name}.txt"
    for name in ("robots", "ads", "app-ads", "sellers", "humans", "security", "llms", "llms-full", "sitemap", "urllist")
)
MAX_URL = 2000  # characters
NOT_TEXT_SUFFIXES = frozenset(_SUFFIXES.split())
"""Endings of URLs that lead to no page; documents among them, which `DocumentRules.skipped` takes out again."""


class Address(NamedTuple):
    """One URL in two forms: `url` canonical, to tell pages apart by; `fetch` as a browser would ask for it."""

    url: str
    fetch: str


def canonical(text: str, base: str = "", encoding: str = "utf-8") -> str | Reason:
    """The one form by which a URL is known, or why there is none. Never raises; of itself it is itself.

    Tell the two by `isinstance(found, Reason)`: a Reason is a str as well. The arguments are those of `address_of`.
    """
    found = address_of(text, base, encoding)
    return found if isinstance(found, Reason) else found.url


def address_of(text: str, base: str = "", encoding: str = "utf-8") -> Address | Reason:
    """Both forms of a URL, or why there are none. Never raises.

    `base` is the absolute URL that relative ones are resolved against; `encoding` is Python's name of that of the
    page, in which browsers encode the query (the path is always UTF-8).
    """
    if len(text) > _LONGEST_INPUT:
        return Reason.TOO_LONG
    plain = _plain(text, base)
    if plain is not None:
        return plain
    try:
        return _forms(resolved(text, base, encoding))
    except (ValueError, LookupError):  # LookupError: an encoding that Python does not know
        return Reason.BAD_URL


def resolved(text: str, base: str = "", encoding: str = "utf-8") -> str:
    """The URL by the WHATWG standard, of any scheme, with fragment and credentials.

    Raises ValueError for what a browser refuses, LookupError for an unknown `encoding`.
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
        if encoding not in ("utf-8", "utf8"):
            text = _query_in(text, encoding)
    href: str = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
    return href


def host_of(url: str) -> Host:
    """`host[:port]` of a canonical URL; the port only where it is not the scheme's own."""
    return Host(url.split("/", 3)[2])


def host_and_port(host: str) -> tuple[str, str]:
    """A `host[:port]` in its parts, an IPv6 address without its brackets; the port is "" where none is named."""
    name, colon, port = host.rpartition(":")
    return (name.strip("[]"), port) if colon and port.isdigit() and not host.endswith("]") else (host.strip("[]"), "")


def origin_of(url: str) -> Origin:
    """`scheme://host[:port]` of a canonical URL."""
    return Origin("/".join(url.split("/", 3)[:3]))


def spelled(text: str) -> str:
    """Escapes spelled one way: none for unreserved characters, capital digits, one for what may not stand bare."""
    return _ODD.sub(_one_spelling, text)


@dataclass(frozen=True)
class Scope:
    """One allowed part of the web: `host` exactly, or also everything `below` it, with paths from `prefix` on."""

    host: str
    prefix: str = "/"
    below: bool = False

    def covers(self, host: str, path: str) -> bool:
        """Does the URL with this host and path (with query) belong to it?"""
        same = host == self.host or (self.below and host.endswith("." + self.host))
        return same and path.startswith(self.prefix)


@dataclass(frozen=True)
class UrlRules:
    """What a URL must keep to so that it may be fetched at all.

    `languages` are the codes (`zh`) that a link may name as its target's; empty: any.
    """

    scopes: tuple[Scope, ...]
    deepest: int = 1000
    longest: int = MAX_URL
    skipped: frozenset[str] = NOT_TEXT_SUFFIXES
    languages: frozenset[str] = frozenset()

    @cached_property
    def by_host(self) -> dict[str, tuple[Scope, ...]]:
        """The scopes that name each host; links are many, and so may be the scopes."""
        return {scope.host: tuple(one for one in self.scopes if one.host == scope.host) for scope in self.scopes}

    def covers(self, host: str, path: str) -> bool:
        """Does any scope cover the URL? Asks only those of the host and of the domains above it."""
        name = host
        while True:
            if any(scope.covers(host, path) for scope in self.by_host.get(name, ())):
                return True
            _, dot, name = name.partition(".")
            if not dot:
                return False


def scope_of(text: str) -> Scope | None:
    """The scope that a setting like `news.example.com/oil/` or `*.example.com` names; None if it names none."""
    bare = re.sub(r"^https?://", "", text.strip(), flags=re.IGNORECASE)
    below = bare.startswith("*.")
    url = canonical("http://" + bare.removeprefix("*."))
    if isinstance(url, Reason):
        return None
    host = host_of(url)
    if re.match(r"https://", text.strip(), flags=re.IGNORECASE):
        host = Host(host.removesuffix(":443"))
    return Scope(host, url[len(origin_of(url)) :], below)


def refuse(url: str, rules: UrlRules, depth: int = 0, language: str = "") -> Reason | None:
    """Why a canonical URL is not fetched, cheapest test first; None if nothing speaks against it.

    `language` is what the link says of its target (`hreflang`), "" if nothing.
    """
    if len(url) > rules.longest:
        return Reason.TOO_LONG
    if depth > rules.deepest:
        return Reason.TOO_DEEP
    _, _, host, *rest = url.split("/", 3)
    path = "/" + rest[0]
    if not rules.covers(host, path):
        return Reason.OFF_SCOPE
    if language and rules.languages and language.lower().partition("-")[0] not in rules.languages:
        return Reason.OFF_SCOPE
    if _ending(path) in rules.skipped or path in _FOR_MACHINES:
        return Reason.NOT_TEXT
    return None


def ending_of(url: str) -> str:
    """What the path of a canonical URL ends with: `pdf`, in lower case; "" where its last part has no dot."""
    return _ending("/".join(url.split("/", 3)[3:]))


def _ending(path: str) -> str:
    last = path.partition("?")[0].rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def _plain(text: str, base: str) -> Address | None:
    """The forms of a plain URL; None if it is not plain, or is no URL."""
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    origin, path, query = match.groups()
    start = _start(base, origin, path, query)
    if start is None:
        return None
    if not query:
        return Address(start, start)
    asked, ordered = _queries(query)
    fetch = f"{start}?{asked}" if asked else start
    return Address(f"{start}?{ordered}" if ordered else start, fetch)


def _start(base: str, origin: str | None, path: str, query: str | None) -> str | None:
    """A plain URL up to its query."""
    if origin is not None:
        known = _plain_origin(origin)
        return known and known + (path or "/")
    place = _place(base)
    if place is None or not (path or query):
        return None
    if path.startswith("/"):
        return place.origin + path
    return place.folder + path if path else place.page


class _Place(NamedTuple):
    """A base URL, cut where plain relative URLs go on."""

    origin: str
    folder: str
    page: str


@lru_cache(maxsize=1024)
def _place(base: str) -> _Place | None:
    match = _PLAIN.fullmatch(base)
    if match is None or match[1] is None:
        return None
    origin, path = _plain_origin(match[1]), match[2] or "/"
    return _Place(origin, origin + path[: path.rindex("/") + 1], origin + path) if origin else None


@lru_cache(maxsize=65_536)
def _plain_origin(origin: str) -> str | None:
    """A plain origin, if it is written in its canonical form."""
    try:
        return origin if _forms(resolved(origin)).url == origin + "/" else None
    except ValueError:
        return None


def _query_in(text: str, encoding: str) -> str:
    """The text with its query percent-encoded in the page's encoding; UTF-16 and its like have UTF-8 stand in."""
    start = text.find("?")
    if start < 0 or encoding.startswith(("utf-16", "utf-32", "utf_16", "utf_32")):
        return text
    end = text.find("#", start)
    query, rest = (text[start:], "") if end < 0 else (text[start:end], text[end:])
    return text[:start] + "".join(char if char.isascii() else _escaped(char, encoding) for char in query) + rest


def _escaped(char: str, encoding: str) -> str:
    try:
        return "".join(f"%{byte:02X}" for byte in char.encode(encoding))
    except UnicodeEncodeError:
        return f"%26%23{ord(char)}%3B"


def _forms(href: str) -> Address:
    """Both forms of a URL that is resolved. Raises ValueError for what we do not ask for."""
    match = _HREF.match(href)
    if match is None:
        raise ValueError("not http")
    scheme, authority, path, query = match[1], match[2], match[3], match[4]
    asked, ordered = _queries(query) if query else ("", "")
    start = f"{scheme}://{_checked(authority)}{_path(path)}"
    fetch = f"{scheme}://{authority}{without_sessions(path) or '/'}"
    asks = bool(asked) or query == ""
    return Address(f"{start}?{ordered}" if ordered else start, f"{fetch}?{asked}" if asks else fetch)


def _path(path: str) -> str:
    """A path in canonical form. Escapes are spelled first: they may hide a session id. What is left without it may
    have become a segment of dots, which ada knows only in a whole URL.
    """
    bare = without_sessions(spelled(path)) or "/"
    if bare != path and _DOTS.search(bare):
        bare = resolved(f"http://h{bare}")[len("http://h") :]
    return _SLASHES.sub("/", bare)


@lru_cache(maxsize=65_536)
def _checked(authority: str) -> str:
    """The canonical host[:port]. Refuses credentials, port 0 and what no name server can know."""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or len(match[1]) > 253 or match[2] == ":0":
        raise ValueError("no host that we ask")
    return match[1] + match[2]


def _queries(query: str) -> tuple[str, str]:
    """A query as it is asked and in canonical form: without idle parameters; ordered by name, each pair once."""
    asked = without_idle(query)
    query = without_idle(spelled(asked)) if _ODD.search(asked) else asked  # an escape may hide the parameter's name
    if "&" not in query:
        return asked, _shortest(query)
    pairs = dict.fromkeys(short for pair in query.split("&") if (short := _shortest(pair)))
    return asked, "&".join(sorted(pairs, key=_name))


def _shortest(pair: str) -> str:
    return pair[:-1] if pair.endswith("=") and pair.count("=") == 1 else pair


def _name(pair: str) -> str:
    return pair.partition("=")[0]


def _one_spelling(match: re.Match[str]) -> str:
    if match[1]:
        char = chr(int(match[1], 16))
        return char if char in _UNRESERVED else match[0].upper()
    return "".join(f"%{byte:02X}" for byte in match[0].encode())
