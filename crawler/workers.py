"""The threads that fetch and read pages. They share nothing with the loop but two queues: jobs in, results out."""

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from crawler.fetch import Fetcher, FetchResult
from crawler.links import links_of
from crawler.robots import RobotsAnswer, fetch_robots
from crawler.urls import UrlRules, refuse
from docstore.model import FrontierEntry, Link, Outcome, Page, Reason

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """Fetch the page of `entry`, or with `robots_of` first the robots.txt of that origin."""

    entry: FrontierEntry
    robots_of: str = ""


@dataclass(frozen=True)
class PageDone:
    """A fetched page: its result, the links on it that may be followed, and counts of those that may not."""

    job: Job
    result: FetchResult
    links: tuple[Link, ...] = ()
    refused: Counter[Reason] = field(default_factory=Counter)


@dataclass(frozen=True)
class RobotsDone:
    """A fetched robots.txt."""

    job: Job
    answer: RobotsAnswer


Done = PageDone | RobotsDone


def work(job: Job, fetcher: Fetcher, rules: UrlRules, now: Callable[[], float], delay: float) -> Done:
    """Do one job. Never raises: the unexpected is logged and becomes an outcome.

    `delay` seconds lie between the hops of a redirected robots.txt, the only case of two requests in one job.
    """
    try:
        if job.robots_of:
            return RobotsDone(job, fetch_robots(fetcher, job.robots_of, now, lambda: time.sleep(delay)))
        return _page(job, fetcher, rules)
    except Exception as error:
        logger.exception("unexpected failure at %s", job.entry.url)
        return PageDone(job, FetchResult(Outcome(Reason.FAILED, f"{type(error).__name__}: {error}"[:300])))


def _page(job: Job, fetcher: Fetcher, rules: UrlRules) -> PageDone:
    result = fetcher.fetch(job.entry)
    if result.page is None or job.entry.depth >= rules.deepest:
        return PageDone(job, result)
    links, refused = followable(result.page, rules, job.entry.depth + 1)
    return PageDone(job, result, links, refused)


def followable(page: Page, rules: UrlRules, depth: int) -> tuple[tuple[Link, ...], Counter[Reason]]:
    """The links of a page that the rules allow at `depth`, and how many they refuse, by reason."""
    found = links_of(page)
    refused = Counter(found.refused)
    links: list[Link] = []
    for link in found.links:
        reason = refuse(link.url, rules, depth)
        if reason is None:
            links.append(link)
        else:
            refused[reason] += 1
    return tuple(links), refused


class Workers:
    """`count` threads that do jobs. `submit` only while `idle`; results come from `next`, in any order."""

    def __init__(self, count: int, do: Callable[[Job], Done], close: Callable[[], None]) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._do = do
        self._close = close
        self._count = count
        self.under_way = 0
        self._threads = [
            threading.Thread(target=self._run, name=f"crawl-{number}", daemon=True) for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def idle(self) -> int:
        """How many more jobs can start at once."""
        return self._count - self.under_way

    def submit(self, job: Job) -> None:
        """Start a job."""
        self.under_way += 1
        self._jobs.put(job)

    def next(self, seconds: float) -> Done | None:
        """The next result, waiting for it at most so long; None if there is none yet."""
        if self.under_way == 0:
            time.sleep(seconds)
            return None
        try:
            done = self._results.get(timeout=seconds) if seconds > 0 else self._results.get_nowait()
        except queue.Empty:
            return None
        self.under_way -= 1
        return done

    def close(self) -> None:
        """Let every thread end after the job it is at. Does not wait: a fetch may take a minute."""
        for _ in self._threads:
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._results.put(self._do(job))
        self._close()
