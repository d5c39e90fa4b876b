"""The embedded Solr's jars: fetched once through a Maven client, each held against our own lock.

`solr_jars.lock` lists every jar as `groupId:artifactId:version sha256`. It names no host: where the jars come
from is the Maven client's business (jgo: Maven Central, the repositories of its own configuration file, and the
usual proxy variables). Regenerate the lock after a change of `ROOTS` with

    python -m indexer.solr_jars --write-lock
"""

import fcntl
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jgo
import requests
from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext

from docstore.errors import SolrError

SOLR_VERSION = "9.10.1"
JETTY_VERSION = "10.0.26"  # what Solr 9.10 ships; solr-core's POM alone would bring Jetty 9.4
ROOTS = (
    f"org.apache.solr:solr-core:{SOLR_VERSION}",
    f"org.eclipse.jetty:jetty-server:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-servlet:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-webapp:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-xml:{JETTY_VERSION}",
    f"org.eclipse.jetty.http2:http2-server:{JETTY_VERSION}",
    "org.apache.logging.log4j:log4j-api:2.25.3",  # the POMs mix it with a younger log4j-core
)
LOCK = Path(__file__).with_name("solr_jars.lock")
DOWNLOADS_AT_ONCE = 6

Note = Callable[[str], None]


@dataclass(frozen=True, order=True)
class Jar:
    """One line of the lock. `sha256` is the hex digest of the jar's bytes."""

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


def read_lock(text: str) -> tuple[Jar, ...]:
    """The jars of a lock file's text. Blank lines and lines that start with `#` are skipped."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return tuple(_read_line(line) for line in lines)


def _read_line(line: str) -> Jar:
    coordinate, sha256 = line.split()
    group, artifact, version = coordinate.split(":")
    return Jar(group, artifact, version, sha256)


def default_folder() -> Path:
    """Where the jars are kept unless the operator says otherwise: one folder for each state of the lock."""
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:8]
    return Path.home() / ".cache" / "plumbline" / f"solr-{SOLR_VERSION}-{digest}"


def resolve_jars(folder: Path, note: Note, jars: Iterable[Jar] | None = None) -> Path:
    """Promise that `folder` holds exactly the locked jars, and return it.

    The first call downloads them (about 70 MB); several processes may ask at once, and a killed download is
    taken up where it stood. `note` hears one line at the start and one at the end of a download.
    Raises `SolrError` where a jar cannot be had or is not the one of the lock.
    """
    locked = tuple(read_lock(LOCK.read_text("utf-8")) if jars is None else jars)
    try:
        if not folder.is_dir():
            _download_once(folder, locked, note)
        _verify(folder, locked)
    except OSError as err:
        raise SolrError(
            f"Solr's jars cannot be kept in {folder} ({err}): set index.solr_jars to a folder you may write"
        ) from err
    return folder


def _download_once(folder: Path, jars: tuple[Jar, ...], note: Note) -> None:
    """Fill a staging folder beside `folder`, then rename it: `folder` exists only when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = folder.with_name(folder.name + ".partial")
    with _locked(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():  # another process was faster
            return
        note(f"fetching Solr {SOLR_VERSION} ({len(jars)} jars, about 70 MB, once) into {folder}")
        staging.mkdir(exist_ok=True)
        _fill(staging, jars)
        staging.rename(folder)
        note("Solr is complete")


def _fill(staging: Path, jars: tuple[Jar, ...]) -> None:
    scratch = staging.with_suffix(".scratch")
    shutil.rmtree(scratch, ignore_errors=True)  # what a killed download left: it may hold half a jar
    context = _maven(scratch)
    missing = [jar for jar in jars if not _is_whole(staging / jar.file_name, jar)]
    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        for jar, path in zip(missing, pool.map(partial(_download, context), missing), strict=True):
            if not _is_whole(path, jar):
                raise SolrError(
                    f"{jar.file_name} was downloaded but is not the jar of the lock: check the Maven repository in use"
                )
            path.replace(staging / jar.file_name)
    shutil.rmtree(scratch, ignore_errors=True)


def _maven(cache: Path) -> MavenContext:
    """The Maven client, with the repositories its own configuration names before Maven Central."""
    own = GlobalSettings.load().repositories
    return MavenContext(repo_cache=cache, remote_repos={**own, "central": MAVEN_CENTRAL_URL}, timeout=60)


def _download(context: MavenContext, jar: Jar) -> Path:
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    try:
        return Path(component.artifact().resolve())
    except (requests.RequestException, RuntimeError) as err:
        why = " ".join(str(err).split())[:300]
        raise SolrError(
            f"Solr's jar {jar.file_name} cannot be downloaded ({why}): "
            "check the network, or set index.solr_url to a Solr of your own"
        ) from err


def _verify(folder: Path, jars: tuple[Jar, ...]) -> None:
    for jar in jars:
        if not _is_whole(folder / jar.file_name, jar):
            raise SolrError(
                f"{folder / jar.file_name} is missing or not the jar of the lock: delete {folder} and start again"
            )


def _is_whole(path: Path, jar: Jar) -> bool:
    return path.is_file() and _sha256(path) == jar.sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_lock(lock: Path, note: Note) -> None:
    """Resolve `ROOTS` anew and write what they need, with the digests as downloaded just now.

    `!` asks for the versions that the POMs themselves name: with the lists of versions they import (BOM), jgo picks
    a jakarta.inject too old for Jersey. Jars with a classifier are left out: they are native libraries of Netty,
    which nothing here loads.
    """
    artifacts = [
        artifact for artifact in jgo.resolve("+".join(f"{root}!" for root in ROOTS)) if not artifact.classifier
    ]
    found = {(a.groupId, a.artifactId, a.version) for a in artifacts}
    with tempfile.TemporaryDirectory() as scratch:
        context = _maven(Path(scratch))
        jars = sorted(_measured(context, Jar(*parts, sha256="")) for parts in found)
    lock.write_text("".join(f"{jar.line}\n" for jar in jars), "utf-8")
    note(f"{len(jars)} jars written to {lock}")


def _measured(context: MavenContext, jar: Jar) -> Jar:
    return replace(jar, sha256=_sha256(_download(context, jar)))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write-lock"]:
        sys.exit("usage: python -m indexer.solr_jars --write-lock")
    write_lock(LOCK, print)
