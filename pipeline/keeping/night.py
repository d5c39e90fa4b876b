"""The check as a whole, and its cheap form before every scheduled run."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager

from docstore.errors import StoreError
from docstore.page_sums import read_sums, sums_file
from pipeline.engine import Engine
from pipeline.keeping.backup import ARCHIVE, DATABASE
from pipeline.keeping.check import Fault, file_faults, index_faults, state_faults, store_faults, warc_faults
from pipeline.settings import Settings

log = logging.getLogger(__name__)

Opened = Callable[[], AbstractContextManager[Engine]]


def all_faults(settings: Settings, opened: Opened, quick: bool = False, with_index: bool = True) -> list[Fault]:
    """Everything that is not what was written. What is wrong with the file is told before anybody opens it."""
    file = settings.data_dir / DATABASE
    is_file = not settings.store.url
    found = file_faults(file) if is_file else []
    if is_file and not file.exists() and any((settings.data_dir / ARCHIVE).glob("*")):
        return [Fault("database", f"{file} is not there, and the WARC files are")]
    is_proven = is_file and quick and not found and read_sums(sums_file(file)) is not None
    found += state_faults(settings)
    try:
        with opened() as engine:
            if engine.store.soundness.make_sums():
                log.info("the rows of the store have sums from now on")
            found += store_faults(engine.store, is_proven)
            found += warc_faults(engine.store, settings.data_dir / ARCHIVE, quick)
            if with_index and not any(fault.part in ("file", "database") for fault in found):
                found += index_faults(engine.store, engine.index)
    except StoreError as error:
        found.append(Fault("database", str(error)))
    return found


def refuse_damaged(settings: Settings, opened: Opened) -> None:
    """StoreError where the store is damaged: a run would build on it. The cheap form of the check."""
    faults = all_faults(settings, opened, quick=True, with_index=False)
    for fault in faults:
        log.error("damaged: %s", fault.text)
    if serious := [one for one in faults if one.part in ("file", "wal", "database", "rows")]:
        raise StoreError(f"{serious[0].text}: stop `plumb serve`, then run `plumb check --repair`")
