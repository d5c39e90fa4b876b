"""Progress of a crawl as text: pages per second, active hosts, backlog and estimated remaining time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crawler.progress import CrawlProgress
from pipeline.progress import LINE_INTERVAL_SECONDS
from pipeline.progress import Progress as Bars

_SECONDS_PER_HOUR = 3600.0


def format_progress(current: CrawlProgress, previous: CrawlProgress | None = None) -> str:
    """Format the progress as one line. The rate covers the time since `previous`, or the whole run if None."""
    seconds = current.elapsed_seconds - (previous.elapsed_seconds if previous else 0.0)
    rate = (current.visits - (previous.visits if previous else 0)) / max(seconds, 0.001)
    hosts = f"{current.active_hosts} host{'s' * (current.active_hosts != 1)} at work"
    return (
        f"{current.visits} done, {rate:.1f} pages/s, {hosts}, {current.backlog} left{format_time_left(current, rate)}"
    )


def format_time_left(current: CrawlProgress, rate: float) -> str:
    """Estimate the remaining time as `, about 12 min`; "" if it is unknown.

    The estimate is the maximum of backlog / rate and the time that the slowest host needs at its delay.
    """
    if not current.backlog or not rate:
        return ""
    seconds = max(current.backlog / rate, current.slowest_host_seconds)
    return f", about {seconds / 60:.0f} min" if seconds < 2 * _SECONDS_PER_HOUR else f", about {seconds / 3600:.1f} h"


def line_reporter(
    report_progress: Callable[[str], None], interval_seconds: float = LINE_INTERVAL_SECONDS
) -> Callable[[CrawlProgress], None]:
    """Return a function that reports the progress as a line, at most once every `interval_seconds` of the run."""
    previous = CrawlProgress({}, 0, 0, 0.0)

    def report(current: CrawlProgress) -> None:
        nonlocal previous
        if current.elapsed_seconds - previous.elapsed_seconds >= interval_seconds:
            report_progress(f"crawl: {format_progress(current, previous)}")
            previous = current

    return report


@contextmanager
def show_crawl_progress(bars: Bars) -> Iterator[Callable[[CrawlProgress], None]]:
    """Yield a function that shows the crawl's progress: as a bar on a terminal, otherwise as lines."""
    with bars.crawl_task() as bar:
        report_line = line_reporter(bars.note)

        def report(current: CrawlProgress) -> None:
            bars.report_crawl(current)
            if bar is None:
                report_line(current)
            else:
                bar(format_progress(current), current.visits, current.visits + current.backlog)

        yield report
