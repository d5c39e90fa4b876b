"""The files of stored counts (`counts_store.py`). Separate, because a check of the files needs no NumPy."""

from pathlib import Path

FILE_PATTERNS = ("counts.db", "counts.db-*", "rows-*.z")


def list_count_files(folder: Path) -> list[Path]:
    """Return the files of stored counts in a folder, ordered by name. Other files are not included."""
    return sorted(path for pattern in FILE_PATTERNS for path in folder.glob(pattern))


def delete_counts(folder: Path) -> None:
    """Delete the stored counts in a folder. Other files stay."""
    for path in list_count_files(folder):
        path.unlink(missing_ok=True)
