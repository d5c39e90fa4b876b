"""SolrIndex and searches on a SolrCloud of two nodes: shards by cluster, a killed node, a changed number of shards."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from domain.errors import PlumblineError, SettingsError, SolrUnavailableError
from indexer.cluster.zookeeper import live_node_urls, node_base_url
from indexer.embedded_solr import JETTY_DIR, find_free_port, java_command
from indexer.solr_index import ConfigsetState, SolrIndex
from indexer.solr_jars import default_jar_folder, ensure_jars
from pipeline.settings import build_settings
from search_ui.query.solr_client import SolrSearchClient, replica_routing_params
from search_ui.query.solr_query import MATCH_ALL, SolrQuery, select_params
from solr_client import solr_fields
from solr_client.session import SolrNodes, auth_headers, credentials_from_urls, node_urls, redact_credentials
from tests.local_cluster import ZOOKEEPER_MAIN_CLASS, LocalSolrCluster
from tests.web_fixture import PATIENCE


def document(doc_id: str, cluster: str, **more: object) -> dict[str, object]:
    return {
        solr_fields.ID: doc_id,
        solr_fields.URL: f"http://a.example/{doc_id}",
        solr_fields.CLUSTER_ID: cluster,
        **more,
    }


def index_of(cluster: LocalSolrCluster, name: str, shards: int = 2, replicas: int = 1) -> SolrIndex:
    return SolrIndex(cluster.solr_url, name, 60.0, shards=shards, replicas=replicas)


@pytest.fixture
def index(solr_cluster: LocalSolrCluster) -> Iterator[SolrIndex]:
    made = index_of(solr_cluster, "scattered")
    made.ensure_collection()
    yield made
    made.delete_all()


@pytest.mark.solr
class TestShards:
    def test_documents_of_a_cluster_stand_together_and_one_that_changes_it_moves(self, index: SolrIndex) -> None:
        assert index.add([document(f"d{n}", f"c{n // 2}") for n in range(40)]) == {}
        index.commit()
        places = self.places(index)
        assert all(places[f"d{n}"] == places[f"d{n + 1}"] for n in range(0, 40, 2))
        assert len(set(places.values())) == 2
        for cluster in ("c1", "c2", "c3", "c4", "c5", "d0"):  # also before a commit
            assert index.add([document("d0", cluster)]) == {}
            assert (index.get("d0") or {})[solr_fields.CLUSTER_ID] == cluster
        index.commit()
        assert (index.count(), len(list(index.iter_ids()))) == (40, 40)
        index.delete([f"d{n}" for n in range(39)])
        index.commit()
        assert list(index.iter_ids()) == ["d39"]

    def places(self, index: SolrIndex) -> dict[str, str]:
        found = index.search({"q": "*:*", "fl": f"{solr_fields.ID},[shard]", "rows": 100})["response"]["docs"]
        return {doc[solr_fields.ID]: doc["[shard]"] for doc in found}

    def test_copies_are_collapsed_and_counted_exactly_over_shards(
        self, index: SolrIndex, solr_cluster: LocalSolrCluster
    ) -> None:
        index.add([document(f"d{n}", f"c{n % 700}", site=f"s{n % 300}.example") for n in range(1400)])
        index.commit()
        collapsed = SolrQuery.collapse_clusters(f"{solr_fields.ID} asc")
        once = {"n": f"unique({solr_fields.CLUSTER_ID})"}
        sites = {"type": "terms", "field": solr_fields.SITE, "limit": -1, "facet": once}
        asked = select_params(
            MATCH_ALL, [collapsed], 5, [solr_fields.ID], f"{solr_fields.ID} asc", {"sites": sites, **once}
        )
        answer = SolrSearchClient(solr_cluster.solr_url, index.collection, 60.0).select(asked)
        assert answer["response"]["numFound"] == answer["facets"]["n"] == 700
        assert len(answer["facets"]["sites"]["buckets"]) == 300
        assert [doc[solr_fields.ID] for doc in answer["response"]["docs"]] == ["d0", "d1", "d10", "d100", "d1000"]

    def test_scores_are_those_of_one_shard(self, index: SolrIndex, solr_cluster: LocalSolrCluster) -> None:
        """Of 30 texts one in ten contains the word, independent of the shard."""
        texts = [document(f"d{n}", f"d{n}", body="rare common" if n % 10 == 0 else "common") for n in range(30)]
        whole = index_of(solr_cluster, "whole", shards=1)
        whole.ensure_collection()
        scores = []
        for one in (index, whole):
            one.add(texts)
            one.commit()
            found = one.search(
                {"q": "body:rare body:common", "fl": "id,score", "sort": "score desc,id asc", "rows": 30}
            )
            scores.append([(doc["id"], round(doc["score"], 5)) for doc in found["response"]["docs"]])
        whole.delete_all()
        assert scores[0] == scores[1]

    def test_refused_documents_are_named(self, index: SolrIndex) -> None:
        refused = index.add([document("good", "a"), document("bad", "b", published="yesterday")])
        assert list(refused) == ["bad"]


@dataclass
class Searching:
    """Searches continuously and records the results."""

    answers: int = 0
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def of(self, search: Callable[[], object]) -> Iterator[None]:
        stop = threading.Event()

        def ask() -> None:
            while not stop.is_set():
                try:
                    search()
                    self.answers += 1
                except PlumblineError as error:
                    self.errors.append(str(error))

        reader = threading.Thread(target=ask)
        reader.start()
        try:
            yield
        finally:
            stop.set()
            reader.join(PATIENCE)


@pytest.mark.solr
def test_more_shards_without_an_outage(solr_cluster: LocalSolrCluster) -> None:
    one = index_of(solr_cluster, "growing", shards=1)
    one.ensure_collection()
    documents = [document(f"d{n}", f"c{n}") for n in range(50)]
    one.add(documents)
    one.commit()
    client, searching = SolrSearchClient(solr_cluster.solr_url, "growing", 30.0), Searching()
    found = set[int]()
    asked = select_params(MATCH_ALL)
    with searching.of(lambda: found.add(client.select(asked)["response"]["numFound"])):
        two = index_of(solr_cluster, "growing", shards=2)
        assert two.ensure_collection() is ConfigsetState.OUTDATED
        assert two.current_collection != one.current_collection
        fresh = two.open_current_collection()
        fresh.add(documents)
        fresh.commit()
        two.switch_alias()
        assert two.ensure_collection() is ConfigsetState.CURRENT
    assert (searching.errors, found) == ([], {50})
    assert searching.answers > 0
    two.delete_all()


@pytest.mark.exhaustive
@pytest.mark.solr
def test_a_killed_node_costs_no_search_and_no_document(solr_cluster: LocalSolrCluster) -> None:
    """The killed node is the first in the order of requests."""
    index = index_of(solr_cluster, "surviving", shards=2, replicas=2)
    index.ensure_collection()
    index.add([document(f"d{n}", f"c{n}") for n in range(50)])
    index.commit()
    client, searching = SolrSearchClient(solr_cluster.solr_url, "surviving", 30.0), Searching()
    found = set[int]()
    asked = select_params(MATCH_ALL, [SolrQuery.terms(solr_fields.ID, "listed", [f"d{n}" for n in range(50)])])
    with searching.of(lambda: found.add(client.select(asked)["response"]["numFound"])):
        solr_cluster.kill_node(1)
        for batch in range(5):
            assert index.add([document(f"e{batch}-{n}", f"e{n}") for n in range(10)]) == {}
        solr_cluster.start_node(1)
        assert index._wait_until_active()
    index.commit()
    assert (searching.errors, found) == ([], {50})
    assert len(set(index.iter_ids())) == index.count() == 100
    index.delete_all()


@pytest.fixture
def zookeeper(tmp_path: Path) -> Iterator[str]:
    """Yield host:port of a ZooKeeper without authentication, as in most clouds (that of the cluster requires it)."""
    port, config, jars = find_free_port(), tmp_path / "zoo.cfg", ensure_jars(default_jar_folder(), lambda _: None)
    config.write_text(f"tickTime=1000\ndataDir={tmp_path}\nclientPort={port}\nclientPortAddress=127.0.0.1\n")
    options = {
        "zookeeper.admin.enableServer": "false",
        "java.util.logging.config.file": JETTY_DIR / "logging.properties",
    }
    command = java_command("64m", [], tmp_path, options, jars, [ZOOKEEPER_MAIN_CLASS, str(config)])
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield f"127.0.0.1:{port}"
    process.kill()
    process.wait()


@pytest.mark.solr
def test_zookeeper_says_which_nodes_live(zookeeper: str) -> None:
    client = KazooClient(hosts=zookeeper)
    client.start(PATIENCE)
    client.ensure_path("/solr/live_nodes")
    with pytest.raises(SolrUnavailableError, match="lists no live Solr node"):
        live_node_urls(f"zk://{zookeeper}/solr", PATIENCE)
    for node in ("b:8983_solr", "a:8983_solr"):
        client.create(f"/solr/live_nodes/{node}", ephemeral=True)
    client.create("/solr/clusterprops.json", b'{"urlScheme": "https"}')
    named = live_node_urls(f"zk://u:p%40@{zookeeper}/solr", PATIENCE)
    assert named == "https://u:p%40@a:8983/solr,https://u:p%40@b:8983/solr"
    client.stop()
    with pytest.raises(SolrUnavailableError, match=r"ZooKeeper of SolrCloud at 127\.0\.0\.1:9/solr is not responding"):
        live_node_urls("zk://127.0.0.1:9/solr", 1.0)
    assert node_base_url("solr1:8983_solr", "http", None) == "http://solr1:8983/solr"


def test_nodes_are_asked_in_turn_the_one_that_answered_first() -> None:
    nodes = SolrNodes("http://u:p%40@a:1/solr/, http://b:2/solr")
    assert next(nodes.iter_failover_order()) == "http://a:1/solr"
    asked = nodes.iter_failover_order()
    assert [next(asked), next(asked)] == ["http://a:1/solr", "http://b:2/solr"]
    assert list(nodes.iter_failover_order()) == ["http://b:2/solr", "http://a:1/solr"]
    assert next(nodes.iter_failover_order()) == "http://a:1/solr"  # both were used, and another try was needed
    urls = "http://a:1/solr,http://u:p@b:2/solr"
    assert (node_urls(urls), credentials_from_urls(urls)) == (["http://a:1/solr", "http://b:2/solr"], ("u", "p"))
    assert redact_credentials(urls) == "http://a:1/solr, http://b:2/solr"
    assert auth_headers(urls) == {"authorization": "Basic dTpw"}


def test_all_pages_of_a_search_ask_the_same_replicas() -> None:
    first, later = [("q", "a"), ("rows", "15"), ("start", "0")], [("q", "a"), ("rows", "10"), ("cursorMark", "x")]
    assert (
        replica_routing_params(first)
        == replica_routing_params(later)
        != replica_routing_params([("q", "b"), ("rows", "10")])
    )


def test_shards_need_a_cloud_of_ones_own(tmp_path: object) -> None:
    with pytest.raises(SettingsError, match=r"set index\.solr_url"):
        build_settings({"index": {"shards": 2}}, tmp_path)  # type: ignore[arg-type]
