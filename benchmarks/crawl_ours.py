"""Our crawler as a benchmark system: `python -m benchmarks.crawl_ours --seeds FILE --folder DIR` prints one JSON line.

All features are on: a real store with WARC files, robots.txt, links with their text, the seen test, revisits. Only the
crawl delay is off. CPU and memory are those of the process and its children.
"""

import json
import logging
import resource
import sqlite3
import time
import tomllib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from crawler.crawl import crawl
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.settings import CrawlSettings
from crawler.site import Sites
from crawler.urls.canonical import host_of
from docstore.store import open_sqlite_store
from domain.outcome import Reason, StageReport


@click.command()
@click.option("--seeds", required=True, type=click.Path(path_type=Path), help="A file with one URL per line.")
@click.option(
    "--folder", required=True, type=click.Path(path_type=Path), help="Folder of the store; created if missing."
)
@click.option("--pages", default=0, help="Maximum number of pages; 0: no limit.")
@click.option("--seconds", default=600.0, help="Maximum duration in seconds.")
@click.option("--set", "assignments", multiple=True, help="KEY=VALUE of the crawl settings, in TOML.")
def main(seeds: Path, folder: Path, pages: int, seconds: float, assignments: tuple[str, ...]) -> None:
    """Crawl once and print the cost."""
    logging.basicConfig(level=logging.WARNING)
    values = tomllib.loads("\n".join(assignments))
    settings = settings_for(seeds.read_text().split(), max_pages=pages, minutes=seconds / 60, **values)
    click.echo(json.dumps(measured(settings, folder)))


def settings_for(seeds: list[str], **changes: Any) -> CrawlSettings:
    """Return settings for crawlbench: its hosts are on loopback and need no crawl delay."""
    hosts = sorted({host_of(seed) for seed in seeds})
    quick = CrawlSettings(depth=1000, delay=0.0, delay_factor=0.0, per_host=4, contact="https://plumbline.test/bench")
    return replace(quick, **{"sites": Sites().with_urls(seeds), "inside_hosts": tuple(hosts), **changes})


def measured(settings: CrawlSettings, folder: Path) -> dict[str, Any]:
    """Run once and return the cost."""
    wall, cpu = time.monotonic(), cpu_seconds()
    report = run_once(settings, folder)
    good = sum(report.outcome_counts.get(reason, 0) for reason in (Reason.FETCHED, Reason.UNCHANGED))
    return {
        "name": "plumbline",
        "pages": good,
        "wall_s": round(time.monotonic() - wall, 3),
        "cpu_s": round(cpu_seconds() - cpu, 3),
        "rss_mb": round(peak_megabytes(), 1),
        "counts": {reason.value: count for reason, count in report.outcome_counts.items()},
        "notes": list(report.notes),
    }


def run_once(settings: CrawlSettings, folder: Path, now: Callable[[], float] = time.time) -> StageReport:
    """Run one crawl on the store in `folder`."""
    fetcher = Fetcher(settings, PublicOnlyPolicy(settings.inside_hosts), now)
    with open_sqlite_store(folder) as store:
        return crawl(store.frontier, fetcher, settings, folder / "seen.bloom", now)


def kept_pages(database: Path) -> dict[str, tuple[str, float]]:
    """Return digest and fetch time of every page in the store, by URL; none before the first crawl."""
    if not database.exists():
        return {}
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT url, p.digest, p.fetched_at FROM urls JOIN pages p USING (url_id)")
        return {url: (digest, at) for url, digest, at in rows}


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished children."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
