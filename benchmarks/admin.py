"""Benchmark of the administration in the browser: `make bench-admin [ARGS='--only takedown']`.

Each set is a module `benchmarks/admin_SET.py`. Its function takes `few` (use a handful of data) and returns figures.
"""

from collections.abc import Callable, Mapping, Sequence

import click

from benchmarks.admin_concurrent import measure_concurrent
from benchmarks.admin_kill9 import measure_kill9
from benchmarks.admin_roles import measure_roles
from benchmarks.admin_takedown import measure_takedown
from benchmarks.admin_whynot import measure_whynot
from benchmarks.admin_wizard import measure_wizard
from benchmarks.command import benchmark, names
from benchmarks.results import Figure, publish

SETS: Mapping[str, Callable[[bool], Sequence[Figure]]] = {
    "kill9": measure_kill9,
    "roles": measure_roles,
    "concurrent": measure_concurrent,
    "takedown": measure_takedown,
    "whynot": measure_whynot,
    "wizard": measure_wizard,
}


@benchmark("admin", few=True)
@click.option("--only", default=",".join(SETS), callback=names, help="Sets to measure, comma-separated.")
@click.option("--few", is_flag=True, help="Measure each set on a handful of data.")
def main(only: list[str], few: bool) -> None:
    """Measure the chosen sets and publish their figures."""
    if unknown := set(only) - set(SETS):
        raise click.BadParameter(f"unknown sets: {', '.join(sorted(unknown))}; known: {', '.join(SETS)}")
    publish("admin", [figure for name in only for figure in SETS[name](few)])


if __name__ == "__main__":
    main()
