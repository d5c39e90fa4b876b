"""Questions about the whole store: counts for `plumb status`, one document's path for `plumb explain`."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, case, func, or_, select, true

from docstore.database import Database
from docstore.frontier.due_order import HostBacklog, backlog_by_host
from docstore.model import Reason, Stage
from docstore.reports.url_report import UrlReport, url_report
from docstore.schema.article_tables import articles, index_changes, indexed_documents
from docstore.schema.crawl_tables import outcomes, pages, urls

MAX_SITES = 200
SAMPLES_PER_REASON = 3  # URLs of each reason that are shown


@dataclass(frozen=True)
class Freshness:
    """How far the index is behind the store. Times are epoch seconds, None where nothing has happened yet."""

    article_count: int
    indexed_count: int
    pending_count: int
    pending_since: float | None
    last_fetched_at: float | None
    last_indexed_at: float | None


@dataclass(frozen=True)
class SiteTotals:
    """One host: its URLs, those that are due, articles, how the last visit to each of its pages ended, and how many
    pages were read in part (`suspect_body`) or need their scripts (`needs_scripts`).

    `example_url` is one of its URLs, `last_visit_at` epoch seconds or None.
    """

    host: str
    example_url: str
    url_count: int
    due_count: int
    article_count: int
    last_visit_at: float | None
    outcome_counts: Mapping[Reason, int]


@dataclass(frozen=True)
class OutcomeSample:
    """A URL that ended with `reason` in `stage` at `recorded_at` (epoch seconds); `detail` says more, or is ""."""

    stage: Stage
    reason: Reason
    url: str
    detail: str
    recorded_at: float


class StatusReports:
    """`store.status`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def outcome_counts(self) -> dict[Stage, dict[Reason, int]]:
        """How many URLs ended how in each stage, by their last outcome."""
        query = select(outcomes.c.stage, outcomes.c.reason, func.count()).group_by(outcomes.c.stage, outcomes.c.reason)
        counts: dict[Stage, dict[Reason, int]] = {}
        with self._database.snapshot() as connection:
            for stage, reason, count in connection.execute(query):
                counts.setdefault(Stage(stage), {})[Reason(reason)] = count
        return counts

    def page_count(self) -> int:
        """How many pages are kept."""
        with self._database.snapshot() as connection:
            return connection.scalar(select(func.count()).select_from(pages)) or 0

    def format_counts(self) -> dict[str, int]:
        """How many articles were read from each file format, the most frequent first."""
        query = select(articles.c.format, func.count()).group_by(articles.c.format)
        with self._database.snapshot() as connection:
            return {row.format: row[1] for row in connection.execute(query.order_by(func.count().desc()))}

    def due_count(self, due_before: float) -> int:
        """How many URLs are due."""
        with self._database.snapshot() as connection:
            return connection.scalar(select(func.count()).where(urls.c.due_at <= due_before)) or 0

    def due_count_and_since(self, due_before: float) -> tuple[int, float | None]:
        """How many URLs are due, and since when (epoch seconds) the first of them: one never asked, since it was
        found."""
        due_since = case((urls.c.due_at > 0, urls.c.due_at), else_=urls.c.found_at)
        with self._database.snapshot() as connection:
            row = connection.execute(select(func.count(), func.min(due_since)).where(urls.c.due_at <= due_before)).one()
            return int(row[0]), row[1]

    def backlog_by_host(self, due_before: float) -> list[HostBacklog]:
        """What each host has for the next crawl, those with most URLs first."""
        with self._database.snapshot() as connection:
            return backlog_by_host(connection, due_before)

    def freshness(self) -> Freshness:
        """How far the index is behind."""
        with self._database.snapshot() as connection:
            pending_count, pending_since = connection.execute(select(func.count(), func.min(index_changes.c.at))).one()
            return Freshness(
                article_count=connection.scalar(select(func.count()).select_from(articles)) or 0,
                indexed_count=connection.scalar(select(func.count()).select_from(indexed_documents)) or 0,
                pending_count=pending_count,
                pending_since=pending_since,
                last_fetched_at=connection.scalar(select(func.max(pages.c.fetched_at))),
                last_indexed_at=connection.scalar(select(func.max(indexed_documents.c.indexed_at))),
            )

    def site_totals(self, limit: int = MAX_SITES) -> list[SiteTotals]:
        """The `limit` hosts with the most URLs."""
        return self._load_site_totals(limit)

    def _load_site_totals(self, limit: int, host: str | None = None) -> list[SiteTotals]:
        host_filter = urls.c.host == host if host is not None else true()
        due = func.sum(case((urls.c.due_at <= self._clock(), 1), else_=0))
        hosts = (
            select(urls.c.host, func.min(urls.c.url), func.count(), due, func.max(urls.c.visited_at))
            .where(host_filter)
            .group_by(urls.c.host)
            .order_by(func.count().desc(), urls.c.host)
            .limit(limit)
        )
        article_counts_query = (
            select(urls.c.host, func.count()).join(articles, articles.c.url_id == urls.c.url_id).where(host_filter)
        )
        with self._database.snapshot() as connection:
            with_articles = {
                row.host: int(row[1]) for row in connection.execute(article_counts_query.group_by(urls.c.host))
            }
            outcomes_of_hosts = outcomes_by_host(connection, host_filter)
            return [
                SiteTotals(
                    host,
                    example,
                    count,
                    due,
                    with_articles.get(host, 0),
                    last_visit_at,
                    outcomes_of_hosts.get(host, {}),
                )
                for host, example, count, due, last_visit_at in connection.execute(hosts)
            ]

    def find_site_totals(self, host: str) -> SiteTotals | None:
        """One host; None if none of its URLs was ever seen."""
        return next(iter(self._load_site_totals(1, host)), None)

    def outcome_samples(self, host: str, per_reason: int = SAMPLES_PER_REASON) -> list[OutcomeSample]:
        """How the last visits to the pages of a host and their extraction ended: of each reason the newest `per_reason`."""
        recency_rank = func.row_number().over(
            partition_by=(outcomes.c.stage, outcomes.c.reason), order_by=outcomes.c.at.desc()
        )
        ranked_outcomes = (
            select(
                outcomes.c.stage,
                outcomes.c.reason,
                outcomes.c.detail,
                outcomes.c.at,
                urls.c.url,
                recency_rank.label("n"),
            )
            .join(urls, urls.c.url_id == outcomes.c.url_id)
            .where(urls.c.host == host)
            .subquery()
        )
        query = (
            select(ranked_outcomes)
            .where(ranked_outcomes.c.n <= per_reason)
            .order_by(ranked_outcomes.c.stage, ranked_outcomes.c.reason, ranked_outcomes.c.n)
        )
        with self._database.snapshot() as connection:
            return [
                OutcomeSample(Stage(row.stage), Reason(row.reason), row.url, row.detail, row.at)
                for row in connection.execute(query)
            ]

    def urls_with_outcome(self, stage: Stage, reason: Reason, limit: int = 20) -> list[tuple[str, str]]:
        """Some (URL, detail) that ended with `reason` in `stage`, newest first."""
        query = (
            select(urls.c.url, outcomes.c.detail)
            .join(urls, urls.c.url_id == outcomes.c.url_id)
            .where(outcomes.c.stage == stage, outcomes.c.reason == reason)
            .order_by(outcomes.c.at.desc())
            .limit(limit)
        )
        with self._database.snapshot() as connection:
            return [(row.url, row.detail) for row in connection.execute(query)]

    def url_report(self, url: str) -> UrlReport | None:
        """Everything the store knows of a canonical URL; None if it was never seen."""
        with self._database.snapshot() as connection:
            return url_report(connection, url)


# Of extraction: what an operator can do something about, site by site.
ACTIONABLE_REASONS = (Reason.INCOMPLETE_BODY, Reason.NEEDS_JAVASCRIPT)


def outcomes_by_host(connection: Connection, host_filter: ColumnElement[bool]) -> dict[str, dict[Reason, int]]:
    """Host -> how the last visits to its pages ended, and how many of them were read in part or need scripts; of the
    hosts that are wanted."""
    query = (
        select(urls.c.host, outcomes.c.reason, func.count())
        .join(outcomes, outcomes.c.url_id == urls.c.url_id)
        .where(host_filter, or_(outcomes.c.stage == Stage.CRAWL, outcomes.c.reason.in_(ACTIONABLE_REASONS)))
        .group_by(urls.c.host, outcomes.c.reason)
    )
    counts_by_host: dict[str, dict[Reason, int]] = {}
    for host, reason, count in connection.execute(query):
        counts_by_host.setdefault(host, {})[Reason(reason)] = count
    return counts_by_host
