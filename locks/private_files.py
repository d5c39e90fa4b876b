"""Files that only their owner can read, files of secrets, and files that are replaced as a whole."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_native_id
from typing import BinaryIO

from domain.errors import SettingsError

MAX_SECRET_LENGTH = 4096  # characters of a password or token


def open_private(path: str, flags: int) -> int:
    """Open a file for `open(..., opener=open_private)`. A new file has mode 600; an existing file keeps its mode.

    Raises OSError.
    """
    return os.open(path, flags, 0o600)


@contextmanager
def replace_file(path: Path, opener: Callable[[str, int], int] | None = open_private) -> Iterator[BinaryIO]:
    """Yield a new file beside `path` that replaces `path` at the end of the `with` block; creates the folder.

    After an error, `path` is unchanged and the new file is deleted. Raises OSError. If several threads or processes
    write, the last to finish replaces the file.

    Args:
        path: The file to replace; it need not exist.
        opener: As for `open`. None gives the new file the default mode of the process.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new_path = path.with_name(f"{path.name}.{get_native_id()}.new")
    new_path.unlink(missing_ok=True)  # with its mode, after a killed process
    try:
        with open(new_path, "xb", opener=opener) as file:
            yield file
        new_path.replace(path)
    finally:
        new_path.unlink(missing_ok=True)


def write_private_file(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, atomically and synced to the disk. Raises OSError."""
    with replace_file(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read_secret_text(path: Path, max_length: int) -> str:
    """Read a UTF-8 file of at most `max_length` characters. Raises SettingsError with a reason, without the content."""
    try:
        with path.open(encoding="utf-8") as stream:
            text = stream.read(max_length + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError((isinstance(error, OSError) and error.strerror) or "it is not UTF-8 text") from None
    if len(text) > max_length:
        raise SettingsError(f"it has more than {max_length} characters")
    return text
