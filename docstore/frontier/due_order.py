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

from docstore.model import FrontierEntry, Host, UrlKind
from docstore.schema.crawl_tables import urls

_IS_SEED_OR_HUB = f"kind IN ('{UrlKind.SEED.value}', '{UrlKind.HUB.value}')"
_HOST_PATTERN = re.compile(r"[A-Za-z0-9_.:\[\]-]+")
_IS_DUE_EARLY = "attempts = 0 AND due_at < visited_at + gap - 1"  # a second: times are floats
_IS_OFF_TOPIC = "digest = '' AND gap > 0 AND attempts = 0"


def is_off_topic(entry: FrontierEntry) -> bool:
    """Fetched, answered and not kept; a seed or list is asked all the same."""
    return entry.kind not in (UrlKind.SEED, UrlKind.HUB) and not entry.digest and entry.gap > 0 and not entry.attempts


def due_order_sql(due_before: float, is_focused: bool = False) -> str:
    """The ORDER BY of due URLs, for a run that began at `due_before`. Numbers alone, so no text of anyone's."""
    overdue = f"({float(due_before)!r} - visited_at) / (CASE WHEN gap > 1 THEN gap ELSE 1 END)"
    if is_focused:
        return (
            f"CASE WHEN {_IS_SEED_OR_HUB} THEN 0 WHEN {_IS_OFF_TOPIC} THEN 3 WHEN {_IS_DUE_EARLY} THEN 1 ELSE 2 END, "
            f"CASE WHEN {_IS_OFF_TOPIC} AND NOT {_IS_SEED_OR_HUB} THEN {overdue} ELSE priority END DESC, url_id"
        )
    return (
        f"CASE WHEN {_IS_SEED_OR_HUB} THEN 0 WHEN visited_at IS NULL THEN 1 WHEN {_IS_DUE_EARLY} THEN 2 ELSE 3 END, "
        f"CASE WHEN visited_at IS NULL OR {_IS_SEED_OR_HUB} THEN priority ELSE {overdue} END DESC, url_id"
    )


def host_filter_sql(hosts: Iterable[str]) -> str:
    """The condition that a URL is at one of these hosts (none: at any), as SQL. ValueError for what is no host."""
    host_list = list(hosts)
    if invalid_hosts := [host for host in host_list if not _HOST_PATTERN.fullmatch(host)]:
        raise ValueError(f"not a host: {invalid_hosts[0]!r}")  # it would stand in a statement
    return f"host IN ({', '.join(repr(host) for host in host_list)})" if host_list else "1 = 1"


def due_counts_by_host_and_queue(connection: Connection, due_before: float) -> dict[tuple[Host, int], int]:
    """(host, queue) -> how many of its URLs are due."""
    query = select(urls.c.host, urls.c.queue, func.count()).where(urls.c.due_at <= due_before)
    return {(row[0], row[1]): row[2] for row in connection.execute(query.group_by(urls.c.host, urls.c.queue))}


def change_rates_by_host(connection: Connection) -> dict[Host, tuple[float, int]]:
    """Host -> the sum of the rates of change of its articles (one by the interval, a second), and of how many."""
    has_change_rate = (urls.c.gap > 0) & (urls.c.digest != "") & urls.c.kind.not_in((UrlKind.SEED, UrlKind.HUB))
    query = select(urls.c.host, func.sum(1.0 / urls.c.gap), func.count()).where(has_change_rate).group_by(urls.c.host)
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


def backlog_by_host(connection: Connection, due_before: float) -> list[HostBacklog]:
    """Of each host, those with most URLs first."""
    is_list = urls.c.kind.in_((UrlKind.SEED, UrlKind.HUB))
    due = urls.c.due_at <= due_before

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
