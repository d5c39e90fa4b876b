"""A few faults of each class with real processes; `make faults` runs all."""

import socket
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.faults import hostile, processes
from tests.faults.fencing import fence_faults
from tests.faults.restoring import restore_faults
from tests.faults.sabotage import sabotage_faults
from tests.faults.servers import HostileServer, Recipe
from tests.faults.tally import Tally
from tests.faults.upgrading import upgrade_faults
from tests.faults.verticals import Undisturbed, undisturbed_run
from tests.solr_fixture import RunningSolr
from tests.web_fixture import serving

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")]

FEW: tuple[Recipe, ...] = (
    {"body": "zeros", "encoding": "gzip,gzip", "mb": 200},
    {"body": "nested", "depth": 20_000, "tag": "blockquote"},
    {"body": "attrs", "count": 20_000},
    {"redirect": "to_metadata"},
    {"redirect": "endless"},
    {"proto": "chunk_overflow"},
    {"proto": "rst_mid_body"},
    {"slow": "tls_never_handshake"},
    {"robots": "never_ends"},
)


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


@pytest.mark.solr
@pytest.mark.process
@pytest.mark.exhaustive
def test_searches_are_answered_while_an_upgrade_fills_the_index(
    made: Undisturbed, solr_node: RunningSolr, tmp_path: Path
) -> None:
    tally = upgrade_faults(made.decided, tmp_path, solr_node.url)
    survived(tally)
    assert tally.figures["errors"] == 0


@pytest.mark.process
def test_killed_when_it_makes_a_backup(made: Undisturbed, tmp_path: Path) -> None:
    survived(processes.kill9_faults(made, tmp_path, {"backup": (0.5,)}))


@pytest.mark.solr
@pytest.mark.process
@pytest.mark.exhaustive
def test_killed_when_the_index_is_made_anew(made: Undisturbed, tmp_path: Path) -> None:
    survived(processes.kill9_faults(made, tmp_path, {"swap_dictionary": (0.75,)}))


@pytest.mark.solr
@pytest.mark.process
@pytest.mark.exhaustive
def test_a_damaged_index_is_named_and_made_anew(made: Undisturbed, tmp_path: Path) -> None:
    tally = processes.solr_faults(made, tmp_path, ("core_damaged",))
    survived(tally)
    assert tally.detected == 1


@pytest.mark.postgres
@pytest.mark.process
def test_a_crawl_that_lost_its_lease_commits_and_requests_nothing(postgres_store: str, tmp_path: Path) -> None:
    tally = fence_faults(postgres_store, tmp_path, process_count=2)
    survived(tally)
    assert tally.figures == {"commits_after_loss": 0, "requests_after_loss": 0}


@pytest.mark.process
@pytest.mark.exhaustive
def test_hostile_servers_end_in_outcomes(tmp_path: Path) -> None:
    """All servers in one crawl; `make faults` measures the memory for each class of servers."""
    tally = Tally("hostile")
    idle_mb = hostile.crawled(Tally("idle"), [], tmp_path / "idle")
    peak_mb = hostile.crawled(tally, FEW, tmp_path / "hostile")
    survived(tally)
    assert peak_mb - idle_mb < hostile.MAX_ABOVE_IDLE


@pytest.mark.process
def test_a_crawl_of_large_pages_keeps_within_its_memory(tmp_path: Path) -> None:
    tally = Tally("large")
    idle_mb = hostile.crawled(Tally("idle"), [], tmp_path / "idle", ("crawl",))
    peak_mb = hostile.crawled(tally, hostile.LARGE, tmp_path / "large", ("crawl",))
    survived(tally)
    assert peak_mb - idle_mb < hostile.MAX_ABOVE_IDLE


def test_the_server_resets_a_connection_and_rejects_unknown_recipes() -> None:
    recipes = {"127.1.0.1": {"proto": "rst_mid_body"}, "127.1.0.2": {"proto": "none"}, "127.1.0.3": {"none": 1}}
    server = HostileServer(recipes)
    with serving(server):
        for host in recipes:
            with socket.create_connection((host, server.port)) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                if host == "127.1.0.1":
                    with pytest.raises(ConnectionResetError):
                        deque(iter(partial(client.recv, 65536), b""), maxlen=0)
                else:
                    assert client.recv(1) == b""
    assert server.errors == {"127.1.0.2": "KeyError 'none'", "127.1.0.3": "KeyError 'none'"}


@pytest.mark.process
def test_the_comparison_notices_lost_and_doubled_records(made: Undisturbed, tmp_path: Path) -> None:
    tally = sabotage_faults(made, tmp_path, ("delayed_commit", "doubled_record"))
    survived(tally)
    assert tally.figures["noticed"] == 1


def test_warc_files_that_are_damaged(made: Undisturbed, tmp_path: Path) -> None:
    survived(processes.import_faults(made, tmp_path, ("half",)))


@pytest.mark.parametrize(
    "tried", [hostile.ssrf_faults, hostile.xml_faults, hostile.date_faults, hostile.charset_faults]
)
def test_rows_of_our_own(tried: Callable[[Path | None], Tally]) -> None:
    survived(tried(None))
