"""The embedded Solr's jars: which they are, as `solr_jars.lock` lists them (maven_jars/jar_cache.py fetches them).

Regenerate the lock after a change of `ROOT_ARTIFACTS` with

    python -m indexer.solr_jars --write-lock
"""

import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from docstore.errors import SolrError
from maven_jars.jar_cache import Jar, JarError, JarSet, ProgressCallback, default_cache_folder, file_sha256, parse_lock
from maven_jars.jar_cache import ensure_jars as resolve

SOLR_VERSION = "9.10.1"
JETTY_VERSION = "10.0.26"  # what Solr 9.10 ships; solr-core's POM alone would bring Jetty 9.4
ROOT_ARTIFACTS = (
    f"org.apache.solr:solr-core:{SOLR_VERSION}",
    f"org.eclipse.jetty:jetty-server:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-servlet:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-webapp:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-xml:{JETTY_VERSION}",
    f"org.eclipse.jetty.http2:http2-server:{JETTY_VERSION}",
    "org.apache.logging.log4j:log4j-api:2.25.3",  # the POMs mix it with a younger log4j-core
)
LOCK_PATH = Path(__file__).with_name("solr_jars.lock")


def default_jar_folder() -> Path:
    """Where the jars are kept unless the operator says otherwise."""
    return default_cache_folder(f"solr-{SOLR_VERSION}", LOCK_PATH)


def ensure_jars(folder: Path, note: ProgressCallback, jars: Iterable[Jar] | None = None) -> Path:
    """Promise that `folder` holds exactly the locked jars (those of Solr's lock, or `jars`), and return it.

    As `maven_jars.jar_cache.ensure_jars`; raises SolrError.
    """
    jar_list = tuple(parse_lock(LOCK_PATH.read_text("utf-8")) if jars is None else jars)
    hint = "check the network, or set index.solr_url to a Solr of your own"
    try:
        return resolve(
            JarSet("Solr's jar", f"Solr {SOLR_VERSION}", 70, jar_list, "index.solr_jars", hint), folder, note
        )
    except JarError as error:
        raise SolrError(str(error)) from error


def write_lock(lock: Path, note: ProgressCallback) -> None:
    """Resolve `ROOT_ARTIFACTS` anew and write what they need, with the digests as downloaded just now.

    `!` asks for the versions that the POMs themselves name: with the lists of versions they import (BOM), jgo picks
    a jakarta.inject too old for Jersey. Jars with a classifier are left out: they are native libraries of Netty,
    which nothing here loads.
    """
    import jgo

    from maven_jars.maven_client import create_jar_downloader

    artifacts = [
        artifact for artifact in jgo.resolve("+".join(f"{root}!" for root in ROOT_ARTIFACTS)) if not artifact.classifier
    ]
    coordinates = {(a.groupId, a.artifactId, a.version) for a in artifacts}
    with tempfile.TemporaryDirectory() as scratch:
        client = create_jar_downloader(Path(scratch))
        jars = sorted(_with_digest(client, Jar(*parts, sha256="")) for parts in coordinates)
    lock.write_text("".join(f"{jar.lock_line}\n" for jar in jars), "utf-8")
    note(f"{len(jars)} jars written to {lock}")


def _with_digest(client: Callable[[str, str, str], Path], jar: Jar) -> Jar:
    return replace(jar, sha256=file_sha256(client(jar.group, jar.artifact, jar.version)))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write-lock"]:
        sys.exit("usage: python -m indexer.solr_jars --write-lock")
    write_lock(LOCK_PATH, print)
