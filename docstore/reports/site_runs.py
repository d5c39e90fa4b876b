"""What each run did at each site: outcomes by host, stage and reason, counted once when the run has ended.

The store keeps the last outcome of a URL only; here is what lets one night be compared with those before it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Integer, case, cast, delete, func, literal, or_, select

from docstore.database import Database
from docstore.model import Reason, Stage
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import outcomes, urls
from docstore.schema.operation_tables import runs, site_runs

CERTIFICATE_ERROR = "certificate"  # in place of `unreachable`: the site answered with a certificate that is not valid
CERTIFICATE_ERROR_LIKE = "%certificate verify failed%"  # how OpenSSL says it
MAX_STORED_RUNS = 60
MAX_HOSTS = 2000  # of one run, those with the most outcomes
SECONDS_PER_DAY = 86_400
COUNTED_STAGES = (Stage.CRAWL, Stage.EXTRACT)

ReasonCounts = Mapping[str, int]


@dataclass(frozen=True)
class SiteRun:
    """One run at one site: how many URLs ended how in crawl and extract, by the codes of `Reason` and CERTIFICATE.

    `started_at` (epoch seconds) and `run_id` are those of the run.
    """

    run_id: int
    started_at: float
    crawl_counts: ReasonCounts = field(default_factory=dict)
    extract_counts: ReasonCounts = field(default_factory=dict)


@dataclass(frozen=True)
class SiteArticles:
    """The articles of a host: how many, when the URL of the newest was found (epoch seconds), on how many days any."""

    article_count: int
    newest_found_at: float
    days_with_articles: int


class SiteRunTable:
    """`store.site_runs`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_run(self, run_id: int) -> None:
        """Count what URLs came to since this run began, as what it did; runs long past are forgotten.

        Counting a run again replaces what was counted.
        """
        with self._database.snapshot() as connection:
            started_at = connection.scalar(select(runs.c.started_at).where(runs.c.run_id == run_id)) or 0.0
            rows = limit_to_largest_hosts(count_outcomes_since(connection, started_at), MAX_HOSTS)
        run = {"run_id": run_id, "started_at": started_at}
        is_replaced_or_expired = or_(site_runs.c.run_id == run_id, site_runs.c.run_id <= run_id - MAX_STORED_RUNS)
        with self._database.write() as connection:
            connection.execute(delete(site_runs).where(is_replaced_or_expired))
            if rows:
                count_rows = [dict(zip(("host", "stage", "reason", "urls"), row, strict=True)) for row in rows]
                connection.execute(site_runs.insert(), [run | row for row in count_rows])

    def runs_by_host(self, host: str | None = None) -> dict[str, list[SiteRun]]:
        """Host (or this one alone) -> its runs, newest first. A run that did not ask a host is not among its runs."""
        query = select(site_runs).order_by(site_runs.c.host, site_runs.c.run_id.desc())
        if host is not None:
            query = query.where(site_runs.c.host == host)
        runs_by_host: dict[str, dict[int, tuple[float, dict[str, dict[str, int]]]]] = {}
        with self._database.snapshot() as connection:
            for row in connection.execute(query):
                host_runs = runs_by_host.setdefault(row.host, {})
                _, counts = host_runs.setdefault(row.run_id, (row.started_at, {stage: {} for stage in COUNTED_STAGES}))
                counts[row.stage][row.reason] = row.urls
        return {
            host_name: [
                SiteRun(run_id, started_at, counts[Stage.CRAWL], counts[Stage.EXTRACT])
                for run_id, (started_at, counts) in host_runs.items()
            ]
            for host_name, host_runs in runs_by_host.items()
        }

    def articles_by_host(self, hosts: Sequence[str] | None = None) -> dict[str, SiteArticles]:
        """Host (of those named, or all) -> its articles."""
        day = cast(urls.c.found_at / SECONDS_PER_DAY, Integer)
        query = (
            select(urls.c.host, func.count(), func.max(urls.c.found_at), func.count(day.distinct()))
            .join(articles, articles.c.url_id == urls.c.url_id)
            .group_by(urls.c.host)
        )
        if hosts is not None:
            query = query.where(urls.c.host.in_(hosts))
        with self._database.snapshot() as connection:
            return {row[0]: SiteArticles(int(row[1]), float(row[2]), int(row[3])) for row in connection.execute(query)}


def count_outcomes_since(connection: Connection, since: float) -> list[tuple[str, str, str, int]]:
    """(host, stage, reason, count) of the URLs that came to something since `since` (epoch seconds)."""
    bad_certificate = (outcomes.c.reason == Reason.UNREACHABLE) & outcomes.c.detail.like(CERTIFICATE_ERROR_LIKE)
    code = case((bad_certificate, literal(CERTIFICATE_ERROR)), else_=outcomes.c.reason).label("code")
    query = (
        select(urls.c.host, outcomes.c.stage, code, func.count())
        .join(urls, urls.c.url_id == outcomes.c.url_id)
        .where(outcomes.c.at >= since, outcomes.c.stage.in_(COUNTED_STAGES))
        .group_by(urls.c.host, outcomes.c.stage, code)
    )
    return [(row[0], row[1], row[2], int(row[3])) for row in connection.execute(query)]


def limit_to_largest_hosts(
    rows: Iterable[tuple[str, str, str, int]], max_hosts: int
) -> list[tuple[str, str, str, int]]:
    """The rows (host, stage, reason, count) of the `max_hosts` hosts with the highest counts."""
    row_list = list(rows)
    totals: dict[str, int] = {}
    for host, _, _, count in row_list:
        totals[host] = totals.get(host, 0) + count
    largest_hosts = set(sorted(totals, key=lambda host: (-totals[host], host))[:max_hosts])
    return [row for row in row_list if row[0] in largest_hosts]
