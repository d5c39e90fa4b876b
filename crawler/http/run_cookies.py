"""Cookies that sites set during a run, sent back by the rules of browsers (RFC 6265). Nothing is saved.

A cookie goes only to the host or domain that set it, and never to a whole public suffix such as `com.cn`.
"""

from http.client import HTTPMessage
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from types import SimpleNamespace
from typing import Any
from urllib.request import Request

from crawler.urls.canonical import host_of
from crawler.urls.registrable_domains import registrable_domain, site_domain

_MAX_SITES, _MAX_COOKIES_PER_SITE, _MAX_COOKIE_CHARS = 5000, 50, 4096


class _Policy(DefaultCookiePolicy):
    def set_ok(self, cookie: Cookie, request: Any) -> bool:
        """True if a response to `request` may set the cookie."""
        is_suffix = cookie.domain_specified and not registrable_domain(cookie.domain.strip("."))
        return not is_suffix and len(cookie.value or "") <= _MAX_COOKIE_CHARS and super().set_ok(cookie, request)


class RunCookies:
    """The cookies of a run, by site. Thread-safe; memory is bounded."""

    def __init__(self) -> None:
        self._jars: dict[str, CookieJar] = {}

    def header(self, url: str, configured_cookies: str = "") -> str:
        """Return the Cookie header for a URL: `configured_cookies`, and those of the site with other names."""
        jar = self._jars.get(site_domain(host_of(url))) if self._jars else None
        if jar is None:
            return configured_cookies
        request = Request(url)  # noqa: S310 (never opened)
        jar.add_cookie_header(request)
        names = {pair.partition("=")[0].strip() for pair in configured_cookies.split(";")}
        pairs = (request.get_header("Cookie") or "").split("; ")
        return "; ".join(
            filter(None, (configured_cookies, *(pair for pair in pairs if pair.partition("=")[0] not in names)))
        )

    def store(self, url: str, headers: Any) -> bool:
        """Store the cookies of a response's headers. Returns True if the next request for the URL sends others."""
        if "Set-Cookie" not in headers:
            return False
        before, response = self.header(url), SimpleNamespace(info=lambda: headers)
        jar = self._jars.setdefault(
            site_domain(host_of(url)), CookieJar(_Policy(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain))
        )
        jar.extract_cookies(response, Request(url))  # type: ignore[arg-type]  # noqa: S310
        if len(jar) > _MAX_COOKIES_PER_SITE:
            jar.clear()
        if len(self._jars) > _MAX_SITES:
            self._jars.pop(next(iter(self._jars)), None)
        return self.header(url) != before

    def clear(self, url: str) -> None:
        """Forget the cookies of the site of a URL."""
        self._jars.pop(site_domain(host_of(url)), None)

    def add(self, url: str, header: str) -> None:
        """Store a Set-Cookie header that a script of the page at a URL wrote."""
        message = HTTPMessage()
        message["Set-Cookie"] = header
        self.store(url, message)
