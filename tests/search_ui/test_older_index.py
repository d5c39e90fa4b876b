"""This version of the site on a collection of an earlier version, until the new collection is filled."""

import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from flask.testing import FlaskClient

from domain.article import Article, StoredArticle, document_id
from domain.term import Lexicon
from indexer import solr_index
from indexer.configset import add_missing_fields
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import SCHEMA_FILE, ConfigsetState, SolrIndex
from pipeline.engine import Engine
from pipeline.index_stage import run_index_stage
from pipeline.maintenance.upgrade import check_index
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import EngineSearchClient
from pipeline.settings import build_settings
from search_ui.query.solr_client import SolrSearchClient
from solr_client import solr_fields
from solr_conf import CONFIGSET_DIR
from tests.builders import save_article
from tests.earlier_versions import extract_archive, extract_configsets, to_earlier_document
from tests.site_fixture import BASE, MemorySite, site_app
from tests.solr_fixture import embedded, index_at
from text.segment import RjiebaSegmenter

ANALYSIS = TextAnalysis(Lexicon(0, ()), RjiebaSegmenter(), BASE)
ARTICLES = {
    "页岩气开发周报 第3期": "四川盆地页岩气产量上升，水力压裂技术已经成熟。",
    "页岩气开发周报 第4期": "鄂尔多斯盆地页岩气产量下降。",
    "Install the hp1010 driver": "The printer works with win7.",
}


def document_of(number: int, title: str, body: str) -> dict[str, object]:
    url = f"http://a.example/{number}"
    article = Article(url, title, body, "2026-01-02")
    return dict(to_solr_document(StoredArticle(number, document_id(url), "a.example", article), ANALYSIS))


@contextmanager
def index_of(configset: Path, solr: EmbeddedSolr) -> Iterator[SolrIndex]:
    """Yield an index with `ARTICLES` that a version with this configset wrote."""
    with patch.object(solr_index, "CONFIGSET_DIR", configset):
        index = index_at(solr.url, f"older{uuid.uuid4().hex[:12]}")
        index.ensure_collection()
        documents = (document_of(n, *article) for n, article in enumerate(ARTICLES.items()))
        assert index.add([to_earlier_document(document, configset) for document in documents]) == {}
        index.commit()
    try:
        yield index
    finally:
        index.delete_all()


@pytest.fixture(scope="module")
def configsets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return extract_configsets(tmp_path_factory.mktemp("configsets"))


@pytest.fixture
def index(solr_node: EmbeddedSolr, configsets: list[Path]) -> Iterator[SolrIndex]:
    """Yield an index that the first version wrote."""
    with index_of(configsets[0], solr_node) as index:
        yield index


def site_of(index: SolrIndex) -> FlaskClient:
    """Return the site of this version on an index."""
    return site_app(SolrSearchClient(index.base_url, index.collection, timeout=120.0), MemorySite()).test_client()  # type: ignore[arg-type]


def titles(client: FlaskClient, query: str) -> list[str]:
    answer = client.get("/api/v1/search", query_string={"q": query})
    assert answer.status_code == 200, answer.text
    return [hit["title"] for hit in answer.json["hits"]]


@pytest.mark.solr
@pytest.mark.always
def test_what_an_earlier_version_has_indexed_is_found_until_it_is_indexed_anew(index: SolrIndex) -> None:
    client = site_of(index)
    assert client.get("/api/v1/search?q=页岩气").status_code == 400  # it does not know the fields
    assert index.ensure_collection() is ConfigsetState.OUTDATED
    for query in (
        "页岩气",
        "页岩气开发周报 第4期",
        "水力压裂技术 四川",
        "-title:第3期 页岩气",
        "yeyanqi",
        "hp1010 win7",
    ):
        titles(client, query)
    assert set(titles(client, "页岩气")) == {"页岩气开发周报 第3期", "页岩气开发周报 第4期"}
    assert titles(client, "printer driver") == ["Install the hp1010 driver"]
    for page in ("/", "/search?q=页岩气", "/suggest?q=页", "/compare?q=页岩气"):
        assert client.get(page).status_code in (200, 303), page
    fresh = index.open_current_collection()
    fresh.add([document_of(n, *article) for n, article in enumerate(ARTICLES.items())])
    fresh.commit()
    index.switch_alias()
    assert index.ensure_collection() is ConfigsetState.CURRENT
    assert titles(client, "页岩气开发周报 第4期")[0] == "页岩气开发周报 第4期"
    assert titles(client, "hp1010 win7") == ["Install the hp1010 driver"]


@pytest.mark.solr
def test_the_site_answers_from_the_earlier_index_until_the_new_one_is_filled(index: SolrIndex, tmp_path: Path) -> None:
    settings = build_settings({"index": {"solr_url": index.base_url, "collection": index.collection}}, tmp_path)
    with Engine(settings, NullProgress()) as engine:
        client = site_app(EngineSearchClient(engine), MemorySite()).test_client()  # type: ignore[arg-type]
        assert set(titles(client, "页岩气")) == {"页岩气开发周报 第3期", "页岩气开发周报 第4期"}
        assert index.count() == len(ARTICLES)
        save_article(engine.store, 1, "四川盆地页岩气产量上升。", "页岩气年报")
        save_article(engine.store, 2, "水力压裂技术已经成熟。", "压裂年报")
        assert "writes 2 articles to a new collection" in check_index(settings, 2).text
        run_index_stage(engine, adopt=True)
        assert titles(client, "页岩气") == ["页岩气年报"]
        assert check_index(settings, 2).text == "its schema is current"


@pytest.mark.solr
def test_it_is_done_once_and_a_change_that_solr_refuses_leaves_it_searchable(
    index: SolrIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index.ensure_collection() is ConfigsetState.OUTDATED
    assert index.ensure_collection() is ConfigsetState.OUTDATED and index.count() == len(ARTICLES)
    wrong = tmp_path / "wrong"
    shutil.copytree(CONFIGSET_DIR, wrong)
    schema = (wrong / SCHEMA_FILE).read_text("utf-8")
    monkeypatch.setattr(
        solr_index,
        "add_missing_fields",
        lambda older, newest: older.replace("</schema>", '<field name="x"/></schema>'),
    )
    (wrong / SCHEMA_FILE).write_text(schema.replace("</schema>", "<!-- another -->\n</schema>"), "utf-8")
    monkeypatch.setattr(solr_index, "CONFIGSET_DIR", wrong)
    assert index.ensure_collection() is ConfigsetState.OUTDATED and index.count() == len(ARTICLES)
    index.search({"q": f"{solr_fields.TITLE_KEY}:x"})  # what the first opening gave it is still there
    stored = index._session.fetch(f"{index.collection}/admin/file", {"file": SCHEMA_FILE, "contentType": "text/xml"})
    assert '"x"' not in stored.text  # otherwise the next start of Solr cannot open the collection


def test_only_what_lacks_is_added(configsets: list[Path]) -> None:
    newest = (CONFIGSET_DIR / SCHEMA_FILE).read_text("utf-8")
    earlier = (configsets[0] / SCHEMA_FILE).read_text("utf-8")
    both = add_missing_fields(earlier, newest)
    assert both.startswith(earlier.removesuffix("</schema>\n"))
    assert set(re.findall(r'<field name="\w+"', newest)) <= set(re.findall(r'<field name="\w+"', both))
    assert add_missing_fields(both, newest) == both and add_missing_fields(newest, earlier) == newest


@pytest.mark.solr
@pytest.mark.exhaustive
def test_an_index_of_each_earlier_configset_is_searched(solr_node: EmbeddedSolr, configsets: list[Path]) -> None:
    for configset in configsets:
        with index_of(configset, solr_node) as index:
            index.ensure_collection()
            client = site_of(index)
            assert set(titles(client, "页岩气")) == set(list(ARTICLES)[:2]), configset.name
            assert titles(client, "printer driver") == ["Install the hp1010 driver"], configset.name
            for query in (
                "title:第3期&sort=date",
                "页岩气&language=zh&author=x&section=y&format=pdf",
                "site:a.example",
            ):
                assert client.get(f"/search?q={query}").status_code == 200, (configset.name, query)


@pytest.mark.solr
@pytest.mark.exhaustive
def test_the_folder_of_the_first_embedded_solr_is_opened(tmp_path: Path) -> None:
    extract_archive("solr.tar.xz", tmp_path)
    for _ in range(2):  # the second start opens what the first one changed: credentials, and the added fields
        with embedded(tmp_path) as node:
            index = index_at(node.url, "plumbline", shards=1)
            assert index.ensure_collection() is ConfigsetState.OUTDATED
            assert set(titles(site_of(index), "页岩气")) == set(list(ARTICLES)[:2])
