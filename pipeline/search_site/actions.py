"""Data and actions of the search site: implements `SiteBackend` and `TopicBackend` of `search_ui` on the store."""

import time
from collections.abc import Mapping, Sequence

from crawler.robots.robots_cache import parse_stored_robots
from crawler.robots.robots_txt import product_token
from crawler.schedule.forecast import HostPaces, forecast_host
from crawler.urls.canonical import url_origin
from docstore.account_administration import AccountAdministration
from docstore.api_tokens import ApiTokenTable
from domain.focused_decision import HostHarvest
from domain.rising_term import RisingTerm
from domain.run import RunHistory, SiteTotals
from domain.search_log import SearchReport
from domain.term import Lexicon, Term, TermStatus
from domain.topic import Topic, TopicState, TopicTermClass
from focused.topic.term_decisions import decide_terms
from focused.topic.topic_file_store import TopicFileStore
from pipeline.compute.dask_dashboard import DashboardLink
from pipeline.embedding.backlog import load_embedding_backlog
from pipeline.engine import Engine
from pipeline.explain.diagnosis_service import StorePageDiagnosis
from pipeline.runs.run_history import load_run_history
from pipeline.runs.run_reports import StoreRunReports
from pipeline.search_site.originals import Originals
from pipeline.search_site.review_service import StoreReview
from pipeline.search_site.review_team import StoreReviewTeam
from pipeline.site_admin.alert_administration import StoreAlertAdministration
from pipeline.site_admin.history import StoreHistory
from pipeline.site_admin.run_control import EngineRunControl
from pipeline.site_admin.settings_editor import FileSettingsEditor
from pipeline.site_admin.sites import StoreSites
from pipeline.site_admin.takedowns import StoreTakedowns
from pipeline.topic.coverage import estimate_coverage
from pipeline.topic.needs import topic_needs
from pipeline.topic.retention import save_answers
from search_ui.interfaces import Overview, SiteDetail, SiteReport
from search_ui.review.topic_interfaces import TopicReviewState
from text.segment import Segmenter, base_segmenter

MAX_RUNS_SHOWN = 30  # on the page of run history


class StoreSiteBackend:
    """Site backend on the store.

    Decisions are saved immediately; after a publish the index follower (serve.py) reindexes.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lexicon = engine.store.lexicons
        self._review = StoreReview(engine.store)
        self._dashboard = DashboardLink(engine.settings.cluster)
        self._page_diagnosis = StorePageDiagnosis(engine)
        self._takedowns = StoreTakedowns(engine)
        self._site_service = StoreSites(engine)
        self._run_reports = StoreRunReports(engine)
        self._alert_administration = StoreAlertAdministration(engine)
        self._history = StoreHistory(engine)

    @property
    def run_control(self) -> EngineRunControl:
        """The control of `plumb run` processes of this vertical."""
        return EngineRunControl(self._engine)

    @property
    def review_service(self) -> StoreReview:
        """The service that the review pages use, with the current setting of `lexicon.two_reviewers`."""
        self._review.needs_second_reviewer = self._engine.settings.current().lexicon.two_reviewers
        return self._review

    @property
    def review_team(self) -> StoreReviewTeam:
        """The comments and assignments of reviewers."""
        return StoreReviewTeam(self._engine.store)

    @property
    def account_administration(self) -> AccountAdministration:
        """The service that changes accounts."""
        return self._engine.store.account_administration

    @property
    def api_tokens(self) -> ApiTokenTable:
        """The API tokens of accounts."""
        return self._engine.store.api_tokens

    @property
    def page_diagnosis(self) -> StorePageDiagnosis:
        """The way of single pages through the crawl and the index."""
        return self._page_diagnosis

    @property
    def settings_editor(self) -> FileSettingsEditor:
        """The settings file; see `pipeline.site_admin.settings_editor`."""
        return FileSettingsEditor(self._engine.settings, self._engine.store.actions)

    @property
    def site_service(self) -> StoreSites:
        """The service that changes sites."""
        return self._site_service

    @property
    def takedowns(self) -> StoreTakedowns:
        """The service that takes pages down."""
        return self._takedowns

    def lexicon(self) -> Lexicon:
        """Return the lexicon version that the documents in the index are segmented with."""
        return self._engine.analysis().lexicon

    def domain_segmenter(self) -> Segmenter:
        """Return the segmenter for `lexicon()`."""
        return self._engine.analysis().domain_segmenter

    def base_segmenter(self) -> Segmenter:
        """Return the segmenter with only the base dictionary."""
        return base_segmenter()

    def find_terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """Return the number of matching terms, and one page of them, best score first."""
        return self._lexicon.find_terms(status, text, offset, limit)

    def count_terms_by_status(self) -> dict[TermStatus, int]:
        """Return the number of terms of each status."""
        return self._lexicon.status_counts()

    def rising_terms(self) -> Sequence[RisingTerm]:
        """Return the rising terms of `lexicon()`, the newest first."""
        published = {entry.text for entry in self.lexicon().entries}
        return [term for term in self._engine.store.rising_terms.load() if term.text in published]

    def count_pending_documents(self) -> int:
        """Return the number of documents that are pending indexing."""
        return self._engine.store.change_log.pending_document_count()

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        """True if `thumbnail` would fetch this picture, and has not failed recently."""
        return self._engine.open_thumbnails(self._engine.settings.current().crawl).may_have(article_url, picture_url)

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        """Return a thumbnail, fetched under the rules of the crawl; see `pipeline.search_site.thumbnails`."""
        return self._engine.open_thumbnails(self._engine.settings.current().crawl).get(article_url, picture_url)

    @property
    def originals(self) -> Originals:
        """Saved pages and files; see `pipeline.search_site.originals`."""
        return self._engine.originals

    def popular_queries(self, limit: int) -> list[str]:
        """Return queries with many results on several days.

        See `docstore.reports.search_log.SearchLog.popular_queries`.
        """
        return self._engine.store.search_log.popular_queries(limit)

    def overview(self) -> Overview:
        """Return the state of index and lexicon, the run history, and the firing alerts."""
        store = self._engine.store
        versions = self._lexicon.latest_version(), self._lexicon.applied_version()
        return Overview(
            store.status.freshness(),
            *versions,
            self.run_history(),
            store.alerts.firing(),
            load_embedding_backlog(self._engine),
        )

    @property
    def run_reports(self) -> StoreRunReports:
        """The source of the pages about runs; see `pipeline.runs.run_reports`."""
        return self._run_reports

    @property
    def alert_administration(self) -> StoreAlertAdministration:
        """Alerts as administrators see and mute them; see `pipeline.site_admin.alert_administration`."""
        return self._alert_administration

    @property
    def history(self) -> StoreHistory:
        """The history of all areas; see `pipeline.site_admin.history`."""
        return self._history

    def dashboard_url(self) -> str:
        """Return the URL of the Dask dashboard, or ""; see `pipeline.compute.dask_dashboard`."""
        return self._dashboard.url()

    def run_history(self) -> RunHistory:
        """Return the most recent runs."""
        return load_run_history(self._engine, MAX_RUNS_SHOWN)

    def sites(self) -> Sequence[SiteReport]:
        """Return reports of the sites with the most URLs."""
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
        """Return the details of a site; None if the host is unknown."""
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
        """Return by host the number of runs until all due URLs are crawled; None means that this never happens."""
        crawl, paces = self._engine.settings.current().crawl, HostPaces.load_all(self._engine.settings.data_dir)
        backlog = self._engine.store.status.backlog_by_host(time.time())
        return {host_backlog.host: forecast_host(host_backlog, paces, crawl).runs_for_all for host_backlog in backlog}

    def _effective_delay(self, totals: SiteTotals) -> float:
        """Return the crawl delay of a site in seconds: the longest of the settings and its robots.txt."""
        crawl = self._engine.settings.current().crawl
        stored_robots = self._engine.store.frontier.find_robots(url_origin(totals.example_url))
        agent = product_token(crawl.user_agent)
        robots_delay = parse_stored_robots(stored_robots, agent).crawl_delay if stored_robots else 0.0
        return max(crawl.delay, robots_delay, crawl.sites.for_host(totals.host).delay)

    def search_report(self, days: int) -> SearchReport:
        """Return the search report of the last `days` days, in local time."""
        return self._engine.store.search_log.report(days, time.localtime().tm_gmtoff // 60)


class StoreTopics:
    """Topic backend on the topic files in the data folder and the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._files = TopicFileStore(engine.settings.data_dir)

    def names(self) -> Sequence[str]:
        """The names of all topics."""
        return self._files.names()

    def active_topic(self) -> str:
        """Return the topic of the configured crawl; "" if none is set."""
        return self._engine.settings.current().crawl.topic

    def topic(self, name: str) -> Topic:
        """Read a topic. Raises TopicError if it does not exist or its file is not valid."""
        return self._files.read(name)

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        """Set the state (and class, if given) of terms and seed URLs; all of them or, on an error, none."""
        decide_terms(self._files, name, items, state, kind)

    def harvest(self) -> Sequence[HostHarvest]:
        """Return the on-topic rate of each strategy by host."""
        return self._engine.store.focused_decisions.harvest_by_host()

    def review_questions(self, name: str) -> TopicReviewState:
        """Return the expected quality of the retained pages and the pages that a reviewer should label."""
        questions, settings = self._engine.store.topic_questions, self._engine.settings.current()
        return TopicReviewState(
            settings.topic.precision,
            estimate_coverage(self._engine, name),
            len(questions.answers(name)),
            questions.pending(name),
            topic_needs(settings, self.topic(name), self._engine.store.articles.count()).messages(),
        )

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        """Save page labels. A running crawl applies them immediately, otherwise the next crawl does."""
        save_answers(self._engine, name, answers, by)
