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

from crawler.urls.ignored_parameters import strip_ignored_parameters, strip_session_ids
from docstore.model import Host, Origin, Reason

_MAX_INPUT_CHARS = 20_000  # a sane upper bound before any work; `rejection_reason` has the real limit
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HTTP_URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?")
_AUTHORITY = re.compile(r"((?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\])\.?((?::[0-9]+)?)")
_ESCAPE_OR_UNSAFE = re.compile(r"%([0-9A-Fa-f]{2})?|[^A-Za-z0-9!$&'()*+,;=:@/?\-._~%]")
_SLASHES = re.compile("//+")
_DOT_SEGMENT = re.compile(r"/\.\.?(?=/|\Z)")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# What most links look like; both forms of it are the same but for the query, and no parser is needed.
_SIMPLE_URL = re.compile(
    r"(https?://[a-z0-9.\-]+(?::[0-9]+)?(?=[/?#]|\Z))?"
    r"(/?(?:[A-Za-z0-9_~][A-Za-z0-9_~.,+=@\-]*(?:/[A-Za-z0-9_~][A-Za-z0-9_~.,+=@\-]*)*/?)?)"
    r"(?:\?([A-Za-z0-9_~.,+=@\-/&:!*]+))?(?:#[^\x00-\x20]*)?"
)

_NON_PAGE_EXTENSION_LIST = """
    7z aac apk avi bin bmp bz2 css csv dat deb dmg doc docx eot epub exe flac flv gif gz ico iso jar
    jpeg jpg js json m3u8 m4a m4v mid mkv mov mp3 mp4 mpeg mpg msi odt ogg otf pdf png ppt pptx ps psd
    rar rm rpm rss rtf svg swf tar tgz tif tiff torrent ts ttf wasm wav webm webp wma wmv woff woff2 wps
    xls xlsx xml xz zip
"""
# Plain text that sites keep for programs, at places agreed upon.
_MACHINE_FILES = frozenset(
    f"/{name}.txt"
    for name in ("robots", "ads", "app-ads", "sellers", "humans", "security", "llms", "llms-full", "sitemap", "urllist")
)
MAX_URL_CHARS = 2000  # characters
NON_PAGE_EXTENSIONS = frozenset(_NON_PAGE_EXTENSION_LIST.split())
"""Endings of URLs that lead to no page; documents among them, which `DocumentRules.skipped` takes out again."""


class UrlForms(NamedTuple):
    """One URL in two forms: `url` canonical, to tell pages apart by; `request_url` as a browser would ask for it."""

    url: str
    request_url: str


def canonicalize_url(text: str, base: str = "", encoding: str = "utf-8") -> str | Reason:
    """The one form by which a URL is known, or why there is none. Never raises; of itself it is itself.

    Tell the two by `isinstance(found, Reason)`: a Reason is a str as well. The arguments are those of `parse_url_forms`.
    """
    url_forms = parse_url_forms(text, base, encoding)
    return url_forms if isinstance(url_forms, Reason) else url_forms.url


def parse_url_forms(text: str, base: str = "", encoding: str = "utf-8") -> UrlForms | Reason:
    """Both forms of a URL, or why there are none. Never raises.

    `base` is the absolute URL that relative ones are resolved against; `encoding` is Python's name of that of the
    page, in which browsers encode the query (the path is always UTF-8).
    """
    if len(text) > _MAX_INPUT_CHARS:
        return Reason.URL_TOO_LONG
    plain = _parse_simple(text, base)
    if plain is not None:
        return plain
    try:
        return _build_url_forms(resolve_url(text, base, encoding))
    except (ValueError, LookupError):  # LookupError: an encoding that Python does not know
        return Reason.INVALID_URL


def resolve_url(text: str, base: str = "", encoding: str = "utf-8") -> str:
    """The URL by the WHATWG standard, of any scheme, with fragment and credentials.

    Raises ValueError for what a browser refuses, LookupError for an unknown `encoding`.
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
        if encoding not in ("utf-8", "utf8"):
            text = _encode_query(text, encoding)
    href: str = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
    return href


def host_of(url: str) -> Host:
    """`host[:port]` of a canonical URL; the port only where it is not the scheme's own."""
    return Host(url.split("/", 3)[2])


def split_host_port(host: str) -> tuple[str, str]:
    """A `host[:port]` in its parts, an IPv6 address without its brackets; the port is "" where none is named."""
    name, colon, port = host.rpartition(":")
    return (name.strip("[]"), port) if colon and port.isdigit() and not host.endswith("]") else (host.strip("[]"), "")


def origin_of(url: str) -> Origin:
    """`scheme://host[:port]` of a canonical URL."""
    return Origin("/".join(url.split("/", 3)[:3]))


def normalize_escapes(text: str) -> str:
    """Escapes spelled one way: none for unreserved characters, capital digits, one for what may not stand bare."""
    return _ESCAPE_OR_UNSAFE.sub(_normalize_escape, text)


@dataclass(frozen=True)
class Scope:
    """One allowed part of the web: `host` exactly, or also everything `includes_subdomains` it, with paths from `path_prefix` on."""

    host: str
    path_prefix: str = "/"
    includes_subdomains: bool = False

    def covers(self, host: str, path: str) -> bool:
        """Does the URL with this host and path (with query) belong to it?"""
        same = host == self.host or (self.includes_subdomains and host.endswith("." + self.host))
        return same and path.startswith(self.path_prefix)


@dataclass(frozen=True)
class UrlRules:
    """What a URL must keep to so that it may be fetched at all.

    `allowed_languages` are the codes (`zh`) that a link may name as its target's; empty: any.
    """

    scopes: tuple[Scope, ...]
    max_depth: int = 1000
    max_url_chars: int = MAX_URL_CHARS
    skipped_extensions: frozenset[str] = NON_PAGE_EXTENSIONS
    allowed_languages: frozenset[str] = frozenset()

    @cached_property
    def scopes_by_host(self) -> dict[str, tuple[Scope, ...]]:
        """The scopes that name each host; links are many, and so may be the scopes."""
        return {
            scope.host: tuple(same_host_scope for same_host_scope in self.scopes if same_host_scope.host == scope.host)
            for scope in self.scopes
        }

    def covers(self, host: str, path: str) -> bool:
        """Does any scope cover the URL? Asks only those of the host and of the domains above it."""
        name = host
        while True:
            if any(scope.covers(host, path) for scope in self.scopes_by_host.get(name, ())):
                return True
            _, dot, name = name.partition(".")
            if not dot:
                return False


def parse_scope(text: str) -> Scope | None:
    """The scope that a setting like `news.example.com/oil/` or `*.example.com` names; None if it names none."""
    without_wildcard = re.sub(r"^https?://", "", text.strip(), flags=re.IGNORECASE)
    includes_subdomains = without_wildcard.startswith("*.")
    url = canonicalize_url("http://" + without_wildcard.removeprefix("*."))
    if isinstance(url, Reason):
        return None
    host = host_of(url)
    if re.match(r"https://", text.strip(), flags=re.IGNORECASE):
        host = Host(host.removesuffix(":443"))
    return Scope(host, url[len(origin_of(url)) :], includes_subdomains)


def rejection_reason(url: str, rules: UrlRules, depth: int = 0, language: str = "") -> Reason | None:
    """Why a canonical URL is not fetched, cheapest test first; None if nothing speaks against it.

    `language` is what the link says of its target (`hreflang`), "" if nothing.
    """
    if len(url) > rules.max_url_chars:
        return Reason.URL_TOO_LONG
    if depth > rules.max_depth:
        return Reason.TOO_DEEP
    _, _, host, *path_parts = url.split("/", 3)
    path = "/" + path_parts[0]
    if not rules.covers(host, path):
        return Reason.OUT_OF_SCOPE
    if language and rules.allowed_languages and language.lower().partition("-")[0] not in rules.allowed_languages:
        return Reason.OUT_OF_SCOPE
    if _extension(path) in rules.skipped_extensions or path in _MACHINE_FILES:
        return Reason.UNSUPPORTED_EXTENSION
    return None


def path_extension(url: str) -> str:
    """What the path of a canonical URL ends with: `pdf`, in lower case; "" where its last part has no dot."""
    return _extension("/".join(url.split("/", 3)[3:]))


def _extension(path: str) -> str:
    last = path.partition("?")[0].rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def _parse_simple(text: str, base: str) -> UrlForms | None:
    """The forms of a plain URL; None if it is not plain, or is no URL."""
    match = _SIMPLE_URL.fullmatch(text)
    if match is None:
        return None
    origin, path, query = match.groups()
    start = _resolve_simple(base, origin, path, query)
    if start is None:
        return None
    if not query:
        return UrlForms(start, start)
    request_query, canonical_query = _query_forms(query)
    request_url = f"{start}?{request_query}" if request_query else start
    return UrlForms(f"{start}?{canonical_query}" if canonical_query else start, request_url)


def _resolve_simple(base: str, origin: str | None, path: str, query: str | None) -> str | None:
    """A plain URL up to its query."""
    if origin is not None:
        canonical_origin = _canonical_origin(origin)
        return canonical_origin and canonical_origin + (path or "/")
    base_parts = _split_base_url(base)
    if base_parts is None or not (path or query):
        return None
    if path.startswith("/"):
        return base_parts.origin + path
    return base_parts.folder_url + path if path else base_parts.page_url


class _BaseUrl(NamedTuple):
    """A base URL, cut where plain relative URLs go on."""

    origin: str
    folder_url: str
    page_url: str


@lru_cache(maxsize=1024)
def _split_base_url(base: str) -> _BaseUrl | None:
    match = _SIMPLE_URL.fullmatch(base)
    if match is None or match[1] is None:
        return None
    origin, path = _canonical_origin(match[1]), match[2] or "/"
    return _BaseUrl(origin, origin + path[: path.rindex("/") + 1], origin + path) if origin else None


@lru_cache(maxsize=65_536)
def _canonical_origin(origin: str) -> str | None:
    """A plain origin, if it is written in its canonical form."""
    try:
        return origin if _build_url_forms(resolve_url(origin)).url == origin + "/" else None
    except ValueError:
        return None


def _encode_query(text: str, encoding: str) -> str:
    """The text with its query percent-encoded in the page's encoding; UTF-16 and its like have UTF-8 stand in."""
    start = text.find("?")
    if start < 0 or encoding.startswith(("utf-16", "utf-32", "utf_16", "utf_32")):
        return text
    end = text.find("#", start)
    query, remainder = (text[start:], "") if end < 0 else (text[start:end], text[end:])
    return (
        text[:start]
        + "".join(char if char.isascii() else _percent_encode(char, encoding) for char in query)
        + remainder
    )


def _percent_encode(char: str, encoding: str) -> str:
    try:
        return "".join(f"%{byte:02X}" for byte in char.encode(encoding))
    except UnicodeEncodeError:
        return f"%26%23{ord(char)}%3B"


def _build_url_forms(href: str) -> UrlForms:
    """Both forms of a URL that is resolved. Raises ValueError for what we do not ask for."""
    match = _HTTP_URL.match(href)
    if match is None:
        raise ValueError("not http")
    scheme, authority, path, query = match[1], match[2], match[3], match[4]
    request_query, canonical_query = _query_forms(query) if query else ("", "")
    start = f"{scheme}://{_canonical_authority(authority)}{_canonical_path(path)}"
    request_url = f"{scheme}://{authority}{strip_session_ids(path) or '/'}"
    has_query = bool(request_query) or query == ""
    return UrlForms(
        f"{start}?{canonical_query}" if canonical_query else start,
        f"{request_url}?{request_query}" if has_query else request_url,
    )


def _canonical_path(path: str) -> str:
    """A path in canonical form. Escapes are spelled first: they may hide a session id. What is left without it may
    have become a segment of dots, which ada knows only in a whole URL.
    """
    cleaned_path = strip_session_ids(normalize_escapes(path)) or "/"
    if cleaned_path != path and _DOT_SEGMENT.search(cleaned_path):
        cleaned_path = resolve_url(f"http://h{cleaned_path}")[len("http://h") :]
    return _SLASHES.sub("/", cleaned_path)


@lru_cache(maxsize=65_536)
def _canonical_authority(authority: str) -> str:
    """The canonical host[:port]. Refuses credentials, port 0 and what no name server can know."""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or len(match[1]) > 253 or match[2] == ":0":
        raise ValueError("no host that we ask")
    return match[1] + match[2]


def _query_forms(query: str) -> tuple[str, str]:
    """A query as it is asked and in canonical form: without idle parameters; ordered by name, each pair once."""
    request_query = strip_ignored_parameters(query)
    query = (
        strip_ignored_parameters(normalize_escapes(request_query))
        if _ESCAPE_OR_UNSAFE.search(request_query)
        else request_query
    )  # an escape may hide the parameter's name
    if "&" not in query:
        return request_query, _drop_empty_value(query)
    pairs = dict.fromkeys(short for pair in query.split("&") if (short := _drop_empty_value(pair)))
    return request_query, "&".join(sorted(pairs, key=_parameter_name))


def _drop_empty_value(pair: str) -> str:
    return pair[:-1] if pair.endswith("=") and pair.count("=") == 1 else pair


def _parameter_name(pair: str) -> str:
    return pair.partition("=")[0]


def _normalize_escape(match: re.Match[str]) -> str:
    if match[1]:
        char = chr(int(match[1], 16))
        return char if char in _UNRESERVED else match[0].upper()
    return "".join(f"%{byte:02X}" for byte in match[0].encode())
