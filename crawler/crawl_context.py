"""Objects that all parts of a run share, and the seed URLs."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from crawler.crawl_plan import CrawlPlan
from crawler.dedup.dust import DustRules
from crawler.focused_policy import FOCUSED_SEED_PRIORITY, FocusedPolicy
from crawler.host_suggestions import HostSuggestionStats
from crawler.http.fetch import Fetcher
from crawler.progress import ProgressCallback, Tally
from crawler.schedule.forecast import PACES_STATE, HostPaces
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.url_seen import UrlSeenTest
from crawler.sitemaps.lastmod_trust import LastmodTrust
from crawler.urls.canonical import host_of
from crawler.workers.coordinator import Coordinator
from domain.frontier import NewUrl, UrlKind

DEFAULT_SEED_PRIORITY = 1.0


@dataclass(frozen=True)
class SiteKnowledgeState:
    """Site knowledge saved between runs.

    Lastmod reliability, DUST rules, suggested external hosts, and seconds per page by host. Each part has its own file.
    """

    lastmod_trust: LastmodTrust
    dust_rules: DustRules
    host_suggestions: HostSuggestionStats
    host_paces: HostPaces

    @classmethod
    def load(cls, state_path: Callable[[str], Path]) -> "SiteKnowledgeState":
        """Load the saved parts. `state_path` returns the file for a name such as `lastmod`."""
        return cls(
            LastmodTrust.load(state_path("lastmod")),
            DustRules.load(state_path("likeness")),
            HostSuggestionStats.load(state_path("proposed")),
            HostPaces.load(state_path(PACES_STATE)),
        )

    def save(self, state_path: Callable[[str], Path]) -> None:
        """Save the state of all parts to their files."""
        self.lastmod_trust.save(state_path("lastmod"))
        self.dust_rules.save(state_path("likeness"))
        self.host_suggestions.save(state_path("proposed"))
        self.host_paces.save(state_path(PACES_STATE))


@dataclass
class CrawlContext:
    """Objects and state that all parts of one run share. Creating the context starts the run."""

    table: CrawlTable
    fetcher: Fetcher
    plan: CrawlPlan
    url_seen: UrlSeenTest
    coordinator: Coordinator
    state_path: Callable[[str], Path]  # returns the file of a named part of the site knowledge
    on_progress: ProgressCallback | None = None
    now: Callable[[], float] = time.time  # epoch seconds
    clock: Callable[[], float] = time.monotonic
    focused_policy: FocusedPolicy | None = None  # scores pages and links of a focused crawl
    tally: Tally = field(default_factory=Tally)
    site_state: SiteKnowledgeState = field(init=False)  # knowledge from this run and earlier runs
    due_before: float = field(init=False)  # epoch seconds; URLs due later are left to another run
    started_at: float = field(init=False)  # monotonic seconds, by `clock`
    deadline: float = field(init=False)  # monotonic seconds; no request starts later

    def __post_init__(self) -> None:
        self.site_state = SiteKnowledgeState.load(self.state_path)
        self.started_at, self.due_before = self.clock(), self.now()
        self.deadline = self.started_at + self.plan.max_seconds


def make_seed_urls(plan: CrawlPlan, priority: float = DEFAULT_SEED_PRIORITY) -> list[NewUrl]:
    """Build table rows for the seeds of the plan."""
    return [NewUrl(url, host_of(url), plan.queue_of(url), 0, UrlKind.SEED, priority) for url in plan.seeds]


def add_seeds(context: CrawlContext) -> None:
    """Add the seeds to the table and count the new ones."""
    new_urls = context.url_seen.filter_unseen(context.plan.seeds)
    priority = FOCUSED_SEED_PRIORITY if context.focused_policy else DEFAULT_SEED_PRIORITY
    context.tally.urls_added += context.table.add_urls(make_seed_urls(context.plan, priority))
    context.url_seen.add(new_urls)
