"""Benchmark of a release: `make bench-release [ARGS='--only mcp']`.

Each set is a module `benchmarks/release_SET.py`. Its function takes `few` (use a handful of data) and returns figures.
"""

from collections.abc import Callable, Mapping, Sequence

import click

from benchmarks.command import benchmark, names
from benchmarks.release_mcp import measure_mcp
from benchmarks.results import Figure, publish

SETS: Mapping[str, Callable[[bool], Sequence[Figure]]] = {"mcp": measure_mcp}


@benchmark("release", few=True)
@click.option("--only", default=",".join(SETS), callback=names, help="Sets to measure, comma-separated.")
@click.option("--few", is_flag=True, help="Measure each set on a handful of data.")
def main(only: list[str], few: bool) -> None:
    """Measure the chosen sets and publish their figures."""
    if unknown := set(only) - set(SETS):
        raise click.BadParameter(f"unknown sets: {', '.join(sorted(unknown))}; known: {', '.join(SETS)}")
    publish("release", [figure for name in only for figure in SETS[name](few)])


if __name__ == "__main__":
    main()
