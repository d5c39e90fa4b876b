"""Is a vertical what was written? Store, WARC files, state files and index, each against what is known of it.

    file      the pages of a store at rest against their sums, the write-ahead log against its own   (unopened)
    database  SQLite's own check, and the sums of rows that nothing can make again
    copies    the sealed keys by which copies are found
    warc      each page's record: readable where the store says, and with the digest it says
    states    the seen filter, what the crawl has learned, what the miner remembers
    index     the ids in Solr against the ledger of what was written to it

A store that was closed in good order is proven by its page sums alone: that is the cheap form (`quick`), which looks at
WARC files by their sizes then.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.schedule.url_seen import UrlSeenTest
from crawler.state_files import parse_state
from docstore.integrity.page_checksums import changed_pages, checksum_file, read_checksums
from docstore.integrity.wal_check import count_damaged_frames
from docstore.store import Store
from docstore.warc_archive import WarcArchive, WarcRecordLostError
from docstore.warc_object_store import machine_from_file_name, machine_name
from docstore.warc_reader import WARC_ERRORS, parse_warc_records
from pipeline.maintenance.file_checksums import find_damage
from pipeline.settings import Settings

if TYPE_CHECKING:
    from indexer.solr_index import SolrIndex

MAX_KEYS_IN_MESSAGE = 5  # keys or files that a fault names


@dataclass(frozen=True)
class Fault:
    """Something that is not what was written. `keys` are url_ids, file names or row keys, by `component`."""

    component: str
    description: str
    keys: tuple[str, ...] = ()
    location: str = ""


def check_database_file(database: Path) -> list[Fault]:
    """What is wrong with the bytes of a store that nobody has open."""
    faults = []
    if database.exists() and checksum_file(database).exists():
        stored_sums = read_checksums(checksum_file(database))
        if stored_sums is None:
            faults.append(Fault("sums", f"{checksum_file(database).name} is damaged: it is made anew"))
        elif pages := changed_pages(stored_sums, database):
            faults.append(
                Fault("file", f"{len(pages)} of {len(stored_sums.checksums)} pages of {database.name} are damaged")
            )
    if damaged_frame_count := count_damaged_frames(database.with_name(database.name + "-wal")):
        faults.append(
            Fault("wal", f"{damaged_frame_count} transactions' pages in the write-ahead log are damaged and lost")
        )
    return faults


def iter_store_faults(store: Store, is_verified_by_page_sums: bool, quick: bool) -> Iterator[Fault]:
    """What is wrong inside the database; nothing is asked of one that `is_verified_by_page_sums` by the sums of its pages."""
    if is_verified_by_page_sums:
        return
    if faults := store.integrity.sqlite_faults(quick):
        yield Fault("database", f"the database is damaged: {'; '.join(faults[:MAX_KEYS_IN_MESSAGE])}", tuple(faults))
    for table, keys in store.integrity.damaged_rows().items():
        text = f"{len(keys)} rows of {table} are not what was written ({format_keys(keys)})"
        yield Fault("rows", text, tuple(keys), table)
    if not quick:
        yield from (Fault("copies", fault) for fault in store.key_compaction.iter_faults())


def iter_warc_faults(store: Store, folder: Path, quick: bool, remote: str = "") -> Iterator[Fault]:
    """Pages whose record is not there any more, by the file."""
    unreadable_pages_by_file: dict[str, list[str]] = {}
    local_sizes = {file.name: file.stat().st_size for file in folder.glob("*")}
    with WarcArchive(folder, object_store_url=remote) as archive:
        sizes = {**(archive.object_store.file_sizes() if archive.object_store else {}), **local_sizes}
        for url_id, pointer, digest in store.integrity.iter_warc_records():
            if pointer.file_name not in sizes and machine_from_file_name(pointer.file_name) not in ("", machine_name()):
                continue  # its machine has not uploaded it yet
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
    """Is the record that says what the file is there? Other programs read a WARC file from its beginning."""
    try:
        with file.open("rb") as stream:
            return next(parse_warc_records(stream), None) is not None
    except WARC_ERRORS:
        return False


def iter_state_file_faults(settings: Settings) -> Iterator[Fault]:
    """Small files that are damaged."""
    folder, seen_filter_settings = settings.data_dir, settings.crawl.seen_filter
    seen_filter_path = folder / "seen.bloom"
    if seen_filter_path.exists() and not UrlSeenTest.is_valid_file(seen_filter_path, seen_filter_settings):
        yield Fault("state", "the seen filter seen.bloom is damaged, or of another kind", (seen_filter_path.name,))
    for file in [*sorted(folder.glob("*.json")), *sorted((folder / "topics").glob("*.toml"))]:
        try:
            tomllib.loads(file.read_text()) if file.suffix == ".toml" else parse_state(file.read_bytes())
        except (OSError, ValueError) as error:
            yield Fault("state", f"{file.name} is damaged ({error})", (str(file.relative_to(folder)),))
    if fault := find_damage(folder / "lexicon"):
        yield Fault("state", f"what the miner remembers is damaged: {fault}", ("lexicon",))


def iter_index_faults(store: Store, index: "SolrIndex") -> Iterator[Fault]:
    """Documents that the index lacks or has too many, by the ledger; what waits to be written is neither."""
    index.commit(soft=True)
    ledger_ids, pending_ids = store.integrity.indexed_and_pending_doc_ids()
    solr_ids = set(index.iter_ids())
    if missing := sorted(ledger_ids - solr_ids - pending_ids):
        yield Fault("index", f"{len(missing)} documents are not in the index ({format_keys(missing)})", tuple(missing))
    if extra := sorted(solr_ids - ledger_ids - pending_ids):
        yield Fault("index", f"{len(extra)} documents of the index are not in the ledger", tuple(extra))


def format_keys(keys: list[str]) -> str:
    """The first few of some keys."""
    more = f" and {len(keys) - MAX_KEYS_IN_MESSAGE} more" if len(keys) > MAX_KEYS_IN_MESSAGE else ""
    return ", ".join(key[:60] for key in keys[:MAX_KEYS_IN_MESSAGE]) + more
