"""Interfaces that the search site needs besides Solr. `pipeline` provides the implementations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from domain.account import Account
from domain.alert import Alert
from domain.errors import PlumblineError
from domain.rising_term import RisingTerm
from domain.run import Freshness, OutcomeSample, RunHistory, SiteArticles, SiteRun, SiteTotals
from domain.search_log import SearchReport
from domain.term import Lexicon, Term, TermStatus
from search_ui.admin.interfaces.accounts import AccountAdministration
from search_ui.admin.interfaces.alerts import AlertAdministration
from search_ui.admin.interfaces.api_tokens import ApiTokenStore
from search_ui.admin.interfaces.diagnosis import DiagnosisBackend
from search_ui.admin.interfaces.history import HistoryBackend
from search_ui.admin.interfaces.run_control import RunControl
from search_ui.admin.interfaces.runs import RunReports
from search_ui.admin.interfaces.settings import SettingsEditor
from search_ui.admin.interfaces.sites import SiteService
from search_ui.admin.interfaces.takedowns import TakedownService
from search_ui.review.interfaces import ReviewService
from search_ui.review.team_interfaces import ReviewTeam
from text.segment import Segmenter


class OriginalError(PlumblineError):
    """A saved page cannot be shown. The text is a code: `lost`, `refused`, `busy`, `unreadable` or `not_found`."""


@dataclass(frozen=True)
class OriginalDocument:
    """The saved response that an article was extracted from.

    `fetched_at` is in epoch seconds, `format` is `html` or a name of domain/file_formats.py, `sha256` is the hex
    digest of the bytes.
    """

    url: str
    fetched_at: float
    format: str
    sha256: str


class OriginalStore(Protocol):
    """Saved pages and files, by the ids of their articles."""

    def find(self, doc_id: str) -> OriginalDocument | None:
        """Return the saved document of an article; None if there is none."""

    def find_ids(self, doc_ids: Collection[str]) -> Collection[str]:
        """Return the ids of those articles that have a saved document. At most 500 ids."""

    def sanitized_html(self, doc_id: str) -> str:
        """Return the page without scripts and external content. Raises OriginalError."""

    def file_bytes(self, doc_id: str) -> bytes:
        """Return the bytes of a file. Raises OriginalError."""


class LexiconBackend(Protocol):
    """The lexicon as the search site uses it. Only reviewers change it."""

    @property
    def review_service(self) -> ReviewService:
        """The service of the review pages."""

    @property
    def review_team(self) -> ReviewTeam:
        """The comments and assignments of reviewers."""

    def lexicon(self) -> Lexicon:
        """Return the version that the indexed documents were segmented with.

        Queries are segmented with the same version.
        """

    def domain_segmenter(self) -> Segmenter:
        """Return the segmenter with `lexicon()`."""

    def base_segmenter(self) -> Segmenter:
        """Return the segmenter with the base dictionary only, for the comparison search."""

    def find_terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """Find terms that contain `text`.

        Args:
            status: Required status; None for any.
            text: Substring of the term.
            offset: Number of terms to skip.
            limit: Maximum number of terms to return.

        Returns:
            The total number of matches, and a page of them, best score first.
        """

    def count_terms_by_status(self) -> dict[TermStatus, int]:
        """Return the number of terms by status."""

    def rising_terms(self) -> Sequence[RisingTerm]:
        """Return the terms of `lexicon()` that rose in the latest run, the newest first."""

    def count_pending_documents(self) -> int:
        """Return the number of documents to index, or to reindex with a newer lexicon."""

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        """Return False if fetching the picture is forbidden or failed recently. No network access."""

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        """Return the picture of an article as a small WebP; None if it is unavailable."""

    @property
    def originals(self) -> OriginalStore:
        """The saved pages and files."""

    def popular_queries(self, limit: int) -> list[str]:
        """Return frequent queries with results, most frequent first. Queries of only a few readers are excluded."""


@dataclass(frozen=True)
class EmbeddingBacklog:
    """What semantic search does not cover yet.

    Attributes:
        article_count: Articles without a vector, which only keyword search finds.
        seconds: Estimated wall-clock time for the articles; None if unknown.
        uncovered_articles: Articles by language (ISO 639) that no model supports; they never get a vector.
    """

    article_count: int = 0
    seconds: float | None = None
    uncovered_articles: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Overview:
    """The state of the vertical.

    `published_version` is the newest lexicon version, `applied_version` the version in use by the index.
    `active_alerts` are the firing alerts.
    """

    freshness: Freshness
    published_version: int
    applied_version: int
    run_history: RunHistory
    active_alerts: Sequence[Alert] = ()
    embedding: EmbeddingBacklog = EmbeddingBacklog()


@dataclass(frozen=True)
class SiteReport:
    """A crawled site.

    `delay_seconds` is the crawl delay. `last_run` is the newest run that requested the site, `article_stats` its
    articles; None if there are none. `runs_until_done` is the estimated number of runs to clear the backlog; None if it
    is never cleared.
    """

    totals: SiteTotals
    delay_seconds: float
    last_run: SiteRun | None = None
    article_stats: SiteArticles | None = None
    runs_until_done: int | None = 0


@dataclass(frozen=True)
class SiteDetail:
    """A site with its runs, newest first, and samples of outcomes."""

    report: SiteReport
    runs: Sequence[SiteRun]
    samples: Sequence[OutcomeSample]


class ReportsBackend(Protocol):
    """The source of the reports for administrators."""

    def overview(self) -> Overview:
        """Return the state of index, lexicon and recent runs."""

    @property
    def run_reports(self) -> RunReports:
        """The source of the pages about runs."""

    @property
    def alert_administration(self) -> AlertAdministration:
        """Alerts as administrators see and mute them."""

    @property
    def history(self) -> HistoryBackend:
        """The history of all areas."""

    def dashboard_url(self) -> str:
        """Return the URL of the Dask dashboard (http or https); "" if there is none."""

    def run_history(self) -> RunHistory:
        """Return the recent runs, newest first."""

    def sites(self) -> Sequence[SiteReport]:
        """Return the sites with the most URLs."""

    def site(self, host: str) -> SiteDetail | None:
        """Return one site; None if it is unknown."""

    def search_report(self, days: int) -> SearchReport:
        """Return the statistics of the search log for the last `days` days, in the server's time zone."""


class SiteBackend(LexiconBackend, ReportsBackend, Protocol):
    """The whole backend of the site."""

    @property
    def account_administration(self) -> AccountAdministration:
        """The service that changes accounts."""

    @property
    def api_tokens(self) -> ApiTokenStore:
        """The API tokens of accounts."""

    @property
    def run_control(self) -> RunControl:
        """The service that starts and stops runs."""

    @property
    def page_diagnosis(self) -> DiagnosisBackend:
        """The way of single pages through the crawl and the index."""

    @property
    def settings_editor(self) -> SettingsEditor:
        """The service that changes the settings file."""

    @property
    def site_service(self) -> SiteService:
        """The service that changes sites."""

    @property
    def takedowns(self) -> TakedownService:
        """The service that takes pages down."""


class AccountStore(Protocol):
    """The accounts. The part of `docstore.accounts.AccountTable` that the site uses."""

    def find(self, name: str) -> Account | None:
        """Return the account with this name, disabled or not."""

    def has_no_active_account(self) -> bool:
        """Return True if no account can sign in."""

    def revoke_session(self, session_id: str, expires_at: float) -> None:
        """Revoke a session. `expires_at` (epoch seconds) is its regular end."""

    def is_session_revoked(self, session_id: str, name: str, expires_at: float) -> bool:
        """Return True if the session of the account `name` was revoked, or all its sessions that end by then."""

    def set_password(self, name: str, password_hash: str) -> None:
        """Change a password. Raises AccountError if there is no active account with this name."""
