"""Which step stops a page, and why: decisions on recorded facts. `test_stages.py` has pages of a real crawl."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from docstore.reports.url_report import UrlReport
from domain.administration import Takedown
from domain.errors import PlumblineError, SolrUnavailableError
from domain.index_change import IndexResult
from domain.operation import Change
from domain.outcome import Outcome, Reason, Stage
from domain.page_diagnosis import PageCause, PageCheckName, PageCheckState, PageRemedy
from pipeline.cli.page import explain_url
from pipeline.engine import Engine
from pipeline.explain.diagnosis_service import StorePageDiagnosis
from pipeline.explain.page_diagnosis import LinkingPage, PageFacts, diagnose_page
from pipeline.explain.url_report_text import iter_sentences
from pipeline.operations import declare_operations
from pipeline.progress import NullProgress
from pipeline.settings import load_settings
from pipeline.site_admin.sites import StoreSites
from tests.builders import save_article
from tests.site_fixture import FakeSearch

URL, OTHER_URL = "http://news.test/a.html", "http://news.test/b.html"


def remedy(engine: Engine, name: PageRemedy, url: str) -> Change | None:
    """Do for a page what an operator does with one click."""
    return engine.store.operations.run(declare_operations(engine)[f"page_{name}"], "anna", {"url": url})


def facts(reason: Reason | None = None, detail: str = "", due_at: float | None = 0.0, **more: Any) -> PageFacts:
    """Return the facts of a known URL whose last visit ended with `reason`; None: it was not visited."""
    row = SimpleNamespace(found_at=50.0, due_at=due_at, depth=1)
    visit = SimpleNamespace(stage=Stage.CRAWL, reason=reason, detail=detail, at=60.0)
    outcomes = (visit,) if reason else ()
    report = UrlReport(row, None, outcomes, None, (), (), None, None, (), (), ())
    return PageFacts(URL, "news.test", None, True, report, **{"max_depth": 3, **more})


def unknown(**more: Any) -> PageFacts:
    return replace(facts(), report=None, **more)


CASES = [
    (unknown(), PageCause.NO_LINK, PageRemedy.ADD_URL),
    (unknown(linking_page=LinkingPage(OTHER_URL, 1, False)), PageCause.NOFOLLOW, PageRemedy.ADD_URL),
    (unknown(linking_page=LinkingPage(OTHER_URL, 3, True)), PageCause.TOO_DEEP, PageRemedy.ADD_URL),
    (unknown(linking_page=LinkingPage(OTHER_URL, 1, True)), PageCause.LINK_NOT_FOLLOWED, PageRemedy.ADD_URL),
    (unknown(rejection=Reason.OUT_OF_SCOPE), PageCause.OTHER_PATH, PageRemedy.ADD_SITE),
    (unknown(rejection=Reason.OUT_OF_SCOPE, is_host_allowed=False), PageCause.OTHER_HOST, PageRemedy.ADD_SITE),
    (unknown(is_paused=True), PageCause.SITE_PAUSED, PageRemedy.RESUME_SITE),
    (facts(is_paused=True), PageCause.SITE_PAUSED, PageRemedy.RESUME_SITE),
    (facts(), PageCause.NOT_VISITED, None),
    (facts(due_count=9, host_visited_at=60.0), PageCause.BACKLOG, None),
    (facts(due_count=9, host_visited_at=40.0), PageCause.NOT_VISITED, None),
    (facts(Reason.CRAWLER_TRAP), PageCause.CRAWLER_TRAP, PageRemedy.ADD_URL),
    (facts(Reason.NOINDEX), PageCause.NOINDEX, None),
    (facts(Reason.FETCHED, due_at=None), PageCause.EXPIRED, None),
    (facts(Reason.FETCHED), PageCause.DELETED, PageRemedy.CRAWL_AGAIN),
    (facts(Reason.OFF_TOPIC), PageCause.OFF_TOPIC, None),
    (facts(Reason.REDIRECTED_TO_KNOWN_URL, OTHER_URL), PageCause.REDIRECTED, None),
    (facts(Reason.SAME_CONTENT, OTHER_URL), PageCause.SAME_CONTENT, None),
    (facts(Reason.TIMED_OUT), PageCause.TIMED_OUT, PageRemedy.CRAWL_AGAIN),
    (facts(Reason.NEEDS_LOGIN, "401"), PageCause.NEEDS_LOGIN, PageRemedy.CRAWL_AGAIN),
    (facts(Reason.HTTP_ERROR, "403"), PageCause.HTTP_ERROR, PageRemedy.CRAWL_AGAIN),
    (facts(takedown=Takedown(URL, 1, "anna", "court", 70.0)), PageCause.TAKEN_DOWN, None),
]


@pytest.mark.parametrize(("known", "cause", "remedy"), CASES, ids=[f"{n}-{case[1]}" for n, case in enumerate(CASES)])
def test_one_step_stops_the_page(known: PageFacts, cause: PageCause, remedy: PageRemedy | None) -> None:
    diagnosis = diagnose_page(known)
    assert [check.name for check in diagnosis.checks] == list(PageCheckName)
    [stop] = [check for check in diagnosis.checks if check.is_stop]
    assert (stop.cause, stop.remedies) == (cause, (remedy,) if remedy else ())
    position = list(diagnosis.checks).index(stop)
    assert all(check.state is PageCheckState.NOT_REACHED for check in diagnosis.checks[position + 1 :])
    if cause in (PageCause.REDIRECTED, PageCause.SAME_CONTENT, PageCause.NOFOLLOW, PageCause.TOO_DEEP):
        assert stop.related_url == OTHER_URL


def test_remedies_change_the_settings_file_and_the_frontier(tmp_path: Path) -> None:
    config = tmp_path / "vertical.toml"
    config.write_text('[crawl]\ncontact = "me@news.test"\n[[sites]]\nurls = ["http://news.test/"]  # ours\n')
    url = "http://elsewhere.test/x.html"
    with Engine(load_settings(config), NullProgress()) as engine:
        diagnoser = StorePageDiagnosis(engine)

        def cause() -> PageCause | None:
            diagnosis = diagnoser.diagnose_page(url, FakeSearch(error=SolrUnavailableError("unreachable")))
            return diagnosis.stop.cause if diagnosis and diagnosis.stop else None

        assert cause() is PageCause.OTHER_HOST
        with pytest.raises(PlumblineError):
            remedy(engine, PageRemedy.ADD_URL, url)
        StoreSites(engine).add("http://elsewhere.test/", "anna")
        remedy(engine, PageRemedy.ADD_URL, url)
        assert cause() is PageCause.NOT_VISITED
        assert "# ours" in config.read_text() and "elsewhere.test" in config.read_text()
        StoreSites(engine).pause("elsewhere.test", "anna")
        assert cause() is PageCause.SITE_PAUSED
        StoreSites(engine).resume("elsewhere.test", "anna")
        assert cause() is PageCause.NOT_VISITED
        recorded = [item.name for item in engine.store.operations.find(account="anna")]
        assert recorded == ["site_resume", "site_pause", "page_add_url", "site_add"]


def test_without_solr_everything_else_is_explained(tmp_path: Path) -> None:
    config = tmp_path / "vertical.toml"
    config.write_text('[index]\nsolr_url = "http://127.0.0.1:9/solr"\n[[sites]]\nurls = ["http://a.test/"]\n')
    with Engine(load_settings(config), NullProgress()) as engine:
        save_article(engine.store, 1, "正文。" * 40)
        batch = engine.store.change_log.pending(9)
        indexed = [IndexResult(change.url_id, Outcome(Reason.INDEXED)) for change in batch]
        engine.store.change_log.acknowledge(batch, indexed)
        url = "http://a.test/1"
        diagnosis = StorePageDiagnosis(engine).diagnose_page(url, FakeSearch(error=SolrUnavailableError("unreachable")))
        assert diagnosis and diagnosis.stop and diagnosis.stop.cause is PageCause.INDEX_NOT_CHECKED
        said = list(iter_sentences(explain_url(engine, url)))
        assert any(line.startswith("The index was not checked: ") for line in said) and len(said) > 3
