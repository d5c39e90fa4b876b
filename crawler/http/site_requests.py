"""What is sent to some sites alone: headers, cookies, and the proxy through which they are asked.

Each line of these settings begins with whom it is for, `news.example.com`, `a.test:8080` or `*.example.com`. They may
hold secrets: nothing here shows a value, in an error or anywhere else. Redirects carry none of it to another host, for
the target of one is a URL like any other.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from urllib3.util.url import parse_url

from crawler.settings import CrawlSettings
from crawler.urls.canonical import Scope, scope_of
from docstore.errors import SettingsError

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)")
_COOKIE = re.compile(r"[\x21-\x7e][\x20-\x7e]*=[\x20-\x7e]*")
# What the crawl sets by itself, or what would break the request.
_OURS = frozenset(
    (
        *("accept-encoding", "connection", "content-length", "cookie", "host", "if-modified-since", "if-none-match"),
        *("proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
    )
)


@dataclass(frozen=True)
class SiteRequests:
    """By whom each line is for: headers (cookies among them) and proxies. The first proxy that fits is used."""

    headers: tuple[tuple[Scope, str, str], ...] = ()
    proxies: tuple[tuple[Scope, str], ...] = ()

    def headers_for(self, host: str) -> Mapping[str, str]:
        """What is sent to host[:port] beside what is sent to all; of two cookies both."""
        found: dict[str, str] = {}
        for scope, name, value in self.headers:
            if scope.covers(host, "/"):
                found[name] = f"{found[name]}; {value}" if name == "Cookie" and name in found else value
        return found

    def proxy_for(self, host: str) -> str:
        """The proxy that host[:port] is asked through; "" for none."""
        return next((proxy for scope, proxy in self.proxies if scope.covers(host, "/")), "")


def site_requests(settings: CrawlSettings) -> SiteRequests:
    """What the settings say. Raises SettingsError naming the setting and the line, but none of its values."""
    headers = [(scope, *_header(rest, where)) for scope, rest, where in _lines("headers", settings.headers)]
    cookies = [(scope, "Cookie", _cookie(rest, where)) for scope, rest, where in _lines("cookies", settings.cookies)]
    proxies = [(scope, _proxy(rest, where)) for scope, rest, where in _lines("proxies", settings.proxies)]
    return SiteRequests((*headers, *cookies), tuple(proxies))


def _lines(name: str, lines: tuple[str, ...]) -> Iterator[tuple[Scope, str, str]]:
    for number, line in enumerate(lines, 1):
        where = f"crawl.{name}, line {number}"
        host, _, rest = line.strip().partition(" ")
        scope = scope_of(host)
        if scope is None or scope.prefix != "/" or not rest.strip():
            raise SettingsError(f"{where}: a host, or *.host, a blank and the rest are expected")
        yield scope, rest.strip(), where


def _header(text: str, where: str) -> tuple[str, str]:
    match = _HEADER.fullmatch(text)
    if match is None:
        raise SettingsError(f"{where}: expected HOST Name: value, in printable ASCII")
    if match[1].lower() in _OURS:
        raise SettingsError(f"{where}: the header {match[1]} is set by the crawl itself, or by crawl.cookies")
    return match[1], match[2]


def _cookie(text: str, where: str) -> str:
    if _COOKIE.fullmatch(text) is None:
        raise SettingsError(f"{where}: expected HOST name=value; name=value, in printable ASCII")
    return text


def _proxy(text: str, where: str) -> str:
    try:
        parts = parse_url(text)
    except ValueError:
        raise SettingsError(f"{where}: the proxy is no URL") from None
    if parts.scheme != "http" or not parts.host or parts.path not in (None, "/") or parts.query:
        raise SettingsError(f"{where}: expected HOST http://proxy:port")
    return text.removesuffix("/")
