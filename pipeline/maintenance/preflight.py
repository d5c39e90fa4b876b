"""The complete integrity check (`plumb check`), and the quick check before every run."""

import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from docstore.integrity.page_checksums import ChecksumStatus, checksum_file, read_checksums
from domain.coded_message import CodedMessage
from domain.errors import StoreError, StoreFullError, StoreTooNewError
from pipeline.engine import Engine, OpenEngine
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

BLOCKING_COMPONENTS = frozenset({"file", "wal", "database", "rows"})
"""Components whose faults stop a run, because its results would depend on damaged data."""
PROJECT_ROOT = Path(__file__).parents[2]


def check_all(settings: Settings, open_engine: OpenEngine, quick: bool = False, with_index: bool = True) -> list[Fault]:
    """Check the whole vertical; returns its faults. The database file is checked before the store is opened.

    Args:
        settings: The settings of the vertical.
        open_engine: Opens the vertical.
        quick: Compare file sizes instead of reading all records.
        with_index: Compare the index with the store; starts or contacts Solr.

    Raises StoreTooNewError if a newer program created the store, and StoreFullError if its disk is full.
    """
    file = settings.data_dir / DATABASE_FILE
    is_sqlite = not settings.store.url
    faults = check_database_file(file) if is_sqlite else []
    if is_sqlite and not file.exists() and any((settings.data_dir / WARC_DIR).glob("*")):
        return [Fault("database", f"{file} is missing, but there are WARC files")]
    is_verified = is_sqlite and quick and not faults and read_checksums(checksum_file(file)) is not None
    try:
        with open_engine() as engine:
            faults += check_open_store(engine, is_verified, quick)
            if with_index and not any(fault.component in BLOCKING_COMPONENTS for fault in faults):
                faults += iter_index_faults(engine.store, engine.index)
    except (StoreTooNewError, StoreFullError):
        raise  # no damage: a repair would rebuild an intact database
    except StoreError as error:
        faults.append(Fault("database", str(error)))
    return faults


def check_open_store(engine: Engine, is_verified: bool, quick: bool) -> list[Fault]:
    """Check an open vertical without its index; returns its faults."""
    if engine.store.integrity.ensure_row_checksums():
        log.info("added row checksums to the store")
    folder = engine.settings.data_dir / WARC_DIR
    faults = [*iter_state_file_faults(engine.settings), *iter_store_faults(engine.store, is_verified, quick)]
    return [*faults, *iter_warc_faults(engine.store, folder, quick, engine.settings.store.warc)]


def check_before_run(engine: Engine) -> list[Fault]:
    """Run the quick check on an open vertical before a run; logs and returns the faults.

    A separate process reads the database file, because this one would lose its locks on it
    (`docstore.integrity.page_checksums`). A page checksum mismatch alone does not stop the run: the page may be unused,
    or another program may have written to the file.
    """
    file = engine.settings.data_dir / DATABASE_FILE
    page_status = ChecksumStatus.UNKNOWN if engine.settings.store.url else verify_page_sums_in_subprocess(file)
    faults = (
        [Fault("pages", f"pages of {file.name} do not match their checksums")]
        if page_status is ChecksumStatus.DAMAGED
        else []
    )
    faults += check_open_store(engine, page_status is ChecksumStatus.INTACT, quick=True)
    for fault in faults:
        log.error("damaged: %s", fault.description)
    return faults


def verify_page_sums_in_subprocess(file: Path) -> ChecksumStatus:
    """Compare the pages of a database file with their checksums in another process; UNKNOWN if that fails."""
    command = [sys.executable, "-m", "docstore.integrity.page_checksums", str(file)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT_ROOT)
    return ChecksumStatus(completed.stdout.strip()) if completed.returncode == 0 else ChecksumStatus.UNKNOWN


def raise_if_damaged(faults: Sequence[Fault]) -> None:
    """Raise StoreError if a blocking component is damaged; faults that the stages recreate are ignored."""
    if blocking := [fault for fault in faults if fault.component in BLOCKING_COMPONENTS]:
        message = f"{blocking[0].description}: stop `plumb serve`, then run `plumb check --repair`"
        raise StoreError(CodedMessage(message, "run_needs_repair", fault=blocking[0].description))
