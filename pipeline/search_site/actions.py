"""What the search site may do: the implementation of `search_ui.interfaces.SiteBackend` on the store."""

import time
from collections.abc import Sequence

from crawler.robots.robots_cache import parse_stored_robots, product_token
from crawler.schedule.forecast import HostPaces, forecast_host
from crawler.urls.canonical import url_origin
from docstore.model import Lexicon, Term, TermStatus
from docstore.reports.search_log import SearchReport
from docstore.reports.status import SiteTotals
from pipeline.compute.dask_dashboard import DashboardLink
from pipeline.engine import Engine
from pipeline.runs.run_history import load_run_history
from pipeline.search_site.originals import Originals
from pipeline.search_site.review_service import StoreReview
from search_ui.interfaces import Overview, RunHistory, SiteDetail, SiteReport
from text.segment import Segmenter, base_segmenter

MAX_RUNS_SHOWN = 30


class StoreSiteBackend:
    """Decisions go to the store at once; publishing leaves the re-segmenting to the follower (serve.py)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._robots_agent = product_token(engine.settings.crawl.user_agent)
        self._lexicon = engine.store.lexicons
        self._review = StoreReview(engine.store)
        self._dashboard = DashboardLink(engine.settings.cluster)

    @property
    def review_service(self) -> StoreReview:
        """What the review pages work with."""
        return self._review

    def lexicon(self) -> Lexicon:
        """The version that the documents in the index were built with."""
        return self._engine.analysis().lexicon

    def domain_segmenter(self) -> Segmenter:
        """Cuts by `lexicon()`."""
        return self._engine.analysis().domain_segmenter

    def query_segmenters(self) -> Sequence[Segmenter]:
        """`domain_segmenter()`, and those of older versions by which some documents are cut until a publish is through."""
        return self._engine.query_segmenters()

    def base_segmenter(self) -> Segmenter:
        """Cuts by the base dictionary alone."""
        return base_segmenter()

    def find_terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """How many terms match, and a page of them, best score first."""
        return self._lexicon.find_terms(status, text, offset, limit)

    def count_terms_by_status(self) -> dict[TermStatus, int]:
        """Terms by status."""
        return self._lexicon.status_counts()

    def count_pending_documents(self) -> int:
        """Documents that are still to be indexed."""
        return self._engine.store.change_log.pending_document_count()

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        """Is it one that would be fetched, and was it not in vain lately?"""
        return self._engine.thumbnails.may_have(article_url, picture_url)

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        """A small picture, fetched where the crawl may fetch; see `pipeline.search_site.thumbnails`."""
        return self._engine.thumbnails.get(article_url, picture_url)

    @property
    def originals(self) -> Originals:
        """Pages and documents as they were fetched; see `pipeline.search_site.originals`."""
        return self._engine.originals

    def popular_queries(self, limit: int) -> list[str]:
        """What was found often, on several days; see `docstore.reports.search_log.SearchLog.popular_queries`."""
        return self._engine.store.search_log.popular_queries(limit)

    def overview(self) -> Overview:
        """Index, lexicon and the last runs."""
        store = self._engine.store
        versions = self._lexicon.latest_version(), self._lexicon.applied_version()
        return Overview(store.status.freshness(), *versions, self.run_history(), store.alerts.firing())

    def dashboard_url(self) -> str:
        """Where Dask's own pages are; see `pipeline.compute.dask_dashboard`."""
        return self._dashboard.url()

    def run_history(self) -> RunHistory:
        """The last runs."""
        return load_run_history(self._engine, MAX_RUNS_SHOWN)

    def sites(self) -> Sequence[SiteReport]:
        """The sites with the most URLs."""
        store = self._engine.store
        runs, articles_by_host, runs_left = (
            store.site_runs.runs_by_host(),
            store.site_runs.articles_by_host(),
            self._runs_left_by_host(),
        )
        return [
            SiteReport(
                totals,
                self._effective_delay(totals),
                next(iter(runs.get(totals.host, ())), None),
                articles_by_host.get(totals.host),
                runs_left.get(totals.host, 0),
            )
            for totals in store.status.site_totals()
        ]

    def site(self, host: str) -> SiteDetail | None:
        """One site; None if it was never met."""
        store = self._engine.store
        totals = store.status.find_site_totals(host)
        if totals is None:
            return None
        runs, articles = (
            store.site_runs.runs_by_host(host).get(host, []),
            store.site_runs.articles_by_host([host]).get(host),
        )
        newest_run, runs_left = next(iter(runs), None), self._runs_left_by_host().get(host, 0)
        site_report = SiteReport(totals, self._effective_delay(totals), newest_run, articles, runs_left)
        return SiteDetail(site_report, runs, store.status.outcome_samples(host))

    def _runs_left_by_host(self) -> dict[str, int | None]:
        """Host -> runs until all that is due was asked; None: never."""
        settings, paces = self._engine.settings, HostPaces.load_all(self._engine.settings.data_dir)
        backlog = self._engine.store.status.backlog_by_host(time.time())
        return {
            host_backlog.host: forecast_host(host_backlog, paces, settings.crawl).runs_for_all
            for host_backlog in backlog
        }

    def _effective_delay(self, totals: SiteTotals) -> float:
        """Seconds between requests to a site: as set, or more where its robots.txt asks for more."""
        stored_robots = self._engine.store.frontier.find_robots(url_origin(totals.example_url))
        robots_delay = parse_stored_robots(stored_robots, self._robots_agent).crawl_delay if stored_robots else 0.0
        return max(self._engine.settings.crawl.delay, robots_delay)

    def search_report(self, days: int) -> SearchReport:
        """The search log of the last days, as the clock on the wall counts them."""
        return self._engine.store.search_log.report(days, time.localtime().tm_gmtoff // 60)
