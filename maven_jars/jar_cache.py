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

MAX_PARALLEL_DOWNLOADS = 6

ProgressCallback = Callable[[str], None]


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
    def lock_line(self) -> str:
        """The jar as the lock writes it."""
        return f"{self.group}:{self.artifact}:{self.version} {self.sha256}"


@dataclass(frozen=True)
class JarSet:
    """The `jars` of one lock, and how a person is told of them.

    `item_name` is what a single jar is called (`Solr's jar`), `title` the whole (`Solr 9.10.1`), `approximate_megabytes` about what is
    downloaded, `folder_setting` the setting that names another folder, `failure_hint` what to do where a jar cannot be had.
    """

    item_name: str
    title: str
    approximate_megabytes: int
    jars: Sequence[Jar]
    folder_setting: str
    failure_hint: str


def parse_lock(text: str) -> tuple[Jar, ...]:
    """The jars of a lock file's text. Blank lines and lines that start with `#` are skipped."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return tuple(_parse_lock_line(line) for line in lines)


def _parse_lock_line(line: str) -> Jar:
    coordinate, sha256 = line.split()
    group, artifact, version = coordinate.split(":")
    return Jar(group, artifact, version, sha256)


def default_cache_folder(name: str, lock_file: Path) -> Path:
    """Where jars are kept unless the operator says otherwise: one folder for each state of the lock file."""
    return Path.home() / ".cache" / "plumbline" / f"{name}-{hashlib.sha256(lock_file.read_bytes()).hexdigest()[:8]}"


def ensure_jars(jar_set: JarSet, folder: Path, report_progress: ProgressCallback) -> Path:
    """Promise that `folder` holds exactly the locked jars, and return it.

    The first call downloads them; several processes may ask at once, and a killed download is taken up where it stood.
    `report_progress` hears one line at the start and one at the end of a download. Raises JarError.
    """
    try:
        if not folder.is_dir():
            _download_if_missing(jar_set, folder, report_progress)
        _verify_jars(jar_set, folder)
    except OSError as err:
        raise JarError(
            f"{jar_set.item_name}s cannot be kept in {folder} ({err}): set {jar_set.folder_setting} to a folder you may write"
        ) from err
    return folder


def _download_if_missing(jar_set: JarSet, folder: Path, report_progress: ProgressCallback) -> None:
    """Fill a staging folder beside `folder`, then rename it: `folder` exists only when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = folder.with_name(folder.name + ".partial")
    with _exclusive_file_lock(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():  # another process was faster
            return
        report_progress(
            f"fetching {jar_set.title} ({len(jar_set.jars)} jars, about {jar_set.approximate_megabytes} MB, once) into {folder}"
        )
        staging.mkdir(exist_ok=True)
        _download_missing_jars(jar_set, staging)
        staging.rename(folder)
        report_progress(f"{jar_set.title}: complete")


def _download_missing_jars(jar_set: JarSet, staging: Path) -> None:
    from maven_jars.maven_client import create_jar_downloader  # a third of a second: who has the jars does without

    scratch = staging.with_suffix(".scratch")
    shutil.rmtree(scratch, ignore_errors=True)  # what a killed download left: it may hold half a jar
    download_jar = create_jar_downloader(scratch)
    missing = [jar for jar in jar_set.jars if not matches_lock(staging / jar.file_name, jar)]
    with ThreadPoolExecutor(MAX_PARALLEL_DOWNLOADS) as pool:
        for jar, path in zip(missing, pool.map(partial(_download_jar, jar_set, download_jar), missing), strict=True):
            if not matches_lock(path, jar):
                raise JarError(
                    f"{jar.file_name} was downloaded but is not the jar of the lock: check the Maven repository in use"
                )
            path.replace(staging / jar.file_name)
    shutil.rmtree(scratch, ignore_errors=True)


def _download_jar(jar_set: JarSet, download_jar: Callable[[str, str, str], Path], jar: Jar) -> Path:
    try:
        return download_jar(jar.group, jar.artifact, jar.version)
    except ConnectionError as err:
        raise JarError(
            f"{jar_set.item_name} {jar.file_name} cannot be downloaded ({err}): {jar_set.failure_hint}"
        ) from err


def _verify_jars(jar_set: JarSet, folder: Path) -> None:
    for jar in jar_set.jars:
        if not matches_lock(folder / jar.file_name, jar):
            raise JarError(
                f"{folder / jar.file_name} is missing or not the jar of the lock: delete {folder} and start again"
            )


def matches_lock(path: Path, jar: Jar) -> bool:
    """Is the file at `path` the jar of the lock, byte by byte?"""
    return path.is_file() and file_sha256(path) == jar.sha256


def file_sha256(path: Path) -> str:
    """The sha256 (hex) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _exclusive_file_lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
