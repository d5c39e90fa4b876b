"""Progress of a crawl as lines and as a table: pages per second, active hosts, backlog, estimated remaining time."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.table import Table

from domain.outcome import Reason

if TYPE_CHECKING:
    from crawler.progress import CrawlProgress

LINE_INTERVAL_SECONDS = 60.0  # between two lines if there is no terminal
_MAX_HOSTS_SHOWN = 15
_SECONDS_PER_HOUR = 3600.0


def format_progress(current: "CrawlProgress", previous: "CrawlProgress | None" = None) -> str:
    """Format the progress as one line. The rate covers the time since `previous`, or the whole run if None."""
    seconds = current.elapsed_seconds - (previous.elapsed_seconds if previous else 0.0)
    rate = (current.visits - (previous.visits if previous else 0)) / max(seconds, 0.001)
    hosts = f"{current.active_hosts} host{'s' * (current.active_hosts != 1)} at work"
    return (
        f"{current.visits} done, {rate:.1f} pages/s, {hosts}, {current.backlog} left{format_time_left(current, rate)}"
    )


def format_time_left(current: "CrawlProgress", rate: float) -> str:
    """Estimate the remaining time as `, about 12 min`; "" if it is unknown.

    The estimate is the maximum of backlog / rate and the time that the slowest host needs at its delay.
    """
    if not current.backlog or not rate:
        return ""
    seconds = max(current.backlog / rate, current.slowest_host_seconds)
    return f", about {seconds / 60:.0f} min" if seconds < 2 * _SECONDS_PER_HOUR else f", about {seconds / 3600:.1f} h"


def line_reporter(
    report_progress: Callable[[str], None], interval_seconds: float = LINE_INTERVAL_SECONDS
) -> "Callable[[CrawlProgress], None]":
    """Return a function that reports the progress as a line, at most once every `interval_seconds` of the run."""
    previous: CrawlProgress | None = None

    def report(current: "CrawlProgress") -> None:
        nonlocal previous
        if current.elapsed_seconds - (previous.elapsed_seconds if previous else 0.0) >= interval_seconds:
            report_progress(f"crawl: {format_progress(current, previous)}")
            previous = current

    return report


def progress_table(progress: "CrawlProgress", before: "CrawlProgress | None") -> Table:
    """Build the live table: totals in the title, one row for each host, largest backlog first.

    Rates cover the time since `before`, or the whole run if None.
    """
    table = Table(title=format_headline(progress, before), title_justify="left")
    for name in ("host", "pages/s", "pages", "errors", "queued", "delay (s)", "response (s)"):
        table.add_column(name, justify="left" if name == "host" else "right")
    seconds = progress.elapsed_seconds - before.elapsed_seconds if before else progress.elapsed_seconds
    busiest = sorted(progress.hosts.items(), key=lambda item: -item[1].due_urls)[:_MAX_HOSTS_SHOWN]
    for host, host_progress in busiest:
        previous_host = before.hosts.get(host) if before else None
        rate = (host_progress.pages - (previous_host.pages if previous_host else 0)) / max(seconds, 0.001)
        cells = (f"{rate:.1f}", str(host_progress.pages), str(host_progress.errors), str(host_progress.due_urls))
        table.add_row(host, *cells, f"{host_progress.crawl_delay:.1f}", f"{host_progress.response_seconds:.2f}")
    if len(progress.hosts) > _MAX_HOSTS_SHOWN:
        table.caption = f"and {len(progress.hosts) - _MAX_HOSTS_SHOWN} more hosts"
    return table


def format_headline(progress: "CrawlProgress", before: "CrawlProgress | None") -> str:
    """Format the progress and the outcome counts of the crawl as one line."""
    counts = progress.counts
    failed = progress.visits - sum(counts.get(reason, 0) for reason in (Reason.FETCHED, Reason.UNCHANGED, Reason.GONE))
    return (
        f"{format_progress(progress, before)}; {counts.get(Reason.FETCHED, 0)} new or changed, "
        f"{counts.get(Reason.UNCHANGED, 0)} unchanged, {counts.get(Reason.GONE, 0)} gone, {failed} other; "
        f"{progress.urls_added} URLs found"
    )
