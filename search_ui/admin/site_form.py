"""What the pages show and change of the sites in the settings file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from domain.administration import HostSuggestion
from domain.site_check import SiteCheck


class SiteOptionKind(StrEnum):
    """What the crawl adds to the requests to a host."""

    HEADER = "header"
    COOKIE = "cookie"
    PROXY = "proxy"


@dataclass(frozen=True)
class SiteOption:
    """A header, cookie or proxy of one host, without its value.

    `name` is that of the header, those of the cookies, or the URL of the proxy without user name and password.
    """

    kind: SiteOptionKind
    name: str


SITE_FORM_KEYS = ("name", "delay", "quiet_hours", "urls", "scope", "keep_days", "schedule", "render", "readers")
"""Keys of a site that the form shows; `urls` and `scope` have one value per line, `render` is `true` or ""."""


@dataclass(frozen=True)
class SiteSettings:
    """What the settings file says about one host.

    Attributes:
        host: The host.
        values: Text by key of SITE_FORM_KEYS; "" if the file does not state it.
        is_paused: Whether the crawl leaves the host out.
        is_crawled: Whether the scope of the crawl contains the host.
        options: Headers, cookies and proxies of this host.
    """

    host: str
    values: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(SITE_FORM_KEYS, ""))
    is_paused: bool = False
    is_crawled: bool = True
    options: Sequence[SiteOption] = ()


@dataclass(frozen=True)
class SiteReader:
    """Functions that read sites in the settings file, and `check`. All but the first raise SettingsError.

    Attributes:
        find_host: Returns the canonical form of a host; "" if nothing is known of it.
        load: Returns the settings of a host.
        suggestions: Returns the best suggested hosts, up to a number.
        check: Requests a site and returns what speaks for and against it.
    """

    find_host: Callable[[str], str]
    load: Callable[[str], SiteSettings]
    suggestions: Callable[[int], Sequence[HostSuggestion]]
    check: Callable[[str], SiteCheck]
