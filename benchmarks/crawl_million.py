"""Start time and memory of a crawl that knows a million due URLs."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.crawl_site import BenchSite
from benchmarks.results import Figure
from crawler.schedule.queues import make_fold_hash_queue_function
from crawler.settings import DEFAULT_QUEUES
from docstore.store import open_sqlite_store
from domain.batches import batched
from domain.frontier import NewUrl, UrlKind
from domain.page import Host

KNOWN = 1_000_000
_PAGES = 1000
_BATCH = 20_000


def million_figures(site: BenchSite, folder: Path, known: int = KNOWN) -> Iterator[Figure]:
    """Fill a store with URLs of hosts that are out of reach by priority, begin once (queues and seen filter are
    made then), then crawl a thousand pages."""
    queue_of = make_fold_hash_queue_function(DEFAULT_QUEUES)
    with open_sqlite_store(folder) as store:
        for numbers in batched(range(known), _BATCH):
            rows = ((f"http://h{n % 5000}.test/news/2024/{n}.html", f"h{n % 5000}.test") for n in numbers)
            store.frontier.add_urls(
                [NewUrl(url, Host(host), queue_of(url), 2, UrlKind.UNKNOWN, -9.0) for url, host in rows]
            )
    seeds = folder / "seeds"
    seeds.write_text("\n".join(site.seeds))
    command = [sys.executable, "-m", "benchmarks.crawl_ours", "--seeds", str(seeds), "--folder", str(folder)]
    first = one_run([*command, "--pages=1"])
    run = one_run([*command, f"--pages={_PAGES}"])
    name = f"{known} known URLs"
    yield Figure(name, "plumbline", "first_start_s", first["wall_s"])
    yield Figure(name, "plumbline", "pages_per_s", run["pages"] / run["wall_s"])
    yield Figure(name, "plumbline", "cpu_ms_per_page", 1000 * run["cpu_s"] / run["pages"])
    yield Figure(name, "plumbline", "rss_mb", run["rss_mb"])


def one_run(command: Sequence[str]) -> dict[str, Any]:
    """Run a crawl in a separate process and return its report."""
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))
