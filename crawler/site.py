"""The sites of a crawl. A site is one record: where the crawl begins, what it may fetch, and how it treats the host.

The values may be secret, so no error message contains headers, cookies or proxies. They are never sent to the host of a
redirect target, because each target is a separate URL.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from crawler.schedule.quiet_hours import QuietHours, parse_quiet_hours
from crawler.urls.canonical import (
    Scope,
    UrlForms,
    canonicalize_url,
    host_of,
    parse_scope,
    parse_url_forms,
    split_host_port,
)
from domain.errors import SettingsError, SiteError
from domain.login import Login, LoginKind, SiteReaders
from domain.message import Message
from domain.outcome import Reason

MAX_DELAY_SECONDS = 99_999.0
SECRET_KEYS = ("headers", "cookies", "proxy")
"""Keys of a table [[sites]] with values that are never shown."""
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}+):[ \t]{0,9}+([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)")
_COOKIE = re.compile(r"[\x21-\x7e][\x20-\x3c\x3e-\x7e]*+=[\x20-\x7e]*+")
_PROXY = re.compile(r"http://(?:[^\s/?#]+@)?(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?/?", re.IGNORECASE)
_LOGIN_FIELD = re.compile(r"[^\s=][^=\r\n]*=[^\r\n]*")
_TIMES = re.compile(r"(?:(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?:[ ,]+|$))*")
# Headers that the crawl sets itself, or that would break the request.
_RESERVED_HEADERS = frozenset(
    (
        *("accept-encoding", "connection", "content-length", "cookie", "host", "if-modified-since", "if-none-match"),
        *("proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
    )
)


def key(default: Any, text: str) -> Any:
    """Define a key of the tables [[sites]]: its default and help."""
    return field(default=default, metadata={"text": text})


@dataclass(frozen=True)
class Site:
    """One table [[sites]]. `host` and `urls` are canonical."""

    host: str = key("", "host[:port], or *.host for its subdomains; by default that of the first start URL")
    urls: tuple[str, ...] = key((), "URLs where the crawl begins")
    scope: tuple[str, ...] | None = key(
        None,
        "allowed part of the site: host[:port][/path prefix], or *.host for a host and its subdomains; by default the "
        "host of the start URLs, with and without www.; nothing if there are none",
    )
    delay: float = key(0.0, "minimum seconds between two requests, if that is longer than crawl.delay")
    paused: bool = key(False, "not crawled for now; its pages stay in the results")
    quiet_hours: str = key(
        "",
        "hours without requests (local time) in addition to crawl.quiet_hours, for example 08:00-18:30, 22:00-06:00; "
        "the run continues with the other sites",
    )
    headers: tuple[str, ...] = key((), "headers of the requests, each as: Name: value")
    cookies: tuple[str, ...] = key((), "cookies of the requests, each as: name=value; name=value")
    proxy: str = key("", "proxy of the requests, for example http://proxy:3128")
    render: bool = key(
        False,
        "pages are rendered in Chromium before parsing (needs the extra render); scripts and data load from such sites "
        "only",
    )
    login: str = key("", "how the crawl signs in: basic, digest, ntlm, bearer, client_credentials or form")
    login_user: str = key("", "user name of the login, or client id")
    login_url: str = key("", "page with the form, or token endpoint of client_credentials")
    login_fields: tuple[str, ...] = key(
        (), "fields of the form, each as: name=value; {user} and {password} stand for the user name and the password"
    )
    login_signed_in_text: str = key("", "text that only pages of a signed-in user have")
    login_signed_out_text: str = key("", "text of pages that are shown after a failed sign-in or the end of a session")
    readers: str = key(
        "", "who finds the articles: everyone or signed-in; by default signed-in if the site has a login"
    )
    name: str = key("", "display name of the site")
    keep_days: int | None = key(None, "days after publication, in place of store.keep_days; 0: for ever")
    schedule: str = key("", "more times of runs that crawl only this site, for example 06:00 18:00")

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The allowed parts of the web."""
        if self.scope is not None:
            return tuple(scope for scope in map(parse_scope, self.scope) if scope is not None)
        return tuple(Scope(host) for host in www_variants(self.host)) if self.urls else ()

    @cached_property
    def request_headers(self) -> Mapping[str, str]:
        """The headers of requests, cookies included. Several cookies are joined."""
        headers = {match[1]: match[2] for match in map(_HEADER.fullmatch, self.headers) if match}
        return {**headers, "Cookie": "; ".join(self.cookies)} if self.cookies else headers

    @cached_property
    def quiet_periods(self) -> tuple[QuietHours, ...]:
        """The hours without requests."""
        return tuple(filter(None, map(parse_quiet_hours, self.quiet_hours.split(","))))

    @property
    def is_for_signed_in(self) -> bool:
        """True if the record says, by itself or by its login, that only signed-in readers find the articles."""
        return self.readers == SiteReaders.SIGNED_IN or bool(self.login and self.readers != SiteReaders.EVERYONE)

    @cached_property
    def login_settings(self) -> Login | None:
        """How the crawl signs in; None if the site has no login."""
        if not self.login:
            return None
        texts, forms = (self.login_signed_in_text, self.login_signed_out_text), parse_url_forms(self.login_url)
        url = forms.request_url if isinstance(forms, UrlForms) else ""
        return Login(LoginKind(self.login), self.login_user, url, self.login_fields, *texts)

    def covers(self, host: str) -> bool:
        """True if the record applies to host[:port]."""
        return host == self.host or (self.host.startswith("*.") and f".{host}".endswith(self.host[1:]))


NO_SITE = Site()
_SINGLE_HOST_KEYS = frozenset(("urls", "paused", "name", "keep_days", "schedule"))
SITE_KEYS: Mapping[str, "Field[Any]"] = {item.name: item for item in fields(Site)}


@dataclass(frozen=True)
class Sites:
    """All sites of a crawl, at most one record for each host."""

    records: tuple[Site, ...] = ()

    @classmethod
    def parse(cls, tables: Sequence[Mapping[str, Any]]) -> "Sites":
        """Parse tables [[sites]]. Raises SiteError for invalid values, SettingsError for a second table of a host."""
        records: dict[str, Site] = {}
        for site in map(parse_site, tables):
            if site.host in records:
                raise SettingsError("sites: {host} has two tables: join them", host=site.host)
            records[site.host] = site
        return cls(tuple(records.values()))

    @cached_property
    def seeds(self) -> tuple[str, ...]:
        """The start URLs of all sites."""
        return tuple(url for site in self.records for url in site.urls)

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The allowed parts of the web."""
        return tuple(dict.fromkeys(scope for site in self.records for scope in site.scopes))

    @cached_property
    def by_host(self) -> Mapping[str, Site]:
        """The records by host."""
        return {site.host: site for site in self.records}

    @cached_property
    def _wildcards(self) -> tuple[Site, ...]:
        """The records of subdomains, the most general first."""
        return tuple(sorted((site for site in self.records if site.host.startswith("*.")), key=lambda s: len(s.host)))

    @cached_property
    def _login_sites(self) -> Mapping[str, Site]:
        """The records of single hosts with a login, also by their form with or without www."""
        sites = [site for site in self.records if site.login]
        variants = {name: site for site in sites for name in www_variants(site.host) if name not in self.by_host}
        return variants | {site.host: site for site in sites}

    def login_site(self, host: str) -> Site | None:
        """Return the most specific record whose login applies to host[:port], or None."""
        wildcards = (site for site in reversed(self._wildcards) if site.login and site.covers(host))
        return self._login_sites.get(host) or next(wildcards, None)

    def for_url(self, url: str) -> Site:
        """Return what applies to a canonical URL; see `for_host`."""
        return self.for_host(host_of(url))

    def for_host(self, host: str) -> Site:
        """Return what applies to host[:port]: its own record, joined with those of `*.host`.

        The longest delay applies, and all quiet hours, headers and cookies. Of two proxies, and of two headers with
        one name, that of the more specific record applies.
        """
        site = self.by_host.get(host, NO_SITE)
        wildcards = [wildcard for wildcard in self._wildcards if wildcard.covers(host)]
        if not wildcards:
            return site
        matching = [*wildcards, site]
        return replace(
            site,
            host=host,
            delay=max(record.delay for record in matching),
            quiet_hours=", ".join(record.quiet_hours for record in matching if record.quiet_hours),
            headers=tuple(header for record in matching for header in record.headers),
            cookies=tuple(cookie for record in matching for cookie in record.cookies),
            proxy=next((record.proxy for record in reversed(matching) if record.proxy), ""),
            render=any(record.render for record in matching),
        )

    def without_logins(self) -> "Sites":
        """Return the sites as they are for those who do not sign in."""
        return Sites(tuple(replace(site, login="") for site in self.records))

    def with_urls(self, urls: Iterable[str], scope: tuple[str, ...] | None = None) -> "Sites":
        """Return the sites with more start URLs, which are canonical. A new record has this scope."""
        records = dict(self.by_host)
        for url in urls:
            site = records.get(host_of(url), Site(host_of(url), scope=scope))
            records[site.host] = replace(site, urls=tuple(dict.fromkeys((*site.urls, url))))
        return Sites(tuple(records.values()))


def www_variants(host: str) -> tuple[str, ...]:
    """Return the host with and without `www.`, because a site usually redirects one to the other."""
    name, _ = split_host_port(host)
    if ":" in name or name.replace(".", "").isdigit() or "." not in name:
        return (host,)
    return (host, host.removeprefix("www.") if host.startswith("www.") else f"www.{host}")


def add_scheme(text: str) -> str:
    """Return a URL that may lack its scheme."""
    return text if "://" in text else f"http://{text}"


def url_host(text: str) -> str:
    """Return the host of a URL that may lack its scheme; "" if it is not a URL."""
    url = canonicalize_url(add_scheme(text))
    return "" if isinstance(url, Reason) else host_of(url)


def canonical_host(text: str) -> str:
    """Return the canonical form of `host[:port]` or `*.host`; "" for other text."""
    scope = parse_scope(text)
    if scope is None or scope.path_prefix != "/":
        return ""
    return f"*.{scope.host}" if scope.includes_subdomains else scope.host


def table_host(table: Mapping[str, Any]) -> str:
    """Return the canonical host of a table [[sites]]; "" if it has none."""
    if table.get("host"):
        return canonical_host(str(table["host"]))
    urls = table.get("urls")
    return url_host(str(urls[0])) if isinstance(urls, list | tuple) and urls else ""


def parse_site(table: Mapping[str, Any]) -> Site:
    """Check a table [[sites]]. Raises SiteError with the problem of each key."""
    host = table_host(table)
    if problems := dict(_iter_problems(table, host)):
        raise SiteError(host, problems)
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    urls = (canonicalize_url(add_scheme(url)) for url in table.get("urls", ()))
    values |= {"host": host, "urls": tuple(dict.fromkeys(map(str, urls)))}
    return Site(**values)


def _iter_problems(table: Mapping[str, Any], host: str) -> Iterator[tuple[str, Message]]:
    """Yield the key and the problem of each invalid value."""
    for name, value in table.items():
        if name not in SITE_KEYS:
            yield name, Message(f"unknown key; expected one of {', '.join(SITE_KEYS)}")
            continue
        value_type, is_valid, problem = _CHECKS[name]
        items = value if value_type is list and isinstance(value, list | tuple) else [value]
        item_type = str if value_type is list and items is value else value_type
        if not all(_has_type(item, item_type) and is_valid(item, host) for item in items):
            yield name, Message(problem)
        elif value and host.startswith("*.") and name in _SINGLE_HOST_KEYS:
            yield name, Message("this needs a single host, not *.host")
    if table.get("login") in (LoginKind.FORM, LoginKind.CLIENT_CREDENTIALS) and not table.get("login_url"):
        yield "login_url", Message("this login needs the URL of its form or of its token endpoint")
    if not host and not table.get("urls") and not table.get("host"):
        yield "host", Message(_CHECKS["host"][2])


def _has_type(value: Any, value_type: type) -> bool:
    if value_type in (int, float):
        return isinstance(value, int | value_type) and not isinstance(value, bool)
    return isinstance(value, value_type)


def _is_part_of_site(line: str, host: str) -> bool:
    scope, name = parse_scope(line), host.removeprefix("*.")
    return scope is not None and (scope.host in www_variants(name) or scope.covers(name, scope.path_prefix))


def _are_quiet_hours(text: str, _: str) -> bool:
    try:
        return bool([parse_quiet_hours(hours) for hours in text.split(",")])
    except ValueError:
        return False


def _is_header(text: str, _: str) -> bool:
    match = _HEADER.fullmatch(text)
    return match is not None and match[1].lower() not in _RESERVED_HEADERS


_CHECKS: Mapping[str, tuple[type, Callable[[Any, str], object], str]] = {
    "host": (
        str,
        lambda text, _: not text or canonical_host(text),
        "expected a host, for example a.example.com or *.example.com",
    ),
    "urls": (list, lambda url, host: host and url_host(url) == host, "expected http or https URLs of this site"),
    "scope": (list, _is_part_of_site, "expected parts of this site, for example news.example.com/oil/"),
    "delay": (
        float,
        lambda seconds, _: 0 <= seconds <= MAX_DELAY_SECONDS,
        "expected seconds from 0 to 99999, for example 10",
    ),
    "paused": (bool, lambda *_: True, "expected true or false"),
    "quiet_hours": (str, _are_quiet_hours, "expected hours, for example 08:00-18:30, 22:00-06:00"),
    "headers": (list, _is_header, "expected Name: value in ASCII; not a cookie, and no header that the crawl sets"),
    "cookies": (list, lambda text, _: _COOKIE.fullmatch(text), "expected name=value; name=value in ASCII"),
    "proxy": (str, lambda text, _: not text or _PROXY.fullmatch(text), "expected a URL such as http://127.0.0.1:3128"),
    "render": (bool, lambda *_: True, "expected true or false"),
    "login": (
        str,
        lambda text, _: not text or text in (*LoginKind,),
        "expected basic, digest, ntlm, bearer, client_credentials or form",
    ),
    "login_user": (str, lambda text, _: text.isprintable(), "expected text without line breaks"),
    "login_url": (
        str,
        lambda text, _: not text or (text.startswith(("http://", "https://")) and url_host(text)),
        "expected a URL such as https://www.example.com/login",
    ),
    "login_fields": (list, lambda text, _: _LOGIN_FIELD.fullmatch(text), "expected name=value"),
    "login_signed_in_text": (str, lambda text, _: text.isprintable(), "expected text without line breaks"),
    "login_signed_out_text": (str, lambda text, _: text.isprintable(), "expected text without line breaks"),
    "readers": (
        str,
        lambda text, _: text in ("", *SiteReaders),
        "expected everyone or signed-in; leave it out for the default",
    ),
    "name": (str, lambda *_: True, "expected text"),
    "keep_days": (int, lambda days, _: days >= 0, "expected days, 0 or more"),
    "schedule": (str, lambda text, _: _TIMES.fullmatch(text), "expected times, for example 06:00 18:00"),
}
"""By key: type, whether a value (or an entry of a list) is valid for a host, and what to say otherwise."""
