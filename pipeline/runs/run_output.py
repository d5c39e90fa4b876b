"""The file with the output of the last run that the site or the scheduler started.

`/admin/run` reads it if a run ended before its record in the store began.
"""

from pathlib import Path

from locks.private_files import open_private

ERROR_PREFIX = "plumb: "  # of the line with the error of a command
MAX_MESSAGE_CHARS = 300


def run_output_path(data_dir: Path) -> Path:
    """Return the path of the file."""
    return data_dir / "logs" / "run.txt"


def write_error(data_dir: Path, message: str) -> None:
    """Replace the output by the error with which a run ended. Raises OSError."""
    path = run_output_path(data_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="replace", opener=open_private) as output:
        output.write(f"{ERROR_PREFIX}{message}\n")


def read_last_line(path: Path) -> str:
    """Return the last line of a text file; "" if it is empty or missing."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return next((line for line in reversed(lines) if line.strip()), "")


def read_error(output_path: Path, after: float = 0.0) -> str:
    """Return the error with which a run ended; "" if its output does not end with one, or is not of later than `after`.

    `after` is in epoch seconds.
    """
    last_line = read_last_line(output_path)
    is_error = last_line.startswith(ERROR_PREFIX) and output_path.stat().st_mtime > after
    return last_line.removeprefix(ERROR_PREFIX)[:MAX_MESSAGE_CHARS] if is_error else ""
