"""Repair a damaged vertical (`plumb check --repair`).

docs/operate/backup.md says from what each part is repaired.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Table

from crawler.schedule.queues import QUEUE_POLICIES
from crawler.urls.canonical import host_of
from docstore.database import to_store_error
from docstore.follows import FOLLOWS_FILE
from docstore.integrity.rebuild import RebuildReport, rebuild_store
from docstore.schema import article_tables, metadata, relation_tables
from docstore.warc_reader import read_warc
from domain.batches import batched
from domain.errors import StoreError, StoreUnavailableError
from domain.frontier import NewUrl, UrlKind
from pipeline import stages
from pipeline.engine import Engine, OpenEngine, ensure_private_file, lock_stage, replace_damaged_store
from pipeline.maintenance.backup import DATABASE_FILE, STATE_DIR, WARC_DIR, find_intact_copies, restore_file
from pipeline.maintenance.file_checksums import delete_if_damaged
from pipeline.maintenance.integrity_check import (
    TOPIC_DIR,
    Fault,
    format_keys,
    iter_state_file_faults,
    iter_warc_faults,
)
from pipeline.maintenance.preflight import BLOCKING_COMPONENTS
from pipeline.old_site_settings import ADDED_SITES_FILE
from pipeline.settings import Settings
from pipeline.warc_import.importer import IncompleteImportError, import_warc_files
from pipeline.warc_import.sources import WarcSource

DELETE_BATCH_SIZE = 500
DUPLICATE_KEY_TABLES = frozenset({"bands", "key_parts", "sealed_keys", "sealed_leaders"})
PAGE_TABLES = frozenset({"urls", "pages"})
# Tables that the next stages fill again, and `pages`, whose losses are reported after the import of the WARC files.
STAGE_TABLES = (table for module in (article_tables, relation_tables) for table in vars(module).values())
DERIVED_TABLES = frozenset(
    {table.name for table in STAGE_TABLES if isinstance(table, Table)}
    | {"pages", "outcomes", "robots", "row_sums", "leases", "meta"}
)


@dataclass(frozen=True)
class RepairStep:
    """One repair, as a line for the administrator. `is_loss` is True if it says what could not be restored."""

    text: str
    is_loss: bool = False


def repair_vertical(
    settings: Settings,
    open_engine: OpenEngine,
    faults: Sequence[Fault],
    backups: Sequence[Path],
    with_index: bool = False,
) -> Iterator[RepairStep]:
    """Repair `faults`; yields each repair and each loss.

    A damaged database hides damage of the other parts, so these are checked again once the database is repaired.

    Args:
        settings: The settings of the vertical.
        open_engine: Opens the vertical.
        faults: Result of `check_all`.
        backups: Backups and copies of this store, the newest first (`find_backups`).
        with_index: Repair the index too if a damaged database prevented its check.

    Raises BusyError while a run is active, and StoreError if another process has the store open, or if the database of
    a server is damaged.
    """
    data_dir, components = settings.data_dir, {fault.component for fault in faults}
    if components & BLOCKING_COMPONENTS and settings.store.url:  # before the lock, which is in the database
        raise StoreError("the store is not a file in data_dir: restore its last dump, then run the check again")
    with lock_stage(settings, "run"):
        if components & BLOCKING_COMPONENTS:
            report = yield from repair_store(settings, backups)
            components |= {"lost_pages"} if PAGE_TABLES & {*report.partial_tables} else set()
            components |= {"copies"} if DUPLICATE_KEY_TABLES & {*report.partial_tables} else set()
            components |= {"index"} if with_index else set()
        for fault in iter_state_file_faults(settings):
            yield restore_or_delete_state_file(data_dir, backups, fault.keys[0])
        with open_engine() as engine:
            yield from repair_open_store(engine, components, backups)


# -- the store


def repair_store(settings: Settings, backups: Sequence[Path]) -> Generator[RepairStep, None, RebuildReport]:
    """Repair the database file (see the module docstring); yields each repair and each loss. Raises StoreError."""
    file = settings.data_dir / DATABASE_FILE
    require_exclusive_access(file)
    copies = find_intact_copies(backups)
    report = rebuild_database(settings, file, copies)
    yield RepairStep(f"{file.name} was rebuilt from {', '.join(['its readable rows', *map(str, copies)])}")
    yield RepairStep(f"the damaged file was kept as {file.name}.damaged-...")
    if report.partial_tables:
        yield RepairStep(f"not completely readable: {', '.join(report.partial_tables)}")
    for table, count in report.rows_from_copies.items():
        if count:
            yield RepairStep(f"{table}: {count} rows from a copy")
    for keys_by_table, loss, is_loss in (
        (report.deleted_keys, "of a copy not restored, they were deleted since", False),
        (report.lost_keys, "lost, no copy has them", True),
        (report.unverified_keys, "with a damaged or an earlier value: check them", True),
    ):
        for table, keys in keys_by_table.items():
            if keys and table not in DERIVED_TABLES:
                yield RepairStep(f"{table}: {len(keys)} rows {loss} ({', '.join(sorted(keys))})", is_loss)
    return report


def rebuild_database(settings: Settings, file: Path, copies: Sequence[Path]) -> RebuildReport:
    """Replace the damaged store by a rebuilt one; keeps the damaged file.

    Raises StoreError if there is nothing to rebuild it from.
    """
    crawl, new_file = settings.crawl, file.with_name(f"{file.name}.rebuilding")
    queue_of = QUEUE_POLICIES[crawl.queue_policy](crawl.queues)
    for suffix in ("", "-wal", "-shm"):
        new_file.with_name(f"{new_file.name}{suffix}").unlink(missing_ok=True)
    ensure_private_file(new_file)
    databases = [copy / DATABASE_FILE for copy in copies]

    def new_url(url: str) -> NewUrl:
        return NewUrl(url, host_of(url), queue_of(url), crawl.depth, UrlKind.UNKNOWN, 0.0)

    try:
        report = rebuild_store(file, databases, new_file, new_url)
    except sqlite3.Error as error:
        raise StoreError(f"{file} cannot be rebuilt ({error}): check the disk, then repair again") from error
    is_unreadable = len(report.partial_tables) == len(metadata.tables)
    if is_unreadable and not copies and not any((settings.data_dir / WARC_DIR).glob("*")):
        raise StoreError(f"{file} is unreadable, and there is neither a copy of it nor a WARC file")
    with new_file.open("rb") as stream:
        os.fsync(stream.fileno())
    replace_damaged_store(file, new_file)
    return report


def require_exclusive_access(file: Path) -> None:
    """Raise StoreError if the file may not be read, or if another process has it open and would continue with it."""
    if not file.exists():
        return
    if not os.access(file, os.R_OK | os.W_OK):
        raise StoreError(f"{file} cannot be read and written: correct its permissions")
    try:
        with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        if isinstance(store_error := to_store_error(error), StoreUnavailableError):
            raise store_error from error


# -- files


def import_stored_warc_files(engine: Engine, backups: Sequence[Path]) -> Iterator[RepairStep]:
    """Import the pages of all WARC files of the vertical. A damaged file is restored from a backup and read again."""
    folder = engine.settings.data_dir / WARC_DIR
    damaged_names = import_files(engine, sorted(folder.glob("*")))
    yield RepairStep("unreadable pages were imported from the WARC files")
    restore_steps = [step for name in damaged_names for step in restore_warc_file(folder, backups, name)]
    yield from restore_steps
    if restore_steps:
        damaged_names = import_files(engine, [folder / name for name in damaged_names])
    for name in damaged_names:
        yield RepairStep(f"{name} is damaged: its unreadable pages were not imported", is_loss=True)


def import_files(engine: Engine, files: Sequence[Path]) -> list[str]:
    """Import WARC files of the vertical; returns the names of those that cannot be read to their end."""
    try:
        import_warc_files(engine, [WarcSource(str(file)) for file in files], is_restore=True)
    except IncompleteImportError as error:
        return [failure.source.name for failure in error.failures]
    return []


def restore_warc_file(folder: Path, backups: Sequence[Path], name: str) -> Iterator[RepairStep]:
    """Restore the part of a WARC file that a backup contains; later records stay. Yields the repair, if any.

    The file is replaced only if the new one has at least as many readable records. The old file stays in the data
    folder.
    """
    target, new_file = folder / name, folder.parent / f"{name}.new"
    for backup in backups:
        if not restore_file(backup, f"{WARC_DIR}/{name}", new_file):
            continue
        if target.exists():
            with target.open("rb") as old, new_file.open("ab") as new:
                old.seek(new_file.stat().st_size)
                shutil.copyfileobj(old, new)
            if count_readable_records(new_file) < count_readable_records(target):
                new_file.unlink()
                continue
            shutil.copy2(target, folder.parent / f"{name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        shutil.move(new_file, target)
        yield RepairStep(f"{name} was restored from {backup}")
        return


def count_readable_records(file: Path) -> int:
    """Return the number of readable responses in a WARC file that may be damaged."""
    count = 0
    with suppress(StoreError):
        for _ in read_warc(file):
            count += 1
    return count


def restore_or_delete_state_file(data_dir: Path, backups: Sequence[Path], name: str) -> RepairStep:
    """Restore a damaged state file from the newest copy that has it, or delete it; returns the repair.

    Files with work of the administrator, the topics and the added hosts, are never deleted. Followers get again what
    they got since the copy of the follows.
    """
    target = data_dir / name
    for suffix in ("-wal", "-shm"):  # of the damaged database
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    if target.is_dir():
        delete_if_damaged(target)
    elif backup := next((backup for backup in backups if restore_file(backup, f"{STATE_DIR}/{name}", target)), None):
        return RepairStep(f"{name} was restored from {backup}")
    elif target.parent.name == TOPIC_DIR:
        return RepairStep(f"{name} is in no backup: correct the file, or define the topic again", is_loss=True)
    elif name == FOLLOWS_FILE:
        target.unlink(missing_ok=True)
        return RepairStep(f"{name} is in no backup: readers have to follow their searches again", is_loss=True)
    elif name == ADDED_SITES_FILE:
        advice = "correct the file, or delete it and add the hosts again with `plumb sites add`"
        return RepairStep(f"{name} is in no backup: {advice}", is_loss=True)
    else:
        target.unlink(missing_ok=True)
    return RepairStep(f"{name} was deleted; it is recreated at its next use")


# -- content


def repair_open_store(engine: Engine, components: set[str], backups: Sequence[Path]) -> Iterator[RepairStep]:
    """Repair what needs a readable database: WARC files, lost pages, near-duplicate keys, articles, counts, index."""
    folder, remote, integrity = engine.settings.data_dir / WARC_DIR, engine.settings.store.warc, engine.store.integrity
    if "lost_pages" in components:
        yield from import_stored_warc_files(engine, backups)
    warc_faults = list(iter_warc_faults(engine.store, folder, False, remote))
    if warc_faults and backups:
        for fault in warc_faults:
            yield from restore_warc_file(folder, backups, fault.location)
        warc_faults = list(iter_warc_faults(engine.store, folder, False, remote))
    lost_ids = {int(key) for fault in warc_faults for key in fault.keys} | {*integrity.urls_without_page()}
    if "lost_pages" in components:  # a URL of which only the address was readable has no digest
        lost_ids |= {*integrity.articles_without_page()}
    if lost_ids:
        integrity.force_refetch(sorted(lost_ids))
        text = f"{len(lost_ids)} stored pages are lost (url_id {format_keys([*map(str, sorted(lost_ids))])})"
        yield RepairStep(
            f"{text}: the next crawl fetches those that it still visits; their readable articles are kept", True
        )
    if "copies" in components:
        engine.store.key_compaction.drop_all()
        yield RepairStep("the near-duplicate keys are recomputed")
    if components & (BLOCKING_COMPONENTS | {"copies", "lost_pages"}):
        yield RepairStep(f"extracted {stages.extract(engine).total} pages")
    if "citations" in components and (corrected_count := engine.store.citations.repair_counts()):
        yield RepairStep(f"{corrected_count} citation counts were corrected; the next run writes them to the index")
    if "index" in components:
        yield from repair_index(engine)


def repair_index(engine: Engine) -> Iterator[RepairStep]:
    """Index missing documents again and delete documents that the store does not know; yields one step."""
    index = engine.index
    if index.has_collection():  # otherwise the stage `index` creates it and writes all documents
        index.commit(soft=True)
        ledger_ids, pending_ids = engine.store.integrity.indexed_and_pending_doc_ids()
        solr_ids = set(index.iter_ids())
        for batch in batched(sorted(solr_ids - ledger_ids - pending_ids), DELETE_BATCH_SIZE):
            index.delete(batch)
        engine.store.integrity.enqueue_documents(sorted(ledger_ids - solr_ids - pending_ids))
    report = stages.index(engine)
    yield RepairStep(f"index: {report.total} documents written or deleted")
