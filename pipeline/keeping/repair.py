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
from docstore.integrity.page_sums import forget_sums, mend_pages
from docstore.integrity.salvage import Salvaged, salvage
from docstore.locking.file_locks import stage_lock
from pipeline import stages
from pipeline.engine import Engine
from pipeline.import_warc import import_warc
from pipeline.keeping.backup import ARCHIVE, DATABASE, FILES, manifest_of
from pipeline.keeping.check import Fault, warc_faults
from pipeline.keeping.night import NEEDS_FILE
from pipeline.settings import Settings

BESIDE = ("-wal", "-shm", "-sums")
BATCH = 500
KEY_TABLES = frozenset({"bands", "key_parts", "sealed_keys", "sealed_leaders"})  # by which copies are found

Opened = Callable[[], AbstractContextManager[Engine]]


def repair(settings: Settings, opened: Opened, faults: Sequence[Fault], backup: Path | None) -> Iterator[str]:
    """Put `faults` right; yields what was done. BusyError while a run goes on, StoreError while somebody else has the
    store open."""
    data, parts = settings.data_dir, {fault.part for fault in faults}
    with stage_lock(data, "run"):
        if parts & NEEDS_FILE:
            yield from repair_store(data / DATABASE, opened, parts, backup)
        if "sums" in parts:
            forget_sums(data / DATABASE)
            yield "the sums of the store's pages are made anew"
        for fault in faults:
            if fault.part == "warc" and backup is not None:
                yield from warc_from_backup(data / ARCHIVE, backup, fault.table)
            if fault.part == "state":
                yield restore_state(data, backup, fault.keys[0])
        with opened() as engine:
            yield from repair_content(engine, parts)


# -- the store


def repair_store(file: Path, opened: Opened, parts: set[str], backup: Path | None) -> Iterator[str]:
    """Make the database whole; see the module's docstring."""
    used_by_nobody(file)
    aside = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    if backup is not None and "file" in parts and not mend_pages(file, backup / DATABASE):
        yield f"the damaged pages of {file.name} were put right from {backup}"
        return
    said = rebuild(file, aside, backup)
    yield f"{file.name} was made anew from what proves itself; the damaged one is {aside.name}"
    yield from salvage_lines(said)
    with opened() as engine:
        if {"urls", "pages"} & set(said.partial):
            for warc in sorted((file.parent / ARCHIVE).glob("*")):
                import_warc(engine, warc)
            yield "pages that could not be read were taken from the WARC files"
        if KEY_TABLES & set(said.partial):
            engine.store.sealing.forget()
            yield "which articles are copies is decided anew"
        engine.store.articles.again()
        engine.store.changes.enqueue_all()


def used_by_nobody(file: Path) -> None:
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


def rebuild(file: Path, aside: Path, backup: Path | None) -> Salvaged:
    """Move the damaged store aside and put a new one in its place, or the backup's where nothing can be read."""
    fresh = file.with_name(f"{file.name}.fresh")
    for name in (fresh, *(fresh.with_name(fresh.name + one) for one in BESIDE)):
        name.unlink(missing_ok=True)
    try:
        said = salvage(file, backup / DATABASE if backup else None, fresh)
    except sqlite3.DatabaseError as error:
        if backup is None:
            raise StoreError(f"the store cannot be read at all ({error}), and there is no backup: {START}") from error
        fresh.unlink(missing_ok=True)
        shutil.copy2(backup / DATABASE, fresh)
        said = Salvaged(partial=["urls", "pages", "all decisions since the backup"])
    os.chmod(fresh, 0o600)
    if file.exists():
        file.replace(aside)
    for one in BESIDE:
        file.with_name(file.name + one).unlink(missing_ok=True)
        fresh.with_name(fresh.name + one).unlink(missing_ok=True)
    fresh.replace(file)
    return said


START = "move it away and take the pages in again with `plumb import data/warc/*`"


def salvage_lines(said: Salvaged) -> Iterator[str]:
    """What became of the rows."""
    if said.partial:
        yield f"could not be read whole: {', '.join(said.partial)}"
    for table, count in said.from_backup.items():
        yield f"{table}: {count} rows from the backup"
    for table, keys in said.lost.items():
        again = "extracted again" if table == "articles" else "lost, there is no other copy"
        yield f"{table}: {len(keys)} rows {again} ({', '.join(keys[:5])})"


# -- files


def warc_from_backup(folder: Path, backup: Path, name: str) -> Iterator[str]:
    """Put the part of a WARC file that the backup has back in its place; what came later stays."""
    size, _ = manifest_of(backup).files.get(f"{ARCHIVE}/{name}", (0, ""))
    if not size:
        return
    target, half = folder / name, folder / f"{name}.new"
    shutil.copyfile(backup / ARCHIVE / name, half)
    if target.exists() and target.stat().st_size > size:
        with target.open("rb") as old, half.open("ab") as new:
            old.seek(size)
            shutil.copyfileobj(old, new)
    half.replace(target)
    yield f"{name} was put right from {backup}"


def restore_state(data: Path, backup: Path | None, name: str) -> str:
    """Replace a damaged small file by the backup's, or throw it away: what uses it makes it anew."""
    target = data / name
    if target.is_dir():
        shutil.rmtree(target)
    elif backup is not None and (backup / FILES / name).is_file():
        shutil.copyfile(backup / FILES / name, target)
        return f"{name} was restored from {backup}"
    else:
        target.unlink(missing_ok=True)
    return f"{name} was thrown away: it is made anew"


# -- content


def repair_content(engine: Engine, parts: set[str]) -> Iterator[str]:
    """What is left when every file is readable: records that are lost, articles, the index."""
    folder, remote = engine.settings.data_dir / ARCHIVE, engine.settings.store.warc
    lost = [key for fault in warc_faults(engine.store, folder, False, remote) for key in fault.keys]
    if lost:
        engine.store.soundness.ask_again([int(key) for key in lost])
        yield f"{len(lost)} pages have no record any more: the next crawl asks their sites again; articles are kept"
    if "copies" in parts:
        engine.store.sealing.forget()
        yield "the keys by which copies are found are made anew"
    if parts & (NEEDS_FILE | {"copies"}):
        yield f"extracted: {stages.extract(engine).total} pages"
    if "index" in parts:
        yield from repair_index(engine)


def repair_index(engine: Engine) -> Iterator[str]:
    """Write what the index lacks and delete what the ledger does not know."""
    index = engine.index
    index.commit(soft=True)
    held, waiting = engine.store.soundness.ledger()
    found = set(index.ids())
    for batch in batched(sorted(found - held - waiting), BATCH):
        index.delete(batch)
    engine.store.soundness.write_again(sorted(held - found - waiting))
    report = stages.index(engine)
    yield f"index: {report.total} documents written or deleted"
