"""The extraction benchmark: the floors that ours must hold on the development pages, and the benchmark itself."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import extract as bench
from benchmarks.extract_lists import KnownPage, list_figures
from benchmarks.extract_pages import Run, load_scorer, load_sets, read_run, run_system, write_jobs
from benchmarks.extract_scores import score
from benchmarks.extract_systems import OURS, SYSTEMS, Answer, Extract, System
from benchmarks.extract_worker import run_jobs
from benchmarks.results import output_to, read_floors, values_by_name
from tests.conftest import SHARED

FLOORS = read_floors("extraction")
NEEDS_GO = "crawlbench"
SENTENCE = (
    "The harbour was opened again on Monday, the port authority said in a statement, after three weeks of storms. "
)
SATZ = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高。"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Our figures on the development pages, measured once, here: `set metric` -> value."""
    data = SHARED / "data"
    scorer = load_scorer(data)
    sets = load_sets(data, scorer)
    jobs = json.loads(write_jobs(sets, tmp_path_factory.mktemp("pages")).read_text())
    run = read_run(SYSTEMS[OURS], run_jobs(SYSTEMS[OURS], jobs, lambda _: None))
    assert not run.errors
    return values_by_name([*score(sets, run, scorer), *list_figures(bench.verdicts(sets, run))])


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FLOORS)
def test_ours_holds_its_floor(name: str, measured: dict[str, float]) -> None:
    if name.startswith(NEEDS_GO) and shutil.which("go") is None:
        pytest.skip("the crawl test site is built with Go, which is not here")
    assert measured[name] >= FLOORS[name]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with one set of two pages, one English and one Chinese."""
    folder = tmp_path / "data" / "extraction" / "tiny"
    (folder / "html").mkdir(parents=True)
    pages = [
        gold_page("one", "en", "Harbour opened again", SENTENCE * 3, "2024-05-01"),
        gold_page("two", "zh", "大庆油田产量创新高", SATZ * 3, "2016-05-09"),
    ]
    (folder / "gold.json").write_text(json.dumps({"dataset": "tiny", "pages": pages}))
    for page in pages:
        text = f"<html><head><title>{page['title']}</title></head><body><h1>{page['title']}</h1><p>{page['date']}</p>"
        (folder / "html" / f"{page['id']}.html").write_text(f"{text}<p>{page['body']}</p></body></html>", "utf-8")
    return tmp_path / "data"


def gold_page(name: str, language: str, title: str, body: str, date: str) -> dict[str, str]:
    url = f"http://news.test/{name}.html"
    return {"id": name, "url": url, "lang": language, "title": title, "body": body, "date": date, "encoding": "utf-8"}


def breaks_on_chinese() -> Extract:
    """A peer that gives the gold answer for the English page and raises on any other."""

    def run(html: str, url: str, language: str) -> Answer:
        if language != "en":
            raise ValueError("no such language")
        return Answer(SENTENCE * 3, "Harbour opened again")

    return run


STAND_IN = System("stand-in", breaks_on_chinese, ("body", "title"))


def run_here(system: System, jobs: Path, step: Callable[[], object]) -> Run:
    return read_run(system, run_jobs(system, json.loads(jobs.read_text()), lambda _: step()))


@pytest.mark.shared  # for the scorer
def test_tables_rows_and_a_peer_that_raises(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYSTEMS, STAND_IN.name, STAND_IN)
    monkeypatch.setattr(bench, "run_system", run_here)
    limits = ["--pages", "2"]
    with output_to(tmp_path / "out"):
        said = CliRunner().invoke(bench.main, ["--data", str(data), "--systems", "plumbline,stand-in", *limits])
    assert said.exit_code == 0, said.output
    assert "peak_mb" in said.output and "stand-in" in said.output
    assert "stand-in raised on 1 pages, which count as empty; first: ValueError: no such language" in said.output
    rows = [json.loads(line) for line in (tmp_path / "out" / "extract.jsonl").read_text().splitlines()]
    value = {(row["set"], row["system"], row["metric"]): row["value"] for row in rows}
    assert all(value["tiny", "plumbline", metric] == 1 for metric in ("p", "r", "f1", "title", "date"))
    # One page of two is answered: precision counts it alone, recall and title count both.
    assert (value["tiny", "stand-in", "p"], value["tiny", "stand-in", "r"]) == (1, 0.5)
    assert value["tiny", "stand-in", "title"] == 0.5
    assert ("tiny", "stand-in", "date") not in value, "a field that a system never gives has no figure"
    assert value["all", "stand-in", "errors"] == 1


@pytest.mark.shared
def test_a_system_runs_in_a_process_of_its_own(data: Path, tmp_path: Path) -> None:
    jobs = write_jobs(load_sets(data, load_scorer(data)), tmp_path)
    steps: list[None] = []
    run = run_system(SYSTEMS[OURS], jobs, lambda: steps.append(None))
    assert [page["title"] for page in run.pages] == ["Harbour opened again", "大庆油田产量创新高"]
    assert len(steps) == 2 and run.errors == []
    assert run.peak_mb["tiny"] >= run.start_mb > 1 and run.seconds["tiny"] > 0


def test_pooled_list_figures_count_pages() -> None:
    pages = [
        KnownPage("some", "http://a.test/1", b"article", "", False),
        KnownPage("some", "http://a.test/2", b"list", "", True),
        KnownPage("other", "http://b.test/1", b"article", "", True),
    ]

    verdicts = [(page, page.content == b"article") for page in pages]
    figures = {(figure.set, figure.metric): figure.value for figure in list_figures(verdicts)}
    assert figures["some", "list_accuracy"] == 1
    assert figures["other", "list_accuracy"] == 0
    assert figures["list-or-article", "list_accuracy"] == pytest.approx(2 / 3)
    assert figures["list-or-article", "articles_kept"] == 1
    assert figures["list-or-article", "lists_refused"] == 0.5
