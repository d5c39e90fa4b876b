"""Requests of a crawl with a delay as crawlbench's hosts saw them: nothing forbidden, too soon or repeated."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.crawl_ours import kept_pages, run_once, settings_for
from benchmarks.crawl_site import BenchSite
from benchmarks.results import Figure
from crawler.site import Sites
from crawler.urls.canonical import host_of

DELAY = 0.05  # seconds
_HOSTS = 20  # more than content hosts and quirk hosts together
_RETRIED = frozenset(("status", "bodies"))  # temporary failures are retried on purpose
_CUT_OFF = frozenset(("bodies",))  # too large, endless, too slow
_MIN_GAP = {"robots-delay": 1000.0}  # ms, for hosts whose robots.txt has a longer delay
_FEW = 20  # requests
_MAX_IN_TRAP = 5 * 100  # five traps


def manners_figures(site: BenchSite, folder: Path, minutes: float = 2.0) -> Iterator[Figure]:
    """Yield violations according to the server, and real pages that were not saved (of the plain hosts)."""
    port = host_of(site.seeds[0]).partition(":")[2]
    hosts = tuple(f"127.0.1.{number}:{port}" for number in range(1, _HOSTS + 1))
    limits = {"total_timeout": 8.0, "max_bytes": 3_000_000, "threads": 24, "minutes": minutes}
    sites = Sites.parse([{"urls": [f"http://{host}/"]} for host in hosts])
    run_once(settings_for(site.seeds, delay=DELAY, per_host=1, sites=sites, inside_hosts=hosts, **limits), folder)
    denied = too_soon = at_once = repeats = in_traps = 0
    for host in site.stats():
        quirk = host.get("quirk", "")
        denied += host["robots_denied"]
        # Crawl-delay is not known while robots.txt is still being asked for, over its redirect: not the least gap; of
        # few requests, which is all that a busy machine gets through, the one in twenty is that one.
        gap = host[("gap_p05_ms" if host["requests"] > _FEW else "gap_p50_ms") if quirk in _MIN_GAP else "gap_min_ms"]
        too_soon += host["requests"] > 1 and gap < _MIN_GAP.get(quirk, 1000 * DELAY)
        # Of an answer that we cut off the server learns when it next writes, on a busy machine after our next request.
        at_once += host["max_in_flight"] > 1 and quirk not in _CUT_OFF
        repeats += 0 if quirk in _RETRIED else host["repeats"]
        in_traps += host["requests"] if quirk == "traps" else 0
    kept = kept_pages(folder / "store.db")
    missing = sum(row["status"] == 200 and url not in kept for url, row in site.truth(1).items())
    for metric, value in (
        ("missing", missing),
        *(("robots_breaches", denied), ("delay_breaches", too_soon), ("connection_breaches", at_once)),
        *(("repeats", repeats), ("requests in five traps", in_traps), ("most allowed in five traps", _MAX_IN_TRAP)),
    ):
        yield Figure("manners", "plumbline", metric, value)
