"""A Dask cluster of real processes: a scheduler and workers that a test may kill."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.web_fixture import PATIENCE

# Nobody shall wait for a reader's sake: workers are found dead soon, and what they did is done again at once.
SOON = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s",
}


class Cluster:
    """A scheduler and its workers, in processes of their own."""

    def __init__(self, folder: Path, workers: int, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._environment = {**os.environ, **SOON, **(environment or {})}
        self.port = free_port()
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(workers)]

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return f"tcp://127.0.0.1:{self.port}"

    def start_scheduler(self) -> "subprocess.Popen[bytes]":
        """A scheduler at the port of the cluster."""
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def start_worker(self) -> "subprocess.Popen[bytes]":
        """One more worker, with one thread and no nanny."""
        threads = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        return self._start("worker", self.address, *threads, "--local-directory", str(self.folder / "dask"))

    def _start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "dask.log").open("ab") as log:
            command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def kill_worker(self, number: int = 0) -> None:
        """kill -9 a worker, and start another in its place."""
        end(self.workers.pop(number))
        self.workers.append(self.start_worker())

    def restart_scheduler(self) -> None:
        """kill -9 the scheduler and the workers that it leaves behind, and start them anew."""
        for process in (self.scheduler, *self.workers):
            end(process)
        self.scheduler, count = self.start_scheduler(), len(self.workers)
        self.workers = [self.start_worker() for _ in range(count)]

    def close(self) -> None:
        """Leave no process behind."""
        for process in (*self.workers, self.scheduler):
            end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    """kill -9."""
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Dask cluster with two workers."""
    running = Cluster(tmp_path_factory.mktemp("cluster"), 2)
    try:
        yield running
    finally:
        running.close()
