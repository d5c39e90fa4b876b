"""Order of due URLs within a queue, and counts of due URLs by host.

    1. seeds and lists            they link to new pages
    2. never fetched              by priority, then in order of discovery
    3. reported as changed        due before their interval ended: by a sitemap or the administrator
    4. other fetched URLs         the longest overdue first, relative to their interval

A focused crawl (`is_focused`) discovers more URLs than it can fetch, and most lead off topic. Its order is:

    1. seeds and lists            as above
    2. reported as changed        only stored pages
    3. new URLs, stored pages     by priority: a change of a page on topic is worth as much as a new page
    4. off-topic pages            the longest overdue first
"""

import re
from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, case, func, select

from docstore.schema.crawl_tables import urls
from domain.frontier import HostBacklog, UrlKind

IS_DUE_EARLY = "(attempts = 0 AND due_at < visited_at + gap - 1)"  # 1 s tolerance for float times
_IS_SEED_OR_HUB = f"kind IN ('{UrlKind.SEED.value}', '{UrlKind.HUB.value}')"
_HOST_PATTERN = re.compile(r"[A-Za-z0-9_.:\[\]-]+")
_IS_OFF_TOPIC = "digest = '' AND gap > 0 AND attempts = 0"


def due_order_sql(due_before: float, is_focused: bool = False) -> str:
    """Return the SQL ORDER BY expression for due URLs.

    Interpolates only numbers and constants, so SQL injection is impossible.

    Args:
        due_before: Start of the run in epoch seconds.
        is_focused: Use the order of a focused crawl.
    """
    overdue = f"({float(due_before)!r} - visited_at) / (CASE WHEN gap > 1 THEN gap ELSE 1 END)"
    if is_focused:
        return (
            f"CASE WHEN {_IS_SEED_OR_HUB} THEN 0 WHEN {_IS_OFF_TOPIC} THEN 3 WHEN {IS_DUE_EARLY} THEN 1 ELSE 2 END, "
            f"CASE WHEN {_IS_OFF_TOPIC} AND NOT {_IS_SEED_OR_HUB} THEN {overdue} ELSE priority END DESC, url_id"
        )
    return (
        f"CASE WHEN {_IS_SEED_OR_HUB} THEN 0 WHEN visited_at IS NULL THEN 1 WHEN {IS_DUE_EARLY} THEN 2 ELSE 3 END, "
        f"CASE WHEN visited_at IS NULL OR {_IS_SEED_OR_HUB} THEN priority ELSE {overdue} END DESC, url_id"
    )


def host_filter_sql(hosts: Iterable[str]) -> str:
    """Return an SQL condition that restricts URLs to `hosts`; always true if `hosts` is empty.

    Raises:
        ValueError: An element is not a host name.
    """
    host_list = quoted_hosts(hosts)
    return f"host IN ({host_list})" if host_list else "1 = 1"


def host_exclusion_sql(hosts: Iterable[str]) -> str:
    """Return an SQL condition that excludes the URLs of `hosts`; always true if `hosts` is empty.

    Raises:
        ValueError: An element is not a host name.
    """
    host_list = quoted_hosts(hosts)
    return f"host NOT IN ({host_list})" if host_list else "1 = 1"


def quoted_hosts(hosts: Iterable[str]) -> str:
    """Return hosts as a list of SQL strings. Raises ValueError if an element is not a host name."""
    host_list = list(hosts)
    if invalid_hosts := [host for host in host_list if not _HOST_PATTERN.fullmatch(host)]:
        raise ValueError(f"not a host: {invalid_hosts[0]!r}")  # prevents SQL injection
    return ", ".join(repr(host) for host in host_list)


def count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """SQL expression: the number of rows that meet a condition."""
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def backlog_by_host(connection: Connection, due_before: float) -> list[HostBacklog]:
    """Return the backlog of each host, the host with the most URLs first."""
    is_list = urls.c.kind.in_((UrlKind.SEED, UrlKind.HUB))
    is_due = urls.c.due_at <= due_before
    columns = (
        urls.c.host,
        func.count(),
        count_if(is_due & urls.c.visited_at.is_(None) & ~is_list),
        count_if(is_due & is_list),
        count_if(is_due & urls.c.visited_at.is_not(None) & ~is_list),
    )
    query = select(*columns).group_by(urls.c.host).order_by(func.count().desc(), urls.c.host)
    return [HostBacklog(row[0], *(int(number) for number in row[1:])) for row in connection.execute(query)]
