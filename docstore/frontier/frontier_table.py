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

from docstore.articles.page_removal import remove_page
from docstore.batches import batched
from docstore.bookkeeping import OutcomeRow, sanitize_text, write_outcomes
from docstore.database import Database, translate_errors
from docstore.frontier.due_order import (
    change_rates_by_host,
    due_counts_by_host_and_queue,
    due_order_sql,
    host_filter_sql,
)
from docstore.frontier.focused_decisions import FocusedDecision, write_focused_decisions
from docstore.frontier.frontier_admin import FrontierAdmin
from docstore.frontier.queue_reassignment import reassign_queues
from docstore.frontier.spurious_changes import discount_spurious_changes
from docstore.locking.leases import Lease, still_held
from docstore.model import FrontierEntry, Host, Origin, Outcome, Page, Stage, UrlKind, WarcPointer
from docstore.schema.crawl_tables import pages, robots_files, urls
from docstore.warc_archive import WarcArchive

# SQLite takes at most 32,766 parameters in a statement, PostgreSQL 65,535.
MAX_SQL_PARAMETERS = 10_000


@dataclass(frozen=True)
class NewUrl:
    """A discovered URL that passed the rules. `url` is canonical, `host` is host[:port]."""

    url: str
    host: Host
    queue: int
    depth: int
    kind: UrlKind
    priority: float
    parent_id: int | None = None
    anchor: str = ""
    context: str = ""


@dataclass(frozen=True)
class Visit:
    """Everything one fetch led to.

    `next_visit_at` is when the URL is due again (None: never), `revisit_seconds` the present interval in seconds, `page` a new
    or changed version to keep (None after a 304, the same bytes or a failure), `is_gone` that its article has to leave
    the index; `focused_decision` is what a focused crawl made of the page.
    """

    entry: FrontierEntry
    outcome: Outcome
    visited_at: float
    next_visit_at: float | None
    revisit_seconds: float
    page: Page | None = None
    etag: str = ""
    last_modified: str = ""
    is_gone: bool = False
    discovered_urls: tuple[NewUrl, ...] = ()
    failed_attempts: int = 0
    focused_decision: FocusedDecision | None = None


@dataclass(frozen=True)
class LastVisit:
    """When a URL was visited (None: never) and is due (None: never again); failures since the last success.

    `can_postpone` says that it is neither seed nor hub and was fetched well: it may be left alone for a while.
    """

    visited_at: float | None
    due_at: float | None
    failed_attempts: int
    can_postpone: bool


@dataclass(frozen=True)
class StoredRobots:
    """robots.txt of one origin as fetched: HTTP status (0: no answer), body, and when."""

    origin: Origin
    status: int
    body: bytes
    fetched_at: float


LeaseForQueue = Callable[[int], Lease | None]
"""The lease of a queue."""


class FrontierTable:
    """`store.frontier`. URLs are unique and never forgotten; adding one twice does nothing."""

    def __init__(self, database: Database, archive: WarcArchive, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._archive = archive
        self._clock = clock
        self._hosts: tuple[str, ...] = ()
        self._lease_for_queue: LeaseForQueue | None = None

    def restrict_to_hosts(self, hosts: Sequence[str]) -> None:
        """Let only URLs of these hosts be due, as long as this table is open (none: of all)."""
        self._hosts = tuple(hosts)

    def use_leases(self, lease_for_queue: LeaseForQueue) -> None:
        """Record a visit only while the lease of its queue is this crawler's."""
        self._lease_for_queue = lease_for_queue

    @property
    def admin(self) -> FrontierAdmin:
        """What an operator sees and does."""
        return FrontierAdmin(self._database)

    def make_opener(self) -> Callable[[], AbstractContextManager["FrontierTable"]]:
        """What opens the same table in another process, with WARC files of its own."""
        with self._database.read() as connection:
            url = connection.engine.url.render_as_string(hide_password=False)
        object_store_url = self._archive.object_store.url if self._archive.object_store else ""
        return partial(open_frontier, url, self._archive.folder, self._hosts, object_store_url)

    def add_urls(self, new_urls: Sequence[NewUrl]) -> int:
        """Add URLs; returns how many were not known. One known before as something else can become a seed."""
        with self._database.write() as connection:
            return self._add(connection, new_urls)

    def _add(self, connection: Connection, new_urls: Sequence[NewUrl]) -> int:
        now = self._clock()
        rows = [url_row(entry, now) for entry in new_urls]
        if self._database.is_shared:  # several crawlers that add the same URLs in one order never wait in a circle
            rows.sort(key=lambda row: str(row["url"]))
        added = self._database.upsert(connection, urls, rows)
        seeds = [entry.url for entry in new_urls if entry.kind is UrlKind.SEED]
        if seeds:
            is_promoted = urls.c.url.in_(seeds) & (urls.c.kind != UrlKind.SEED)
            connection.execute(update(urls).where(is_promoted).values(kind=UrlKind.SEED, depth=0, due_at=0.0))
        return added

    def due_counts_by_queue(self, due_before: float) -> dict[int, int]:
        """Queue number -> how many of its URLs are due."""
        query = select(urls.c.queue, func.count()).where(urls.c.due_at <= due_before).group_by(urls.c.queue)
        if self._hosts:
            query = query.where(urls.c.host.in_(self._hosts))
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def due_counts_by_host_and_queue(self, due_before: float) -> dict[tuple[Host, int], int]:
        """(host, queue) -> how many of its URLs are due."""
        with self._database.read() as connection:
            counts = due_counts_by_host_and_queue(connection, due_before)
        return {key: count for key, count in counts.items() if not self._hosts or key[0] in self._hosts}

    def change_rates_by_host(self) -> dict[Host, tuple[float, int]]:
        """Host -> the sum of its articles' rates of change (changes a second), and how many articles have one."""
        with self._database.read() as connection:
            return change_rates_by_host(connection)

    def due_entries(
        self, queue: int, due_before: float, limit: int, excluded_ids: Collection[int] = (), is_focused: bool = False
    ) -> list[FrontierEntry]:
        """The first `limit` due URLs of a queue (docstore/frontier/due_order.py), without those in `excluded_ids`: url_ids that
        were handed out. `is_focused` where a topic is looked for."""
        exclusion_sql = f" AND url_id NOT IN ({','.join(map(str, map(int, excluded_ids)))})" if excluded_ids else ""
        # Numbers alone, so no text of anyone's: SQLAlchemy would compile the list of ids anew for each question.
        sql = (
            f"SELECT {ENTRY_COLUMNS} FROM urls WHERE queue = {int(queue)} AND due_at <= {float(due_before)!r}{exclusion_sql} "
            f"AND {host_filter_sql(self._hosts)} ORDER BY {due_order_sql(due_before, is_focused)} LIMIT {int(limit)}"
        )
        with self._database.read() as connection:
            return [frontier_entry_from_row(row) for row in connection.exec_driver_sql(sql)]

    def clamp_future_visits(self, now: float) -> int:
        """Make due what was visited after `now`: the clock was ahead then. Returns how many URLs."""
        is_in_future = (urls.c.visited_at > now) & urls.c.due_at.is_not(None)
        with self._database.write() as connection:
            return connection.execute(update(urls).where(is_in_future).values(due_at=now, visited_at=now)).rowcount

    def find_entries(self, urls_to_find: Sequence[str]) -> dict[str, FrontierEntry]:
        """The known ones among `urls_to_find` (canonical URLs)."""
        entry_by_url: dict[str, FrontierEntry] = {}
        with self._database.read() as connection:
            for batch in batched(urls_to_find, MAX_SQL_PARAMETERS):
                query = select(urls).where(urls.c.url.in_(batch))
                entry_by_url.update((row.url, frontier_entry_from_row(row)) for row in connection.execute(query))
        return entry_by_url

    def last_visits(self, urls_to_find: Sequence[str]) -> dict[str, LastVisit]:
        """When each of the known ones among `urls_to_find` was visited and is due."""
        visit_by_url: dict[str, LastVisit] = {}
        columns = (urls.c.url, urls.c.visited_at, urls.c.due_at, urls.c.attempts, urls.c.kind)
        with self._database.read() as connection:
            for batch in batched(urls_to_find, MAX_SQL_PARAMETERS):
                for row in connection.execute(select(*columns).where(urls.c.url.in_(batch))):
                    can_postpone = row.attempts == 0 and row.kind not in (UrlKind.SEED, UrlKind.HUB)
                    visit_by_url[row.url] = LastVisit(row.visited_at, row.due_at, row.attempts, can_postpone)
        return visit_by_url

    def archived_urls_not_due(self, origin: Origin, now: float) -> list[str]:
        """URLs of an origin whose page is kept, that are not due yet, and that were last seen a while ago: longer
        than an eighth of their interval (of a new article, that is less than a day)."""
        is_at_origin = (urls.c.url >= f"{origin}/") & (
            urls.c.url < f"{origin}0"
        )  # "0" is what follows "/": by the index
        is_revisitable = (urls.c.due_at > now) & (urls.c.digest != "") & (urls.c.visited_at + urls.c.gap / 8 <= now)
        with self._database.read() as connection:
            return list(connection.scalars(select(urls.c.url).where(is_at_origin, is_revisitable)))

    def reschedule(self, due_at_by_url: Mapping[str, float]) -> None:
        """Set when URLs are due (epoch seconds)."""
        if due_at_by_url:
            with self._database.write() as connection:
                connection.execute(
                    RESCHEDULE_STATEMENT, [{"address": url, "due": due_at} for url, due_at in due_at_by_url.items()]
                )

    def known_urls(self, urls_to_find: Sequence[str]) -> set[str]:
        """The exact seen test: which of `urls_to_find` were ever added."""
        known_urls: set[str] = set()
        with self._database.read() as connection:
            for batch in batched(urls_to_find, MAX_SQL_PARAMETERS):
                query = select(urls.c.url).where(urls.c.url.in_(batch))
                known_urls.update(connection.scalars(query))
        return known_urls

    def iter_urls(self) -> Iterator[str]:
        """Every URL, a page of rows at a time (memory stays bounded)."""
        last_url_id = 0
        while True:
            query = (
                select(urls.c.url_id, urls.c.url)
                .where(urls.c.url_id > last_url_id)
                .order_by(urls.c.url_id)
                .limit(MAX_SQL_PARAMETERS)
            )
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from (row.url for row in rows)
            last_url_id = rows[-1].url_id

    def url_count(self) -> int:
        """How many URLs are known."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(urls)) or 0

    def record_visits(self, visits: Sequence[Visit]) -> None:
        """Keep what visits led to: WARC records first, then everything else in one transaction."""
        if not visits:
            return
        with translate_errors():
            pointers = [self._archive.append_page(visit.page) if visit.page else None for visit in visits]
        with self._database.write() as connection:
            visits, pointers_to_save = self._without_lost_leases(connection, visits, pointers)
            if not visits:
                return
            connection.execute(RECORD_VISIT_STATEMENT, [visit_params(visit) for visit in visits])
            self._save_pages(connection, visits, pointers_to_save)
            write_outcomes(
                self._database,
                connection,
                [OutcomeRow(v.entry.url_id, Stage.CRAWL, v.outcome, v.visited_at) for v in visits],
            )
            for visit in visits:
                if visit.is_gone:
                    remove_page(self._database, connection, visit.entry.url_id, visit.visited_at)
            self._add(connection, [link for visit in visits for link in visit.discovered_urls])
            focused_decisions = [
                (v.entry.url_id, v.focused_decision, v.visited_at) for v in visits if v.focused_decision is not None
            ]
            if focused_decisions:
                write_focused_decisions(self._database, connection, focused_decisions)

    def _without_lost_leases(
        self, connection: Connection, visits: Sequence[Visit], pointers: Sequence[WarcPointer | None]
    ) -> tuple[Sequence[Visit], Sequence[WarcPointer | None]]:
        """What of it may be kept: not what another crawler does now, which has taken over the host."""
        if self._lease_for_queue is None:
            return visits, pointers
        visit_leases = [self._lease_for_queue(visit.entry.queue) for visit in visits]
        held_leases = still_held(connection, [lease for lease in set(visit_leases) if lease is not None])
        retained_positions = [position for position, lease in enumerate(visit_leases) if lease in held_leases]
        return [visits[position] for position in retained_positions], [
            pointers[position] for position in retained_positions
        ]

    def _save_pages(
        self, connection: Connection, visits: Sequence[Visit], pointers: Sequence[WarcPointer | None]
    ) -> None:
        archived_pages = [
            (v, v.page, p) for v, p in zip(visits, pointers, strict=True) if v.page is not None and p is not None
        ]
        rows = [page_row(visit.entry.url_id, page, pointer) for visit, page, pointer in archived_pages]
        self._database.upsert(
            connection, pages, rows, update_columns=[c.name for c in pages.columns if not c.primary_key]
        )
        validators = [validator_params(visit) for visit in visits if visit.page or visit.etag or visit.last_modified]
        if validators:
            connection.execute(UPDATE_VALIDATORS_STATEMENT, validators)

    def export_warc(self, url_pattern: str, target: Path) -> int:
        """Write the pages kept of a part (see `FrontierAdmin`) into one new WARC file; how many."""
        return self._archive.export_records(self.admin.iter_archived_pages(url_pattern), target)

    def find_robots(self, origin: Origin) -> StoredRobots | None:
        """robots.txt of `origin` as last fetched, if ever."""
        with self._database.read() as connection:
            row = connection.execute(select(robots_files).where(robots_files.c.origin == origin)).first()
        return StoredRobots(row.origin, row.status, row.body, row.fetched_at) if row else None

    def save_robots(self, robots: StoredRobots) -> None:
        """Keep robots.txt of an origin in place of an earlier one."""
        row = {
            "origin": robots.origin,
            "status": robots.status,
            "body": robots.body,
            "fetched_at": robots.fetched_at,
        }
        with self._database.write() as connection:
            self._database.upsert(connection, robots_files, [row], update_columns=("status", "body", "fetched_at"))

    def reassign_queues(self, policy_name: str, queue_for_url: Callable[[str], int]) -> int:
        """Put every URL into the queue that `queue_for_url` names, if `policy_name` is not the one used so far.

        Returns how many URLs moved. Interrupted, it starts over on the next call.
        """
        return reassign_queues(self._database, policy_name, queue_for_url)

    def discount_spurious_changes(self, next_interval: Callable[[float], float]) -> int:
        """Take visits for unchanged ones where the bytes were new and the article was not; returns how many.

        `next_interval` gives the interval that a visit without a change would have led to, by the one that it led to.
        """
        return discount_spurious_changes(self._database, next_interval)


@contextmanager
def open_frontier(
    url: str, warc_folder: Path, hosts: Sequence[str] = (), object_store_url: str = ""
) -> Iterator[FrontierTable]:
    """The frontier of a store that is open elsewhere too; `hosts` as in `FrontierTable.restrict_to_hosts`."""
    with closing(Database(url)) as database, WarcArchive(warc_folder, object_store_url=object_store_url) as archive:
        table = FrontierTable(database, archive)
        table.restrict_to_hosts(hosts)
        yield table


ENTRY_COLUMNS = ", ".join(f"urls.{name}" for name in FrontierEntry.__dataclass_fields__)
RECORD_VISIT_STATEMENT = (
    update(urls)
    .where(urls.c.url_id == bindparam("key"))
    .values(
        due_at=bindparam("due"),
        gap=bindparam("new_gap"),
        attempts=bindparam("tries"),
        visited_at=bindparam("at"),
    )
)
RESCHEDULE_STATEMENT = update(urls).where(urls.c.url == bindparam("address")).values(due_at=bindparam("due"))
UPDATE_VALIDATORS_STATEMENT = (
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
        "anchor": sanitize_text(entry.anchor)[:300],
        "context": sanitize_text(entry.context)[:500],
        "found_at": now,
    }


def visit_params(visit: Visit) -> dict[str, Any]:
    """What a visit changes in its `urls` row."""
    timing = {"due": visit.next_visit_at, "new_gap": visit.revisit_seconds, "at": visit.visited_at}
    return {"key": visit.entry.url_id, **timing, "tries": visit.failed_attempts}


def validator_params(visit: Visit) -> dict[str, Any]:
    """The validators to send with the next request: of the page kept now, or new ones for the one kept before."""
    validators_source, digest = visit.page or visit, visit.page.digest if visit.page else visit.entry.digest
    validators = {
        "etag": sanitize_text(validators_source.etag),
        "last_modified": sanitize_text(validators_source.last_modified),
    }
    return {"key": visit.entry.url_id, **validators, "digest": digest}


def page_row(url_id: int, page: Page, pointer: WarcPointer) -> dict[str, Any]:
    """The `pages` row of a kept answer."""
    return {
        "url_id": url_id,
        "final_url": sanitize_text(page.final_url),
        "status": page.status,
        "content_type": sanitize_text(page.content_type)[:200],
        "digest": page.digest,
        "fetched_at": page.fetched_at,
        "warc_file": pointer.file_name,
        "warc_offset": pointer.offset,
        "warc_length": pointer.length,
    }


def frontier_entry_from_row(row: Row[Any]) -> FrontierEntry:
    """The frontier entry in a `urls` row."""
    return FrontierEntry(
        url_id=row.url_id,
        url=row.url,
        host=row.host,
        queue=row.queue,
        depth=row.depth,
        kind=UrlKind(row.kind),
        priority=row.priority,
        etag=row.etag,
        last_modified=row.last_modified,
        digest=row.digest,
        gap=row.gap,
        attempts=row.attempts,
    )
