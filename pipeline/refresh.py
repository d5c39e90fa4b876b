"""Refresh one page at once: fetch, extract and index it, and measure the time of each step."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from crawler.crawl import crawl as run_crawl
from crawler.http.fetch import Fetcher
from docstore.frontier.frontier_table import FrontierTable
from domain.article import document_id
from domain.errors import PlumblineError
from domain.frontier import FrontierEntry, NewUrl, UrlKind, Visit
from domain.outcome import StageReport
from domain.page import Host
from pipeline import stages
from pipeline.engine import Engine
from pipeline.local_time import local_time
from pipeline.page_source import canonical_url
from solr_client import solr_fields

SEARCHABLE_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class RefreshTimes:
    """Results of a refresh.

    Attributes:
        url: Canonical URL of the page.
        stage_times: (step, end time in epoch seconds) for fetched, extracted, indexed and searchable, in order.
        outcomes: Reasons that the stages recorded.
    """

    url: str
    stage_times: tuple[tuple[str, float], ...]
    outcomes: tuple[str, ...]

    @property
    def total_seconds(self) -> float:
        """Seconds from fetched to searchable."""
        return self.stage_times[-1][1] - self.stage_times[0][1]


class SingleUrlFrontier:
    """Frontier with one due URL. Links of the page are added to the real frontier.

    Without the methods of `crawler.sitemaps.lastmod_trust.SitemapTable`, so that the crawl requests no sitemap.
    """

    def __init__(self, table: FrontierTable, entry: FrontierEntry) -> None:
        self._table = table
        self._entry: FrontierEntry | None = entry
        self.iter_urls, self.known_urls, self.url_count = table.iter_urls, table.known_urls, table.url_count
        self.find_robots, self.save_robots = table.find_robots, table.save_robots
        self.reassign_queues, self.postpone_lists = table.reassign_queues, table.postpone_lists
        self.taken_down_urls = table.taken_down_urls

    def due_counts_by_queue(self, due_before: float) -> dict[int, int]:
        """Return the queue of the page with count 1, or an empty dict after the visit."""
        return {self._entry.queue: 1} if self._entry else {}

    def due_counts_by_host_and_queue(self, due_before: float) -> dict[tuple[Host, int], int]:
        """Return nothing: a single page has no backlog."""
        return {}

    def change_rates_by_host(self) -> dict[Host, tuple[float, int]]:
        """Return nothing: the page is due again by its own interval."""
        return {}

    def discount_spurious_changes(self, next_interval: Callable[[float], float]) -> int:
        """Leave the visits of other pages to the next crawl."""
        return 0

    def due_entries(
        self, queue: int, due_before: float, limit: int, excluded_ids: Collection[int] = (), is_focused: bool = False
    ) -> list[FrontierEntry]:
        """Return the entry of the page if it is still due, in this queue and not excluded."""
        entry = self._entry
        return [entry] if entry and entry.queue == queue and entry.url_id not in excluded_ids else []

    def record_visits(self, visits: Sequence[Visit]) -> None:
        """Save the visit in the real frontier; the page is no longer due."""
        self._table.record_visits(visits)
        self._entry = None

    def add_urls(self, urls: Sequence[NewUrl]) -> int:
        """Add URLs to the real frontier, except seeds, so that the crawl does not restart there."""
        return self._table.add_urls([new for new in urls if new.kind is not UrlKind.SEED])


def refresh_page(engine: Engine, url: str) -> RefreshTimes:
    """Fetch a known page now and run it through all stages.

    Returns the end time of each step. Raises PlumblineError if the URL is unknown, or if Solr does not find the page
    within SEARCHABLE_TIMEOUT_SECONDS after it acknowledged the update.
    """
    entry = require_frontier_entry(engine, url)
    engine.index.ensure_collection()  # before the measurement: Solr may have to start first
    crawl_report = refetch(engine, entry)
    url_report = engine.store.status.url_report(entry.url)
    fetched_at = (url_report and url_report.url_row.visited_at) or time.time()
    extract_report = stages.extract(engine)
    times = [("fetched", fetched_at), ("extracted", time.time())]
    index_report = stages.index(engine)
    times.append(("indexed", time.time()))
    wait_until_searchable(engine, entry.url)
    times.append(("searchable", time.time()))
    outcomes = [
        str(reason) for report in (crawl_report, extract_report, index_report) for reason in report.outcome_counts
    ]
    return RefreshTimes(entry.url, tuple(times), tuple(outcomes))


def refetch(engine: Engine, entry: FrontierEntry) -> StageReport:
    """Crawl only this page, by the rules of every crawl; a focused crawl also judges the page."""
    with (
        engine.lock("crawl"),
        closing(Fetcher(engine.settings.crawl, engine.ip_policy)) as fetcher,
        stages.focused_crawl(engine) as (settings, guide),
    ):
        table, seen_filter_path = (
            SingleUrlFrontier(engine.store.frontier, entry),
            engine.settings.data_dir / "seen.bloom",
        )
        return run_crawl(table, fetcher, settings, seen_filter_path, focused_policy=guide)


def require_frontier_entry(engine: Engine, url: str) -> FrontierEntry:
    """Return the frontier entry of `url`. Raises PlumblineError if the URL is invalid, unknown or taken down."""
    canonical_form = canonical_url(url)
    if engine.store.takedowns.find(canonical_form):
        raise PlumblineError(f"{canonical_form} is taken down: run `plumb takedown undo URL` first")
    entry = engine.store.frontier.find_entries([canonical_form]).get(canonical_form)
    if entry is None:
        raise PlumblineError(f"{canonical_form} is unknown: crawl a page that links to it, or run `plumb frontier add`")
    return entry


def wait_until_searchable(engine: Engine, url: str) -> None:
    """Wait until a search returns the current version of the article at `url`, or nothing if it has no article.

    Raises PlumblineError after SEARCHABLE_TIMEOUT_SECONDS.
    """
    report = engine.store.status.url_report(url)
    expected_digest = report.article.digest if report and report.article else None
    deadline = time.monotonic() + SEARCHABLE_TIMEOUT_SECONDS
    query = {
        "q": "{!term f=id v=$document_id}",
        "document_id": document_id(url),
        "fl": solr_fields.ARTICLE_DIGEST,
        "rows": 1,
    }
    while True:
        docs = engine.index.search(query)["response"]["docs"]
        if (docs[0][solr_fields.ARTICLE_DIGEST] if docs else None) == expected_digest:
            return
        if time.monotonic() > deadline:
            raise PlumblineError(f"Solr acknowledged {url} but does not find it: see solr/logs in the data folder")
        time.sleep(0.05)


def format_refresh_times(times: RefreshTimes) -> Iterator[str]:
    """Format the times of a refresh as lines: URL, one line for each step, outcomes."""
    yield times.url
    start = times.stage_times[0][1]
    for name, timestamp in times.stage_times:
        yield f"  {name:<11} {local_time(timestamp)}  +{timestamp - start:6.3f} s"
    yield f"  outcomes: {', '.join(times.outcomes)}"
