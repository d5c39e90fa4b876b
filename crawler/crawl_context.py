"""Begin a crawl, and the objects and state that all parts of one run share."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from crawler.crawl_plan import CrawlPlan, check_addresses
from crawler.dedup.dust import DustRules
from crawler.focused_policy import FocusedPolicy
from crawler.host_suggestions import HostSuggestionStats
from crawler.http.fetch import Fetcher
from crawler.progress import ProgressCallback, Tally
from crawler.schedule.forecast import PACES_STATE, HostPaces
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.url_seen import UrlSeenTest
from crawler.sitemaps.lastmod_trust import LastmodTrust
from crawler.state_files import state_path_factory
from crawler.urls.canonical import host_of
from crawler.urls.path_answers import PathAnswers
from crawler.workers.coordinator import Coordinator
from domain.frontier import NewUrl, UrlKind

DEFAULT_SEED_PRIORITY = 1.0
SITE_STATE_NAMES = ("lastmod", "likeness", "proposed", PACES_STATE, "answers")
"""The files of `SiteKnowledgeState`, in the order of its fields. Each file is keyed by host."""


@dataclass(frozen=True)
class SiteKnowledgeState:
    """Site knowledge saved between runs.

    Lastmod reliability, DUST rules, suggested external hosts, seconds per page by host, and answers about files. Each
    part has its own file.
    """

    lastmod_trust: LastmodTrust
    dust_rules: DustRules
    host_suggestions: HostSuggestionStats
    host_paces: HostPaces
    path_answers: PathAnswers

    @classmethod
    def load(cls, state_path: Callable[[str], Path]) -> "SiteKnowledgeState":
        """Load the saved parts. `state_path` returns the file for a name such as `lastmod`."""
        parts: tuple[Any, ...] = (LastmodTrust, DustRules, HostSuggestionStats, HostPaces, PathAnswers)
        return cls(*(part.load(state_path(name)) for part, name in zip(parts, SITE_STATE_NAMES, strict=True)))

    def save(self, state_path: Callable[[str], Path]) -> None:
        """Save the state of all parts to their files."""
        for part, name in zip(fields(self), SITE_STATE_NAMES, strict=True):
            getattr(self, part.name).save(state_path(name))


@dataclass
class CrawlContext:
    """Objects and state that all parts of one run share. Creating the context starts the run.

    `seen_path` is the file of the URL-seen filter. The site knowledge is in the same folder.
    """

    table: CrawlTable
    fetcher: Fetcher
    plan: CrawlPlan
    seen_path: Path
    coordinator: Coordinator
    on_progress: ProgressCallback | None = None
    now: Callable[[], float] = time.time  # epoch seconds
    clock: Callable[[], float] = time.monotonic
    focused_policy: FocusedPolicy | None = None  # scores pages and links of a focused crawl
    tally: Tally = field(default_factory=Tally)
    url_seen: UrlSeenTest = field(init=False)
    state_path: Callable[[str], Path] = field(init=False)  # returns the file of a named part of the site knowledge
    site_state: SiteKnowledgeState = field(init=False)  # knowledge from this run and earlier runs
    due_before: float = field(init=False)  # epoch seconds; URLs due later are left to another run
    started_at: float = field(init=False)  # monotonic seconds, by `clock`
    deadline: float = field(init=False)  # monotonic seconds; no request starts later

    def __post_init__(self) -> None:
        self.url_seen = UrlSeenTest.load(self.seen_path, self.table)
        self.state_path = state_path_factory(self.seen_path)
        self.site_state = SiteKnowledgeState.load(self.state_path)
        self.started_at, self.due_before = self.clock(), self.now()
        self.deadline = self.started_at + self.plan.max_seconds


def begin_crawl(table: CrawlTable, plan: CrawlPlan, seed_priority: float = DEFAULT_SEED_PRIORITY) -> Tally:
    """Prepare the table for a crawl, once for all its crawlers, and add the seeds. Returns the count of new URLs.

    Raises SettingsError if the plan must not be used on public sites: see `check_addresses`.
    """
    check_addresses(plan)
    table.reassign_queues(plan.queue_policy_name, plan.queue_of)
    table.discount_spurious_changes(plan.revisit_policy.next_interval)
    seeds = [NewUrl(url, host_of(url), plan.queue_of(url), 0, UrlKind.SEED, seed_priority) for url in plan.seeds]
    return Tally(urls_added=table.add_urls(seeds))
