"""Results of each run by site: outcome counts by host, stage and reason, computed at the end of the run.

The store contains only the last outcome of a URL. These counts make it possible to compare runs.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, case, delete, func, literal, or_, select

from docstore.database import StorePart, contains_text
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import outcomes, urls
from docstore.schema.operation_tables import runs, site_runs
from domain.outcome import CERTIFICATE_ERROR, Reason, Stage
from domain.run import SiteArticles, SiteRun

CERTIFICATE_ERROR_TEXT = "certificate verify failed"  # message of OpenSSL
MAX_STORED_RUNS = 60
MAX_HOSTS = 2000  # per run: the hosts with the most outcomes
SECONDS_PER_DAY = 86_400
COUNTED_STAGES = (Stage.CRAWL, Stage.EXTRACT)


class SiteRunTable(StorePart):
    """Save and load results of runs by site (`store.site_runs`)."""

    def record_run(self, run_id: int) -> None:
        """Save the outcome counts since the start of a run, and delete those of runs older than MAX_STORED_RUNS runs.

        Repeating it for the same run replaces its counts.
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
        """Return the runs of each host, or only of `host`, newest first.

        Runs without outcomes for a host are omitted.
        """
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
        """Return the article statistics by host, for all hosts or for `hosts`."""
        day = func.floor(urls.c.found_at / SECONDS_PER_DAY)
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
    """Return (host, stage, reason, count) of the outcomes recorded since `since` (epoch seconds)."""
    bad_certificate = (outcomes.c.reason == Reason.UNREACHABLE) & contains_text(
        outcomes.c.detail, CERTIFICATE_ERROR_TEXT
    )
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
    """Return the rows (host, stage, reason, count) of the `max_hosts` hosts with the highest total counts."""
    row_list = list(rows)
    totals: dict[str, int] = {}
    for host, _, _, count in row_list:
        totals[host] = totals.get(host, 0) + count
    largest_hosts = set(sorted(totals, key=lambda host: (-totals[host], host))[:max_hosts])
    return [row for row in row_list if row[0] in largest_hosts]
