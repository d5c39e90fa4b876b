"""A copy of a vertical in a folder of its own, consistent while everything runs, and back again.

    FOLDER/plumbline-20261123-023000/   store.db warc/ files/ vertical.toml manifest.json

The database is copied first, by SQLite itself: every page it knows of has its record in the WARC files by then, and
those are only ever added to, so each is copied up to its size of that moment. The manifest, with size and SHA-256 of
every file, is written last and the folder gets its name then: what was broken off has none, and is no backup. A WARC
file that the newest backup beside it has already is not copied but linked.
"""

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
from docstore.database import Database
from docstore.errors import PlumblineError
from docstore.integrity.row_sums import SEALED, damaged_keys
from docstore.schema import SCHEMA_VERSION
from pipeline.settings import Settings

MANIFEST, DATABASE, ARCHIVE, FILES, CONFIG = "manifest.json", "store.db", "warc", "files", "vertical.toml"
PREFIX, UNFINISHED = "plumbline-", ".unfinished-"
# What is made again by itself, or is copied in another way.
NOT_COPIED = frozenset({ARCHIVE, "solr", "logs", "locks", "pictures", "seen.bloom", "backups.json"})
PLACES = "backups.json"  # in the data folder: where backups went
MAX_PLACES = 8
BLOCK = 1 << 20


class BackupError(PlumblineError):
    """A backup that cannot be made, or is not whole."""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds: `files` is path -> (size in bytes, SHA-256); `made` is in epoch seconds."""

    made: float
    program: str
    schema: int
    store_id: str
    files: Mapping[str, tuple[int, str]]


# -- making


def back_up(settings: Settings, config: Path, folder: Path) -> Path:
    """Copy the vertical into a new folder below `folder`; returns it.

    BackupError where the store is another database than SQLite, is damaged, or the copy cannot be written.
    """
    source = sqlite_of(settings)
    before = newest_backup([folder])
    stamp = time.strftime("%Y%m%d-%H%M%S")
    half, whole = folder / f"{UNFINISHED}{stamp}-{os.getpid()}", folder / f"{PREFIX}{stamp}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        half.mkdir(mode=0o700)
        store_id = copy_database(source, half / DATABASE)
        files = dict(copy_all(settings, config, half, before))
        files[DATABASE] = (half.joinpath(DATABASE).stat().st_size, digest_of(half / DATABASE))
        manifest = Manifest(time.time(), version("plumbline"), SCHEMA_VERSION, store_id, files)
        write_private(half / MANIFEST, json.dumps(asdict(manifest), indent=1).encode())
        while whole.exists():  # two in one second
            whole = whole.with_name(f"{whole.name}a")
        half.rename(whole)
    except OSError as error:
        shutil.rmtree(half, ignore_errors=True)
        raise BackupError(
            f"the backup cannot be written to {folder} ({error.strerror}): nothing of it is left"
        ) from error
    except BaseException:
        shutil.rmtree(half, ignore_errors=True)
        raise
    remember_place(settings.data_dir, folder)
    return whole


def sqlite_of(settings: Settings) -> Path:
    """The store's file. BackupError where it is a server's, which has tools of its own, or there is none."""
    if settings.store.url and not settings.store.url.startswith("sqlite"):
        raise BackupError("the store is a PostgreSQL database: copy it with pg_dump, and the data folder as it is")
    if settings.store.url:
        raise BackupError("store.url names a file of its own: leave it empty to have the store in data_dir")
    file = settings.data_dir / DATABASE
    if not file.exists():
        raise BackupError(f"there is no store at {file}: nothing to back up")
    return file


def copy_database(source: Path, target: Path) -> str:
    """Copy a store that may be in use; returns its id. BackupError where the copy is not sound."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
            (faults,) = new.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        if "disk" in str(error):
            raise OSError(28, str(error)) from error
        raise BackupError(f"the store cannot be copied ({error}): {MEND}") from error
    if faults != "ok":
        raise BackupError(f"the store is damaged ({faults}): {MEND}")
    with closing(Database(f"sqlite:///{target}")) as database:
        with database.read() as connection:
            damaged = [name for name, one in SEALED.items() if damaged_keys(connection, one)]
        store_id = database.store_id
    for leftover in ("-wal", "-shm", "-sums"):
        target.with_name(target.name + leftover).unlink(missing_ok=True)
    if damaged:
        raise BackupError(f"the store is damaged (rows of {', '.join(damaged)}): {MEND}")
    return store_id


MEND = "run `plumb check --repair`, which takes what is whole from the last backup"


def copy_all(
    settings: Settings, config: Path, target: Path, before: Path | None
) -> Iterator[tuple[str, tuple[int, str]]]:
    """Copy everything but the database; yields path -> size and digest."""
    known = manifest_of(before).files if before else {}
    for file in sorted((settings.data_dir / ARCHIVE).glob("*")):
        name, size = f"{ARCHIVE}/{file.name}", file.stat().st_size
        if before and known.get(name, (-1, ""))[0] == size and linked(before / name, target / name):
            yield name, known[name]
        else:
            yield name, (size, copy(file, target / name, size))
    for file in small_files(settings.data_dir):
        name = f"{FILES}/{file.relative_to(settings.data_dir).as_posix()}"
        with suppress(FileNotFoundError):  # written anew at this moment, or gone
            size = file.stat().st_size
            yield name, (size, copy(file, target / name, size))
    yield CONFIG, (config.stat().st_size, copy(config, target / CONFIG, config.stat().st_size))


def small_files(folder: Path) -> Iterator[Path]:
    """What else is in the data folder and is not made again by itself."""
    for entry in sorted(folder.iterdir()):
        if entry.name in NOT_COPIED or entry.name.startswith((DATABASE, ".")):
            continue
        for file in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
            if file.is_file() and not file.name.endswith(".new"):
                yield file


def copy(source: Path, target: Path, size: int) -> str:
    """Copy the first `size` bytes, for the owner alone; returns their SHA-256."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with source.open("rb") as old, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
        while size > 0 and (block := old.read(min(size, BLOCK))):
            digest.update(block)
            new.write(block)
            size -= len(block)
        new.flush()
        os.fsync(new.fileno())
    return digest.hexdigest()


def linked(source: Path, target: Path) -> bool:
    """Make `target` another name of the file `source`, if the file system can."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        return False
    return True


def write_private(path: Path, data: bytes) -> None:
    """A new file for its owner alone, on the disk when this returns."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- finding


def remember_place(data_dir: Path, folder: Path) -> None:
    """Note where backups go, for `plumb check --repair`."""
    kept = [str(folder.resolve()), *places(data_dir)]
    write_state(data_dir / PLACES, {"folders": list(dict.fromkeys(kept))[:MAX_PLACES]})


def places(data_dir: Path) -> list[str]:
    """The folders that backups went to, the last one first."""
    return [str(one) for one in read_state(data_dir / PLACES).get("folders", ())]


def newest_backup(folders: list[Path]) -> Path | None:
    """The newest whole backup in these folders, or None."""
    found = [one for folder in folders for one in folder.glob(f"{PREFIX}*") if (one / MANIFEST).is_file()]
    return max(found, key=lambda one: one.name, default=None)


def manifest_of(backup: Path) -> Manifest:
    """What a backup says it holds. BackupError where it is none, or only half of one."""
    try:
        read: dict[str, Any] = json.loads((backup / MANIFEST).read_text())
        files = {name: (int(size), str(digest)) for name, (size, digest) in read.pop("files").items()}
        return Manifest(**read, files=files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BackupError(f"{backup} is no whole backup ({MANIFEST}: {error}): name another one") from error


# -- restoring


def restore(backup: Path, settings: Settings) -> Manifest:
    """Put a backup back into a data folder that has no store. BackupError where it is not whole: nothing is changed
    then."""
    manifest, data = manifest_of(backup), settings.data_dir
    if (data / DATABASE).exists() or any((data / ARCHIVE).glob("*")):
        raise BackupError(f"{data} has a store already: name an empty vertical.data_dir, or move that one away")
    if manifest.schema > SCHEMA_VERSION:
        raise BackupError(f"{backup} was made by a newer program (schema {manifest.schema}): update the program")
    half = data / ".restoring"
    shutil.rmtree(half, ignore_errors=True)
    try:
        data.mkdir(parents=True, exist_ok=True)
        for name, (size, digest) in manifest.files.items():
            if name != CONFIG and copied(backup / name, half / name, size) != digest:
                raise BackupError(f"{backup / name} is damaged: restore another backup; nothing was changed")
        put_in_place(half, data)
    except OSError as error:
        raise BackupError(f"the backup cannot be restored to {data} ({error})") from error
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return manifest


def copied(source: Path, target: Path, size: int) -> str:
    """`copy`; "" for a file that is not there."""
    try:
        return copy(source, target, size) if source.stat().st_size == size else ""
    except FileNotFoundError:
        return ""


def put_in_place(half: Path, data: Path) -> None:
    """Move what was copied to where it belongs; the database last, so that what is broken off has no store."""
    for file in sorted((half / FILES).rglob("*")):
        if file.is_file():
            target = data / file.relative_to(half / FILES)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
    (data / ARCHIVE).mkdir(exist_ok=True)
    for file in (half / ARCHIVE).glob("*"):
        file.replace(data / ARCHIVE / file.name)
    (half / DATABASE).replace(data / DATABASE)
