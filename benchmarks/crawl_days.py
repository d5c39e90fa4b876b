"""Seven simulated days: changes that an incremental crawl finds each day, and its requests, compared with a full crawl.

The site does not change on the last two days (a weekend). Each crawl starts at 16:40, after all changes of the day.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from sqlite3 import connect
from typing import Any

from benchmarks.crawl_ours import cpu_seconds, kept_pages, run_once, settings_for
from benchmarks.crawl_site import BenchSite
from benchmarks.results import Figure
from crawler.settings import CrawlSettings

DAYS = 7
_LAST_CHANGE = 5  # the day after which the site stands still
_SETTLED = 3  # the day from which an incremental crawl knows what changes
_FIRST = 1704067200.0  # 2024-01-01 UTC: crawlbench's day 0
_DAY = 86400.0
_NOON = 60000.0  # seconds into the day, after all its changes


def incremental_figures(site: BenchSite, folder: Path) -> Iterator[Figure]:
    """Yield one row per day and metric, for the full and the incremental crawl, and a summary of the days."""
    plain = settings_for(site.seeds, delay=0.0)
    full = replace(plain, revisit_shortest=0.0, revisit_longest=1e-9, sitemaps=False)
    for name, settings in (("full", full), ("incremental", plain)):
        place = folder / name
        place.mkdir()
        ages = Ages()
        days = []
        for day in range(1, DAYS + 1):
            days.append(one_day(site, place, settings, day, ages))
            for metric, value in days[-1].items():
                yield Figure(f"incremental day {day}", f"plumbline {name}", metric, value)
        if name == "incremental":
            for metric, value in {**worst_of(days), **ages.hours()}.items():
                yield Figure("incremental", "plumbline", metric, value)


def worst_of(days: list[dict[str, float]]) -> dict[str, float]:
    """Return the worst day after the first for each metric; requests count only in the steady state."""
    found = ("new_found_same_day", "changed_found_same_day", "gone_found_same_day", "up_to_date")
    return {
        "requests_share": max(day["requests_share"] for day in days[_SETTLED - 1 :]),
        **{name: min(day[name] for day in days[1:]) for name in found},
        "day 2 bytes share": days[1]["bytes"] / days[0]["bytes"],
        "day 2 bytes share of what is new or changed": (days[1]["new"] + days[1]["changed"]) / days[0]["new"],
        "day 2 cpu share": days[1]["cpu_s"] / days[0]["cpu_s"],
    }


@dataclass
class Ages:
    """Age of the saved copies: the time for which a copy differs from the served page, over all moments between crawls.

    Also computes the age for an oracle that fetches exactly the changed pages. `stale` maps a URL to the time since
    when its copy is out of date (epoch seconds).
    """

    stale: dict[str, float] = field(default_factory=dict)
    ours: float = 0.0
    oracle: float = 0.0
    copies: int = 0

    def crawled(self, at: float, kept: dict[str, str], present: dict[str, Any], after: dict[str, str]) -> None:
        """A crawl at `at` found pages as `present`, when `kept` were the copies, and left the copies `after`."""
        for url, row in present.items():
            if row["status"] == 200 and url in kept:
                self.copies += 1
                self._wait(url, row, at, is_stale=kept[url] != row["etag"])
                if after.get(url) == row["etag"]:
                    self.stale.pop(url, None)

    def _wait(self, url: str, row: dict[str, Any], at: float, is_stale: bool) -> None:
        if not is_stale:
            return
        modified = datetime.fromisoformat(row["last_modified"]).timestamp()
        before = at - _DAY
        since = self.stale.setdefault(url, max(modified, before))
        self.ours += ((at - since) ** 2 - max(before - since, 0.0) ** 2) / 2
        if modified > before:
            self.oracle += (at - modified) ** 2 / 2

    def hours(self) -> dict[str, float]:
        """Return the mean age in hours of our copies and of the oracle's copies, and their ratio."""
        moments = max(self.copies, 1) * _DAY * 3600.0
        ratio = self.ours / self.oracle if self.oracle else 1.0
        return {"mean_age_h": self.ours / moments, "mean_age_h oracle": self.oracle / moments, "age_by_oracle": ratio}


def one_day(
    site: BenchSite, folder: Path, settings: CrawlSettings, day: int, ages: Ages | None = None
) -> dict[str, float]:
    """Crawl one day and compare the saved copies with the site."""
    served, earlier = min(day, _LAST_CHANGE), min(day - 1, _LAST_CHANGE)
    site.turn_to(served)
    site.reset()
    copies = kept_etags(folder)
    at = _FIRST + day * _DAY + _NOON
    began, cpu = time.time(), cpu_seconds()
    run_once(settings, folder, lambda: at + time.time() - began)
    cost = {"cpu_s": cpu_seconds() - cpu, "minutes": (time.time() - began) / 60}
    stats = site.stats()
    requests = sum(host["requests"] for host in stats)
    before, present = site.truth(earlier) if day > 1 else {}, site.truth(served)
    kept = kept_etags(folder)
    if ages is not None:
        ages.crawled(at, copies, present, kept)
    return {
        "requests": requests,
        "requests_share": requests / max(len(present), 1),
        "bytes": sum(host["bytes"] for host in stats),
        "304s": sum(host["status"].get("304", 0) for host in stats),
        **cost,
        **found_of(before, present, kept),
    }


def found_of(before: dict[str, Any], present: dict[str, Any], kept: dict[str, str]) -> dict[str, float]:
    """Return the shares of new, changed and removed pages that were found on the same day, and the share that is up to
    date.
    """
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
    """Return a share; 1 if the total is 0."""
    return part / whole if whole else 1.0


def kept_etags(folder: Path) -> dict[str, str]:
    """Return the ETag of each saved copy by URL."""
    pages = kept_pages(folder / "store.db")
    if not pages:
        return {}
    with closing(connect(folder / "store.db")) as connection:
        rows = connection.execute("SELECT url, etag FROM urls")
        return {url: etag.strip('"').removesuffix("-gz") for url, etag in rows if url in pages}
