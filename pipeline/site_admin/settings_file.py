"""The settings file as the administration in the browser changes it.

An edit keeps comments, order and blank lines. A save replaces the file as a whole, and never over a change that its
author has not seen.
"""

import fcntl
import hashlib
import logging
import os
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, Comment, Item, Table

from docstore.actions import ActionTable
from domain.administration import PendingAction
from domain.errors import SettingsConflictError, SettingsError, StoreError
from locks.private_files import open_private, replace_file
from pipeline.settings import Settings, build_settings, overlay_environment, parse_toml_sections
from pipeline.site_admin.settings_journal import SettingsJournal

log = logging.getLogger(__name__)

BYTE_ORDER_MARK = "\ufeff"
Changes = Mapping[str, object | None]
"""New value by setting path, such as `crawl.threads`. None removes the setting from the file."""
MAX_UPDATE_ATTEMPTS = 20
MAX_INLINE_CHARS = 100
"""A longer list is written with one entry per line."""


@dataclass(frozen=True)
class SettingsText:
    """The text of a settings file, with Unix line ends and without a byte order mark.

    `digest` identifies the bytes on disk. `changed_at` is the time of the last change in epoch seconds.
    """

    text: str
    digest: str
    changed_at: float


class SettingsUpdate(NamedTuple):
    """The settings before and after an update, its changes, and its recorded actions."""

    before: Settings
    after: Settings
    changes: Changes
    actions: Sequence[PendingAction] = ()


class SettingsFile:
    """The TOML file at `path`. A symbolic link stays a link: the file that it names is replaced.

    Args:
        path: The file.
        actions: Records the changes. Without it, nothing is recorded.
    """

    def __init__(self, path: Path, actions: ActionTable | None = None) -> None:
        self.path = path.resolve()
        self._journal = SettingsJournal(self.path, actions) if actions is not None else None

    def read(self) -> SettingsText:
        """Read the file. Raises SettingsError if it cannot be read."""
        try:
            with self.path.open("rb") as file:
                data, changed_at = file.read(), os.fstat(file.fileno()).st_mtime
            text = data.decode()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"cannot read {self.path}: {error}") from error
        return SettingsText(unix_line_ends(text), hashlib.sha256(data).hexdigest(), changed_at)

    def check(self, text: str) -> Settings:
        """Return the settings that a program would load from `text` and its environment.

        Raises SettingsError with the message that the program would print.
        """
        return build_settings(overlay_environment(parse_toml_sections(text, self.path)), self.path.parent)

    def changed_text(self, text: str, changes: Changes) -> str:
        """Return `text` with changed settings; see `apply_changes`. Raises SettingsError."""
        try:
            return apply_changes(unix_line_ends(text), changes)
        except (TOMLKitError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(f"{self.path} is not valid TOML: {error}") from error

    def save(self, new_text: str, expected_digest: str, actions: Sequence[PendingAction] = ()) -> SettingsText:
        """Check and replace the file and record it; returns what is stored.

        The file keeps its mode and its line ends. If the program is killed, or the store fails after the file was
        replaced, the next `save` or `finish_records` records the actions.

        Args:
            new_text: The complete new text.
            expected_digest: The digest of the text that the change is based on.
            actions: What to record.

        Raises:
            SettingsConflictError: The file has changed since then.
            SettingsError: The text is invalid, or the file cannot be written.
            StoreError: Actions of an earlier change cannot be recorded. The file is unchanged.
        """
        self.check(new_text)
        try:
            with self._lock():
                current = self.read()
                if current.digest != expected_digest:
                    raise SettingsConflictError(self.path.name, current.changed_at)
                if self._journal is not None:
                    self._journal.finish(current.text)
                    self._journal.begin(current.text, new_text, actions)
                self._replace(unix_line_ends(new_text))
                saved_text = self.read()
                self._finish_journal(saved_text)
                return saved_text
        except OSError as error:
            raise SettingsError(f"cannot write {self.path}: {error.strerror}") from error

    def finish_records(self) -> None:
        """Record the saved changes of a program that was killed before it recorded them."""
        if self._journal is None or not self._journal.path.exists():
            return
        try:
            with self._lock():
                self._finish_journal(self.read())
        except (OSError, SettingsError) as error:
            log.error("changes of %s are not recorded yet: %s", self.path, error)

    def _finish_journal(self, current: SettingsText) -> None:
        """Record what is in the journal. If the store fails, the journal remains. Raises OSError or SettingsError."""
        try:
            if self._journal is not None:
                self._journal.finish(current.text)
        except StoreError as error:
            log.error("changes of %s are not recorded yet: %s", self.path, error)

    def update(
        self,
        find_changes: Callable[[Settings], Changes],
        check: Callable[[Settings], object],
        describe: Callable[[Settings, Settings, Changes], Sequence[PendingAction]] = lambda *_: (),
    ) -> SettingsUpdate:
        """Change settings depending on what they are now; again if another change comes between.

        Args:
            find_changes: Returns the changes for the current settings; see `apply_changes`.
            check: Raises SettingsError if the new settings are invalid.
            describe: Returns what to record, from the settings before and after, and the changes.

        Returns:
            The update. Without changes, nothing is written or recorded.

        Raises:
            SettingsConflictError: Other changes came between MAX_UPDATE_ATTEMPTS times.
            SettingsError: The settings are invalid, or the file cannot be written.
        """
        for attempts_left in reversed(range(MAX_UPDATE_ATTEMPTS)):
            current = self.read()
            before = self.check(current.text)
            changes = find_changes(before)
            if not changes:
                break
            new_text = self.changed_text(current.text, changes)
            after = self.check(new_text)
            check(after)
            actions = describe(before, after, changes)
            try:
                self.save(new_text, current.digest, actions)
            except SettingsConflictError:
                if not attempts_left:
                    raise
            else:
                return SettingsUpdate(before, after, changes, actions)
        return SettingsUpdate(before, before, {})

    def _replace(self, text: str) -> None:
        if b"\r\n" in self.path.read_bytes():
            text = text.replace("\n", "\r\n")
        mode = stat.S_IMODE(self.path.stat().st_mode)
        with replace_file(self.path) as file:
            os.fchmod(file.fileno(), mode)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Exclude other threads and processes that save. A save takes milliseconds, so waiting has no limit."""
        with open(self.path.with_name(f".{self.path.name}.lock"), "ab", opener=open_private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def unix_line_ends(text: str) -> str:
    """Return `text` with Unix line ends and without a byte order mark."""
    return text.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")


def apply_changes(text: str, changes: Changes) -> str:
    """Return TOML text with changed settings. Comments, order and blank lines stay.

    Args:
        text: Valid TOML.
        changes: New value by setting path, such as `crawl.threads`. None removes the setting: it has its default.

    Raises:
        SettingsError: The text is written in a form that this function cannot change safely.
        TOMLKitError: The text is not valid TOML.
    """
    for setting_path, value in changes.items():
        section, _, key = setting_path.partition(".")
        expected = tomllib.loads(text)
        if value is None:
            expected.get(section, {}).pop(key, None)
        else:
            expected.setdefault(section, {})[key] = plain_value(value)
        text = next(
            (new_text for new_text in iter_edits(text, section, key, value) if has_toml_data(new_text, expected)), ""
        )
        if not text and expected:
            raise SettingsError(f"{setting_path} is written in an unusual form: change it in the file")
    return text


def iter_edits(text: str, section: str, key: str, value: object | None) -> Iterator[str]:
    """Yield candidates for `text` with one changed setting, the least intrusive first."""
    document = tomlkit.parse(text)
    value_by_key: Any = document.get(section, {})
    if value is None:
        if key in value_by_key:
            del value_by_key[key]
        yield document.as_string()
        return
    new_item = create_item(value)
    if key in value_by_key:
        if edit_in_place(value_by_key[key], value):
            yield document.as_string()
        value_by_key[key] = new_item
        yield document.as_string()
        return
    if table := find_section(document, section):
        insert_setting(table, key, new_item)
        yield document.as_string()
    yield f"{ending_line(text)}\n[{section}]\n{tomlkit.key(key).as_string()} = {new_item.as_string()}\n"
    document = tomlkit.parse(text)
    document.setdefault(section, {})[key] = new_item
    yield document.as_string()


def has_toml_data(text: str, expected: Mapping[str, Any]) -> bool:
    """True if `text` is valid TOML with the data `expected`; an empty section equals a missing one."""
    try:
        sections = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return {name: value for name, value in sections.items() if value != {}} == {
        name: value for name, value in expected.items() if value != {}
    }


def find_section(document: TOMLDocument, section: str) -> Table | None:
    """Return the table below the line `[section]`; None if there is no such line."""
    for key, item in document.body:
        if key is not None and key.key == section and isinstance(item, Table) and not item.is_super_table():
            return item
    return None


def insert_setting(table: Table, key: str, item: Item) -> None:
    """Insert a setting below its commented sample line (`# key = ...`), otherwise below the last setting.

    The comments before the next section stay below it.
    """
    body = table.value.body
    index = 0
    for i, (existing_key, existing) in enumerate(body):
        if isinstance(existing, Comment) and existing.as_string().lstrip("# ").startswith(f"{key} ="):
            index = i + 1
            break
        if existing_key is not None and not isinstance(existing, Table):
            index = i + 1
    if index:
        previous = body[index - 1][1]
        previous.trivia.trail = previous.trivia.trail or "\n"
    item.trivia.trail = "\n"
    body.insert(index, (tomlkit.key(key), item))


def edit_in_place(item: Any, value: object) -> bool:
    """Change a list or table entry by entry, so that the comments of the other entries stay.

    Returns False if `item` is not a list or table.
    """
    if isinstance(item, Array) and isinstance(value, list | tuple):
        for entry in [entry for entry in item if entry not in value]:
            item.remove(entry)
        for index, entry in enumerate(value):
            if index >= len(item) or item[index] != entry:
                item.insert(index, entry)
        return True
    if isinstance(item, Mapping) and isinstance(value, Mapping):
        table: Any = item
        for name in [name for name in table if name not in value]:
            del table[name]
        for name, entry in value.items():
            if table.get(name) != entry:
                table[name] = entry
        return True
    return False


def create_item(value: object) -> Item:
    """Return a value as a TOML item: a long list with one entry per line, a mapping as an inline table."""
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update(value)
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        array.extend(value)
        return array.multiline(len(array.as_string()) > MAX_INLINE_CHARS)
    return tomlkit.item(value)


def plain_value(value: object) -> object:
    """Return a value as `tomllib` reads it."""
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def ending_line(text: str) -> str:
    """Return `text` with a line end if its last line has none."""
    return text if not text or text.endswith("\n") else f"{text}\n"
