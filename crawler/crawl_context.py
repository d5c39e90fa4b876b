"""What all parts of one run share: what it goes by, counts and learns; and the seeds that it begins with."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from crawler.crawl_plan import CrawlPlan
from crawler.focused_policy import FOCUSED_SEED_PRIORITY as GUIDED_SEED_PRIORITY
from crawler.focused_policy import FocusedPolicy
from crawler.host_suggestions import HostSuggestionStats
from crawler.http.fetch import Fetcher
from crawler.progress import ProgressCallback, Tally
from crawler.schedule.forecast import PACES_STATE, HostPaces
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.url_seen import UrlSeenTest
from crawler.sitemaps.lastmod_trust import LastmodTrust
from crawler.urls.canonical import host_of
from crawler.urls.dust import DustRules
from crawler.workers.coordinator import Coordinator
from docstore.frontier.frontier_table import NewUrl
from docstore.model import UrlKind

DEFAULT_SEED_PRIORITY = 1.0


@dataclass(frozen=True)
class SiteKnowledgeState:
    """What a crawl learns of sites, and keeps between runs in small files: how right lastmods are, which differences
    between URLs mean nothing, which hosts are linked abroad, and how fast each host was asked."""

    lastmod_trust: LastmodTrust
    dust_rules: DustRules
    host_suggestions: HostSuggestionStats
    host_paces: HostPaces

    @classmethod
    def load(cls, state_path: Callable[[str], Path]) -> "SiteKnowledgeState":
        """From the files that `state_path` names by their headings."""
        return cls(
            LastmodTrust.load(state_path("lastmod")),
            DustRules.load(state_path("likeness")),
            HostSuggestionStats.load(state_path("proposed")),
            HostPaces.load(state_path(PACES_STATE)),
        )

    def save(self, file: Callable[[str], Path]) -> None:
        """Keep it."""
        self.lastmod_trust.save(file("lastmod"))
        self.dust_rules.save(file("likeness"))
        self.host_suggestions.save(file("proposed"))
        self.host_paces.save(file(PACES_STATE))


@dataclass
class CrawlContext:
    """What all parts of one run share. The run begins when this is made."""

    table: CrawlTable
    fetcher: Fetcher
    plan: CrawlPlan
    url_seen: UrlSeenTest
    coordinator: Coordinator
    state_path: Callable[[str], Path]  # the file for what is learned of sites under a heading
    on_progress: ProgressCallback | None = None
    now: Callable[[], float] = time.time  # epoch seconds
    clock: Callable[[], float] = time.monotonic
    focused_policy: FocusedPolicy | None = None  # judges pages and links where the crawl looks for a topic
    tally: Tally = field(default_factory=Tally)
    site_state: SiteKnowledgeState = field(init=False)  # of sites, in this run and those before
    due_before: float = field(init=False)  # epoch seconds: what is due later waits for another run
    started_at: float = field(init=False)  # by `clock`
    deadline: float = field(init=False)  # by `clock`: nothing starts after this

    def __post_init__(self) -> None:
        self.site_state = SiteKnowledgeState.load(self.state_path)
        self.started_at, self.due_before = self.clock(), self.now()
        self.deadline = self.started_at + self.plan.max_seconds


def make_seed_urls(plan: CrawlPlan, priority: float = DEFAULT_SEED_PRIORITY) -> list[NewUrl]:
    """The seeds as URLs of the table."""
    return [NewUrl(url, host_of(url), plan.queue_of(url), 0, UrlKind.SEED, priority) for url in plan.seeds]


def add_seeds(context: CrawlContext) -> None:
    """Put the seeds into the table, and count those that are new."""
    new_urls = context.url_seen.filter_unseen(context.plan.seeds)
    priority = GUIDED_SEED_PRIORITY if context.focused_policy else DEFAULT_SEED_PRIORITY
    context.tally.urls_added += context.table.add_urls(make_seed_urls(context.plan, priority))
    context.url_seen.add(new_urls)
