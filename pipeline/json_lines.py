"""Small files of JSON objects, one per line, with a maximum number of lines. Only one process may write a file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from locks.private_files import replace_file


def read_json_lines(path: Path, max_lines: int) -> list[dict[str, Any]]:
    """Return the last `max_lines` objects, oldest first. Invalid lines are skipped; a missing file is empty."""
    try:
        lines = path.read_text("utf-8", "replace").removesuffix("\n").split("\n")[-max_lines:]
    except OSError:
        return []
    rows: list[dict[str, Any]] = []
    for line in lines:
        with suppress(ValueError):
            row = json.loads(line)
            rows += [row] if isinstance(row, dict) else []
    return rows


def append_json_lines(path: Path, rows: Iterable[Mapping[str, Any]], max_lines: int) -> None:
    """Append objects and drop the oldest ones beyond `max_lines`. The file is replaced as a whole. Raises OSError."""
    all_rows: Sequence[Mapping[str, Any]] = [*read_json_lines(path, max_lines), *rows][-max_lines:]
    with replace_file(path) as file:
        file.writelines(json.dumps(row).encode() + b"\n" for row in all_rows)
