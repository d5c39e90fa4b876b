"""The interface of the pages that change sites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from domain.administration import HostSuggestion, SiteContents


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


SITE_FORM_KEYS = ("name", "delay", "quiet_hours", "urls", "scope", "keep_days", "schedule", "render")
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


class SiteService(Protocol):
    """Changes sites in the settings file and in the store.

    The methods raise SettingsError if a value is invalid or the file cannot be changed, and SettingsConflictError if
    somebody else has changed it at the same moment. A change of the file takes effect with the next run.
    """

    def find_host(self, text: str) -> str:
        """Return the canonical form of a host; "" if nothing is known of it."""

    def load(self, host: str) -> SiteSettings:
        """Return the settings of a host."""

    def suggestions(self, limit: int) -> Sequence[HostSuggestion]:
        """Return the best suggested hosts."""

    def count_contents(self, host: str) -> SiteContents:
        """Return what the store has of a host."""

    def add(self, url: str, account: str) -> str:
        """Add a start URL, and its host to the scope. Returns the host."""

    def pause(self, host: str, account: str) -> None:
        """Leave a host out of the crawl."""

    def resume(self, host: str, account: str) -> None:
        """Crawl a paused host again."""

    def change(self, host: str, values: Mapping[str, str], account: str) -> None:
        """Change the settings of a host to these texts by key. Raises SiteError with the problem of each."""

    def set_option(self, host: str, kind: SiteOptionKind, text: str, account: str) -> None:
        """Send a header (`Name: value`) or cookies (`name=value; name=value`) to a host, or use a proxy (its URL).

        Replaces the header of this name, the cookies of these names, or the proxy. The history has no values.
        """

    def remove_option(self, host: str, option: SiteOption, account: str) -> None:
        """Remove a header, cookies or a proxy of a host. Without them, nothing changes."""

    def recrawl(self, host: str, account: str) -> int:
        """Make all fetched pages of a host due for the next run. Returns their number."""

    def remove(self, host: str, account: str) -> SiteContents:
        """Remove a host from the settings, with its pages and articles. Returns what was removed.

        Raises:
            BusyError: A run is crawling.
        """
