"""What the search site may do beyond asking Solr. `pipeline` hands in the implementations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.accounts import Account
from docstore.errors import PlumblineError
from docstore.model import Lexicon, Term, TermStatus
from docstore.reports.alerts import Alert
from docstore.reports.runs import RunState
from docstore.reports.search_log import SearchReport
from docstore.reports.site_runs import SiteArticles, SiteRun
from docstore.reports.status import Freshness, OutcomeSample, SiteTotals
from search_ui.review.interfaces import ReviewService
from text.segment import Segmenter


class OriginalError(PlumblineError):
    """A page cannot be shown as it was.

    The text is the end of a key of the translations: `lost`, `refused`, `busy`, `unreadable`, `not_found`.
    """


@dataclass(frozen=True)
class OriginalDocument:
    """The answer that an article was read from.

    The URL that was asked for, when (epoch seconds), the file format (`html`, or a name of docstore/file_formats.py)
    and the sha256 (hex) of its bytes.
    """

    url: str
    fetched_at: float
    format: str
    sha256: str


class OriginalStore(Protocol):
    """Pages and documents as they were fetched, by the ids of their articles."""

    def find(self, doc_id: str) -> OriginalDocument | None:
        """What is kept of an article's page; None where there is nothing."""

    def sanitized_html(self, doc_id: str) -> str:
        """The page, without anything that acts or loads. Raises OriginalError."""

    def file_bytes(self, doc_id: str) -> bytes:
        """The bytes of a document. Raises OriginalError."""


class LexiconBackend(Protocol):
    """The lexicon as the search site sees it: read for searching, changed only by reviewers."""

    @property
    def review_service(self) -> ReviewService:
        """What the review pages work with."""

    def lexicon(self) -> Lexicon:
        """The version that the documents in the index were built with; queries are cut with the same."""

    def domain_segmenter(self) -> Segmenter:
        """Cuts by `lexicon()`."""

    def query_segmenters(self) -> Sequence[Segmenter]:
        """`domain_segmenter()`, and those of older versions by which some documents are cut until a publish is through."""

    def base_segmenter(self) -> Segmenter:
        """Cuts by the base dictionary alone: the other side of the comparison search."""

    def find_terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """How many terms have this status (None: any) and hold `text`, and `limit` of them, best score first."""

    def count_terms_by_status(self) -> dict[TermStatus, int]:
        """Terms by status."""

    def count_pending_documents(self) -> int:
        """Documents that are still to be indexed, or indexed again with a newer lexicon."""

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        """Could there be one? Asks nobody; False where it may not be fetched, or could not be lately."""

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        """The picture of an article, small, as WebP; None where there is none to be had, or not now."""

    @property
    def originals(self) -> OriginalStore:
        """Pages and documents as they were fetched."""

    def popular_queries(self, limit: int) -> list[str]:
        """What readers found often, most frequent first; never what only a few asked."""


@dataclass(frozen=True)
class StageSummary:
    """One stage of a run: its outcomes by reason, and wall seconds."""

    stage: str
    reason_counts: tuple[tuple[str, int], ...]
    seconds: float = 0.0


@dataclass(frozen=True)
class RunSummary:
    """One run of the pipeline, times in epoch seconds.

    `finished_at` is None for a run that goes on or was killed: `state` tells which. `last_stage` is where it is, or
    where it failed, was stopped or killed ("": done, or not begun); `error` is what ended it.
    """

    started_at: float
    finished_at: float | None
    state: RunState
    stages: tuple[StageSummary, ...]
    last_stage: str = ""
    error: str = ""


@dataclass(frozen=True)
class RunHistory:
    """How the runs are, newest first; all times in epoch seconds.

    `last_success_at`: start of the newest run that did all it was asked. `failing_since`: start of the first one after
    it that failed or was killed, None if none did. `next_run_at`: None where no `plumb schedule` is there to start it.
    `expected_end_at`: of the run that goes on, by what earlier ones took; None where none goes on, or none was before.
    """

    runs: tuple[RunSummary, ...]
    last_success_at: float | None
    failing_since: float | None
    next_run_at: float | None
    expected_end_at: float | None = None

    @property
    def last_failed_run(self) -> RunSummary | None:
        """The newest of `runs` that failed or was killed, if that was after the last good one."""
        failed_runs = (run for run in self.runs if run.state in (RunState.FAILED, RunState.KILLED))
        return next(failed_runs, None) if self.failing_since is not None else None


@dataclass(frozen=True)
class Overview:
    """How the vertical is.

    `published_version` and `applied_version` are lexicon versions, `applied_version` the one in the index;
    `active_alerts` are those that fire.
    """

    freshness: Freshness
    published_version: int
    applied_version: int
    run_history: RunHistory
    active_alerts: Sequence[Alert] = ()


@dataclass(frozen=True)
class SiteReport:
    """A site with the seconds that the crawler leaves between requests to it.

    `last_run` is the newest run that asked it and `article_stats` what it has of them, None where there is neither;
    `runs_until_done` how many runs more until all that is due was asked: None where it never is.
    """

    totals: SiteTotals
    delay_seconds: float
    last_run: SiteRun | None = None
    article_stats: SiteArticles | None = None
    runs_until_done: int | None = 0


@dataclass(frozen=True)
class SiteDetail:
    """A site with its runs, newest first, and samples of how its pages ended."""

    report: SiteReport
    runs: Sequence[SiteRun]
    samples: Sequence[OutcomeSample]


class ReportsBackend(Protocol):
    """What those who run the vertical want to know."""

    def overview(self) -> Overview:
        """Index, lexicon and the last runs."""

    def dashboard_url(self) -> str:
        """URL of the pages of whoever computes for the vertical, http or https; "" where there are none."""

    def run_history(self) -> RunHistory:
        """The last runs alone."""

    def sites(self) -> Sequence[SiteReport]:
        """The sites with the most URLs."""

    def site(self, host: str) -> SiteDetail | None:
        """One site; None if it was never met."""

    def search_report(self, days: int) -> SearchReport:
        """The search log of the last `days` days, days as the server's clock counts them."""


class SiteBackend(LexiconBackend, ReportsBackend, Protocol):
    """All of it."""


class AccountStore(Protocol):
    """Who may sign in; `docstore.accounts.AccountTable`, as far as the site uses it."""

    def find(self, name: str) -> Account | None:
        """The account of this name, disabled or not."""

    def has_no_active_account(self) -> bool:
        """Can nobody sign in?"""

    def revoke_session(self, session_id: str, expires_at: float) -> None:
        """Let a session count no more; `expires_at` (epoch seconds) is when it would have ended by itself."""

    def is_session_revoked(self, session_id: str) -> bool:
        """Was this session ended?"""

    def set_password(self, name: str, password_hash: str) -> None:
        """Change a password. `AccountError` if there is no such account in use."""
