"""The crawled and mined data of the demo, created once per test run, and the server of its sites.

With pytest-xdist there are several test processes. The first one that needs the data creates them in the folder of the
run and starts the server in a process of its own. The URLs in the data contain the port of this server, so all
processes share it. Every user holds a shared lock on a file. When the last user ends, the server gets the exclusive
lock and ends. A process that needs the data later creates them again, in another folder. The server:

    python -m tests.demo_sites FOLDER
"""

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from lexicon.settings import AUTO_PUBLISH_OFF
from pipeline import stages
from pipeline.demo.run import DemoOptions, demo_settings
from pipeline.demo.site import DemoServer, write_sites
from pipeline.engine import Engine
from pipeline.progress import NullProgress

ROOT = Path(__file__).resolve().parents[1]
LAST_STAGE = "lexicon"  # each copy of the data has an index of its own


@dataclass(frozen=True)
class DemoData:
    """A data folder after crawl, extraction and mining (copy it, change nothing), and the port of the sites."""

    data_dir: Path
    port: int


@contextmanager
def shared_demo(run_folder: Path) -> Iterator[DemoData]:
    """Yield the data of this run. `run_folder` is equal in all processes of the run."""
    parent = run_folder / "demo-sites"
    parent.mkdir(exist_ok=True)
    with (parent / "build.lock").open("a") as build_lock:
        fcntl.flock(build_lock, fcntl.LOCK_EX)
        count = sum(path.is_dir() for path in parent.iterdir())
        folder = parent / str(count - 1)
        users_lock = join(folder) if count else None
        if users_lock is None:
            folder = parent / str(count)
            users_lock = make_demo(folder)
        fcntl.flock(build_lock, fcntl.LOCK_UN)
    with users_lock:
        yield DemoData(folder / "demo" / "data", int((folder / "port").read_text()))


def join(folder: Path) -> IO[str] | None:
    """Become a user of the demo in `folder`; return the lock, or None if its server has ended or was never ready."""
    users_lock = (folder / "users.lock").open("a")
    try:
        fcntl.flock(users_lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # the server is just ending
        users_lock.close()
        return None
    if not (folder / "ready").exists():
        users_lock.close()
        return None
    return users_lock


def make_demo(folder: Path) -> IO[str]:
    """Write the sites, start their server and fill the data folder; return the lock to hold."""
    write_sites(folder / "sites")
    users_lock = (folder / "users.lock").open("a")
    fcntl.flock(users_lock, fcntl.LOCK_SH)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.demo_sites", str(folder)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,  # Ctrl-C is for the tests
    )
    assert server.stdout is not None
    with server.stdout:
        port = int(server.stdout.readline())
    (folder / "port").write_text(str(port))
    (folder / "demo").mkdir()
    settings = demo_settings(DemoOptions(folder / "demo", port=0, site_port=port))
    settings = replace(settings, lexicon=replace(settings.lexicon, auto_publish=AUTO_PUBLISH_OFF))  # tests decide
    with Engine(settings, NullProgress()) as engine:
        stages.run(engine, last_stage=LAST_STAGE)
    (folder / "ready").touch()
    return users_lock


def serve(folder: Path) -> None:
    """Serve the sites until there are no users. The first line of output is the port."""
    with DemoServer(folder / "sites", 0) as server, (folder / "users.lock").open("a") as users_lock:
        print(server.port, flush=True)
        fcntl.flock(users_lock, fcntl.LOCK_EX)
        (folder / "ready").unlink(missing_ok=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
