"""The lines of `logs/plumb.log` of a period, without secrets."""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from pipeline.local_time import local_second
from pipeline.logs import LOG_BACKUP_COUNT, create_masker

MAX_EXCERPT_LINES = 200
MAX_LINE_CHARS = 600
TEXT_TIME_RE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
TIME_CHARS = 19  # 2016-05-09 12:00:00


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
    first, last = local_second(started_at), local_second(ended_at)
    lines: deque[str] = deque(maxlen=MAX_EXCERPT_LINES)
    line_count, is_inside = 0, False
    for line in iter_log_lines(path, started_at):
        written_at = line_time(line)
        is_inside = first <= written_at <= last if written_at else is_inside
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


def line_time(line: str) -> str:
    """Return the local time of a text or JSON line, to the second; "" for a line of a traceback."""
    if TEXT_TIME_RE.match(line):
        return line[:TIME_CHARS]
    if line.startswith("{"):
        try:
            return str(json.loads(line).get("timestamp", ""))[:TIME_CHARS].replace("T", " ")
        except (ValueError, AttributeError):
            return ""
    return ""
