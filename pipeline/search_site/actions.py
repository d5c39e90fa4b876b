"""What the search site may do: the implementation of `search_ui.actions.SiteActions` on the store."""

import time
from collections.abc import Sequence

from crawler.robots.cache import product_token, rules_of
from crawler.schedule.forecast import Paces, foretold
from crawler.urls.canonical import origin_of
from docstore.model import Lexicon, Term, TermStatus
from docstore.reports.searches import SearchReport
from docstore.reports.status import SiteTotals
from pipeline.engine import Engine
from pipeline.engines.dashboard import Dashboard
from pipeline.runs.run_states import nights
from pipeline.search_site.originals import Originals
from pipeline.search_site.review_service import StoreReview
from search_ui.actions import CrawledSite, Nights, Overview, SiteDetail
from text.segment import Segmenter, base_segmenter

RUNS_SHOWN = 30


class StoreActions:
    """Decisions go to the store at once; publishing leaves the re-segmenting to the follower (serve.py)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._agent = product_token(engine.settings.crawl.user_agent)
        self._lexicon = engine.store.lexicon
        self._review = StoreReview(engine.store)
        self._dashboard = Dashboard(engine.settings.cluster)

    @property
    def review(self) -> StoreReview:
        """What the review pages work with."""
        return self._review

    def lexicon(self) -> Lexicon:
        """The version that the documents in the index were built with."""
        return self._engine.analysis().lexicon

    def segmenter(self) -> Segmenter:
        """Cuts by `lexicon()`."""
        return self._engine.analysis().domain

    def segmenters(self) -> Sequence[Segmenter]:
        """`segmenter()`, and those of older versions by which some documents are cut until a publish is through."""
        return self._engine.segmenters()

    def base_segmenter(self) -> Segmenter:
        """Cuts by the base dictionary alone."""
        return base_segmenter()

    def terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """How many terms match, and a page of them, best score first."""
        return self._lexicon.terms(status, text, offset, limit)

    def term_counts(self) -> dict[TermStatus, int]:
        """Terms by status."""
        return self._lexicon.counts()

    def index_lag(self) -> int:
        """Documents that are still to be indexed."""
        return self._engine.store.changes.count()

    def may_have_picture(self, article_url: str, picture_url: str) -> bool:
        """Is it one that would be fetched, and was it not in vain lately?"""
        return self._engine.pictures.may_be(article_url, picture_url)

    def picture(self, article_url: str, picture_url: str) -> bytes | None:
        """A small picture, fetched where the crawl may fetch; see `pipeline.search_site.pictures`."""
        return self._engine.pictures.of(article_url, picture_url)

    @property
    def originals(self) -> Originals:
        """Pages and documents as they were fetched; see `pipeline.search_site.originals`."""
        return self._engine.originals

    def popular_queries(self, limit: int) -> list[str]:
        """What was found often, on several days; see `docstore.reports.searches.SearchTable.popular`."""
        return self._engine.store.searches.popular(limit)

    def overview(self) -> Overview:
        """Index, lexicon and the last runs."""
        store = self._engine.store
        versions = self._lexicon.latest_version(), self._lexicon.applied_version()
        return Overview(store.status.freshness(), *versions, self.nights(), store.alerts.firing())

    def dashboard(self) -> str:
        """Where Dask's own pages are; see `pipeline.engines.dashboard`."""
        return self._dashboard.url()

    def nights(self) -> Nights:
        """The last runs."""
        return nights(self._engine, RUNS_SHOWN)

    def sites(self) -> Sequence[CrawledSite]:
        """The sites with the most URLs."""
        store = self._engine.store
        runs, found, left = store.site_runs.newest(), store.site_runs.articles(), self._nights_left()
        return [
            CrawledSite(
                health,
                self._delay(health),
                next(iter(runs.get(health.host, ())), None),
                found.get(health.host),
                left.get(health.host, 0),
            )
            for health in store.status.sites()
        ]

    def site(self, host: str) -> SiteDetail | None:
        """One site; None if it was never met."""
        store = self._engine.store
        health = store.status.site(host)
        if health is None:
            return None
        runs, found = store.site_runs.newest(host).get(host, []), store.site_runs.articles([host]).get(host)
        last, left = next(iter(runs), None), self._nights_left().get(host, 0)
        crawled = CrawledSite(health, self._delay(health), last, found, left)
        return SiteDetail(crawled, runs, store.status.samples(host))

    def _nights_left(self) -> dict[str, int | None]:
        """Host -> runs until all that is due was asked; None: never."""
        settings, paces = self._engine.settings, Paces.of(self._engine.settings.data_dir)
        waits = self._engine.store.status.backlog(time.time())
        return {one.host: foretold(one, paces, settings.crawl).runs_for_all for one in waits}

    def _delay(self, health: SiteTotals) -> float:
        """Seconds between requests to a site: as set, or more where its robots.txt asks for more."""
        stored = self._engine.store.frontier.robots(origin_of(health.example))
        stated = rules_of(stored, self._agent).delay if stored else 0.0
        return max(self._engine.settings.crawl.delay, stated)

    def searches(self, days: int) -> SearchReport:
        """The search log of the last days, as the clock on the wall counts them."""
        return self._engine.store.searches.report(days, time.localtime().tm_gmtoff // 60)
