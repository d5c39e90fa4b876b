"""Files that only their owner can read."""

import os


def open_private(path: str, flags: int) -> int:
    """Open a file for `open(..., opener=open_private)`. A new file has mode 600; an existing file keeps its mode.

    Raises OSError.
    """
    return os.open(path, flags, 0o600)
