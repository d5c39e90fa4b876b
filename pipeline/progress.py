"""Progress display of long tasks: bars on a terminal, regular lines of text or JSON elsewhere, or no output."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

if TYPE_CHECKING:
    from crawler.progress import CrawlProgress

LINE_INTERVAL_SECONDS = 60.0  # between two lines if there is no terminal

Advance = Callable[[int], None]
ShowCrawlProgress = Callable[[str, int, int], None]


class Progress(Protocol):
    """Interface through which the stages report progress."""

    def task(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Start a task of `total` steps (None: unknown). The context yields a function that advances it by n steps."""

    def crawl_task(self) -> AbstractContextManager[ShowCrawlProgress | None]:
        """Start a task whose total grows while it runs.

        The context yields a function of (line, completed steps, total steps), or None if progress is not displayed.
        """

    def report_crawl(self, current: "CrawlProgress") -> None:
        """Receive the progress of a crawl, several times per second."""

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
    def crawl_task(self) -> Iterator[ShowCrawlProgress | None]:
        """Yield None: progress is not displayed."""
        yield None

    def report_crawl(self, current: "CrawlProgress") -> None:
        """Discard the progress: only a run records it."""

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
    def crawl_task(self) -> Iterator[ShowCrawlProgress | None]:
        """Show a line and a bar and remove them at the end. Yields None if the console is not a terminal."""
        if not self._console.is_terminal:
            yield None
            return
        columns = (TextColumn("crawl: {task.description}"), BarColumn(), TimeElapsedColumn())
        with RichProgress(*columns, console=self._console, transient=True) as progress:
            task_id = progress.add_task("", total=None)

            def show(line: str, done: int, total: int) -> None:
                progress.update(task_id, description=line, completed=done, total=total)

            yield show

    def note(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
