"""Putting a damaged vertical right, each part from what proves it.

pages of the store    from the newest backup, where it has them as they were
the database          a new one of all rows that prove themselves, the others from the backup (docstore/integrity);
                      pages that it no longer knows from the WARC files, articles from their pages
WARC files            from the backup; a page whose record is nowhere is asked of its site again
copies                their keys are made anew from the articles
state files           what the operator wrote from the backup; the rest is thrown away, what uses it makes it anew
index                 what the ledger says is written again, what it does not know deleted
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
DUPLICATE_KEY_TABLES = frozenset({"bands", "key_parts", "sealed_keys", "sealed_leaders"})  # by which copies are found

OpenEngine = Callable[[], AbstractContextManager[Engine]]


def repair_vertical(
    settings: Settings, open_engine: OpenEngine, faults: Sequence[Fault], backup: Path | None
) -> Iterator[str]:
    """Put `faults` right; yields what was done. BusyError while a run goes on, StoreError while somebody else has the
    store open."""
    data_dir, components = settings.data_dir, {fault.component for fault in faults}
    with stage_lock(data_dir, "run"):
        if components & BLOCKING_COMPONENTS:
            yield from repair_store(data_dir / DATABASE_FILE, open_engine, components, backup)
        if "sums" in components:
            delete_checksums(data_dir / DATABASE_FILE)
            yield "the sums of the store's pages are made anew"
        for fault in faults:
            if fault.component == "warc" and backup is not None:
                yield from restore_warc_from_backup(data_dir / WARC_DIR, backup, fault.location)
            if fault.component == "state":
                yield restore_or_delete_state_file(data_dir, backup, fault.keys[0])
        with open_engine() as engine:
            yield from repair_open_store(engine, components)


# -- the store


def repair_store(file: Path, open_engine: OpenEngine, components: set[str], backup: Path | None) -> Iterator[str]:
    """Make the database whole; see the module's docstring."""
    require_exclusive_access(file)
    damaged_copy = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    if backup is not None and "file" in components and not repair_pages(file, backup / DATABASE_FILE):
        yield f"the damaged pages of {file.name} were put right from {backup}"
        return
    salvage_report = rebuild_database(file, damaged_copy, backup)
    yield f"{file.name} was made anew from what proves itself; the damaged one is {damaged_copy.name}"
    yield from format_salvage(salvage_report)
    with open_engine() as engine:
        if {"urls", "pages"} & set(salvage_report.partial_tables):
            for warc in sorted((file.parent / WARC_DIR).glob("*")):
                import_warc_file(engine, warc)
            yield "pages that could not be read were taken from the WARC files"
        if DUPLICATE_KEY_TABLES & set(salvage_report.partial_tables):
            engine.store.key_compaction.drop_all()
            yield "which articles are copies is decided anew"
        engine.store.articles.reextract_all()
        engine.store.change_log.enqueue_all()


def require_exclusive_access(file: Path) -> None:
    """StoreError if another process has the store open: it would go on with the old file."""
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        if "locked" in str(error):
            raise StoreError("the store is in use: stop `plumb serve` and `plumb schedule`, then repair it") from error


def rebuild_database(file: Path, damaged_copy: Path, backup: Path | None) -> SalvageReport:
    """Move the damaged store aside and put a new one in its place, or the backup's where nothing can be read."""
    rebuilt = file.with_name(f"{file.name}.fresh")
    for name in (rebuilt, *(rebuilt.with_name(rebuilt.name + suffix) for suffix in SQLITE_SIDE_SUFFIXES)):
        name.unlink(missing_ok=True)
    try:
        salvage_report = salvage_store(file, backup / DATABASE_FILE if backup else None, rebuilt)
    except sqlite3.DatabaseError as error:
        if backup is None:
            raise StoreError(
                f"the store cannot be read at all ({error}), and there is no backup: {REIMPORT_ADVICE}"
            ) from error
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


REIMPORT_ADVICE = "move it away and take the pages in again with `plumb import data/warc/*`"


def format_salvage(salvage_report: SalvageReport) -> Iterator[str]:
    """What became of the rows."""
    if salvage_report.partial_tables:
        yield f"could not be read whole: {', '.join(salvage_report.partial_tables)}"
    for table, count in salvage_report.rows_from_backup.items():
        yield f"{table}: {count} rows from the backup"
    for table, keys in salvage_report.lost_keys.items():
        consequence = "extracted again" if table == "articles" else "lost, there is no other copy"
        yield f"{table}: {len(keys)} rows {consequence} ({', '.join(keys[:5])})"


# -- files


def restore_warc_from_backup(folder: Path, backup: Path, name: str) -> Iterator[str]:
    """Put the part of a WARC file that the backup has back in its place; what came later stays."""
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
    yield f"{name} was put right from {backup}"


def restore_or_delete_state_file(data_dir: Path, backup: Path | None, name: str) -> str:
    """Replace a damaged small file by the backup's, or throw it away: what uses it makes it anew."""
    target = data_dir / name
    if target.is_dir():
        shutil.rmtree(target)
    elif backup is not None and (backup / STATE_DIR / name).is_file():
        shutil.copyfile(backup / STATE_DIR / name, target)
        return f"{name} was restored from {backup}"
    else:
        target.unlink(missing_ok=True)
    return f"{name} was thrown away: it is made anew"


# -- content


def repair_open_store(engine: Engine, components: set[str]) -> Iterator[str]:
    """What is left when every file is readable: records that are lost, articles, the index."""
    folder, remote = engine.settings.data_dir / WARC_DIR, engine.settings.store.warc
    lost_keys = [key for fault in iter_warc_faults(engine.store, folder, False, remote) for key in fault.keys]
    if lost_keys:
        engine.store.integrity.force_refetch([int(key) for key in lost_keys])
        yield f"{len(lost_keys)} pages have no record any more: the next crawl asks their sites again; articles are kept"
    if "copies" in components:
        engine.store.key_compaction.drop_all()
        yield "the keys by which copies are found are made anew"
    if components & (BLOCKING_COMPONENTS | {"copies"}):
        yield f"extracted: {stages.extract(engine).total} pages"
    if "index" in components:
        yield from repair_index(engine)


def repair_index(engine: Engine) -> Iterator[str]:
    """Write what the index lacks and delete what the ledger does not know."""
    index = engine.index
    index.commit(soft=True)
    ledger_ids, pending_ids = engine.store.integrity.indexed_and_pending_doc_ids()
    solr_ids = set(index.iter_ids())
    for batch in batched(sorted(solr_ids - ledger_ids - pending_ids), DELETE_BATCH_SIZE):
        index.delete(batch)
    engine.store.integrity.enqueue_documents(sorted(ledger_ids - solr_ids - pending_ids))
    report = stages.index(engine)
    yield f"index: {report.total} documents written or deleted"
