"""One page, now: fetched, extracted, indexed, searchable, with the time of each."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from crawler.crawl import crawl as run_crawl
from crawler.http.fetch import Fetcher
from crawler.urls.canonical import canonical
from docstore import fields
from docstore.errors import PlumblineError
from docstore.frontier.table import FrontierTable, NewUrl, StoredRobots, Visit
from docstore.model import FrontierEntry, Kind, Origin, Reason, StageReport, document_id
from pipeline import stages
from pipeline.engine import Engine
from pipeline.local_time import local_time

SEARCHABLE_SECONDS = 30.0


@dataclass(frozen=True)
class Trace:
    """When each stage was done with a page, in epoch seconds; `outcomes` says how."""

    url: str
    times: tuple[tuple[str, float], ...]
    outcomes: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """From fetched to searchable."""
        return self.times[-1][1] - self.times[0][1]


class OnePage:
    """A frontier with one URL in it, due now; what is found on the page goes to the real one."""

    def __init__(self, table: FrontierTable, entry: FrontierEntry) -> None:
        self._table = table
        self._entry: FrontierEntry | None = entry

    def due_queues(self, before: float) -> dict[int, int]:
        """The queue of the one page, until it was visited."""
        return {self._entry.queue: 1} if self._entry else {}

    def due(
        self, queue: int, before: float, limit: int, exclude: Collection[int] = (), by_promise: bool = False
    ) -> list[FrontierEntry]:
        """The one page."""
        entry = self._entry
        return [entry] if entry and entry.queue == queue and entry.url_id not in exclude else []

    def record(self, visits: Sequence[Visit]) -> None:
        """Keep the visit; nothing else is due."""
        self._table.record(visits)
        self._entry = None

    def add(self, urls: Sequence[NewUrl]) -> int:
        """As the real frontier, but no seed is begun again."""
        return self._table.add([new for new in urls if new.kind is not Kind.SEED])

    def urls(self) -> Iterator[str]:
        """As the real frontier."""
        return self._table.urls()

    def known(self, urls: Sequence[str]) -> set[str]:
        """As the real frontier."""
        return self._table.known(urls)

    def count(self) -> int:
        """As the real frontier."""
        return self._table.count()

    def robots(self, origin: Origin) -> StoredRobots | None:
        """As the real frontier."""
        return self._table.robots(origin)

    def save_robots(self, robots: StoredRobots) -> None:
        """As the real frontier."""
        self._table.save_robots(robots)

    def requeue(self, policy_name: str, queue_of: Callable[[str], int]) -> int:
        """As the real frontier."""
        return self._table.requeue(policy_name, queue_of)


def refresh(engine: Engine, url: str) -> Trace:
    """Fetch a known page now and take it through all stages; returns when each was done.

    The times come from the store where it has them. Raises PlumblineError if the page was never seen, or if Solr
    cannot find within SEARCHABLE_SECONDS what it acknowledged.
    """
    entry = known_entry(engine, url)
    engine.index.ensure()  # a Solr that has to be started first is not what is measured
    crawled = fetch_again(engine, entry)
    fetched = visited_at(engine, entry.url)
    extracted = stages.extract(engine)
    times = [("fetched", fetched), ("extracted", time.time())]
    indexed = stages.index(engine)
    times.append(("indexed", time.time()))
    wait_until_searchable(engine, entry.url)
    times.append(("searchable", time.time()))
    outcomes = [str(reason) for report in (crawled, extracted, indexed) for reason in report.counts]
    return Trace(entry.url, tuple(times), tuple(outcomes))


def fetch_again(engine: Engine, entry: FrontierEntry) -> StageReport:
    """A crawl of this page alone, by the rules of any other: where the crawl looks for a topic, the page is judged."""
    with (
        engine.lock("crawl"),
        closing(Fetcher(engine.settings.crawl, engine.addresses)) as fetcher,
        stages.looking_for_topic(engine) as (settings, guide),
    ):
        table, seen = OnePage(engine.store.frontier, entry), engine.settings.data_dir / "seen.bloom"
        return run_crawl(table, fetcher, settings, seen, guide=guide)


def known_entry(engine: Engine, url: str) -> FrontierEntry:
    """The frontier's entry for `url`."""
    address = canonical(url)
    if isinstance(address, Reason):
        raise PlumblineError(f"{url!r} is not a URL: {address}")
    entry = engine.store.frontier.entries([address]).get(address)
    if entry is None:
        raise PlumblineError(f"{address} was never seen: crawl a page that links to it first")
    return entry


def visited_at(engine: Engine, url: str) -> float:
    """When the crawler last had an answer for `url`."""
    told = engine.store.status.explain(url)
    return (told and told.row.visited_at) or time.time()


def wait_until_searchable(engine: Engine, url: str) -> None:
    """Until a search finds the present version of the article at `url` (or, if there is none, finds nothing)."""
    told = engine.store.status.explain(url)
    wanted = told.article.digest if told and told.article else None
    deadline = time.monotonic() + SEARCHABLE_SECONDS
    query = {"q": "{!term f=id v=$wanted_id}", "wanted_id": document_id(url), "fl": fields.ARTICLE_DIGEST, "rows": 1}
    while True:
        docs = engine.index.search(query)["response"]["docs"]
        if (docs[0][fields.ARTICLE_DIGEST] if docs else None) == wanted:
            return
        if time.monotonic() > deadline:
            raise PlumblineError(f"Solr acknowledged {url} but does not find it: look at solr/logs in the data folder")
        time.sleep(0.05)


def trace_lines(trace: Trace) -> Iterator[str]:
    """When each stage was done with a page."""
    yield trace.url
    start = trace.times[0][1]
    for name, moment in trace.times:
        yield f"  {name:<11} {local_time(moment)}  +{moment - start:6.3f} s"
    yield f"  outcomes: {', '.join(trace.outcomes)}"
