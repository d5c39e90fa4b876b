"""Speed of every stage beside its peers: `make bench-speed [DATA=DIR] [ARGS='--parts crawl,extract --short']`.

The parts are the sets of the figures; docs/background/benchmarks.md explains the metrics. Systems that are compared run
in turns, and ratios are only of one run. CPU seconds are those of a process and its children. The parts of `VERTICAL`
share one store of generated articles (benchmarks.speed_vertical); those that are not chosen are left out, so `disk`
without `lexicon_stage` has no counts of the term mining.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.command import benchmark, data_option, names
from benchmarks.extract_pages import GoldSet, load_scorer, load_sets, run_system, write_jobs
from benchmarks.extract_scores import POOLED
from benchmarks.extract_systems import SYSTEMS as EXTRACTORS
from benchmarks.results import OURS, Figure, publish, sample
from benchmarks.speed_crawl import crawl_figures
from benchmarks.speed_vertical import DISK, INDEX, LEXICON, SEARCH, SERVE, vertical_figures
from benchmarks.terms import run_system as run_miner
from benchmarks.terms_corpus import write_corpus
from benchmarks.terms_sets import read_sets
from benchmarks.terms_systems import SHIPPED
from benchmarks.terms_systems import SYSTEMS as MINERS
from domain.errors import PlumblineError

CRAWL, EXTRACT, MINE = "crawl", "extract", "mine"
VERTICAL = (LEXICON, INDEX, SEARCH, SERVE, DISK)
PARTS = (EXTRACT, MINE, CRAWL, *VERTICAL)  # first what needs DATA
TRAFILATURA = "trafilatura"
EXTRACTION_PEERS = (TRAFILATURA, "readability-lxml", "resiliparse")
MINING_PEERS = ("jieba_tfidf",)
ARTICLES, SHORT_ARTICLES = 17_420, 1_500


@dataclass(frozen=True)
class Size:
    """How much is measured; the short form has no peers but those of the ratios."""

    rounds: int = 3
    crawled: int = 4_000  # pages per crawl
    pages: int = 0  # of each set of extraction; 0: all
    megabytes: float = 10.0  # of text to mine
    queries: int = 60  # of each kind
    is_short: bool = False


SHORT = Size(2, 1_500, 40, 2.0, 20, is_short=True)


@benchmark("speed", parts="extract,mine", is_short=True)
@data_option()
@click.option("--parts", default=",".join(PARTS), callback=names, help="Only these parts, comma-separated.")
@click.option("--articles", default=0, type=click.IntRange(0), help=f"Articles of the store [{ARTICLES:,}].")
@click.option("--short", "is_short", is_flag=True, help="A form of about ten minutes.")
def main(data: Path, parts: list[str], articles: int, is_short: bool) -> None:
    """Measure the speed of the chosen parts."""
    if unknown := set(parts) - {*PARTS}:
        raise PlumblineError(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    size = SHORT if is_short else Size()
    figures: list[Figure] = []
    try:
        for part in parts:
            if part in MEASURE:
                figures += shown(MEASURE[part](data, size))
        if chosen := [part for part in VERTICAL if part in parts]:
            count = articles or (SHORT_ARTICLES if is_short else ARTICLES)
            figures += shown(vertical_figures(chosen, count, size.queries))
    finally:
        publish("speed", figures)  # also the figures of an interrupted run


def shown(figures: Iterator[Figure]) -> Iterator[Figure]:
    """Print each figure when it is measured."""
    for figure in figures:
        click.echo(f"{figure.set} {figure.system} {figure.metric} {figure.value:.3f}", err=True)
        yield figure


def crawl(data: Path, size: Size) -> Iterator[Figure]:
    """Yield the figures of the crawlers."""
    return crawl_figures(data, size.rounds, size.crawled, size.is_short)


def extract(data: Path, size: Size) -> Iterator[Figure]:
    """Yield pages per CPU second of each extractor, best of the rounds, and our ratios to trafilatura by language."""
    sets = [
        GoldSet(one.name, sample(one.pages, size.pages or len(one.pages), lambda page: str(page["id"])), one.read)
        for one in load_sets(data, load_scorer(data))
    ]
    if not sets:
        raise PlumblineError(f"no pages in {data}: give DATA=DIR, a folder of the form of ../shared/data")
    systems = (OURS, *EXTRACTION_PEERS[: 1 if size.is_short else None])
    seconds: dict[str, list[Mapping[str, float]]] = {name: [] for name in systems}
    with tempfile.TemporaryDirectory() as folder:
        jobs = write_jobs(sets, Path(folder))
        for _ in range(min(size.rounds, 2)):
            for name in systems:
                seconds[name].append(run_system(EXTRACTORS[name], jobs, lambda: None).seconds)
    best = {name: {one.name: min(run[one.name] for run in seconds[name]) for one in sets} for name in systems}
    for name in systems:
        yield Figure(EXTRACT, name, "pages_per_cpu_s", sum(len(one.pages) for one in sets) / sum(best[name].values()))
    for pool, members in POOLED.items():
        ours, theirs = (sum(best[name].get(one, 0.0) for one in members) for name in (OURS, TRAFILATURA))
        if ours:
            yield Figure(EXTRACT, OURS, f"ratio_{TRAFILATURA}_{pool.partition('-')[0]}", theirs / ours)


def mine(data: Path, size: Size) -> Iterator[Figure]:
    """Yield thousands of characters per CPU second, and peak memory, on a generated Chinese corpus."""
    texts = [text for one in read_sets(data) if one.language == "zh" for text in one.texts]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        characters = write_corpus(texts, size.megabytes, path)
        for name in (SHIPPED, *MINING_PEERS):
            if answer := run_miner(MINERS[name], "zh", path, None):
                system = OURS if name == SHIPPED else name
                yield Figure(MINE, system, "kchar_per_s", characters / answer["seconds"] / 1000)
                yield Figure(MINE, system, "peak_mb", answer["peak_mb"])


MEASURE: Mapping[str, Callable[[Path, Size], Iterator[Figure]]] = {CRAWL: crawl, EXTRACT: extract, MINE: mine}

if __name__ == "__main__":
    main()
