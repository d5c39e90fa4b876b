"""Jars: downloaded once with a Maven client into the cache of the user, each verified against a lock file.

A lock file lists every jar as `groupId:artifactId:version sha256`. It names no host: the Maven client (jgo) selects the
repositories (Maven Central, its configuration file) and uses the usual proxy variables.

    jars = JarSet("Solr's jar", "Solr 9.10.1", 70, parse_lock(LOCK_PATH.read_text("utf-8")), ...)
    ensure_jars(jars, folder, report_progress)   # the folder contains exactly these jars, or JarError is raised
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from domain.errors import PlumblineError

MAX_PARALLEL_DOWNLOADS = 6

ProgressCallback = Callable[[str], None]


class JarError(PlumblineError):
    """A jar cannot be downloaded or saved, or does not match the lock file."""


@dataclass(frozen=True, order=True)
class Jar:
    """One line of a lock file. `sha256` is the hex digest of the bytes of the jar."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """Name of the jar in the folder; the group distinguishes equal artifact names."""
        return f"{self.group}.{self.artifact}-{self.version}.jar"

    @property
    def lock_line(self) -> str:
        """The jar as a line of the lock file."""
        return f"{self.group}:{self.artifact}:{self.version} {self.sha256}"


@dataclass(frozen=True)
class JarSet:
    """The `jars` of one lock file, and the texts for messages about them.

    `item_name`: name of a single jar (`Solr's jar`). `title`: name of the set (`Solr 9.10.1`). `approximate_megabytes`:
    size of the download. `folder_setting`: setting of the folder. `failure_hint`: advice if a download fails.
    """

    item_name: str
    title: str
    approximate_megabytes: int
    jars: Sequence[Jar]
    folder_setting: str
    failure_hint: str


def parse_lock(text: str) -> tuple[Jar, ...]:
    """Parse the text of a lock file. Blank lines and lines that start with `#` are skipped."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return tuple(_parse_lock_line(line) for line in lines)


def _parse_lock_line(line: str) -> Jar:
    coordinate, sha256 = line.split()
    group, artifact, version = coordinate.split(":")
    return Jar(group, artifact, version, sha256)


def default_cache_folder(name: str, lock_file: Path) -> Path:
    """Return the default folder for jars; each state of the lock file has its own.

    Without a home folder, as in a container for a user without a name, it is a folder for temporary files.
    """
    try:
        cache = Path.home() / ".cache" / "plumbline"
    except RuntimeError:
        cache = Path(tempfile.gettempdir()) / f"plumbline-{os.getuid()}"
    return cache / f"{name}-{hashlib.sha256(lock_file.read_bytes()).hexdigest()[:8]}"


def ensure_jars(jar_set: JarSet, folder: Path, report_progress: ProgressCallback) -> Path:
    """Make sure that `folder` contains exactly the locked jars, and return it.

    The first call downloads them. Several processes may call this at once, and a killed download is continued.

    Args:
        jar_set: The jars.
        folder: Target folder.
        report_progress: Called with one line at the start and one at the end of a download.

    Raises:
        JarError: A jar cannot be downloaded or saved, or does not match the lock file.
    """
    try:
        if not folder.is_dir():
            _download_if_missing(jar_set, folder, report_progress)
        for jar in jar_set.jars:
            if not matches_lock(folder / jar.file_name, jar):
                raise JarError(
                    f"{folder / jar.file_name} is missing or does not match the lock file: "
                    f"delete {folder} and start again"
                )
        file_names = {jar.file_name for jar in jar_set.jars}
        if unlocked_jars := sorted(path.name for path in folder.glob("*.jar") if path.name not in file_names):
            raise JarError(
                f"{folder} contains {unlocked_jars[0]}, which is not in the lock file: delete {folder} and start again"
            )
    except OSError as err:
        raise JarError(
            f"{jar_set.item_name}s cannot be saved in {folder} ({err}): "
            f"set {jar_set.folder_setting} to a writable folder"
        ) from err
    return folder


def _download_if_missing(jar_set: JarSet, folder: Path, report_progress: ProgressCallback) -> None:
    """Fill a staging folder next to `folder`, then rename it: `folder` exists only when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = folder.with_name(folder.name + ".partial")
    with _exclusive_file_lock(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():  # another process was faster
            return
        report_progress(
            f"downloading {jar_set.title} ({len(jar_set.jars)} jars, about {jar_set.approximate_megabytes} MB, once) "
            f"into {folder}"
        )
        staging.mkdir(exist_ok=True)
        _download_missing_jars(jar_set, staging)
        staging.rename(folder)
        report_progress(f"{jar_set.title}: complete")


def _download_missing_jars(jar_set: JarSet, staging: Path) -> None:
    from maven_jars.maven_client import create_jar_downloader  # lazy: the import takes 0.3 s

    for path in set(staging.iterdir()) - {staging / jar.file_name for jar in jar_set.jars}:
        path.unlink()  # a jar of an older lock file
    scratch = staging.with_suffix(".scratch")
    shutil.rmtree(scratch, ignore_errors=True)  # remains of a killed download can contain partial jars
    download_jar = create_jar_downloader(scratch)
    missing = [jar for jar in jar_set.jars if not matches_lock(staging / jar.file_name, jar)]
    with ThreadPoolExecutor(MAX_PARALLEL_DOWNLOADS) as pool:
        for jar, path in zip(missing, pool.map(partial(_download_jar, jar_set, download_jar), missing), strict=True):
            if not matches_lock(path, jar):
                raise JarError(
                    f"{jar.file_name} was downloaded but does not match the lock file: check the Maven repository"
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


def matches_lock(path: Path, jar: Jar) -> bool:
    """Return True if the file at `path` has the digest of the jar in the lock file."""
    return path.is_file() and file_sha256(path) == jar.sha256


def file_sha256(path: Path) -> str:
    """Return the SHA-256 (hex) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_download_active(folder: Path) -> bool:
    """Return True while a process downloads the jars of `folder`."""
    try:
        with folder.with_name(folder.name + ".lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no process has downloaded them yet
        return False
    return False


@contextmanager
def _exclusive_file_lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
