"""The Solr configset: the files of `solr_conf/`, unchanged for one shard.

For several shards, two settings are added to solrconfig.xml. Scores use the statistics of all shards, otherwise equal
documents would get different scores. Requests by id go to all shards, because the shard of a document depends on its
cluster.
"""

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

SOLRCONFIG_FILE = "solrconfig.xml"
NON_CONFIGSET_SUFFIXES = (".py", ".pyc", ".md")
_CONFIG_END_TAG = b"</config>"
_DECLARATION_RE = re.compile(r"<(?P<kind>field|dynamicField|fieldType)\s[^<>]*?\bname=\"(?P<name>[^\"<]+)\"")
_DECLARATION_TAGS = ("fieldType", "field", "dynamicField")
_SCHEMA_END_TAG = "</schema>"
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


def add_missing_fields(old_schema: str, new_schema: str) -> str:
    """Return `old_schema` (XML) with the fields, and their types, that only `new_schema` declares.

    A changed schema means a new collection, which takes time to fill. Until then searches use the old one. Solr rejects
    a query with an unknown field; a field without values matches nothing.

    Declarations in `old_schema` stay unchanged, because its documents were indexed with them. Returns `old_schema`
    itself if no field is missing.
    """
    declared_names = {(match["kind"], match["name"]) for match in _DECLARATION_RE.finditer(old_schema)}
    new_elements = (element for kind in _DECLARATION_TAGS for element in ElementTree.fromstring(new_schema).iter(kind))  # noqa: S314 (our own schema file)
    missing = [element for element in new_elements if (element.tag, element.get("name")) not in declared_names]
    added_xml = "".join(ElementTree.tostring(element, encoding="unicode") for element in missing)
    return old_schema.replace(_SCHEMA_END_TAG, added_xml + _SCHEMA_END_TAG)
