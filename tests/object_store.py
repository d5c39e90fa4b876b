"""A real object store for tests (benchmarks/object_store.py), for the session, and a bucket for each test that asks."""

from collections.abc import Iterator

import pytest

from benchmarks.object_store import environment, free_port, make_bucket, object_store


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an S3 server, for the session."""
    with object_store(free_port(), tmp_path_factory.mktemp("s3") / "moto.log") as (url, _):
        yield url


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """An empty bucket, `s3://...`, which the environment of the test leads to."""
    for name, value in environment(s3_server).items():
        monkeypatch.setenv(name, value)
    name = f"b{abs(hash(request.node.nodeid)):x}"
    make_bucket(s3_server, name)
    return f"s3://{name}/pages"
