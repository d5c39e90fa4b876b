"""Work in a process of its own: whatever it does there, the caller has an answer or an error, and goes on."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawler.workers.worker_process import (
    Limits,
    WorkerChild,
    WorkerClosedError,
    WorkerDiedError,
    WorkerExceptionError,
    WorkerMemoryError,
    WorkerPool,
    WorkerProcess,
    WorkerTimeoutError,
)
from domain.errors import PlumblineError, SettingsConflictError, SiteError, SolrError
from domain.message import Message
from indexer.solr_index import _SolrRejectedError
from pipeline.page_source import LoadedPage, canonical_url, run_isolated
from pipeline.workers.extraction_pool import WORKER_PRELOAD
from tests.web_fixture import PATIENCE

HOURS = range(10**12)  # to sum: in C, with the interpreter's lock held, asking for no signal


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    with closing(WorkerProcess(Limits(seconds=PATIENCE, megabytes=200))) as process:
        yield process


def test_a_call_returns_what_the_function_does(worker: WorkerProcess) -> None:
    assert worker.pid == 0
    assert worker.call(divmod, 7, 3) == (2, 1)
    first = worker.pid
    assert worker.call(sorted, [2, 1], reverse=True) == [2, 1]
    assert worker.call(os.getpid) == first == worker.pid != os.getpid()


def test_a_hang_in_c_is_ended_at_the_deadline() -> None:
    with closing(WorkerProcess(Limits(seconds=0.5))) as worker:
        worker.call(os.getpid)
        first = worker.pid
        with pytest.raises(WorkerTimeoutError, match=r"more than 0\.5 s"):
            worker.call(sum, HOURS)
        assert not is_alive(first)
        assert worker.call(divmod, 7, 3) == (2, 1)


def test_memory_is_bounded(worker: WorkerProcess) -> None:
    first = worker.call(os.getpid)
    with pytest.raises(WorkerMemoryError, match="more than 200 MB"):
        worker.call(bytes, 300_000_000)
    assert not is_alive(first)
    assert len(worker.call(bytes, 50_000_000)) == 50_000_000


def test_an_exception_is_told_with_its_place_and_the_process_stays(worker: WorkerProcess) -> None:
    first = worker.call(os.getpid)
    with pytest.raises(WorkerExceptionError, match=r"ValueError: invalid literal for int\(\)") as raised:
        worker.call(int, "x")
    assert "worker_main.py" in raised.value.traceback
    assert worker.call(os.getpid) == first


def test_an_error_that_a_person_can_act_on_stays_as_it_is(worker: WorkerProcess) -> None:
    with pytest.raises(PlumblineError, match="'mailto:x' is not a URL"):
        worker.call(canonical_url, "mailto:x")


@pytest.mark.parametrize(("number", "how"), [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGKILL, "SIGKILL")])
def test_a_process_that_dies_is_replaced(worker: WorkerProcess, number: signal.Signals, how: str) -> None:
    first = worker.call(os.getpid)
    with pytest.raises(WorkerDiedError, match=f"died: {how}"):
        worker.call(signal.raise_signal, number)
    assert worker.call(os.getpid) != first


def test_what_cannot_be_sent_harms_nobody(worker: WorkerProcess) -> None:
    with pytest.raises(AttributeError, match="pickle"):
        worker.call(lambda: 1)
    with pytest.raises(WorkerExceptionError, match="pickle"):
        worker.call(threading.Lock)
    assert worker.call(divmod, 7, 3) == (2, 1)


def test_it_loads_what_it_is_told_and_nothing_of_the_caller() -> None:
    with closing(WorkerProcess(preload=WORKER_PRELOAD)) as worker:
        loaded = worker.call(eval, "set(__import__('sys').modules)")
    assert "extractor.article_extractor" in loaded
    assert not loaded & {"sqlalchemy", "pysolr", "flask", "pipeline.cli.main", "pytest", "docstore"}


def test_a_worker_that_cannot_start_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PlumblineError, match="cannot start a worker process"):
        WorkerProcess(preload=["no.such.module"]).call(os.getpid)
    assert "No module named 'no'" in capfd.readouterr().err


def test_a_process_of_low_priority_starts_with_that_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    wait_until_ready, started = WorkerChild.wait_until_ready, []

    def watch(child: WorkerChild) -> None:
        wait_until_ready(child)
        started.append(os.getpriority(os.PRIO_PROCESS, child.process.pid))

    monkeypatch.setattr(WorkerChild, "wait_until_ready", watch)
    with closing(WorkerProcess(niceness=19)) as worker:
        assert worker.call(os.nice, 0) == 19
    assert started == [os.nice(0)]


def test_closing_ends_the_call_under_way(worker: WorkerProcess) -> None:
    worker.call(os.getpid)
    threading.Timer(0.2, worker.close).start()
    with pytest.raises(WorkerClosedError):
        worker.call(sum, HOURS)
    with pytest.raises(WorkerClosedError):
        worker.call(os.getpid)


def test_few_tasks_start_few_processes() -> None:
    with closing(WorkerPool(8)) as pool:
        pids = {pool.submit(lambda worker: worker.call(os.getpid)).result() for _ in range(5)}
    assert len(pids) == 1
    assert not any(map(is_alive, pids))


def test_only_the_first_process_of_a_pool_competes_for_a_busy_core() -> None:
    with closing(WorkerPool(2, niceness=5)) as pool:
        first = pool.submit(lambda worker: (worker.call(os.nice, 0), pool.call(os.nice, 0)))
        assert first.result() == (max(5, os.nice(0)), 19)


def test_closing_a_pool_ends_whatever_is_under_way() -> None:
    pool = WorkerPool(2)
    futures = [pool.submit(lambda worker: worker.call(time.sleep, 600)) for _ in range(6)]
    pool.close()
    assert all(future.cancelled() or isinstance(future.exception(), PlumblineError | OSError) for future in futures)


def test_a_worker_that_is_closed_while_it_starts_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who closes a pool then would wait for the deadline of a call that had not begun."""
    worker, start = WorkerProcess(), WorkerProcess._start

    def closed_meanwhile(process: WorkerProcess) -> WorkerChild:
        child = start(process)
        process.close()
        return child

    monkeypatch.setattr(WorkerProcess, "_start", closed_meanwhile)
    with pytest.raises(WorkerDiedError, match="process died"):
        worker.call(time.sleep, 600)
    assert not worker.pid


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
@pytest.mark.parametrize("work", ["time.sleep, 0", "time.sleep, 600"], ids=["idle", "at work"])
def test_a_worker_ends_with_its_caller_however_that_ends(work: str) -> None:
    """One at work is ended by a timer of its own, somewhat beyond the deadline: nobody is left to kill it."""
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER.format(work=work)], stdout=subprocess.PIPE, start_new_session=True
    )
    assert caller.stdout is not None
    worker = int(caller.stdout.readline())
    caller.kill()
    caller.wait()
    caller.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while is_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(worker)


CALLER = """
import threading, time
from crawler.workers.worker_process import Limits, WorkerProcess
worker = WorkerProcess(Limits(seconds=1.0))
worker.call(time.sleep, 0)
thread = threading.Thread(target=worker.call, args=({work},))
thread.start()
print(worker.pid, flush=True)
time.sleep(600)
"""


def test_the_error_names_the_page() -> None:
    page = LoadedPage("page.html", b"", "")
    with pytest.raises(PlumblineError, match=r"^page\.html: The worker process died: SIGKILL$"):
        run_isolated(page, signal.raise_signal, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    """Is the process there, and no zombie?"""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "error",
    [
        SiteError("news.example", {"delay": Message("{n} s is too long", n=9)}),
        SettingsConflictError("my.toml", 1_000_000.0),
        _SolrRejectedError("Solr refused", 404),
        SolrError("{n} shards", n=2),
    ],
)
def test_an_error_of_any_kind_crosses_processes(error: PlumblineError) -> None:
    restored = pickle.loads(pickle.dumps(error))
    assert (type(restored), str(restored), vars(restored)) == (type(error), str(error), vars(error))
    assert restored.args[0].values == error.args[0].values
