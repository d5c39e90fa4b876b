"""What the signed-in area asks of the store: the reports on a vertical that has been crawled a little."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstore.reports.runs import stage_run_from_report
from docstore.store import Store
from domain.errors import LexiconError
from domain.frontier import NewUrl, StoredRobots, UrlKind, Visit
from domain.outcome import Outcome, Reason, Stage, StageReport
from domain.review import ReviewDecisionKind, TermQuery
from domain.run import RunHistory, RunState, RunSummary, StageSummary
from domain.search_log import LoggedSearch
from domain.term import Term, TermStatus
from pipeline.engine import Engine
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.progress import NullProgress
from pipeline.search_site.administration import StoreReports, build_administration
from pipeline.search_site.public_backend import StoreSiteBackend
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import load_settings
from tests.builders import add


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    config = tmp_path / "vertical.toml"
    config.write_text('[crawl]\ndelay = 1.0\nuser_agent = "Plumbline/0.1"\n')
    with Engine(load_settings(config), NullProgress()) as opened:
        yield opened


def crawled(store: Store, host: str, *reasons: Reason, at: float = 1000.0) -> None:
    """URLs of a host, visited with these outcomes; one more waits."""
    urls = [f"http://{host}/{n}.html" for n in range(len(reasons) + 1)]
    store.frontier.add_urls([NewUrl(url, host, 0, 0, UrlKind.UNKNOWN, 1.0) for url in urls])
    entries = store.frontier.find_entries(urls)
    visits = [
        Visit(entries[url], Outcome(reason), at + n, None, 0.0)
        for n, (url, reason) in enumerate(zip(urls, reasons, strict=False))
    ]
    store.frontier.record_visits(visits)


def test_sites_are_told_with_their_outcomes_and_delays(engine: Engine) -> None:
    store = engine.store
    crawled(store, "big.test", Reason.FETCHED, Reason.FETCHED, Reason.GONE)
    crawled(store, "small.test:8080", Reason.TIMED_OUT)
    store.frontier.add_urls([NewUrl("https://new.test/", "new.test", 0, 0, UrlKind.SEED, 1.0)])
    patient = b"User-agent: Plumbline\nCrawl-delay: 7\n"
    store.frontier.save_robots(StoredRobots("http://small.test:8080", 200, patient, 0.0))
    big, small, new = StoreReports(engine).sites()
    assert (big.totals.host, big.totals.url_count, big.totals.due_count, big.totals.last_visit_at) == (
        "big.test",
        4,
        1,
        1002.0,
    )
    assert big.totals.outcome_counts == {Reason.FETCHED: 2, Reason.GONE: 1}
    assert (big.delay_seconds, small.delay_seconds, new.delay_seconds) == (1.0, 7.0, 1.0)
    assert (new.totals.last_visit_at, new.totals.outcome_counts, new.totals.example_url) == (
        None,
        {},
        "https://new.test/",
    )
    assert [one.totals.host for one in StoreReports(engine).sites()] == ["big.test", "small.test:8080", "new.test"]
    assert [one.host for one in store.status.site_totals(limit=1)] == ["big.test"]


def test_an_empty_store_is_fresh(engine: Engine) -> None:
    told = StoreReports(engine).overview()
    assert (told.published_version, told.applied_version, told.run_history) == (0, 0, RunHistory((), None, None, None))
    fresh = told.freshness
    assert (fresh.article_count, fresh.indexed_count, fresh.pending_count) == (0, 0, 0)
    assert (fresh.pending_since, fresh.last_fetched_at, fresh.last_indexed_at) == (None, None, None)


def test_runs_are_told_with_what_came_of_them(engine: Engine) -> None:
    store = engine.store
    run = store.runs.start("run")
    counts = {Reason.GONE: 1, Reason.FETCHED: 8, Reason.UNCHANGED: 8}
    stages = StageReport(Stage.CRAWL, counts, 1.0), StageReport(Stage.INDEX)
    store.runs.finish(run, [stage_run_from_report(one) for one in stages])
    store.runs.start("run")
    killed, done = StoreReports(engine).overview().run_history.runs  # nobody holds the lock of a run
    assert (killed.finished_at, killed.state, killed.stages) == (None, RunState.KILLED, ())
    crawl = StageSummary("crawl", (("fetched", 8), ("unchanged", 8), ("gone", 1)), 1.0)
    summaries = (crawl, StageSummary("index", ()))
    assert done == RunSummary(
        done.started_at, done.finished_at, RunState.DONE, summaries, run_id=done.run_id, command="run"
    )
    assert killed.run_id > done.run_id > 0


def test_a_proposed_word_is_a_candidate_until_somebody_decides(engine: Engine) -> None:
    review, table = StoreSiteBackend(engine).review, engine.store.lexicons
    queue = engine.store.review_queue
    review.propose("可燃冰", "anna")
    assert queue.find_page(TermQuery(text="可燃冰"))[0] == 1
    table.replace_candidates([Term("页岩气", 5.0, 3, 2)])
    assert queue.find_page(TermQuery(text="可燃冰"))[0] == 1  # mining the articles does not forget it
    review.decide(["可燃冰"], TermStatus.ACCEPTED, "anna")
    review.propose("可燃冰", "anna")
    assert queue.find_page(TermQuery(TermStatus.ACCEPTED, "可燃冰"))[0] == 1
    for unfit in ("", " ", "\n", "x" * 300):
        with pytest.raises(LexiconError):
            review.propose(unfit, "anna")


def test_a_synonym_is_named_beside_those_there_are_and_by_whom_is_kept(engine: Engine) -> None:
    """Also of a term behind hundreds that hold its text; whoever named it can take it back."""
    review, store = StoreSiteBackend(engine).review, engine.store
    store.lexicons.replace_candidates([Term(f"页岩气{n}", 900.0 - n, 9, 9) for n in range(400)])
    add(store, ["页岩气"], "anna")
    review.add_synonym("页岩气", "shale gas", "anna")
    review.add_synonym("页岩气", " 页岩天然气", "bert")
    assert store.lexicons.accepted_terms()[0].synonyms == ("shale gas", "页岩天然气")
    assert [(act.by, act.kind) for act in review.store.review_history.list_decisions("页岩气", "", 0, 2)[1]] == [
        ("bert", ReviewDecisionKind.SYNONYMS),
        ("anna", ReviewDecisionKind.SYNONYMS),
    ]
    review.store.review_history.undo("bert", None)
    assert store.lexicons.accepted_terms()[0].synonyms == ("shale gas",)
    for text, word in (("没有的词", "a"), ("页岩气", "a\x07")):
        with pytest.raises(LexiconError):
            review.add_synonym(text, word, "anna")


def test_popular_queries_come_from_the_log(engine: Engine) -> None:
    actions = StoreSiteBackend(engine)
    assert actions.popular_queries(5) == []
    now = time.time()
    asked = [LoggedSearch(f"s{n}", "页岩气", 1, 1, searched_at=now - n * 86400) for n in range(3)]
    engine.store.search_log.save(asked, [])
    assert actions.popular_queries(5) == ["页岩气"]


def test_a_running_site_follows_its_settings_file(engine: Engine) -> None:
    file = engine.settings.file
    assert file is not None
    crawled(engine.store, "a.test", Reason.FETCHED)
    start_settings = load_settings(file, {"crawl.depth": "3", "papers.zhou_kun.th1": "0.3"})
    current, administration = start_settings, build_administration(engine, LexiconReview(engine.store))
    topics = administration.topics
    pictures = engine.open_thumbnails(current.current().crawl)
    assert engine.open_thumbnails(current.current().crawl) is pictures
    reader = create_search_app(engine, opens_solr=False).test_client()
    assert ([site.delay_seconds for site in administration.sites()], topics.active_topic()) == ([1.0], "")
    assert not engine.store.review_history.needs_second_reviewer() and not administration.has_alert_channels()
    assert " – 甲</title>" not in reader.get("/help?lang=zh").text
    file.write_text(
        '[crawl]\ndelay = 2.0\ntopic = "oil"\ndepth = 7\n[search]\ntitle = "甲"\n[lexicon]\ntwo_reviewers = true\n'
        '[alerts]\nwebhook = "https://a.test/hook"\n'
    )
    for _ in range(2):  # then with an invalid file
        assert ([site.delay_seconds for site in administration.sites()], topics.active_topic()) == ([2.0], "oil")
        assert (current.current().crawl.depth, current.current().papers.zhou_kun.th1) == (3, 0.3)
        assert engine.open_thumbnails(current.current().crawl) is not pictures
        assert engine.store.review_history.needs_second_reviewer() and administration.has_alert_channels()
        assert " – 甲</title>" in reader.get("/help?lang=zh").text
        file.write_text("[crawl\n")
    file.unlink()
    assert topics.active_topic() == "oil"
