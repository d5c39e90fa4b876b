"""A frontier table in memory, and entries and settings that crawl tests share."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crawler.http.fetch import FetchResult
from crawler.schedule.throttle import HostThrottle
from crawler.settings import CrawlSettings
from crawler.site import Sites, url_host
from domain.frontier import FrontierEntry, NewUrl, StoredRobots, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host, Page


@dataclass
class MemoryTable:
    """In-memory version of `docstore.frontier.frontier_table.FrontierTable`. Records every visit in `visits`."""

    rows: dict[int, FrontierEntry] = field(default_factory=dict)
    due_at: dict[int, float | None] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    transactions: int = 0
    stored_robots: dict[str, StoredRobots] = field(default_factory=dict)
    policy: str = ""
    taken_down: set[str] = field(default_factory=set)
    lock: threading.RLock = field(default_factory=threading.RLock)  # the recorder is a thread of its own

    def add_urls(self, new_urls: Sequence[NewUrl], /) -> int:
        with self.lock:
            fresh = [url for url in {new_url.url: new_url for new_url in new_urls}.values() if url.url not in self.ids]
            for url in fresh:
                number = len(self.rows) + 1
                self.ids[url.url] = number
                self.rows[number] = FrontierEntry(
                    number, url.url, url.host, url.queue, url.depth, url.kind, url.priority
                )
                self.due_at[number] = 0.0
            for url in new_urls:
                if url.kind is UrlKind.SEED:
                    number = self.ids[url.url]
                    self.rows[number] = replace(self.rows[number], kind=UrlKind.SEED, depth=0)
            return len(fresh)

    def _due(self, before: float) -> list[FrontierEntry]:
        return [row for row in self.rows.values() if (at := self.due_at[row.url_id]) is not None and at <= before]

    def taken_down_urls(self, since: float, /) -> set[str]:
        return self.taken_down

    def due_counts_by_queue(self, due_before: float, /) -> dict[int, int]:
        with self.lock:
            counts: dict[int, int] = {}
            for row in self._due(due_before):
                counts[row.queue] = counts.get(row.queue, 0) + 1
            return counts

    def due_counts_by_host_and_queue(self, due_before: float, /) -> dict[tuple[Host, int], int]:
        with self.lock:
            return Counter((row.host, row.queue) for row in self._due(due_before))

    def change_rates_by_host(self) -> dict[Host, tuple[float, int]]:
        return {}

    def discount_spurious_changes(self, next_interval: Callable[[float], float], /) -> int:
        return 0

    def due_entries(
        self, queue: int, due_before: float, limit: int, excluded_ids: Collection[int] = (), /, is_focused: bool = False
    ) -> list[FrontierEntry]:
        with self.lock:
            found = [row for row in self._due(due_before) if row.queue == queue and row.url_id not in excluded_ids]
            return sorted(found, key=_turn)[:limit]

    def record_visits(self, visits: Sequence[Visit], /) -> None:
        with self.lock:
            self.transactions += 1
            for visit in visits:
                self.visits.append(visit)
                number = visit.entry.url_id
                row = replace(self.rows[number], gap=visit.revisit_seconds, attempts=visit.failed_attempts)
                if visit.page is not None:
                    self.pages[row.url] = visit.page
                    page = visit.page
                    row = replace(row, etag=page.etag, last_modified=page.last_modified, digest=page.digest)
                if visit.is_gone:
                    self.pages.pop(row.url, None)
                    row = replace(row, etag="", last_modified="", digest="")
                self.rows[number] = row
                self.due_at[number] = visit.next_visit_at
                self.add_urls(visit.discovered_urls)

    def postpone_lists(self, host: Host, seconds: float, due_before: float, /) -> int:
        return 0

    def known_urls(self, urls_to_find: Sequence[str], /) -> set[str]:
        with self.lock:
            return {url for url in urls_to_find if url in self.ids}

    def iter_urls(self) -> Iterator[str]:
        yield from list(self.ids)

    def url_count(self) -> int:
        return len(self.ids)

    def find_robots(self, origin: str, /) -> StoredRobots | None:
        return self.stored_robots.get(origin)

    def save_robots(self, robots: StoredRobots, /) -> None:
        self.stored_robots[robots.origin] = robots

    def reassign_queues(self, policy_name: str, queue_for_url: Callable[[str], int], /) -> int:
        if policy_name == self.policy:
            return 0
        self.policy = policy_name
        moved = {number: replace(row, queue=queue_for_url(row.url)) for number, row in self.rows.items()}
        changed = sum(moved[number] != row for number, row in self.rows.items())
        self.rows = moved
        return changed

    def reasons(self) -> dict[str, str]:
        """Return the reason of the last visit by path."""
        return {"/" + v.entry.url.split("/", 3)[3]: str(v.outcome.reason) for v in self.visits}


def _turn(row: FrontierEntry) -> tuple[int, float, int]:
    """Sort key: seeds and hubs first, then new URLs, then revisits."""
    place = 0 if row.kind in (UrlKind.SEED, UrlKind.HUB) else 2 if row.gap or row.attempts else 1
    return place, -row.priority, row.url_id


def entry(url: str, url_id: int = 1, **changes: object) -> FrontierEntry:
    """Return a frontier entry with default values."""
    made = FrontierEntry(url_id, url, url.split("/", 3)[2], 0, 0, UrlKind.UNKNOWN, 0.0)
    return replace(made, **changes)  # type: ignore[arg-type]


def sites(*urls: str, tables: Sequence[Mapping[str, Any]] = ()) -> Sites:
    """Return the sites of these start URLs, with the keys of `tables`, each of which has a host."""
    by_host: dict[str, dict[str, Any]] = {}
    for url in urls:
        by_host.setdefault(url_host(url), {"urls": []})["urls"].append(url)
    for table in tables:
        by_host.setdefault(table["host"], {}).update(table)
    return Sites.parse(list(by_host.values()))


def settings(*seeds: str, tables: Sequence[Mapping[str, Any]] = (), **changes: object) -> CrawlSettings:
    """Return settings for loopback: no delay, the hosts of the seeds allowed, long timeouts. See `sites`."""
    inside = tuple({seed.split("/", 3)[2] for seed in seeds})
    made = CrawlSettings(
        sites=sites(*seeds, tables=tables),
        delay=0.0,
        threads=8,
        per_host=4,
        minutes=10.0,
        connect_timeout=60.0,
        read_timeout=60.0,
        total_timeout=60.0,
        inside_hosts=inside,
        contact="https://plumbline.test/crawler",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def ended(
    responded_at: float | None = None,
    is_host_failure: bool = False,
    retry_after: float | None = None,
    is_clean: bool = True,
) -> FetchResult:
    """Return the result of a request, for a throttle."""
    outcome = Outcome(Reason.FETCHED if is_clean else Reason.TIMED_OUT)
    return FetchResult(outcome, responded_at=responded_at, host_failed=is_host_failure, retry_after=retry_after)


def make_throttle(
    delay: float, per_host: int, delay_factor: float = 0.0, per_ip: int = 0, speed_up: float = 1.0
) -> HostThrottle:
    """Return a throttle with these limits only."""
    return HostThrottle(
        CrawlSettings(delay=delay, per_host=per_host, delay_factor=delay_factor, per_ip=per_ip, speed_up=speed_up)
    )
