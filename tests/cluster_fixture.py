"""Fixture with a Dask cluster."""

from collections.abc import Iterator

import pytest

from benchmarks.scale_cluster import Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a Dask cluster with two workers."""
    running = Cluster(tmp_path_factory.mktemp("cluster"), 2)
    try:
        yield running
    finally:
        running.close()
