"""What an upgrade of the program means for a vertical: `plumb upgrade --check` reports it, `plumb upgrade` does it.

The store is upgraded when the program opens it. `plumb upgrade` checks before: a recent backup, free disk space, and no
active process of the earlier program. The index is filled again by the next run, while searches use the old one.
"""

import glob
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import requests

from docstore.database import sqlite_url
from docstore.schema import SCHEMA_VERSION
from docstore.schema_state import SchemaState, read_schema_state
from domain.errors import SolrUnavailableError, StoreError
from extractor.settings import EXTRACTOR_VERSION
from indexer.cluster.zookeeper import ZOOKEEPER_SCHEME, live_node_urls
from indexer.solr_index import collection_pattern, current_collection
from pipeline.engine import active_stages
from pipeline.maintenance.backup import find_known_backup, read_manifest
from pipeline.maintenance.doctor import CheckResult
from pipeline.maintenance.repair import require_exclusive_access
from pipeline.settings import Settings
from solr_client.session import SolrSession

MAX_BACKUP_AGE_SECONDS = 86400.0
BACKUP_ADVICE = "run `plumb backup FOLDER`: an earlier program cannot open the store after the upgrade"


def check_upgrade(settings: Settings) -> list[CheckResult]:
    """Return what the upgrade of a vertical needs and does. Changes nothing.

    Raises StoreError if the store cannot be read.
    """
    file = settings.data_dir / "store.db"
    state = read_schema_state(settings.store.url or sqlite_url(file))
    if state is None:
        return [CheckResult("store", True, "there is no store yet: nothing to upgrade")]
    results = [check_schema(state.schema_version), check_extractor(state), check_index(settings, state.article_count)]
    if state.schema_version < SCHEMA_VERSION:
        results += check_safety(settings, file if not settings.store.url else None)
    return results


def check_settings(settings: Settings) -> CheckResult:
    """Name the deprecated settings and what replaces them."""
    return CheckResult("settings", True, ". ".join(map(str, settings.deprecated_settings)) or "none is deprecated")


def check_schema(version: int) -> CheckResult:
    """Compare the schema version of the store with that of the program."""
    if version > SCHEMA_VERSION:
        text = f"schema version {version}, this program supports {SCHEMA_VERSION}"
        return CheckResult("store", False, text, "install the newer program again")
    if version == SCHEMA_VERSION:
        return CheckResult("store", True, f"schema version {version} is current")
    return CheckResult("store", True, f"schema version {version} will be upgraded to {SCHEMA_VERSION}")


def check_extractor(state: SchemaState) -> CheckResult:
    """State how many articles the next run extracts again."""
    if state.extractor_version >= EXTRACTOR_VERSION or not state.article_count:
        return CheckResult("articles", True, "none will be extracted again")
    return CheckResult("articles", True, f"the next run extracts {state.article_count} articles again")


def check_index(settings: Settings, article_count: int) -> CheckResult:
    """Compare the Solr configset of the index with that of the program. The embedded Solr need not run."""
    current = current_collection(settings.index.collection, settings.index.shards)
    try:
        names = set(find_collections(settings))
    except (SolrUnavailableError, requests.RequestException) as error:
        return CheckResult("index", True, f"not checked, Solr is not responding ({type(error).__name__})")
    if not names:
        return CheckResult("index", True, "there is no index yet")
    if names == {current}:
        return CheckResult("index", True, "its schema is current")
    text = "the schema has changed: the next run, or `plumb index`, "
    if current in names:
        return CheckResult("index", True, f"{text}completes the new collection and deletes the old one")
    text = f"{text}writes {article_count} articles to a new collection; until then searches use the old one"
    return CheckResult("index", True, text)


def find_collections(settings: Settings) -> Iterator[str]:
    """Yield the collection that searches use; of the embedded Solr, all collections, by the names of their folders.

    Raises SolrUnavailableError or requests.RequestException if an external Solr is not responding.
    """
    alias, urls = settings.index.collection, settings.index.solr_url
    if not urls:
        for folder in (settings.data_dir / "solr" / "solr").glob(f"{glob.escape(alias)}_*_shard*"):
            if match := collection_pattern(alias).match(folder.name):
                yield match[0]
        return
    if urls.startswith(ZOOKEEPER_SCHEME):
        urls = live_node_urls(urls, settings.index.request_timeout)
    with SolrSession(urls, settings.index.request_timeout) as session:
        aliases = session.cluster_status().get("aliases", {})
    if alias in aliases:
        yield aliases[alias]


def check_safety(settings: Settings, file: Path | None) -> Iterator[CheckResult]:
    """Check what a change of the tables needs. `file` is the database file, None for PostgreSQL."""
    running = [f"{stage} (pid {holder})" for stage, holder in active_stages(settings).items()]
    if file and not running:
        try:
            require_exclusive_access(file)
        except StoreError:
            running = ["a program that has the store open"]
    advice = "stop the earlier program, also `plumb serve`"
    yield CheckResult(
        "processes", not running, f"active: {', '.join(running)}" if running else "none is active", advice
    )
    if file is None:
        yield CheckResult("backup", True, "PostgreSQL: make sure that a dump (pg_dump) exists")
        return
    backup = find_known_backup(settings.data_dir)
    age = time.time() - read_manifest(backup).created_at if backup else 0.0
    text = f"{backup}, {age / 3600:.1f} hours old" if backup else "no backup"
    yield CheckResult("backup", backup is not None and age < MAX_BACKUP_AGE_SECONDS, text, BACKUP_ADVICE)
    size, free = file.stat().st_size, shutil.disk_usage(file.parent).free
    text = f"{free / 1e9:.1f} GB free, the database has {size / 1e9:.1f} GB"
    yield CheckResult("disk", free > size, text, "free as much space as the database has: the upgrade copies it")
