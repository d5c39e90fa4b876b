"""SHA-256 digests of the stored counts of the term mining; damaged counts are deleted before they are used."""

import json
import logging
from contextlib import suppress
from pathlib import Path

from crawler.state_files import parse_state, write_state
from lexicon.counting.count_files import delete_counts, list_count_files
from maven_jars.jar_cache import file_sha256

log = logging.getLogger(__name__)

DIGESTS_FILE = "digests.json"


def write_digests(folder: Path) -> None:
    """Write the digests of the stored counts in `folder` to digests.json."""
    if folder.is_dir():
        write_state(folder / DIGESTS_FILE, {file.name: file_sha256(file) for file in list_count_files(folder)})


def delete_if_damaged(folder: Path) -> None:
    """Delete the stored counts if a file does not match its digest, before the caller changes the files.

    Deletes digests.json in any case, because the digests are no longer valid. Other files stay.
    """
    if fault := find_damage(folder):
        log.warning("%s: %s; the counts are deleted and recreated", folder, fault)
        delete_counts(folder)
    with suppress(OSError):
        (folder / DIGESTS_FILE).unlink(missing_ok=True)


def find_damage(folder: Path) -> str:
    """Describe the files of `folder` that do not match their digests; "" if all match or no digests are stored."""
    try:
        recorded_digests = parse_state((folder / DIGESTS_FILE).read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, json.JSONDecodeError) as error:
        return f"{DIGESTS_FILE} is damaged ({error})"
    current_digests = {file.name: file_sha256(file) for file in list_count_files(folder)}
    mismatched_names = sorted(
        name
        for name in recorded_digests.keys() | current_digests.keys()
        if recorded_digests.get(name) != current_digests.get(name)
    )
    return f"{', '.join(mismatched_names)} damaged" if mismatched_names else ""
