"""A real Solr for tests: one embedded node for the run, a collection of its own for each test that requests one.

`conftest.py` loads these fixtures. The jars come from the user's cache folder (downloaded once); the data of the node
are in a temporary folder of the run. All pytest-xdist workers use that folder, so they share the node as the
processes of a vertical do (`indexer.embedded_solr`): it ends with the last of them, also after kill -9. A test that
stops or kills Solr starts another one in its own folder (`embedded`). Collections have unique names, because two
workers can run the same test module at a time.

With PLUMB_TEST_SHARDS=2 in the environment (`make test-shards`) it is a SolrCloud of two nodes, and every index of
these tests has two shards.
"""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from indexer.solr_index import SolrIndex
from tests.local_cluster import LocalSolrCluster
from tests.web_fixture import PATIENCE

SHARDS = int(os.environ.get("PLUMB_TEST_SHARDS", "1"))
HEAP = "256m"


class RunningSolr(Protocol):
    """A running Solr."""

    @property
    def url(self) -> str:
        """Base URL, or the URLs of all nodes."""


@dataclass(frozen=True)
class ClusterNodes:
    """The nodes of a SolrCloud as a `RunningSolr`."""

    url: str


@pytest.fixture(scope="session")
def solr_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSolrCluster]:
    """Yield a SolrCloud of two nodes for the session.

    Each pytest process has its own, because tests kill its nodes. One file of `make test` uses it.
    """
    with LocalSolrCluster(tmp_path_factory.mktemp("cluster"), 2, HEAP, PATIENCE) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def solr_node(request: pytest.FixtureRequest, run_folder: Path) -> Iterator[RunningSolr]:
    """Yield a running Solr. All workers of the run share it; it ends with the last of them."""
    if SHARDS > 1:
        yield ClusterNodes(request.getfixturevalue("solr_cluster").solr_url)
        return
    with embedded(run_folder / "solr") as node:
        yield node


def embedded(home: Path) -> EmbeddedSolr:
    """Return an embedded node with a long start timeout."""
    return EmbeddedSolr(home, IndexSettings(start_timeout=PATIENCE))


def index_at(url: str, name: str, shards: int = SHARDS, timeout: float = 120.0) -> SolrIndex:
    """Return an index for tests, with the number of shards of this run."""
    return SolrIndex(url, name, timeout, shards=shards)


def first_node(index: SolrIndex) -> str:
    """Return the base URL of one node of an index, with credentials."""
    return index.base_url.split(",")[0]


@pytest.fixture
def solr_index(solr_node: RunningSolr) -> Iterator[SolrIndex]:
    """Yield an empty index with its own alias; it is deleted after the test."""
    index = index_at(solr_node.url, f"test{uuid.uuid4().hex[:12]}")
    index.ensure_collection()
    yield index
    index.delete_all()
