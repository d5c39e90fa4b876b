"""A Dask cluster of real processes, which a test may kill, and the fixture of one with two workers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from indexer.embedded_solr import find_free_port

PATIENCE = 300.0  # seconds
POLL = 0.05  # seconds
# Short timeouts for fast tests: dead workers are detected soon, and their tasks are repeated at once.
SOON = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",  # the default is fifty times a second, even when idle
    "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s",
}


class Cluster:
    """A scheduler and its workers, in processes of their own."""

    def __init__(
        self, folder: Path, workers: int, environment: Mapping[str, str] | None = None, has_dashboard: bool = False
    ) -> None:
        self.folder, self.has_dashboard = folder, has_dashboard
        self._environment = {**os.environ, **SOON, **(environment or {})}
        self.port = find_free_port()
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(workers)]

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        return f"tcp://127.0.0.1:{self.port}"

    def start_scheduler(self) -> "subprocess.Popen[bytes]":
        """Start a scheduler at the port of the cluster."""
        pages = ("--dashboard-address", "127.0.0.1:0") if self.has_dashboard else ("--no-dashboard",)
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), *pages)

    def start_worker(self) -> "subprocess.Popen[bytes]":
        """Start another worker, with one thread and without nanny."""
        threads = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        return self._start("worker", self.address, *threads, "--local-directory", str(self.folder / "dask"))

    def _start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "dask.log").open("ab") as log:
            command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def kill_worker(self, number: int = 0) -> None:
        """kill -9 a worker, and start another worker."""
        end(self.workers.pop(number))
        self.workers.append(self.start_worker())

    def close(self) -> None:
        """Kill all processes."""
        for process in (*self.workers, self.scheduler):
            end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    """kill -9."""
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a Dask cluster with two workers."""
    running = Cluster(tmp_path_factory.mktemp("cluster"), 2)
    try:
        yield running
    finally:
        running.close()
