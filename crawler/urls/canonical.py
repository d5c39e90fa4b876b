"""Canonical and requested forms of URLs, and rejection rules that need no network.

    text -> resolved (WHATWG, by ada) -> UrlForms.request_url: requested, as by a browser
                                      -> UrlForms.url: canonical, the key in the seen test and the tables

Both forms omit parts that cannot change the page: fragment, tracking parameters, session ids. The canonical form also
normalizes escapes (RFC 3986, 6.2.2), drops a dot after the host and repeated slashes, and sorts the parameters of the
query. It can be requested as well: all tested servers respond equally to both forms.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import ada_url

from crawler.urls.ignored_parameters import strip_ignored_parameters, strip_session_ids
from domain.outcome import Reason
from domain.page import Host, Origin

_MAX_INPUT_CHARS = 20_000  # upper bound before any work; `rejection_reason` has the real limit
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HTTP_URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?")
_AUTHORITY = re.compile(r"((?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\])\.?((?::[0-9]+)?)")
# A percent escape, or a character that RFC 3986 does not allow in a URL and that therefore needs an escape.
_ESCAPE_OR_UNSAFE = re.compile(r"%([0-9A-Fa-f]{2})?|[^A-Za-z0-9!$&'()*+,;=:@/?\-._~%]")
_SLASHES = re.compile("//+")
_DOT_SEGMENT = re.compile(r"/\.\.?(?=/|\Z)")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Most links. Their two forms differ only in the query, and need no parser.
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
# Plain-text files for programs at well-known paths.
_MACHINE_FILES = frozenset(
    f"/{name}.txt"
    for name in ("robots", "ads", "app-ads", "sellers", "humans", "security", "llms", "llms-full", "sitemap", "urllist")
)
MAX_URL_CHARS = 2000
NON_PAGE_EXTENSIONS = frozenset(_NON_PAGE_EXTENSION_LIST.split())
"""Extensions of files. A link with one is fetched if its site shows that it leads to a page (`path_answers`).
`DocumentRules.skipped_extensions` removes those of enabled documents.
"""


class UrlForms(NamedTuple):
    """Two forms of one URL.

    `url` is canonical and identifies the page, `request_url` is as a browser would request it.
    """

    url: str
    request_url: str


def canonicalize_url(text: str, base: str = "", encoding: str = "utf-8") -> str | Reason:
    """Return the canonical form of a URL, or a Reason. Never raises. Idempotent.

    Check the result with `isinstance(result, Reason)`, because a Reason is also a str. See `parse_url_forms` for the
    arguments.
    """
    url_forms = parse_url_forms(text, base, encoding)
    return url_forms if isinstance(url_forms, Reason) else url_forms.url


def parse_url_forms(text: str, base: str = "", encoding: str = "utf-8") -> UrlForms | Reason:
    """Return both forms of a URL, or a Reason. Never raises.

    Args:
        base: absolute URL that resolves relative ones.
        encoding: Python name of the page's encoding. Browsers encode the query in it; the path is always UTF-8.
    """
    if len(text) > _MAX_INPUT_CHARS:
        return Reason.URL_TOO_LONG
    simple_forms = _parse_simple(text, base)
    if simple_forms is not None:
        return simple_forms
    try:
        return _build_url_forms(resolve_url(text, base, encoding))
    except (ValueError, LookupError):  # LookupError: encoding unknown to Python
        return Reason.INVALID_URL


def resolve_url(text: str, base: str = "", encoding: str = "utf-8") -> str:
    """Resolve a URL by the WHATWG standard, for any scheme, with fragment and credentials.

    Raises ValueError if a browser would reject it, LookupError for an unknown `encoding`.
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
        if encoding not in ("utf-8", "utf8"):
            text = _encode_query(text, encoding)
    href: str = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
    return href


def host_of(url: str) -> Host:
    """Return `host[:port]` of a canonical URL, with the port only if it is not the default of the scheme."""
    return Host(url.split("/", 3)[2])


def split_host_port(host: str) -> tuple[str, str]:
    """Split `host[:port]`. An IPv6 address loses its brackets. The port is "" if missing."""
    name, colon, port = host.rpartition(":")
    return (name.strip("[]"), port) if colon and port.isdigit() and not host.endswith("]") else (host.strip("[]"), "")


def url_origin(url: str) -> Origin:
    """Return `scheme://host[:port]` of a canonical URL."""
    return Origin("/".join(url.split("/", 3)[:3]))


def normalize_escapes(text: str) -> str:
    """Normalize escapes: none for unreserved characters, upper-case digits, and escapes for unsafe characters."""
    return _ESCAPE_OR_UNSAFE.sub(_normalize_escape, text)


@dataclass(frozen=True)
class Scope:
    """An allowed part of the web: a host, optionally with its subdomains, and a path prefix."""

    host: str
    path_prefix: str = "/"
    includes_subdomains: bool = False

    def covers(self, host: str, path: str) -> bool:
        """True if the scope contains the URL with this host and path (with query)."""
        same = host == self.host or (self.includes_subdomains and host.endswith("." + self.host))
        return same and path.startswith(self.path_prefix)


@dataclass(frozen=True)
class UrlRules:
    """Conditions that a URL must meet to be fetched."""

    scopes: tuple[Scope, ...]
    max_depth: int = 1000
    max_url_chars: int = MAX_URL_CHARS

    @cached_property
    def scopes_by_host(self) -> dict[str, tuple[Scope, ...]]:
        """Scopes by host, because both links and scopes may be many."""
        return {
            scope.host: tuple(same_host_scope for same_host_scope in self.scopes if same_host_scope.host == scope.host)
            for scope in self.scopes
        }

    def covers(self, host: str, path: str) -> bool:
        """True if any scope contains the URL. Only the scopes of the host and its parent domains are checked."""
        name = host
        while True:
            if any(scope.covers(host, path) for scope in self.scopes_by_host.get(name, ())):
                return True
            _, dot, name = name.partition(".")
            if not dot:
                return False


def parse_scope(text: str) -> Scope | None:
    """Parse a scope such as `news.example.com/oil/` or `*.example.com`. Returns None if it is invalid."""
    without_wildcard = re.sub(r"^https?://", "", text.strip(), flags=re.IGNORECASE)
    includes_subdomains = without_wildcard.startswith("*.")
    url = canonicalize_url("http://" + without_wildcard.removeprefix("*."))
    if isinstance(url, Reason):
        return None
    host = host_of(url)
    if re.match(r"https://", text.strip(), flags=re.IGNORECASE):
        host = Host(host.removesuffix(":443"))
    return Scope(host, url[len(url_origin(url)) :], includes_subdomains)


def rejection_reason(url: str, rules: UrlRules, depth: int = 0) -> Reason | None:
    """Return why a canonical URL is not fetched, cheapest check first, or None if it is allowed."""
    if len(url) > rules.max_url_chars:
        return Reason.URL_TOO_LONG
    if depth > rules.max_depth:
        return Reason.TOO_DEEP
    _, _, host, *path_parts = url.split("/", 3)
    path = "/" + path_parts[0]
    if not rules.covers(host, path):
        return Reason.OUT_OF_SCOPE
    if path in _MACHINE_FILES:
        return Reason.UNSUPPORTED_EXTENSION
    return None


@lru_cache(maxsize=65_536)
def path_extension(url: str) -> str:
    """Return the extension of a canonical URL's path in lower case, such as `pdf`, or ""."""
    return _extension("/".join(url.split("/", 3)[3:]))


def _extension(path: str) -> str:
    last = path.partition("?")[0].rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def _parse_simple(text: str, base: str) -> UrlForms | None:
    """Return both forms of a simple URL, or None if it is not simple or not a URL."""
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
    """Resolve a simple URL without its query."""
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
    """A base URL, split at the positions where simple relative URLs are appended."""

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
    """Return a simple origin if it is in canonical form, otherwise None."""
    try:
        return origin if _build_url_forms(resolve_url(origin)).url == origin + "/" else None
    except ValueError:
        return None


def _encode_query(text: str, encoding: str) -> str:
    """Percent-encode the query in the page's encoding. UTF-16 and UTF-32 use UTF-8 instead."""
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
    """Build both forms of a resolved URL. Raises ValueError for a URL that the crawler does not fetch."""
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
    """Return the canonical form of a path.

    Escapes are normalized first, because they may hide a session id. Removing the session id may leave a dot segment,
    which ada resolves only in a complete URL.
    """
    cleaned_path = strip_session_ids(normalize_escapes(path)) or "/"
    if cleaned_path != path and _DOT_SEGMENT.search(cleaned_path):
        cleaned_path = resolve_url(f"http://h{cleaned_path}")[len("http://h") :]
    return _SLASHES.sub("/", cleaned_path)


@lru_cache(maxsize=65_536)
def _canonical_authority(authority: str) -> str:
    """Return the canonical host[:port]. Raises ValueError for credentials, port 0 and invalid host names."""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or len(match[1]) > 253 or match[2] == ":0":
        raise ValueError("host is not allowed")
    return match[1] + match[2]


def _query_forms(query: str) -> tuple[str, str]:
    """Return the query string of a URL in both forms, without the ignored parameters (tracking, session ids).

    The request form is otherwise unchanged. An ignored parameter whose name contains an escape stays in it. The
    canonical form also has normalized escapes, no `=` before an empty value, and each parameter once, sorted by name.
    """
    request_query = strip_ignored_parameters(query)
    canonical_query = request_query
    if _ESCAPE_OR_UNSAFE.search(request_query):
        # Strip again, because an escape may have hidden the name of an ignored parameter.
        canonical_query = strip_ignored_parameters(normalize_escapes(request_query))
    if "&" not in canonical_query:
        return request_query, _drop_empty_equals(canonical_query)
    pairs = dict.fromkeys(filter(None, map(_drop_empty_equals, canonical_query.split("&"))))
    return request_query, "&".join(sorted(pairs, key=lambda pair: pair.partition("=")[0]))


def _drop_empty_equals(pair: str) -> str:
    """Return `a` for `a=`, and any other parameter unchanged."""
    return pair[:-1] if pair.endswith("=") and pair.count("=") == 1 else pair


def _normalize_escape(match: re.Match[str]) -> str:
    if match[1]:
        char = chr(int(match[1], 16))
        return char if char in _UNRESERVED else match[0].upper()
    return "".join(f"%{byte:02X}" for byte in match[0].encode())
