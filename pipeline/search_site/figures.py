"""What the store knows, as figures for Prometheus: read when they are asked for, at most twice a minute."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from docstore.errors import PlumblineError
from docstore.reports.runs import PipelineRun, RunState
from pipeline.alerts.rules import KINDS
from pipeline.engine import Engine
from pipeline.runs.run_states import nights
from search_ui.actions import Nights

KEPT_SECONDS = 30.0  # a store of a million URLs is not counted for every scrape
COUNTED = {
    "crawl": ("plumbline_fetches", "URLs asked, by outcome"),
    "extract": ("plumbline_extractions", "Pages read, by outcome"),
}


class StoreFigures:
    """A collector of prometheus-client. Safe to use from several threads.

    Counters are sums over all runs that have ended, so they are the same in every process and after every restart.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._guard = threading.Lock()
        self._kept: list[Metric] = []
        self._until = float("-inf")
        self._counted = 0  # the newest run in the sums
        self._sums: dict[str, Counter[str]] = {stage: Counter() for stage in COUNTED}
        self._ends: Counter[str] = Counter()

    def collect(self) -> Iterable[Metric]:
        """All figures; where the store does not answer, that alone."""
        with self._guard:
            if self._clock() >= self._until:
                self._kept = list(self._fresh())
                self._until = self._clock() + KEPT_SECONDS
            return self._kept

    def _fresh(self) -> Iterator[Metric]:
        started, is_up = time.perf_counter(), 1
        try:
            yield from [*self._queues(), *self._runs(), *self._of_runs(), *self._alerts()]
        except PlumblineError:
            is_up = 0
        yield gauge("plumbline_store_up", "Did the store answer?", is_up)
        yield gauge("plumbline_solr_up", "Has Solr answered this process?", int(self._engine.has_index))
        took = time.perf_counter() - started
        yield gauge("plumbline_figures_seconds", "Time to read these figures from the store", took)

    def _queues(self) -> Iterator[Metric]:
        store, now = self._engine.store, time.time()
        fresh, (due, since) = store.status.freshness(), store.status.due_since(now)
        depth = GaugeMetricFamily("plumbline_queue_depth", "What waits for a stage", labels=["stage"])
        depth.add_metric(["crawl"], due)
        depth.add_metric(["extract"], store.articles.pending_count())
        depth.add_metric(["index"], fresh.waiting)
        age = GaugeMetricFamily("plumbline_queue_age_seconds", "Since when the oldest waits", labels=["stage"])
        age.add_metric(["crawl"], max(0.0, now - since) if since is not None else 0.0)
        lag = max(0.0, now - fresh.waiting_since) if fresh.waiting_since is not None else 0.0
        age.add_metric(["index"], lag)
        yield from (depth, age)
        yield gauge("plumbline_index_lag_seconds", "How far the index is behind the store", lag)
        yield gauge("plumbline_articles", "Articles in the store", fresh.articles)
        yield gauge("plumbline_indexed", "Articles in the index, by the store", fresh.indexed)

    def _runs(self) -> Iterator[Metric]:
        found = nights(self._engine, 1)
        last = found.runs[0] if found.runs else None
        is_running = last is not None and last.state is RunState.RUNNING
        yield gauge("plumbline_run_running", "Does a run go on?", int(is_running))
        if last is not None:
            yield gauge("plumbline_last_run_timestamp_seconds", "When the newest run began", last.started_at)
        yield from timestamps(found)

    def _of_runs(self) -> Iterator[Metric]:
        for run in self._engine.store.runs.ended_after(self._counted):
            self._add(run)
        for stage, (name, text) in COUNTED.items():
            counted = CounterMetricFamily(name, text, labels=["outcome"])
            for code, count in self._sums[stage].items():
                counted.add_metric([code], count)
            yield counted
        runs = CounterMetricFamily("plumbline_runs", "Runs that ended, by how", labels=["state"])
        for state in RunState:
            if state is not RunState.RUNNING:
                runs.add_metric([state.value], self._ends[state.value])
        yield runs

    def _add(self, run: PipelineRun) -> None:
        self._counted = max(self._counted, run.run_id)
        self._ends[run.state(is_held=False).value] += 1
        for stage in run.stages:
            if stage.stage in self._sums:
                self._sums[stage.stage].update(stage.counts)

    def _alerts(self) -> Iterator[Metric]:
        counts = Counter(one.key.kind for one in self._engine.store.alerts.firing())
        firing = GaugeMetricFamily("plumbline_alerts_firing", "Alerts that fire, by kind", labels=["kind"])
        for kind in KINDS:
            firing.add_metric([kind], counts[kind])
        yield firing


def timestamps(found: Nights) -> Iterator[Metric]:
    """When the last good run began, since when none has succeeded, when the next one is: those that are known."""
    for name, text, at in (
        ("plumbline_last_good_run_timestamp_seconds", "When the newest good run began", found.last_good),
        (
            "plumbline_failing_since_timestamp_seconds",
            "When the first of the runs since then failed",
            found.failed_since,
        ),
        ("plumbline_next_run_timestamp_seconds", "When the next run is", found.next_run),
    ):
        if at is not None:
            yield gauge(name, text, at)


def gauge(name: str, text: str, value: float) -> Metric:
    """A figure without labels."""
    return GaugeMetricFamily(name, text, value=value)
