"""Repair a damaged vertical (`plumb check --repair`).

Source of each part:

database              rows with valid checksums, other rows from the backup (docstore/integrity);
                      lost pages from the WARC files, articles by extraction from their pages
WARC files            the backup; a page without a readable record is fetched again
rows of pages         the WARC files; a page that is in none of them is fetched again
near-duplicate keys   recomputed from the articles
citation counts       recounted
state files           the backup; files without a copy are deleted and recreated by the stage that uses them; topics
                      without a copy stay as they are
index                 missing documents are indexed again, unknown documents are deleted
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from crawler.host_suggestions import ADDED_SITES_FILE
from docstore.integrity.salvage import SalvageReport, salvage_store
from domain.batches import batched
from domain.errors import StoreError
from locks.file_locks import stage_lock
from pipeline import stages
from pipeline.engine import Engine, OpenEngine
from pipeline.maintenance.backup import DATABASE_FILE, STATE_DIR, WARC_DIR, read_manifest
from pipeline.maintenance.file_checksums import delete_if_damaged
from pipeline.maintenance.integrity_check import TOPIC_DIR, Fault, iter_state_file_faults, iter_warc_faults
from pipeline.maintenance.preflight import BLOCKING_COMPONENTS
from pipeline.settings import Settings
from pipeline.warc_import.importer import IncompleteImportError, import_warc_files
from pipeline.warc_import.sources import WarcSource

SQLITE_SIDE_SUFFIXES = ("-wal", "-shm", "-sums")
DELETE_BATCH_SIZE = 500
DUPLICATE_KEY_TABLES = frozenset(
    {"bands", "key_parts", "sealed_keys", "sealed_leaders"}
)  # contain the near-duplicate keys
PAGE_TABLES = frozenset({"urls", "pages"})


@dataclass(frozen=True)
class RepairStep:
    """One repair, as a line for the administrator. `is_loss` is True if it says what could not be restored."""

    text: str
    is_loss: bool = False


def repair_vertical(
    settings: Settings,
    open_engine: OpenEngine,
    faults: Sequence[Fault],
    backup: Path | None,
    with_index: bool = False,
) -> Iterator[RepairStep]:
    """Repair `faults`; yields each repair and each loss.

    A damaged database hides damage of the other parts, so these are checked again once the database is repaired.

    Args:
        settings: The settings of the vertical.
        open_engine: Opens the vertical.
        faults: Result of `check_all`.
        backup: Backup to restore parts from, or None.
        with_index: Repair the index too if a damaged database prevented its check.

    Raises BusyError while a run is active, and StoreError if another process has the store open, or if the database of
    a server is damaged.
    """
    data_dir, components = settings.data_dir, {fault.component for fault in faults}
    with stage_lock(data_dir, "run"):
        if components & BLOCKING_COMPONENTS:
            if settings.store.url:
                raise StoreError("the store is not a file in data_dir: restore its last dump, then run the check again")
            yield from repair_store(data_dir / DATABASE_FILE, open_engine, backup)
            if with_index:
                components.add("index")
        for fault in iter_state_file_faults(settings):
            yield restore_or_delete_state_file(data_dir, backup, fault.keys[0])
        with open_engine() as engine:
            yield from repair_open_store(engine, components, backup)


# -- the store


def repair_store(file: Path, open_engine: OpenEngine, backup: Path | None) -> Iterator[RepairStep]:
    """Repair the database file (see the module docstring); yields each repair and each loss. Raises StoreError."""
    require_exclusive_access(file)
    damaged_copy = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    salvage_report = rebuild_database(file, damaged_copy, backup)
    yield RepairStep(f"{file.name} was rebuilt from the rows with valid checksums")
    yield RepairStep(f"the damaged file was kept as {damaged_copy.name}")
    yield from format_salvage(salvage_report)
    with open_engine() as engine:
        if PAGE_TABLES & set(salvage_report.partial_tables):
            yield from import_stored_warc_files(engine, backup)
        if DUPLICATE_KEY_TABLES & set(salvage_report.partial_tables):
            engine.store.key_compaction.drop_all()
            yield RepairStep("near-duplicates are detected again")
        engine.store.articles.reextract_all()
        engine.store.change_log.enqueue_all()


def import_stored_warc_files(engine: Engine, backup: Path | None) -> Iterator[RepairStep]:
    """Import the pages of all WARC files of the vertical. A damaged file is restored from the backup and read again."""
    folder = engine.settings.data_dir / WARC_DIR
    damaged_names = import_files(engine, sorted(folder.glob("*")))
    yield RepairStep("unreadable pages were imported from the WARC files")
    if damaged_names and backup is not None:
        restore_steps = [step for name in damaged_names for step in restore_warc_from_backup(folder, backup, name)]
        yield from restore_steps
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


def require_exclusive_access(file: Path) -> None:
    """Raise StoreError if another process has the store open, because it would continue with the old file."""
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        if "locked" in str(error):
            raise StoreError(
                "the store is in use: stop `plumb serve` and `plumb schedule`, then run the repair again"
            ) from error


def rebuild_database(file: Path, damaged_copy: Path, backup: Path | None) -> SalvageReport:
    """Replace the damaged store by a rebuilt one, or by the backup if it is unreadable; keeps the damaged file.

    Raises StoreError if the store is unreadable and there is no backup.
    """
    rebuilt = file.with_name(f"{file.name}.fresh")
    for name in (rebuilt, *(rebuilt.with_name(rebuilt.name + suffix) for suffix in SQLITE_SIDE_SUFFIXES)):
        name.unlink(missing_ok=True)
    try:
        salvage_report = salvage_store(file, backup / DATABASE_FILE if backup else None, rebuilt)
    except sqlite3.DatabaseError as error:
        if backup is None:
            raise StoreError(f"the store is unreadable ({error}) and there is no backup: {REIMPORT_ADVICE}") from error
        rebuilt.unlink(missing_ok=True)
        shutil.copy2(backup / DATABASE_FILE, rebuilt)
        salvage_report = SalvageReport(partial_tables=["urls", "pages", "all decisions since the backup"])
    os.chmod(rebuilt, 0o600)
    if file.exists():
        file.replace(damaged_copy)
    for suffix in SQLITE_SIDE_SUFFIXES:
        file.with_name(file.name + suffix).unlink(missing_ok=True)
        rebuilt.with_name(rebuilt.name + suffix).unlink(missing_ok=True)
    rebuilt.replace(file)
    return salvage_report


REIMPORT_ADVICE = "move it away and import the pages again with `plumb import data/warc/*`"


def format_salvage(salvage_report: SalvageReport) -> Iterator[RepairStep]:
    """Format the result of a salvage: unreadable tables, restored and lost rows."""
    if salvage_report.partial_tables:
        yield RepairStep(f"not completely readable: {', '.join(salvage_report.partial_tables)}")
    for table, count in salvage_report.rows_from_backup.items():
        yield RepairStep(f"{table}: {count} rows from the backup")
    for table, keys in salvage_report.lost_keys.items():
        is_loss = table != "articles"
        consequence = "lost, no other copy exists" if is_loss else "extracted again"
        yield RepairStep(f"{table}: {len(keys)} rows {consequence} ({', '.join(keys[:5])})", is_loss)


# -- files


def restore_warc_from_backup(folder: Path, backup: Path, name: str) -> Iterator[RepairStep]:
    """Restore the part of a WARC file that the backup contains; later records stay. Yields the repair, if any."""
    size, _ = read_manifest(backup).files.get(f"{WARC_DIR}/{name}", (0, ""))
    if not size:
        return
    target, partial_file = folder / name, folder / f"{name}.new"
    shutil.copy(backup / WARC_DIR / name, partial_file)
    if target.exists() and target.stat().st_size > size:
        with target.open("rb") as old, partial_file.open("ab") as new:
            old.seek(size)
            shutil.copyfileobj(old, new)
    partial_file.replace(target)
    yield RepairStep(f"{name} was restored from {backup}")


def restore_or_delete_state_file(data_dir: Path, backup: Path | None, name: str) -> RepairStep:
    """Restore a damaged state file from the backup, or delete it; returns the repair.

    Files with work of the administrator, the topics and the added hosts, are never deleted.
    """
    target = data_dir / name
    if target.is_dir():
        delete_if_damaged(target)
    elif backup is not None and (backup / STATE_DIR / name).is_file():
        shutil.copy(backup / STATE_DIR / name, target)
        return RepairStep(f"{name} was restored from {backup}")
    elif target.parent.name == TOPIC_DIR:
        return RepairStep(f"{name} is in no backup: correct the file, or define the topic again", is_loss=True)
    elif name == ADDED_SITES_FILE:
        advice = "correct the file, or delete it and add the hosts again with `plumb sites add`"
        return RepairStep(f"{name} is in no backup: {advice}", is_loss=True)
    else:
        target.unlink(missing_ok=True)
    return RepairStep(f"{name} was deleted; it is recreated at its next use")


# -- content


def repair_open_store(engine: Engine, components: set[str], backup: Path | None) -> Iterator[RepairStep]:
    """Repair what needs a readable database: WARC files, lost pages, near-duplicate keys, articles, counts, index."""
    folder, remote, integrity = engine.settings.data_dir / WARC_DIR, engine.settings.store.warc, engine.store.integrity
    warc_faults = list(iter_warc_faults(engine.store, folder, False, remote))
    if warc_faults and backup is not None:
        for fault in warc_faults:
            yield from restore_warc_from_backup(folder, backup, fault.location)
        warc_faults = list(iter_warc_faults(engine.store, folder, False, remote))
    lost_ids = [int(key) for fault in warc_faults for key in fault.keys]
    if lost_ids := sorted({*lost_ids, *integrity.urls_without_page()}):
        integrity.force_refetch(lost_ids)
        text = f"{len(lost_ids)} stored pages are lost: the next crawl fetches those that it still visits"
        yield RepairStep(f"{text}; their articles are kept", is_loss=True)
    if "copies" in components:
        engine.store.key_compaction.drop_all()
        yield RepairStep("the near-duplicate keys are recomputed")
    if components & (BLOCKING_COMPONENTS | {"copies"}):
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
