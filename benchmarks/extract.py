"""Benchmark of the extractor: `make bench-extract [DATA=DIR]`. Figures: `docs/background/benchmarks.md`.

load_sets    load the gold sets of DIR (default: ../shared/data) run_system   run each system over all pages, one after
another, in separate processes, for `--rounds` rounds score        score body, title and date with ../shared/tools;
speed and memory list_figures, two_process_gain      only for our extractor tables       print tables; the same figures
go to benchmarks/out/extract.jsonl, one per row
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, TaskID

from benchmarks.command import benchmark, data_option, names
from benchmarks.extract_lists import KnownPage, crawlbench_pages, demo_pages, gold_articles, list_figures
from benchmarks.extract_pages import GoldSet, Run, load_scorer, load_sets, run_system, write_jobs
from benchmarks.extract_pool import two_process_gain
from benchmarks.extract_scores import ALL, GAIN, QUALITY, score
from benchmarks.extract_systems import ABLATION, OURS, SYSTEMS
from benchmarks.results import SHARED, Figure, check_floors, check_systems, publish, sample, values_by_name
from domain.article import Article
from domain.errors import PlumblineError
from extractor import extract


@benchmark("extract", systems=",".join(ABLATION), set_names="zh-news,zh-short", pages=6, rounds=1)
@data_option()
@click.option("--systems", default="", callback=names, help="Only these systems, comma-separated.")
@click.option("--sets", "set_names", default="", callback=names, help="Only these sets, comma-separated.")
@click.option(
    "--rounds", default=2, type=click.IntRange(1), help="Rounds of the speed measurement; the best round counts."
)
@click.option("--pages", default=0, type=click.IntRange(0), help="Maximum number of pages per set; 0: all.")
def main(data: Path, systems: list[str], set_names: list[str], rounds: int, pages: int) -> None:
    """Measure the extractor and its peers."""
    chosen = systems or list(SYSTEMS)
    figures, complaints = measure(data, chosen, set_names, rounds, pages)
    publish("extract", figures)
    for line in complaints:
        click.echo(line)
    check_systems(figures, chosen, QUALITY)
    if data == SHARED and not pages:
        check_floors("extraction", values_by_name(figures))


def measure(
    data: Path, systems: Sequence[str], set_names: Sequence[str], rounds: int, pages: int = 0
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
        runs = run_rounds(systems, jobs, rounds, sum(len(found.pages) for found in sets))
        figures = [figure for name in systems for figure in score(sets, runs[name], scorer)]
        if OURS in systems:
            figures += list_figures(verdicts(sets, runs[OURS][0], pages))
            figures.append(Figure(ALL, OURS, GAIN, two_process_gain(jobs, rounds)))
    return figures, [complaint(runs[name][0]) for name in systems if runs[name][0].errors]


def run_rounds(systems: Sequence[str], jobs: Path, rounds: int, pages: int) -> dict[str, list[Run]]:
    """Run every system once per round, one at a time, so that a busy period of the machine affects all systems."""
    runs: dict[str, list[Run]] = {name: [] for name in systems}
    with Progress(disable=not Console().is_terminal) as progress:
        bar = progress.add_task("", total=rounds * len(systems) * pages)
        for turn in range(rounds):
            for name in systems:
                progress.update(bar, description=f"{name}, round {turn + 1} of {rounds}")
                runs[name].append(run_system(SYSTEMS[name], jobs, stepper(progress, bar)))
    return runs


def stepper(progress: Progress, bar: TaskID) -> Callable[[], None]:
    """Return a function that advances the progress bar by one page."""
    return lambda: progress.advance(bar)


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
