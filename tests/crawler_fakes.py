"""A working frontier table in memory, and the entries and settings that crawl tests share."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from crawler.settings import CrawlSettings
from docstore.frontier.table import NewUrl, StoredRobots, Visit
from docstore.model import FrontierEntry, Kind, Page


@dataclass
class MemoryTable:
    """What `docstore.frontier.table.FrontierTable` does, without a disk. Keeps every visit in `visits`."""

    rows: dict[int, FrontierEntry] = field(default_factory=dict)
    due_at: dict[int, float | None] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    transactions: int = 0
    stored_robots: dict[str, StoredRobots] = field(default_factory=dict)
    policy: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)  # the recorder is a thread of its own

    def add(self, new: Sequence[NewUrl], /) -> int:
        with self.lock:
            fresh = [url for url in {new_url.url: new_url for new_url in new}.values() if url.url not in self.ids]
            for url in fresh:
                number = len(self.rows) + 1
                self.ids[url.url] = number
                self.rows[number] = FrontierEntry(
                    number, url.url, url.host, url.queue, url.depth, url.kind, url.priority
                )
                self.due_at[number] = 0.0
            for url in new:
                if url.kind is Kind.SEED:
                    number = self.ids[url.url]
                    self.rows[number] = replace(self.rows[number], kind=Kind.SEED, depth=0)
            return len(fresh)

    def _due(self, before: float) -> list[FrontierEntry]:
        return [row for row in self.rows.values() if (at := self.due_at[row.url_id]) is not None and at <= before]

    def due_queues(self, before: float, /) -> dict[int, int]:
        with self.lock:
            counts: dict[int, int] = {}
            for row in self._due(before):
                counts[row.queue] = counts.get(row.queue, 0) + 1
            return counts

    def due(
        self, queue: int, before: float, limit: int, exclude: Collection[int] = (), /, by_promise: bool = False
    ) -> list[FrontierEntry]:
        with self.lock:
            found = [row for row in self._due(before) if row.queue == queue and row.url_id not in exclude]
            return sorted(found, key=_turn)[:limit]

    def record(self, visits: Sequence[Visit], /) -> None:
        with self.lock:
            self.transactions += 1
            for visit in visits:
                self.visits.append(visit)
                number = visit.entry.url_id
                row = replace(self.rows[number], gap=visit.gap, attempts=visit.attempts)
                if visit.page is not None:
                    self.pages[row.url] = visit.page
                    page = visit.page
                    row = replace(row, etag=page.etag, last_modified=page.last_modified, digest=page.digest)
                if visit.gone:
                    self.pages.pop(row.url, None)
                    row = replace(row, etag="", last_modified="", digest="")
                self.rows[number] = row
                self.due_at[number] = visit.next_visit
                self.add(visit.links)

    def known(self, wanted: Sequence[str], /) -> set[str]:
        with self.lock:
            return {url for url in wanted if url in self.ids}

    def urls(self) -> Iterator[str]:
        yield from list(self.ids)

    def count(self) -> int:
        return len(self.ids)

    def robots(self, origin: str, /) -> StoredRobots | None:
        return self.stored_robots.get(origin)

    def save_robots(self, fetched: StoredRobots, /) -> None:
        self.stored_robots[fetched.origin] = fetched

    def requeue(self, policy_name: str, queue_of: Callable[[str], int], /) -> int:
        if policy_name == self.policy:
            return 0
        self.policy = policy_name
        moved = {number: replace(row, queue=queue_of(row.url)) for number, row in self.rows.items()}
        changed = sum(moved[number] != row for number, row in self.rows.items())
        self.rows = moved
        return changed

    def reasons(self) -> dict[str, str]:
        """Path -> reason of the last visit."""
        return {"/" + v.entry.url.split("/", 3)[3]: str(v.outcome.reason) for v in self.visits}


def _turn(row: FrontierEntry) -> tuple[int, float, int]:
    """Seeds and lists, what is new, what was fetched before."""
    place = 0 if row.kind in (Kind.SEED, Kind.HUB) else 2 if row.gap or row.attempts else 1
    return place, -row.priority, row.url_id


def entry(url: str, url_id: int = 1, **changes: object) -> FrontierEntry:
    """A frontier entry with plain values."""
    made = FrontierEntry(url_id, url, url.split("/", 3)[2], 0, 0, Kind.UNKNOWN, 0.0)
    return replace(made, **changes)  # type: ignore[arg-type]


def settings(*seeds: str, **changes: object) -> CrawlSettings:
    """Settings for loopback: no delay, the hosts of the seeds allowed, more time than anything here can take."""
    inside = tuple({seed.split("/", 3)[2] for seed in seeds})
    made = CrawlSettings(
        seeds=seeds,
        delay=0.0,
        threads=8,
        per_host=4,
        minutes=10.0,
        connect_timeout=60.0,
        read_timeout=60.0,
        total_timeout=60.0,
        inside_hosts=inside,
        contact="https://example.org/crawler",
    )
    return replace(made, **changes)  # type: ignore[arg-type]
