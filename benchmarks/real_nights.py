"""The set `nights`: cost of further nightly runs without changes."""

import time
from collections.abc import Iterator

from benchmarks.real_vertical import Vertical
from benchmarks.results import Figure
from crawler.crawl import crawl
from crawler.http.fetch import Fetcher
from domain.frontier import UrlKind
from domain.outcome import Reason

DAY = 86400.0
LEARNING_NIGHTS = 8  # with the first; then the intervals of unchanged list pages have grown
MEASURED_NIGHTS = 14  # the maximum interval of list pages


def night_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield requests and bytes of a crawl one day after the first, relative to the first.

    Then yield the share of list pages that a later night requests although they stay unchanged.
    """
    first = vertical.costs["crawl"]
    first_night = vertical.engine.store.status.freshness().last_fetched_at or time.time()
    before = vertical.web.counts()
    began = time.monotonic()
    crawl_night(vertical, first_night + DAY)
    spent = vertical.web.counts() - before
    yield Figure("nights", "plumbline", "day2_requests_share", spent["requests"] / max(first.requests, 1))
    yield Figure("nights", "plumbline", "day2_bytes_share", spent["bytes"] / max(first.bytes, 1))
    yield Figure("nights", "plumbline", "day1_requests", first.requests)
    yield Figure("nights", "plumbline", "day1_bytes", first.bytes)
    yield Figure("nights", "plumbline", "day2_seconds", time.monotonic() - began)
    shares = []
    for night in range(2, LEARNING_NIGHTS + MEASURED_NIGHTS):
        crawl_night(vertical, first_night + night * DAY)
        shares.append(unchanged_list_share(vertical, first_night + night * DAY))
    yield Figure(
        "nights", "plumbline", "unchanged_list_requests_share", sum(shares[-MEASURED_NIGHTS:]) / MEASURED_NIGHTS
    )


def crawl_night(vertical: Vertical, start: float) -> None:
    """Crawl with a clock that shows `start` (epoch seconds) at the beginning."""
    engine, began = vertical.engine, time.time()
    clock = lambda: start + time.time() - began  # noqa: E731
    fetcher = Fetcher(engine.settings.crawl, engine.ip_policy, clock)
    try:
        crawl(engine.store.frontier, fetcher, engine.settings.crawl, engine.settings.data_dir / "seen.bloom", clock)
    finally:
        fetcher.close()


def unchanged_list_share(vertical: Vertical, start: float) -> float:
    """Return the share of list pages that were requested since `start` and had not changed; 0 without list pages."""
    lists = [url for url in vertical.engine.store.frontier.admin.iter_urls() if url.kind == UrlKind.HUB]
    unchanged = [url for url in lists if (url.visited_at or 0.0) >= start and url.reason == Reason.UNCHANGED]
    return len(unchanged) / max(1, len(lists))
