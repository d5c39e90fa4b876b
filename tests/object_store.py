"""Fixtures with a real object store: one server for the run, and a bucket for each test."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.object_store import environment, make_bucket
from tests.shared_server import shared_server


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
