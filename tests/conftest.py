"""Fixtures that many tests share. Real things: SQLite and PostgreSQL stores, a real Solr, a real browser."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from docstore.store import Store
from tests.shared_server import EMPTY_STORE, shared_server

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
def run_folder(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The temporary folder of the whole run, the same in all pytest-xdist workers."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(pytestconfig, "workerinput") else base


@pytest.fixture(scope="session")
def postgres_server(run_folder: Path) -> Iterator[str]:
    """The URL of the run's PostgreSQL server, which all workers share."""
    with shared_server("postgres", run_folder / "postgres") as url:
        yield url


@pytest.fixture(scope="session")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A database of this worker, for tests and fixtures that last longer than one test (see `empty_database`)."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_store(postgres_server: str) -> Iterator[str]:
    """The URL of an empty store on PostgreSQL: a database for this test alone."""
    with new_database(postgres_server, EMPTY_STORE) as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, once on SQLite and once on PostgreSQL."""
    return url_of_empty_store(request, tmp_path)


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.exhaustive])],
)
def logic_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same for logic above the SQL: `make test` runs it on SQLite only, `make release-check` on PostgreSQL too.

    A module of such tests says `store_url = logic_store_url`. Its tests whose SQL, locks or transactions differ by
    database have the mark `on_both`.
    """
    return url_of_empty_store(request, tmp_path)


on_both = pytest.mark.parametrize(
    "store_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


def url_of_empty_store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store on the database that `request.param` names."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    url: str = request.getfixturevalue("postgres_store")
    return url


@contextmanager
def new_database(server: str, template: str = "template1") -> Iterator[str]:
    """Yield the URL of a new database, a copy of `template`; drop it at the end, whoever is still connected."""
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
    """An empty store, once on SQLite and once on PostgreSQL."""
    with Store(store_url, tmp_path / "warc") as opened:
        yield opened
