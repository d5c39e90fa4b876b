"""The pages about runs: list, one run, progress, charts and forecast."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from domain.account import Role
from domain.message import Message
from domain.outcome import Reason, Stage
from domain.run import LiveRun, OutcomeSample, RunDetail, RunFigures, RunState, RunSummary, StageSummary
from search_ui.admin.figure_forecast import SECONDS_PER_DAY, days_until_disk_full, figure_charts
from tests.builders import page_at
from tests.search_ui.test_admin import cells, signed_in, text
from tests.site_fixture import MemorySite

GIGABYTE = 10**9
NOTE = Message("Stopped after 1 page", "Stopped after {n} pages", n=2000)


def summary(run_id: int, state: RunState = RunState.DONE) -> RunSummary:
    crawl = StageSummary(
        "crawl", (("fetched", 60), ("gone", 3), ("robots_forbidden", 1)), 300.0, 60.0, ("a note", NOTE)
    )
    extract = StageSummary("extract", (("extracted", 50),), 60.0, 360.0)
    return RunSummary(60.0, 660.0, state, (crawl, extract), run_id=run_id, command="schedule")


def detail(run: RunSummary, **more: object) -> RunDetail:
    samples = [
        OutcomeSample(Stage.CRAWL, Reason.GONE, "https://news.example/a?b=1&c", "", 90.0),
        OutcomeSample(Stage.CRAWL, Reason.FETCHED, "https://news.example/good", "", 90.0),
    ]
    values = {"samples": samples, "log_lines": (), "is_log_cut": False, "previous_id": None, "next_id": None, **more}
    return RunDetail(run, **values)  # type: ignore[arg-type]


def site_of(details: Sequence[RunDetail] = (), live: LiveRun | None = None, **services: object) -> MemorySite:
    """A vertical with runs, the newest first."""

    def list_runs(before_id: int | None, limit: int) -> list[RunSummary]:
        return [item.run for item in details if before_id is None or item.run.run_id < before_id][:limit]

    def run_detail(run_id: int) -> RunDetail | None:
        return next((item for item in details if item.run.run_id == run_id), None)

    given = {"list_runs": list_runs, "run_detail": run_detail, "live_run": lambda: live, **services}
    return MemorySite(**given)  # type: ignore[arg-type]


def test_a_run_page_shows_stages_failures_with_diagnosis_and_neighbours() -> None:
    details = [detail(summary(7), log_lines=("<b>line</b>",), is_log_cut=True, previous_id=6, next_id=8)]
    client, _ = signed_in(site_of(details), Role.REPORTS)
    found = page_at(client, "/admin/runs/7?lang=en")
    [crawl, extract] = cells(found, "#stages")
    assert (crawl[0], crawl[2], crawl[3]) == ("Crawl", "5 minutes", "13")
    assert "not found: 3" in crawl[4] and "a note" in crawl[4] and extract[3] == "50"
    chinese = page_at(client, "/admin/runs/7?lang=zh").select("#stages .stage.muted")
    assert [(note.get("lang"), note.text) for note in chinese] == [
        ("en", "a note"),
        (None, "已抓取 2,000 个网页，停止抓取"),
    ]
    assert text(found, "#figures") == "Requested pages63 New or changed articles50 Failures4"
    assert [a["href"] for a in found.select("#samples a")] == ["/admin/page?url=https://news.example/a?b%3D1%26c"]
    assert text(found, "#log") == "<b>line</b>" and not found.select("#log b")
    assert [a["href"] for a in found.select("nav.pages a")] == ["/admin/runs/6", "/admin/runs", "/admin/runs/8"]
    assert not found.select("#live-run")


def test_a_run_page_says_why_stages_of_a_first_run_are_listed_twice() -> None:
    daily = summary(7)
    first = replace(daily, stages=daily.stages * 2, run_id=6)
    embedded_again = replace(daily, stages=(*daily.stages, *[StageSummary("embed", (), 1.0, 500.0)] * 2), run_id=8)
    client, _ = signed_in(site_of([detail(run) for run in (first, daily, embedded_again)]))
    assert "first pages of each site" in text(page_at(client, "/admin/runs/6?lang=en"), "#stages-twice")
    for run_id in (7, 8):
        assert not page_at(client, f"/admin/runs/{run_id}?lang=en").select("#stages-twice")


@pytest.mark.parametrize("address", ["9", "0", "-1", "x", "1" * 30])
def test_an_unknown_run_is_not_found(address: str) -> None:
    client, _ = signed_in(site_of([detail(summary(7))]))
    assert client.get(f"/admin/runs/{address}").status_code == 404


def test_runs_are_listed_page_by_page() -> None:
    client, _ = signed_in(site_of([detail(summary(n)) for n in range(60, 0, -1)]))
    addresses, address = [], "/admin/runs"
    while address:
        found = page_at(client, address)
        addresses += [a["href"] for a in found.select("#runs a")]
        assert {tuple(row[2:5]) for row in cells(found, "#runs")} == {("63", "50", "4")}
        address = next((str(a["href"]) for a in found.select("a[rel=next]")), "")
    assert addresses == [f"/admin/runs/{n}" for n in range(60, 0, -1)]
    for before in ("1", "9" * 30, "x"):  # no run is older, no number: the newest runs, not "No runs yet."
        assert page_at(client, f"/admin/runs?before={before}").select("#runs a")[0]["href"] == "/admin/runs/60"


def test_the_overview_leads_to_runs_only_those_who_may_read_them() -> None:
    for role, is_link in ((Role.REPORTS, True), (Role.REVIEWER, False)):
        client, _ = signed_in(site_of(live=LiveRun(1)), role)
        found = page_at(client, "/admin/")
        assert bool(found.select("#runs a")) == bool(found.select("#live-run")) == is_link


def test_the_progress_of_the_active_run() -> None:
    live: list[LiveRun | None] = [LiveRun(7, "crawl", 1000.0, 1290.0, 1200, 3000, 42.4, 5, 17)]
    site = site_of([detail(summary(7, state=RunState.RUNNING))], live_run=lambda: live[0])
    client, _ = signed_in(site, clock=lambda: 1300.0)
    for address in ("/admin/", "/admin/runs", "/admin/runs/7", "/admin/runs/live"):
        found = page_at(client, f"{address}?lang=en")
        assert text(found, "#live-count") == "1,200"
        tiles = " ".join(tile.text for tile in found.select("#live-count ~ dd, dl.tiles div"))
        assert all(figure in tiles for figure in ("of 3,000", "42", "Failures17", "5 minutes"))
    live[0] = None
    assert client.get("/admin/runs/live").text.strip() == ""
    assert not page_at(client, "/admin/").select("#live-run, script[src*=progress]")


def test_a_run_without_progress_says_so() -> None:
    live = LiveRun(7, "extract", 1000.0, 1000.0, 3, None)
    client, _ = signed_in(site_of(live=live), clock=lambda: 1600.0)
    assert "已有 10 分钟 没有进展" in page_at(client, "/admin/runs").text


# -- charts and forecast


def figures(days: int, growth: int, total: int = 100 * GIGABYTE) -> list[RunFigures]:
    return [
        RunFigures(n, n * SECONDS_PER_DAY, 20 * GIGABYTE + n * growth, total, 10 * n, 300_000_000) for n in range(days)
    ]


def test_the_day_on_which_the_disk_is_full() -> None:
    rows = figures(15, 2 * GIGABYTE)
    assert days_until_disk_full(rows, rows[-1].recorded_at) == 26  # (100 - 48) / 2
    assert days_until_disk_full(rows, rows[-1].recorded_at + 20 * SECONDS_PER_DAY) == 6


def test_a_size_that_changes_a_little_is_the_same_disk() -> None:
    rows = [replace(row, disk_total_bytes=row.disk_total_bytes + n) for n, row in enumerate(figures(15, 2 * GIGABYTE))]
    assert days_until_disk_full(rows, rows[-1].recorded_at) == 26


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="none"),
        pytest.param(figures(4, GIGABYTE), id="few"),
        pytest.param(figures(20, 0), id="constant"),
        pytest.param(figures(20, -GIGABYTE), id="shrinks"),
        pytest.param(figures(20, GIGABYTE // 100), id="in years"),
        pytest.param([replace(row, recorded_at=row.recorded_at / 24) for row in figures(20, GIGABYTE)], id="one day"),
        pytest.param([*figures(10, GIGABYTE), *figures(20, GIGABYTE, 50 * GIGABYTE)[10:]], id="another disk"),
        pytest.param(
            [replace(row, disk_used_bytes=(n % 2) * 9 * GIGABYTE + n) for n, row in enumerate(figures(20, 0))],
            id="up and down",
        ),
    ],
)
def test_no_forecast_rather_than_a_wrong_one(rows: list[RunFigures]) -> None:
    assert days_until_disk_full(rows, rows[-1].recorded_at if rows else 0.0) is None


def test_only_recorded_figures_have_a_chart() -> None:
    assert [(one.name, one.unit) for one in figure_charts(figures(3, GIGABYTE))] == [
        ("disk", "GB"), ("memory", "MB"), ("queue", "")
    ]  # fmt: skip
    rows = figures(15, 2 * GIGABYTE)
    client, _ = signed_in(site_of([detail(summary(7))], run_figures=lambda: rows), clock=lambda: 14 * SECONDS_PER_DAY)
    found = page_at(client, "/admin/runs?lang=en")
    assert len(found.select("#resources svg")) == 3 and "26 days" in text(found, "#disk-full")
    assert not found.select("#resources rect.part")
    rows.clear()
    assert not page_at(client, "/admin/runs").select("#resources, #disk-full")
