"""Digests of the files of a cache, kept beside them: a damaged one is thrown away before it misleads."""

import json
import logging
import shutil
from contextlib import suppress
from pathlib import Path

from crawler.state_files import parse_state, write_state
from pipeline.maintenance.backup import sha256_of

log = logging.getLogger(__name__)

DIGESTS_FILE = "digests.json"


def write_digests(folder: Path) -> None:
    """Note the files of `folder` as they are."""
    if folder.is_dir():
        write_state(folder / DIGESTS_FILE, {file.name: sha256_of(file) for file in list_cached_files(folder)})


def delete_if_damaged(folder: Path) -> None:
    """Remove `folder` where a file of it is not what was noted. From now on its files change: nothing is noted."""
    if fault := find_damage(folder):
        log.warning("%s: %s, it is made anew", folder, fault)
        shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        (folder / DIGESTS_FILE).unlink(missing_ok=True)


def find_damage(folder: Path) -> str:
    """What is wrong with the files of `folder`; "" where all are what was noted, or nothing was."""
    try:
        recorded_digests = parse_state((folder / DIGESTS_FILE).read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, json.JSONDecodeError) as error:
        return f"{DIGESTS_FILE} is damaged ({error})"
    current_digests = {file.name: sha256_of(file) for file in list_cached_files(folder)}
    mismatched_names = sorted(
        name
        for name in recorded_digests.keys() | current_digests.keys()
        if recorded_digests.get(name) != current_digests.get(name)
    )
    return f"{', '.join(mismatched_names)} damaged" if mismatched_names else ""


def list_cached_files(folder: Path) -> list[Path]:
    """The files that are noted."""
    return [path for path in sorted(folder.iterdir()) if path.is_file() and path.name != DIGESTS_FILE]
