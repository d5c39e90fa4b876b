"""Repair a damaged vertical (`plumb check --repair`).

Source of each part:

database pages        the newest backup, if its pages match the stored checksums
database              rows with valid checksums, other rows from the backup (docstore/integrity);
                      lost pages from the WARC files, articles by extraction from their pages
WARC files            the backup; a page without a readable record is fetched again
near-duplicate keys   recomputed from the articles
state files           the backup; files without a copy are deleted and recreated by the stage that uses them
index                 missing documents are indexed again, unknown documents are deleted
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

from docstore.batches import batched
from docstore.errors import StoreError
from docstore.integrity.page_checksums import delete_checksums, repair_pages
from docstore.integrity.salvage import SalvageReport, salvage_store
from docstore.locking.file_locks import stage_lock
from pipeline import stages
from pipeline.engine import Engine
from pipeline.maintenance.backup import DATABASE_FILE, STATE_DIR, WARC_DIR, read_manifest
from pipeline.maintenance.integrity_check import Fault, iter_warc_faults
from pipeline.maintenance.preflight import BLOCKING_COMPONENTS
from pipeline.settings import Settings
from pipeline.warc_import import import_warc_file

SQLITE_SIDE_SUFFIXES = ("-wal", "-shm", "-sums")
DELETE_BATCH_SIZE = 500
DUPLICATE_KEY_TABLES = frozenset(
    {"bands", "key_parts", "sealed_keys", "sealed_leaders"}
)  # contain the near-duplicate keys

OpenEngine = Callable[[], AbstractContextManager[Engine]]


def repair_vertical(
    settings: Settings, open_engine: OpenEngine, faults: Sequence[Fault], backup: Path | None
) -> Iterator[str]:
    """Repair `faults`; yields one line for each repair.

    Args:
        settings: The settings of the vertical.
        open_engine: Opens the vertical.
        faults: Result of `check_all`.
        backup: Backup to restore parts from, or None.

    Raises BusyError while a run is active, and StoreError if another process has the store open.
    """
    data_dir, components = settings.data_dir, {fault.component for fault in faults}
    with stage_lock(data_dir, "run"):
        if components & BLOCKING_COMPONENTS:
            yield from repair_store(data_dir / DATABASE_FILE, open_engine, components, backup)
        if "sums" in components:
            delete_checksums(data_dir / DATABASE_FILE)
            yield "the page checksums of the store are recomputed when it is closed"
        for fault in faults:
            if fault.component == "warc" and backup is not None:
                yield from restore_warc_from_backup(data_dir / WARC_DIR, backup, fault.location)
            if fault.component == "state":
                yield restore_or_delete_state_file(data_dir, backup, fault.keys[0])
        with open_engine() as engine:
            yield from repair_open_store(engine, components)


# -- the store


def repair_store(file: Path, open_engine: OpenEngine, components: set[str], backup: Path | None) -> Iterator[str]:
    """Repair the database file (see the module docstring); yields one line for each repair. Raises StoreError."""
    require_exclusive_access(file)
    damaged_copy = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    if backup is not None and "file" in components and not repair_pages(file, backup / DATABASE_FILE):
        yield f"the damaged pages of {file.name} were restored from {backup}"
        return
    salvage_report = rebuild_database(file, damaged_copy, backup)
    yield f"{file.name} was rebuilt from the rows with valid checksums"
    yield f"the damaged file was kept as {damaged_copy.name}"
    yield from format_salvage(salvage_report)
    with open_engine() as engine:
        if {"urls", "pages"} & set(salvage_report.partial_tables):
            for warc in sorted((file.parent / WARC_DIR).glob("*")):
                import_warc_file(engine, warc)
            yield "unreadable pages were imported from the WARC files"
        if DUPLICATE_KEY_TABLES & set(salvage_report.partial_tables):
            engine.store.key_compaction.drop_all()
            yield "near-duplicates are detected again"
        engine.store.articles.reextract_all()
        engine.store.change_log.enqueue_all()


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


def format_salvage(salvage_report: SalvageReport) -> Iterator[str]:
    """Format the result of a salvage as lines: unreadable tables, restored and lost rows."""
    if salvage_report.partial_tables:
        yield f"not completely readable: {', '.join(salvage_report.partial_tables)}"
    for table, count in salvage_report.rows_from_backup.items():
        yield f"{table}: {count} rows from the backup"
    for table, keys in salvage_report.lost_keys.items():
        consequence = "extracted again" if table == "articles" else "lost, no other copy exists"
        yield f"{table}: {len(keys)} rows {consequence} ({', '.join(keys[:5])})"


# -- files


def restore_warc_from_backup(folder: Path, backup: Path, name: str) -> Iterator[str]:
    """Restore the part of a WARC file that the backup contains; later records stay. Yields the repair, if any."""
    size, _ = read_manifest(backup).files.get(f"{WARC_DIR}/{name}", (0, ""))
    if not size:
        return
    target, partial_file = folder / name, folder / f"{name}.new"
    shutil.copyfile(backup / WARC_DIR / name, partial_file)
    if target.exists() and target.stat().st_size > size:
        with target.open("rb") as old, partial_file.open("ab") as new:
            old.seek(size)
            shutil.copyfileobj(old, new)
    partial_file.replace(target)
    yield f"{name} was restored from {backup}"


def restore_or_delete_state_file(data_dir: Path, backup: Path | None, name: str) -> str:
    """Restore a damaged state file from the backup, or delete it; returns a line about the repair."""
    target = data_dir / name
    if target.is_dir():
        shutil.rmtree(target)
    elif backup is not None and (backup / STATE_DIR / name).is_file():
        shutil.copyfile(backup / STATE_DIR / name, target)
        return f"{name} was restored from {backup}"
    else:
        target.unlink(missing_ok=True)
    return f"{name} was deleted; it is recreated at its next use"


# -- content


def repair_open_store(engine: Engine, components: set[str]) -> Iterator[str]:
    """Repair what needs readable files: lost WARC records, near-duplicate keys, articles, the index."""
    folder, remote = engine.settings.data_dir / WARC_DIR, engine.settings.store.warc
    lost_keys = [key for fault in iter_warc_faults(engine.store, folder, False, remote) for key in fault.keys]
    if lost_keys:
        engine.store.integrity.force_refetch([int(key) for key in lost_keys])
        yield (
            f"{len(lost_keys)} pages are no longer in the WARC files: "
            "the next crawl fetches them again; their articles are kept"
        )
    if "copies" in components:
        engine.store.key_compaction.drop_all()
        yield "the near-duplicate keys are recomputed"
    if components & (BLOCKING_COMPONENTS | {"copies"}):
        yield f"extracted {stages.extract(engine).total} pages"
    if "index" in components:
        yield from repair_index(engine)


def repair_index(engine: Engine) -> Iterator[str]:
    """Index missing documents again and delete documents that the store does not know; yields one line."""
    index = engine.index
    index.commit(soft=True)
    ledger_ids, pending_ids = engine.store.integrity.indexed_and_pending_doc_ids()
    solr_ids = set(index.iter_ids())
    for batch in batched(sorted(solr_ids - ledger_ids - pending_ids), DELETE_BATCH_SIZE):
        index.delete(batch)
    engine.store.integrity.enqueue_documents(sorted(ledger_ids - solr_ids - pending_ids))
    report = stages.index(engine)
    yield f"index: {report.total} documents written or deleted"
