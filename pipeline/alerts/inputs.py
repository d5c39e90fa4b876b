"""Collect the inputs of the alert rules from the store, the clock and the timetable."""

import time
from collections.abc import Iterable, Mapping

from crawler.http.login_state import login_failures
from crawler.settings import CrawlSettings, can_render_automatically
from pipeline.alerts.rules import AlertInputs, SiteInputs
from pipeline.crawl_stage.rendered_sites import count_unrendered_pages
from pipeline.engine import Engine
from pipeline.runs.run_history import load_run_history, missed_time
from pipeline.runs.timetable import LATE_AFTER_SECONDS, configured_appointments
from pipeline.settings import Settings

RECENT_RUNS = 20


def collect_inputs(engine: Engine) -> AlertInputs:
    """Collect the inputs for `evaluate_rules`."""
    store, now = engine.store, time.time()
    articles, totals = store.site_runs.articles_by_host(), {row.host: row for row in store.status.site_totals()}
    sites = [
        SiteInputs(host, runs, articles.get(host), totals.get(host))
        for host, runs in store.site_runs.runs_by_host().items()
        if is_crawled(engine.settings.crawl, host)
    ]
    firing = {alert.key: alert for alert in store.alerts.firing()}
    return AlertInputs(
        now,
        load_run_history(engine, RECENT_RUNS).last_failed_run,
        missed_run_time(engine, now),
        sites,
        engine.settings.alerts.silent_days,
        firing,
        store.lexicons.blocked_version(),
        {} if can_render_automatically(engine.settings.crawl) else count_unrendered_pages(engine),
        store.rising_terms.load() if engine.settings.alerts.rising_terms else (),
        login_failures_by_host(engine.settings, [site.host for site in sites]),
    )


def login_failures_by_host(settings: Settings, hosts: Iterable[str]) -> Mapping[str, str]:
    """Return the reasons of the failed logins of these hosts; a record can have several hosts."""
    failures = login_failures(settings.data_dir)
    records = {host: settings.crawl.sites.login_site(host) for host in hosts} if failures else {}
    return {host: failures[site.host] for host, site in records.items() if site is not None and site.host in failures}


def is_crawled(crawl: CrawlSettings, host: str) -> bool:
    """True if a host is neither paused nor out of scope. The scope of a topic is not in the settings."""
    is_in_scope = crawl.topic or any(scope.covers(host, scope.path_prefix) for scope in crawl.sites.scopes)
    return bool(is_in_scope) and not crawl.sites.for_host(host).paused


def missed_run_time(engine: Engine, now: float) -> float | None:
    """Return the scheduled time (epoch seconds) of the daily run if it was missed; otherwise None."""
    scheduled_at = missed_time(engine, configured_appointments(engine.settings)[0], now)
    return scheduled_at if scheduled_at is not None and now - scheduled_at > LATE_AFTER_SECONDS else None
