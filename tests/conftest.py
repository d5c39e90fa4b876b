"""Fixtures that many tests share, with real systems: SQLite and PostgreSQL stores, Solr, a browser."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from docstore.store import Store, open_sqlite_store
from tests.shared_server import EMPTY_STORE, shared_server

SHARED = Path(__file__).resolve().parents[2] / "shared"
CI = os.environ.get("CI") == "true"

pytest_plugins = [
    "tests.suite_plugin", "tests.solr_fixture", "tests.browser_fixture", "tests.cluster_fixture",
    "tests.object_store", "tests.small_model",
]  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need ../shared if that folder is missing. In CI they run and fail."""
    if SHARED.is_dir() or CI:
        return
    skip = pytest.mark.skip(reason="needs the development data in ../shared, which is not here")
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def run_folder(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder of the whole run, equal in all pytest-xdist workers."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(pytestconfig, "workerinput") else base


@pytest.fixture(scope="session")
def postgres_server(run_folder: Path) -> Iterator[str]:
    """Yield the URL of the PostgreSQL server that all workers of the run share."""
    with shared_server("postgres", run_folder / "postgres") as url:
        yield url


@pytest.fixture(scope="session")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """Yield a database of this worker, for fixtures that outlive a test (see `empty_database`)."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_store(postgres_server: str) -> Iterator[str]:
    """Yield the URL of an empty PostgreSQL store in a database for this test only."""
    with new_database(postgres_server, EMPTY_STORE) as url:
        yield url


@pytest.fixture(scope="session")
def empty_sqlite_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with the tables of a store, to copy: creating them takes longer than many tests."""
    folder = tmp_path_factory.mktemp("empty_store")
    with open_sqlite_store(folder):
        pass
    return folder / "store.db"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty store; the test runs on SQLite and on PostgreSQL."""
    return url_of_empty_store(request, tmp_path)


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.exhaustive])],
)
def logic_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty store, for tests of logic above the SQL.

    `make test` runs them on SQLite only, `make release-check` also on PostgreSQL. A module of such tests sets
    `store_url = logic_store_url`. Tests whose SQL, locks or transactions differ by database have the mark `on_both`.
    """
    return url_of_empty_store(request, tmp_path)


on_both = pytest.mark.parametrize(
    "store_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


def url_of_empty_store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty store on the database named by `request.param`."""
    if request.param == "sqlite":
        path = tmp_path / "store.db"
        shutil.copyfile(request.getfixturevalue("empty_sqlite_store"), path)
        return f"sqlite:///{path}"
    url: str = request.getfixturevalue("postgres_store")
    return url


@contextmanager
def new_database(server: str, template: str = "template1") -> Iterator[str]:
    """Yield the URL of a new database, a copy of `template`; drop it at the end, with open connections."""
    engine = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    name = f"test_{uuid.uuid4().hex}"
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    yield engine.url.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


def empty_database(url: str) -> None:
    """Drop all tables of a database."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Iterator[Store]:
    """Yield an empty store; the test runs on SQLite and on PostgreSQL."""
    with Store(store_url, tmp_path / "warc") as opened:
        yield opened
