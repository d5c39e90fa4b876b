"""The crawl on crawlbench: the floors that ours must hold, on sites small enough for a test.

`make test` has the days of a small site. The manners take a minute, and what they would find is found by tests/crawler
(test_manners.py, test_robots.py, test_traps.py).
"""

import shutil
from pathlib import Path

import pytest

from benchmarks.crawl_days import one_day
from benchmarks.crawl_manners import manners_figures
from benchmarks.crawl_ours import settings_for
from benchmarks.crawl_site import BenchSite, built
from benchmarks.results import read_floors
from tests.conftest import SHARED

FLOORS = read_floors("crawl")
SOURCE = SHARED / "tools" / "crawlbench"
DAYS = range(1, 5)

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
