"""The set `nights`: cost of a second run without changes."""

import time
from collections.abc import Iterator

from benchmarks.real_vertical import Vertical
from benchmarks.results import Figure
from crawler.crawl import crawl
from crawler.http.fetch import Fetcher

DAY = 86400.0


def night_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield requests and bytes of a crawl one day after the first, relative to the first."""
    first = vertical.costs["crawl"]
    before = vertical.web.counts()
    began = time.monotonic()
    second_night(vertical)
    spent = vertical.web.counts() - before
    yield Figure("nights", "plumbline", "day2_requests_share", spent["requests"] / max(first.requests, 1))
    yield Figure("nights", "plumbline", "day2_bytes_share", spent["bytes"] / max(first.bytes, 1))
    yield Figure("nights", "plumbline", "day1_requests", first.requests)
    yield Figure("nights", "plumbline", "day1_bytes", first.bytes)
    yield Figure("nights", "plumbline", "day2_seconds", time.monotonic() - began)


def second_night(vertical: Vertical) -> None:
    """Crawl one day after the last page was fetched."""
    engine = vertical.engine
    start, began = (engine.store.status.freshness().last_fetched_at or time.time()) + DAY, time.time()
    clock = lambda: start + time.time() - began  # noqa: E731
    fetcher = Fetcher(engine.settings.crawl, engine.ip_policy, clock)
    try:
        crawl(engine.store.frontier, fetcher, engine.settings.crawl, engine.settings.data_dir / "seen.bloom", clock)
    finally:
        fetcher.close()
