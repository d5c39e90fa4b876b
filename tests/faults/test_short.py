"""A few faults of each class with real processes; `make faults` runs all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash_harness import Undisturbed, undisturbed_run
from tests.faults.fencing import fence_faults
from tests.faults.restoring import restore_faults
from tests.faults.sabotage import sabotage_faults
from tests.faults.tally import Tally
from tests.solr_fixture import RunningSolr

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    with undisturbed_run(tmp_path_factory.mktemp("faults")) as run:
        yield run


def survived(tally: Tally) -> None:
    assert tally.complaints == [] and tally.survived == tally.tried > 0
    assert tally.lost == tally.duplicates == 0


@pytest.mark.solr
def test_restored_it_answers_every_query_as_before(made: Undisturbed, solr_node: RunningSolr, tmp_path: Path) -> None:
    survived(restore_faults(made.decided, tmp_path, count=5, solr_url=solr_node.url))


@pytest.mark.postgres
@pytest.mark.process
def test_a_crawl_that_lost_its_lease_commits_and_requests_nothing(postgres_store: str, tmp_path: Path) -> None:
    tally = fence_faults(postgres_store, tmp_path, process_count=2)
    survived(tally)
    assert tally.figures == {"commits_after_loss": 0, "requests_after_loss": 0}


@pytest.mark.exhaustive
@pytest.mark.process
def test_the_comparison_notices_lost_and_doubled_records(made: Undisturbed, tmp_path: Path) -> None:
    tally = sabotage_faults(made, tmp_path, ("delayed_commit", "doubled_record"))
    survived(tally)
    assert tally.figures["noticed"] == 1
