"""The check as a whole, and its cheap form before every scheduled run."""

import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from docstore.errors import StoreError
from docstore.integrity.page_sums import Proof, read_sums, sums_file
from pipeline.engine import Engine
from pipeline.keeping.backup import ARCHIVE, DATABASE
from pipeline.keeping.check import Fault, file_faults, index_faults, state_faults, store_faults, warc_faults
from pipeline.settings import Settings

log = logging.getLogger(__name__)

NEEDS_FILE = frozenset({"file", "wal", "database", "rows"})  # parts whose faults stop a run, and want a sound store
ROOT = Path(__file__).parents[2]

Opened = Callable[[], AbstractContextManager[Engine]]


def all_faults(settings: Settings, opened: Opened, quick: bool = False, with_index: bool = True) -> list[Fault]:
    """Everything that is not what was written. What is wrong with the file is told before anybody opens it."""
    file = settings.data_dir / DATABASE
    is_file = not settings.store.url
    found = file_faults(file) if is_file else []
    if is_file and not file.exists() and any((settings.data_dir / ARCHIVE).glob("*")):
        return [Fault("database", f"{file} is not there, and the WARC files are")]
    is_proven = is_file and quick and not found and read_sums(sums_file(file)) is not None
    try:
        with opened() as engine:
            found += content_faults(engine, is_proven, quick)
            if with_index and not any(fault.part in NEEDS_FILE for fault in found):
                found += index_faults(engine.store, engine.index)
    except StoreError as error:
        found.append(Fault("database", str(error)))
    return found


def content_faults(engine: Engine, is_proven: bool, quick: bool) -> list[Fault]:
    """What an open vertical shows of itself, but for its index."""
    if engine.store.soundness.make_sums():
        log.info("the rows of the store have sums from now on")
    folder = engine.settings.data_dir / ARCHIVE
    found = [*state_faults(engine.settings), *store_faults(engine.store, is_proven, quick)]
    return [*found, *warc_faults(engine.store, folder, quick, engine.settings.store.warc)]


def faults_before_run(engine: Engine) -> list[Fault]:
    """The cheap form of the check, of a vertical that is open: the file is read by a process of its own, as this one
    would lose its locks on it (`docstore.integrity.page_sums`).

    Pages that are others by their sums alone are said and stop nothing: what nothing depends on may be damaged, and
    another program may have written.
    """
    file = engine.settings.data_dir / DATABASE
    proof = Proof.UNKNOWN if engine.settings.store.url else proof_elsewhere(file)
    found = [Fault("pages", f"pages of {file.name} are not what was written")] if proof is Proof.DAMAGED else []
    found += content_faults(engine, proof is Proof.SOUND, quick=True)
    for fault in found:
        log.error("damaged: %s", fault.text)
    return found


def proof_elsewhere(file: Path) -> Proof:
    """What the sums of a store's pages say, asked in another process."""
    command = [sys.executable, "-m", "docstore.integrity.page_sums", str(file)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return Proof(told.stdout.strip()) if told.returncode == 0 else Proof.UNKNOWN


def refuse_damaged(faults: Sequence[Fault]) -> None:
    """StoreError where the store is damaged: a run would build on it. What is made anew by itself stops nobody."""
    if serious := [one for one in faults if one.part in NEEDS_FILE]:
        raise StoreError(f"{serious[0].text}: stop `plumb serve`, then run `plumb check --repair`")
