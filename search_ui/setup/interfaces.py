"""What the setup pages show and change. `pipeline` provides the implementation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.account import Account
from domain.site_check import CheckState, SiteCheck


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
        inside_hosts: Hosts of the person's own network, which may be fetched.
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
    inside_hosts: tuple[str, ...] = ()

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

    def accept_site(self, url: str, is_own_network: bool) -> None:
        """Add a site nevertheless, or allow its host on a private network and check it again."""

    def load_samples(self) -> None:
        """Start to load sample pages of the usable sites, unless they are loaded."""

    def answer_samples(self, answers: Sequence[str]) -> None:
        """Save the answers about the sample pages, in their order."""

    def details_problem(self, contact: str, daily_at: str, quiet_hours: str) -> str:
        """Return the code (`[setup]` in names.toml) of what is wrong with the last form, "" for nothing."""

    def save_details(self, title: str, contact: str, daily_at: str, quiet_from: str, quiet_to: str) -> None:
        """Save the details of the last form; they are valid."""

    def settings_text(self) -> str:
        """Return the settings file that `finish` writes."""

    def finish(self) -> SetupResult:
        """Create the account, write the settings file, start the first run. Raises PlumblineError; can be repeated."""
