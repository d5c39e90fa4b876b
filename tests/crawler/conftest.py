"""Pages are parsed in the test process: a worker process of each crawl would take longer than its pages."""

from collections.abc import Iterator

import pytest

from tests.local_workers import local_workers


@pytest.fixture(autouse=True)
def _local_workers() -> Iterator[None]:
    with local_workers():
        yield
