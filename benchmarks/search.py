"""Benchmark of search: `make bench-search [DATA=DIR]`. Figures: `docs/background/benchmarks.md`.

load_collections   load the collections of DIR/ir (default: ../shared/data), with queries and judgments
run                each system over all queries of each collection
answer_figures     related articles, and answers that are shown or not
compare_figures    the comparison search of Wang Du 2019: complete terms, base against domain lexicon
partial_figures    search while documents wait for their vectors
typo_figures       spelling corrections

The same figures go to benchmarks/out/search.jsonl, one per row. `make bench-speed` measures the speed.
"""

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import click

from benchmarks.command import benchmark, data_option, names
from benchmarks.results import Figure, check_systems, publish
from benchmarks.search_answers import ANSWERS, ANSWERS_EN, RELATED, answer_figures
from benchmarks.search_compare import accepted, compare_figures, mined
from benchmarks.search_data import Collection, load_collections, load_scorer, sample
from benchmarks.search_meaning import WithMeaning
from benchmarks.search_partial import PARTIAL, partial_figures
from benchmarks.search_systems import OURS, PEER_SYSTEMS, WORDS, Maker, System, ours, running_solr
from benchmarks.search_typos import TYPOS, TYPOS_PRESENT, typo_figures
from domain.errors import PlumblineError
from domain.term import Lexicon

WITH_LEXICON = f"{OURS}+lexicon"
ALL_SYSTEMS = (OURS, WORDS, WITH_LEXICON, *PEER_SYSTEMS)
COMPARE = "compare"
METRICS = {"ndcg10": 0, "mrr10": 1, "r100": 2}  # name -> place in what score_ir.py gives of a query
MINED = 5_000  # documents of a collection whose terms make its lexicon
MAX_TERMS = 20_000  # of a mined lexicon; an administrator accepts far fewer


@benchmark("search", set_names="en_cran", every=20)
@data_option()
@click.option("--systems", default="", callback=names, help="Only these systems, comma-separated.")
@click.option("--sets", "set_names", default="", callback=names, help="Only these sets, comma-separated.")
@click.option("--every", default=1, type=click.IntRange(1), help="Use every n-th query and every n-th other document.")
def main(data: Path, systems: list[str], set_names: list[str], every: int) -> None:
    """Measure search and its peers."""
    figures: list[Figure] = []
    try:
        for figure in measure(data, systems, set_names, every):
            click.echo(f"{figure.set} {figure.system} {figure.metric} {figure.value:.4f}", err=True)
            figures.append(figure)
    finally:
        publish("search", figures)  # also the figures of an interrupted run
    if any(figure.metric in METRICS for figure in figures):
        check_systems(figures, systems or ALL_SYSTEMS, METRICS)


def measure(data: Path, systems: Sequence[str], set_names: Sequence[str], every: int = 1) -> Iterator[Figure]:
    """Return all figures. Raises PlumblineError if an input is missing."""
    chosen = systems or ALL_SYSTEMS
    if unknown := set(chosen).difference(ALL_SYSTEMS):
        raise PlumblineError(f"no system {', '.join(sorted(unknown))}")
    scorer = load_scorer(data)
    collections = [sample(one, every, every) for one in load_collections(data, scorer, set_names)]
    if not collections and not set_names:
        raise PlumblineError(f"no collections in {data}: give DATA=DIR, a folder of the form of ../shared/data")
    with tempfile.TemporaryDirectory() as folder, running_solr(Path(folder)) as url:
        for collection in collections:
            for name in chosen:
                yield from run(url, collection, name, scorer)
        if not set_names or COMPARE in set_names:
            yield from compare_figures(url, load_collections(data, scorer), COMPARE)
        if told := [name for name in (RELATED, ANSWERS, ANSWERS_EN) if not set_names or name in set_names]:
            yield from answer_figures(url, data, load_collections(data, scorer), told)
        if not set_names or PARTIAL in set_names:
            yield from partial_figures(url, load_collections(data, scorer))
        if not set_names or {TYPOS, TYPOS_PRESENT} & set(set_names):
            yield from typo_figures(url, load_collections(data, scorer))


def run(url: str, collection: Collection, name: str, scorer: ModuleType) -> Iterator[Figure]:
    """Run one system on one collection: index, query, score, delete."""
    system = maker(name, collection)(url, f"{collection.name}_{name.replace('+', '_').replace('-', '_')}")
    try:
        system.load(collection.documents)
        yield from asked(system, collection, name, scorer)
    finally:
        system.drop()


def maker(name: str, collection: Collection) -> Maker:
    """Return the factory of the system of this name for a collection."""
    if name in PEER_SYSTEMS:
        return PEER_SYSTEMS[name]
    if name == OURS:
        return lambda url, called: WithMeaning(url, called, Lexicon())
    if name == WORDS:
        return ours(Lexicon())
    return ours(accepted(mined(collection.documents[:MINED])[:MAX_TERMS]))


def asked(system: System, collection: Collection, name: str, scorer: ModuleType) -> Iterator[Figure]:
    """Return the quality over all judged queries."""
    rankings = {query: list(dict.fromkeys(system.search(text))) for query, text in collection.queries}
    scores = scorer.score(rankings, collection.judgments).values()
    for metric, place in METRICS.items():
        yield Figure(collection.name, name, metric, statistics.fmean(score[place] for score in scores))


if __name__ == "__main__":
    main()
