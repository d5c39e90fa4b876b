"""Serves `/metrics` in the Prometheus text format.

Request metrics are recorded in each process and summed over all processes on request. Store metrics are read on
request. No label contains a query, URL or host, so the number of series is bounded. Requests from other machines need
the token of the vertical, or an API token with the scope `metrics`.
"""

import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from flask import Blueprint, Flask, Response, abort, current_app, g
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from search_ui.api_tokens import TOKEN_PREFIX, ApiScope, check_api_token, read_bearer_token
from search_ui.context import current_site
from search_ui.security import is_local_request
from search_ui.settings import METRICS_FOLDER_ENV

blueprint = Blueprint("metrics", __name__)

LATENCY_BUCKETS_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0)


@dataclass
class SiteMetrics:
    """The metrics of the site and of the store. `token` allows requests from other machines ("": none)."""

    store_collector: Collector | None = None
    token: str = ""
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        self._search_seconds = Histogram(
            "plumbline_search_seconds",
            "Time to answer a search",
            registry=self.registry,
            buckets=LATENCY_BUCKETS_SECONDS,
        )
        self._empty_searches = Counter(
            "plumbline_searches_without_hits", "Searches that found nothing", registry=self.registry
        )
        self._responses = Counter(
            "plumbline_responses", "Answers by class of status", ["status"], registry=self.registry
        )

    def record_response(self, status: int, seconds: float, hits: int | None) -> None:
        """Record a response. `hits` is the number of hits of a search; None for other pages."""
        self._responses.labels(f"{min(max(status // 100, 1), 5)}xx").inc()
        if hits is not None:
            self._search_seconds.observe(seconds)
            if hits == 0:
                self._empty_searches.inc()

    def render(self) -> bytes:
        """Return all metrics of all processes."""
        folder = os.environ.get(METRICS_FOLDER_ENV)
        registries = [single_collector_registry(ProcessCollector(Path(folder))) if folder else self.registry]
        if self.store_collector is not None:
            registries.append(single_collector_registry(self.store_collector))
        return b"".join(generate_latest(part) for part in registries)


@dataclass(frozen=True)
class ProcessCollector:
    """Sums the metrics of all processes that share a folder.

    The collector of prometheus-client fails on an empty file. A process that is starting has one for a moment, and a
    process killed at that moment leaves it for ever.
    """

    folder: Path

    def collect(self) -> Iterable[Metric]:
        """Return each metric, summed over the processes."""
        files = [str(file) for file in self.folder.glob("*.db") if file.stat().st_size]
        metrics: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
        return metrics


def single_collector_registry(collector: Collector) -> CollectorRegistry:
    """Return a registry with one collector."""
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


def init_metrics(app: Flask, metrics: SiteMetrics) -> None:
    """Record every response of `app`. A search view sets its number of hits as `g.hits`."""
    app.extensions[__name__] = metrics

    def record(response: Response) -> Response:
        seconds = current_site().stopwatch() - g.started if "started" in g else 0.0
        metrics.record_response(response.status_code, seconds, g.get("hits"))
        return response

    app.after_request(record)


@blueprint.get("/metrics")
def metrics_page() -> Response:
    """Return the metrics to permitted clients."""
    metrics: SiteMetrics = current_app.extensions[__name__]
    presented_token = read_bearer_token() or ""
    if presented_token.startswith(TOKEN_PREFIX):
        if error_response := check_api_token(ApiScope.METRICS):
            return error_response
    elif not (is_local_request() or is_same_token(presented_token, metrics.token)):
        abort(403)
    return Response(metrics.render(), content_type=CONTENT_TYPE_LATEST)


def is_same_token(presented_token: str, token: str) -> bool:
    """Compare in constant time; "" is no token."""
    return bool(token) and hmac.compare_digest(presented_token.encode(), token.encode())
