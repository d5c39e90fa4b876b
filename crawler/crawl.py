"""Entry point of the crawl stage: `crawl` visits every due URL once.

`crawl_loop.py` contains the loop.
"""

import time
from collections.abc import Callable
from pathlib import Path

from crawler.crawl_context import DEFAULT_SEED_PRIORITY, CrawlContext, begin_crawl
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import build_crawl_plan
from crawler.focused_policy import FOCUSED_SEED_PRIORITY, FocusedPolicy
from crawler.http.fetch import Fetcher
from crawler.progress import CrawlProgress, ProgressCallback
from crawler.schedule.frontier import CrawlTable
from crawler.settings import CrawlSettings
from crawler.workers.coordinator import Coordinator
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

    After Ctrl-C, all fetched pages are recorded before the exception propagates.

    Args:
        table: frontier table of the store.
        fetcher: fetches the pages.
        settings: the crawl settings. `crawl.topic` requires `focused_policy`.
        seen_path: file of the URL-seen filter. Site knowledge is saved in the same folder.
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
    plan = build_crawl_plan(settings)
    tally = begin_crawl(table, plan, FOCUSED_SEED_PRIORITY if focused_policy else DEFAULT_SEED_PRIORITY)
    context = CrawlContext(
        table,
        fetcher,
        plan,
        seen_path,
        Coordinator(plan.settings.max_pages),
        on_progress=progress,
        now=now,
        focused_policy=focused_policy,
        tally=tally,
    )
    try:
        CrawlLoop.from_context(context).run()
    except StoreError:
        raise
    except BaseException:
        context.url_seen.save(seen_path)
        raise
    context.url_seen.save(seen_path)
    return tally.report(time.monotonic() - started)
