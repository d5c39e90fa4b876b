"""Hostile servers: one real crawl of all of them, its extraction, and the memory of both."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.crash_harness import Vertical
from tests.faults.servers import HostileServer, Recipe
from tests.faults.tally import Tally
from tests.web_fixture import serving

DEADLINE = 12.0  # maximum seconds of one fetch in these crawls
MAX_ABOVE_IDLE = 256.0  # MB
POLL = 0.05
# Our own recipes, in addition to the rows of the data folder.
OWN: tuple[Recipe, ...] = (
    {"body": "nodes", "count": 1_200_000},
    {"body": "quadratic_attrs", "count": 100_000},
    {"body": "attrs", "count": 100_000},
    {"body": "entities", "count": 400_000},
    {"body": "zeros", "encoding": "gzip,gzip,gzip", "mb": 500},
    {"slow": "never_header"},
    {"redirect": "to_metadata"},
    {"redirect": "to_solr"},
)
# Fourteen ordinary pages of 1 to 10 MB at once, with few tags and with many.
LARGE: tuple[Recipe, ...] = tuple(
    {"body": "paragraphs" if number % 2 else "list_items", "mb": min(number, 10)} for number in range(1, 15)
)
CLASSES = {"slow": "slow_servers", "redirect": "redirects", "proto": "bomb", "robots": "redirects"}


def class_of(recipe: Recipe) -> str:
    """Return the class of a recipe in the table."""
    if "mb" in recipe and recipe.get("body") in ("paragraphs", "list_items"):
        return "large"
    if "body" in recipe:
        return "bomb" if recipe["body"] == "zeros" else "nesting"
    return next((name for key, name in CLASSES.items() if key in recipe), "bomb")


def hostile_servers(recipes: Sequence[Recipe], folder: Path) -> Iterator[Tally]:
    """Crawl and extract the recipes, class by class. Each URL must have one outcome, and the memory is limited."""
    classes: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        classes.setdefault(class_of(recipe), []).append(recipe)
    idle = crawled(Tally("idle"), [], folder / "idle")
    for name, chosen in classes.items():
        tally = Tally(name)
        tally.peak_mb = round(crawled(tally, chosen, folder / name) - idle, 1)
        if tally.peak_mb > MAX_ABOVE_IDLE:
            tally.complaints.append(f"{name}: {tally.peak_mb:.0f} MB above idle")
        yield tally


def crawled(
    tally: Tally, recipes: Sequence[Recipe], folder: Path, commands: Sequence[str] = ("crawl", "extract")
) -> float:
    """Crawl and extract one server for each recipe; return the peak memory of all processes in MB."""
    recipes = [*recipes, {}]  # one normal server: a crawl fails if all of its seeds fail
    hosts = {f"127.1.{number // 250}.{number % 250 + 1}": recipe for number, recipe in enumerate(recipes)}
    server = HostileServer(hosts)
    with serving(server):
        seeds = {server.url(host): host for host in hosts}
        crawl = {
            "seeds": list(seeds),
            "inside_hosts": [f"{host}:{server.port}" for host in hosts],
            "delay": 0.01,
            "depth": 1,
            "sitemaps": False,
            "total_timeout": DEADLINE,
            "max_pages": 4 * len(hosts),
            "read_timeout": 5.0,
            "connect_timeout": 5.0,
        }
        vertical = Vertical(folder).write({"crawl": crawl})
        try:
            began = time.monotonic()
            peak = max(watched(vertical, command) for command in commands)
            tally.worst_s = max(tally.worst_s, time.monotonic() - began)
        finally:
            vertical.end()
    ends = dict(
        vertical.ask("SELECT u.url, o.reason FROM outcomes o JOIN urls u USING (url_id) WHERE o.stage = 'crawl'")
    )
    for url, host in seeds.items():
        with tally.trying(json.dumps(dict(hosts[host]))):
            assert host not in server.errors, server.errors[host]
            found = [reason for one, reason in ends.items() if one == url]
            assert found, "no outcome"
    tally.connections = 0  # to internal addresses; they have no server, so outcomes show attempts
    inside = [url for url in ends if "169.254" in url or ":8983" in url]
    tally.connections = sum(
        ends[url] not in ("inside_address", "redirected_off_scope", "not_allowed") for url in inside
    )
    return peak


def watched(vertical: Vertical, command: str) -> float:
    """Run a command to its end; return the peak memory of its processes together, in MB."""
    running, peak = vertical.start(command), 0.0
    while running.poll() is None:
        peak = max(peak, sum(map(memory_of, vertical.processes())))
        time.sleep(POLL)
    said = vertical.finished(running)
    assert said.status == 0 and "Traceback" not in said.err, said
    return peak


def memory_of(pid: int) -> float:
    """Return the proportional memory (PSS) of a process in MB."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def http_recipes(data: Path | None) -> list[Recipe]:
    """Return the recipes of the data folder (hostile/http.jsonl) and our own."""
    file = data / "hostile" / "http.jsonl" if data else None
    rows = file.read_text("utf-8").splitlines() if file and file.exists() else []
    return [json.loads(json.loads(row)["text"]) for row in rows] + list(OWN + LARGE)
