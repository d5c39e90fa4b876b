"""The lines of `logs/plumb.log` of a period, without secrets."""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pipeline.logs import LOG_BACKUP_COUNT, create_masker

MAX_EXCERPT_LINES = 200
MAX_LINE_CHARS = 600
TEXT_TIME_RE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[+-]\d{4})?(?= )")


def read_log_excerpt(
    path: Path, started_at: float, ended_at: float, mask: Callable[[str], str] | None = None
) -> tuple[list[str], bool]:
    """Return the last MAX_EXCERPT_LINES lines of a period, oldest first, and whether there are more.

    Lines of a traceback belong to the line before. Secrets are masked again, because settings can have changed since.

    Args:
        path: The log; rotated files beside it are read too.
        started_at: Start of the period in epoch seconds.
        ended_at: End of the period in epoch seconds.
        mask: Replaces secrets; by default `create_masker()`.
    """
    mask = mask or create_masker()
    lines: deque[str] = deque(maxlen=MAX_EXCERPT_LINES)
    line_count, is_inside = 0, False
    for line in iter_log_lines(path, started_at):
        written_at = line_time(line)
        is_inside = int(started_at) <= written_at <= ended_at if written_at is not None else is_inside
        if is_inside:
            line_count += 1
            lines.append(mask(line)[:MAX_LINE_CHARS])
    return list(lines), line_count > len(lines)


def iter_log_lines(path: Path, since: float) -> Iterator[str]:
    """Yield the lines of the log and its rotated files, oldest first. Files not written since `since` are skipped."""
    rotated_paths = [path.with_name(f"{path.name}.{number}") for number in range(LOG_BACKUP_COUNT, 0, -1)]
    for file_path in [*rotated_paths, path]:
        try:
            if file_path.stat().st_mtime < since:
                continue
            with file_path.open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    yield line.rstrip("\n")
        except OSError:
            continue


def line_time(line: str) -> float | None:
    """Return the time of a text or JSON line in epoch seconds; None for a line of a traceback."""
    with suppress(ValueError, AttributeError, TypeError):
        if match := TEXT_TIME_RE.match(line):
            return datetime.fromisoformat(match[0]).timestamp()
        if line.startswith("{"):
            return datetime.fromisoformat(json.loads(line).get("timestamp")).timestamp()
    return None
