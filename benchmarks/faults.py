"""`make bench-faults [DATA=DIR]`: injects the faults of tests/faults, by class."""

from pathlib import Path

import click

from benchmarks.command import benchmark, data_option
from tests.faults import table


@benchmark("faults", only="ssrf,xml", is_short=True)
@data_option(text="A folder with hostile/*.jsonl.")
@click.option("--only", default="", help="Classes, with commas between.")
@click.option("--short", "is_short", is_flag=True, help="A few of each.")
@click.pass_context
def main(context: click.Context, data: Path, only: str, is_short: bool) -> None:
    """Inject all faults; exits with status 1 if a fault causes a loss."""
    context.invoke(table.main, data=data, only=only, is_short=is_short)


if __name__ == "__main__":
    main()
