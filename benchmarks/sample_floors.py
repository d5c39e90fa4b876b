"""Quality floors on small samples, for a test of seconds: `python -m benchmarks.sample_floors [--only extraction]`.

The samples are fixed: the pages, files and texts whose names have the smallest checksums. `make bench-extract` and the
other commands measure complete sets. This command measures the samples of ../shared/data with the current code. It
writes the values, less a margin, to the parts `extraction sample` and so on of floors.json.
"""

import json
import math
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from benchmarks import documents, extract, search
from benchmarks.command import benchmark, data_option
from benchmarks.extract_lists import list_figures
from benchmarks.extract_pages import load_scorer, load_sets, read_run, write_jobs
from benchmarks.extract_scores import score
from benchmarks.extract_systems import OURS, SYSTEMS
from benchmarks.extract_worker import run_jobs
from benchmarks.glossary_concepts import concept_figures
from benchmarks.glossary_definitions import definition_figures
from benchmarks.glossary_relations import relation_figures
from benchmarks.results import FLOORS, Figure, read_floors, values_by_name
from benchmarks.search_data import load_collections
from benchmarks.search_data import load_scorer as load_search_scorer
from benchmarks.search_data import sample as sample_collection
from benchmarks.search_systems import WORDS, running_solr
from benchmarks.terms_models import count_in_memory, counted_corpus, select_from_table
from benchmarks.terms_sets import load_scorer as load_term_scorer
from benchmarks.terms_sets import read_sets
from benchmarks.terms_sets import score as score_terms
from domain.errors import PlumblineError
from lexicon.model.term_model import iter_spellings, load_shipped_models, rank_rows

PAGES_PER_SET = 24
FILES = 60
QUERIES_PER_COLLECTION, DOCUMENTS_PER_COLLECTION = 40, 200
CHARACTERS_PER_SET = 60_000
RELATION_STEP, CONCEPTS = 5, 60
MARGIN = 0.02
"""Of a mean of scores."""
SHARE_MARGIN = 0.065
"""Of a share of right pages: it falls below its floor when two more pages of a set are wrong, not one."""
SHARES = frozenset(("title", "date", "author", "told_apart", "p1", "silence", "broader_right"))


def measure_extraction(data: Path) -> dict[str, float]:
    """Measure a sample of each page set: `set metric` -> value."""
    scorer = load_scorer(data)
    sets = [extract.sample_of(gold, PAGES_PER_SET) for gold in load_sets(data, scorer)]
    if not sets:
        raise PlumblineError(f"no pages in {data}: give DATA=DIR, a folder of the form of ../shared/data")
    with tempfile.TemporaryDirectory() as folder:
        jobs = json.loads(write_jobs(sets, Path(folder)).read_text())
        run = read_run(SYSTEMS[OURS], run_jobs(SYSTEMS[OURS], jobs, lambda _: None))
    if run.errors:
        raise PlumblineError(extract.complaint(run))
    figures = [*score(sets, run, scorer), *list_figures(extract.verdicts(sets, run, PAGES_PER_SET))]
    return values_by_name(figures)


def measure_documents(data: Path) -> dict[str, float]:
    """Measure a sample of the document files."""
    figures, _ = documents.measure(data, [OURS], FILES)
    return values_by_name(figures)


def measure_terms(data: Path) -> dict[str, float]:
    """Measure the first texts of each term set that has a floor."""
    scorer, values = load_term_scorer(data), dict[str, float]()
    wanted = {name.split()[0] for name in read_floors("terms")}
    for one in read_sets(data):
        if one.name not in wanted:
            continue
        texts, size = list[str](), 0
        for text in one.texts:
            if size < CHARACTERS_PER_SET:
                texts.append(text)
                size += len(text)
        table = count_in_memory(texts, load_shipped_models())
        rows, _ = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()))
        scores = score_terms(one, list(iter_spellings(counted_corpus(table), rows)), scorer)
        values |= {f"{one.name} avp": scores["AvP"], f"{one.name} p100": scores["P@100"]}
    return values


def measure_search(data: Path) -> dict[str, float]:
    """Measure keyword search on a sample of each collection, in a separate Solr."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, running_solr(Path(folder)) as url:
        return search_figures(url, data)


def search_figures(url: str, data: Path) -> dict[str, float]:
    """Measure keyword search on a sample of the queries and documents of each collection."""
    scorer = load_search_scorer(data)
    figures: list[Figure] = []
    for collection in load_collections(data, scorer):
        every = max(1, len(collection.queries) // QUERIES_PER_COLLECTION)
        small = sample_collection(collection, every, max(1, len(collection.documents) // DOCUMENTS_PER_COLLECTION))
        figures += search.run(url, small, WORDS, scorer)
    return {f"{figure.set} {figure.metric}": figure.value for figure in figures}


def measure_glossary(data: Path) -> dict[str, float]:
    """Measure definitions on all labelled terms, relations in a sample of the texts, and an export of concepts."""
    figures = [*definition_figures(data, 1), *relation_figures(data, RELATION_STEP), *concept_figures(CONCEPTS)]
    return values_by_name(figures)


PARTS: Mapping[str, Callable[[Path], dict[str, float]]] = {
    "extraction": measure_extraction,
    "documents": measure_documents,
    "terms": measure_terms,
    "search": measure_search,
    "glossary": measure_glossary,
}


def floors_of(part: str, values: Mapping[str, float]) -> dict[str, float]:
    """Return a floor for each value that has a floor on its complete set."""
    return {name: floor(name, values[name]) for name in read_floors(part) if name in values}


def floor(name: str, value: float) -> float:
    """Return a value less its margin, rounded down to three decimals."""
    group, metric = name.rsplit(" ", 1)
    if metric == "round_trip":  # one lost concept is an error
        return value
    is_small_share = metric in SHARES and not group.endswith("-pooled")
    return max(0.0, math.floor(1000 * (value - (SHARE_MARGIN if is_small_share else MARGIN))) / 1000)


@benchmark("sample_floors")
@data_option()
@click.option("--only", "parts", multiple=True, type=click.Choice(list(PARTS)), help="Only these [all].")
def main(data: Path, parts: tuple[str, ...]) -> None:
    """Measure the samples and write their floors."""
    floors = json.loads(FLOORS.read_text())
    for part in parts or PARTS:
        floors[f"{part} sample"] = floors_of(part, PARTS[part](data))
    FLOORS.write_text(json.dumps(floors, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
