"""Jars: fetched once through a Maven client into the user's cache, each held against our own lock.

A lock file lists every jar as `groupId:artifactId:version sha256`. It names no host: where the jars come from is the
Maven client's business (jgo: Maven Central, the repositories of its own configuration file, and the usual proxy
variables).

    jars = JarSet("Solr's jar", "Solr 9.10.1", 70, read_lock(LOCK.read_text("utf-8")), ...)
    resolve_jars(jars, folder, note)        the folder holds exactly these jars, or JarError says what to do
"""

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from docstore.errors import PlumblineError

DOWNLOADS_AT_ONCE = 6

Note = Callable[[str], None]


class JarError(PlumblineError):
    """A jar cannot be had, cannot be kept, or is not the one of the lock."""


@dataclass(frozen=True, order=True)
class Jar:
    """One line of a lock. `sha256` is the hex digest of the jar's bytes."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The jar's name in the folder; the group keeps equal artifact names apart."""
        return f"{self.group}.{self.artifact}-{self.version}.jar"

    @property
    def line(self) -> str:
        """The jar as the lock writes it."""
        return f"{self.group}:{self.artifact}:{self.version} {self.sha256}"


@dataclass(frozen=True)
class JarSet:
    """The `jars` of one lock, and how a person is told of them.

    `one` is what a single jar is called (`Solr's jar`), `title` the whole (`Solr 9.10.1`), `megabytes` about what is
    downloaded, `setting` the setting that names another folder, `instead` what to do where a jar cannot be had.
    """

    one: str
    title: str
    megabytes: int
    jars: Sequence[Jar]
    setting: str
    instead: str


def read_lock(text: str) -> tuple[Jar, ...]:
    """The jars of a lock file's text. Blank lines and lines that start with `#` are skipped."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return tuple(_read_line(line) for line in lines)


def _read_line(line: str) -> Jar:
    coordinate, sha256 = line.split()
    group, artifact, version = coordinate.split(":")
    return Jar(group, artifact, version, sha256)


def cache_folder(name: str, lock: Path) -> Path:
    """Where jars are kept unless the operator says otherwise: one folder for each state of the lock file."""
    return Path.home() / ".cache" / "plumbline" / f"{name}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:8]}"


def resolve_jars(wanted: JarSet, folder: Path, note: Note) -> Path:
    """Promise that `folder` holds exactly the locked jars, and return it.

    The first call downloads them; several processes may ask at once, and a killed download is taken up where it stood.
    `note` hears one line at the start and one at the end of a download. Raises JarError.
    """
    try:
        if not folder.is_dir():
            _download_once(wanted, folder, note)
        _verify(wanted, folder)
    except OSError as err:
        raise JarError(
            f"{wanted.one}s cannot be kept in {folder} ({err}): set {wanted.setting} to a folder you may write"
        ) from err
    return folder


def _download_once(wanted: JarSet, folder: Path, note: Note) -> None:
    """Fill a staging folder beside `folder`, then rename it: `folder` exists only when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = folder.with_name(folder.name + ".partial")
    with _locked(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():  # another process was faster
            return
        note(f"fetching {wanted.title} ({len(wanted.jars)} jars, about {wanted.megabytes} MB, once) into {folder}")
        staging.mkdir(exist_ok=True)
        _fill(wanted, staging)
        staging.rename(folder)
        note(f"{wanted.title}: complete")


def _fill(wanted: JarSet, staging: Path) -> None:
    from artifacts.maven import maven_client  # a third of a second: who has the jars does without

    scratch = staging.with_suffix(".scratch")
    shutil.rmtree(scratch, ignore_errors=True)  # what a killed download left: it may hold half a jar
    client = maven_client(scratch)
    missing = [jar for jar in wanted.jars if not is_whole(staging / jar.file_name, jar)]
    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        for jar, path in zip(missing, pool.map(partial(_fetched, wanted, client), missing), strict=True):
            if not is_whole(path, jar):
                raise JarError(
                    f"{jar.file_name} was downloaded but is not the jar of the lock: check the Maven repository in use"
                )
            path.replace(staging / jar.file_name)
    shutil.rmtree(scratch, ignore_errors=True)


def _fetched(wanted: JarSet, client: Callable[[str, str, str], Path], jar: Jar) -> Path:
    try:
        return client(jar.group, jar.artifact, jar.version)
    except ConnectionError as err:
        raise JarError(f"{wanted.one} {jar.file_name} cannot be downloaded ({err}): {wanted.instead}") from err


def _verify(wanted: JarSet, folder: Path) -> None:
    for jar in wanted.jars:
        if not is_whole(folder / jar.file_name, jar):
            raise JarError(
                f"{folder / jar.file_name} is missing or not the jar of the lock: delete {folder} and start again"
            )


def is_whole(path: Path, jar: Jar) -> bool:
    """Is the file at `path` the jar of the lock, byte by byte?"""
    return path.is_file() and sha256_of(path) == jar.sha256


def sha256_of(path: Path) -> str:
    """The sha256 (hex) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
