"""Benchmark of the complete pipeline on real pages: `make bench-chain [DATA=DIR]`.

Serves the pages of DIR/extraction (default: ../shared/data) from loopback under their own host names. Runs the stages
from an empty store, then again without changes. Prints pages/s and seconds of each stage and of the complete run, from
the first fetch until the pages are searchable, and the peak memory of our processes and of Solr.
"""

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.command import benchmark, data_option
from benchmarks.gold_web import SEED, GoldWeb, sample_pages
from benchmarks.results import Figure, publish
from domain.errors import PlumblineError
from domain.outcome import StageReport
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import Settings, build_settings


@benchmark("chain", count=12)
@data_option()
@click.option("--pages", "count", default=0, type=click.IntRange(0), help="Number of pages; 0: all.")
def main(data: Path, count: int) -> None:
    """Measure the pipeline."""
    pages = sample_pages(data, count)
    with tempfile.TemporaryDirectory() as folder, GoldWeb(pages) as web:
        publish("chain", list(measure(web, Path(folder))))


def measure(web: GoldWeb, folder: Path) -> Iterator[Figure]:
    """Measure a first run, and a second run without changes."""
    with Engine(chain_settings(web, folder), NullProgress(), ip_policy=web) as engine:
        engine.index.ensure_collection()  # Solr starts once per run, so its start is not part of the time per page
        yield from timed_run(engine, "first", len(web.pages))
        if engine.index.count() != engine.store.articles.count():
            raise PlumblineError("the index and the store differ after the run: the figures mean nothing")
        yield Figure("first", "plumbline", "articles searchable", engine.index.count())
        yield from timed_run(engine, "unchanged", len(web.pages))
        yield Figure("both", "plumbline", "peak memory, our largest process, MB", peak_megabytes())
        yield Figure("both", "plumbline", "peak memory, Solr, MB", solr_megabytes(folder))


def timed_run(engine: Engine, name: str, pages: int) -> Iterator[Figure]:
    """Measure one run by stage. Every page counts in every stage, even if the stage has nothing to do for it."""
    started = time.monotonic()
    reports: list[StageReport] = stages.run(engine)
    whole = time.monotonic() - started
    for report in reports:
        yield Figure(name, "plumbline", f"{report.stage} seconds", report.seconds)
        if report.seconds:  # a disabled stage needs no time
            yield Figure(name, "plumbline", f"{report.stage} pages/s", pages / report.seconds)
    yield Figure(name, "plumbline", "whole seconds", whole)
    yield Figure(name, "plumbline", "whole pages/s", pages / whole)


def chain_settings(web: GoldWeb, folder: Path) -> Settings:
    """Return settings without crawl delay, because the server is our own."""
    crawl = {
        "seeds": [SEED],
        "contact": "https://plumbline.test/bench",
        "scope": list(web.scope),
        "depth": 2,
        "delay": 0.001,
        "per_host": 8,
        "revisit_shortest": 0.0,
    }
    return build_settings({"vertical": {"data_dir": "data"}, "crawl": crawl}, folder)


def peak_megabytes() -> float:
    """Return the peak memory of our largest process, including the server of the pages."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return max(own.ru_maxrss, children.ru_maxrss) / 1024


def solr_megabytes(folder: Path) -> float:
    """Return the peak memory of the Java process whose command line names our folder (Linux; otherwise 0)."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if str(folder).encode() in (status.parent / "cmdline").read_bytes() and "java" in status.read_text():
                peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
                return int(peak.split()[1]) / 1024
        except (OSError, StopIteration):
            continue
    return 0.0


if __name__ == "__main__":
    main()
