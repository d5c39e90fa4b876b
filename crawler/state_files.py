"""Small files in which a crawl keeps what it has learned, beside the seen filter. Lost, it is learned anew."""

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


def read_state(path: Path) -> dict[str, Any]:
    """What was kept; nothing if there is no such file, or it cannot be read."""
    try:
        stored = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Keep it, whole or not at all; a disk that does not take it is no fault of the crawl."""
    half = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(json.dumps(state))
        os.replace(half, path)
    except OSError as error:
        logger.warning("%s cannot be written (%s): what it would hold is learned anew", path, error)


def state_file(beside: Path, number: int | None = None) -> Callable[[str], Path]:
    """Names the file of a heading, in the folder of `beside`; each of several processes has its own."""
    part = "" if number is None else f"-{number}"
    return lambda heading: beside.with_name(f"{heading}{part}.json")
