"""What all parts of one run share: what it goes by, counts and learns; and the seeds that it begins with."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from crawler.crawl_plan import CrawlPlan
from crawler.guide import SEED_PRIORITY as GUIDED_SEED_PRIORITY
from crawler.guide import Guide
from crawler.host_suggestions import HostSuggestions
from crawler.http.fetch import Fetcher
from crawler.parallel.coordination import Coordinator
from crawler.progress import Tally, Tell
from crawler.schedule.forecast import PACES, Paces
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.url_seen import UrlSeenTest
from crawler.sitemaps.lastmod import LastmodTrust
from crawler.urls.canonical import host_of
from crawler.urls.dust import DustRules
from docstore.frontier.table import NewUrl
from docstore.model import Kind

SEED_PRIORITY = 1.0


@dataclass(frozen=True)
class CrawlState:
    """What a crawl learns of sites, and keeps between runs in small files: how right lastmods are, which differences
    between URLs mean nothing, which hosts are linked abroad, and how fast each host was asked."""

    lastmods: LastmodTrust
    likenesses: DustRules
    proposals: HostSuggestions
    paces: Paces

    @classmethod
    def load(cls, file: Callable[[str], Path]) -> "CrawlState":
        """From the files that `file` names by their headings."""
        return cls(
            LastmodTrust.load(file("lastmod")),
            DustRules.load(file("likeness")),
            HostSuggestions.load(file("proposed")),
            Paces.load(file(PACES)),
        )

    def save(self, file: Callable[[str], Path]) -> None:
        """Keep it."""
        self.lastmods.save(file("lastmod"))
        self.likenesses.save(file("likeness"))
        self.proposals.save(file("proposed"))
        self.paces.save(file(PACES))


@dataclass
class CrawlContext:
    """What all parts of one run share. The run begins when this is made."""

    table: CrawlTable
    fetcher: Fetcher
    plan: CrawlPlan
    seen: UrlSeenTest
    coordinator: Coordinator
    state: Callable[[str], Path]  # the file for what is learned of sites under a heading
    tell: Tell | None = None
    now: Callable[[], float] = time.time  # epoch seconds
    clock: Callable[[], float] = time.monotonic
    guide: Guide | None = None  # judges pages and links where the crawl looks for a topic
    tally: Tally = field(default_factory=Tally)
    learned: CrawlState = field(init=False)  # of sites, in this run and those before
    before: float = field(init=False)  # epoch seconds: what is due later waits for another run
    started: float = field(init=False)  # by `clock`
    until: float = field(init=False)  # by `clock`: nothing starts after this

    def __post_init__(self) -> None:
        self.learned = CrawlState.load(self.state)
        self.started, self.before = self.clock(), self.now()
        self.until = self.started + self.plan.seconds


def seed_rows(plan: CrawlPlan, priority: float = SEED_PRIORITY) -> list[NewUrl]:
    """The seeds as URLs of the table."""
    return [NewUrl(url, host_of(url), plan.queue_of(url), 0, Kind.SEED, priority) for url in plan.seeds]


def add_seeds(context: CrawlContext) -> None:
    """Put the seeds into the table, and count those that are new."""
    new = context.seen.new_among(context.plan.seeds)
    priority = GUIDED_SEED_PRIORITY if context.guide else SEED_PRIORITY
    context.tally.added += context.table.add(seed_rows(context.plan, priority))
    context.seen.add(new)
