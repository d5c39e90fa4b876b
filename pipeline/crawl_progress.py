"""How far a crawl is, for a person: pages a second, hosts at work, what is left in all and how long that takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crawler.progress import CrawlProgress
from pipeline.progress import Progress as Bars

LINE_INTERVAL_SECONDS = 60.0  # seconds between two lines, where there is no terminal
_SECONDS_PER_HOUR = 3600.0


def format_progress(current: CrawlProgress, previous: CrawlProgress | None = None) -> str:
    """In a line. The rate is that since `previous`, without one that of the whole run."""
    seconds = current.elapsed_seconds - (previous.elapsed_seconds if previous else 0.0)
    rate = (current.visits - (previous.visits if previous else 0)) / max(seconds, 0.001)
    hosts = f"{current.active_hosts} host{'s' * (current.active_hosts != 1)} at work"
    return (
        f"{current.visits} done, {rate:.1f} pages/s, {hosts}, {current.backlog} left{format_time_left(current, rate)}"
    )


def format_time_left(current: CrawlProgress, rate: float) -> str:
    """What is left by the rate, or by the slowest host at its gap, whichever is longer; "" if that is not known."""
    if not current.backlog or not rate:
        return ""
    seconds = max(current.backlog / rate, current.slowest_host_seconds)
    return f", about {seconds / 60:.0f} min" if seconds < 2 * _SECONDS_PER_HOUR else f", about {seconds / 3600:.1f} h"


def line_reporter(
    report_progress: Callable[[str], None], interval_seconds: float = LINE_INTERVAL_SECONDS
) -> Callable[[CrawlProgress], None]:
    """Tell it by a line every so many seconds of the run."""
    previous = CrawlProgress({}, 0, 0, 0.0)

    def report(now: CrawlProgress) -> None:
        nonlocal previous
        if now.elapsed_seconds - previous.elapsed_seconds >= interval_seconds:
            report_progress(f"crawl: {format_progress(now, previous)}")
            previous = now

    return report


@contextmanager
def show_crawl_progress(bars: Bars) -> Iterator[Callable[[CrawlProgress], None]]:
    """As a bar of what is done in all there is to do, or where there is no terminal by lines."""
    with bars.crawl_task() as bar:
        report_line = line_reporter(bars.note)

        def report(now: CrawlProgress) -> None:
            if bar is None:
                report_line(now)
            else:
                bar(format_progress(now), now.visits, now.visits + now.backlog)

        yield report
