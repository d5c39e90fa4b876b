"""The crawl on crawlbench: the floors that ours must hold, on sites small enough for a test.

`make test` has the days of a small site and the tables. The kills and the manners take a minute, and what they would
find is found by tests/pipeline/test_crash.py and by tests/crawler (test_manners.py, test_robots.py, test_traps.py).
"""

import shutil
from pathlib import Path

import pytest

from benchmarks.crawl_days import one_day
from benchmarks.crawl_kill import kill9_ours
from benchmarks.crawl_manners import manners_figures
from benchmarks.crawl_ours import settings_for
from benchmarks.crawl_site import BenchSite, built
from benchmarks.crawl_tables import bloom_figures, sharding_figures
from benchmarks.results import read_floors
from tests.conftest import SHARED

FLOORS = read_floors("crawl")
SOURCE = SHARED / "tools" / "crawlbench"
DAYS = range(1, 5)
KILLS = 3
PAGES = 1500

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(shutil.which("go") is None, reason="crawlbench is built with Go"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(SOURCE, tmp_path_factory.mktemp("go"))[0]


def days_of(program: Path, folder: Path, hosts: int, pages: int, fresh: str) -> dict[str, float]:
    """The worst of the days after the first, on a site of so many pages of which a share is new each day."""
    with BenchSite(program, "-hosts", str(hosts), "-pages", str(pages), "-fresh", fresh) as site:
        settings = settings_for(site.seeds)
        days = [one_day(site, folder, settings, day) for day in DAYS]
    worst = {f"incremental {name}": min(day[name] for day in days[1:]) for name in days[0]}
    saved = 1 - max(day["requests_share"] for day in days[2:])
    return {**worst, "incremental share of requests saved after day 2": saved}


@pytest.fixture(scope="module")
def incremental(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return days_of(program, tmp_path_factory.mktemp("days"), 6, 480, "0.02")


@pytest.fixture(scope="module")
def few_pages(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return days_of(program, tmp_path_factory.mktemp("few"), 3, 150, "0.03")


@pytest.fixture(scope="module")
def kill9(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    with BenchSite(program, "-hosts", "20", "-pages", str(PAGES)) as site:
        figures = kill9_ours(site, tmp_path_factory.mktemp("killed"), KILLS, PAGES)
        found = {figure.metric: figure.value for figure in figures}
    assert found["kills"] >= 1
    assert found["refetches"] <= found["refetches allowed"]
    return {
        "kill9 share of acknowledged pages kept": 1 - found["lost"] / PAGES,
        "kill9 share of acknowledged pages not fetched again": 1 - found["duplicates"] / PAGES,
        "kill9 share of pages reached in the end": 1 - found["missing"] / PAGES,
    }


@pytest.fixture(scope="module")
def manners(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    with BenchSite(program, "-hosts", "3", "-pages", "60", "-quirks", "-slow", "200ms") as site:
        figures = manners_figures(site, tmp_path_factory.mktemp("manners"), minutes=0.6)
        found = {figure.metric: figure.value for figure in figures}
        hosts = len(site.stats())
    print(found)  # which of them it was, where the floor is not held
    breaches = sum(found[name] for name in ("robots_breaches", "delay_breaches", "connection_breaches", "repeats"))
    assert found["requests in five traps"] <= found["most allowed in five traps"]
    assert found["missing"] == 0
    return {"manners share of hosts without a breach": 1 - breaches / hosts}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FLOORS if name.startswith("incremental")])
def test_few_pages_hold_the_floor(name: str, few_pages: dict[str, float]) -> None:
    assert few_pages[name] >= FLOORS[name]


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", FLOORS)
def test_ours_holds_its_floor(name: str, request: pytest.FixtureRequest) -> None:
    measured = request.getfixturevalue(name.split()[0])
    assert measured[name] >= FLOORS[name]


def test_the_tables_show_what_the_paper_claims() -> None:
    figures = {(f.set, f.system, f.metric): f.value for f in sharding_figures(["http://a.test/1"])}
    assert figures["queues shtml 100", "elf", "queues used"] == 25
    assert figures["queues shtml 100", "hflp", "queues used"] == 100
    assert figures["queues shtml 100", "elf", "max/mean"] > 3 * figures["queues shtml 100", "hflp", "max/mean"]
    for turns in ("0.5", "1", "2"):
        sent = f"dispatched after {turns} x mean turns"
        assert figures["queues shtml 100", "hflp", sent] > figures["queues shtml 100", "elf", sent]
    bloom = {(f.system, f.metric): f.value for f in bloom_figures(20_000)}
    assert bloom["pybloom", "false_positives"] < 0.01
