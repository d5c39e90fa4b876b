"""The reports of the signed-in area, and adding a query to the lexicon."""

from dataclasses import replace

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient

from domain.account import Role
from domain.alert import Alert, AlertKey
from domain.errors import SolrUnavailableError
from domain.message import Message
from domain.outcome import Outcome, Reason, Stage
from domain.run import OutcomeSample, RunHistory, RunState, RunSummary, SiteRun, SiteTotals, StageSummary
from domain.search_log import DayCount, QueryCount, SearchReport, SlowSearch
from domain.term import TermStatus
from pipeline.search_site.administration import StoreReports
from search_ui.admin.run_charts import format_month_day, run_duration_points, run_visit_points, site_visit_points
from search_ui.charts import ChartPoint, bar_chart
from search_ui.i18n import translate_code_to, translate_to
from search_ui.interfaces import EmbeddingBacklog, SiteReport
from search_ui.settings import SearchSettings
from tests.builders import fetched, new_url, page_at
from tests.conftest import SHARED
from tests.search_ui.test_hostile import assert_harmless, rows, skeleton
from tests.site_fixture import ONE_GOOD_RUN, FakeSearch, MemorySite, document, sign_in, site_app, term

REPORT = SearchReport(
    by_day=(DayCount("2024-10-03", 8, 2), DayCount("2024-10-04", 4, 4)),
    search_count=12, searches_without_hits=6, partial_searches=2, searches_with_click=3, median_ms=20, p95_ms=480,
    top_queries=(QueryCount("页岩气", 7, 42, 3, False), QueryCount("[…]的电话", 5, 0, 0, True)),
    top_queries_without_hits=(QueryCount("页言气", 4, 0, 0, False), QueryCount("[…]的电话", 5, 0, 0, True)),
    top_partial_queries=(QueryCount("site:x 油田", 2, 0, 1, False),),
    slowest_searches=(SlowSearch("压裂", 480, 60.0),), dropped_count=9,
)  # fmt: skip


def reports(report: SearchReport = REPORT, **more: object) -> MemorySite:
    site = MemorySite(**more)  # type: ignore[arg-type]
    site.asked_days = []  # type: ignore[attr-defined]
    site.store.search_log.report = lambda days, _: site.asked_days.append(days) or report  # type: ignore
    return site


def signed_in(actions: MemorySite, role: Role = Role.OPERATOR, **more: object) -> tuple[FlaskClient, str]:
    client = site_app(site=actions, roles={"someone": role}, **more).test_client()  # type: ignore[arg-type]
    return client, sign_in(client, "someone")


def cells(found: BeautifulSoup, selector: str) -> list[list[str]]:
    return [
        [" ".join(cell.text.split()) for cell in row.select("th, td")] for row in found.select(f"{selector} tbody tr")
    ]


def text(found: BeautifulSoup, selector: str) -> str:
    place = found.select_one(selector)
    assert isinstance(place, Tag), selector
    return " ".join(place.text.split())


# -- overview


def test_the_overview_tells_how_far_the_index_is_behind() -> None:
    client, _ = signed_in(
        MemorySite(), search=FakeSearch([document(n, "a", "b") for n in range(3)]), clock=lambda: 7200.0
    )
    found = page_at(client, "/admin/")
    assert (text(found, "#documents"), text(found, "#waiting"), text(found, "#version")) == ("3", "1", "第 0 版")
    assert "最早的已等待 2 小时" in text(found, ".tiles")
    [[started, took, outcome]] = cells(found, "#runs")
    assert (took, outcome) == ("1 分钟", "抓取 新增或变更：7") and len(started) == len("2016-05-09 12:00")


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("zh", "待生成语义向量 1,200 约需 5 分钟 另有 14 篇文章的语种（de, fr）没有可用模型"),
        ("en", "To embed for semantic search 1,200 about 5 minutes no model for 14 articles (de, fr)"),
    ],
)
def test_the_overview_tells_what_is_left_to_embed(language: str, shown: str) -> None:
    actions = MemorySite()
    client, _ = signed_in(actions)
    assert not page_at(client, f"/admin/?lang={language}").select("#without-vector")
    actions.embedding = EmbeddingBacklog(1200, 301.0, {"de": 12, "fr": 2})
    tile = page_at(client, f"/admin/?lang={language}").select_one("#without-vector")
    assert tile is not None and tile.parent is not None and " ".join(tile.parent.stripped_strings) == shown


def test_a_solr_that_does_not_answer_is_said_where_one_looks_for_the_reason() -> None:
    search = FakeSearch(error=SolrUnavailableError("gone"))
    found = page_at(signed_in(MemorySite(), search=search)[0], "/admin/")
    assert "搜索不可用" in text(found, "#no-solr") and text(found, "#documents") == "–"


def overview_of(runs: RunHistory) -> BeautifulSoup:
    search = FakeSearch([document(n, "a", "b") for n in range(3)])
    return page_at(signed_in(MemorySite(runs=runs), search=search)[0], "/admin/?lang=en")


def test_a_run_that_goes_on_one_that_was_killed_and_one_that_failed_are_three_things() -> None:
    going = RunSummary(300.0, None, RunState.RUNNING, (StageSummary("crawl", ()),), "crawl")
    killed = RunSummary(
        200.0, None, RunState.KILLED, (StageSummary("crawl", ()), StageSummary("extract", ())), "extract"
    )
    failed = RunSummary(100.0, 160.0, RunState.FAILED, (StageSummary("index", ()),), "index", "no <Solr> answers")
    found = overview_of(RunHistory((going, killed, failed, *ONE_GOOD_RUN.runs), 0.0, 100.0, 86400.0))
    assert [row[1] for row in cells(found, "#runs")] == [
        "Running in the “Crawl” stage",
        "Killed in the “Extract” stage",
        "Failed in the “Index” stage · 1 minute",
        "1 minute",
    ]
    assert cells(found, "#runs")[2][2].startswith("no <Solr> answers")
    alarm = text(found, "#failing")
    assert "Runs have been failing since 1970-01-01" in alarm
    assert "The last run was killed in the “Extract” stage." in alarm and "Last successful run: 1970-01-01" in alarm
    assert text(found, "#next-run").startswith("1970-01-02")


def test_a_stage_without_counted_outcomes_has_not_done_nothing() -> None:
    stages = (StageSummary("extract", ()), StageSummary("lexicon", (), 2.5))
    found = overview_of(RunHistory((RunSummary(0.0, 60.0, RunState.DONE, stages),), 0.0, None, None))
    assert [stage.get_text(" ", strip=True) for stage in found.select("#runs .stage")] == ["Mine terms done"]
    found = overview_of(RunHistory((RunSummary(0.0, 60.0, RunState.DONE, stages[:1]),), 0.0, None, None))
    assert cells(found, "#runs")[0][2] == "nothing to do"


def test_good_runs_raise_no_alarm_and_a_missing_scheduler_is_said() -> None:
    found = overview_of(ONE_GOOD_RUN)
    assert not found.select("#failing")
    assert "neither “plumb up” nor “plumb schedule” is running" in text(found, ".tiles")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_pages_of_dask_are_linked_where_there_are_some(language: str) -> None:
    url = "https://dask.example.org/status?a=1&b=2"
    actions = MemorySite(dashboard_url=lambda: url)
    found = page_at(signed_in(actions)[0], f"/admin/?lang={language}")
    [link] = found.select("#dashboard a")
    assert (link["href"], link["rel"]) == (url, ["noopener", "noreferrer", "nofollow"])
    assert text(found, "#dashboard").startswith(translate_to(language, "Dask dashboard"))
    assert not page_at(signed_in(MemorySite())[0], "/admin/").select("#dashboard")


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.REPORTS])
def test_the_pages_of_dask_are_for_operators(role: Role) -> None:
    actions = MemorySite(dashboard_url=lambda: "https://dask.example.org/status")
    assert not page_at(signed_in(actions, role)[0], "/admin/").select("#dashboard")


# -- searches


def test_the_searches_are_counted() -> None:
    client, _ = signed_in(reports())
    found = page_at(client, "/admin/searches")
    assert (text(found, "#count"), text(found, "#nothing-found"), text(found, "#clicked")) == ("12", "50%", "25%")
    assert cells(found, "#top-queries") == [["页岩气", "7", "42", "43%"], ["[…]的电话", "5", "0", "0%"]]
    assert cells(found, "#slow")[0][:2] == ["压裂", "480 毫秒"]
    assert "9 次搜索因数据库繁忙未记入日志" in found.text
    assert text(found, "#partial-found") == "17%"
    assert [link["href"] for link in found.select("#top-queries a")] == ["/search?q=%E9%A1%B5%E5%B2%A9%E6%B0%94"]
    assert [link["href"] for link in found.select("#only-partial a")] == ["/search?q=site:x+%E6%B2%B9%E7%94%B0"]
    assert cells(found, "#only-partial")[0][:2] == ["site:x 油田", "2"]
    some_without = reports(replace(REPORT, top_queries_without_hits=()))
    assert text(page_at(signed_in(some_without)[0], "/admin/searches"), "p.nothing").startswith("每个搜索词都")


@pytest.mark.parametrize(
    ("asked", "days"), [("", 30), ("?days=7", 7), ("?days=90", 90), ("?days=9999", 30), ("?days=x", 30)]
)
def test_the_period_can_be_chosen(asked: str, days: int) -> None:
    actions = reports()
    client, _ = signed_in(actions)
    found = page_at(client, f"/admin/searches{asked}")
    assert actions.asked_days == [days]
    assert text(found, ".review-head [aria-current]") == f"{days} 天"


def test_the_chart_has_a_name_a_description_and_a_table() -> None:
    found = page_at(signed_in(reports())[0], "/admin/searches")
    chart = found.select_one("figure.chart svg")
    assert chart is not None and chart["role"] == "img"
    assert all(text(found, f"#{place}") for place in str(chart["aria-labelledby"]).split())
    assert cells(found, "figure.chart") == [["10-04", "4", "4"], ["10-03", "8", "2"]]
    assert len(chart.select("rect.whole")) == len(chart.select("rect.part")) == 2


def test_a_switched_off_log_is_said() -> None:
    found = page_at(signed_in(reports(), settings=SearchSettings(log_days=0))[0], "/admin/searches")
    assert "search.log_days" in text(found, "#no-log")


def test_what_was_not_found_becomes_a_candidate_in_one_step() -> None:
    actions = reports()
    client, _ = signed_in(actions, Role.REVIEWER)
    found = page_at(client, "/admin/searches")
    forms = found.select('#without form[action="/admin/searches/candidate"]')
    assert len(forms) == 1  # not of what was masked
    sent = {str(one["name"]): str(one["value"]) for one in forms[0].select("input")}
    done = client.post("/admin/searches/candidate", data=sent)
    assert done.location == "/admin/lexicon?status=all&text=%E9%A1%B5%E8%A8%80%E6%B0%94"
    shown = page_at(client, done.location)
    assert "已将“页言气”列为候选词" in shown.text and text(shown, ".term h2 bdi") == "页言气"


def test_only_the_words_of_a_query_are_proposed() -> None:
    actions = reports()
    client, token = signed_in(actions)
    client.post("/admin/searches/candidate", data={"token": token, "query": "“量子井” site:news.example -新闻"})
    assert [one.text for one in actions.all_terms] == ["量子井"]


def test_what_was_not_found_becomes_a_synonym_in_one_step() -> None:
    known = replace(term("页岩气"), status=TermStatus.ACCEPTED, synonyms=("岩气",))
    actions = reports(terms=[known, replace(term("页岩气井"), status=TermStatus.ACCEPTED)])
    client, token = signed_in(actions, Role.REVIEWER)
    found = page_at(client, "/admin/searches")
    assert [option["value"] for option in found.select("#accepted option")] == ["页岩气", "页岩气井"]
    sent = {"token": token, "query": "页言气", "term": "页岩气"}
    told = client.post("/admin/searches/synonym", data=sent, follow_redirects=True).text
    assert "已将“页言气”设为“页岩气”的同义词" in told
    assert actions.all_terms[0].synonyms == ("岩气", "页言气")
    refused = client.post("/admin/searches/synonym", data={**sent, "term": "nowhere"}, follow_redirects=True).text
    assert "没有此术语：nowhere" in refused


def test_a_synonym_is_added_to_those_of_a_term_that_hundreds_hold_and_can_be_taken_back() -> None:
    """The action is recorded under the reviewer's name, so undo reverts only this action."""
    others = [replace(term(f"页岩气{n}", score=900.0 - n), status=TermStatus.ACCEPTED) for n in range(400)]
    known = replace(term("页岩气", score=1.0), status=TermStatus.ACCEPTED, synonyms=("岩气",))
    actions = reports(terms=[known, *others])
    client, token = signed_in(actions, Role.REVIEWER)
    client.post("/admin/searches/synonym", data={"token": token, "query": "页言气", "term": "页岩气"})
    assert actions.all_terms[0].synonyms == ("岩气", "页言气")
    client.post("/admin/lexicon/undo", data={"token": token})
    assert actions.all_terms[0].synonyms == ("岩气",)


def test_what_the_lexicon_refuses_is_said() -> None:
    client, token = signed_in(reports())
    told = client.post("/admin/searches/candidate", data={"token": token, "query": " "}, follow_redirects=True).text
    assert "没有术语" in told


def test_readers_of_reports_are_shown_no_forms() -> None:
    found = page_at(signed_in(reports(), Role.REPORTS)[0], "/admin/searches")
    assert found.select("#without form") == [] and cells(found, "#without")[0][:2] == ["页言气", "4"]


# -- sites


def test_each_site_tells_its_troubles() -> None:
    settings = SearchSettings(site_names={"news.example": "新闻"})
    found = page_at(signed_in(reports(), settings=settings)[0], "/admin/sites")
    [[site, articles, urls, due, last, changed, newest, left, delay, troubles]] = cells(found, "#site-health")
    assert (site, articles, urls, due, delay) == ("新闻news.example", "3", "7", "0", "2.5 秒")
    assert (changed, left, len(newest)) == ("4 / 7", "2", len("2016-05-09"))
    assert troubles == "网页不存在 2 超时 1" and len(last) == len("2016-05-09 12:00")
    assert found.select_one("#site-health a")["href"] == "/admin/sites/news.example"  # type: ignore[index]


def test_a_site_has_a_page_with_its_runs_and_samples_of_each_trouble_that_are_links() -> None:
    samples = [
        OutcomeSample(Stage.CRAWL, Reason.FETCHED, "https://news.example/fine.html", "", 60.0),
        OutcomeSample(Stage.CRAWL, Reason.GONE, "https://news.example/a.html", "404", 60.0),
        OutcomeSample(Stage.EXTRACT, Reason.NO_BODY, "https://news.example/b.html", "<b>nothing</b>", 60.0),
    ]
    for stage, reason in ((Stage.EMBED, Reason.EMBEDDED), (Stage.INDEX, Reason.INDEXED), (Stage.INDEX, Reason.DELETED)):
        samples.insert(0, OutcomeSample(stage, reason, "https://news.example/fine.html", "", 60.0))
    client, _ = signed_in(reports(samples=samples))
    found = page_at(client, "/admin/sites/news.example?lang=en")
    assert [link["href"] for link in found.select("#samples a")] == [one.url for one in samples[4:]]
    assert "Crawl: not found 2" in text(found, "#samples") and "Extract: no article found" in text(found, "#samples")
    assert not found.select("#samples b > b") and "<b>nothing</b>" in text(found, "#samples")
    [[_, crawl, extract]] = cells(found, "#site-runs")
    assert (crawl, extract) == (
        "new or changed 4 not found 2 timed out 1",
        "article extracted 3 no article found 1",
    )
    assert [
        bar.point
        for bar in bar_chart(
            site_visit_points([SiteRun(1, 60.0, {"fetched": 4, "gone": 2, "robots_forbidden": 5})])
        ).bars
    ] == [ChartPoint(format_month_day(60.0), 6, 2)]
    assert client.get("/admin/sites/nowhere.example").status_code == 404
    assert client.get("/admin/sites/..%2F..%2Fx").status_code == 404


@pytest.mark.parametrize(("url_count", "due_count", "is_noted"), [(10, 0, True), (10, 3, False), (2561, 0, False)])
def test_a_site_of_which_hardly_any_url_is_known_is_noted(url_count: int, due_count: int, is_noted: bool) -> None:
    totals = SiteTotals("a.test", "http://a.test/", url_count, due_count, 10, 60.0, {})
    site = MemorySite(sites=lambda: [SiteReport(totals, 1.0)])
    problems = page_at(signed_in(site)[0], "/admin/sites?lang=en").select_one("#site-health td:last-child")
    assert problems is not None and ("Only 10 URLs are known" in problems.get_text()) is is_noted


def test_the_overview_names_what_one_may_do_next() -> None:
    site = MemorySite([term(f"词{number}", status=TermStatus.CANDIDATE) for number in range(68)])
    site.administration = replace(site.administration, overview=StoreReports(site.engine).overview)
    outcomes = [
        Outcome(Reason.NEEDS_LOGIN, "401"),
        Outcome(Reason.NEEDS_LOGIN),
        Outcome(Reason.BLOCKED, "the site challenges the crawler"),
        Outcome(Reason.HTTP_ERROR, "404"),
    ]
    outcomes += [Outcome(Reason.HTTP_ERROR, "404")] * 20 + [Outcome(Reason.NEEDS_LOGIN)]
    for number, outcome in enumerate(outcomes):
        host = "a.test" if number < 4 else "public.test"
        url = f"http://{host}/{number}"
        site.store.frontier.add_urls([new_url(url, host=host)])
        entry = site.store.frontier.find_entries([url])[url]
        site.store.frontier.record_visits([fetched(entry, page=None, outcome=outcome)])
    tasks = page_at(signed_in(site)[0], "/admin/?lang=en").select("#tasks li")
    assert [task.get_text() for task in tasks] == [
        "68 candidate terms wait for a decision: 10 minutes",
        "a.test: 2 pages need a login",
    ]
    assert tasks[1].select("a")[0]["href"] == "/admin/sites/a.test/login"
    assert not page_at(signed_in(MemorySite())[0], "/admin/").select("#tasks")


# -- runs as charts, alerts


def test_runs_are_charts_and_a_bad_one_is_seen_in_them() -> None:
    good = RunSummary(86_400.0, 86_400.0 + 600, RunState.DONE, (StageSummary("crawl", (("fetched", 2), ("gone", 1))),))
    bad = RunSummary(0.0, None, RunState.KILLED, (StageSummary("crawl", (), 120.0),), "crawl")
    assert run_duration_points([good, bad]) == (
        60,
        [ChartPoint(format_month_day(0.0), 2, 2), ChartPoint(format_month_day(86_400.0), 10, 0)],
    )
    short = replace(good, finished_at=86_402.0)
    assert run_duration_points([short]) == (1, [ChartPoint(format_month_day(86_400.0), 2, 0)])
    failed = replace(short, finished_at=86_400.0, state=RunState.FAILED)
    assert run_duration_points([failed]) == (1, [ChartPoint(format_month_day(86_400.0), 1, 1)]), "it is seen"
    assert run_visit_points([good, bad]) == [
        ChartPoint(format_month_day(0.0), 0, 0),
        ChartPoint(format_month_day(86_400.0), 3, 2),
    ]
    found = overview_of(RunHistory((good, bad), 86_400.0, None, None))
    assert len(found.select("figure.chart svg")) == 2
    assert cells(found, "figure.chart:nth-of-type(1)") == [
        [format_month_day(86_400.0), "10", "0"],
        [format_month_day(0.0), "2", "2"],
    ]


def test_a_single_run_is_no_chart() -> None:
    found = overview_of(ONE_GOOD_RUN)
    assert found.select("#runs") and not found.select("figure")


def test_sentences_of_runs_pages_and_alerts_are_in_the_language_of_the_reader() -> None:
    error = Message("The store is locked by another program: close that program, then run again")
    detail = Message("1 character of text", "{n} characters of text", n=9)
    failed = RunSummary(0.0, 60.0, RunState.FAILED, (), "crawl", error)
    firing = [Alert(AlertKey("run_failed"), {"time": "now", "stage": "crawl", "error": error}, 60.0)]
    samples = [OutcomeSample(Stage.EXTRACT, Reason.NO_BODY, "https://news.example/b.html", detail, 60.0)]
    runs = RunHistory((failed,), None, 0.0, None)
    client, _ = signed_in(reports(samples=samples, runs=runs, alerts=firing))
    overview = page_at(client, "/admin/?lang=zh")
    for place in ("#failing", "#runs", "#alerts"):
        assert "数据库被其他程序锁定" in text(overview, place) and "locked" not in text(overview, place)
    assert "正文只有 9 个字" in text(page_at(client, "/admin/sites/news.example"), "#samples")


def test_a_run_that_goes_on_tells_when_it_should_be_done() -> None:
    going = RunSummary(300.0, None, RunState.RUNNING, (StageSummary("crawl", ()),), "crawl")
    assert "expected to finish by 1970-01-0" in text(
        overview_of(RunHistory((going,), None, None, None, 900.0)), "#runs"
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_needs_the_operator_is_said_on_the_first_page(language: str) -> None:
    firing = [
        Alert(AlertKey("certificate", "news.example"), {"host": "news.example", "n": 3, "run": 7}, 60.0),
        Alert(AlertKey("run_failed"), {"time": "now", "stage": "crawl", "error": "<script>alert(1)</script>"}, 60.0),
    ]
    found = page_at(signed_in(reports(alerts=firing))[0], f"/admin/?lang={language}")
    told = text(found, "#alerts")
    assert translate_code_to(language, "alert", "certificate", host="news.example") in told
    assert translate_code_to(language, "stage", "crawl") in told and "<script>alert(1)</script>" in told
    assert [link["href"] for link in found.select("#alerts a")] == ["/admin/sites/news.example"]
    assert not found.select("#alerts script")
    assert not page_at(signed_in(reports())[0], "/admin/").select("#alerts")


# -- hostile text


@pytest.mark.shared
def test_queries_make_no_markup() -> None:
    assert SHARED.is_dir()
    texts = [*rows("xss")[::8], *rows("strings"), *rows("queries")[::4]]
    for start in range(0, len(texts), 100):
        pages = []
        for some in (texts[start : start + 100], ["harmless"] * len(texts[start : start + 100])):
            counts = tuple(QueryCount(one, 1, 0, 0, False) for one in some)
            slow = tuple(SlowSearch(one, 1, 60.0) for one in some)
            report = replace(
                REPORT,
                top_queries=counts,
                top_queries_without_hits=counts,
                top_partial_queries=counts,
                slowest_searches=slow,
            )
            pages.append(signed_in(reports(report))[0].get("/admin/searches").text)
        assert skeleton(pages[0]) == skeleton(pages[1])
        assert_harmless(pages[0])
