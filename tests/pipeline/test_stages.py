"""The pipeline in one process, on two of the demo's sites and a real Solr: what the command line and the site call."""

import io
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
from werkzeug.datastructures import MultiDict

from crawler.urls.canonical import host_of
from domain.article import document_id
from domain.errors import LexiconError, PlumblineError, SolrError, StoreError
from domain.operation import Change
from domain.outcome import Reason, Stage, StageReport
from domain.page_diagnosis import PageRemedy
from domain.review import TermQuery
from domain.term import TermStatus
from indexer.settings import IndexSettings
from pipeline import stages
from pipeline.cli.compare import comparison_json
from pipeline.cli.maintenance import next_step_advice
from pipeline.cli.page import explain_url
from pipeline.cli.status import collect_status, format_status
from pipeline.demo.site import DemoServer, change_article, demo_urls, write_sites
from pipeline.engine import Engine
from pipeline.explain.diagnosis_service import StorePageDiagnosis
from pipeline.explain.url_report_text import iter_sentences
from pipeline.maintenance.integrity_check import iter_index_faults
from pipeline.maintenance.repair import repair_index
from pipeline.operations import declare_operations
from pipeline.progress import NullProgress
from pipeline.refresh import format_refresh_times, refresh_page
from pipeline.search_site import serve
from pipeline.search_site.public_backend import StoreSiteBackend
from pipeline.search_site.search_app import (
    EngineSearchClient,
    compare_term,
    create_search_app,
    load_or_create_secret,
)
from pipeline.search_site.serve import IndexFollower, is_index_stale
from pipeline.settings import build_settings
from pipeline.warc_import.importer import import_warc_files
from pipeline.warc_import.sources import WarcSource
from search_ui.context import current_services
from search_ui.query.ranking import PROFILES
from search_ui.query.result_position import find_position
from search_ui.query.search_request import parse_search_request
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.builders import operate
from tests.local_workers import local_workers
from tests.small_model import small_model_settings
from tests.solr_fixture import RunningSolr
from tests.web_fixture import PATIENCE

pytestmark = [pytest.mark.solr, pytest.mark.slow]

TERM = "世界石油大会"


@dataclass
class Chain:
    """An engine that has run once, and the site it crawls."""

    engine: Engine
    sites: Path
    port: int


def remedy(engine: Engine, name: PageRemedy, url: str) -> Change | None:
    """Do for a page what an operator does with one click."""
    return engine.store.operations.run(declare_operations(engine)[f"page_{name}"], "anna", {"url": url})


@pytest.fixture(scope="module")
def chain(solr_node: RunningSolr, small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    folder = tmp_path_factory.mktemp("chain")
    write_sites(folder / "sites")
    with DemoServer(folder / "sites", 0) as server:
        seeds = demo_urls(server.port)[::2]  # one site in UTF-8, one in GBK
        hosts = [seed.split("/")[2] for seed in seeds]
        crawl = {
            "seeds": seeds,
            "depth": 6,
            "delay": 0.001,
            "per_host": 4,
            "inside_hosts": hosts,
            "revisit_shortest": 0.0,
        }
        embed = {**small_model_settings(small_model), "near_enough": 0.99}
        lexicon = {"auto_publish": "off"}  # the tests decide on the terms
        sections = {"vertical": {"data_dir": "data"}, "crawl": crawl, "embed": embed, "lexicon": lexicon}
        settings = build_settings(sections, folder)
        settings = replace(
            settings,
            index=IndexSettings(solr_url=solr_node.url, collection="chain", request_timeout=PATIENCE),
            search=SearchSettings(timeout=PATIENCE),
        )
        with Engine(settings, NullProgress()) as engine:
            with local_workers():
                stages.run(engine)
            yield Chain(engine, folder / "sites", server.port)
            engine.index.delete_all()


def eventually(is_so: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.1)
    return False


def test_a_run_is_recorded_with_its_reports(chain: Chain) -> None:
    [run, *_] = chain.engine.store.runs.list_newest()
    assert run.finished_at is not None
    names = [stage for stage in Stage if stage is not Stage.OCR]  # no page was scanned
    last_stages = [Stage.LEXICON, Stage.EMBED]  # sentences about terms, passages of long articles
    assert [stage.stage for stage in run.stages] == [*names, *last_stages]


def test_until_stops_after_the_stage(chain: Chain) -> None:
    told: list[StageReport] = []
    reports = stages.run(chain.engine, last_stage="extract", on_report=told.append)
    assert told == reports
    assert [r.stage for r in reports] == [Stage.CRAWL, Stage.EXTRACT]
    [partial_run] = chain.engine.store.runs.list_newest(1)
    assert partial_run.command == "run --until extract" and partial_run.is_partial
    assert chain.engine.store.runs.since_last_success()[0] != partial_run


def test_a_second_run_finds_nothing_to_do(chain: Chain) -> None:
    reports = {r.stage: r for r in stages.run(chain.engine)}
    assert set(reports) == {Stage.CRAWL, Stage.EXTRACT, Stage.EMBED, Stage.SOLR, Stage.INDEX}  # nothing to mine
    assert reports[Stage.CRAWL].outcome_counts.get(Reason.FETCHED, 0) == 0
    assert reports[Stage.EXTRACT].total == reports[Stage.INDEX].total == 0


@pytest.mark.always
def test_a_changed_page_goes_through_all_stages(chain: Chain) -> None:
    url, marker = change_article(chain.sites, 2, chain.port)
    trace = refresh_page(chain.engine, url)
    assert [name for name, _ in trace.stage_times] == ["fetched", "extracted", "indexed", "searchable"]
    assert [moment for _, moment in trace.stage_times] == sorted(moment for _, moment in trace.stage_times)
    found = chain.engine.index.search({"q": "{!field f=body v=$marker}", "marker": marker})["response"]["docs"]
    assert [doc[solr_fields.URL] for doc in found] == [url]
    assert next(format_refresh_times(trace)) == url


def test_refresh_of_a_page_that_was_never_seen(chain: Chain) -> None:
    with pytest.raises(PlumblineError, match="is unknown"):
        refresh_page(chain.engine, "http://elsewhere.test/")
    with pytest.raises(PlumblineError, match="is not a URL"):
        refresh_page(chain.engine, "http://[/")


def test_publishing_reaches_the_index_through_the_follower(chain: Chain) -> None:
    """Accepted and published as on the review page; only the documents with the term are segmented again."""
    actions = StoreSiteBackend(chain.engine)
    assert actions.find_page(TermQuery(None, TERM))[0] >= 1
    before = chain.engine.store.lexicons.latest_version()
    actions.review.decide([TERM], TermStatus.ACCEPTED, "anna")
    assert actions.review.store.review_queue.unpublished_change_counts() == (1, 0, 0)
    with IndexFollower(chain.engine):
        version = actions.review.publish("anna")
        assert version.version == before + 1
        assert eventually(lambda: not is_index_stale(chain.engine))
    lexicon, segmenter = actions.applied_lexicon()
    assert lexicon.version == version.version
    assert TERM in segmenter.cut(f"在{TERM}上")
    chain.engine.index.commit()
    again = {"q": f"{solr_fields.LEXICON_VERSION}:{version.version}", "fl": solr_fields.URL, "rows": 1000}
    redone = {doc[solr_fields.URL] for doc in chain.engine.index.search(again)["response"]["docs"]}
    holding = {
        s.article.url for s in chain.engine.store.articles.iter_all() if TERM in s.article.title + s.article.body
    }
    assert redone == holding != set()
    base, domain = compare_term(chain.engine, TERM)
    assert domain.measures.first_rank == 1
    assert domain.measures.precision_at_10 > base.measures.precision_at_10
    assert comparison_json([base, domain])[1]["words"] == [TERM]
    with pytest.raises(LexiconError, match="Nothing to publish"):
        actions.review.publish("anna")


def test_the_follower_fills_an_index_that_lost_documents(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "CHECK_SECONDS", 0.0)
    index, count = chain.engine.index, chain.engine.store.change_log.indexed_document_count()

    def is_filled() -> bool:
        with suppress(SolrError):  # the follower creates the collection
            return index.has_collection() and index.count() == count
        return False

    with IndexFollower(chain.engine):
        for lose in (lambda: index.delete([*index.iter_ids()][:3]), index.delete_all):
            assert eventually(is_filled)
            lose()
            with suppress(SolrError):
                index.commit(soft=True)
        assert eventually(is_filled)


def test_only_what_a_dictionary_holds_is_accepted(chain: Chain) -> None:
    with pytest.raises(LexiconError):
        StoreSiteBackend(chain.engine).review.decide(["页\u200b岩"], TermStatus.ACCEPTED, "anna")
    with pytest.raises(LexiconError, match="No such term"):
        StoreSiteBackend(chain.engine).review.decide(["从没见过的词组"], TermStatus.REJECTED, "anna")


def test_the_first_step_that_a_page_has_not_passed_is_named(chain: Chain) -> None:
    diagnosis, status = StorePageDiagnosis(chain.engine), chain.engine.store.status
    solr = EngineSearchClient(chain.engine)
    urls = [url for url in chain.engine.store.frontier.iter_urls() if status.url_report(url)]
    reports = {url: status.url_report(url) for url in urls}

    def url_with(stage: Stage, reason: Reason) -> str:
        return next(
            url for url, report in reports.items()
            if report and (outcome := report.outcome(stage)) and outcome.reason == reason
        )  # fmt: skip

    def stop(url: str) -> tuple[str, str, str] | None:
        found = diagnosis.diagnose_page(url, solr)
        assert found is not None and len([check for check in found.checks if check.is_stop]) <= 1
        return found.stop and (found.stop.name, found.stop.state, found.stop.cause or "")

    article_url = next(chain.engine.store.articles.iter_all()).article.url
    assert stop(article_url) is None
    assert stop(url_with(Stage.CRAWL, Reason.ROBOTS_FORBIDDEN)) == ("allowed", "failed", "robots_forbidden")
    assert stop(url_with(Stage.EXTRACT, Reason.LIST_PAGE)) == ("article", "failed", "list_page")
    assert stop("http://elsewhere.example/page.html") == ("allowed", "failed", "other_host")
    unknown_url = article_url + "-unknown"
    assert stop(unknown_url) == ("known", "failed", "no_link")
    assert diagnosis.diagnose_page("no url at all", solr) is None
    without_scheme = diagnosis.diagnose_page(article_url.partition("://")[2], solr)
    assert without_scheme is not None and without_scheme.url == article_url
    assert remedy(chain.engine, PageRemedy.CRAWL_AGAIN, article_url)
    assert remedy(chain.engine, PageRemedy.CRAWL_AGAIN, unknown_url) is None
    found = diagnosis.diagnose_page(article_url, solr)
    assert found is not None and found.due_at is not None and found.due_at <= time.time()
    remedy(chain.engine, PageRemedy.ADD_URL, unknown_url)
    assert stop(unknown_url) == ("fetched", "pending", "not_visited")
    recorded = chain.engine.store.operations.find(account="anna", limit=2)
    assert [(each.name, each.subject) for each in recorded] == [
        ("page_add_url", unknown_url), ("page_crawl_again", article_url),
    ]  # fmt: skip
    with pytest.raises(PlumblineError, match="the crawl settings exclude it"):
        remedy(chain.engine, PageRemedy.ADD_URL, "http://elsewhere.example/page.html")


def test_the_rank_of_a_page_and_what_keeps_it_from_the_results(chain: Chain) -> None:
    """The rank is that of the results page; a filter, a missing word and a document that is not there are named."""
    app = create_search_app(chain.engine)
    with app.test_request_context("/search"):
        search = current_services().search
        request = parse_search_request(MultiDict({"q": TERM}), search.settings, PROFILES)
        hits = search.execute(search.plan(request)).hits
        positions = [find_position(search, request, hit.doc_id) for hit in hits]
        assert [position and position.rank for position in positions] == list(range(1, len(hits) + 1))
        assert [position and position.listed_url for position in positions] == [hit.url for hit in hits]
        other_year = parse_search_request(MultiDict({"q": f"{TERM} before:1990"}), search.settings, PROFILES)
        excluded = find_position(search, other_year, hits[0].doc_id)
        assert excluded is not None and excluded.rank is None
        assert [str(part) for part in excluded.excluding_filters[0].query_parts] == ["before:1990"]
        other_word = parse_search_request(MultiDict({"q": f"{TERM} qwertyuiop"}), search.settings, PROFILES)
        lacking = find_position(search, other_word, hits[0].doc_id)
        assert lacking is not None and lacking.rank is not None and lacking.missing_words == ("qwertyuiop",)
        assert find_position(search, request, "0" * 16) is None


def test_status_and_explain_account_for_pages(chain: Chain) -> None:
    answer = collect_status(chain.engine)
    assert answer["articles"] == answer["indexed"] == chain.engine.index.count()
    assert answer["outcomes"]["crawl"]["robots_forbidden"] == 1
    assert any("robots_forbidden" in line for line in format_status(answer))
    url = next(chain.engine.store.articles.iter_all()).article.url
    told = explain_url(chain.engine, url)
    assert told.solr_document is not None and told.solr_document["url"] == url
    said = list(iter_sentences(told))
    assert said[0] == url
    assert any(line.startswith("Found ") and " by the link “" in line for line in said)
    assert any(re.fullmatch(r"Extracted \S+ \S+: extracted\b.*\.", line) for line in said)
    assert any(line.startswith("In the index since ") for line in said)
    with pytest.raises(PlumblineError, match="is unknown"):
        explain_url(chain.engine, "http://elsewhere.test/")


def test_a_solr_that_lost_documents_is_filled_again(chain: Chain) -> None:
    count = chain.engine.index.count()
    ids = [stored.doc_id for stored in chain.engine.store.articles.iter_all()][:5]
    chain.engine.index.delete(ids)
    told = stages.index(chain.engine)
    assert "Solr has lost documents" in told.notes[0]
    assert chain.engine.index.count() == count


def test_a_missing_index_is_a_fault_that_a_repair_mends(chain: Chain) -> None:
    """As after `plumb restore`: the store says that the documents are indexed, but Solr has no collection."""
    index, count = chain.engine.index, chain.engine.index.count()
    index.delete_all()
    [fault] = iter_index_faults(chain.engine.store, index)
    assert fault.component == "index" and "has not been built yet: run `plumb index`" in fault.description
    assert next_step_advice([fault], is_repair=False) == fault.description
    list(repair_index(chain.engine))
    assert index.count() == count and not list(iter_index_faults(chain.engine.store, index))


def warc(path: Path, pages: list[tuple[str, int, str, bytes]]) -> Path:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, status, kind, body in pages:
            http = StatusAndHeaders(f"{status} X", [("Content-Type", kind)], protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=http))
    return path


def test_anyones_crawl_is_imported_once(chain: Chain, tmp_path: Path) -> None:
    text = "<p>页岩气井压裂，取得新进展，日产气二十万方。这是一篇导入的文章，讲压裂。</p>" * 4
    html = f"<html><head><title>导入的文章</title></head><body><h1>导入的文章</h1>{text}</body></html>".encode()
    pages = [
        ("http://other.test/a.html", 200, "text/html; charset=utf-8", html),
        ("http://other.test/gone.html", 404, "text/html", b"no"),
        ("http://other.test/x.png", 200, "image/png", b"png"),
        ("http://other.test/empty.html", 200, "text/html", b" "),
        ("http://[/", 200, "text/html", html),
    ]
    file = warc(tmp_path / "theirs.warc.gz", pages)
    first = import_warc_files(chain.engine, [WarcSource(str(file))]).outcome_counts
    assert first == {
        Reason.FETCHED: 1,
        Reason.GONE: 1,
        Reason.NOT_HTML: 1,
        Reason.EMPTY_BODY: 1,
        Reason.INVALID_URL: 1,
    }
    assert import_warc_files(chain.engine, [WarcSource(str(file))]).outcome_counts[Reason.UNCHANGED] == 1
    stages.extract(chain.engine)
    stages.index(chain.engine)
    document = chain.engine.index.get(document_id("http://other.test/a.html"))
    assert document is not None
    assert document[solr_fields.TITLE] == "导入的文章"


def test_a_truncated_import_keeps_what_came_before(chain: Chain, tmp_path: Path) -> None:
    body = b"<html><body>" + bytes(range(65, 91)) * 4000
    pages = [(f"http://cut.test/{n}.html", 200, "text/html", body + str(n).encode()) for n in range(3)]
    file = warc(tmp_path / "cut.warc.gz", pages)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(StoreError, match="not a complete WARC"):
        import_warc_files(chain.engine, [WarcSource(str(file))])
    assert chain.engine.store.frontier.known_urls([url for url, *_ in pages]) >= {pages[0][0], pages[1][0]}


def test_a_page_taken_down_is_hidden_before_solr_has_deleted_it(chain: Chain) -> None:
    engine, reader = chain.engine, create_search_app(chain.engine, opens_solr=False).test_client()
    article = next(engine.store.articles.iter_all()).article
    doc_id = document_id(article.url)

    def results() -> list[str]:
        found = reader.get("/api/v1/search", query_string={"q": f'"{article.title}"', "site": host_of(article.url)})
        return [hit["id"] for hit in found.json["hits"]]

    assert doc_id in results() and reader.get(f"/article/{doc_id}").status_code == 200
    operate(engine.store, "page_takedown", "anna", url=article.url, reason="court")
    assert engine.index.get(doc_id) is not None  # the index has not followed yet
    assert doc_id not in results() and reader.get(f"/article/{doc_id}").status_code == 410
    assert reader.get(f"/api/v1/articles/{doc_id}").status_code == 410
    stages.index(engine)
    assert engine.index.get(doc_id) is None and engine.store.takedowns.document_ids_in_index() == []


def test_the_key_of_sessions_is_made_once_and_private(tmp_path: Path) -> None:
    assert load_or_create_secret(tmp_path / "session.key") == load_or_create_secret(tmp_path / "session.key")
    assert (tmp_path / "session.key").stat().st_mode & 0o077 == 0
