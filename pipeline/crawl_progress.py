"""How far a crawl is, for a person: pages a second, hosts at work, what is left in all and how long that takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crawler.progress import CrawlProgress
from pipeline.progress import Progress as Bars

LINE_EVERY = 60.0  # seconds between two lines, where there is no terminal
_ALMOST = 3600.0


def how_far(now: CrawlProgress, before: CrawlProgress | None = None) -> str:
    """In a line. The rate is that since `before`, without one that of the whole run."""
    seconds = now.seconds - (before.seconds if before else 0.0)
    rate = (now.done - (before.done if before else 0)) / max(seconds, 0.001)
    hosts = f"{now.at_work} host{'s' * (now.at_work != 1)} at work"
    return f"{now.done} done, {rate:.1f} pages/s, {hosts}, {now.left} left{time_left(now, rate)}"


def time_left(now: CrawlProgress, rate: float) -> str:
    """What is left by the rate, or by the slowest host at its gap, whichever is longer; "" if that is not known."""
    if not now.left or not rate:
        return ""
    seconds = max(now.left / rate, now.takes)
    return f", about {seconds / 60:.0f} min" if seconds < 2 * _ALMOST else f", about {seconds / 3600:.1f} h"


def in_lines(note: Callable[[str], None], every: float = LINE_EVERY) -> Callable[[CrawlProgress], None]:
    """Tell it by a line every so many seconds of the run."""
    before = CrawlProgress({}, 0, 0, 0.0)

    def tell(now: CrawlProgress) -> None:
        nonlocal before
        if now.seconds - before.seconds >= every:
            note(f"crawl: {how_far(now, before)}")
            before = now

    return tell


@contextmanager
def shown(bars: Bars) -> Iterator[Callable[[CrawlProgress], None]]:
    """As a bar of what is done in all there is to do, or where there is no terminal by lines."""
    with bars.crawl() as bar:
        tell_line = in_lines(bars.note)

        def tell(now: CrawlProgress) -> None:
            if bar is None:
                tell_line(now)
            else:
                bar(how_far(now), now.done, now.done + now.left)

        yield tell
