"""Digests of the files of a cache, kept beside them: a damaged one is thrown away before it misleads."""

import json
import logging
import shutil
from contextlib import suppress
from pathlib import Path

from crawler.state_files import state_in, write_state
from pipeline.keeping.backup import digest_of

log = logging.getLogger(__name__)

NAME = "digests.json"


def keep_digests(folder: Path) -> None:
    """Note the files of `folder` as they are."""
    if folder.is_dir():
        write_state(folder / NAME, {file.name: digest_of(file) for file in cached_files(folder)})


def drop_damaged(folder: Path) -> None:
    """Remove `folder` where a file of it is not what was noted. From now on its files change: nothing is noted."""
    if fault := damage_in(folder):
        log.warning("%s: %s, it is made anew", folder, fault)
        shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        (folder / NAME).unlink(missing_ok=True)


def damage_in(folder: Path) -> str:
    """What is wrong with the files of `folder`; "" where all are what was noted, or nothing was."""
    try:
        kept = state_in((folder / NAME).read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, json.JSONDecodeError) as error:
        return f"{NAME} is damaged ({error})"
    found = {file.name: digest_of(file) for file in cached_files(folder)}
    wrong = sorted(name for name in kept.keys() | found.keys() if kept.get(name) != found.get(name))
    return f"{', '.join(wrong)} damaged" if wrong else ""


def cached_files(folder: Path) -> list[Path]:
    """The files that are noted."""
    return [one for one in sorted(folder.iterdir()) if one.is_file() and one.name != NAME]
