"""The progress of the active run in a small file, which the search site reads in another process.

The run replaces the file at most every WRITE_SECONDS and deletes it at its end. After a kill the file stays; readers
compare its run with the active one.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.outcome import Stage, count_failures
from domain.run import LiveRun
from locks.private_files import replace_file
from pipeline.progress import Advance, Progress, ReportCrawl
from pipeline.runs.systemd_notify import notify_systemd

if TYPE_CHECKING:
    from crawler.progress import CrawlProgress
    from pipeline.engine import Engine

LIVE_PROGRESS_FILE = "run_progress.json"  # in the data folder
WRITE_SECONDS = 2.0
RATE_SECONDS = 60.0  # the rate covers this time
MIN_RATE_SECONDS = 5.0  # no rate before this time
MAX_FILE_BYTES = 10_000


class LiveProgress:
    """Writes the progress of a run to a file and delegates to another `Progress`.

    Args:
        progress: The display of the run.
        path: The file.
        clock: Returns epoch seconds.
        touch: Called at each step.
    """

    def __init__(
        self,
        progress: Progress,
        path: Path,
        clock: Callable[[], float] = time.time,
        touch: Callable[[], object] = lambda: None,
    ) -> None:
        self._progress = progress
        self._path = path
        self._clock = clock
        self._touch = touch
        self._lock = threading.Lock()
        self._run_id, self._stage, self._stage_started_at = 0, "", 0.0
        self._written_at = 0.0
        self._samples: deque[tuple[float, int]] = deque()  # (epoch seconds, finished items)

    def start_stage(self, run_id: int, stage: Stage) -> None:
        """Record that a stage of the run starts now."""
        self._run_id, self._stage, self._stage_started_at = run_id, stage.value, self._clock()
        self._samples.clear()
        notify_systemd(f"STATUS={stage.value}")
        self._save(0, is_due=True)

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        finished_count = 0
        self._touch()
        self._samples.clear()
        with self._progress.task(label, total) as advance:

            def record_and_advance(steps: int) -> None:
                nonlocal finished_count
                finished_count += steps
                self._save(finished_count, total)
                advance(steps)

            self._save(0, total, is_due=True)
            yield record_and_advance
            self._save(finished_count, total, is_due=True)

    @contextmanager
    def crawl_task(self) -> Iterator[ReportCrawl]:
        with self._progress.crawl_task() as report:

            def record_and_report(current: "CrawlProgress") -> None:
                self._save(
                    current.visits,
                    current.visits + current.backlog,
                    min_seconds_left=current.slowest_host_seconds,
                    active_hosts=current.active_hosts,
                    error_count=count_failures(current.counts),
                    slowest_host=current.slowest_host,
                )
                report(current)

            yield record_and_report

    def note(self, text: str) -> None:
        self._touch()
        self._progress.note(text)

    def _save(
        self,
        finished_count: int,
        total_count: int | None = None,
        is_due: bool = False,
        min_seconds_left: float = 0.0,
        **crawl_values: Any,
    ) -> None:
        """Replace the file if it is old enough or `is_due`. Errors are ignored: the run must not fail because of it.

        `crawl_values` are fields of `LiveRun`.
        """
        self._touch()
        now = self._clock()
        if not is_due and 0 <= now - self._written_at < WRITE_SECONDS:
            return
        with self._lock:
            self._written_at = now
            self._samples.append((now, finished_count))
            while len(self._samples) > 1 and self._samples[0][0] < now - RATE_SECONDS:
                self._samples.popleft()
            (first_at, first_count), (last_at, last_count) = self._samples[0], self._samples[-1]
            seconds = last_at - first_at
            per_minute = 60 * (last_count - first_count) / seconds if seconds >= MIN_RATE_SECONDS else None
            seconds_left = None
            if per_minute and total_count is not None:
                seconds_left = max(60 * (total_count - finished_count) / per_minute, min_seconds_left)
            counts = (finished_count, total_count, per_minute)
            stage = (self._run_id, self._stage, self._stage_started_at)
            live_run = LiveRun(*stage, now, *counts, seconds_left=seconds_left, **crawl_values)
            with suppress(OSError), replace_file(self._path) as file:
                file.write(json.dumps(vars(live_run)).encode())


def read_live_run(data_dir: Path) -> LiveRun | None:
    """Read the progress that a run has written; None if there is no file or it is invalid."""
    try:
        with (data_dir / LIVE_PROGRESS_FILE).open(encoding="utf-8") as file:
            return LiveRun(**json.loads(file.read(MAX_FILE_BYTES)))
    except (OSError, ValueError, TypeError):
        return None


@contextmanager
def live_progress(engine: "Engine") -> Iterator[LiveProgress]:
    """Record the progress of the engine in its data folder until the end of the context."""
    path, display = engine.settings.data_dir / LIVE_PROGRESS_FILE, engine.progress
    recorder = LiveProgress(display, path, touch=engine.touch)
    engine.progress = recorder
    try:
        yield recorder
    finally:
        engine.progress = display
        with suppress(OSError):
            path.unlink(missing_ok=True)
