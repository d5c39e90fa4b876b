"""What the signed-in area of the search site gets from `pipeline`: operations, reports, topics."""

import time
from collections.abc import Sequence
from functools import partial

from crawler.robots.robots_cache import parse_stored_robots
from crawler.robots.robots_txt import product_token
from crawler.schedule.forecast import HostPaces, forecast_host
from crawler.urls.canonical import url_origin
from domain.run import SiteTotals
from domain.term import TermStatus
from focused.topic.term_decisions import decide_terms
from focused.topic.topic_file_store import TopicFileStore
from pipeline.alerts.alert_history import read_ended_alerts
from pipeline.compute.dask_dashboard import DashboardLink
from pipeline.embedding.backlog import load_embedding_backlog
from pipeline.engine import Engine
from pipeline.explain.diagnosis_service import StorePageDiagnosis
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.operations import declare_operations
from pipeline.runs.run_history import load_run_history
from pipeline.runs.run_reports import StoreRunReports
from pipeline.site_admin.run_control import EngineRunControl
from pipeline.site_admin.settings_editor import FileSettingsEditor
from pipeline.site_admin.site_logins import StoreLogins
from pipeline.site_admin.sites import StoreSites
from pipeline.topic.coverage import estimate_coverage
from pipeline.topic.needs import topic_needs
from pipeline.topic.retention import save_answers
from search_ui.admin.administration import Administration
from search_ui.admin.settings_form import SettingsReader
from search_ui.admin.site_form import SiteReader
from search_ui.interfaces import Overview, SiteDetail, SiteReport
from search_ui.review.topic_tools import TopicReviewState, TopicTools

MAX_RUNS_SHOWN = 30  # on the page of run history
MAX_LOGIN_SITES_SHOWN = 5  # on the overview


def build_administration(engine: Engine, review: LexiconReview) -> Administration:
    """Return what the signed-in area of the site of a vertical works with."""
    editor = FileSettingsEditor(engine.settings, engine.store.operations)
    reports, runs, control, sites = (
        StoreReports(engine),
        StoreRunReports(engine),
        EngineRunControl(engine),
        StoreSites(engine),
    )
    logins = StoreLogins(engine, sites)
    return Administration(
        store=engine.store,
        operations=declare_operations(engine),
        review=review,
        lexicon_tools=review.tools,
        topics=topic_tools(engine),
        overview=reports.overview,
        sites=reports.sites,
        site=reports.site,
        dashboard_url=DashboardLink(engine.settings.cluster).url,
        run_status=control.status,
        run_counts=control.counts,
        list_runs=runs.list_runs,
        run_detail=runs.detail,
        live_run=runs.live_run,
        run_figures=runs.figures,
        ended_alerts=lambda: read_ended_alerts(engine.settings.data_dir),
        has_alert_channels=lambda: engine.settings.current().alerts.has_channels,
        diagnose_page=StorePageDiagnosis(engine).diagnose_page,
        finish_settings_records=lambda: finish_settings_records(engine),
        settings_reader=SettingsReader(editor.load_form, editor.review),
        site_reader=SiteReader(
            sites.find_host, sites.load, sites.suggestions, sites.check, logins.load, logins.try_login
        ),
    )


def finish_settings_records(engine: Engine) -> None:
    """Record changes of the settings file that a killed program has not recorded."""
    if engine.settings.source is not None:
        engine.settings.source.finish_records(engine.store.operations)


class StoreReports:
    """The overview and the sites of a vertical."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def overview(self) -> Overview:
        """Return the state of index and lexicon, the run history, and the firing alerts."""
        store = self._engine.store
        versions = store.lexicons.latest_version(), store.lexicons.applied_version()
        return Overview(
            store.status.freshness(),
            *versions,
            load_run_history(self._engine, MAX_RUNS_SHOWN),
            store.alerts.firing(),
            load_embedding_backlog(self._engine),
            store.lexicons.status_counts().get(TermStatus.CANDIDATE, 0),
            store.status.login_page_counts(MAX_LOGIN_SITES_SHOWN),
        )

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


def topic_tools(engine: Engine) -> TopicTools:
    """Return the functions of the pages of topics: files in the data folder, and answers in the store."""
    files = TopicFileStore(engine.settings.data_dir)

    def review_questions(name: str) -> TopicReviewState:
        questions, settings = engine.store.topic_questions, engine.settings.current()
        return TopicReviewState(
            settings.topic.precision,
            estimate_coverage(engine, name),
            len(questions.answers(name)),
            questions.pending(name),
            topic_needs(settings, files.read(name), engine.store.articles.count()).messages(),
        )

    return TopicTools(
        files.names,
        lambda: engine.settings.current().crawl.topic,
        files.read,
        partial(decide_terms, files),
        review_questions,
        partial(save_answers, engine),
    )
