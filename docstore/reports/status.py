"""Counts for `plumb status`, results by site, and the report of one URL for `plumb explain`."""

from sqlalchemy import ColumnElement, Connection, case, func, or_, select, true

from docstore.database import StorePart
from docstore.frontier.due_order import backlog_by_host, count_if
from docstore.reports.url_report import UrlReport, url_report
from docstore.schema.article_tables import articles, index_changes, indexed_documents
from docstore.schema.crawl_tables import outcomes, pages, urls
from domain.frontier import HostBacklog, UrlExclusion
from domain.outcome import Reason, Stage
from domain.run import Freshness, OutcomeSample, SiteTotals

MAX_SITES = 200
SAMPLES_PER_REASON = 3  # example URLs per reason


class StatusReports(StorePart):
    """Load counts and reports (`store.status`)."""

    def outcome_counts(self) -> dict[Stage, dict[Reason, int]]:
        """Return the number of URLs by stage and reason of their last outcome."""
        query = select(outcomes.c.stage, outcomes.c.reason, func.count()).group_by(outcomes.c.stage, outcomes.c.reason)
        counts: dict[Stage, dict[Reason, int]] = {}
        with self._database.snapshot() as connection:
            for stage, reason, count in connection.execute(query):
                counts.setdefault(Stage(stage), {})[Reason(reason)] = count
        return counts

    def javascript_page_counts(self) -> dict[str, int]:
        """Return the number of pages without text until scripts run, of each host of which most pages are such.

        List pages do not count. They often need no script on sites whose articles need them.
        """
        needs_javascript = count_if(outcomes.c.reason == Reason.NEEDS_JAVASCRIPT)
        query = (
            select(urls.c.host, needs_javascript)
            .join(outcomes, outcomes.c.url_id == urls.c.url_id)
            .where(outcomes.c.stage == Stage.EXTRACT, outcomes.c.reason != Reason.LIST_PAGE)
            .group_by(urls.c.host)
            .having(2 * needs_javascript > func.count())
        )
        with self._database.snapshot() as connection:
            return {host: int(count) for host, count in connection.execute(query)}

    def login_page_counts(self, limit: int) -> dict[str, int]:
        """Return the number of pages that ask for a login, of the hosts with most of them, up to a number of hosts.

        Hosts where they are fewer than a tenth do not count: public sites have a few such pages, too.
        """
        needs_login = count_if(outcomes.c.reason == Reason.NEEDS_LOGIN)
        query = (
            select(urls.c.host, needs_login)
            .join(outcomes, outcomes.c.url_id == urls.c.url_id)
            .where(outcomes.c.stage == Stage.CRAWL)
            .group_by(urls.c.host)
            .having((needs_login > 0) & (10 * needs_login >= func.count()))
            .order_by(needs_login.desc(), urls.c.host)
            .limit(limit)
        )
        with self._database.snapshot() as connection:
            return {host: int(count) for host, count in connection.execute(query)}

    def url_count(self) -> int:
        """Return the number of known URLs."""
        with self._database.snapshot() as connection:
            return connection.scalar(select(func.count()).select_from(urls)) or 0

    def page_count(self) -> int:
        """Return the number of stored pages."""
        with self._database.snapshot() as connection:
            return connection.scalar(select(func.count()).select_from(pages)) or 0

    def format_counts(self) -> dict[str, int]:
        """Return the number of articles by file format, most frequent first."""
        query = select(articles.c.format, func.count()).group_by(articles.c.format)
        with self._database.snapshot() as connection:
            return {row.format: row[1] for row in connection.execute(query.order_by(func.count().desc()))}

    def due_count(self, due_before: float) -> int:
        """Return the number of due URLs."""
        with self._database.snapshot() as connection:
            return connection.scalar(select(func.count()).where(urls.c.due_at <= due_before)) or 0

    def due_count_and_since(self, due_before: float) -> tuple[int, float | None]:
        """Return the number of due URLs and the time since which the oldest is due, in epoch seconds.

        A URL that was never fetched is due since its discovery.
        """
        due_since = case((urls.c.due_at > 0, urls.c.due_at), else_=urls.c.found_at)
        with self._database.snapshot() as connection:
            row = connection.execute(select(func.count(), func.min(due_since)).where(urls.c.due_at <= due_before)).one()
            return int(row[0]), row[1]

    def backlog_by_host(self, due_before: float) -> list[HostBacklog]:
        """Return the backlog of each host, the host with the most URLs first."""
        with self._database.snapshot() as connection:
            return backlog_by_host(connection, due_before)

    def freshness(self) -> Freshness:
        """Return how far the index is behind the store."""
        with self._database.snapshot() as connection:
            pending_query = select(func.count(index_changes.c.url_id.distinct()), func.min(index_changes.c.at))
            pending_count, pending_since = connection.execute(pending_query).one()
            return Freshness(
                article_count=connection.scalar(select(func.count()).select_from(articles)) or 0,
                indexed_count=connection.scalar(select(func.count()).select_from(indexed_documents)) or 0,
                pending_count=pending_count,
                pending_since=pending_since,
                last_fetched_at=connection.scalar(select(func.max(pages.c.fetched_at))),
                last_indexed_at=connection.scalar(select(func.max(indexed_documents.c.indexed_at))),
            )

    def site_totals(self, limit: int = MAX_SITES) -> list[SiteTotals]:
        """Return the totals of the `limit` hosts with the most URLs, without the URLs of removed sites."""
        return self._load_site_totals(limit)

    def _load_site_totals(self, limit: int, host: str | None = None) -> list[SiteTotals]:
        is_removed = urls.c.exclusion == UrlExclusion.REMOVED
        host_filter = (urls.c.host == host if host is not None else true()) & ~is_removed
        due_count = count_if(urls.c.due_at <= self._clock())
        hosts_query = (
            select(urls.c.host, func.min(urls.c.url), func.count(), due_count, func.max(urls.c.visited_at))
            .where(host_filter)
            .group_by(urls.c.host)
            .order_by(func.count().desc(), urls.c.host)
            .limit(limit)
        )
        article_counts_query = (
            select(urls.c.host, func.count()).join(articles, articles.c.url_id == urls.c.url_id).where(host_filter)
        )
        with self._database.snapshot() as connection:
            article_counts = {
                row.host: int(row[1]) for row in connection.execute(article_counts_query.group_by(urls.c.host))
            }
            outcomes_of_hosts = outcomes_by_host(connection, host_filter)
            return [
                SiteTotals(
                    host,
                    example_url,
                    url_count,
                    due_count,
                    article_counts.get(host, 0),
                    last_visit_at,
                    outcomes_of_hosts.get(host, {}),
                )
                for host, example_url, url_count, due_count, last_visit_at in connection.execute(hosts_query)
            ]

    def find_site_totals(self, host: str) -> SiteTotals | None:
        """Return the totals of a host; None if it has no URLs."""
        return next(iter(self._load_site_totals(1, host)), None)

    def outcome_samples(self, host: str, per_reason: int = SAMPLES_PER_REASON) -> list[OutcomeSample]:
        """Return the newest `per_reason` URLs of a host for each stage and reason of their last outcome."""
        return self._load_samples(urls.c.host == host, per_reason)

    def outcome_samples_between(
        self, started_at: float, ended_at: float, per_reason: int = SAMPLES_PER_REASON
    ) -> list[OutcomeSample]:
        """Return the newest `per_reason` URLs whose last outcome is of this period, for each stage and reason.

        Times are epoch seconds. URLs that a later run has processed again are not among them.
        """
        return self._load_samples(outcomes.c.at.between(started_at, ended_at), per_reason)

    def _load_samples(self, condition: ColumnElement[bool], per_reason: int) -> list[OutcomeSample]:
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
            .where(condition)
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

    def url_report(self, url: str) -> UrlReport | None:
        """Return everything the store contains about a canonical URL; None if the URL is unknown."""
        with self._database.snapshot() as connection:
            return url_report(connection, url)


# Outcomes of extraction that an administrator can resolve per site.
ACTIONABLE_REASONS = (
    Reason.INCOMPLETE_BODY,
    Reason.NEEDS_JAVASCRIPT,
    Reason.NO_TEXT_LAYER,
    Reason.GARBLED_TEXT,
)


def outcomes_by_host(connection: Connection, host_filter: ColumnElement[bool]) -> dict[str, dict[Reason, int]]:
    """Return outcome counts by host and reason: all outcomes of the crawl, and ACTIONABLE_REASONS of extraction."""
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
