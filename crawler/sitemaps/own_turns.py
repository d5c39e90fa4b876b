"""Requests that have a turn of their own at their host, beside those of the table's URLs: sitemaps and feeds on other
hosts, and questions whether a family of URLs ends."""

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from crawler.parallel.fetch_pool import Job, JobKind
from crawler.schedule.throttle import NEVER, HostThrottle
from crawler.urls.canonical import host_of, origin_of
from docstore.model import FrontierEntry
from docstore.model import Kind as PageKind


def is_own_turn(entry: FrontierEntry) -> bool:
    """Is it none of the table's URLs?"""
    return entry.url_id < 0


@dataclass
class OwnTurns:
    """Jobs that wait for their turn. Their entries have numbers below 0: the table does not know them."""

    waiting: dict[int, Job] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(-1, -1))

    def add(self, kind: JobKind, url: str) -> int:
        """Ask for a URL; the number of its entry."""
        number = next(self._numbers)
        self.waiting[number] = Job(FrontierEntry(number, url, host_of(url), 0, 0, PageKind.UNKNOWN, 0.0), kind, url)
        return number

    def next(self, throttle: HostThrottle, now: float, not_of: Container[str]) -> Job | None:
        """A job whose host may be asked now, and whose origin is none of those whose robots.txt is being asked for."""
        for number, job in self.waiting.items():
            if origin_of(job.url) not in not_of and throttle.next_start(job.entry.host, now) <= now:
                return self.waiting.pop(number)
        return None

    def seconds(self, throttle: HostThrottle, now: float) -> float:
        """Until there may be a turn; NEVER if nothing waits, or only for what is under way."""
        starts = (throttle.next_start(job.entry.host, now) for job in self.waiting.values())
        return max(min(starts, default=NEVER) - now, 0.0)

    def put_back(self, job: Job) -> None:
        """It was not asked for after all."""
        self.waiting[job.entry.url_id] = job
