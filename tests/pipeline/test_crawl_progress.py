"""How far a crawl is, and how many nights it still takes: as people read it."""

import io
import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

import pipeline.crawl_stage.crawl_progress
from crawler.progress import CrawlProgress
from crawler.schedule.forecast import HostPaces, forecast_host, max_runs
from crawler.settings import CrawlSettings
from domain.frontier import HostBacklog, NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from pipeline import stages
from pipeline.cli.main import cli
from pipeline.crawl_stage.crawl_progress import format_progress, line_reporter
from pipeline.engine import Engine
from pipeline.progress import JsonLineProgress, NullProgress, TerminalProgress
from pipeline.settings import Settings, build_settings, load_settings
from tests.crawler.test_crawl_loop import run
from tests.crawler_fakes import settings
from tests.web_fixture import Site, page


def progress(done: int, seconds: float, left: int, takes: float = 0.0) -> CrawlProgress:
    return CrawlProgress({Reason.FETCHED: done}, 0, 1, seconds, {}, left, 2, takes)


@pytest.mark.parametrize(
    ("now", "want"),
    [
        (progress(160, 60.0, 1000), "160 done, 1.0 pages/s, 2 hosts at work, 1000 left, about 17 min"),
        (progress(160, 60.0, 1000, takes=36000.0), "160 done, 1.0 pages/s, 2 hosts at work, 1000 left, about 10.0 h"),
        (progress(160, 60.0, 0), "160 done, 1.0 pages/s, 2 hosts at work, 0 left"),
        (progress(100, 60.0, 9), "100 done, 0.0 pages/s, 2 hosts at work, 9 left"),
    ],
)
def test_how_far(now: CrawlProgress, want: str) -> None:
    assert format_progress(now, progress(100, 0.0, 0)) == want


def test_lines_come_now_and_then() -> None:
    said: list[str] = []
    tell = line_reporter(said.append, interval_seconds=60.0)
    for second in range(0, 200, 10):
        tell(progress(second, float(second), 5))
    assert [line.split()[1] for line in said] == ["60", "120", "180"]
    assert all("1.0 pages/s" in line for line in said)


def test_the_display_knows_what_is_left_in_all() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=160)
    with TerminalProgress(console).crawl_task() as tell:
        tell(progress(16199, 100.0, 3801))
        console.print("x")
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    assert "16199 done, 162.0 pages/s, 2 hosts at work, 3801 left" in drawn and "/?" not in drawn
    plain = io.StringIO()
    with TerminalProgress(Console(file=plain)).crawl_task() as tell:
        tell(progress(1, 10.0, 5))
        tell(progress(600, 61.0, 5))
    assert plain.getvalue() == "crawl: 600 done, 9.8 pages/s, 2 hosts at work, 5 left, about 0 min\n"


def test_a_long_task_tells_how_far_it_is_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.progress.LINE_INTERVAL_SECONDS", 0.0)
    plain, lines = io.StringIO(), io.StringIO()
    for display in (TerminalProgress(Console(file=plain)), JsonLineProgress(lines)):
        with display.task("extract", 17_420) as advance:
            advance(200)
            advance(25)
        with display.task("import") as advance:
            advance(7)
    told = ["extract: 200 of 17420", "extract: 225 of 17420", "import: 7"]
    assert plain.getvalue().splitlines() == told
    assert [json.loads(line)["event"] for line in lines.getvalue().splitlines()] == told


def test_a_run_tells_what_is_left_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits in the table counts, whatever of it is in memory."""
    monkeypatch.setattr("crawler.progress._REPORT_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr("crawler.schedule.frontier.WINDOW_SIZE", 2)
    told: list[CrawlProgress] = []
    paths = [f"/{n}" for n in range(40)]
    pages = {"/": page(*paths), **{path: page(text=path) for path in paths}}
    with Site(pages) as site, Engine(engine_settings(tmp_path, site), NullProgress()) as engine:
        made = settings(site.url(), max_pages=21, queues=1, sitemaps=False, per_host=1, threads=1)
        run(engine.store, made, tmp_path, progress=told.append)
        assert told[-1].visits == 21 and told[-1].backlog == 20
        assert (told[-1].hosts[site.host].due_urls, told[-1].active_hosts) == (20, 1)
        assert told[-1].slowest_host == site.host
        run(engine.store, made, tmp_path, progress=told.append)
    assert told[-1].backlog == 0


def engine_settings(folder: Path, site: Site) -> Settings:
    (folder / "v.toml").write_text(f"[crawl]\nseeds = ['{site.url()}']\ninside_hosts = ['{site.host}']\n")
    return load_settings(folder / "v.toml")


CRAWL = CrawlSettings(delay=1.0, minutes=60.0)


@pytest.mark.parametrize(
    ("backlog", "pace", "want"),
    [
        (HostBacklog("h", 20_000, 20_000, 1, 0), None, (2400, 9, 9)),
        (HostBacklog("h", 20_000, 20_000, 1, 0), 0.3, (12_000, 2, 2)),
        (HostBacklog("h", 20_000, 3000, 600, 9000), 2.0, (1800, 3, 10)),
        (HostBacklog("h", 20_000, 0, 1, 900), 1.0, (3600, 0, 1)),
        (HostBacklog("h", 20_000, 0, 1, 0), 1.0, (3600, 0, 0)),
        (HostBacklog("h", 20_000, 5, 3600, 0), 1.0, (3600, None, None)),
    ],
    ids=["unknown pace", "fast", "new ones first", "due", "nothing", "lists alone take it all"],
)
def test_nights_are_foretold(
    backlog: HostBacklog, pace: float | None, want: tuple[int, int | None, int | None]
) -> None:
    found = forecast_host(backlog, HostPaces({"h": pace} if pace else {}), CRAWL)
    assert (found.pages_per_run, found.runs_for_new, found.runs_for_all) == want


def test_the_longest_of_several_hosts() -> None:
    assert (max_runs([1, 3, 2]), max_runs([1, None]), max_runs([])) == (3, None, 0)


def test_status_foretells_the_nights(tmp_path: Path) -> None:
    """Two hosts with pages waiting; the pace of one is known from a crawl."""
    with Site({"/": page()}) as site:
        made = engine_settings(tmp_path, site)
        with Engine(made, NullProgress()) as engine:
            urls = [
                NewUrl(f"http://large.test/{n}", "large.test", n % 7, 1, UrlKind.UNKNOWN, -1.0) for n in range(30_000)
            ]
            engine.store.frontier.add_urls(urls)
            old = engine.store.frontier.find_entries([urls[0].url])[urls[0].url]
            at = time.time() - 9e6
            engine.store.frontier.record_visits([Visit(old, Outcome(Reason.FETCHED), at, at + 9.0, 9.0)])
        runner = CliRunner()
        told = runner.invoke(cli, ["-c", str(tmp_path / "v.toml"), "status"]).output
        assert "30000 URLs known; 29999 new, 1 due for a revisit" in told
        assert "large.test: 29999 new, 1 due, 0 list pages, 9600 pages per run: about 4 more runs for new URLs" in told
        HostPaces({"large.test": 0.5}).save(tmp_path / "data" / "paces-1.json")
        as_json = json.loads(runner.invoke(cli, ["-c", str(tmp_path / "v.toml"), "status", "--json"]).stdout)
        assert as_json["crawl"]["runs_for_new"] == 2
        assert as_json["crawl"]["hosts"][0]["pages_a_run"] == 28_800


def test_a_crawl_without_a_terminal_says_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline.crawl_stage.crawl_progress.line_reporter, "__defaults__", (0.0,))
    with Site({"/": page("/a"), "/a": page()}) as site:
        engine_settings(tmp_path, site)
        done = CliRunner().invoke(cli, ["-c", str(tmp_path / "v.toml"), "-s", "crawl.delay=0", "crawl"])
    assert done.exit_code == 0, done.output
    assert "crawl: " in done.output and " pages/s, " in done.output and " left" in done.output


def test_new_only_on_an_existing_store_asks_for_no_fetched_article_again(tmp_path: Path) -> None:
    with Site({"/": page("/1"), "/1": page(text="<p>one</p>"), "/2": page()}) as site:
        crawl = {
            "seeds": [site.url()],
            "inside_hosts": [site.host],
            "delay": 0.001,
            "revisit_shortest": 0.0,
            "sitemaps": False,
        }
        for incremental, asked in (("revisit", ["/", "/1"]), ("new_only", ["/", "/2"]), ("revisit", ["/", "/1", "/2"])):
            settings = build_settings({"crawl": {**crawl, "incremental": incremental}}, tmp_path)
            with Engine(settings, NullProgress()) as engine:
                stages.crawl(engine)
            assert sorted(site.asked()) == asked
            site.pages["/"] = page("/1", "/2")
            site.requests.clear()
