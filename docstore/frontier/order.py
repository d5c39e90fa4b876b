"""In which order due URLs of a queue are asked, and how many are due and how often they change at each host.

seeds and lists      they tell of new pages
never fetched        by priority, then in the order in which they were found
fetched before       by what a visit is worth: first those that are said to have changed (due before their
                     interval is over: by a sitemap, or the operator), then the longest overdue by their interval

Where a topic is looked for, URLs never fetched are without end, and most lead off it (`by_promise`):

seeds and lists      as above
said to have changed pages that are kept
by promise           never fetched, and kept pages that are due: a change on topic is worth as much as a new page
off topic            last, the longest overdue first
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, case, func, select

from docstore.model import FrontierEntry, Host, Kind
from docstore.schema.crawl_tables import urls

_SEEDS_AND_LISTS = f"kind IN ('{Kind.SEED.value}', '{Kind.HUB.value}')"
_HOST = re.compile(r"[A-Za-z0-9_.:\[\]-]+")
_SOONER = "attempts = 0 AND due_at < visited_at + gap - 1"  # a second: times are floats
_OFF_TOPIC = "digest = '' AND gap > 0 AND attempts = 0"


def is_off_topic(entry: FrontierEntry) -> bool:
    """Fetched, answered and not kept; a seed or list is asked all the same."""
    return entry.kind not in (Kind.SEED, Kind.HUB) and not entry.digest and entry.gap > 0 and not entry.attempts


def due_order(before: float, by_promise: bool = False) -> str:
    """The ORDER BY of due URLs, for a run that began at `before`. Numbers alone, so no text of anyone's."""
    overdue = f"({float(before)!r} - visited_at) / (CASE WHEN gap > 1 THEN gap ELSE 1 END)"
    if by_promise:
        return (
            f"CASE WHEN {_SEEDS_AND_LISTS} THEN 0 WHEN {_OFF_TOPIC} THEN 3 WHEN {_SOONER} THEN 1 ELSE 2 END, "
            f"CASE WHEN {_OFF_TOPIC} AND NOT {_SEEDS_AND_LISTS} THEN {overdue} ELSE priority END DESC, url_id"
        )
    return (
        f"CASE WHEN {_SEEDS_AND_LISTS} THEN 0 WHEN visited_at IS NULL THEN 1 WHEN {_SOONER} THEN 2 ELSE 3 END, "
        f"CASE WHEN visited_at IS NULL OR {_SEEDS_AND_LISTS} THEN priority ELSE {overdue} END DESC, url_id"
    )


def at_hosts(hosts: Iterable[str]) -> str:
    """The condition that a URL is at one of these hosts (none: at any), as SQL. ValueError for what is no host."""
    listed = list(hosts)
    if bad := [host for host in listed if not _HOST.fullmatch(host)]:
        raise ValueError(f"not a host: {bad[0]!r}")  # it would stand in a statement
    return f"host IN ({', '.join(repr(host) for host in listed)})" if listed else "1 = 1"


def due_at_hosts(connection: Connection, before: float) -> dict[tuple[Host, int], int]:
    """(host, queue) -> how many of its URLs are due."""
    query = select(urls.c.host, urls.c.queue, func.count()).where(urls.c.due_at <= before)
    return {(row[0], row[1]): row[2] for row in connection.execute(query.group_by(urls.c.host, urls.c.queue))}


def change_rates(connection: Connection) -> dict[Host, tuple[float, int]]:
    """Host -> the sum of the rates of change of its articles (one by the interval, a second), and of how many."""
    kept = (urls.c.gap > 0) & (urls.c.digest != "") & urls.c.kind.not_in((Kind.SEED, Kind.HUB))
    query = select(urls.c.host, func.sum(1.0 / urls.c.gap), func.count()).where(kept).group_by(urls.c.host)
    with_gap = query.where(urls.c.visited_at.is_not(None))
    return {row[0]: (float(row[1]), row[2]) for row in connection.execute(with_gap)}


@dataclass(frozen=True)
class HostBacklog:
    """What a host has for the next run: URLs known, never fetched, seeds and lists that are due, others that are due
    again."""

    host: Host
    known: int
    new: int
    lists: int
    due: int


def backlog(connection: Connection, before: float) -> list[HostBacklog]:
    """Of each host, those with most URLs first."""
    is_list = urls.c.kind.in_((Kind.SEED, Kind.HUB))
    due = urls.c.due_at <= before

    def count(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((condition, 1), else_=0))

    columns = (
        urls.c.host,
        func.count(),
        count(due & urls.c.visited_at.is_(None) & ~is_list),
        count(due & is_list),
        count(due & urls.c.visited_at.is_not(None) & ~is_list),
    )
    query = select(*columns).group_by(urls.c.host).order_by(func.count().desc(), urls.c.host)
    return [HostBacklog(row[0], *(int(number) for number in row[1:])) for row in connection.execute(query)]
