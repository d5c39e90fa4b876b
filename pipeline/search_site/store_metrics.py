"""Prometheus metrics of the store, read on request, at most twice a minute."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from domain.errors import PlumblineError
from domain.outcome import count_requested
from domain.run import RunState
from pipeline.alerts.rules import ALERT_KINDS
from pipeline.engine import Engine
from pipeline.runs.run_history import load_run_history
from search_ui.query.solr_client import SolrBackend

CACHE_SECONDS = 30.0  # counting a store of a million URLs is too slow for every scrape
STAGE_COUNTERS = {
    "crawl": ("plumbline_fetches", "URLs visited by crawls, by outcome"),
    "extract": ("plumbline_extractions", "Pages extracted, by outcome"),
}


class StoreMetrics:
    """A collector for prometheus-client. Thread-safe.

    Counters are sums over all finished runs, so they are equal in every process and survive restarts.

    Args:
        engine: The open vertical.
        solr: The search server, as searches use it.
        clock: Returns seconds.
    """

    def __init__(self, engine: Engine, solr: SolrBackend, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._solr = solr
        self._clock = clock
        self._lock = threading.Lock()
        self._cached: list[Metric] = []
        self._cached_until = float("-inf")
        self._last_counted_run = 0  # the newest run in the sums
        self._stage_totals: dict[str, Counter[str]] = {stage: Counter() for stage in STAGE_COUNTERS}
        self._runs_by_state: Counter[str] = Counter()

    def collect(self) -> Iterable[Metric]:
        """Return all metrics; if the store is not available, only the metrics that do not need it."""
        with self._lock:
            if self._clock() >= self._cached_until:
                self._cached = list(self._read_all())
                self._cached_until = self._clock() + CACHE_SECONDS
            return self._cached

    def _read_all(self) -> Iterator[Metric]:
        started_at, is_up = time.perf_counter(), 1
        try:
            yield from [
                *self._queue_metrics(),
                *self._last_run_metrics(),
                *self._run_counters(),
                *self._alert_metrics(),
            ]
        except PlumblineError:
            is_up = 0
        yield gauge_metric("plumbline_store_up", "1 if the store responds", is_up)
        yield gauge_metric("plumbline_solr_up", "1 if Solr responds", int(self._is_solr_up()))
        read_seconds = time.perf_counter() - started_at
        yield gauge_metric("plumbline_figures_seconds", "Time to read these metrics from the store", read_seconds)

    def _is_solr_up(self) -> bool:
        try:
            self._solr.select([("q", "*:*"), ("rows", "0")])
        except PlumblineError:
            return False
        return True

    def _queue_metrics(self) -> Iterator[Metric]:
        store, now = self._engine.store, time.time()
        freshness, (due, oldest_due_at) = store.status.freshness(), store.status.due_count_and_since(now)
        depth = GaugeMetricFamily("plumbline_queue_depth", "Pending items of a stage", labels=["stage"])
        depth.add_metric(["crawl"], due)
        depth.add_metric(["extract"], store.articles.pending_count())
        depth.add_metric(["index"], freshness.pending_count)
        age = GaugeMetricFamily(
            "plumbline_queue_age_seconds", "Age of the oldest pending item in seconds", labels=["stage"]
        )
        age.add_metric(["crawl"], max(0.0, now - oldest_due_at) if oldest_due_at is not None else 0.0)
        lag = max(0.0, now - freshness.pending_since) if freshness.pending_since is not None else 0.0
        age.add_metric(["index"], lag)
        yield from (depth, age)
        yield gauge_metric(
            "plumbline_index_lag_seconds", "Age of the oldest document that is pending indexing, in seconds", lag
        )
        yield gauge_metric("plumbline_articles", "Articles in the store", freshness.article_count)
        yield gauge_metric(
            "plumbline_indexed", "Articles in the index, according to the store", freshness.indexed_count
        )

    def _last_run_metrics(self) -> Iterator[Metric]:
        history = load_run_history(self._engine, 1)
        last = history.runs[0] if history.runs else None
        is_running = last is not None and last.state is RunState.RUNNING
        yield gauge_metric("plumbline_run_running", "1 while a run is active", int(is_running))
        if last is not None:
            yield gauge_metric("plumbline_last_run_timestamp_seconds", "Start of the newest run", last.started_at)
        for name, text, timestamp in (
            (
                "plumbline_last_good_run_timestamp_seconds",
                "Start of the newest successful run",
                history.last_success_at,
            ),
            (
                "plumbline_failing_since_timestamp_seconds",
                "Start of the first failed run since the newest successful run",
                history.failing_since,
            ),
            ("plumbline_next_run_timestamp_seconds", "Time of the next scheduled run", history.next_run_at),
        ):
            if timestamp is not None:
                yield gauge_metric(name, text, timestamp)

    def _run_counters(self) -> Iterator[Metric]:
        for run in self._engine.store.runs.finished_after(self._last_counted_run):
            self._last_counted_run = max(self._last_counted_run, run.run_id)
            self._runs_by_state[run.current_state(is_lock_held=False).value] += 1
            for counts in run.stages:
                if counts.stage in self._stage_totals:
                    self._stage_totals[counts.stage].update(counts.counts)
        for stage, (name, text) in STAGE_COUNTERS.items():
            counter = CounterMetricFamily(name, text, labels=["outcome"])
            for code, count in self._stage_totals[stage].items():
                counter.add_metric([code], count)
            yield counter
        requested_count = count_requested(self._stage_totals["crawl"])
        yield CounterMetricFamily("plumbline_requested_pages", "Pages that crawls requested", requested_count)
        runs = CounterMetricFamily("plumbline_runs", "Finished runs, by state", labels=["state"])
        for state in RunState:
            if state is not RunState.RUNNING:
                runs.add_metric([state.value], self._runs_by_state[state.value])
        yield runs

    def _alert_metrics(self) -> Iterator[Metric]:
        counts = Counter(alert.key.kind for alert in self._engine.store.alerts.firing())
        firing = GaugeMetricFamily("plumbline_alerts_firing", "Alerts that fire, by kind", labels=["kind"])
        for kind in ALERT_KINDS:
            firing.add_metric([kind], counts[kind])
        yield firing


def gauge_metric(name: str, text: str, value: float) -> Metric:
    """Create a gauge without labels."""
    return GaugeMetricFamily(name, text, value=value)
