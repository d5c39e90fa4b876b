"""`/metrics`: figures in Prometheus' text format, by prometheus-client.

What readers experience is measured in the process that answers them, and summed up over all of them when it is asked
for; what the store knows is read then. No label holds a query, a URL or a host, so there are as many series as there
are outcomes. Whoever is on the machine may ask; others need the token.
"""

import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from flask import Blueprint, Flask, Response, abort, current_app, g, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from search_ui.context import current_site
from search_ui.security import is_local_request

blueprint = Blueprint("metrics", __name__)

LATENCY_BUCKETS_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0)  # seconds
MULTIPROCESS_DIR_ENV = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's own: where processes put their figures together


class MetricsCollector(Protocol):
    """Figures that are read when they are asked for: a collector of prometheus-client."""

    def collect(self) -> Iterable[Metric]:
        """All of them."""


@dataclass
class SiteMetrics:
    """What is measured here, `store_collector` figures, and the `token` ("".

    None) that lets other machines ask for both.
    """

    store_collector: MetricsCollector | None = None
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
        """Note an answer; `hits` of a search, None for any other page."""
        self._responses.labels(f"{min(max(status // 100, 1), 5)}xx").inc()
        if hits is not None:
            self._search_seconds.observe(seconds)
            if hits == 0:
                self._empty_searches.inc()

    def render(self) -> bytes:
        """All figures, of all processes that answer."""
        registries = [multiprocess_registry() if os.environ.get(MULTIPROCESS_DIR_ENV) else self.registry]
        if self.store_collector is not None:
            registries.append(CollectorRegistry())
            registries[-1].register(self.store_collector)
        return b"".join(generate_latest(part) for part in registries)


def multiprocess_registry() -> CollectorRegistry:
    """What all processes have measured that share a folder."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def init_metrics(app: Flask, metrics: SiteMetrics) -> None:
    """Measure every answer of `app`; a view that searched leaves its hits in `g.hits`."""
    app.extensions[__name__] = metrics

    def record(response: Response) -> Response:
        seconds = current_site().stopwatch() - g.started if "started" in g else 0.0
        metrics.record_response(response.status_code, seconds, g.get("hits"))
        return response

    app.after_request(record)


@blueprint.get("/metrics")
def metrics_page() -> Response:
    """The figures, for who may see them."""
    metrics: SiteMetrics = current_app.extensions[__name__]
    if not (is_local_request() or is_bearer_token_valid(metrics.token)):
        abort(403)
    return Response(metrics.render(), content_type=CONTENT_TYPE_LATEST)


def is_bearer_token_valid(token: str) -> bool:
    """Does the request carry it, as `Authorization: Bearer ...`?"""
    kind, _, presented_token = request.headers.get("Authorization", "").partition(" ")
    return (
        bool(token)
        and kind.lower() == "bearer"
        and hmac.compare_digest(presented_token.strip().encode(), token.encode())
    )
