"""SolrIndex with a real Solr: documents, phrase lookups, collections and their alias, errors."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import requests

from domain.errors import SolrError, SolrUnavailableError
from indexer import solr_index as solr
from indexer.configset import configset_zip
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import RETRY_PAUSES_SECONDS, ConfigsetState, SolrIndex, any_phrase_query
from solr_client import solr_fields
from solr_conf import CONFIGSET_DIR
from tests.solr_fixture import SHARDS, first_node, index_at
from tests.web_fixture import refusing_port, serving


def document(doc_id: str, body: str = "", **more: object) -> dict[str, object]:
    own = {solr_fields.ID: doc_id, solr_fields.CLUSTER_ID: doc_id, solr_fields.URL: f"http://a.example/{doc_id}"}
    return {**own, solr_fields.BODY_CHARS: body, **more}


@pytest.mark.parametrize(
    ("phrases", "expected"),
    [
        ([], ""),
        (["油气"], 'f:"油气" g:"油气"'),
        (['a"b'], r'f:"a\"b" g:"a\"b"'),
        (["a\\"], r'f:"a\\" g:"a\\"'),
    ],
    ids=["none", "plain", "quotation-mark", "backslash"],
)
def test_phrase_query(phrases: list[str], expected: str) -> None:
    assert any_phrase_query(phrases, ["f", "g"]) == expected


@pytest.mark.solr
class TestDocuments:
    def test_added_is_got_at_once_and_found_after_a_commit(self, solr_index: SolrIndex) -> None:
        assert solr_index.add([document("a"), document("b")]) == {}
        got = solr_index.get("a")
        assert got == {solr_fields.ID: "a", solr_fields.CLUSTER_ID: "a", solr_fields.URL: "http://a.example/a"}
        solr_index.commit()
        assert solr_index.count() == 2

    def test_added_is_found_without_a_commit(self, solr_index: SolrIndex) -> None:
        solr_index.add([document("a")])
        waiting = threading.Event()
        assert any(solr_index.count() == 1 or waiting.wait(0.1) for _ in range(3000))

    def test_added_again_replaces(self, solr_index: SolrIndex) -> None:
        for language in ("zh", "en"):
            solr_index.add([document("a", language=language)])
        solr_index.commit(soft=False)
        assert solr_index.count() == 1
        assert (solr_index.get("a") or {})[solr_fields.LANGUAGE] == "en"

    def test_delete(self, solr_index: SolrIndex) -> None:
        solr_index.add([document("a"), document("b")])
        solr_index.delete(["a", "never there"])
        solr_index.delete([])
        solr_index.commit()
        assert (solr_index.count(), solr_index.get("a")) == (1, None)

    def test_refused_documents_are_named_and_the_others_kept(self, solr_index: SolrIndex) -> None:
        refused = solr_index.add(
            [
                document("good"),
                document("no date", published="yesterday"),
                document("unknown field", colour="red"),
                document("too long", site="x" * 40_000),
                document("also good"),
            ]
        )
        assert set(refused) == {"no date", "unknown field", "too long"}
        assert "yesterday" in refused["no date"]
        assert all("\n" not in why for why in refused.values())
        solr_index.commit()
        assert solr_index.count() == 2

    def test_refused_search(self, solr_index: SolrIndex) -> None:
        with pytest.raises(SolrError, match="HTTP 400"):
            solr_index.search({"q": "nofield:x"})


@pytest.fixture(scope="module")
def texts(solr_node: EmbeddedSolr) -> Iterator[SolrIndex]:
    """Index the texts that the phrase lookups share."""
    index = index_at(solr_node.url, "texts")
    index.ensure_collection()
    index.add(
        [
            document("full", "第九届世界石油大会召开"),
            document("title", "", title_chars="世界石油大会"),
            document("split", "石油的大会"),
            document("mixed", "超临界CO2驱油"),
            document("wide", "超临界ＣＯ２驱油"),
            document("latin", "a PDC drill bit"),
            document("plane2", "一𠀀𠀁二"),
        ]
    )
    yield index
    index.delete_all()


@pytest.mark.solr
class TestIdsContaining:
    @pytest.mark.parametrize(
        ("phrase", "expected"),
        [
            ("世界石油大会", {"full", "title"}),
            ("石油", {"full", "title", "split"}),
            ("石油大会", {"full", "title"}),
            ("CO2驱", {"mixed", "wide"}),
            ("co2驱", {"mixed", "wide"}),
            ("2驱", {"mixed", "wide"}),  # part of a longer token; false positives are allowed
            ("O2驱", set()),
            ("大会石油", set()),
            ("PDC", {"latin"}),
            ("drill bits", {"latin"}),
            ("𠀀𠀁", {"plane2"}),
            ("，", set()),
            ('"', set()),
        ],
    )
    def test_one_phrase(self, texts: SolrIndex, phrase: str, expected: set[str]) -> None:
        assert set(texts.iter_ids_containing([phrase])) == expected

    def test_several_phrases_yield_an_id_once(self, texts: SolrIndex) -> None:
        found = list(texts.iter_ids_containing(["石油", *(f"没有的词{n}" for n in range(120)), "世界"]))
        assert sorted(found) == ["full", "split", "title"]

    def test_no_phrase(self, texts: SolrIndex) -> None:
        assert list(texts.iter_ids_containing([])) == []

    def test_sees_what_was_just_written_over_several_pages(
        self, solr_index: SolrIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(solr, "IDS_PER_PAGE", 10)
        solr_index.add([document(f"d{n}", "页岩气") for n in range(35)])
        assert len(set(solr_index.iter_ids_containing(["页岩气"]))) == 35


@pytest.fixture
def changed_configset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Return a configset that folds one more character."""
    folder = tmp_path / "solr_conf"
    shutil.copytree(CONFIGSET_DIR, folder)
    with (folder / "lang" / "characters.txt").open("a") as folded:
        folded.write('"々" => "〻"\n')
    monkeypatch.setattr(solr, "CONFIGSET_DIR", folder)


def collections(index: SolrIndex) -> set[str]:
    """Return the collections that belong to `index`."""
    answer = requests.get(f"{first_node(index)}/admin/collections", params={"action": "LIST"}, timeout=120).json()
    return {name for name in answer["collections"] if name.startswith(index.collection)}


def configsets(index: SolrIndex) -> set[str]:
    answer = requests.get(f"{first_node(index)}/admin/configs", params={"action": "LIST"}, timeout=120).json()
    return {name for name in answer["configSets"] if name.startswith(index.collection)}


@pytest.mark.solr
class TestCollections:
    def test_ensure_again_changes_nothing(self, solr_index: SolrIndex) -> None:
        solr_index.add([document("a")])
        solr_index.commit()
        assert solr_index.ensure_collection() is ConfigsetState.CURRENT
        assert solr_index.count() == 1
        assert collections(solr_index) == {solr_index.current_collection}

    def test_new_configset(self, solr_index: SolrIndex, request: pytest.FixtureRequest) -> None:
        old = solr_index.current_collection
        solr_index.add([document("old")])
        solr_index.commit()
        request.getfixturevalue("changed_configset")
        assert solr_index.ensure_collection() is ConfigsetState.OUTDATED
        assert solr_index.ensure_collection() is ConfigsetState.OUTDATED
        fresh = solr_index.open_current_collection()
        fresh.add([document("new 1"), document("new 2")])
        fresh.commit()
        assert collections(solr_index) == {old, solr_index.current_collection}
        assert (solr_index.count(), fresh.count()) == (1, 2)
        solr_index.switch_alias()
        assert solr_index.count() == 2
        assert solr_index.ensure_collection() is ConfigsetState.CURRENT
        assert SolrIndex(solr_index.base_url, old, 120.0).count() == 1  # a search may still use it
        solr_index.delete_unused_collections()
        assert collections(solr_index) == configsets(solr_index) == {solr_index.current_collection}

    def test_an_unfinished_collection_is_in_use(self, solr_index: SolrIndex, request: pytest.FixtureRequest) -> None:
        old = solr_index.current_collection
        request.getfixturevalue("changed_configset")
        assert solr_index.ensure_collection() is ConfigsetState.OUTDATED
        solr_index.delete_unused_collections()
        assert collections(solr_index) == {old, solr_index.current_collection}

    def test_switch_alias_again_changes_nothing(self, solr_index: SolrIndex) -> None:
        solr_index.switch_alias()
        assert collections(solr_index) == {solr_index.current_collection}

    def test_ensure_heals_a_creation_that_was_killed(self, solr_index: SolrIndex) -> None:
        """Killed before the replica existed: the collection exists, but cannot be written."""
        solr_index.delete_all()
        solr_index._request(
            "admin/configs",
            {"action": "UPLOAD", "name": solr_index.current_collection},
            configset_zip(CONFIGSET_DIR),
        )
        create = {
            "action": "CREATE",
            "name": solr_index.current_collection,
            "numShards": str(SHARDS),
            "createNodeSet": "EMPTY",
        }
        solr_index._request("admin/collections", {**create, "collection.configName": solr_index.current_collection})
        again = SolrIndex(solr_index.base_url, solr_index.collection, 120.0, lambda seconds: None, SHARDS)
        assert again.ensure_collection() is ConfigsetState.CURRENT
        assert again.add([document("a")]) == {}

    def test_drop_leaves_nothing(self, solr_index: SolrIndex) -> None:
        solr_index.delete_all()
        assert collections(solr_index) == configsets(solr_index) == set()

    def test_a_collection_that_is_not_ours(self, solr_index: SolrIndex) -> None:
        foreign = index_at(solr_index.base_url, solr_index.current_collection)
        with pytest.raises(SolrError, match=r"index\.collection"):
            foreign.ensure_collection()


class Answers(BaseHTTPRequestHandler):
    """Returns the statuses of `statuses` in order, then always the last one."""

    statuses: list[int]

    def do_GET(self) -> None:
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        body = b'{"response": {"numFound": 7}, "error": {"msg": "two\\nlines"}}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(statuses: list[int]) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), type("Given", (Answers,), {"statuses": statuses}))
    with serving(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/solr"


@pytest.mark.parametrize(
    ("statuses", "error", "tries"),
    [
        pytest.param([503, 429, 200], None, 3, id="busy-then-well"),
        pytest.param([503], SolrUnavailableError, len(RETRY_PAUSES_SECONDS) + 1, id="busy"),
        pytest.param([500], SolrError, 1, id="broken"),
        pytest.param([404], SolrError, 1, id="no-such-collection"),
    ],
)
def test_further_tries(statuses: list[int], error: type[SolrError] | None, tries: int) -> None:
    pauses = list[float]()
    with served(statuses) as url:
        index = SolrIndex(url, "c", 30.0, pauses.append)
        if error is None:
            assert index.count() == 7
        else:
            with pytest.raises(error) as caught:
                index.count()
            assert isinstance(caught.value, SolrUnavailableError) == (error is SolrUnavailableError)
            assert "\n" not in str(caught.value)
    assert pauses == list(RETRY_PAUSES_SECONDS[: tries - 1])


def test_nobody_there() -> None:
    with refusing_port() as port:
        url = f"http://127.0.0.1:{port}/solr"
        index = SolrIndex(url, "c", 5.0, sleep=lambda seconds: None)
        for call in (index.ensure_collection, index.count, index.commit, lambda: index.add([document("a")])):
            with pytest.raises(SolrUnavailableError) as caught:
                call()
            assert url in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_document_of_a_missing_collection_does_not_exist() -> None:
    with served([404]) as url:
        assert SolrIndex(url, "plumbline", 5.0).get("a") is None
    with served([400]) as url, pytest.raises(SolrError, match="refused"):
        SolrIndex(url, "plumbline", 5.0).get("a")
