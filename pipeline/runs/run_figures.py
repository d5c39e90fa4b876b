"""Disk, memory, queue and index size at the end of each run, in a file of JSON lines in the data folder."""

import logging
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import PlumblineError
from domain.run import RunFigures
from pipeline.json_lines import append_json_lines, read_json_lines

if TYPE_CHECKING:
    from pipeline.engine import Engine

log = logging.getLogger(__name__)
FIGURES_FILE = "run_figures.jsonl"
MAX_ROWS = 400  # a year of nightly runs
_PEAK_LINE_RE = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


def reset_memory_peak() -> None:
    """Let the peak memory of this process start again (Linux): `plumb schedule` executes many runs."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def memory_peak_bytes() -> int | None:
    """Return the peak resident memory of this process since `reset_memory_peak`; None if it is unknown."""
    try:
        match = _PEAK_LINE_RE.search(Path("/proc/self/status").read_text("ascii", "replace"))
    except OSError:
        return None
    return 1024 * int(match[1]) if match else None


def folder_bytes(folder: Path) -> int:
    """Return the disk space of the files below `folder`. Files that disappear meanwhile do not count."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                # Not st_size: each start of ZooKeeper adds a log of 64 MB with a few KB on disk.
                total += 512 * os.stat(os.path.join(parent, name), follow_symlinks=False).st_blocks
    return total


def measure_run(engine: "Engine", run_id: int) -> RunFigures:
    """Measure disk, memory, queue and index now. Raises OSError or PlumblineError."""
    data_dir, now = engine.settings.data_dir, time.time()
    disk = shutil.disk_usage(data_dir)
    has_own_solr = not engine.settings.index.solr_url
    return RunFigures(
        run_id,
        now,
        disk_used_bytes=disk.used,
        disk_total_bytes=disk.used + disk.free,  # disk.total has the space that only root may use as well
        due_count=engine.store.status.due_count(now),
        memory_peak_bytes=memory_peak_bytes(),
        index_bytes=folder_bytes(data_dir / "solr") if has_own_solr else None,
    )


def record_figures(engine: "Engine", run_id: int) -> None:
    """Append the figures of a run to the file, and drop the oldest rows. Errors are only logged."""
    try:
        append_json_lines(engine.settings.data_dir / FIGURES_FILE, [vars(measure_run(engine, run_id))], MAX_ROWS)
    except (OSError, PlumblineError) as error:
        log.warning("figures of run %d not recorded: %s", run_id, error)


def read_figures(data_dir: Path) -> list[RunFigures]:
    """Return the recorded figures, oldest first. Invalid lines are skipped."""
    figures = []
    for row in read_json_lines(data_dir / FIGURES_FILE, MAX_ROWS):
        with suppress(TypeError):
            figures.append(RunFigures(**row))
    return figures
