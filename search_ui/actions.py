"""What the search site may do beyond asking Solr. `pipeline` hands in the implementations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.accounts import Account
from docstore.errors import PlumblineError
from docstore.model import Lexicon, Term, TermStatus
from docstore.reports.alerts import Alert
from docstore.reports.runs import RunState
from docstore.reports.searches import SearchReport
from docstore.reports.site_runs import SiteArticles, SiteRun
from docstore.reports.status import Freshness, Sample, SiteTotals
from search_ui.review.actions import ReviewService
from text.segment import Segmenter


class OriginalError(PlumblineError):
    """A page cannot be shown as it was. The text is the end of a key of the translations: `lost`, `refused`, `busy`,
    `unreadable`, `not_found`."""


@dataclass(frozen=True)
class Original:
    """The answer that an article was read from: the URL that was asked for, when (epoch seconds), the file format
    (`html`, or a name of docstore/formats.py) and the sha256 (hex) of its bytes."""

    url: str
    fetched_at: float
    format: str
    digest: str


class Originals(Protocol):
    """Pages and documents as they were fetched, by the ids of their articles."""

    def of(self, doc_id: str) -> Original | None:
        """What is kept of an article's page; None where there is nothing."""

    def html(self, doc_id: str) -> str:
        """The page, without anything that acts or loads. Raises OriginalError."""

    def file(self, doc_id: str) -> bytes:
        """The bytes of a document. Raises OriginalError."""


class ReviewActions(Protocol):
    """The lexicon as the search site sees it: read for searching, changed only by reviewers."""

    @property
    def review(self) -> ReviewService:
        """What the review pages work with."""

    def lexicon(self) -> Lexicon:
        """The version that the documents in the index were built with; queries are cut with the same."""

    def segmenter(self) -> Segmenter:
        """Cuts by `lexicon()`."""

    def segmenters(self) -> Sequence[Segmenter]:
        """`segmenter()`, and those of older versions by which some documents are cut until a publish is through."""

    def base_segmenter(self) -> Segmenter:
        """Cuts by the base dictionary alone: the other side of the comparison search."""

    def terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """How many terms have this status (None: any) and hold `text`, and `limit` of them, best score first."""

    def term_counts(self) -> dict[TermStatus, int]:
        """Terms by status."""

    def index_lag(self) -> int:
        """Documents that are still to be indexed, or indexed again with a newer lexicon."""

    def may_have_picture(self, article_url: str, picture_url: str) -> bool:
        """Could there be one? Asks nobody; False where it may not be fetched, or could not be lately."""

    def picture(self, article_url: str, picture_url: str) -> bytes | None:
        """The picture of an article, small, as WebP; None where there is none to be had, or not now."""

    @property
    def originals(self) -> Originals:
        """Pages and documents as they were fetched."""

    def popular_queries(self, limit: int) -> list[str]:
        """What readers found often, most frequent first; never what only a few asked."""


@dataclass(frozen=True)
class StageSummary:
    """One stage of a run: its outcomes by reason, and wall seconds."""

    stage: str
    counts: tuple[tuple[str, int], ...]
    seconds: float = 0.0


@dataclass(frozen=True)
class RunSummary:
    """One run of the pipeline, times in epoch seconds.

    `finished_at` is None for a run that goes on or was killed: `state` tells which. `stage` is where it is, or where it
    failed, was stopped or killed ("": done, or not begun); `error` is what ended it.
    """

    started_at: float
    finished_at: float | None
    state: RunState
    stages: tuple[StageSummary, ...]
    stage: str = ""
    error: str = ""


@dataclass(frozen=True)
class Nights:
    """How the runs are, newest first; all times in epoch seconds.

    `last_good`: start of the newest run that did all it was asked. `failed_since`: start of the first one after it
    that failed or was killed, None if none did. `next_run`: None where no `plumb schedule` is there to start it.
    `expected_end`: of the run that goes on, by what earlier ones took; None where none goes on, or none was before.
    """

    runs: tuple[RunSummary, ...]
    last_good: float | None
    failed_since: float | None
    next_run: float | None
    expected_end: float | None = None

    @property
    def last_bad(self) -> RunSummary | None:
        """The newest of `runs` that failed or was killed, if that was after the last good one."""
        bad = (run for run in self.runs if run.state in (RunState.FAILED, RunState.KILLED))
        return next(bad, None) if self.failed_since is not None else None


@dataclass(frozen=True)
class Overview:
    """How the vertical is. `published` and `applied` are lexicon versions, `applied` the one in the index; `alerts` are
    those that fire."""

    freshness: Freshness
    published: int
    applied: int
    nights: Nights
    alerts: Sequence[Alert] = ()


@dataclass(frozen=True)
class CrawledSite:
    """A site with the seconds that the crawler leaves between requests to it.

    `last` is the newest run that asked it and `articles` what it has of them, None where there is neither;
    `nights_left` how many runs more until all that is due was asked: None where it never is.
    """

    health: SiteTotals
    delay: float
    last: SiteRun | None = None
    articles: SiteArticles | None = None
    nights_left: int | None = 0


@dataclass(frozen=True)
class SiteDetail:
    """A site with its runs, newest first, and samples of how its pages ended."""

    site: CrawledSite
    runs: Sequence[SiteRun]
    samples: Sequence[Sample]


class Reports(Protocol):
    """What those who run the vertical want to know."""

    def overview(self) -> Overview:
        """Index, lexicon and the last runs."""

    def dashboard(self) -> str:
        """URL of the pages of whoever computes for the vertical, http or https; "" where there are none."""

    def nights(self) -> Nights:
        """The last runs alone."""

    def sites(self) -> Sequence[CrawledSite]:
        """The sites with the most URLs."""

    def site(self, host: str) -> SiteDetail | None:
        """One site; None if it was never met."""

    def searches(self, days: int) -> SearchReport:
        """The search log of the last `days` days, days as the server's clock counts them."""


class SiteActions(ReviewActions, Reports, Protocol):
    """All of it."""


class Accounts(Protocol):
    """Who may sign in; `docstore.accounts.AccountTable`, as far as the site uses it."""

    def find(self, name: str) -> Account | None:
        """The account of this name, disabled or not."""

    def is_empty(self) -> bool:
        """Can nobody sign in?"""

    def end_session(self, session: str, until: float) -> None:
        """Let a session count no more; `until` (epoch seconds) is when it would have ended by itself."""

    def is_ended(self, session: str) -> bool:
        """Was this session ended?"""

    def set_password(self, name: str, password_hash: str) -> None:
        """Change a password. `AccountError` if there is no such account in use."""
