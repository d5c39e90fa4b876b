"""Small files in which a crawl keeps what it has learned, beside the seen filter. Lost, it is learned anew.

Each carries a CRC-32 of what it says, so that a damaged one is not believed; files of before there was one are.
"""

import json
import logging
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

SUM = "crc32"  # key of the sum; no host is called so


def read_state(path: Path) -> dict[str, Any]:
    """What was kept; nothing if there is no such file, or it cannot be read."""
    try:
        return state_in(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        logger.warning("%s is damaged (%s): what it held is learned anew", path, error)
        return {}


def state_in(data: bytes) -> dict[str, Any]:
    """What a file's bytes say. ValueError where they are damaged."""
    stored = json.loads(data)
    if not isinstance(stored, dict):
        raise ValueError("no state")
    kept = stored.pop(SUM, None)
    if kept is not None and kept != sum_of(stored):
        raise ValueError("its sum is another one")
    return stored


def sum_of(state: dict[str, Any]) -> int:
    """The CRC-32 of a state."""
    return zlib.crc32(json.dumps(state, sort_keys=True).encode())


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Keep it, whole or not at all; a disk that does not take it is no fault of the crawl."""
    half = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(json.dumps({**state, SUM: sum_of(json.loads(json.dumps(state)))}))
        os.replace(half, path)
    except OSError as error:
        logger.warning("%s cannot be written (%s): what it would hold is learned anew", path, error)


def state_file(beside: Path, number: int | None = None) -> Callable[[str], Path]:
    """Names the file of a heading, in the folder of `beside`; each of several processes has its own."""
    part = "" if number is None else f"-{number}"
    return lambda heading: beside.with_name(f"{heading}{part}.json")
