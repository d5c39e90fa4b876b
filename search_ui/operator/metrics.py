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

from search_ui.security import is_on_this_machine
from search_ui.site import current_site

pages = Blueprint("metrics", __name__)

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0)  # seconds
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's own: where processes put their figures together


class Figures(Protocol):
    """Figures that are read when they are asked for: a collector of prometheus-client."""

    def collect(self) -> Iterable[Metric]:
        """All of them."""


@dataclass
class Metrics:
    """What is measured here, `stored` figures, and the `token` ("": none) that lets other machines ask for both."""

    stored: Figures | None = None
    token: str = ""
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        self._seconds = Histogram(
            "plumbline_search_seconds", "Time to answer a search", registry=self.registry, buckets=BUCKETS
        )
        self._nothing = Counter(
            "plumbline_searches_without_hits", "Searches that found nothing", registry=self.registry
        )
        self._responses = Counter(
            "plumbline_responses", "Answers by class of status", ["status"], registry=self.registry
        )

    def answered(self, status: int, seconds: float, hits: int | None) -> None:
        """Note an answer; `hits` of a search, None for any other page."""
        self._responses.labels(f"{min(max(status // 100, 1), 5)}xx").inc()
        if hits is not None:
            self._seconds.observe(seconds)
            if hits == 0:
                self._nothing.inc()

    def text(self) -> bytes:
        """All figures, of all processes that answer."""
        parts = [together() if os.environ.get(SHARED_FOLDER) else self.registry]
        if self.stored is not None:
            parts.append(CollectorRegistry())
            parts[-1].register(self.stored)
        return b"".join(generate_latest(part) for part in parts)


def together() -> CollectorRegistry:
    """What all processes have measured that share a folder."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def measure(app: Flask, metrics: Metrics) -> None:
    """Measure every answer of `app`; a view that searched leaves its hits in `g.hits`."""
    app.extensions[__name__] = metrics

    def note(response: Response) -> Response:
        seconds = current_site().stopwatch() - g.started if "started" in g else 0.0
        metrics.answered(response.status_code, seconds, g.get("hits"))
        return response

    app.after_request(note)


@pages.get("/metrics")
def figures() -> Response:
    """The figures, for who may see them."""
    metrics: Metrics = current_app.extensions[__name__]
    if not (is_on_this_machine() or has_token(metrics.token)):
        abort(403)
    return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)


def has_token(token: str) -> bool:
    """Does the request carry it, as `Authorization: Bearer ...`?"""
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    return bool(token) and kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
