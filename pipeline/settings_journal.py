"""Record changes of the settings file exactly, although the file is not in the store.

A change is written to a journal beside the file, then to the file, then to the store, and is deleted from the journal
at last. What a killed program leaves in the journal is recorded later if the file has the new values, and is forgotten
otherwise.
"""

import dataclasses
import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from docstore.operations import OperationTable
from domain.administration import PendingAction
from locks.private_files import write_private_file
from pipeline.settings import SITES, parse_toml_sections

log = logging.getLogger(__name__)


class SettingsJournal:
    """The journal of one settings file. The caller holds the lock of the file.

    Args:
        settings_path: The settings file. The journal is beside it.
        actions: Where changes are recorded.
    """

    def __init__(self, settings_path: Path, actions: OperationTable) -> None:
        self.path = settings_path.with_name(f".{settings_path.name}.journal")
        self._settings_path = settings_path
        self._actions = actions

    def begin(self, old_text: str, new_text: str, actions: Sequence[PendingAction]) -> None:
        """Write what the file will contain and what is then to be recorded. Raises OSError."""
        before, after = (self._values(text) for text in (old_text, new_text))
        changed_paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        content = {
            "changed": changed_paths,
            "digest": value_digest(after, changed_paths),
            "actions": [dataclasses.asdict(action) for action in actions],
        }
        write_private_file(self.path, json.dumps(content, ensure_ascii=False).encode())

    def finish(self, text: str) -> None:
        """Record the actions of the journal if the file, which contains `text`, has their values; delete the journal.

        Raises SettingsError if `text` is not valid TOML, StoreError, or OSError; the journal then remains.
        """
        if not self.path.exists():
            return
        values = self._values(text)
        try:
            content = json.loads(self.path.read_bytes())
            is_saved = value_digest(values, content["changed"]) == content["digest"]
            actions = [PendingAction(**action) for action in content["actions"]]
        except (ValueError, TypeError, KeyError) as error:
            log.error("a change of %s is in no record: %s is damaged (%s)", self._settings_path, self.path, error)
            is_saved, actions = True, []
        if is_saved:
            self._actions.record_pending(actions)
        else:
            log.warning("a change of %s was interrupted before it was saved", self._settings_path)
        self.path.unlink()

    def _values(self, text: str) -> dict[str, object]:
        sections = parse_toml_sections(text, self._settings_path)
        sites: dict[str, object] = {SITES: sections.pop(SITES, [])}
        return sites | {f"{name}.{key}": value for name, values in sections.items() for key, value in values.items()}


def value_digest(values: dict[str, object], paths: Sequence[str]) -> str:
    """Return a digest of the values of settings, so that the journal contains no secrets."""
    json_text = json.dumps([values.get(path) for path in paths], sort_keys=True, default=str)
    return hashlib.sha256(json_text.encode()).hexdigest()
