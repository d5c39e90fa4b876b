"""The Solr configset: the files of `solr_conf/`, unchanged for one shard.

For several shards, two settings are added to solrconfig.xml. Scores use the statistics of all shards, otherwise equal
documents would get different scores. Requests by id go to all shards, because the shard of a document depends on its
cluster.
"""

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

SOLRCONFIG_FILE = "solrconfig.xml"
NON_CONFIGSET_SUFFIXES = (".py", ".pyc", ".md")
_CONFIG_END_TAG = b"</config>"
_SHARDED_CONFIG = """
  <!-- Of several shards (indexer/configset.py). -->
  <statsCache class="org.apache.solr.search.stats.ExactStatsCache"/>
  <requestHandler name="/get" class="solr.RealTimeGetHandler">
    <lst name="defaults">
      <str name="omitHeader">true</str>
      <str name="shards">{shards}</str>
    </lst>
  </requestHandler>
"""


def configset_files(folder: Path, shards: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of the configset's files for `shards` shards, in a fixed order.

    Python files and README.md are not part of the configset.
    """
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in NON_CONFIGSET_SUFFIXES)
    for path in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        name, data = path.relative_to(folder).as_posix(), path.read_bytes()
        yield name, with_shard_config(data, shards) if name == SOLRCONFIG_FILE and shards > 1 else data


def with_shard_config(config: bytes, shards: int) -> bytes:
    """Add the settings for several shards to solrconfig.xml. Solr names the shards shard1, shard2 ..."""
    names = ",".join(f"shard{number}" for number in range(1, shards + 1))
    return config.replace(_CONFIG_END_TAG, _SHARDED_CONFIG.format(shards=names).encode() + _CONFIG_END_TAG)


def configset_digest(folder: Path, shards: int = 1) -> str:
    """Return the SHA-256 (hex) over names and bytes of the configset in `folder`."""
    digest = hashlib.sha256()
    for name, data in configset_files(folder, shards):
        for part in (name.encode(), data):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def configset_zip(folder: Path, shards: int = 1) -> bytes:
    """Return the configset in `folder` as a zip file for upload to Solr."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in configset_files(folder, shards):
            archive.writestr(name, data)
    return buffer.getvalue()
