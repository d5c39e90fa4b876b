"""Progress display of long tasks: bars on a terminal, regular lines of text or JSON elsewhere, or no output."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, Protocol

from rich.console import Console
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from pipeline.crawl_stage.crawl_progress import LINE_INTERVAL_SECONDS, line_reporter, progress_table

if TYPE_CHECKING:
    from crawler.progress import CrawlProgress

Advance = Callable[[int], None]
ReportCrawl = Callable[["CrawlProgress"], None]


class Progress(Protocol):
    """Interface through which the stages report progress."""

    def task(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Start a task of `total` steps (None: unknown). The context yields a function that advances it by n steps."""

    def crawl_task(self) -> AbstractContextManager[ReportCrawl]:
        """Start a crawl. The context yields a function that receives its progress, several times per second."""

    def note(self, text: str) -> None:
        """Print one line of text."""


class NullProgress:
    """Implementation of `Progress` without output."""

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Yield a function that notes the progress of a long task, at most once every `LINE_INTERVAL_SECONDS`."""
        finished_count, noted_at = 0, time.monotonic()

        def advance(steps: int) -> None:
            nonlocal finished_count, noted_at
            finished_count += steps
            if time.monotonic() - noted_at >= LINE_INTERVAL_SECONDS:
                noted_at = time.monotonic()
                self.note(f"{label}: {finished_count}" if total is None else f"{label}: {finished_count} of {total}")

        yield advance

    @contextmanager
    def crawl_task(self) -> Iterator[ReportCrawl]:
        """Yield a function that notes the progress, at most once every `LINE_INTERVAL_SECONDS`."""
        yield line_reporter(self.note)

    def note(self, text: str) -> None:
        """Discard the text without output."""


class JsonLineProgress(NullProgress):
    """Print each note as one line with a JSON object, for programs that read logs."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def note(self, text: str) -> None:
        """Print one JSON line with event, level and timestamp."""
        event = {"event": text, "level": "info", "timestamp": datetime.now().isoformat(timespec="microseconds")}
        print(json.dumps(event, ensure_ascii=False), file=self._out, flush=True)


class TerminalProgress(NullProgress):
    """Bars on a terminal; lines if the console is not a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        if not self._console.is_terminal:
            with super().task(label, total) as advance:
                yield advance
            return
        columns = (
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(show_speed=True),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with RichProgress(*columns, console=self._console, transient=True) as progress:
            task_id = progress.add_task(label, total=total)
            yield lambda steps: progress.advance(task_id, steps)

    @contextmanager
    def crawl_task(self) -> Iterator[ReportCrawl]:
        """Show a live table of the hosts and remove it at the end; lines if the console is not a terminal."""
        if not self._console.is_terminal:
            with super().crawl_task() as report:
                yield report
            return
        last_progress: CrawlProgress | None = None
        with Live(console=self._console, transient=True, refresh_per_second=2) as live:

            def show(current: "CrawlProgress") -> None:
                nonlocal last_progress
                if current.hosts or not (last_progress and last_progress.hosts):  # not every report has the hosts
                    live.update(progress_table(current, last_progress))
                    last_progress = current

            yield show

    def note(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
