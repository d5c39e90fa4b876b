"""The crawl: everything that is due, once. Open `crawl_loop.py` for the loop, `shards.py` for several processes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from crawler.crawl_context import CrawlContext, add_seeds
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import build_crawl_plan, require_contact
from crawler.focused_policy import FocusedPolicy
from crawler.host_suggestions import with_added_sites
from crawler.http.fetch import Fetcher
from crawler.progress import CrawlProgress, ProgressCallback
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.url_seen import UrlSeenTest
from crawler.settings import CrawlSettings
from crawler.state_files import state_path_factory
from crawler.workers.coordinator import SingleProcessCoordinator
from crawler.workers.process_shards import ReopenableTable, crawl_in_processes
from docstore.errors import StoreError
from docstore.model import StageReport

__all__ = ["CrawlProgress", "crawl"]


@runtime_checkable
class SpuriousChangeTable(Protocol):
    """A table that knows of pages whose bytes were new and whose article was not."""

    def discount_spurious_changes(self, next_interval: Callable[[float], float], /) -> int:
        """Take their last visits for ones without a change."""


def crawl(
    table: CrawlTable,
    fetcher: Fetcher,
    settings: CrawlSettings,
    seen_path: Path,
    now: Callable[[], float] = time.time,
    progress: ProgressCallback | None = None,
    guide: FocusedPolicy | None = None,
) -> StageReport:
    """Crawl until nothing is due, the time or the page limit is reached; visits are counted by reason.

    `seen_path` is where the seen filter is kept between runs, and beside it what is learned of sites, and which hosts
    the operator has added. Refused links are counted in a note of the report, and
    leave no trace in the table. `guide` judges pages and links where the settings name a topic. With `crawl.processes`
    above 1 a table that can be opened again elsewhere is crawled by so many processes, by the system's clock. Raises
    SettingsError for settings that cannot be followed, PlumblineError if not one seed could be fetched, StoreError if
    the table fails. After Ctrl-C everything fetched is recorded before the exception goes on.
    """
    started = time.monotonic()
    plan = build_crawl_plan(with_added_sites(settings, seen_path.parent))
    require_contact(plan)
    table.reassign_queues(plan.queue_policy_name, plan.queue_of)
    if isinstance(table, SpuriousChangeTable):
        table.discount_spurious_changes(plan.revisit_policy.next_interval)
    if plan.processes > 1 and isinstance(table, ReopenableTable):
        tally = crawl_in_processes(table, fetcher, plan, seen_path, progress)
        UrlSeenTest.load(seen_path, table, plan.seen_filter).save(seen_path)
        return tally.report(time.monotonic() - started)
    url_seen = UrlSeenTest.load(seen_path, table, plan.seen_filter)
    coordinator, state_path = SingleProcessCoordinator(plan.max_pages), state_path_factory(seen_path)
    context = CrawlContext(table, fetcher, plan, url_seen, coordinator, state_path, progress, now, focused_policy=guide)
    try:
        add_seeds(context)
        CrawlLoop.from_context(context).run()
    except StoreError:
        raise
    except BaseException:
        url_seen.save(seen_path)
        raise
    url_seen.save(seen_path)
    return context.tally.report(time.monotonic() - started)
