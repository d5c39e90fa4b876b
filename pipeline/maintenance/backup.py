"""Back up a vertical while it is in use, and restore it.

    FOLDER/plumbline-20261123-023000/   store.db warc/ files/ vertical.toml manifest.json

The database is copied first, with the backup API of SQLite. At that time every page of the database has its WARC
record. WARC files are append-only, so each is copied up to its current size. The manifest (size and SHA-256 of each
file) is written last; then the folder gets its final name. An interrupted backup has no manifest and is not a backup.
A WARC file that is unchanged since the newest backup of this store in FOLDER is hard-linked instead of copied.

    DATA/copies/plumbline-20261123-023000/   store.db files/ manifest.json

Each run ends with such a copy of what cannot be crawled again: decisions, accounts, topics, sites. It is verified like
a backup. One copy a day is kept, of the last seven days.
"""

import errno
import hashlib
import json
import os
import shutil
import sqlite3
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crawler.http.login_secrets import SECRETS_FILE
from crawler.state_files import read_state, write_state
from docstore.database import Database, sqlite_url, to_store_error
from docstore.follows import FOLLOWS_FILE
from docstore.integrity.integrity_checks import IntegrityChecks, find_sqlite_faults
from docstore.integrity.rebuild import copy_decisions
from docstore.schema import SCHEMA_VERSION
from domain.errors import PlumblineError, StoreFullError
from domain.progress import ProgressTask, no_progress, track
from locks.private_files import write_private_file
from maven_jars.jar_cache import file_sha256
from pipeline.runs.live_progress import LIVE_PROGRESS_FILE
from pipeline.settings import Settings

MANIFEST_FILE, DATABASE_FILE, WARC_DIR, STATE_DIR, CONFIG_FILE = (
    "manifest.json",
    "store.db",
    "warc",
    "files",
    "vertical.toml",
)
COPIES_DIR = "copies"  # in the data folder
KEPT_COPIES = 7
COPIED_STATE_PATTERNS = ("*.json", "topics/*.json", "session.key")
BACKUP_PREFIX, PARTIAL_PREFIX = "plumbline-", ".unfinished-"
# Entries of the data folder that can be recreated, are copied separately, or are secret.
EXCLUDED_NAMES = frozenset(
    {
        *(WARC_DIR, COPIES_DIR, "solr", "logs", "locks", "pictures", "seen.bloom", "backups.json", LIVE_PROGRESS_FILE),
        SECRETS_FILE,  # if the data folder is that of the settings
    }
)
BACKUP_LOCATIONS_FILE = "backups.json"  # in the data folder: the folders of earlier backups
MAX_BACKUP_LOCATIONS = 8
COPY_CHUNK_BYTES = 1 << 20
DAY_SECONDS = 86_400


class BackupError(PlumblineError):
    """A backup cannot be created, is incomplete or cannot be restored."""


@dataclass(frozen=True)
class Manifest:
    """Contents of manifest.json.

    Attributes:
        created_at: Creation time in epoch seconds; key `made` in the file.
        program: Version of Plumbline.
        schema: Schema version of the database.
        store_id: Id of the store.
        files: Path -> (size in bytes, SHA-256 as hexadecimal text).
    """

    created_at: float
    program: str
    schema: int
    store_id: str
    files: Mapping[str, tuple[int, str]]


# -- create


def create_backup(
    settings: Settings, config: Path | None, folder: Path, progress_task: ProgressTask = no_progress
) -> Path:
    """Copy the vertical into a new subfolder of `folder`; returns the subfolder.

    `config` is the config file; None copies only what cannot be crawled again. `progress_task` reports the WARC files.

    Raises BackupError if the store is not an SQLite file in data_dir, is damaged, or the copy cannot be written.
    """
    database_file = require_sqlite_file(settings)
    if config is not None and folder.resolve().is_relative_to(settings.data_dir.resolve()):
        raise BackupError(f"{folder} is in the data folder, which is lost with its disk: name a folder on another disk")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    staging_dir, final_dir = folder / f"{PARTIAL_PREFIX}{stamp}-{os.getpid()}", folder / f"{BACKUP_PREFIX}{stamp}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        delete_killed_backups(folder)
        staging_dir.mkdir(mode=0o700)
        store_id = copy_database(database_file, staging_dir / DATABASE_FILE, is_complete=config is not None)
        if config is None:
            names = [file for pattern in COPIED_STATE_PATTERNS for file in settings.data_dir.glob(pattern)]
            files = dict(copy_state_files(settings.data_dir, names, staging_dir))
        else:
            previous_backup = next(iter(find_backups([folder], store_id)), None)
            files = dict(copy_files(settings, config, staging_dir, previous_backup, progress_task))
        files |= copy_follows(settings.data_dir, staging_dir)
        files[DATABASE_FILE] = (
            staging_dir.joinpath(DATABASE_FILE).stat().st_size,
            file_sha256(staging_dir / DATABASE_FILE),
        )
        manifest = Manifest(time.time(), version("plumbline-search"), SCHEMA_VERSION, store_id, files)
        write_private_file(staging_dir / MANIFEST_FILE, json.dumps(manifest_json(manifest), indent=1).encode())
        while final_dir.exists():  # another backup started in the same second
            final_dir = final_dir.with_name(f"{final_dir.name}a")
        staging_dir.rename(final_dir)
    except OSError as error:
        shutil.rmtree(staging_dir, ignore_errors=True)
        raise BackupError(f"cannot write the backup to {folder} ({error.strerror}): it was removed") from error
    except BaseException:
        shutil.rmtree(staging_dir, ignore_errors=True)
        raise
    if config is not None:
        remember_backup_location(settings.data_dir, folder, store_id)
    return final_dir


def create_daily_copy(settings: Settings) -> None:
    """Copy what cannot be crawled again into the data folder, and delete older copies. Raises BackupError."""
    folder, days = settings.data_dir / COPIES_DIR, set[str]()
    create_backup(settings, None, folder)
    for copy in find_backups([folder], None):
        day = copy.name[: len(BACKUP_PREFIX) + 8]
        if day in days or len(days) >= KEPT_COPIES:
            shutil.rmtree(copy, ignore_errors=True)
        days.add(day)


def delete_killed_backups(folder: Path) -> None:
    """Delete the unfinished backups in `folder` to which no process has written for a day."""
    for leftover in folder.glob(f"{PARTIAL_PREFIX}*"):
        if max(path.stat().st_mtime for path in (leftover, *leftover.rglob("*"))) < time.time() - DAY_SECONDS:
            shutil.rmtree(leftover, ignore_errors=True)


def require_sqlite_file(settings: Settings) -> Path:
    """Return the database file. Raises BackupError if the store is on a server, elsewhere or missing."""
    if settings.store.url and not settings.store.url.startswith("sqlite"):
        raise BackupError("the store is a PostgreSQL database: back it up with pg_dump, and copy the data folder")
    if settings.store.url:
        raise BackupError("store.url is set: only a store in data_dir can be backed up (empty store.url)")
    file = settings.data_dir / DATABASE_FILE
    if not file.exists():
        raise BackupError(f"no store at {file}: nothing to back up")
    return file


def copy_database(source: Path, target: Path, is_complete: bool) -> str:
    """Copy a store that may be in use, or what cannot be crawled again of it, and verify the copy; returns its id.

    Raises BackupError if the store is damaged, and OSError if the disk is full.
    """
    copy_sqlite(source, target, "the store", REPAIR_ADVICE, is_complete)
    with closing(Database(sqlite_url(target))) as database:
        integrity = IntegrityChecks(database)
        integrity.ensure_row_checksums()  # after an upgrade, the store has those of the earlier version until it runs
        damaged_tables = list(integrity.damaged_rows())
        store_id = database.store_id
    for leftover in ("-wal", "-shm"):
        target.with_name(target.name + leftover).unlink(missing_ok=True)
    if damaged_tables:
        raise BackupError(f"the store is damaged (rows of {', '.join(damaged_tables)}): {REPAIR_ADVICE}")
    return store_id


REPAIR_ADVICE = "run `plumb check --repair`, which restores intact parts from the last backup"


def copy_sqlite(source: Path, target: Path, name: str, advice: str, is_complete: bool = True) -> None:
    """Copy a database that may be in use, or the decisions of a store, and check the copy.

    `name` and `advice` are parts of the messages. Raises BackupError if it is damaged, and OSError if the disk is full.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(source)) as source_db, closing(sqlite3.connect(target)) as target_db:
            if is_complete:
                source_db.backup(target_db)
            else:
                copy_decisions(source, target)
            faults = find_sqlite_faults(target_db)
    except sqlite3.Error as error:
        if isinstance(to_store_error(error), StoreFullError):
            raise OSError(errno.ENOSPC, str(error)) from error
        raise BackupError(f"{name} cannot be copied ({error}): {advice}") from error
    if faults:
        raise BackupError(f"{name} is damaged ({faults[0]}): {advice}")


def copy_follows(data_dir: Path, target: Path) -> Mapping[str, tuple[int, str]]:
    """Copy the database of followed searches; returns (size, SHA-256) by path, empty if there is none.

    Raises BackupError if it is damaged, and OSError if the disk is full.
    """
    source, name = data_dir / FOLLOWS_FILE, f"{STATE_DIR}/{FOLLOWS_FILE}"
    if not source.exists():
        return {}
    (target / STATE_DIR).mkdir(mode=0o700, exist_ok=True)
    copy_sqlite(source, target / name, str(source), REPAIR_ADVICE)
    return {name: ((target / name).stat().st_size, file_sha256(target / name))}


def copy_files(
    settings: Settings, config: Path, target: Path, previous_backup: Path | None, progress_task: ProgressTask
) -> Iterator[tuple[str, tuple[int, str]]]:
    """Copy all files except the database; yields (path, (size, SHA-256))."""
    previous = read_manifest(previous_backup) if previous_backup else None
    for file in track(progress_task, "backup", sorted((settings.data_dir / WARC_DIR).glob("*"))):
        name, status = f"{WARC_DIR}/{file.name}", file.stat()
        size, digest = previous.files.get(name, (-1, "")) if previous else (-1, "")
        is_unchanged = previous and size == status.st_size and status.st_mtime < previous.created_at
        if is_unchanged and previous_backup and try_hardlink(previous_backup / name, target / name, digest):
            yield name, (size, digest)
        else:
            yield name, copy_with_digest(file, target / name)
    yield from copy_state_files(settings.data_dir, iter_state_files(settings.data_dir), target)
    yield CONFIG_FILE, copy_with_digest(config, target / CONFIG_FILE)


def copy_state_files(data_dir: Path, files: Iterable[Path], target: Path) -> Iterator[tuple[str, tuple[int, str]]]:
    """Copy files of the data folder; yields (path, (size, SHA-256))."""
    for file in files:
        name = f"{STATE_DIR}/{file.relative_to(data_dir).as_posix()}"
        with suppress(FileNotFoundError):  # replaced or deleted in the meantime
            yield name, copy_with_digest(file, target / name)


def iter_state_files(folder: Path) -> Iterator[Path]:
    """Yield the other files of the data folder that cannot be recreated."""
    for entry in sorted(folder.iterdir()):
        is_database = entry.name.startswith((DATABASE_FILE, FOLLOWS_FILE))
        if entry.name in EXCLUDED_NAMES or is_database or entry.name.startswith(".") or ".damaged-" in entry.name:
            continue
        for file in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
            if file.is_file() and not file.name.endswith(".new"):
                yield file


def copy_with_digest(source: Path, target: Path) -> tuple[int, str]:
    """Copy a file, up to the size it has when it is opened, with mode 600; returns size and SHA-256. Raises OSError."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with (
        source.open("rb") as source_file,
        os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target_file,
    ):
        size = os.fstat(source_file.fileno()).st_size
        while block := source_file.read(min(size - target_file.tell(), COPY_CHUNK_BYTES)):
            digest.update(block)
            target_file.write(block)
        target_file.flush()
        os.fsync(target_file.fileno())
        return target_file.tell(), digest.hexdigest()


def try_hardlink(source: Path, target: Path, digest: str) -> bool:
    """Create `target` as a hard link to `source`; returns False if that has another SHA-256 or the disk cannot."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        if file_sha256(source) != digest:
            return False
        target.hardlink_to(source)
    except OSError:
        return False
    return True


# -- find


def remember_backup_location(data_dir: Path, folder: Path, store_id: str) -> None:
    """Record the folder of a backup, and the id of the store if it becomes unreadable, for `plumb check --repair`."""
    locations = list(dict.fromkeys([str(folder.resolve()), *backup_locations(data_dir)]))[:MAX_BACKUP_LOCATIONS]
    write_state(data_dir / BACKUP_LOCATIONS_FILE, {"folders": locations, "store_id": store_id})


def backup_locations(data_dir: Path) -> list[str]:
    """Return the folders of earlier backups, the most recent first."""
    return [str(location) for location in read_state(data_dir / BACKUP_LOCATIONS_FILE).get("folders", ())]


def find_backups(folders: Iterable[Path], store_id: str | None) -> list[Path]:
    """Return the complete backups and copies of a store in these folders, the newest first; of all stores if None."""
    created_at_by_backup = {}
    for backup in (backup for folder in folders for backup in folder.glob(f"{BACKUP_PREFIX}*")):
        with suppress(BackupError):
            manifest = read_manifest(backup)
            if store_id is None or manifest.store_id == store_id:
                created_at_by_backup[backup] = manifest.created_at
    return sorted(created_at_by_backup, key=lambda backup: (created_at_by_backup[backup], backup), reverse=True)


def find_known_backup(data_dir: Path) -> Path | None:
    """Return the newest complete backup of this store in the folders of earlier backups, or None."""
    return next(iter(find_backups(map(Path, backup_locations(data_dir)), read_store_id(data_dir))), None)


def find_repair_sources(data_dir: Path, folder: Path | None) -> list[Path]:
    """Return the backups and copies of this store, the newest first.

    Args:
        data_dir: The data folder.
        folder: A backup, or a folder of backups; None: the folders of earlier backups.

    Raises BackupError if `folder` is a backup of another store, or if nothing tells which backups are of this one.
    """
    store_id = read_store_id(data_dir)
    if folder is not None and (folder / MANIFEST_FILE).exists():
        backup_id = read_manifest(folder).store_id
        if store_id not in ("", backup_id):
            raise BackupError(
                f"{folder} is a backup of another store ({backup_id}, this is {store_id}): use another one"
            )
        sources = [folder, *find_backups([data_dir / COPIES_DIR], backup_id)]
        return sorted(sources, key=lambda source: read_manifest(source).created_at, reverse=True)
    folders = [folder] if folder else [Path(location) for location in backup_locations(data_dir)]
    backups = find_backups([*folders, data_dir / COPIES_DIR], store_id or None)
    if backups and not store_id:
        raise BackupError(
            "the id of the store is unreadable: name its newest backup with --backup FOLDER/plumbline-..."
        )
    return backups


def read_store_id(data_dir: Path) -> str:
    """Return the id of the store of a vertical, from a copy or the list of backups if it is damaged; "" if unknown."""
    uri = f"{(data_dir / DATABASE_FILE).absolute().as_uri()}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as store:
        store.execute("PRAGMA writable_schema=ON")  # to read a truncated file
        for (store_id,) in store.execute("SELECT value FROM meta WHERE key = 'store_id'"):
            return str(store_id)
    for copy in find_backups([data_dir / COPIES_DIR], None):
        return read_manifest(copy).store_id
    return str(read_state(data_dir / BACKUP_LOCATIONS_FILE).get("store_id", ""))


def find_intact_copies(backups: Sequence[Path]) -> list[Path]:
    """Return the newest backup and the newest copy whose database has the SHA-256 of the manifest, in their order."""
    intact_by_kind: dict[bool, Path] = {}
    for backup in backups:
        is_copy = CONFIG_FILE not in (files := read_manifest(backup).files)
        if is_copy not in intact_by_kind:
            with suppress(OSError, KeyError):
                if file_sha256(backup / DATABASE_FILE) == files[DATABASE_FILE][1]:
                    intact_by_kind[is_copy] = backup
    return list(intact_by_kind.values())


def manifest_json(manifest: Manifest) -> dict[str, Any]:
    """Convert a manifest to the JSON object of manifest.json."""
    return {"made" if name == "created_at" else name: value for name, value in asdict(manifest).items()}


def read_manifest(backup: Path) -> Manifest:
    """Read the manifest of a backup. Raises BackupError if it is missing or invalid."""
    try:
        raw: dict[str, Any] = json.loads((backup / MANIFEST_FILE).read_text())
        files = {name: (int(size), str(digest)) for name, (size, digest) in raw.pop("files").items()}
        return Manifest(created_at=raw.pop("made"), **raw, files=files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BackupError(f"{backup} is not a complete backup ({MANIFEST_FILE}: {error}): use another one") from error


def missing_warc_files(backup: Path) -> list[str]:
    """Return the names of the WARC files that the store of a backup names but the backup does not contain."""
    files = read_manifest(backup).files
    with closing(
        sqlite3.connect(f"{(backup / DATABASE_FILE).absolute().as_uri()}?immutable=1", uri=True)
    ) as connection:
        names = [name for (name,) in connection.execute("SELECT DISTINCT warc_file FROM pages ORDER BY warc_file")]
    return [name for name in names if f"{WARC_DIR}/{name}" not in files]


# -- restore


def choose_backup(folder: Path, settings: Settings) -> Path:
    """Return the backup to restore: `folder` itself, or the newest backup in it. Raises BackupError.

    It must have the name of this vertical, and the id of its store if that is known.
    """
    known_id, name = read_store_id(settings.data_dir), settings.vertical.name
    candidates = [folder] if (folder / MANIFEST_FILE).exists() else find_backups([folder], None)
    id_by_backup = {backup: read_manifest(backup).store_id for backup in candidates if vertical_name(backup) == name}
    own_backups = [backup for backup, store_id in id_by_backup.items() if known_id in ("", store_id)]
    if not own_backups:
        raise BackupError(f"no complete backup of this vertical ({name!r}) in {folder}: pass another folder")
    if len({id_by_backup[backup] for backup in own_backups}) > 1:
        raise BackupError(f"{folder} has backups of several stores: pass one of them, such as {own_backups[0]}")
    return own_backups[0]


def vertical_name(backup: Path) -> str | None:
    """Return the name of the vertical in the config file of a backup; None if it has no readable config file."""
    try:
        return str(tomllib.loads((backup / CONFIG_FILE).read_text()).get("vertical", {}).get("name", ""))
    except (OSError, ValueError, AttributeError):
        return None


def restore_backup(backup: Path, settings: Settings, progress_task: ProgressTask = no_progress) -> Manifest:
    """Restore a backup into a data folder without a store; returns its manifest. `progress_task` reports the files.

    WARC files of this backup may be there: a restore was killed, which moves the database last.

    Raises BackupError if the folder has a store or the backup is damaged; the folder is then unchanged.
    """
    manifest, data_dir = read_manifest(backup), settings.data_dir
    if (data_dir / DATABASE_FILE).exists():
        raise BackupError(f"{data_dir} already has a store: use an empty vertical.data_dir, or move the store away")
    for file in (data_dir / WARC_DIR).glob("*"):
        if manifest.files.get(f"{WARC_DIR}/{file.name}") != (file.stat().st_size, file_sha256(file)):
            raise BackupError(f"{file} is not in {backup}: use an empty vertical.data_dir, or move the file away")
    if manifest.schema > SCHEMA_VERSION:
        raise BackupError(f"{backup} was created by a newer version (schema {manifest.schema}): update plumbline")
    staging_dir = data_dir / ".restoring"
    shutil.rmtree(staging_dir, ignore_errors=True)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        for name, size_and_digest in track(progress_task, "restore", list(manifest.files.items())):
            if name != CONFIG_FILE and copy_if_present(backup / name, staging_dir / name) != size_and_digest:
                raise BackupError(f"{backup / name} is damaged: restore another backup; nothing was changed")
        move_into_data_dir(staging_dir, data_dir)
    except OSError as error:
        raise BackupError(
            f"cannot restore the backup to {data_dir} ({error}): check the disk and run the command again"
        ) from error
    finally:
        shutil.rmtree(staging_dir, ignore_errors=True)
    return manifest


def restore_file(backup: Path, name: str, target: Path) -> bool:
    """Replace a file by the one of a backup, atomically. Returns False if the backup has none or it is damaged."""
    size_and_digest = read_manifest(backup).files.get(name)
    partial_file = target.with_name(f"{target.name}.restoring.new")
    partial_file.unlink(missing_ok=True)
    if not size_and_digest or copy_if_present(backup / name, partial_file) != size_and_digest:
        partial_file.unlink(missing_ok=True)
        return False
    partial_file.replace(target)
    return True


def copy_if_present(source: Path, target: Path) -> tuple[int, str] | None:
    """Copy a file with `copy_with_digest`; returns None if it is missing."""
    try:
        return copy_with_digest(source, target)
    except FileNotFoundError:
        return None


def move_into_data_dir(staging_dir: Path, data_dir: Path) -> None:
    """Move the copied files to their places; the database last, so that an interrupted restore leaves no store.

    Newer follows stay: otherwise followers would get the same articles twice, also those who have stopped.
    """
    for file in sorted((staging_dir / STATE_DIR).rglob("*")):
        target = data_dir / file.relative_to(staging_dir / STATE_DIR)
        if file.is_file() and not (file.name == FOLLOWS_FILE and target.exists()):
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
    (data_dir / WARC_DIR).mkdir(exist_ok=True)
    for file in (staging_dir / WARC_DIR).glob("*"):
        file.replace(data_dir / WARC_DIR / file.name)
    (staging_dir / DATABASE_FILE).replace(data_dir / DATABASE_FILE)
