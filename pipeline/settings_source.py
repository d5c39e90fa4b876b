"""The one reader and writer of the settings of a vertical: its file, the environment and the flags of a call.

An edit keeps the comments of the file, and replaces it as a whole, never over a change that its author has not seen.
"""

import fcntl
import hashlib
import logging
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.site import Sites, table_host
from domain.administration import PendingAction
from domain.errors import SettingsConflictError, SettingsError, StoreError
from locks.private_files import open_private, replace_file, write_private_file
from pipeline.deprecated_settings import current_path, find_deprecated
from pipeline.old_site_settings import (
    DEPRECATED_SITE_SETTINGS,
    OLD_SITE_SETTINGS,
    check_old_files,
    find_old_settings,
    replace_old_settings,
    retire_old_files,
)
from pipeline.settings import (
    SITES,
    OverrideSource,
    Settings,
    VerticalSettings,
    build_settings,
    has_credentials,
    overlay,
    parse_toml_sections,
    read_environment,
)

if TYPE_CHECKING:
    from docstore.operations import OperationTable

log = logging.getLogger(__name__)

BYTE_ORDER_MARK = "\ufeff"
CREDENTIALS_MODE = 0o600  # of a file with passwords, headers, cookies
Sections = Mapping[str, Any]
"""Parsed TOML: section -> key -> value, and the tables `sites`."""
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
    """Text and sections of the file before and after an edit, and the new values by path; none if nothing changes.

    `has_new_sites`: the tables [[sites]] change, or replace old settings of sites. `actions`: what is recorded.
    """

    old_text: str
    new_text: str
    before: Sections
    after: Sections
    changes: Mapping[str, object | None]
    has_new_sites: bool = False
    actions: Sequence[PendingAction] = ()


class SettingsSource:
    """The settings of a vertical. Later sources override earlier ones: defaults, file, `PLUMB_` variables, flags.

    Args:
        file: The TOML file. A symbolic link stays a link: the file that it names is replaced.
        flags: Text by setting path, such as `{"crawl.threads": "8"}`.
    """

    def __init__(self, file: Path, flags: Mapping[str, str] | None = None) -> None:
        self._path = file.absolute()
        self.flags = dict(flags or {})
        self._settings: Settings | None = None
        self._stamp: FileStamp | None = None

    @property
    def file(self) -> Path:
        """The file that a symbolic link names now."""
        return self._path.resolve()

    def load(self) -> Settings:
        """Read all sources now. Raises SettingsError with one line that names the setting."""
        self._stamp = file_stamp(self.file)
        sections = parse_toml_sections(self.read().text, self.file)
        settings = self._build(self._with_sites(sections))
        file_paths = (f"{section}.{key}" for section, values in sections.items() for key in values if section != SITES)
        used_paths = {*file_paths, *read_environment(os.environ), *self.flags}.difference(OLD_SITE_SETTINGS)
        used_paths |= find_old_settings(self._overlay(sections)).keys()
        deprecated = find_deprecated(used_paths, DEPRECATED_SITE_SETTINGS)
        self._settings = replace(settings, deprecated_settings=deprecated)
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
        except FileNotFoundError:
            message = f"{self.file} does not exist: create it with `plumb init`, or pass another config file"
            raise SettingsError(message) from None
        except OSError as error:
            raise SettingsError(f"cannot read {self.file}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise SettingsError(f"{self.file} is not valid TOML: {error}") from error
        return SettingsText(text, hashlib.sha256(data).hexdigest(), changed_at)

    def parse(self, text: str) -> Sections:
        """Return the sections of a text of the file, in which tables [[sites]] replace the old settings of sites.

        Raises SettingsError if it is not valid TOML.
        """
        return self._with_sites(parse_toml_sections(text, self.file))

    def _with_sites(self, sections: Sections) -> Sections:
        """Return sections of the file without old settings of sites. Raises SettingsError."""
        if SITES in sections and (old_path := next(iter(find_old_settings(sections)), "")):
            raise SettingsError(f"{old_path} and [[sites]] are settings of the same sites: remove {old_path}")
        return replace_old_settings(sections, self._data_dir(sections))

    def _data_dir(self, sections: Sections) -> Path:
        return self.file.parent / (
            stored_value(self._overlay(sections), "vertical.data_dir") or VerticalSettings.data_dir
        )

    def edit(
        self,
        find_changes: Callable[[Sections], Mapping[str, object | None]],
        actions: "OperationTable | None" = None,
        describe: Callable[[SettingsEdit], Sequence[PendingAction]] = lambda _: (),
        digest: str = "",
        is_preview: bool = False,
        site_keys: Collection[str] = (),
    ) -> SettingsEdit:
        """Write changed settings to the file and record them. All other lines of the file stay.

        If the program is killed, or the store fails after the file was replaced, the next edit or `finish_records`
        records the actions.

        Args:
            find_changes: Returns new values by path from the sections of the file, None for a default.
            actions: Records the edit. Without it, nothing is recorded.
            describe: Returns what to record.
            digest: The digest of the text that the changes are based on; "" for any.
            is_preview: Write nothing.
            site_keys: Keys of [[sites]] that must count, even if the file has the wanted values already.

        Returns:
            The edit. Without changes, nothing is written or recorded.

        Raises:
            SettingsConflictError: The file has not this digest.
            SettingsError: A program or a crawl with the new settings would fail, the environment or a flag overrides
                a changed setting, or the file cannot be written.
            StoreError: Actions of an earlier edit cannot be recorded. The file is unchanged.
        """
        with nullcontext() if is_preview else self._lock():
            current = self.read()
            if digest and current.digest != digest:
                raise SettingsConflictError(self.file.name, current.changed_at)
            edit = self._prepare(current.text, find_changes, site_keys)
            if edit.changes and not is_preview:
                edit = replace(edit, actions=describe(edit))
                self._save(edit, actions)
            return edit

    def _prepare(
        self, text: str, find_changes: Callable[[Sections], Mapping[str, object | None]], site_keys: Collection[str]
    ) -> SettingsEdit:
        """Return a checked edit of a text. Raises SettingsError."""
        from pipeline.settings_text import apply_changes, plain_value  # late, because few commands need tomlkit

        raw_sections, before = parse_toml_sections(text, self.file), self.parse(text)
        Sites.parse(before.get(SITES, ()))  # of two tables of a host, an edit would lose one
        new_values = find_changes(before).items()
        changes = {path: value for path, value in new_values if plain_value(value) != stored_value(raw_sections, path)}
        keys = {*site_keys, *(changed_site_keys(before, changes[SITES]) if SITES in changes else ())}
        overridden_paths = [*filter(self.overridden, [*changes, *([SITES] if keys else [])])]
        overridden_paths += [path for path in find_old_settings(self._overlay({})) if OLD_SITE_SETTINGS[path] in keys]
        if overridden_paths:
            raise SettingsError("{path} is overridden outside the file.", path=overridden_paths[0])
        old_paths, all_changes = find_old_settings(raw_sections).keys(), changes
        if SITES in changes or old_paths & changes.keys():
            check_old_files(self._data_dir(raw_sections))
            removals = {path: stored_value(before, path) for path in old_paths}  # None, or crawl.rendered = "auto"
            all_changes = {**removals, SITES: before.get(SITES), **changes}
        new_text = apply_changes(text, all_changes)
        after = parse_toml_sections(new_text, self.file)
        settings = self._build(after if SITES in all_changes else self._with_sites(after))
        has_urls = settings.crawl.sites.seeds or any(table.get("urls") for table in before.get(SITES, ()))
        if has_urls and any(path == SITES or path.startswith("crawl.") for path in changes):
            check_crawl(settings)
        if "schedule" in keys or any(path == "crawl.quiet_hours" or path.startswith("schedule.") for path in changes):
            from pipeline.runs.timetable import check_start_times  # late, because few commands need APScheduler

            check_start_times(settings)
        return SettingsEdit(text, new_text, before, after, changes, SITES in all_changes)

    def _save(self, edit: SettingsEdit, actions: "OperationTable | None") -> None:
        """Replace the file and record it. Raises OSError or StoreError."""
        from pipeline.settings_journal import SettingsJournal

        journal = SettingsJournal(self.file, actions) if actions is not None else None
        if journal is not None:
            journal.finish(edit.old_text)
            journal.begin(edit.old_text, edit.new_text, edit.actions)
        if edit.has_new_sites and find_old_settings(parse_toml_sections(edit.old_text, self.file)):
            write_private_file(self.file.with_name(f"{self.file.name}.before-upgrade"), edit.old_text.encode())
        self._replace(edit.new_text)
        if edit.has_new_sites:
            retire_old_files(self._data_dir(edit.after))
        try:
            if journal is not None:
                journal.finish(edit.new_text)
        except StoreError as error:
            log.error("changes of %s are not recorded yet: %s", self.file, error)

    def finish_records(self, actions: "OperationTable") -> None:
        """Record the saved changes of a program that was killed before it recorded them."""
        from pipeline.settings_journal import SettingsJournal

        journal = SettingsJournal(self.file, actions)
        try:
            if journal.path.exists():
                with self._lock():
                    journal.finish(self.read().text)
        except (SettingsError, StoreError) as error:
            log.error("changes of %s are not recorded yet: %s", self.file, error)

    def _build(self, file_sections: Sections) -> Settings:
        """Return the settings of all sources. Raises SettingsError with the message that the program would print."""
        return replace(build_settings(self._overlay(file_sections), self.file.parent), source=self)

    def _overlay(self, sections: Sections) -> Sections:
        """Return sections with the values of the environment and the flags. Raises SettingsError."""
        return overlay(overlay(sections, read_environment(os.environ)), self.flags)

    def check_writable(self) -> None:
        """Replace the file by itself. Raises SettingsError if it cannot be replaced, as where it is mounted."""
        with self._lock():
            self._replace(self.read().text)

    def _replace(self, text: str) -> None:
        """Replace the file. Line ends, owner and mode stay; with credentials it is not public. Raises OSError."""
        if b"\r\n" in self.file.read_bytes():
            text = text.replace("\n", "\r\n")
        mode = stat.S_IMODE(self.file.stat().st_mode)
        if mode & stat.S_IRWXO and has_credentials(self.parse(text)):
            mode = CREDENTIALS_MODE
        with replace_file(self.file) as file:
            self._give_to_owner(file.fileno())
            os.fchmod(file.fileno(), mode)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Exclude others that save, which takes milliseconds. Raises SettingsError in place of OSError."""
        try:
            with open(self.file.with_name(f".{self.file.name}.lock"), "ab", opener=open_private) as file:
                self._give_to_owner(file.fileno())
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise SettingsError(f"cannot write {self.file}: {error.strerror}") from error

    def _give_to_owner(self, descriptor: int) -> None:
        """Give a file to owner and group of the settings file if the process may."""
        with suppress(OSError):
            status = self.file.stat()
            os.fchown(descriptor, status.st_uid if os.geteuid() == 0 else -1, status.st_gid)


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
    return sections.get(section, {}).get(key) if key else sections.get(section)


def changed_site_keys(before: Sections, tables: Any) -> set[str]:
    """Return the keys of tables [[sites]] with other values than before."""
    groups = (before.get(SITES, ()), tables)
    old_tables, new_tables = ({table_host(table): table for table in group} for group in groups)
    return {
        key
        for host in old_tables.keys() | new_tables.keys()
        for old, new in [(old_tables.get(host, {}), new_tables.get(host, {}))]
        for key in old.keys() | new.keys()
        if old.get(key) != new.get(key)
    }


def check_crawl(settings: Settings) -> None:
    """Raise SettingsError if a crawl with these settings would fail. The seeds of a topic are not in the settings."""
    from crawler.crawl_plan import build_crawl_plan

    if not settings.crawl.topic:
        build_crawl_plan(settings.crawl)
