"""Headers, cookies and proxies for specific sites.

Each line of these settings begins with its site: `news.example.com`, `a.test:8080` or `*.example.com`. The values may
be secret, so no error message contains them. They are never sent to the host of a redirect target, because each target
is a separate URL.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from crawler.schedule.quiet_hours import QuietHours, parse_quiet_hours
from crawler.settings import CrawlSettings
from crawler.urls.canonical import Scope, parse_scope
from domain.errors import SettingsError
from domain.message import Message

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)")
_SECONDS = re.compile(r"\d{1,5}(?:\.\d{1,3})?")
_COOKIE = re.compile(r"[\x21-\x7e][\x20-\x3c\x3e-\x7e]*+=[\x20-\x7e]*+")
# Headers that the crawl sets itself, or that would break the request.
_RESERVED_HEADERS = frozenset(
    (
        *("accept-encoding", "connection", "content-length", "cookie", "host", "if-modified-since", "if-none-match"),
        *("proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
    )
)


@dataclass(frozen=True)
class SiteOptions:
    """Headers (cookies included) and proxies, each with its scope. The first matching proxy is used."""

    headers: tuple[tuple[Scope, str, str], ...] = ()
    proxies: tuple[tuple[Scope, str], ...] = ()

    def headers_for(self, host: str) -> Mapping[str, str]:
        """Return the additional headers for host[:port]. Several cookies are joined."""
        headers: dict[str, str] = {}
        for scope, name, value in self.headers:
            if scope.covers(host, "/"):
                headers[name] = f"{headers[name]}; {value}" if name == "Cookie" and name in headers else value
        return headers

    def proxy_for(self, host: str) -> str:
        """Return the proxy for host[:port], or "" for none."""
        return next((proxy for scope, proxy in self.proxies if scope.covers(host, "/")), "")


def parse_site_options(settings: CrawlSettings) -> SiteOptions:
    """Parse the site options. Raises SettingsError with the setting and line number, but without secret values."""
    headers = [
        (scope, *_parse_header(remainder, label))
        for scope, remainder, label in _iter_lines("headers", settings.headers)
    ]
    cookies = [
        (scope, "Cookie", _parse_cookie(remainder, label))
        for scope, remainder, label in _iter_lines("cookies", settings.cookies)
    ]
    proxies = [
        (scope, _parse_proxy(remainder, label)) for scope, remainder, label in _iter_lines("proxies", settings.proxies)
    ]
    return SiteOptions((*headers, *cookies), tuple(proxies))


def parse_site_delays(settings: CrawlSettings) -> tuple[tuple[Scope, float], ...]:
    """Parse `crawl.site_delays`: scopes with their delays in seconds. Raises SettingsError with the line number."""
    site_delays = []
    for scope, remainder, label in _iter_lines("site_delays", settings.site_delays):
        if not _SECONDS.fullmatch(remainder):
            raise SettingsError("{line}: expected a host and seconds, for example news.example.com 10.", line=label)
        site_delays.append((scope, float(remainder)))
    return tuple(site_delays)


def parse_site_quiet_hours(settings: CrawlSettings) -> tuple[tuple[Scope, QuietHours], ...]:
    """Parse `crawl.site_quiet_hours`: scopes with their quiet hours. Raises SettingsError with the line number."""
    site_quiet_hours = []
    for scope, remainder, label in _iter_lines("site_quiet_hours", settings.site_quiet_hours):
        try:
            quiet_hours = parse_quiet_hours(remainder)
        except ValueError:
            quiet_hours = None
        if quiet_hours is None:
            raise SettingsError(
                "{line}: expected a host and hours, for example news.example.com 08:00-18:30.", line=label
            )
        site_quiet_hours.append((scope, quiet_hours))
    return tuple(site_quiet_hours)


def delay_for_host(site_delays: Iterable[tuple[Scope, float]], host: str) -> float:
    """Return the longest of the parsed delays that apply to host[:port], in seconds; 0 if none does."""
    return max((seconds for scope, seconds in site_delays if scope.covers(host, "/")), default=0.0)


def parse_paused_hosts(settings: CrawlSettings) -> tuple[str, ...]:
    """Return the canonical hosts of `crawl.paused_sites`. Raises SettingsError for text that is not a host."""
    hosts = []
    for host in settings.paused_sites:
        scope = parse_scope(host)
        if scope is None or scope.path_prefix != "/" or scope.includes_subdomains:
            value = repr(host[:200])
            raise SettingsError(
                "{path}: {value} is not a host such as news.example.com or intra:8080",
                path="crawl.paused_sites",
                value=value,
            )
        hosts.append(scope.host)
    return tuple(hosts)


def _iter_lines(name: str, lines: tuple[str, ...]) -> Iterator[tuple[Scope, str, Message]]:
    for line_number, line in enumerate(lines, 1):
        label = Message("{path}, line {n}", path=f"crawl.{name}", n=line_number)
        host, _, remainder = line.strip().partition(" ")
        scope = parse_scope(host)
        if scope is None or scope.path_prefix != "/" or not remainder.strip():
            raise SettingsError(
                "{line}: expected a host (news.example.com or *.example.com) and its value.", line=label
            )
        yield scope, remainder.strip(), label


def _parse_header(text: str, label: Message) -> tuple[str, str]:
    match = _HEADER.fullmatch(text)
    if match is None:
        raise SettingsError("{line}: expected a header as Name: value, in printable ASCII.", line=label)
    if match[1].lower() in _RESERVED_HEADERS:
        raise SettingsError(
            "{line}: the header {name} is set by the crawl itself, or by crawl.cookies.", line=label, name=match[1]
        )
    return match[1], match[2]


def _parse_cookie(text: str, label: Message) -> str:
    if _COOKIE.fullmatch(text) is None:
        raise SettingsError("{line}: expected cookies as name=value; name=value, in printable ASCII.", line=label)
    return text


def _parse_proxy(text: str, label: Message) -> str:
    from urllib3.util.url import parse_url  # doubles the imports of crawl_plan, which most commands need

    try:
        parts = parse_url(text)
    except ValueError:
        raise SettingsError(
            "{line}: expected the URL of a proxy, for example http://127.0.0.1:3128.", line=label
        ) from None
    if parts.scheme != "http" or not parts.host or parts.path not in (None, "/") or parts.query:
        raise SettingsError("{line}: expected the URL of a proxy, for example http://127.0.0.1:3128.", line=label)
    return text.removesuffix("/")
