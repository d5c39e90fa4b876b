"""The search benchmark: the floors that ours must hold on the development queries, and the benchmark itself."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import search as bench
from benchmarks.results import Figure, output_to, read_floors
from benchmarks.sample_floors import search_figures
from benchmarks.search_compare import compare_figures
from benchmarks.search_data import Collection, load_collections, load_scorer, sample
from benchmarks.search_systems import OURS, WORDS
from benchmarks.search_typos import typo_figures
from indexer.embedded_solr import EmbeddedSolr
from tests.conftest import SHARED

FLOORS = read_floors("search")
SAMPLE_FLOORS = read_floors("search sample")
DATA = SHARED / "data"
LARGE = 5_000  # documents
MAX_FALSE_OFFERS = 0.01
SMALLEST = "en_cran"  # 1,400 documents: to make vectors of all collections takes the better part of an hour
TEXTS = ("世界石油大会在北京召开，页岩气是主题。", "钻井液由膨润土和水组成。", "The wells' pumps failed.", "油价上涨。")


@pytest.fixture(scope="module")
def measured(solr_node: EmbeddedSolr) -> dict[str, float]:
    """Our figures on the development queries, of a large collection on a sample: `set metric` -> value, and
    `set with meaning metric`.

    Other documents than those judged are fewer there, so the figures are higher than those of `make bench-search`.
    """
    scorer = load_scorer(DATA)
    collections = load_collections(DATA, scorer)
    taken = [sample(one, 12, 6) if len(one.documents) > LARGE else one for one in collections]
    figures = [figure for one in taken for figure in bench.run(solr_node.url, one, WORDS, scorer)]
    figures += [f for one in collections if one.name == SMALLEST for f in bench.run(solr_node.url, one, OURS, scorer)]
    figures += compare_figures(solr_node.url, collections, bench.COMPARE)
    figures += typo_figures(solr_node.url, collections)
    return {named(figure): figure.value for figure in figures}


def named(figure: Figure) -> str:
    """A figure as the floors call it; with meaning the smallest collection alone is measured here."""
    has_meaning = (figure.set, figure.system) == (SMALLEST, OURS)
    return f"{figure.set} with meaning {figure.metric}" if has_meaning else f"{figure.set} {figure.metric}"


@pytest.fixture(scope="module")
def measured_sample(solr_node: EmbeddedSolr) -> dict[str, float]:
    """Our figures by words on a small sample of each collection."""
    return search_figures(solr_node.url, DATA)


@pytest.mark.shared
@pytest.mark.solr
@pytest.mark.parametrize("name", SAMPLE_FLOORS)
def test_sample_is_above_its_floor(name: str, measured_sample: dict[str, float]) -> None:
    assert measured_sample[name] >= SAMPLE_FLOORS[name]


@pytest.mark.shared
@pytest.mark.solr
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FLOORS)
def test_ours_holds_its_floor(name: str, measured: dict[str, float]) -> None:
    assert measured[name] >= FLOORS[name]


@pytest.mark.shared
@pytest.mark.solr
@pytest.mark.slow
@pytest.mark.exhaustive
def test_correct_queries_are_seldom_corrected(measured: dict[str, float]) -> None:
    assert measured["typos false_offers"] <= MAX_FALSE_OFFERS


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with one collection of four documents and two splits of queries; the scorer stands beside it."""
    folder = tmp_path / "data" / "ir" / "tiny"
    folder.mkdir(parents=True)
    with gzip.open(folder / "docs.jsonl.gz", "wt", encoding="utf-8") as file:
        for n, text in enumerate(TEXTS):
            file.write(json.dumps({"id": f"d{n}", "title": "", "text": text}) + "\n")
    (folder / "queries.dev.tsv").write_text("1q\t世界石油大会在哪里召开\n2q\t没有答案\n", "utf-8")
    (folder / "queries.test.tsv").write_text("3k\tpump failure: wells AND (pumps\n", "utf-8")
    (folder / "qrels.dev.txt").write_text("1q 0 d0 1\n1q 0 d3 0\n2q 0 d3 0\n")
    (folder / "qrels.test.txt").write_text("3k 0 d2 2\n")
    return tmp_path / "data"


@pytest.fixture
def tiny(data: Path) -> Collection:
    return load_collections(data, load_scorer(data))[0]


@pytest.mark.shared
@pytest.mark.solr
def test_ours_finds_and_is_scored(tiny: Collection, solr_node: EmbeddedSolr, data: Path) -> None:
    figures = {f.metric: f.value for f in bench.run(solr_node.url, tiny, OURS, load_scorer(data))}
    assert (figures["ndcg10"], figures["mrr10"], figures["r100"]) == (1.0, 1.0, 1.0)


@pytest.fixture(autouse=True)
def no_output_left_behind(tmp_path: Path) -> Iterator[None]:
    """The benchmark's own results stay as they are."""
    with output_to(tmp_path):
        yield
