"""Seven simulated days: what an incremental crawl finds on each, and what it asks for it, beside a full one."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from sqlite3 import connect
from typing import Any

from benchmarks.crawl_kill import kept_pages
from benchmarks.crawl_ours import cpu_seconds, run_once, settings_for
from benchmarks.crawl_site import BenchSite
from benchmarks.results import Figure
from crawler.settings import CrawlSettings

DAYS = 7
_FIRST = 1704067200.0  # 2024-01-01 UTC: crawlbench's day 0
_DAY = 86400.0
_NOON = 60000.0  # seconds into the day, after all its changes


def incremental_figures(site: BenchSite, folder: Path) -> Iterator[Figure]:
    """One row a day and metric, for the full and for the incremental crawl."""
    plain = settings_for(site.seeds, delay=0.0)
    full = replace(plain, revisit_shortest=0.0, revisit_longest=1e-9, sitemaps=False)
    for name, settings in (("full", full), ("incremental", plain)):
        place = folder / name
        place.mkdir()
        for day in range(1, DAYS + 1):
            for metric, value in one_day(site, place, settings, day).items():
                yield Figure(f"incremental day {day}", f"plumbline {name}", metric, value)


def one_day(site: BenchSite, folder: Path, settings: CrawlSettings, day: int) -> dict[str, float]:
    """Crawl on a day and compare what is kept with what is there."""
    site.turn_to(day)
    site.reset()
    began, cpu = time.time(), cpu_seconds()

    def now() -> float:
        return _FIRST + day * _DAY + _NOON + time.time() - began

    run_once(settings, folder, now)
    cost = {"cpu_s": cpu_seconds() - cpu, "minutes": (time.time() - began) / 60}
    stats = site.stats()
    requests = sum(host["requests"] for host in stats)
    before, present = site.truth(day - 1) if day > 1 else {}, site.truth(day)
    found = found_of(before, present, kept_etags(folder))
    return {
        "requests": requests,
        "requests_share": requests / max(len(present), 1),
        "bytes": sum(host["bytes"] for host in stats),
        "304s": sum(host["status"].get("304", 0) for host in stats),
        **cost,
        **found,
    }


def found_of(before: dict[str, Any], present: dict[str, Any], kept: dict[str, str]) -> dict[str, float]:
    """How much of what is new, changed and gone on a day was found on the same day, and how much is up to date."""
    alive = {url: row["etag"] for url, row in present.items() if row["status"] == 200}
    old = {url: row["etag"] for url, row in before.items() if row["status"] == 200}
    new = [url for url in alive if url not in old]
    changed = [url for url in alive if url in old and old[url] != alive[url]]
    gone = [url for url in old if url not in alive]
    fresh = sum(kept.get(url) == etag for url, etag in alive.items())
    return {
        "new": len(new),
        "new_found_same_day": share(sum(kept.get(url) == alive[url] for url in new), len(new)),
        "changed": len(changed),
        "changed_found_same_day": share(sum(kept.get(url) == alive[url] for url in changed), len(changed)),
        "gone": len(gone),
        "gone_found_same_day": share(sum(url not in kept for url in gone), len(gone)),
        "up_to_date": share(fresh, len(alive)),
    }


def share(part: int, whole: int) -> float:
    """1 where there was nothing to find."""
    return part / whole if whole else 1.0


def kept_etags(folder: Path) -> dict[str, str]:
    """Address -> ETag of the copy that is kept."""
    pages = kept_pages(folder / "store.db")
    with closing(connect(folder / "store.db")) as connection:
        rows = connection.execute("SELECT url, etag FROM urls")
        return {url: etag.strip('"').removesuffix("-gz") for url, etag in rows if url in pages}
