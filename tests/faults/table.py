"""Runs all classes of faults: `make faults [DATA=DIR]`.

    python -m tests.faults.table [--data DIR] [--only kill9,sqlite] [--short]

Uses the recipes and rows of DIR/hostile in addition to our own. `--short` runs a few of each class.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from benchmarks.results import SHARED, Figure, publish
from tests.conftest import new_database
from tests.crash_harness import undisturbed_run
from tests.faults import hostile, operating, processes, serving, stores
from tests.faults.fencing import fence_faults
from tests.faults.kill9 import kill9_faults
from tests.faults.restoring import restore_faults
from tests.faults.sabotage import FENCE_SABOTAGES, sabotage_faults
from tests.faults.stalling import scanner_faults, stall_faults
from tests.faults.tally import Tally
from tests.faults.upgrading import upgrade_faults
from tests.shared_server import EMPTY_STORE, shared_server

STORES, FEW_STORES = 60, 10
NEEDS_RUN = frozenset(
    ["sabotage", "kill9", "solr", "disk", "clock", "sqlite", "bloom", "restore", "upgrade", "soak", "slow"]
).union(operating.FAULTS)
ROUNDS, FEW_ROUNDS = 5, 1
TURNS = 3  # in which a crawl with a defect is stopped, each time at another moment


def tallies(data: Path | None, only: frozenset[str], is_short: bool, folder: Path) -> Iterator[Tally]:
    """Yield one tally for each class, as it finishes."""
    if recipes := [recipe for recipe in hostile.http_recipes(data) if not only or hostile.class_of(recipe) in only]:
        yield from hostile.hostile_servers(recipes[:: 8 if is_short else 1], folder / "hostile")
    if not only or "scanners" in only:
        yield scanner_faults()
    if not only or "stall" in only:
        yield stall_faults(folder / "stall")
    if not only or "fence" in only:
        (folder / "fence").mkdir()
        yield fence_faults_of_all(folder / "fence")
    if only and not only & NEEDS_RUN:
        return
    (folder / "run").mkdir()
    with undisturbed_run(folder / "run") as made:
        few = ("kill9_after_ack",) if is_short else ()
        classes: dict[str, Callable[[Path], Tally]] = {
            "sqlite": lambda at: stores.sqlite_faults(made.indexed, at, FEW_STORES if is_short else STORES),
            "bloom": lambda at: stores.bloom_faults(made.decided, at),
            "clock": lambda at: processes.clock_faults(made, at),
            "disk": lambda at: processes.disk_faults(made, at),
            "sabotage": lambda at: sabotage_faults(made, at),
            "kill9": lambda at: kill9_faults(made, at, is_short),
            "solr": lambda at: processes.solr_faults(made, at, few),
            "upgrade": lambda at: upgrade_faults(made.decided, at),
            "restore": lambda at: restore_faults(made.indexed, at),
            "slow": lambda at: serving.slow_faults(made.indexed, at, is_short),
            "soak": lambda at: serving.soak_faults(made, at, FEW_ROUNDS if is_short else ROUNDS),
            **{name: partial(operating.operating_faults, name, made) for name in operating.FAULTS},
        }
        for name, tried in classes.items():
            if not only or name in only:
                (folder / name).mkdir()
                yield tried(folder / name)


def fence_faults_of_all(folder: Path) -> Tally:
    """Run the faults of fencing, and notice each defect of the fences, on new PostgreSQL stores."""
    tally, noticed = Tally("fence"), 0
    with shared_server("postgres", folder / "postgres") as server:
        for is_waiting in (True, False):
            with new_database(server, EMPTY_STORE) as url:
                tally.add(fence_faults(url, folder / f"waiting_{is_waiting}", is_waiting))
        for name in FENCE_SABOTAGES:
            with tally.trying(name):
                assert any(is_noticed(name, server, folder / f"{name}{turn}") for turn in range(TURNS)), "not noticed"
                noticed += 1
    tally.figures["noticed"] = noticed / len(FENCE_SABOTAGES)
    return tally


def is_noticed(sabotage: str, server: str, folder: Path) -> bool:
    """Return True if a crawl with a defect did something after its loss. It cannot if no thread waited to send."""
    with new_database(server, EMPTY_STORE) as url:
        complaints = fence_faults(url, folder, is_waiting=False, sabotage=sabotage).complaints
    return any("after the loss" in complaint for complaint in complaints)


@click.command()
@click.option("--data", default=SHARED, type=click.Path(path_type=Path), help="Folder with hostile/*.jsonl.")
@click.option("--only", default="", help="Classes, separated by commas.")
@click.option("--short", "is_short", is_flag=True, help="Run a few faults of each class.")
def main(data: Path, only: str, is_short: bool) -> None:
    """Run all faults, print the table and write benchmarks/out/faults.jsonl.

    Exits with 1 if a fault was not survived.
    """
    figures, complaints, began = [], [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        for tally in tallies(data, frozenset(filter(None, only.split(","))), is_short, Path(folder)):
            figures += [Figure(tally.name, "plumbline", metric, value) for metric, value in tally.measures()]
            complaints += tally.complaints
            measured = ", ".join(f"{metric} {value:g}" for metric, value in tally.measures())
            took, began = time.monotonic() - began, time.monotonic()
            click.echo("\n".join([f"{tally.name}, {took:.0f} s: {measured}", *tally.complaints]), err=True)
    publish("faults", figures)
    for line in complaints:
        click.echo(line)
    raise SystemExit(bool(complaints))


if __name__ == "__main__":
    main()
