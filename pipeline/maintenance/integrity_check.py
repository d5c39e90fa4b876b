"""Verify the integrity of store, WARC files, state files and index.

Components of a `Fault`:

    database, rows    the integrity check of SQLite, and the checksums of rows that cannot be recreated
    copies            the compacted near-duplicate keys
    lost_pages        URLs whose stored response has no row in the database any more
    citations         the stored citation counts compared with a recount
    warc              the record of each page: readable, and with the stored digest
    state             seen filter, follows, state files of the crawl and topics, cache of the term mining
    index             the ids in Solr compared with the indexing ledger

The quick check omits the indexes of the database and compares only the sizes of WARC files.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.schedule.url_seen import UrlSeenTest
from crawler.state_files import parse_state
from docstore.follows import FOLLOWS_FILE
from docstore.integrity.integrity_checks import find_sqlite_faults
from docstore.store import Store
from docstore.warc_archive import WarcArchive, WarcRecordLostError
from docstore.warc_object_store import machine_from_file_name, machine_name
from docstore.warc_reader import WARC_ERRORS, parse_warc_records
from domain.progress import AdvanceProgress
from pipeline.maintenance.file_checksums import find_damage
from pipeline.settings import Settings

if TYPE_CHECKING:
    from indexer.solr_index import SolrIndex

UNBUILT_INDEX_MESSAGE = "the index has not been built yet: run `plumb index`"
TOPIC_DIR = "topics"
MAX_KEYS_IN_MESSAGE = 5  # keys or files listed in the text of a fault


@dataclass(frozen=True)
class Fault:
    """A damaged part of the vertical.

    Attributes:
        component: Kind of the damaged part, see the module docstring.
        description: One line for the administrator.
        keys: Affected url_ids, file names or row keys, depending on `component`.
        location: WARC file or table; "" for other components.
    """

    component: str
    description: str
    keys: tuple[str, ...] = ()
    location: str = ""


def iter_store_faults(store: Store, quick: bool) -> Iterator[Fault]:
    """Yield the faults inside the database."""
    if faults := store.integrity.sqlite_faults(quick):
        yield Fault("database", f"the database is damaged: {'; '.join(faults[:MAX_KEYS_IN_MESSAGE])}", tuple(faults))
    for table, keys in store.integrity.damaged_rows().items():
        text = f"{len(keys)} rows of {table} are damaged ({format_keys(keys)})"
        yield Fault("rows", text, tuple(keys), table)
    if not quick:
        if url_ids := [str(url_id) for url_id in store.integrity.urls_without_page()]:
            yield Fault("lost_pages", f"{len(url_ids)} stored pages are missing from the database", tuple(url_ids))
        yield from (Fault("copies", fault) for fault in store.key_compaction.iter_faults())
        if url_ids := [str(url_id) for url_id in store.citations.find_wrong_counts()]:
            yield Fault("citations", f"{len(url_ids)} citation counts differ from a recount", tuple(url_ids))


def iter_warc_faults(
    store: Store, folder: Path, quick: bool, remote: str = "", advance: AdvanceProgress = lambda pages: None
) -> Iterator[Fault]:
    """Yield one fault for each WARC file with missing or unreadable records.

    Args:
        store: The open store.
        folder: Folder of the local WARC files.
        quick: Compare only offsets with file sizes instead of reading the records.
        remote: URL of the object store, "" if there is none.
        advance: Called with the number of checked pages.
    """
    unreadable_pages_by_file: dict[str, list[str]] = {}
    local_sizes = {file.name: file.stat().st_size for file in folder.glob("*")}
    with WarcArchive(folder, object_store_url=remote) as archive:
        sizes = {**(archive.object_store.file_sizes() if archive.object_store else {}), **local_sizes}
        for url_id, pointer, digest in store.integrity.iter_warc_records():
            advance(1)
            if pointer.file_name not in sizes and machine_from_file_name(pointer.file_name) not in ("", machine_name()):
                continue  # another machine has not uploaded the file yet
            if pointer.offset + pointer.length > sizes.get(pointer.file_name, -1):
                unreadable_pages_by_file.setdefault(pointer.file_name, []).append(str(url_id))
            elif not quick:
                try:
                    archive.read_body(pointer, digest)
                except WarcRecordLostError:
                    unreadable_pages_by_file.setdefault(pointer.file_name, []).append(str(url_id))
    if not quick:
        unreadable_pages_by_file |= {
            name: unreadable_pages_by_file.get(name, [])
            for name in local_sizes
            if not has_readable_first_record(folder / name)
        }
    for name, url_ids in unreadable_pages_by_file.items():
        yield Fault("warc", f"{len(url_ids)} pages cannot be read from {name}", tuple(url_ids), name)


def has_readable_first_record(file: Path) -> bool:
    """True if the first record is a readable `warcinfo` record; other programs read a WARC file from its beginning.

    warcio may take damaged bytes for an uncompressed ARC record.
    """
    try:
        with file.open("rb") as stream:
            first_record = next(parse_warc_records(stream), None)
            return first_record is not None and first_record.rec_type == "warcinfo"
    except WARC_ERRORS:
        return False


def iter_state_file_faults(settings: Settings) -> Iterator[Fault]:
    """Yield the faults of state files: seen filter, follows, JSON files with the topics, cache of the term mining."""
    folder = settings.data_dir
    seen_filter_path = folder / "seen.bloom"
    if seen_filter_path.exists() and not UrlSeenTest.is_valid_file(seen_filter_path):
        yield Fault("state", "the seen filter seen.bloom is damaged", (seen_filter_path.name,))
    if (folder / FOLLOWS_FILE).exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(folder / FOLLOWS_FILE)) as database:
            if faults := find_sqlite_faults(database, quick=True):
                yield Fault("state", f"{FOLLOWS_FILE} is damaged ({faults[0]})", (FOLLOWS_FILE,))
    for file in [*sorted(folder.glob("*.json")), *sorted((folder / TOPIC_DIR).glob("*.json"))]:
        try:
            parse_state(file.read_bytes())
        except (OSError, ValueError) as error:
            name = str(file.relative_to(folder))
            yield Fault("state", f"{name} is damaged ({error})", (name,))
    if fault := find_damage(folder / "lexicon"):
        yield Fault("state", f"the cache of the term mining is damaged: {fault}", ("lexicon",))


def iter_index_faults(store: Store, index: "SolrIndex") -> Iterator[Fault]:
    """Yield faults for documents missing from the index or unknown to the ledger; pending documents are ignored."""
    ledger_ids, pending_ids = store.integrity.indexed_and_pending_doc_ids()
    if not index.has_collection():
        if ledger_ids:  # after a restore, or if Solr lost its data
            yield Fault("index", UNBUILT_INDEX_MESSAGE, tuple(sorted(ledger_ids)))
        return
    index.commit(soft=True)
    solr_ids = set(index.iter_ids())
    if missing := sorted(ledger_ids - solr_ids - pending_ids):
        yield Fault("index", f"{len(missing)} documents are not in the index ({format_keys(missing)})", tuple(missing))
    if extra := sorted(solr_ids - ledger_ids - pending_ids):
        yield Fault("index", f"{len(extra)} documents of the index are not in the store", tuple(extra))


def format_keys(keys: list[str]) -> str:
    """Format the first MAX_KEYS_IN_MESSAGE keys and the number of the others."""
    more = f" and {len(keys) - MAX_KEYS_IN_MESSAGE} more" if len(keys) > MAX_KEYS_IN_MESSAGE else ""
    return ", ".join(key[:60] for key in keys[:MAX_KEYS_IN_MESSAGE]) + more
