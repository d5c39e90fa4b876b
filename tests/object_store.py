"""A real S3 object store on loopback for tests and `make cluster`: moto's server as a process, and fixtures with it.

All data is in memory and lost when the process ends.
"""

import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.shared_server import shared_server

KEYS = {"AWS_ACCESS_KEY_ID": "plumb", "AWS_SECRET_ACCESS_KEY": "plumb", "AWS_DEFAULT_REGION": "us-east-1"}
START_SECONDS = 120.0
POLL_SECONDS = 0.1


def environment(url: str) -> dict[str, str]:
    """Return the environment variables that select the object store at `url`."""
    return {**KEYS, "AWS_ENDPOINT_URL": url}


@contextmanager
def object_store(port: int, log: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Run an empty S3 server on a port of loopback; yields its URL and its process.

    Raises RuntimeError if it does not start; its output is in `log`.
    """
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("ab") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    try:
        while not _answers(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the object store does not start: see {log}")
            time.sleep(POLL_SECONDS)
        yield url, process
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/moto-api/data.json", timeout=5).ok
    except requests.RequestException:
        return False


def make_bucket(url: str, name: str) -> None:
    """Create an empty bucket. The server requires no credentials."""
    requests.put(f"{url}/{name}", timeout=10).raise_for_status()


@pytest.fixture(scope="session")
def s3_server(run_folder: Path) -> Iterator[str]:
    """Yield the URL of the S3 server of the run."""
    with shared_server("s3", run_folder / "s3") as url:
        yield url


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an empty bucket, `s3://...`; the environment of the test points to its server."""
    for name, value in environment(s3_server).items():
        monkeypatch.setenv(name, value)
    name = f"b{uuid.uuid4().hex}"
    make_bucket(s3_server, name)
    return f"s3://{name}/pages"
