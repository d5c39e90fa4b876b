"""Entry point of the crawl stage: `crawl` visits every due URL once.

`crawl_loop.py` contains the loop, `workers/process_shards.py` the crawl with several processes.
"""

import time
from collections.abc import Callable
from pathlib import Path

from crawler.crawl_context import CrawlContext, add_seeds
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import build_crawl_plan, check_addresses
from crawler.focused_policy import FocusedPolicy
from crawler.host_suggestions import with_added_sites
from crawler.http.fetch import Fetcher
from crawler.progress import CrawlProgress, ProgressCallback
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.url_seen import UrlSeenTest
from crawler.settings import CrawlSettings
from crawler.state_files import state_path_factory
from crawler.workers.coordinator import Coordinator
from crawler.workers.process_shards import ReopenableTable, crawl_in_processes
from domain.errors import StoreError
from domain.outcome import StageReport

__all__ = ["CrawlProgress", "crawl"]


def crawl(
    table: CrawlTable,
    fetcher: Fetcher,
    settings: CrawlSettings,
    seen_path: Path,
    now: Callable[[], float] = time.time,
    progress: ProgressCallback | None = None,
    focused_policy: FocusedPolicy | None = None,
) -> StageReport:
    """Crawl until no URL is due, or until the time limit or page limit is reached.

    With `crawl.processes` above 1, several processes crawl a table that they can reopen. They use the system clock.
    After Ctrl-C, all fetched pages are recorded before the exception propagates.

    Args:
        table: frontier table of the store.
        fetcher: fetches the pages.
        settings: the crawl settings. `crawl.topic` requires `focused_policy`.
        seen_path: file of the URL-seen filter. Site knowledge and added sites are saved in the same folder.
        now: returns epoch seconds.
        progress: called with the state of the run at short intervals.
        focused_policy: policy of a focused crawl. It scores pages and links.

    Returns:
        Visits by reason. A note counts rejected links, which are not stored in the table.

    Raises:
        SettingsError: a setting is invalid.
        PlumblineError: neither a seed nor another page could be fetched.
        StoreError: the table failed.
    """
    started = time.monotonic()
    plan = build_crawl_plan(with_added_sites(settings, seen_path.parent))
    check_addresses(plan)
    table.reassign_queues(plan.queue_policy_name, plan.queue_of)
    table.discount_spurious_changes(plan.revisit_policy.next_interval)
    if plan.settings.processes > 1 and isinstance(table, ReopenableTable):
        tally = crawl_in_processes(table, fetcher, plan, seen_path, progress)
        UrlSeenTest.load(seen_path, table, plan.settings.seen_filter).save(seen_path)
        return tally.report(time.monotonic() - started)
    url_seen = UrlSeenTest.load(seen_path, table, plan.settings.seen_filter)
    coordinator, state_path = Coordinator(plan.settings.max_pages), state_path_factory(seen_path)
    context = CrawlContext(
        table, fetcher, plan, url_seen, coordinator, state_path, progress, now, focused_policy=focused_policy
    )
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
