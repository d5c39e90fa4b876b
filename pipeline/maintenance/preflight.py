"""The check as a whole, and its cheap form before every scheduled run."""

import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from docstore.errors import StoreError
from docstore.integrity.page_checksums import ChecksumStatus, checksum_file, read_checksums
from pipeline.engine import Engine
from pipeline.maintenance.backup import DATABASE_FILE, WARC_DIR
from pipeline.maintenance.integrity_check import (
    Fault,
    check_database_file,
    iter_index_faults,
    iter_state_file_faults,
    iter_store_faults,
    iter_warc_faults,
)
from pipeline.settings import Settings

log = logging.getLogger(__name__)

BLOCKING_COMPONENTS = frozenset(
    {"file", "wal", "database", "rows"}
)  # parts whose faults stop a run, and want a sound store
PROJECT_ROOT = Path(__file__).parents[2]

OpenEngine = Callable[[], AbstractContextManager[Engine]]


def check_all(settings: Settings, open_engine: OpenEngine, quick: bool = False, with_index: bool = True) -> list[Fault]:
    """Everything that is not what was written. What is wrong with the file is told before anybody opens it."""
    file = settings.data_dir / DATABASE_FILE
    is_sqlite = not settings.store.url
    faults = check_database_file(file) if is_sqlite else []
    if is_sqlite and not file.exists() and any((settings.data_dir / WARC_DIR).glob("*")):
        return [Fault("database", f"{file} is not there, and the WARC files are")]
    is_proven = is_sqlite and quick and not faults and read_checksums(checksum_file(file)) is not None
    try:
        with open_engine() as engine:
            faults += check_open_store(engine, is_proven, quick)
            if with_index and not any(fault.component in BLOCKING_COMPONENTS for fault in faults):
                faults += iter_index_faults(engine.store, engine.index)
    except StoreError as error:
        faults.append(Fault("database", str(error)))
    return faults


def check_open_store(engine: Engine, is_proven: bool, quick: bool) -> list[Fault]:
    """What an open vertical shows of itself, but for its index."""
    if engine.store.integrity.ensure_row_checksums():
        log.info("the rows of the store have sums from now on")
    folder = engine.settings.data_dir / WARC_DIR
    faults = [*iter_state_file_faults(engine.settings), *iter_store_faults(engine.store, is_proven, quick)]
    return [*faults, *iter_warc_faults(engine.store, folder, quick, engine.settings.store.warc)]


def check_before_run(engine: Engine) -> list[Fault]:
    """The cheap form of the check, of a vertical that is open: the file is read by a process of its own, as this one
    would lose its locks on it (`docstore.integrity.page_checksums`).

    Pages that are others by their sums alone are said and stop nothing: what nothing depends on may be damaged, and
    another program may have written.
    """
    file = engine.settings.data_dir / DATABASE_FILE
    proof = ChecksumStatus.UNKNOWN if engine.settings.store.url else verify_page_sums_in_subprocess(file)
    faults = (
        [Fault("pages", f"pages of {file.name} are not what was written")] if proof is ChecksumStatus.DAMAGED else []
    )
    faults += check_open_store(engine, proof is ChecksumStatus.INTACT, quick=True)
    for fault in faults:
        log.error("damaged: %s", fault.description)
    return faults


def verify_page_sums_in_subprocess(file: Path) -> ChecksumStatus:
    """What the sums of a store's pages say, asked in another process."""
    command = [sys.executable, "-m", "docstore.integrity.page_checksums", str(file)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT_ROOT)
    return ChecksumStatus(completed.stdout.strip()) if completed.returncode == 0 else ChecksumStatus.UNKNOWN


def raise_if_damaged(faults: Sequence[Fault]) -> None:
    """StoreError where the store is damaged: a run would build on it. What is made anew by itself stops nobody."""
    if blocking := [fault for fault in faults if fault.component in BLOCKING_COMPONENTS]:
        raise StoreError(f"{blocking[0].description}: stop `plumb serve`, then run `plumb check --repair`")
