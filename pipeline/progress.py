"""Progress of long work: bars on a terminal, one line a task elsewhere, nothing where nobody reads."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import IO, Protocol

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

Advance = Callable[[int], None]
ShowCrawlProgress = Callable[[str, int, int], None]


class Progress(Protocol):
    """How the stages tell a person how far they are."""

    def task(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Begin a task of `total` steps (None: not known); the context gives a function to advance it."""

    def crawl_task(self) -> AbstractContextManager[ShowCrawlProgress | None]:
        """Begin a task whose steps come up while it goes on. The context gives a function that shows a line, steps done
        and steps in all; None where nobody watches."""

    def note(self, text: str) -> None:
        """Say one line."""


class NullProgress:
    """Says nothing."""

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """A task that nobody watches."""
        yield lambda steps: None

    @contextmanager
    def crawl_task(self) -> Iterator[ShowCrawlProgress | None]:
        """Nobody watches."""
        yield None

    def note(self, text: str) -> None:
        """Nothing."""


class JsonLineProgress(NullProgress):
    """Notes alone, each as a JSON object in a line of `out`, for programs that read logs."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def note(self, text: str) -> None:
        """One line."""
        event = {"event": text, "level": "info", "timestamp": datetime.now().isoformat(timespec="microseconds")}
        print(json.dumps(event, ensure_ascii=False), file=self._out, flush=True)


class TerminalProgress:
    """Bars on a terminal; where standard error is no terminal, only the notes."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """A bar, taken away when the task ends (the stage's report says what became of it)."""
        columns = (
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(show_speed=True),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        is_terminal = self._console.is_terminal
        with RichProgress(*columns, console=self._console, transient=True, disable=not is_terminal) as progress:
            task_id = progress.add_task(label, total=total)
            yield lambda steps: progress.advance(task_id, steps)

    @contextmanager
    def crawl_task(self) -> Iterator[ShowCrawlProgress | None]:
        """A line and a bar, taken away at the end; on no terminal none."""
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
        """One line, with nothing in it read as markup."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
