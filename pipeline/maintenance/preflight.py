"""The complete integrity check (`plumb check`), and the quick check before every run."""

import logging
from collections.abc import Sequence

from domain.errors import StoreError, StoreUnavailableError
from pipeline.engine import Engine, OpenEngine
from pipeline.maintenance.backup import WARC_DIR
from pipeline.maintenance.integrity_check import (
    Fault,
    iter_index_faults,
    iter_state_file_faults,
    iter_store_faults,
    iter_warc_faults,
)
from pipeline.settings import Settings

log = logging.getLogger(__name__)

BLOCKING_COMPONENTS = frozenset({"database", "rows"})
"""Components whose faults stop a run, because its results would depend on damaged data."""


def check_all(settings: Settings, open_engine: OpenEngine, quick: bool = False, with_index: bool = True) -> list[Fault]:
    """Check the whole vertical; returns its faults.

    Args:
        settings: The settings of the vertical.
        open_engine: Opens the vertical.
        quick: Compare file sizes instead of reading all records.
        with_index: Compare the index with the store; starts or contacts Solr.

    Raises StoreUnavailableError if the store is locked, does not open, is too new, or its disk is full.
    """
    faults: list[Fault] = []
    try:
        with open_engine() as engine:
            faults += check_open_store(engine, quick)
            if with_index and not any(fault.component in BLOCKING_COMPONENTS for fault in faults):
                faults += iter_index_faults(engine.store, engine.index)
    except StoreUnavailableError:
        raise  # no damage: a repair would rebuild an intact database
    except StoreError as error:
        faults.append(Fault("database", str(error)))
    return faults


def check_open_store(engine: Engine, quick: bool) -> list[Fault]:
    """Check an open vertical without its index; returns its faults."""
    if engine.store.integrity.ensure_row_checksums():
        log.info("added row checksums to the store")
    folder = engine.settings.data_dir / WARC_DIR
    faults = [*iter_state_file_faults(engine.settings), *iter_store_faults(engine.store, quick)]
    with engine.progress.task("check", engine.store.status.page_count()) as advance:
        return [*faults, *iter_warc_faults(engine.store, folder, quick, engine.settings.store.warc, advance)]


def check_before_run(engine: Engine) -> list[Fault]:
    """Run the quick check on an open vertical before a run; logs and returns the faults."""
    faults = check_open_store(engine, quick=True)
    for fault in faults:
        log.error("damaged: %s", fault.description)
    return faults


def raise_if_damaged(faults: Sequence[Fault]) -> None:
    """Raise StoreError if a blocking component is damaged; faults that the stages recreate are ignored."""
    if blocking := [fault for fault in faults if fault.component in BLOCKING_COMPONENTS]:
        raise StoreError("{fault}: stop `plumb serve`, then run `plumb check --repair`", fault=blocking[0].description)
