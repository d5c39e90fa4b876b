"""The one reader and writer of the settings of a vertical: its file, the environment and the flags of a call.

An edit keeps the comments of the file, and replaces it as a whole, never over a change that its author has not seen.
"""

import fcntl
import hashlib
import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.administration import PendingAction
from domain.errors import SettingsConflictError, SettingsError, StoreError
from locks.private_files import open_private, replace_file
from pipeline.deprecated_settings import current_path, find_deprecated
from pipeline.settings import (
    OverrideSource,
    Settings,
    build_settings,
    has_credentials,
    overlay,
    parse_toml_sections,
    read_environment,
    read_toml_sections,
    split_paper_tables,
)

if TYPE_CHECKING:
    from docstore.actions import ActionTable
    from pipeline.settings_journal import SettingsJournal

log = logging.getLogger(__name__)

BYTE_ORDER_MARK = "\ufeff"
MAX_EDIT_ATTEMPTS = 20
CREDENTIALS_MODE = 0o600  # of a file with passwords, headers, cookies
Sections = Mapping[str, Mapping[str, Any]]
"""Parsed TOML: section -> key -> value."""
FileStamp = tuple[int, int, int]
"""Inode, size and time of the last change in nanoseconds."""


@dataclass(frozen=True)
class SettingsText:
    """The text of a settings file, with Unix line ends and without a byte order mark.

    `digest` identifies the bytes on disk. `changed_at` is the time of the last change in epoch seconds.
    """

    text: str
    digest: str
    changed_at: float


@dataclass(frozen=True)
class SettingsEdit:
    """Text and sections of the file before and after an edit, and the new values by path; none if nothing changes."""

    old_text: str
    new_text: str
    before: Sections
    after: Sections
    changes: Mapping[str, object | None]


class SettingsSource:
    """The settings of a vertical. Later sources override earlier ones: defaults, file, `PLUMB_` variables, flags.

    Args:
        file: The TOML file. A symbolic link stays a link: the file that it names is replaced.
        flags: Text by setting path, such as `{"crawl.threads": "8"}`.
    """

    def __init__(self, file: Path, flags: Mapping[str, str] | None = None) -> None:
        self.file = file.resolve()
        self.flags = dict(flags or {})
        self._settings: Settings | None = None
        self._stamp: FileStamp | None = None

    def load(self) -> Settings:
        """Read all sources now. Raises SettingsError with one line that names the setting."""
        self._stamp = file_stamp(self.file)
        self._settings = self._build(read_toml_sections(self.file))
        return self._settings

    def effective(self, report: Callable[[str], object] = lambda _: None) -> Settings:
        """Return the settings as they are now; while the file is missing or invalid, the last valid ones.

        `report` receives the error of an invalid file once. Raises SettingsError if no settings were valid before.
        """
        if self._settings is None:
            return self.load()
        if file_stamp(self.file) != self._stamp:
            try:
                return self.load()
            except SettingsError as error:
                log.warning("using the last valid settings: %s", error)
                report(f"using the last valid settings: {error}")
        return self._settings

    def overridden(self, path: str) -> OverrideSource | None:
        """Return what overrides the value of a setting in the file; None if nothing does."""
        sources = {
            **dict.fromkeys(read_environment(os.environ), OverrideSource.ENVIRONMENT),
            **dict.fromkeys(self.flags, OverrideSource.COMMAND_LINE),
        }
        return next((source for given_path, source in sources.items() if current_path(given_path) == path), None)

    def stored(self, path: str) -> Any:
        """Return the value of a setting in the file; None if it is not set. Raises SettingsError."""
        return stored_value(self.parse(self.read().text), path)

    def read(self) -> SettingsText:
        """Read the file. Raises SettingsError if it cannot be read."""
        try:
            with self.file.open("rb") as file:
                data, changed_at = file.read(), os.fstat(file.fileno()).st_mtime
            text = data.decode().removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"cannot read {self.file}: {error}") from error
        return SettingsText(text, hashlib.sha256(data).hexdigest(), changed_at)

    def parse(self, text: str) -> Sections:
        """Return the sections of a text of the file. Raises SettingsError if it is not valid TOML."""
        return parse_toml_sections(text, self.file)

    def edit(
        self,
        find_changes: Callable[[Sections], Mapping[str, object | None]],
        actions: "ActionTable | None" = None,
        describe: Callable[[SettingsEdit], Sequence[PendingAction]] = lambda _: (),
        digest: str = "",
        is_preview: bool = False,
    ) -> SettingsEdit:
        """Write changed settings to the file and record them. All other lines of the file stay.

        If the program is killed, or the store fails after the file was replaced, the next edit or `finish_records`
        records the actions.

        Args:
            find_changes: Returns new values by path from the sections of the file, None for a default. Called again if
                another change comes between.
            actions: Records the edit. Without it, nothing is recorded.
            describe: Returns what to record.
            digest: The digest of the text that the changes are based on; "" for any.
            is_preview: Write nothing.

        Returns:
            The edit. Without changes, nothing is written or recorded.

        Raises:
            SettingsConflictError: The file has not this digest, or has changed MAX_EDIT_ATTEMPTS times meanwhile.
            SettingsError: A program or a crawl with the new settings would fail, the environment or a flag overrides
                a changed setting, or the file cannot be written.
            StoreError: Actions of an earlier edit cannot be recorded. The file is unchanged.
        """
        for attempts_left in reversed(range(MAX_EDIT_ATTEMPTS)):
            current = self.read()
            if digest and current.digest != digest:
                raise SettingsConflictError(self.file.name, current.changed_at)
            edit = self._prepare(current.text, find_changes)
            if not edit.changes or is_preview:
                break
            try:
                self._save(edit, current.digest, actions, describe(edit))
                break
            except SettingsConflictError:
                if digest or not attempts_left:
                    raise
        return edit

    def _prepare(self, text: str, find_changes: Callable[[Sections], Mapping[str, object | None]]) -> SettingsEdit:
        """Return a checked edit of a text. Raises SettingsError."""
        from pipeline.settings_text import apply_changes, plain_value  # late, because few commands need tomlkit

        before = self.parse(text)
        changes = {
            path: value
            for path, value in find_changes(before).items()
            if plain_value(value) != stored_value(before, path)
        }
        if path := next(filter(self.overridden, changes), ""):
            raise SettingsError("This setting is overridden outside the file.")
        new_text = apply_changes(text, changes)
        after = self.parse(new_text)
        settings = self._build(after)
        if any(path.startswith("crawl.") for path in changes):
            check_crawl(settings)
        return SettingsEdit(text, new_text, before, after, changes)

    def _save(
        self, edit: SettingsEdit, digest: str, actions: "ActionTable | None", pending: Sequence[PendingAction]
    ) -> None:
        """Replace the file if it still has a digest, and record it. Raises as `edit`."""
        journal = self._journal(actions)
        try:
            with self._lock():
                current = self.read()
                if current.digest != digest:
                    raise SettingsConflictError(self.file.name, current.changed_at)
                if journal is not None:
                    journal.finish(current.text)
                    journal.begin(edit.old_text, edit.new_text, pending)
                self._replace(edit.new_text, has_credentials(edit.after))
                finish_journal(journal, edit.new_text)
        except OSError as error:
            raise SettingsError(f"cannot write {self.file}: {error.strerror}") from error

    def finish_records(self, actions: "ActionTable") -> None:
        """Record the saved changes of a program that was killed before it recorded them."""
        journal = self._journal(actions)
        if journal is None or not journal.path.exists():
            return
        try:
            with self._lock():
                finish_journal(journal, self.read().text)
        except (OSError, SettingsError) as error:
            log.error("changes of %s are not recorded yet: %s", self.file, error)

    def _journal(self, actions: "ActionTable | None") -> "SettingsJournal | None":
        from pipeline.settings_journal import SettingsJournal

        return None if actions is None else SettingsJournal(self.file, actions)

    def _build(self, file_sections: Sections) -> Settings:
        """Return the settings of all sources. Raises SettingsError with the message that the program would print."""
        environment, sections = read_environment(os.environ), split_paper_tables(file_sections)
        file_paths = (f"{section}.{key}" for section, values in sections.items() for key in values)
        return replace(
            build_settings(overlay(overlay(sections, environment), self.flags), self.file.parent),
            source=self,
            deprecated_settings=find_deprecated([*file_paths, *environment, *self.flags]),
        )

    def _replace(self, text: str, is_secret: bool) -> None:
        """Replace the file. It keeps its line ends, and its mode unless the text has credentials. Raises OSError."""
        if b"\r\n" in self.file.read_bytes():
            text = text.replace("\n", "\r\n")
        mode = CREDENTIALS_MODE if is_secret else stat.S_IMODE(self.file.stat().st_mode)
        with replace_file(self.file) as file:
            os.fchmod(file.fileno(), mode)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Exclude other threads and processes that save. A save takes milliseconds, so waiting has no limit."""
        with open(self.file.with_name(f".{self.file.name}.lock"), "ab", opener=open_private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def file_stamp(path: Path) -> FileStamp | None:
    """Return what changes with every change of a file; None if there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def stored_value(sections: Sections, path: str) -> Any:
    """Return the value of a setting in parsed TOML; None if it is not set."""
    section, _, key = path.partition(".")
    return sections.get(section, {}).get(key)


def check_crawl(settings: Settings) -> None:
    """Raise SettingsError if a crawl with these settings would fail. The seeds of a topic are not in the settings."""
    from crawler.crawl_plan import build_crawl_plan
    from crawler.host_suggestions import with_added_sites

    if settings.crawl.seeds and not settings.crawl.topic:
        build_crawl_plan(with_added_sites(settings.crawl, settings.data_dir))


def finish_journal(journal: "SettingsJournal | None", text: str) -> None:
    """Record what is in the journal. If the store fails, the journal remains. Raises OSError or SettingsError."""
    try:
        if journal is not None:
            journal.finish(text)
    except StoreError as error:
        log.error("changes of the settings are not recorded yet: %s", error)
