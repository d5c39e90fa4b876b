"""A real object store for tests: moto's server, which speaks S3, as a process of its own."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.web_fixture import PATIENCE

KEYS = {"AWS_ACCESS_KEY_ID": "plumb", "AWS_SECRET_ACCESS_KEY": "plumb", "AWS_DEFAULT_REGION": "us-east-1"}


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def object_store(port: int, log: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """An S3 server at a port of loopback, with nothing in it: its URL and its process."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("ab") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
    try:
        while not _answers(url):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
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
    """An empty bucket. The server asks nobody who he is."""
    assert requests.put(f"{url}/{name}", timeout=10).ok


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an S3 server, for the session."""
    with object_store(free_port(), tmp_path_factory.mktemp("s3") / "moto.log") as (url, _):
        yield url


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """An empty bucket, `s3://...`, which the environment of the test leads to."""
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": s3_server}.items():
        monkeypatch.setenv(name, value)
    name = f"b{abs(hash(request.node.nodeid)):x}"
    make_bucket(s3_server, name)
    return f"s3://{name}/pages"
