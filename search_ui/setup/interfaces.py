"""What the setup pages show and change. `pipeline` provides the implementation."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from domain.account import Account


class CheckState(StrEnum):
    """Progress of the check of a site or a sample page."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"


class RobotsState(StrEnum):
    """What robots.txt says about the start page."""

    ABSENT = "absent"
    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class SiteCheck:
    """The check of a site before its first crawl.

    Attributes:
        url: The URL that the person entered, in canonical form.
        step: Step of an active check: `robots`, `page`, `sitemap` or `feed`.
        problem: Code of the reason why the site cannot be crawled, or "".
        detail: Detail of the problem in English, such as an HTTP status.
        start_url: URL after redirects.
        crawl_delay: Seconds between two requests that robots.txt requests; 0 if it sets none.
        sitemap_count: Number of sitemap files that were read.
        feed_count: Number of feeds that the start page declares.
        charset: Encoding of the start page, or "".
        needs_scripts: The start page is empty without JavaScript.
        needs_login: The start page is a login form, or its status is 401 or 403.
        page_count: The site has at least this number of pages, by its sitemaps and the links of its start page; 0 if
            unknown.
        minutes_per_run: Minutes of a run that crawls these pages; 0 if unknown.
        run_count: Number of runs until all these pages are fetched; 0 if unknown.
        sample_urls: Pages that are probably articles.
    """

    url: str
    state: CheckState = CheckState.PENDING
    step: str = ""
    problem: str = ""
    detail: str = ""
    start_url: str = ""
    robots: RobotsState = RobotsState.ABSENT
    crawl_delay: float = 0.0
    sitemap_count: int = 0
    feed_count: int = 0
    charset: str = ""
    needs_scripts: bool = False
    needs_login: bool = False
    page_count: int = 0
    minutes_per_run: float = 0.0
    run_count: int = 0
    sample_urls: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        """True if the site can be crawled."""
        return self.state is CheckState.DONE and not self.problem


@dataclass(frozen=True)
class SamplePage:
    """A sample page with its extraction.

    Attributes:
        problem: Code of the reason why no article was extracted, or "".
        published: Date of the article, or "".
        body: Beginning of the text, one paragraph per line.
        is_cut: The text is longer than `body`.
        html: The page without active content, or "" if it cannot be shown.
        answer: Whether `body` is the article: `yes`, `no` or "".
    """

    url: str
    problem: str = ""
    title: str = ""
    published: str = ""
    body: str = ""
    is_cut: bool = False
    html: str = ""
    answer: str = ""


@dataclass(frozen=True)
class SetupState:
    """Everything that was entered or found so far; survives a restart of the program.

    Attributes:
        sites: The sites, in the order of their entry.
        samples: The sample pages; empty until some are loaded.
        samples_state: Progress of loading the samples.
        daily_at: Local time of the daily run, as HH:MM.
        quiet_from, quiet_to: Quiet hours, as HH:MM, or "".
    """

    account_name: str = ""
    password_hash: str = ""
    sites: tuple[SiteCheck, ...] = ()
    samples: tuple[SamplePage, ...] = ()
    samples_state: CheckState = CheckState.PENDING
    title: str = ""
    contact: str = ""
    daily_at: str = "02:30"
    quiet_from: str = ""
    quiet_to: str = ""
    are_details_complete: bool = False

    @property
    def usable_sites(self) -> tuple[SiteCheck, ...]:
        """The sites that can be crawled."""
        return tuple(site for site in self.sites if site.is_usable)

    @property
    def is_checking(self) -> bool:
        """True while sites are checked."""
        return any(site.state is not CheckState.DONE for site in self.sites)


@dataclass(frozen=True)
class SetupResult:
    """A finished setup: the first account, and the URL of the site, or "" if it is that of the setup pages."""

    account: Account
    site_url: str = ""


class SetupBackend(Protocol):
    """The work behind the setup pages. All methods are thread-safe."""

    def state(self) -> SetupState:
        """Return everything that was entered and found so far."""

    def is_valid_account_name(self, name: str) -> bool:
        """Return True if an account can have this name."""

    def save_account(self, name: str, password_hash: str) -> None:
        """Save name and password hash of the first account. `finish` creates it."""

    def check_sites(self, lines: Sequence[str]) -> list[str]:
        """Save the sites and start to check the new ones. Returns the lines that are not URLs; then nothing changes."""

    def load_samples(self) -> None:
        """Start to load sample pages of the usable sites, unless they are loaded."""

    def answer_samples(self, answers: Sequence[str]) -> None:
        """Save the answers about the sample pages, in their order."""

    def contact_problem(self, contact: str) -> str:
        """Return why the contact cannot be used: `missing`, `example` or `not_ascii`; "" if it can."""

    def save_details(self, title: str, contact: str, daily_at: str, quiet_from: str, quiet_to: str) -> None:
        """Save the details of the last form; they are valid."""

    def settings_text(self) -> str:
        """Return the settings file that `finish` writes."""

    def finish(self) -> SetupResult:
        """Create the account, write the settings file and start the first run.

        Raises PlumblineError. What was done before the error stays, and the next call continues.
        """
