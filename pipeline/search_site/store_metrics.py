"""What the store knows, as figures for Prometheus: read when they are asked for, at most twice a minute."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from docstore.errors import PlumblineError
from docstore.reports.runs import PipelineRun, RunState
from pipeline.alerts.rules import ALERT_KINDS
from pipeline.engine import Engine
from pipeline.runs.run_history import load_run_history
from search_ui.interfaces import RunHistory

CACHE_SECONDS = 30.0  # a store of a million URLs is not counted for every scrape
STAGE_COUNTERS = {
    "crawl": ("plumbline_fetches", "URLs asked, by outcome"),
    "extract": ("plumbline_extractions", "Pages read, by outcome"),
}


class StoreMetrics:
    """A collector of prometheus-client. Safe to use from several threads.

    Counters are sums over all runs that have ended, so they are the same in every process and after every restart.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._lock = threading.Lock()
        self._cached: list[Metric] = []
        self._cached_until = float("-inf")
        self._last_counted_run = 0  # the newest run in the sums
        self._stage_totals: dict[str, Counter[str]] = {stage: Counter() for stage in STAGE_COUNTERS}
        self._runs_by_state: Counter[str] = Counter()

    def collect(self) -> Iterable[Metric]:
        """All figures; where the store does not answer, that alone."""
        with self._lock:
            if self._clock() >= self._cached_until:
                self._cached = list(self._read_all())
                self._cached_until = self._clock() + CACHE_SECONDS
            return self._cached

    def _read_all(self) -> Iterator[Metric]:
        started, is_up = time.perf_counter(), 1
        try:
            yield from [
                *self._queue_metrics(),
                *self._last_run_metrics(),
                *self._run_counters(),
                *self._alert_metrics(),
            ]
        except PlumblineError:
            is_up = 0
        yield gauge_metric("plumbline_store_up", "Did the store answer?", is_up)
        yield gauge_metric("plumbline_solr_up", "Has Solr answered this process?", int(self._engine.has_index))
        elapsed = time.perf_counter() - started
        yield gauge_metric("plumbline_figures_seconds", "Time to read these figures from the store", elapsed)

    def _queue_metrics(self) -> Iterator[Metric]:
        store, now = self._engine.store, time.time()
        freshness, (due, oldest_due_at) = store.status.freshness(), store.status.due_count_and_since(now)
        depth = GaugeMetricFamily("plumbline_queue_depth", "What waits for a stage", labels=["stage"])
        depth.add_metric(["crawl"], due)
        depth.add_metric(["extract"], store.articles.pending_count())
        depth.add_metric(["index"], freshness.pending_count)
        age = GaugeMetricFamily("plumbline_queue_age_seconds", "Since when the oldest waits", labels=["stage"])
        age.add_metric(["crawl"], max(0.0, now - oldest_due_at) if oldest_due_at is not None else 0.0)
        lag = max(0.0, now - freshness.pending_since) if freshness.pending_since is not None else 0.0
        age.add_metric(["index"], lag)
        yield from (depth, age)
        yield gauge_metric("plumbline_index_lag_seconds", "How far the index is behind the store", lag)
        yield gauge_metric("plumbline_articles", "Articles in the store", freshness.article_count)
        yield gauge_metric("plumbline_indexed", "Articles in the index, by the store", freshness.indexed_count)

    def _last_run_metrics(self) -> Iterator[Metric]:
        history = load_run_history(self._engine, 1)
        last = history.runs[0] if history.runs else None
        is_running = last is not None and last.state is RunState.RUNNING
        yield gauge_metric("plumbline_run_running", "Does a run go on?", int(is_running))
        if last is not None:
            yield gauge_metric("plumbline_last_run_timestamp_seconds", "When the newest run began", last.started_at)
        yield from run_timestamp_metrics(history)

    def _run_counters(self) -> Iterator[Metric]:
        for run in self._engine.store.runs.finished_after(self._last_counted_run):
            self._count_run(run)
        for stage, (name, text) in STAGE_COUNTERS.items():
            counter = CounterMetricFamily(name, text, labels=["outcome"])
            for code, count in self._stage_totals[stage].items():
                counter.add_metric([code], count)
            yield counter
        runs = CounterMetricFamily("plumbline_runs", "Runs that ended, by how", labels=["state"])
        for state in RunState:
            if state is not RunState.RUNNING:
                runs.add_metric([state.value], self._runs_by_state[state.value])
        yield runs

    def _count_run(self, run: PipelineRun) -> None:
        self._last_counted_run = max(self._last_counted_run, run.run_id)
        self._runs_by_state[run.current_state(is_lock_held=False).value] += 1
        for stage in run.stages:
            if stage.stage in self._stage_totals:
                self._stage_totals[stage.stage].update(stage.counts)

    def _alert_metrics(self) -> Iterator[Metric]:
        counts = Counter(alert.key.kind for alert in self._engine.store.alerts.firing())
        firing = GaugeMetricFamily("plumbline_alerts_firing", "Alerts that fire, by kind", labels=["kind"])
        for kind in ALERT_KINDS:
            firing.add_metric([kind], counts[kind])
        yield firing


def run_timestamp_metrics(history: RunHistory) -> Iterator[Metric]:
    """When the last good run began, since when none has succeeded, when the next one is: those that are known."""
    for name, text, timestamp in (
        ("plumbline_last_good_run_timestamp_seconds", "When the newest good run began", history.last_success_at),
        (
            "plumbline_failing_since_timestamp_seconds",
            "When the first of the runs since then failed",
            history.failing_since,
        ),
        ("plumbline_next_run_timestamp_seconds", "When the next run is", history.next_run_at),
    ):
        if timestamp is not None:
            yield gauge_metric(name, text, timestamp)


def gauge_metric(name: str, text: str, value: float) -> Metric:
    """A figure without labels."""
    return GaugeMetricFamily(name, text, value=value)
