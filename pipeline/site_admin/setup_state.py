"""The state of an unfinished setup, in a private file of the data folder."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from domain.errors import StoreError
from domain.site_check import CheckState, SiteCheck
from locks.private_files import write_private_file
from search_ui.setup.interfaces import SamplePage, SetupState

STATE_FILE = "setup.json"


def load_state(path: Path) -> tuple[SetupState, str]:
    """Return the stored state and the digest of the browser's cookie; an empty state if there is none or it is broken.

    A check or a loading that the program did not complete is pending again.
    """
    try:
        file_content = json.loads(path.read_text(encoding="utf-8"))
        return parse_state(file_content["state"]), str(file_content["cookie_digest"])
    except (OSError, ValueError, TypeError, KeyError):
        return SetupState(), ""


def parse_state(values: dict[str, Any]) -> SetupState:
    """Create a state from its JSON values. Raises TypeError, ValueError or KeyError if they are not those of one."""
    sites = tuple(parse_check(site) for site in values["sites"])
    samples = tuple(SamplePage(**sample) for sample in values["samples"])
    samples_state = finished_or_pending(values["samples_state"])
    return SetupState(
        **{
            **values,
            "sites": sites,
            "samples": samples if samples_state is CheckState.DONE else (),
            "samples_state": samples_state,
            "inside_hosts": tuple(values["inside_hosts"]),
        }
    )


def parse_check(values: dict[str, Any]) -> SiteCheck:
    """Create a check from its JSON values."""
    state = finished_or_pending(values["state"])
    return SiteCheck(**{**values, "state": state, "sample_urls": tuple(values["sample_urls"])})


def finished_or_pending(text: str) -> CheckState:
    """Return DONE for a finished work; other work starts again."""
    return CheckState.DONE if CheckState(text) is CheckState.DONE else CheckState.PENDING


def save_state(path: Path, state: SetupState, cookie_digest: str) -> None:
    """Save the state. Raises StoreError."""
    text = json.dumps({"state": asdict(state), "cookie_digest": cookie_digest}, ensure_ascii=False)
    try:
        write_private_file(path, text.encode())
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
