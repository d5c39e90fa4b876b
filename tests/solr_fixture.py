"""A real Solr for tests: one embedded node for the session, a collection of its own for each test that asks.

`conftest.py` makes these fixtures known. The jars come from the user's cache folder (fetched once); the node's data
stand in a temporary folder.
"""

import uuid
from collections.abc import Iterator

import pytest

from indexer.settings import IndexSettings
from indexer.solr import SolrIndex
from indexer.solr_node import SolrNode
from tests.web_fixture import PATIENCE


@pytest.fixture(scope="session")
def solr_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SolrNode]:
    """A running node; `.url` is its base URL. It ends with the session."""
    with SolrNode(tmp_path_factory.mktemp("solr"), IndexSettings(start_timeout=PATIENCE)) as node:
        yield node


@pytest.fixture
def solr_index(solr_node: SolrNode) -> Iterator[SolrIndex]:
    """An empty index behind an alias of its own; deleted after the test."""
    index = SolrIndex(solr_node.url, f"test{uuid.uuid4().hex[:12]}", timeout=120.0)
    index.ensure()
    yield index
    index.drop()
