"""kill -9 at random moments of one crawl, and the loss: our crawler, and Scrapy with JOBDIR in the same test."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.crawl_site import BenchSite
from benchmarks.results import Figure
from crawler.settings import CrawlSettings
from crawler.workers.visit_recorder import BATCH_SIZE, MAX_QUEUED_BATCHES
from docstore.warc_archive import WarcArchive
from domain.page import WarcPointer

MAX_AT_ONCE = CrawlSettings().threads + (MAX_QUEUED_BATCHES + 2) * BATCH_SIZE  # pages fetched and not yet recorded
_LONGEST = 900.0  # seconds for the rest of the crawl after the last kill
_SOONEST, _LATEST = 2.0, 5.0  # seconds until a kill; a process needs one second to start


def kill9_ours(site: BenchSite, folder: Path, kills: int, pages: int) -> Iterator[Figure]:
    """Measure our crawler: pages that the store acknowledged must not be lost or fetched again."""
    seeds = folder / "seeds"
    seeds.write_text("\n".join(site.seeds))
    # Seeds and sitemaps are fetched in every run on purpose, so they do not count as fetched again.
    once = ("--set", "sitemaps=false", "--set", "hub_gap=24.0")
    command = [sys.executable, "-m", "benchmarks.crawl_ours", "--seeds", str(seeds), "--folder", str(folder), *once]
    site.reset()
    acknowledged: dict[str, tuple[str, float]] = {}
    lost = duplicates = 0
    done = 0
    chance = random.Random(9)
    for _ in range(kills):
        if not killed_run(command, chance.uniform(_SOONEST, _LATEST)):
            break
        done += 1
        kept = kept_pages(folder / "store.db")
        lost += len(acknowledged.keys() - kept.keys())
        duplicates += sum(kept[url] != row for url, row in acknowledged.items() if url in kept)
        acknowledged = kept
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_LONGEST)
    kept = kept_pages(folder / "store.db")
    lost += len(acknowledged.keys() - kept.keys()) + unreadable(folder)
    duplicates += sum(kept[url] != row for url, row in acknowledged.items() if url in kept)
    repeats = sum(host["requests"] - host["urls"] for host in site.stats())
    for metric, value in (
        *(("kills", done), ("pages", len(kept)), ("lost", lost), ("duplicates", duplicates)),
        *(("missing", pages - len(kept)), ("refetches", repeats), ("refetches allowed", MAX_AT_ONCE * done)),
    ):
        yield Figure("kill9", "plumbline", metric, value)


def kill9_scrapy(site: BenchSite, folder: Path, python: Path, kills: int, pages: int) -> Iterator[Figure]:
    """Measure tuned Scrapy with JOBDIR: a page is acknowledged once its spider receives it."""
    seeds, log = folder / "seeds", folder / "pages"
    seeds.write_text("\n".join(site.seeds))
    script = Path(__file__).with_name("crawl_scrapy.py")
    command = [str(python), str(script), "tuned", "--seeds", str(seeds), "--jobdir", str(folder), "--log", str(log)]
    chance = random.Random(9)
    done = 0
    for _ in range(kills):
        if not killed_run(command, chance.uniform(2 * _SOONEST, 2 * _LATEST)):
            break
        done += 1
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_LONGEST)
    urls = log.read_text().split()
    yield Figure("kill9", "scrapy-tuned", "kills", done)
    yield Figure("kill9", "scrapy-tuned", "missing", pages - len(set(urls)))
    yield Figure("kill9", "scrapy-tuned", "duplicates", len(urls) - len(set(urls)))


def killed_run(command: Sequence[str], seconds: float) -> bool:
    """Start a crawl and kill it with all its processes. Returns False if it ended by itself."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    time.sleep(seconds)
    if running.poll() is not None:
        return False
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    return True


def kept_pages(database: Path) -> dict[str, tuple[str, float]]:
    """Return digest and fetch time of every page in the store, by URL."""
    if not database.exists():
        return {}
    with closing(sqlite3.connect(database)) as connection:
        try:
            rows = connection.execute("SELECT url, p.digest, p.fetched_at FROM urls JOIN pages p USING (url_id)")
            return {url: (digest, at) for url, digest, at in rows}
        except sqlite3.OperationalError:  # killed before the tables were created
            return {}


def unreadable(folder: Path) -> int:
    """Count the pages without a readable record, in a sample of every tenth page."""
    archive = WarcArchive(folder / "warc")
    with closing(sqlite3.connect(folder / "store.db")) as connection:
        rows = connection.execute("SELECT warc_file, warc_offset, warc_length, digest FROM pages WHERE url_id % 10 = 0")
        missing = 0
        for file, offset, length, digest in rows:
            try:
                archive.read_body(WarcPointer(file, offset, length), digest)
            except Exception:  # noqa: BLE001 (whatever it is, the page is lost)
                missing += 1
    return missing
