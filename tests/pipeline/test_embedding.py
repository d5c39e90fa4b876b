"""Finding by meaning, from articles in a store to a result page: a real model, a real Solr, a real kill -9."""

import fcntl
import itertools
import os
import signal
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Timer

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.vectors import ARTICLE_PASSAGE_NUMBER, PendingText
from docstore.store import Store, open_sqlite_store
from domain.article import Article
from domain.outcome import Reason, Stage, StageReport
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from locks.file_locks import stage_lock
from pipeline import stages
from pipeline.cli.status import collect_status, format_status
from pipeline.embedding import models
from pipeline.embedding.backlog import count_pending_passages, load_embedding_backlog
from pipeline.embedding.embedding_pool import BATCH_SIZE, EmbeddingPool
from pipeline.embedding.model_download import ModelDownload, needs_download
from pipeline.embedding.settings import EmbedSettings
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.runs.live_progress import LIVE_PROGRESS_FILE, LiveProgress
from pipeline.runs.run_record import RunRecord
from pipeline.search_site.query_vectors import StoreQueryVectors
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import Settings
from search_ui.interfaces import EmbeddingBacklog
from search_ui.settings import SearchSettings
from tests.builders import embedded_text_counts, keep_page
from tests.crash_harness import Vertical, until
from tests.small_model import small_model_settings
from tests.web_fixture import PATIENCE
from text.embedding.model_spec import ModelSpec

MEANT = "打架要坐牢吗"
LAW = "聚众斗殴的，对首要分子和其他积极参加的，处三年以下有期徒刑、拘役或者管制。"
PADDING = "本条例自公布之日起施行，由主管部门负责解释。\n" * 30
LENDING = "借款的利息不得预先在本金中扣除。"
SITES = ("a.test", "b.test")


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests switch off."""
    monkeypatch.delenv("PLUMB_EMBED_MODEL", raising=False)


def articles() -> list[Article]:
    """A law that holds no word of `MEANT`, a long text with it at its end, and fifty others."""
    long = f"{PADDING}{LAW}\n{PADDING[:200]}"
    others = [
        Article(f"http://{SITES[n % 2]}/{n}", f"采油第{n}厂", f"第{n}口井完钻，井深{n}千米，产量平稳。", language="zh")
        for n in range(50)
    ]
    return [
        Article("http://a.test/law", "刑法第二百九十二条", LAW, "2015-01-02", language="zh"),
        Article("http://b.test/long", "斗殴与刑罚", long, "2016-01-02", language="zh"),
        Article("http://b.test/loan", "民法典", LENDING, "2017-01-02", language="zh"),
        Article("http://b.test/wow", "Der Vertrag", "打架 ist verboten, und zwar immer.", language="de"),
        *others,
    ]


def fill(store: Store, made: list[Article]) -> None:
    """Keep these articles as extraction would."""
    by_url = {one.url: one for one in made}
    for url in by_url:
        keep_page(store, url, url.encode())
    store.articles.save([PageExtraction(page, by_url[page.url]) for page in store.articles.iter_pending()])


def settings(folder: Path, **embed: object) -> Settings:
    return Settings(folder, embed=EmbedSettings(**embed))  # type: ignore[arg-type]


@contextmanager
def opened_with_solr(solr_node: EmbeddedSolr, folder: Path, collection: str, **embed: object) -> Iterator[Engine]:
    """A vertical with a Solr collection, which is empty afterwards."""
    index = IndexSettings(solr_url=solr_node.url, collection=collection, request_timeout=PATIENCE)
    search = SearchSettings(timeout=60.0, page_size=5, log_days=0, developer_tools=True)
    with Engine(replace(settings(folder, processes=1, **embed), index=index, search=search), NullProgress()) as opened:
        yield opened
        opened.index.delete_all()


def wells(count: int) -> list[Article]:
    return [Article(f"http://a.test/{n}", f"井{n}", f"第{n}口井完钻。", language="zh") for n in range(count)]


@pytest.fixture(scope="module")
def engine(solr_node: EmbeddedSolr, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A vertical that was embedded and indexed."""
    with opened_with_solr(solr_node, tmp_path_factory.mktemp("meaning"), "meaning") as opened:
        fill(opened.store, articles())
        report = stages.embed(opened)
        assert report.outcome_counts == {Reason.EMBEDDED: 53}
        assert stages.embed(opened).outcome_counts == {}
        stages.index(opened)
        yield opened


@pytest.fixture(scope="module")
def reader(engine: Engine) -> FlaskClient:
    return create_search_app(engine).test_client()


def found(reader: FlaskClient, **asked: str) -> dict[str, dict[str, object]]:
    """The hits of a page, by title."""
    told = reader.get("/api/v1/search", query_string=asked).get_json()
    return {hit["title"]: hit for hit in told["hits"]}


@pytest.mark.solr
class TestPage:
    def test_what_means_the_same_is_found_without_a_word_of_it(self, reader: FlaskClient) -> None:
        hits = found(reader, q=MEANT)
        assert hits["刑法第二百九十二条"]["by_meaning"] is True
        page = BeautifulSoup(reader.get("/search", query_string={"q": MEANT, "lang": "en"}).text, "lxml")
        [hit] = [one for one in page.select("li.hit") if "刑法第二百九十二条" in one.h2.text]  # type: ignore[union-attr]
        assert "Semantic match" in hit.select_one(".by-meaning").text  # type: ignore[union-attr]
        assert "聚众斗殴" in hit.select_one(".snippet").text  # type: ignore[union-attr]

    def test_the_best_passage_is_shown_and_linked(self, reader: FlaskClient) -> None:
        page = BeautifulSoup(reader.get("/search", query_string={"q": MEANT, "lang": "zh"}).text, "lxml")
        [hit] = [one for one in page.select("li.hit") if "斗殴与刑罚" in one.h2.text]  # type: ignore[union-attr]
        assert "语义" in hit.select_one(".by-meaning").text  # type: ignore[union-attr]
        link = hit.select_one("a.passage")
        assert link is not None and "聚众斗殴" in link.text
        path, _, anchor = str(link["href"]).partition("#")
        text = BeautifulSoup(reader.get(path).text, "lxml").find(id=anchor)
        assert text is not None and text.text in f"{PADDING}{LAW}"

    def test_why_says_the_share_of_meaning(self, reader: FlaskClient) -> None:
        doc_id = found(reader, q=MEANT)["刑法第二百九十二条"]["id"]
        why = reader.get(f"/api/v1/articles/{doc_id}", query_string={"q": MEANT}).get_json()["explanation"]
        shares = {part["part"]: part["percent"] for part in why["parts"]}
        assert shares["meaning"] > 50 and sum(shares.values()) in (99, 100, 101)

    def test_what_is_quoted_or_typed_with_an_operator_is_words_alone(self, reader: FlaskClient) -> None:
        for typed in (f'"{MEANT}"', f"{MEANT} site:a.test", f"{MEANT} -采油"):
            assert not any(hit["by_meaning"] for hit in found(reader, q=typed).values()), typed
        assert not any(hit["by_meaning"] for hit in found(reader, q=MEANT, sort="date").values())
        assert not any(hit["by_meaning"] for hit in found(reader, q=MEANT, profile="bigram").values())

    def test_filters_hold(self, reader: FlaskClient) -> None:
        assert "刑法第二百九十二条" not in found(reader, q=MEANT, site="b.test")
        hits = found(reader, q=MEANT, site="a.test")
        assert hits["刑法第二百九十二条"]["by_meaning"] and {hit["site"] for hit in hits.values()} == {"a.test"}
        assert list(found(reader, q=MEANT, **{"from": "2015", "to": "2015"})) == ["刑法第二百九十二条"]

    def test_pages_follow_each_other_without_doubles(self, reader: FlaskClient) -> None:
        def ids(arguments: str) -> tuple[list[str], str | None]:
            told = reader.get(arguments).get_json()
            return [hit["id"] for hit in told["hits"]], told["next"]

        for typed in ("井深产量", "采油厂的井"):
            seen: list[str] = []
            following: str | None = f"/api/v1/search?q={typed}"
            while following:
                here = following
                page, following = ids(here)
                assert ids(here)[0] == page
                seen += page
            assert len(seen) == len(set(seen)) >= 50

    def test_totals_are_those_of_words(self, reader: FlaskClient) -> None:
        told = reader.get("/api/v1/search", query_string={"q": MEANT}).get_json()
        words = reader.get("/api/v1/search", query_string={"q": MEANT, "profile": "bigram"}).get_json()
        assert (told["total"], told["documents"]) == (words["total"], words["documents"])
        assert told["matched"] >= len(told["hits"])

    def test_a_long_query_and_one_in_no_language_are_answered(self, reader: FlaskClient) -> None:
        for typed in ("怎么处罚打架" * 1_700, "🙂", "?", "a" * 10_000):
            assert reader.get("/search", query_string={"q": typed}).status_code == 200

    @pytest.mark.parametrize("embed", [{"jars": "/nowhere"}, {"model": "off"}])
    def test_a_model_that_is_gone_leaves_words(self, engine: Engine, embed: dict[str, str]) -> None:
        engine.store.vectors.set_served_models("")  # nor are there others, which were complete before
        with Engine(replace(engine.settings, embed=EmbedSettings(**embed)), NullProgress()) as other:
            reader = create_search_app(other).test_client()
            assert "刑法第二百九十二条" in found(reader, q="聚众斗殴")
            assert not any(hit["by_meaning"] for hit in found(reader, q=MEANT).values())

    def test_loaded_models_need_no_loading_by_a_search(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        vectors = StoreQueryVectors(engine)
        vectors.load_models()
        monkeypatch.setattr(models, "load_model", None)  # a call would fail
        assert vectors.query_vector(MEANT) is not None

    def test_an_article_that_changes_waits_anew_and_its_old_vector_goes(self, engine: Engine) -> None:
        store, spec = engine.store, engine.configured_models[0]
        before = sum(embedded_text_counts(store).values())
        entry = store.frontier.find_entries(["http://b.test/loan"])["http://b.test/loan"]
        assert store.vectors.pending_count(spec.model_id, spec.languages) == 0
        keep_changed(store, entry.url, "借款的利息可以预先扣除。")
        assert store.vectors.pending_count(spec.model_id, spec.languages) == 1
        stages.embed(engine)
        assert sum(embedded_text_counts(store).values()) == before
        assert [change.url for change in store.change_log.pending(9)] == [entry.url]


def keep_changed(store: Store, url: str, body: str) -> None:
    """Extract the page at `url` again, with another text."""
    store.articles.reextract_all()
    pages = [page for page in store.articles.iter_pending() if page.url == url]
    store.articles.save([PageExtraction(page, Article(url, "民法典", body, language="zh")) for page in pages])


def test_models_that_the_first_version_stored_are_read(tmp_path: Path) -> None:
    spec = ModelSpec("m.1", tmp_path, languages=("zh",), min_cosine=0.6)
    text = models.serialize_models([spec])
    assert models.deserialize_models(text) == (spec,)
    assert models.deserialize_models(text.replace("min_cosine", "near_enough")) == (spec,)


VECTORS = "SELECT COUNT(*) FROM vectors"
TEXTS = 170


@pytest.mark.exhaustive
def test_killed_it_goes_on_where_it_was(tmp_path: Path, small_model: Path) -> None:
    embed = {**small_model_settings(small_model), "processes": 2}
    vertical = Vertical(tmp_path / "vertical").write({"embed": embed})
    made = [Article(f"http://a.test/{n}", f"井{n}", f"第{n}口井完钻。" * 12, language="zh") for n in range(TEXTS)]
    with open_sqlite_store(vertical.data) as store:
        fill(store, made)
    try:
        vertical.start("embed")
        until(lambda: vertical.number(VECTORS) > 0)
        vertical.kill()
        first = dict(vertical.ask("SELECT digest, vector FROM vectors WHERE passage = 0"))
        assert 0 < len(first) <= TEXTS
        assert "embedded" in vertical.done("embed").out or len(first) == TEXTS
        kept = vertical.ask("SELECT digest, vector FROM vectors WHERE passage = 0")
        assert len(kept) == TEXTS == len(dict(kept))
        assert first.items() <= dict(kept).items()
        log = "SELECT url_id, COUNT(*) FROM changes GROUP BY url_id"
        assert {count for _, count in vertical.ask(log)} == {2}  # extracted, embedded
    finally:
        vertical.end()


@pytest.mark.exhaustive
def test_a_process_on_a_busy_core_holds_up_no_other(small_model: Path) -> None:
    [spec] = models.configured_models(settings(Path(), **small_model_settings(small_model)).embed, Path())
    texts = (PendingText(n, str(n), "井", f"第{n}口井完钻。") for n in range(12 * BATCH_SIZE))
    with closing(EmbeddingPool(0, 2)) as pool:
        batches = pool.embed(texts, spec)
        next(batches)
        [stopped, *_] = (
            int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()
        )
        os.kill(stopped, signal.SIGSTOP)
        continuation = Timer(PATIENCE, os.kill, (stopped, signal.SIGCONT))
        continuation.start()
        assert len([next(batches) for _ in range(8)]) == 8
        assert continuation.is_alive()
        continuation.cancel()
        os.kill(stopped, signal.SIGCONT)
        assert sum(map(len, batches)) == 3 * BATCH_SIZE


def test_the_estimate_follows_the_active_stage(tmp_path: Path, small_model: Path) -> None:
    with Engine(settings(tmp_path, **small_model_settings(small_model)), NullProgress()) as engine:
        fill(engine.store, wells(40))
        seconds = itertools.count(0.0, 30.0)
        progress = LiveProgress(NullProgress(), engine.settings.data_dir / LIVE_PROGRESS_FILE, lambda: next(seconds))
        progress.start_stage(1, Stage.EMBED)
        with engine.lock("embed"), progress.task("embed", 40) as advance:
            assert load_embedding_backlog(engine).seconds is None
            advance(10)
            assert load_embedding_backlog(engine).seconds == 40 * 3
        assert load_embedding_backlog(engine).seconds is None  # a killed run leaves its file


def test_articles_come_first_and_their_passages_need_no_indexing(tmp_path: Path, small_model: Path) -> None:
    long = Article(
        "http://a.test/long", "钻井", "".join(f"第{n}口井完钻，产量平稳。" for n in range(99)), language="zh"
    )
    short = Article("http://a.test/short", "完井", "这口井已经完井。", language="zh")
    other = Article("http://a.test/de", "Bohrung", "Die Bohrung ist fertig.", language="de")
    with Engine(settings(tmp_path, processes=1, **small_model_settings(small_model)), NullProgress()) as engine:
        fill(engine.store, [long, short, other])
        assert load_embedding_backlog(engine).article_count == 2
        report = stages.embed(engine, with_passages=False)
        assert report.outcome_counts == {Reason.EMBEDDED: 2} and report.notes == ()
        [spec], digests = engine.configured_models, dict(engine.store.articles.iter_digests()).values()
        stored_vectors = engine.store.vectors.passage_vectors(spec.model_id, digests).values()
        assert {len([one for one in found if one.vector]) for found in stored_vectors} == {1}
        assert load_embedding_backlog(engine) == EmbeddingBacklog(0, None, {"de": 1})
        assert count_pending_passages(engine) == 1
        logged = engine.store.change_log.pending_document_count()
        report = stages.embed(engine)
        assert report.outcome_counts == {} and report.notes == ("Passage vectors of 1 longer article",)
        assert engine.store.change_log.pending_document_count() == logged
        assert count_pending_passages(engine) == 0
        [[lead, *passages]] = [
            found for found in engine.store.vectors.passage_vectors(spec.model_id, digests).values() if len(found) > 2
        ]
        assert passages[0].start_offset < lead.end_offset < passages[0].end_offset
        assert long.body[passages[0].start_offset - 1] == "。"  # a passage begins with a sentence


def test_the_time_limit_is_one_note(tmp_path: Path, small_model: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = [Article(f"http://a.test/{n}", f"井{n}", f"第{n}口井完钻。" * 20, language="zh") for n in range(100)]
    with Engine(settings(tmp_path, processes=1, **small_model_settings(small_model)), NullProgress()) as engine:
        fill(engine.store, made)
        report = stages.embed(engine, seconds=0.0)
        left = engine.count_pending_embeddings()
        assert 0 < left < 100 and report.notes == (f"Time limit reached, {left} articles left to embed",)
    assert [record.message for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


@pytest.mark.solr
@pytest.mark.always
def test_a_run_embeds_passages_after_the_index(solr_node: EmbeddedSolr, tmp_path: Path, small_model: Path) -> None:
    with opened_with_solr(solr_node, tmp_path, "passages_last", **small_model_settings(small_model)) as engine:
        fill(engine.store, articles())
        order = []
        record = RunRecord(engine.store, "run", on_report=lambda report: order.append((report.stage, report.notes)))
        with record:
            record.run_stage(Stage.EMBED, partial(stages.STAGES["embed"], engine))
            record.run_stage(Stage.INDEX, partial(stages.index, engine))
            stages.embed_remaining(engine, record)
        assert [stage for stage, _ in order] == [Stage.EMBED, Stage.INDEX, Stage.EMBED]
        assert order[0][1] == () and "Passage vectors" in order[2][1][0]


@pytest.mark.solr
def test_a_first_run_indexes_each_article_once_however_long_embedding_takes(
    solr_node: EmbeddedSolr, tmp_path: Path, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "EMBED_BEFORE_INDEX_SECONDS", 0.0)  # one batch of articles, then the limit
    monkeypatch.setitem(stages.STAGES, "embed", partial(stages.embed_if_possible, seconds=0.0, with_passages=False))
    for name, counts in (("crawl", {Reason.UNCHANGED: 1}), ("extract", {}), ("lexicon", {})):
        report = StageReport(Stage(name), counts, 0.0)
        monkeypatch.setitem(stages.STAGES, name, lambda engine, report=report: report)
    monkeypatch.setattr(stages, "crawl_with_index_opening", lambda engine, with_index: stages.STAGES["crawl"](engine))
    with opened_with_solr(solr_node, tmp_path, "first_run", passages=0, **small_model_settings(small_model)) as engine:
        fill(
            engine.store,
            [*wells(150), Article("http://a.test/de", "Bohrung", "Die Bohrung ist fertig.", language="de")],
        )
        reports = stages.run(engine)
        indexed_counts = [
            report.outcome_counts[Reason.INDEXED] for report in reports if Reason.INDEXED in report.outcome_counts
        ]
        assert sum(indexed_counts) == 151 == engine.index.count() and len(indexed_counts) > 1
        assert engine.count_pending_embeddings() == 0


@pytest.mark.solr
def test_a_first_run_indexes_articles_that_cannot_be_embedded(
    solr_node: EmbeddedSolr, tmp_path: Path, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened_with_solr(
        solr_node, tmp_path, "first_broken", passages=0, **small_model_settings(small_model)
    ) as engine:
        fill(engine.store, wells(150))
        with RunRecord(engine.store, "run") as record:
            record.run_stage(Stage.EMBED, partial(stages.embed_if_possible, engine, 0.0, with_passages=False))
            monkeypatch.setattr(
                stages, "embed_if_possible", lambda *arguments, **options: StageReport(Stage.EMBED, {}, 0.0)
            )
            stages.index_when_embedded(engine, record)
            record.run_stage(Stage.INDEX, partial(stages.index, engine))
        assert engine.index.count() == 150 and engine.count_pending_embeddings() > 0


def test_a_new_model_serves_when_it_is_complete(tmp_path: Path) -> None:
    made = wells(3)
    with Engine(settings(tmp_path, processes=1), NullProgress()) as engine:
        fill(engine.store, made)
        stages.embed(engine)
        [old, _] = engine.configured_models
        engine.activate_complete_models()
    folder = own_model(old, tmp_path)
    with Engine(settings(tmp_path, processes=1, model=str(folder), languages=("zh",)), NullProgress()) as engine:
        [new] = engine.configured_models
        assert engine.count_pending_embeddings() == 3 and old in engine.serving_models()
        fill(engine.store, [Article("http://a.test/new", "新", "新的一口井。", language="zh")])
        assert set(embedded_text_counts(engine.store)) == {old.model_id}
        stages.embed(engine)
        assert old in engine.serving_models()
        assert set(embedded_text_counts(engine.store)) == {old.model_id, new.model_id}
        engine.activate_complete_models()  # as the stage `index` does when it is through
        stages.embed(engine)
        assert engine.serving_models() == (new,) and embedded_text_counts(engine.store) == {new.model_id: 4}


def own_model(spec: ModelSpec, folder: Path) -> Path:
    """The model in a jar as an operator's own."""
    with zipfile.ZipFile(spec.path) as jar:
        (folder / "model.onnx").write_bytes(jar.read(spec.weights))
        (folder / "tokenizer.json").write_bytes(jar.read(spec.tokenizer))
    return folder


class TestBadInput:
    def test_texts_of_any_kind_are_embedded_or_said_to_be_empty(self, tmp_path: Path, small_model: Path) -> None:
        with Engine(
            settings(tmp_path, processes=1, passages=3, **small_model_settings(small_model)), NullProgress()
        ) as engine:
            texts = {"long": "字" * 1_000_000, "signs": "——！？", "letters": "a" * 100_000, "none": ""}
            fill(engine.store, [Article(f"http://a.test/{n}", "", text, language="zh") for n, text in texts.items()])
            report = stages.embed(engine)
            assert report.outcome_counts == {Reason.EMBEDDED: 2, Reason.NOTHING_TO_EMBED: 2}
            assert stages.embed(engine).outcome_counts == {}
            digests = dict(engine.store.articles.iter_digests()).values()
            parts = engine.store.vectors.passage_vectors(engine.configured_models[0].model_id, digests)
            assert max(map(len, parts.values())) == 4
            assert all(len(part.vector) in (0, 512) for one in parts.values() for part in one)
            assert {part.passage_number for one in parts.values() for part in one} >= {ARTICLE_PASSAGE_NUMBER, 1, 3}

    def test_a_damaged_model_is_one_line_and_a_run_goes_on_by_words(self, tmp_path: Path) -> None:
        folder = tmp_path / "model"
        folder.mkdir()
        (folder / "model.onnx").write_bytes(b"no model")
        (folder / "tokenizer.json").write_text("{}")
        vertical = Vertical(tmp_path / "vertical").write({"embed": {"model": str(folder)}})
        with open_sqlite_store(vertical.data) as store:
            fill(store, articles()[:2])
        said = vertical.plumb("embed")
        assert said.status == 1 and "embed.model" in said.complaint and "tokenizer.json" in said.complaint
        with Engine(settings(vertical.folder, model=str(folder)), NullProgress()) as engine:
            [note] = stages.embed_if_possible(engine).notes
            assert "Keyword search only" in note

    @pytest.mark.exhaustive
    def test_a_full_disk_loses_nothing(self, tmp_path: Path, small_model: Path) -> None:
        vertical = Vertical(tmp_path / "vertical").write(
            {"embed": {"processes": 1, **small_model_settings(small_model)}}
        )
        with open_sqlite_store(vertical.data) as store:
            fill(store, [one for one in articles() if one.language == "zh"])  # one model is loaded
        try:
            said = vertical.finished(vertical.start("embed", largest_file=60_000))
            assert said.status == 1 and "may not grow" in said.err and "Traceback" not in said.err, said
            assert "embedding failed" not in said.err  # articles that nobody waits for any more
            assert vertical.done("embed").status == 0
            assert vertical.number("SELECT COUNT(*) FROM vectors WHERE passage = 0") == 53
        finally:
            vertical.end()


def test_while_models_are_fetched_or_articles_embedded_search_is_known_to_use_keywords(tmp_path: Path) -> None:
    embed = EmbedSettings(jars=str(tmp_path / "models"))
    with Engine(Settings(tmp_path, embed=embed), NullProgress()) as engine:
        assert needs_download(embed) and not StoreQueryVectors(engine).is_preparing()
        with stage_lock(engine.settings.data_dir, "embed"):
            assert StoreQueryVectors(engine).is_preparing()
        with (tmp_path / "models.lock").open("w") as file, ModelDownload(embed) as download:
            fcntl.flock(file, fcntl.LOCK_EX)  # another process downloads: this one waits for it
            assert StoreQueryVectors(engine).is_preparing() and download.is_active
    folder = str(tmp_path / "models.lock" / "models")
    with ModelDownload(EmbedSettings(jars=folder)) as download:
        failure = download.failure()
    assert models.main([folder]) == 1  # an image without models is not built
    assert failure.startswith("the models cannot be saved in ") and "\n" not in failure
    assert not needs_download(EmbedSettings(model="off"))


def test_status_tells_what_is_left(tmp_path: Path, small_model: Path) -> None:
    made = wells(12)
    with Engine(settings(tmp_path, processes=1, **small_model_settings(small_model)), NullProgress()) as engine:
        fill(engine.store, [*made, Article("http://a.test/de", "Bohrung", "Die Bohrung ist fertig.", language="de")])
        assert "vectors   articles to embed: 12 (plumb embed)" in list(format_status(collect_status(engine)))
        with RunRecord(engine.store, "run") as record:
            record.run_stage(Stage.EMBED, partial(stages.embed, engine, with_passages=False))
        fill(engine.store, [Article("http://a.test/new", "新井", "新的一口井。", language="zh")])
        lines = list(format_status(collect_status(engine)))
        assert "vectors   articles to embed: 1, about 1 min (plumb embed)" in lines
        assert not any("passages to embed" in line for line in lines)  # these articles are short
        assert "no model  keyword search only, articles by language: de 1" in lines
