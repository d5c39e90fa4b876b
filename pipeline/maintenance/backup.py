"""Back up a vertical while it is in use, and restore it.

    FOLDER/plumbline-20261123-023000/   store.db warc/ files/ vertical.toml manifest.json

The database is copied first, with the backup API of SQLite. At that time every page of the database has its WARC
record. WARC files are append-only, so each is copied up to its current size. The manifest (size and SHA-256 of each
file) is written last; then the folder gets its final name. An interrupted backup has no manifest and is not a backup.
A WARC file that is unchanged since the newest backup in FOLDER is hard-linked instead of copied.
"""

import errno
import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crawler.state_files import read_state, write_state
from docstore.database import SQLITE_WRITE_ERROR_NAMES, Database, sqlite_url
from docstore.integrity.integrity_checks import IntegrityChecks
from docstore.schema import SCHEMA_VERSION
from domain.errors import PlumblineError
from locks.private_files import write_private_file
from pipeline.runs.live_progress import LIVE_PROGRESS_FILE
from pipeline.settings import Settings

MANIFEST_FILE, DATABASE_FILE, WARC_DIR, STATE_DIR, CONFIG_FILE = (
    "manifest.json",
    "store.db",
    "warc",
    "files",
    "vertical.toml",
)
BACKUP_PREFIX, PARTIAL_PREFIX = "plumbline-", ".unfinished-"
# Entries of the data folder that can be recreated, or are copied separately.
EXCLUDED_NAMES = frozenset(
    {WARC_DIR, "solr", "logs", "locks", "pictures", "seen.bloom", "backups.json", LIVE_PROGRESS_FILE}
)
BACKUP_LOCATIONS_FILE = "backups.json"  # in the data folder: the folders of earlier backups
MAX_BACKUP_LOCATIONS = 8
COPY_CHUNK_BYTES = 1 << 20


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


def create_backup(settings: Settings, config: Path, folder: Path) -> Path:
    """Copy the vertical into a new subfolder of `folder`; returns the subfolder.

    Raises BackupError if the store is not an SQLite file in data_dir, is damaged, or the copy cannot be written.
    """
    database_file = require_sqlite_file(settings)
    previous_backup = find_newest_backup([folder])
    stamp = time.strftime("%Y%m%d-%H%M%S")
    staging_dir, final_dir = folder / f"{PARTIAL_PREFIX}{stamp}-{os.getpid()}", folder / f"{BACKUP_PREFIX}{stamp}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging_dir.mkdir(mode=0o700)
        store_id = copy_database(database_file, staging_dir / DATABASE_FILE)
        files = dict(copy_files(settings, config, staging_dir, previous_backup))
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
    remember_backup_location(settings.data_dir, folder)
    return final_dir


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


def copy_database(source: Path, target: Path) -> str:
    """Copy a store that may be in use and verify the copy; returns its id.

    Raises BackupError if the store is damaged, and OSError if the disk is full.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(source)) as source_db, closing(sqlite3.connect(target)) as target_db:
            source_db.backup(target_db)
            (integrity_result,) = target_db.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "") in ("SQLITE_FULL", *SQLITE_WRITE_ERROR_NAMES):
            raise OSError(errno.ENOSPC, str(error)) from error
        raise BackupError(f"the store cannot be copied ({error}): {REPAIR_ADVICE}") from error
    if integrity_result != "ok":
        raise BackupError(f"the store is damaged ({integrity_result}): {REPAIR_ADVICE}")
    with closing(Database(sqlite_url(target))) as database:
        integrity = IntegrityChecks(database)
        integrity.ensure_row_checksums()  # after an upgrade, the store has those of the earlier version until it runs
        damaged_tables = list(integrity.damaged_rows())
        store_id = database.store_id
    for leftover in ("-wal", "-shm", "-sums"):
        target.with_name(target.name + leftover).unlink(missing_ok=True)
    if damaged_tables:
        raise BackupError(f"the store is damaged (rows of {', '.join(damaged_tables)}): {REPAIR_ADVICE}")
    return store_id


REPAIR_ADVICE = "run `plumb check --repair`, which restores intact parts from the last backup"


def copy_files(
    settings: Settings, config: Path, target: Path, previous_backup: Path | None
) -> Iterator[tuple[str, tuple[int, str]]]:
    """Copy all files except the database; yields (path, (size, SHA-256))."""
    previous_files = read_manifest(previous_backup).files if previous_backup else {}
    for file in sorted((settings.data_dir / WARC_DIR).glob("*")):
        name, size = f"{WARC_DIR}/{file.name}", file.stat().st_size
        if (
            previous_backup
            and previous_files.get(name, (-1, ""))[0] == size
            and try_hardlink(previous_backup / name, target / name)
        ):
            yield name, previous_files[name]
        else:
            yield name, (size, copy_with_digest(file, target / name, size))
    for file in iter_state_files(settings.data_dir):
        name = f"{STATE_DIR}/{file.relative_to(settings.data_dir).as_posix()}"
        with suppress(FileNotFoundError):  # replaced or deleted in the meantime
            size = file.stat().st_size
            yield name, (size, copy_with_digest(file, target / name, size))
    yield CONFIG_FILE, (config.stat().st_size, copy_with_digest(config, target / CONFIG_FILE, config.stat().st_size))


def iter_state_files(folder: Path) -> Iterator[Path]:
    """Yield the other files of the data folder that cannot be recreated."""
    for entry in sorted(folder.iterdir()):
        if entry.name in EXCLUDED_NAMES or entry.name.startswith((DATABASE_FILE, ".")):
            continue
        for file in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
            if file.is_file() and not file.name.endswith(".new"):
                yield file


def copy_with_digest(source: Path, target: Path, size: int) -> str:
    """Copy the first `size` bytes to a file with mode 600; returns their SHA-256. Raises OSError."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with (
        source.open("rb") as source_file,
        os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target_file,
    ):
        while size > 0 and (block := source_file.read(min(size, COPY_CHUNK_BYTES))):
            digest.update(block)
            target_file.write(block)
            size -= len(block)
        target_file.flush()
        os.fsync(target_file.fileno())
    return digest.hexdigest()


def try_hardlink(source: Path, target: Path) -> bool:
    """Create `target` as a hard link to `source`; returns False if the file system cannot."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        return False
    return True


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- find


def remember_backup_location(data_dir: Path, folder: Path) -> None:
    """Record the folder of a backup, for `plumb check --repair`."""
    locations = [str(folder.resolve()), *backup_locations(data_dir)]
    write_state(data_dir / BACKUP_LOCATIONS_FILE, {"folders": list(dict.fromkeys(locations))[:MAX_BACKUP_LOCATIONS]})


def backup_locations(data_dir: Path) -> list[str]:
    """Return the folders of earlier backups, the most recent first."""
    return [str(location) for location in read_state(data_dir / BACKUP_LOCATIONS_FILE).get("folders", ())]


def find_newest_backup(folders: list[Path]) -> Path | None:
    """Return the newest complete backup in these folders, or None."""
    backups = [
        backup
        for folder in folders
        for backup in folder.glob(f"{BACKUP_PREFIX}*")
        if (backup / MANIFEST_FILE).is_file()
    ]
    return max(backups, key=lambda backup: backup.name, default=None)


def find_known_backup(data_dir: Path) -> Path | None:
    """Return the newest complete backup in the folders of earlier backups, or None."""
    return find_newest_backup([Path(location) for location in backup_locations(data_dir)])


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


def restore_backup(backup: Path, settings: Settings) -> Manifest:
    """Restore a backup into a data folder without a store; returns its manifest.

    Raises BackupError if the folder has a store or the backup is damaged; the folder is then unchanged.
    """
    manifest, data_dir = read_manifest(backup), settings.data_dir
    if (data_dir / DATABASE_FILE).exists() or any((data_dir / WARC_DIR).glob("*")):
        raise BackupError(f"{data_dir} already has a store: use an empty vertical.data_dir, or move the store away")
    if manifest.schema > SCHEMA_VERSION:
        raise BackupError(f"{backup} was created by a newer version (schema {manifest.schema}): update plumbline")
    staging_dir = data_dir / ".restoring"
    shutil.rmtree(staging_dir, ignore_errors=True)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        for name, (size, digest) in manifest.files.items():
            if name != CONFIG_FILE and copy_if_present(backup / name, staging_dir / name, size) != digest:
                raise BackupError(f"{backup / name} is damaged: restore another backup; nothing was changed")
        move_into_data_dir(staging_dir, data_dir)
    except OSError as error:
        raise BackupError(
            f"cannot restore the backup to {data_dir} ({error}): check the disk and run the command again"
        ) from error
    finally:
        shutil.rmtree(staging_dir, ignore_errors=True)
    return manifest


def copy_if_present(source: Path, target: Path, size: int) -> str:
    """Copy a file with `copy_with_digest`; returns "" if it is missing or has another size."""
    try:
        return copy_with_digest(source, target, size) if source.stat().st_size == size else ""
    except FileNotFoundError:
        return ""


def move_into_data_dir(staging_dir: Path, data_dir: Path) -> None:
    """Move the copied files to their places; the database last, so that an interrupted restore leaves no store."""
    for file in sorted((staging_dir / STATE_DIR).rglob("*")):
        if file.is_file():
            target = data_dir / file.relative_to(staging_dir / STATE_DIR)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
    (data_dir / WARC_DIR).mkdir(exist_ok=True)
    for file in (staging_dir / WARC_DIR).glob("*"):
        file.replace(data_dir / WARC_DIR / file.name)
    (staging_dir / DATABASE_FILE).replace(data_dir / DATABASE_FILE)
