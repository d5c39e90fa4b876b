"""What the pages show and change of the sites in the settings file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from domain.administration import HostSuggestion
from domain.login import LoginTrial
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


LOGIN_FORM_KEYS = ("login", "login_user", "login_url", "login_fields", "login_signed_in_text", "login_signed_out_text")
"""Keys of a site that the form of its login shows; `login_fields` has one value per line."""


class SecretSource(StrEnum):
    """Where the password of a login comes from."""

    NONE = "none"
    FILE = "file"
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class SiteLogin:
    """How the crawl signs in to one host, without the password.

    Attributes:
        host: The host.
        values: Text by key of LOGIN_FORM_KEYS; "" if the settings file does not state it.
        secret_source: Where the password comes from.
        secret_variable: The variable of the environment that can set it.
        secret_problem: Why it cannot be read, or "".
        readers: The key `readers` of the site, or "".
        page_url: A page of the site for a trial, or "".
        is_rendered: Pages of the site are rendered, and the sign-in can run scripts.
    """

    host: str
    values: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(LOGIN_FORM_KEYS, ""))
    secret_source: SecretSource = SecretSource.NONE
    secret_variable: str = ""
    secret_problem: str = ""
    readers: str = ""
    page_url: str = ""
    is_rendered: bool = False


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
    """Functions that read sites in the settings file or request them. All but the first raise SettingsError.

    Attributes:
        find_host: Returns the canonical form of a host; "" if nothing is known of it.
        load: Returns the settings of a host.
        suggestions: Returns the best suggested hosts, up to a number.
        check: Requests a site and returns what speaks for and against it.
        load_login: Returns the login of a host.
        try_login: Signs in to a host with the values of a form, a password ("": the saved one) and the URL of a page.
    """

    find_host: Callable[[str], str]
    load: Callable[[str], SiteSettings]
    suggestions: Callable[[int], Sequence[HostSuggestion]]
    check: Callable[[str], SiteCheck]
    load_login: Callable[[str], SiteLogin]
    try_login: Callable[[str, Mapping[str, str], str, str], LoginTrial]
