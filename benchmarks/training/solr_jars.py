"""Generate `indexer/solr_jars.lock`: the jars that `indexer.solr_jars.ROOT_ARTIFACTS` require, with their digests.

python -m benchmarks.training.solr_jars
"""

import tempfile
from pathlib import Path

import jgo

from indexer.solr_jars import LOCK_PATH, ROOT_ARTIFACTS
from maven_jars.jar_cache import Jar, file_sha256
from maven_jars.maven_client import create_jar_downloader


def main() -> None:
    """Resolve `ROOT_ARTIFACTS` again and write all required jars with the digests of the downloaded files.

    `!` selects the versions in the POMs themselves: with the imported version lists (BOM), jgo selects a jakarta.inject
    that is too old for Jersey. Jars with a classifier are left out: they are native libraries of Netty, which are not
    used.
    """
    artifacts = [
        artifact for artifact in jgo.resolve("+".join(f"{root}!" for root in ROOT_ARTIFACTS)) if not artifact.classifier
    ]
    coordinates = {(a.groupId, a.artifactId, a.version) for a in artifacts}
    with tempfile.TemporaryDirectory() as scratch:
        client = create_jar_downloader(Path(scratch))
        jars = sorted(Jar(*parts, sha256=file_sha256(client(*parts))) for parts in coordinates)
    LOCK_PATH.write_text("".join(f"{jar.lock_line}\n" for jar in jars), "utf-8")
    print(f"{len(jars)} jars written to {LOCK_PATH}")


if __name__ == "__main__":
    main()
