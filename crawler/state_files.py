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

CHECKSUM_KEY = "crc32"  # key of the sum; no host is called so


def read_state(path: Path) -> dict[str, Any]:
    """What was kept; nothing if there is no such file, or it cannot be read."""
    try:
        return parse_state(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        logger.warning("%s is damaged (%s): what it held is learned anew", path, error)
        return {}


def parse_state(data: bytes) -> dict[str, Any]:
    """What a file's bytes say. ValueError where they are damaged."""
    state = json.loads(data)
    if not isinstance(state, dict):
        raise ValueError("no state")
    stored_checksum = state.pop(CHECKSUM_KEY, None)
    if stored_checksum is not None and stored_checksum != state_checksum(state):
        raise ValueError("its sum is another one")
    return state


def state_checksum(state: dict[str, Any]) -> int:
    """The CRC-32 of a state."""
    return zlib.crc32(json.dumps(state, sort_keys=True).encode())


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Keep it, whole or not at all; a disk that does not take it is no fault of the crawl."""
    temporary_path = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary_path.write_text(json.dumps({**state, CHECKSUM_KEY: state_checksum(json.loads(json.dumps(state)))}))
        os.replace(temporary_path, path)
    except OSError as error:
        logger.warning("%s cannot be written (%s): what it would hold is learned anew", path, error)


def state_path_factory(sibling_path: Path, process_index: int | None = None) -> Callable[[str], Path]:
    """Names the file of a heading, in the folder of `sibling_path`; each of several processes has its own."""
    suffix = "" if process_index is None else f"-{process_index}"
    return lambda stem: sibling_path.with_name(f"{stem}{suffix}.json")
