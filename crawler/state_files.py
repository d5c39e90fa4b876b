"""Small JSON files for site knowledge, stored next to the URL-seen filter.

Each file contains a CRC-32 of its content. Older files without a checksum are accepted. If a file is lost, the next
runs collect the knowledge again.
"""

import json
import logging
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from locks.private_files import write_private_file

logger = logging.getLogger(__name__)

T = TypeVar("T")
CHECKSUM_KEY = "crc32"  # reserved key; no host has this name


def read_state(path: Path) -> dict[str, Any]:
    """Read a state file. Returns {} if the file is missing or damaged."""
    return load_state(path, lambda state: state)


def load_state(path: Path, convert: Callable[[dict[str, Any]], T]) -> T:
    """Read a state file and convert its content.

    Args:
        path: the state file.
        convert: raises AttributeError, TypeError or ValueError if the content has another form.

    Returns:
        The converted content, or `convert({})` if the file is missing or damaged.
    """
    try:
        return convert(parse_state(path.read_bytes()))
    except FileNotFoundError:
        return convert({})
    except (AttributeError, OSError, TypeError, ValueError) as error:
        logger.warning("%s is corrupt (%s): starting with empty state", path, error)
        return convert({})


def parse_state(data: bytes) -> dict[str, Any]:
    """Parse the content of a state file. Raises ValueError if it is damaged."""
    state = json.loads(data)
    if not isinstance(state, dict):
        raise ValueError("not a JSON object")
    stored_checksum = state.pop(CHECKSUM_KEY, None)
    if stored_checksum is not None and stored_checksum != state_checksum(state):
        raise ValueError("checksum mismatch")
    return state


def state_checksum(state: dict[str, Any]) -> int:
    """Return the CRC-32 of the state's canonical JSON."""
    return zlib.crc32(json.dumps(state, sort_keys=True).encode())


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write the file atomically. An OSError is logged, because the crawl can continue without the file."""
    checked_state = {**state, CHECKSUM_KEY: state_checksum(json.loads(json.dumps(state)))}
    try:
        write_private_file(path, json.dumps(checked_state).encode())
    except OSError as error:
        logger.warning("%s cannot be written (%s): its content is lost after this run", path, error)


def state_path_factory(sibling_path: Path) -> Callable[[str], Path]:
    """Return a function from the name of a state to its file, in the folder of `sibling_path`."""
    return lambda stem: sibling_path.with_name(f"{stem}.json")
