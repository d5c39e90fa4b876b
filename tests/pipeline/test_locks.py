"""One run at a time per stage; a lock never outlives its process."""

import os
import signal
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import get_native_id

import pytest

from crawler.schedule.url_seen import UrlSeenTest
from crawler.state_files import write_state
from docstore.locking.cluster_locks import machine_id
from docstore.warc_archive import WarcArchive
from domain.errors import BusyError, StoreError
from domain.page import Page
from focused.state_snapshot import StateSnapshot
from locks.file_locks import stage_lock
from locks.private_files import replace_file, write_private_file
from pipeline.logs import SharedFileHandler
from pipeline.search_site.thumbnails import write_cached
from tests.crawler_fakes import MemoryTable
from tests.web_fixture import PATIENCE

URL = "http://a.test/"
HOLD = """
import sys, time
from pathlib import Path
from locks.file_locks import stage_lock
with stage_lock(Path(sys.argv[1]), "crawl"):
    print("held", flush=True)
    time.sleep(600)
"""


def hold(folder: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


@pytest.mark.process
def test_a_second_run_is_told_who_is_running_and_kill_9_gives_the_lock_back(tmp_path: Path) -> None:
    child = hold(tmp_path)
    try:
        with pytest.raises(BusyError, match=rf"pid {child.pid}.*crawl"), stage_lock(tmp_path, "crawl"):
            pass
        with stage_lock(tmp_path, "extract"):
            pass
    finally:
        child.kill()
        child.communicate(timeout=PATIENCE)
    with stage_lock(tmp_path, "crawl"):
        assert (tmp_path / "locks" / "crawl").read_text() == f"{os.getpid()}\n"


@pytest.mark.process
def test_waiting_for_the_lock(tmp_path: Path) -> None:
    child = hold(tmp_path)
    os.kill(child.pid, signal.SIGTERM)
    with stage_lock(tmp_path, "crawl", wait_seconds=PATIENCE):
        pass
    child.communicate(timeout=PATIENCE)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot create the lock file"), stage_lock(tmp_path / "file", "crawl"):
        pass


def test_files_of_the_data_folder_are_private(tmp_path: Path) -> None:
    old_mask = os.umask(0)
    try:
        with stage_lock(tmp_path, "crawl"):
            machine_id(tmp_path)
        UrlSeenTest(MemoryTable()).save(tmp_path / "seen.bloom")
        write_state(tmp_path / "lastmod.json", {})
        StateSnapshot(tmp_path / "policy.state", b"").save({})
        write_cached(tmp_path / "pictures" / "thumbnail", b"")
        with WarcArchive(tmp_path) as archive:
            archive.append_page(Page(1, URL, URL, 200, "text/html", b"", "0" * 64, 0.0))
        with closing(SharedFileHandler(tmp_path / "plumb.log")) as handler:
            handler.doRollover()
    finally:
        os.umask(old_mask)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.rglob("*") if file.is_file()}
    [warc_file] = (name for name in modes if name.endswith(".warc.gz"))
    state_files = ("machine", "seen.bloom", "lastmod.json", "policy.state")
    names = ("crawl", *state_files, "thumbnail", warc_file, "plumb.log")
    assert modes == dict.fromkeys(names, 0o600)


def test_a_file_is_replaced_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "secret"
    write_private_file(path, b"first")
    with pytest.raises(ValueError, match="stop"), replace_file(path) as file:
        file.write(b"half")
        raise ValueError("stop")
    assert path.read_bytes() == b"first"
    left_by_a_killed_process = path.with_name(f"secret.{get_native_id()}.new")
    left_by_a_killed_process.touch()
    left_by_a_killed_process.chmod(0o666)
    write_private_file(path, b"second")
    assert path.read_bytes() == b"second" and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_two_processes_can_replace_one_file(tmp_path: Path) -> None:
    path = tmp_path / "checksums"
    script = "import sys; from pathlib import Path; from locks.private_files import write_private_file"
    with replace_file(path) as file:
        file.write(b"first")
        subprocess.run(
            [sys.executable, "-c", f"{script}; write_private_file(Path(sys.argv[1]), b'second')", path], check=True
        )
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first" and list(tmp_path.iterdir()) == [path]
