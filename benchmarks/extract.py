"""Benchmark of the extractor: `make bench-extract [DATA=DIR]`. Figures: `docs/background/benchmarks.md`.

load_sets      load the gold sets of DIR (default: ../shared/data)
run_system     run each system over all pages, in a separate process
score          score body, title and date with ../shared/tools; memory
list_figures   only for our extractor

The same figures go to benchmarks/out/extract.jsonl, one per row. `make bench-speed` measures the speed.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from benchmarks.command import benchmark, data_option, names
from benchmarks.extract_lists import KnownPage, crawlbench_pages, demo_pages, gold_articles, list_figures
from benchmarks.extract_pages import GoldSet, Run, load_scorer, load_sets, run_system, write_jobs
from benchmarks.extract_scores import QUALITY, score
from benchmarks.extract_systems import ABLATION, OURS, SYSTEMS
from benchmarks.results import SHARED, Figure, check_floors, check_systems, publish, sample, values_by_name
from domain.article import Article
from domain.errors import PlumblineError
from extractor import extract


@benchmark("extract", systems=",".join(ABLATION), set_names="zh-news,zh-short", pages=6)
@data_option()
@click.option("--systems", default="", callback=names, help="Only these systems, comma-separated.")
@click.option("--sets", "set_names", default="", callback=names, help="Only these sets, comma-separated.")
@click.option("--pages", default=0, type=click.IntRange(0), help="Maximum number of pages per set; 0: all.")
def main(data: Path, systems: list[str], set_names: list[str], pages: int) -> None:
    """Measure the extractor and its peers."""
    chosen = systems or list(SYSTEMS)
    figures, complaints = measure(data, chosen, set_names, pages)
    publish("extract", figures)
    for line in complaints:
        click.echo(line)
    check_systems(figures, chosen, QUALITY)
    if data == SHARED and not pages:
        check_floors("extraction", values_by_name(figures))


def measure(
    data: Path, systems: Sequence[str], set_names: Sequence[str], pages: int = 0
) -> tuple[list[Figure], list[str]]:
    """Return all figures, and a line for each system that raised. Raises PlumblineError if an input is missing."""
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise PlumblineError(f"no system {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    scorer = load_scorer(data)
    sets = [sample_of(gold, pages) for gold in load_sets(data, scorer, set_names)]
    if not sets:
        raise PlumblineError(f"no pages in {data}: give DATA=DIR, a folder of the form of ../shared/data")
    with tempfile.TemporaryDirectory() as folder:
        jobs = write_jobs(sets, Path(folder))
        runs = run_systems(systems, jobs, sum(len(found.pages) for found in sets))
        figures = [figure for name in systems for figure in score(sets, runs[name], scorer)]
        if OURS in systems:
            figures += list_figures(verdicts(sets, runs[OURS], pages))
    return figures, [complaint(runs[name]) for name in systems if runs[name].errors]


def run_systems(systems: Sequence[str], jobs: Path, pages: int) -> dict[str, Run]:
    """Run every system, one at a time."""
    runs: dict[str, Run] = {}
    with Progress(disable=not Console().is_terminal) as progress:
        bar = progress.add_task("", total=len(systems) * pages)
        for name in systems:
            progress.update(bar, description=name)
            runs[name] = run_system(SYSTEMS[name], jobs, lambda: progress.advance(bar))
    return runs


def sample_of(gold: GoldSet, pages: int) -> GoldSet:
    """Return at most `pages` pages of a set; 0: all."""
    return replace(gold, pages=sample(gold.pages, pages, lambda page: str(page["id"]))) if pages else gold


def verdicts(sets: Sequence[GoldSet], run: Run, pages: int = 0) -> Iterator[tuple[KnownPage, bool]]:
    """Yield pages of known type, each with whether our extractor classifies it as an article.

    The answers for the gold pages are in `run`. `pages` limits the pages of the demo, and excludes the crawl test site.
    """
    yield from gold_articles(sets, run)
    demo = list(demo_pages())
    others = sample(demo, pages, lambda page: page.url) if pages else [*demo, *crawlbench_pages()]
    for page in others:
        yield page, isinstance(extract(page.content, page.url, page.content_type), Article)


def complaint(run: Run) -> str:
    """Describe how often a system raised, with its first message."""
    return f"{run.system.name} raised on {len(run.errors)} pages, which count as empty; first: {run.errors[0]}"


if __name__ == "__main__":
    main()
