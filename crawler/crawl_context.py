"""What a run is made of, and the seeds that it begins with."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crawler.crawl_plan import CrawlPlan
from crawler.http.fetch import Fetcher
from crawler.packed_reading import Guide
from crawler.parallel.coordination import Coordinator
from crawler.progress import Tell
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.url_seen import UrlSeenTest
from crawler.settings import CrawlSettings
from crawler.urls.canonical import host_of
from docstore.frontier.table import NewUrl
from docstore.model import Kind

SEED_PRIORITY = 1.0


@dataclass(frozen=True)
class CrawlContext:
    """What a run is made of. `now` gives epoch seconds, `clock` those that never go back; `state` names the file for
    what is learned of sites under a heading, `guide` judges pages and links where the crawl looks for a topic."""

    table: CrawlTable
    fetcher: Fetcher
    settings: CrawlSettings
    plan: CrawlPlan
    seen: UrlSeenTest
    coordinator: Coordinator
    state: Callable[[str], Path]
    tell: Tell | None = None
    now: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic
    guide: Guide | None = None


def seed_rows(plan: CrawlPlan, priority: float = SEED_PRIORITY) -> list[NewUrl]:
    """The seeds as URLs of the table."""
    return [NewUrl(url, host_of(url), plan.queue_of(url), 0, Kind.SEED, priority) for url in plan.seeds]
