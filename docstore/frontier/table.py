"""The frontier: every URL ever accepted, when it is due, and what its visits led to.

NewUrl         a URL that passed the crawl's rules     crawler -> frontier
FrontierEntry  one that is due                              frontier -> crawler
Visit          all that one fetch led to                    crawler -> frontier, kept in one transaction
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, update

from docstore.archive import Archive
from docstore.articles.forgetting import forget_page
from docstore.articles.records import OutcomeRow, storable, write_outcomes
from docstore.batches import batched
from docstore.database import Database, wrapped_errors
from docstore.frontier.focused_decisions import PageDecision, write_guidance
from docstore.frontier.order import at_hosts, change_rates, due_at_hosts, due_order
from docstore.frontier.requeueing import requeue
from docstore.frontier.service import FrontierService
from docstore.grouping.spurious_changes import discount_spurious_changes
from docstore.locking.leases import Lease, still_ours
from docstore.model import FrontierEntry, Host, Kind, Origin, Outcome, Page, Stage, WarcPointer
from docstore.schema.crawl_tables import pages, robots, urls

# SQLite takes at most 32,766 parameters in a statement, PostgreSQL 65,535.
PARAMETERS = 10_000


@dataclass(frozen=True)
class NewUrl:
    """A discovered URL that passed the rules. `url` is canonical, `host` is host[:port]."""

    url: str
    host: Host
    queue: int
    depth: int
    kind: Kind
    priority: float
    parent_id: int | None = None
    anchor: str = ""
    context: str = ""


@dataclass(frozen=True)
class Visit:
    """Everything one fetch led to.

    `next_visit` is when the URL is due again (None: never), `gap` the present interval in seconds, `page` a new
    or changed version to keep (None after a 304, the same bytes or a failure), `gone` that its article has to leave
    the index; `guidance` is what a focused crawl made of the page.
    """

    entry: FrontierEntry
    outcome: Outcome
    visited_at: float
    next_visit: float | None
    gap: float
    page: Page | None = None
    etag: str = ""
    last_modified: str = ""
    gone: bool = False
    links: tuple[NewUrl, ...] = ()
    attempts: int = 0
    guidance: PageDecision | None = None


@dataclass(frozen=True)
class LastVisit:
    """When a URL was visited (None: never) and is due (None: never again); failures since the last success.

    `is_quiet` says that it is neither seed nor hub and was fetched well: it may be left alone for a while.
    """

    visited_at: float | None
    due_at: float | None
    attempts: int
    is_quiet: bool


@dataclass(frozen=True)
class StoredRobots:
    """robots.txt of one origin as fetched: HTTP status (0: no answer), body, and when."""

    origin: Origin
    status: int
    body: bytes
    fetched_at: float


LeaseOf = Callable[[int], Lease | None]
"""The lease of a queue."""


class FrontierTable:
    """`store.frontier`. URLs are unique and never forgotten; adding one twice does nothing."""

    def __init__(self, database: Database, archive: Archive, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._archive = archive
        self._clock = clock
        self._hosts: tuple[str, ...] = ()
        self._lease_of: LeaseOf | None = None

    def ask_only(self, hosts: Sequence[str]) -> None:
        """Let only URLs of these hosts be due, as long as this table is open (none: of all)."""
        self._hosts = tuple(hosts)

    def fence_by(self, lease_of: LeaseOf) -> None:
        """Record a visit only while the lease of its queue is this crawler's."""
        self._lease_of = lease_of

    @property
    def desk(self) -> FrontierService:
        """What an operator sees and does."""
        return FrontierService(self._database)

    def opener(self) -> Callable[[], AbstractContextManager["FrontierTable"]]:
        """What opens the same table in another process, with WARC files of its own."""
        with self._database.read() as connection:
            url = connection.engine.url.render_as_string(hide_password=False)
        remote = self._archive.remote.url if self._archive.remote else ""
        return partial(opened, url, self._archive.folder, self._hosts, remote)

    def add(self, new: Sequence[NewUrl]) -> int:
        """Add URLs; returns how many were not known. One known before as something else can become a seed."""
        with self._database.write() as connection:
            return self._add(connection, new)

    def _add(self, connection: Connection, new: Sequence[NewUrl]) -> int:
        now = self._clock()
        rows = [url_row(entry, now) for entry in new]
        if self._database.is_shared:  # several crawlers that add the same URLs in one order never wait in a circle
            rows.sort(key=lambda row: str(row["url"]))
        added = self._database.upsert(connection, urls, rows)
        seeds = [entry.url for entry in new if entry.kind is Kind.SEED]
        if seeds:
            others = urls.c.url.in_(seeds) & (urls.c.kind != Kind.SEED)
            connection.execute(update(urls).where(others).values(kind=Kind.SEED, depth=0, due_at=0.0))
        return added

    def due_queues(self, before: float) -> dict[int, int]:
        """Queue number -> how many of its URLs are due."""
        query = select(urls.c.queue, func.count()).where(urls.c.due_at <= before).group_by(urls.c.queue)
        if self._hosts:
            query = query.where(urls.c.host.in_(self._hosts))
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def due_at_hosts(self, before: float) -> dict[tuple[Host, int], int]:
        """(host, queue) -> how many of its URLs are due."""
        with self._database.read() as connection:
            found = due_at_hosts(connection, before)
        return {key: count for key, count in found.items() if not self._hosts or key[0] in self._hosts}

    def change_rates(self) -> dict[Host, tuple[float, int]]:
        """Host -> the sum of its articles' rates of change (changes a second), and how many articles have one."""
        with self._database.read() as connection:
            return change_rates(connection)

    def due(
        self, queue: int, before: float, limit: int, exclude: Collection[int] = (), by_promise: bool = False
    ) -> list[FrontierEntry]:
        """The first `limit` due URLs of a queue (docstore/frontier/order.py), without those in `exclude`: url_ids that
        were handed out. `by_promise` where a topic is looked for."""
        held = f" AND url_id NOT IN ({','.join(map(str, map(int, exclude)))})" if exclude else ""
        # Numbers alone, so no text of anyone's: SQLAlchemy would compile the list of ids anew for each question.
        question = (
            f"SELECT {ENTRY_COLUMNS} FROM urls WHERE queue = {int(queue)} AND due_at <= {float(before)!r}{held} "
            f"AND {at_hosts(self._hosts)} ORDER BY {due_order(before, by_promise)} LIMIT {int(limit)}"
        )
        with self._database.read() as connection:
            return [entry_of(row) for row in connection.exec_driver_sql(question)]

    def trust_clock(self, now: float) -> int:
        """Make due what was visited after `now`: the clock was ahead then. Returns how many URLs."""
        ahead = (urls.c.visited_at > now) & urls.c.due_at.is_not(None)
        with self._database.write() as connection:
            return connection.execute(update(urls).where(ahead).values(due_at=now, visited_at=now)).rowcount

    def entries(self, wanted: Sequence[str]) -> dict[str, FrontierEntry]:
        """The known ones among `wanted` (canonical URLs)."""
        found: dict[str, FrontierEntry] = {}
        with self._database.read() as connection:
            for batch in batched(wanted, PARAMETERS):
                query = select(urls).where(urls.c.url.in_(batch))
                found.update((row.url, entry_of(row)) for row in connection.execute(query))
        return found

    def last_visits(self, wanted: Sequence[str]) -> dict[str, LastVisit]:
        """When each of the known ones among `wanted` was visited and is due."""
        found: dict[str, LastVisit] = {}
        columns = (urls.c.url, urls.c.visited_at, urls.c.due_at, urls.c.attempts, urls.c.kind)
        with self._database.read() as connection:
            for batch in batched(wanted, PARAMETERS):
                for row in connection.execute(select(*columns).where(urls.c.url.in_(batch))):
                    quiet = row.attempts == 0 and row.kind not in (Kind.SEED, Kind.HUB)
                    found[row.url] = LastVisit(row.visited_at, row.due_at, row.attempts, quiet)
        return found

    def kept_at(self, origin: Origin, now: float) -> list[str]:
        """URLs of an origin whose page is kept, that are not due yet, and that were last seen a while ago: longer
        than an eighth of their interval (of a new article, that is less than a day)."""
        mine = (urls.c.url >= f"{origin}/") & (urls.c.url < f"{origin}0")  # "0" is what follows "/": by the index
        waiting = (urls.c.due_at > now) & (urls.c.digest != "") & (urls.c.visited_at + urls.c.gap / 8 <= now)
        with self._database.read() as connection:
            return list(connection.scalars(select(urls.c.url).where(mine, waiting)))

    def reschedule(self, due: Mapping[str, float]) -> None:
        """Set when URLs are due (epoch seconds)."""
        if due:
            with self._database.write() as connection:
                connection.execute(RESCHEDULED, [{"address": url, "due": at} for url, at in due.items()])

    def known(self, wanted: Sequence[str]) -> set[str]:
        """The exact seen test: which of `wanted` were ever added."""
        found: set[str] = set()
        with self._database.read() as connection:
            for batch in batched(wanted, PARAMETERS):
                query = select(urls.c.url).where(urls.c.url.in_(batch))
                found.update(connection.scalars(query))
        return found

    def urls(self) -> Iterator[str]:
        """Every URL, a page of rows at a time (memory stays bounded)."""
        last = 0
        while True:
            query = (
                select(urls.c.url_id, urls.c.url).where(urls.c.url_id > last).order_by(urls.c.url_id).limit(PARAMETERS)
            )
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from (row.url for row in rows)
            last = rows[-1].url_id

    def count(self) -> int:
        """How many URLs are known."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(urls)) or 0

    def record(self, visits: Sequence[Visit]) -> None:
        """Keep what visits led to: WARC records first, then everything else in one transaction."""
        if not visits:
            return
        with wrapped_errors():
            pointers = [self._archive.write(visit.page) if visit.page else None for visit in visits]
        with self._database.write() as connection:
            visits, kept = self._fenced(connection, visits, pointers)
            if not visits:
                return
            connection.execute(VISITED, [visited_row(visit) for visit in visits])
            self._keep_pages(connection, visits, kept)
            write_outcomes(
                self._database,
                connection,
                [OutcomeRow(v.entry.url_id, Stage.CRAWL, v.outcome, v.visited_at) for v in visits],
            )
            for visit in visits:
                if visit.gone:
                    forget_page(self._database, connection, visit.entry.url_id, visit.visited_at)
            self._add(connection, [link for visit in visits for link in visit.links])
            guided = [(v.entry.url_id, v.guidance, v.visited_at) for v in visits if v.guidance is not None]
            if guided:
                write_guidance(self._database, connection, guided)

    def _fenced(
        self, connection: Connection, visits: Sequence[Visit], pointers: Sequence[WarcPointer | None]
    ) -> tuple[Sequence[Visit], Sequence[WarcPointer | None]]:
        """What of it may be kept: not what another crawler does now, which has taken over the host."""
        if self._lease_of is None:
            return visits, pointers
        by = [self._lease_of(visit.entry.queue) for visit in visits]
        ours = still_ours(connection, [lease for lease in set(by) if lease is not None])
        kept = [number for number, lease in enumerate(by) if lease in ours]
        return [visits[number] for number in kept], [pointers[number] for number in kept]

    def _keep_pages(
        self, connection: Connection, visits: Sequence[Visit], pointers: Sequence[WarcPointer | None]
    ) -> None:
        kept = [(v, v.page, p) for v, p in zip(visits, pointers, strict=True) if v.page is not None and p is not None]
        rows = [page_row(visit.entry.url_id, page, pointer) for visit, page, pointer in kept]
        self._database.upsert(connection, pages, rows, update=[c.name for c in pages.columns if not c.primary_key])
        validators = [validators_row(visit) for visit in visits if visit.page or visit.etag or visit.last_modified]
        if validators:
            connection.execute(VALIDATED, validators)

    def export(self, part: str, target: Path) -> int:
        """Write the pages kept of a part (see `FrontierService`) into one new WARC file; how many."""
        return self._archive.copy_out(self.desk.kept(part), target)

    def robots(self, origin: Origin) -> StoredRobots | None:
        """robots.txt of `origin` as last fetched, if ever."""
        with self._database.read() as connection:
            row = connection.execute(select(robots).where(robots.c.origin == origin)).first()
        return StoredRobots(row.origin, row.status, row.body, row.fetched_at) if row else None

    def save_robots(self, fetched: StoredRobots) -> None:
        """Keep robots.txt of an origin in place of an earlier one."""
        row = {
            "origin": fetched.origin,
            "status": fetched.status,
            "body": fetched.body,
            "fetched_at": fetched.fetched_at,
        }
        with self._database.write() as connection:
            self._database.upsert(connection, robots, [row], update=("status", "body", "fetched_at"))

    def requeue(self, policy_name: str, queue_of: Callable[[str], int]) -> int:
        """Put every URL into the queue that `queue_of` names, if `policy_name` is not the one used so far.

        Returns how many URLs moved. Interrupted, it starts over on the next call.
        """
        return requeue(self._database, policy_name, queue_of)

    def discount_spurious_changes(self, longer: Callable[[float], float]) -> int:
        """Take visits for unchanged ones where the bytes were new and the article was not; returns how many.

        `longer` gives the interval that a visit without a change would have led to, by the one that it led to.
        """
        return discount_spurious_changes(self._database, longer)


@contextmanager
def opened(url: str, warc_folder: Path, hosts: Sequence[str] = (), remote: str = "") -> Iterator[FrontierTable]:
    """The frontier of a store that is open elsewhere too; `hosts` as in `FrontierTable.ask_only`."""
    with closing(Database(url)) as database, Archive(warc_folder, remote=remote) as archive:
        table = FrontierTable(database, archive)
        table.ask_only(hosts)
        yield table


ENTRY_COLUMNS = ", ".join(f"urls.{name}" for name in FrontierEntry.__dataclass_fields__)
VISITED = (
    update(urls)
    .where(urls.c.url_id == bindparam("key"))
    .values(
        due_at=bindparam("due"),
        gap=bindparam("new_gap"),
        attempts=bindparam("tries"),
        visited_at=bindparam("at"),
    )
)
RESCHEDULED = update(urls).where(urls.c.url == bindparam("address")).values(due_at=bindparam("due"))
VALIDATED = (
    update(urls)
    .where(urls.c.url_id == bindparam("key"))
    .values(etag=bindparam("etag"), last_modified=bindparam("last_modified"), digest=bindparam("digest"))
)


def url_row(entry: NewUrl, now: float) -> dict[str, Any]:
    """The `urls` row of a new URL; 0 as due time means never asked yet."""
    return {
        "url": entry.url,
        "host": entry.host,
        "queue": entry.queue,
        "depth": entry.depth,
        "kind": entry.kind,
        "priority": entry.priority,
        "due_at": 0.0,
        "parent_id": entry.parent_id,
        "anchor": storable(entry.anchor)[:300],
        "context": storable(entry.context)[:500],
        "found_at": now,
    }


def visited_row(visit: Visit) -> dict[str, Any]:
    """What a visit changes in its `urls` row."""
    when = {"due": visit.next_visit, "new_gap": visit.gap, "at": visit.visited_at}
    return {"key": visit.entry.url_id, **when, "tries": visit.attempts}


def validators_row(visit: Visit) -> dict[str, Any]:
    """The validators to send with the next request: of the page kept now, or new ones for the one kept before."""
    kept, digest = visit.page or visit, visit.page.digest if visit.page else visit.entry.digest
    sent = {"etag": storable(kept.etag), "last_modified": storable(kept.last_modified)}
    return {"key": visit.entry.url_id, **sent, "digest": digest}


def page_row(url_id: int, page: Page, pointer: WarcPointer) -> dict[str, Any]:
    """The `pages` row of a kept answer."""
    return {
        "url_id": url_id,
        "final_url": storable(page.final_url),
        "status": page.status,
        "content_type": storable(page.content_type)[:200],
        "digest": page.digest,
        "fetched_at": page.fetched_at,
        "warc_file": pointer.file,
        "warc_offset": pointer.offset,
        "warc_length": pointer.length,
    }


def entry_of(row: Row[Any]) -> FrontierEntry:
    """The frontier entry in a `urls` row."""
    return FrontierEntry(
        url_id=row.url_id,
        url=row.url,
        host=row.host,
        queue=row.queue,
        depth=row.depth,
        kind=Kind(row.kind),
        priority=row.priority,
        etag=row.etag,
        last_modified=row.last_modified,
        digest=row.digest,
        gap=row.gap,
        attempts=row.attempts,
    )
