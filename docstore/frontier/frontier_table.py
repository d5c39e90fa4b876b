"""The frontier: all accepted URLs, their due dates, and the results of their visits.

NewUrl         a URL that passed the crawl's rules     crawler -> frontier
FrontierEntry  a due URL                               frontier -> crawler
Visit          all results of one fetch                crawler -> frontier, saved in one transaction
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Float, Row, bindparam, case, cast, func, literal_column, select, update

from docstore.articles.page_removal import remove_page
from docstore.bookkeeping import OutcomeRow, read_meta, write_meta, write_outcomes
from docstore.database import Database, translate_errors
from docstore.frontier.due_order import due_order_sql, host_exclusion_sql, host_filter_sql
from docstore.frontier.exclusions import DUE_NOW, is_scheduled_by_crawl
from docstore.frontier.focused_decisions import write_focused_decisions
from docstore.frontier.frontier_admin import FrontierAdmin
from docstore.frontier.spurious_changes import discount_spurious_changes
from docstore.locking.leases import lock_held_leases
from docstore.schema.administration_tables import takedowns
from docstore.schema.crawl_tables import pages, robots_files, urls
from docstore.takedowns import load_takedowns
from docstore.warc_archive import WarcArchive
from domain.batches import batched
from domain.frontier import FrontierEntry, LastVisit, NewUrl, StoredRobots, UrlExclusion, UrlKind, Visit
from domain.lease import Lease
from domain.outcome import Outcome, Reason, Stage
from domain.page import Host, Origin, Page, WarcPointer
from domain.storable_text import sanitize_text

# SQLite takes at most 32,766 parameters in a statement, PostgreSQL 65,535.
MAX_SQL_PARAMETERS = 10_000
QUEUE_POLICY_KEY = "queue_policy"  # key of the policy that assigned the queues

LeaseForQueue = Callable[[int], Lease | None]
"""Returns the lease of a queue, or None."""


class FrontierTable:
    """All accepted URLs (`store.frontier`). URLs are unique and never deleted; adding an existing URL does nothing."""

    def __init__(self, database: Database, archive: WarcArchive, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._archive = archive
        self._clock = clock
        self._hosts: tuple[str, ...] = ()
        self._excluded_hosts: tuple[str, ...] = ()
        self._lease_for_queue: LeaseForQueue | None = None

    def restrict_to_hosts(self, hosts: Sequence[str]) -> None:
        """Restrict due URLs to these hosts while this table is open; no restriction if `hosts` is empty."""
        self._hosts = tuple(hosts)

    def exclude_hosts(self, hosts: Sequence[str]) -> None:
        """Leave the URLs of these hosts out of the due URLs while this table is open. Their due times stay."""
        self._excluded_hosts = tuple(hosts)

    def use_leases(self, lease_for_queue: LeaseForQueue) -> None:
        """Save visits only while this crawler owns the lease of their queue."""
        self._lease_for_queue = lease_for_queue

    @property
    def admin(self) -> FrontierAdmin:
        """Administrator commands on this frontier."""
        return FrontierAdmin(self._database)

    @contextmanager
    def reopen(self) -> Iterator["FrontierTable"]:
        """Open this frontier again, with separate WARC files."""
        object_store_url = self._archive.object_store.url if self._archive.object_store else ""
        with (
            closing(Database(self._database.url)) as database,
            WarcArchive(self._archive.folder, self._archive.rotate_bytes, object_store_url=object_store_url) as archive,
        ):
            table = FrontierTable(database, archive)
            table.restrict_to_hosts(self._hosts)
            table.exclude_hosts(self._excluded_hosts)
            yield table

    def add_urls(self, new_urls: Sequence[NewUrl]) -> int:
        """Add URLs. Returns the number of new URLs.

        A known URL is promoted if it is added as a seed. URLs that are taken down are ignored.
        """
        with self._database.write() as connection:
            return self._add(connection, new_urls)

    def _add(self, connection: Connection, new_urls: Sequence[NewUrl]) -> int:
        now = self._clock()
        taken_down = {takedown.url for takedown in load_takedowns(connection, [entry.url for entry in new_urls])}
        new_urls = [entry for entry in new_urls if entry.url not in taken_down]
        rows = [url_row(entry, now) for entry in new_urls]
        if self._database.is_shared:  # a common order prevents deadlocks between crawlers that add the same URLs
            rows.sort(key=lambda row: str(row["url"]))
        added_count = self._database.insert_missing(connection, urls, rows)
        seeds = [entry.url for entry in new_urls if entry.kind is UrlKind.SEED]
        if seeds:
            is_seed = (urls.c.kind == UrlKind.SEED) & (urls.c.exclusion == UrlExclusion.NONE)
            may_be_due = urls.c.exclusion.not_in((UrlExclusion.BLOCKED, UrlExclusion.TAKEN_DOWN))
            statement = update(urls).where(urls.c.url.in_(seeds), ~is_seed, may_be_due)
            connection.execute(statement.values(kind=UrlKind.SEED, depth=0, **DUE_NOW))
        return added_count

    def taken_down_urls(self, since: float) -> set[str]:
        with self._database.read() as connection:
            return set(connection.scalars(select(takedowns.c.url).where(takedowns.c.at >= since)))

    def due_counts_by_queue(self, due_before: float) -> dict[int, int]:
        query = select(urls.c.queue, func.count()).where(
            urls.c.due_at <= due_before, literal_column(self._host_condition())
        )
        query = query.group_by(urls.c.queue)
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def due_counts_by_host_and_queue(self, due_before: float) -> dict[tuple[Host, int], int]:
        columns = (urls.c.host, urls.c.queue, func.count())
        query = select(*columns).where(urls.c.due_at <= due_before, literal_column(self._host_condition()))
        with self._database.read() as connection:
            rows = connection.execute(query.group_by(urls.c.host, urls.c.queue)).all()
        return {(host, queue): count for host, queue, count in rows}

    def _host_condition(self) -> str:
        """SQL condition: due URLs of the host may be fetched."""
        return f"{host_filter_sql(self._hosts)} AND {host_exclusion_sql(self._excluded_hosts)}"

    def change_rates_by_host(self) -> dict[Host, tuple[float, int]]:
        is_article = (urls.c.digest != "") & urls.c.kind.not_in((UrlKind.SEED, UrlKind.HUB))
        query = (
            select(urls.c.host, func.sum(1.0 / urls.c.gap), func.count())
            .where(is_article, urls.c.gap > 0, urls.c.visited_at.is_not(None))
            .group_by(urls.c.host)
        )
        with self._database.read() as connection:
            return {host: (float(rate), count) for host, rate, count in connection.execute(query)}

    def due_entries(
        self, queue: int, due_before: float, limit: int, excluded_ids: Collection[int] = (), is_focused: bool = False
    ) -> list[FrontierEntry]:
        exclusion_sql = f" AND url_id NOT IN ({','.join(map(str, map(int, excluded_ids)))})" if excluded_ids else ""
        # Plain SQL, because SQLAlchemy would compile the list of ids for each query. Safe: it contains only numbers.
        sql = (
            f"SELECT {', '.join(map(str, ENTRY_COLUMNS))} FROM urls WHERE queue = {int(queue)} "
            f"AND due_at <= {float(due_before)!r}{exclusion_sql} AND {self._host_condition()} "
            f"ORDER BY {due_order_sql(due_before, is_focused)} LIMIT {int(limit)}"
        )
        with self._database.read() as connection:
            return [frontier_entry_from_row(row) for row in connection.exec_driver_sql(sql)]

    def clamp_future_visits(self, now: float) -> int:
        """Reset visit times after `now`, which a wrong clock recorded, to `now`, and make these URLs due.

        Returns the number of URLs.
        """
        is_in_future = (urls.c.visited_at > now) & urls.c.due_at.is_not(None)
        with self._database.write() as connection:
            return connection.execute(update(urls).where(is_in_future).values(due_at=now, visited_at=now)).rowcount

    def find_entries(self, urls_to_find: Sequence[str]) -> dict[str, FrontierEntry]:
        """Return the entries of the known URLs among `urls_to_find` (canonical URLs), by URL."""
        entry_by_url: dict[str, FrontierEntry] = {}
        with self._database.read() as connection:
            for batch in batched(urls_to_find, MAX_SQL_PARAMETERS):
                query = select(*ENTRY_COLUMNS).where(urls.c.url.in_(batch))
                entry_by_url.update((row.url, frontier_entry_from_row(row)) for row in connection.execute(query))
        return entry_by_url

    def last_visits(self, urls_to_find: Sequence[str]) -> dict[str, LastVisit]:
        visit_by_url: dict[str, LastVisit] = {}
        columns = (urls.c.url, urls.c.visited_at, urls.c.due_at, urls.c.attempts, urls.c.kind)
        with self._database.read() as connection:
            for batch in batched(urls_to_find, MAX_SQL_PARAMETERS):
                for row in connection.execute(select(*columns).where(urls.c.url.in_(batch))):
                    can_postpone = row.attempts == 0 and row.kind not in (UrlKind.SEED, UrlKind.HUB)
                    visit_by_url[row.url] = LastVisit(row.visited_at, row.due_at, row.attempts, can_postpone)
        return visit_by_url

    def archived_urls_not_due(self, origin: Origin, now: float) -> list[str]:
        """Return URLs of an origin with a stored page that are not due but were last visited some time ago.

        List pages are left out, because few sitemaps list them.
        The minimum age is one eighth of the revisit interval; for a new article that is less than a day.
        """
        # "0" follows "/" in ASCII. The collation of the column is bytewise, and a range condition uses its index.
        is_at_origin = (urls.c.url >= f"{origin}/") & (urls.c.url < f"{origin}0")
        is_revisitable = (urls.c.due_at > now) & (urls.c.digest != "") & (urls.c.visited_at + urls.c.gap / 8 <= now)
        with self._database.read() as connection:
            is_list = urls.c.kind.in_((UrlKind.SEED, UrlKind.HUB))
            return list(connection.scalars(select(urls.c.url).where(is_at_origin, is_revisitable, ~is_list)))

    def reschedule(self, due_at_by_url: Mapping[str, float]) -> None:
        if due_at_by_url:
            with self._database.write() as connection:
                connection.execute(
                    RESCHEDULE_STATEMENT, [{"known_url": url, "due": due_at} for url, due_at in due_at_by_url.items()]
                )

    def postpone_lists(self, host: Host, seconds: float, due_before: float) -> int:
        is_new_list = (urls.c.kind == UrlKind.HUB) & (urls.c.gap == 0.0) & (urls.c.attempts == 0)
        front_pages = (f"http://{host}/", f"https://{host}/")
        is_due = (urls.c.due_at <= due_before) & (urls.c.visited_at + seconds > due_before)
        statement = update(urls).where(urls.c.host == host, is_new_list, is_due, urls.c.url.not_in(front_pages))
        with self._database.write() as connection:
            return connection.execute(statement.values(gap=seconds, due_at=urls.c.visited_at + seconds)).rowcount

    def known_urls(self, urls_to_find: Sequence[str]) -> set[str]:
        known_urls: set[str] = set()
        with self._database.read() as connection:
            for batch in batched(urls_to_find, MAX_SQL_PARAMETERS):
                query = select(urls.c.url).where(urls.c.url.in_(batch))
                known_urls.update(connection.scalars(query))
        return known_urls

    def iter_urls(self) -> Iterator[str]:
        """Iterate over all URLs. Reads in batches, so that memory stays bounded."""
        batches = self._database.iter_batches(select(urls.c.url_id, urls.c.url), urls.c.url_id, MAX_SQL_PARAMETERS)
        return (row.url for rows in batches for row in rows)

    def url_count(self) -> int:
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(urls)) or 0

    def record_visits(self, visits: Sequence[Visit]) -> None:
        """Save visits: first their WARC records, then everything else in one transaction."""
        if not visits:
            return
        with translate_errors():
            pointers = [self._archive.append_page(visit.page) if visit.page else None for visit in visits]
        with self._database.write() as connection:
            visits, pointers_to_save = self._without_lost_leases(connection, visits, pointers)
            if not visits:
                return
            visits, pointers_to_save = drop_taken_down_pages(connection, visits, pointers_to_save)
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
        """Drop the visits whose queue lease this crawler has lost. Returns the remaining visits and their pointers."""
        if self._lease_for_queue is None:
            return visits, pointers
        visit_leases = [self._lease_for_queue(visit.entry.queue) for visit in visits]
        held_leases = lock_held_leases(connection, [lease for lease in set(visit_leases) if lease is not None])
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
        self._database.upsert(connection, pages, rows)
        validators = [validator_params(visit) for visit in visits if visit.page or visit.etag or visit.last_modified]
        if validators:
            connection.execute(UPDATE_VALIDATORS_STATEMENT, validators)

    def export_warc(self, url_pattern: str, target: Path) -> int:
        """Write the stored pages that match a URL pattern (see `FrontierAdmin`) to a new WARC file.

        Returns the number of pages.
        """
        return self._archive.export_records(self.admin.iter_archived_pages(url_pattern), target)

    def find_robots(self, origin: Origin) -> StoredRobots | None:
        with self._database.read() as connection:
            row = connection.execute(select(robots_files).where(robots_files.c.origin == origin)).first()
        return StoredRobots(row.origin, row.status, row.body, row.fetched_at) if row else None

    def save_robots(self, robots: StoredRobots) -> None:
        with self._database.write() as connection:
            self._database.upsert(connection, robots_files, [asdict(robots)])

    def reassign_queues(self, policy_name: str, queue_for_url: Callable[[str], int]) -> int:
        with self._database.read() as connection:
            if read_meta(connection, QUEUE_POLICY_KEY) == policy_name:
                return 0
        moved_count = 0
        query = select(urls.c.url_id, urls.c.url, urls.c.queue)
        for rows in self._database.iter_batches(query, urls.c.url_id, MAX_SQL_PARAMETERS):
            moves = [{"key": row.url_id, "to": queue} for row in rows if (queue := queue_for_url(row.url)) != row.queue]
            if moves:
                with self._database.write() as connection:
                    connection.execute(MOVE_STATEMENT, moves)
            moved_count += len(moves)
        with self._database.write() as connection:
            write_meta(self._database, connection, QUEUE_POLICY_KEY, policy_name)
        return moved_count

    def discount_spurious_changes(self, next_interval: Callable[[float], float]) -> int:
        """Record visits as unchanged whose bytes changed but whose article did not. Returns the number of visits.

        Args:
            next_interval: Maps the current revisit interval to the interval after an unchanged visit, both in seconds.
        """
        return discount_spurious_changes(self._database, next_interval)


ENTRY_COLUMNS = tuple(urls.c[name] for name in FrontierEntry.__dataclass_fields__)
RECORD_VISIT_STATEMENT = (
    update(urls)
    .where(urls.c.url_id == bindparam("key"))
    .values(
        due_at=case((is_scheduled_by_crawl(), cast(bindparam("due"), Float)), else_=None),
        exclusion=case((is_scheduled_by_crawl(), bindparam("new_exclusion")), else_=urls.c.exclusion),
        gap=bindparam("new_gap"),
        attempts=bindparam("tries"),
        visited_at=bindparam("at"),
    )
)
MOVE_STATEMENT = update(urls).where(urls.c.url_id == bindparam("key")).values(queue=bindparam("to"))
RESCHEDULE_STATEMENT = (
    update(urls)
    .where(urls.c.url == bindparam("known_url"), urls.c.exclusion == UrlExclusion.NONE)
    .values(due_at=bindparam("due"))
)
UPDATE_VALIDATORS_STATEMENT = (
    update(urls)
    .where(urls.c.url_id == bindparam("key"))
    .values(etag=bindparam("etag"), last_modified=bindparam("last_modified"), digest=bindparam("digest"))
)


def drop_taken_down_pages(
    connection: Connection, visits: Sequence[Visit], pointers: Sequence[WarcPointer | None]
) -> tuple[Sequence[Visit], Sequence[WarcPointer | None]]:
    """Replace visits to pages that were taken down after the visit began by visits without a page."""
    visited_urls = [visit.entry.url for visit in visits] + [visit.page.final_url for visit in visits if visit.page]
    taken_down = {takedown.url for takedown in load_takedowns(connection, visited_urls)}
    if not taken_down:
        return visits, pointers
    is_dropped = [bool(taken_down & {visit.entry.url, visit.page.final_url if visit.page else ""}) for visit in visits]
    return (
        [without_page(visit) if is_down else visit for visit, is_down in zip(visits, is_dropped, strict=True)],
        [None if is_down else pointer for pointer, is_down in zip(pointers, is_dropped, strict=True)],
    )


def without_page(visit: Visit) -> Visit:
    """Return a visit to a page that is taken down."""
    return replace(
        visit,
        outcome=Outcome(Reason.TAKEN_DOWN),
        page=None,
        discovered_urls=(),
        focused_decision=None,
        etag="",
        last_modified="",
    )


def url_row(entry: NewUrl, now: float) -> dict[str, Any]:
    """Return the `urls` row of a new URL."""
    return {
        "url": entry.url,
        "host": entry.host,
        "queue": entry.queue,
        "depth": entry.depth,
        "kind": entry.kind,
        "priority": entry.priority,
        "due_at": None if entry.exclusion else 0.0,
        "exclusion": entry.exclusion,
        "parent_id": entry.parent_id,
        "anchor": sanitize_text(entry.anchor)[:300],
        "context": sanitize_text(entry.context)[:500],
        "found_at": now,
    }


def visit_params(visit: Visit) -> dict[str, Any]:
    """Return the parameters of RECORD_VISIT_STATEMENT for a visit."""
    exclusion = UrlExclusion.FINISHED if visit.next_visit_at is None else UrlExclusion.NONE
    timing = {"due": visit.next_visit_at, "new_gap": visit.revisit_seconds, "at": visit.visited_at}
    return {"key": visit.entry.url_id, **timing, "tries": visit.failed_attempts, "new_exclusion": exclusion}


def validator_params(visit: Visit) -> dict[str, Any]:
    """Return the parameters of UPDATE_VALIDATORS_STATEMENT for a visit.

    The validators belong to the new page, or they are new validators of the page stored before.
    """
    validators_source, digest = visit.page or visit, visit.page.digest if visit.page else visit.entry.digest
    validators = {
        "etag": sanitize_text(validators_source.etag),
        "last_modified": sanitize_text(validators_source.last_modified),
    }
    return {"key": visit.entry.url_id, **validators, "digest": digest}


def page_row(url_id: int, page: Page, pointer: WarcPointer) -> dict[str, Any]:
    """Return the `pages` row of a stored response."""
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
    """Convert a row with the columns ENTRY_COLUMNS to a FrontierEntry."""
    return FrontierEntry(**{**row._mapping, "kind": UrlKind(row.kind)})
