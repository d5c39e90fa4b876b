"""Output of the commands: lines and tables for people, JSON for programs."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

T = TypeVar("T")
PIPED_WIDTH = 4000  # columns; wide enough that tables are not truncated if the output is piped

stdout_console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else PIPED_WIDTH)
stderr_console = Console(stderr=True, soft_wrap=True)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
nevertheless_option = click.option("--nevertheless", is_flag=True, help="Add sites in spite of their problems.")
own_network_option = click.option(
    "--own-network", is_flag=True, help="Allow hosts on private networks (crawl.inside_hosts)."
)


def print_line(text: str, console: Console = stdout_console) -> None:
    """Print text, by default to standard output, without interpreting markup."""
    console.print(text, markup=False, highlight=False)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to standard output as `print_line` does."""
    for line in lines:
        print_line(line)


def print_lines_or_json(payload: T, format_lines: Callable[[T], Iterable[str]], as_json: bool) -> None:
    """Print the payload as JSON, or the lines that `format_lines` makes of it."""
    if as_json:
        print_json(payload)
    else:
        print_lines(format_lines(payload))


def print_table_or_json(rows: Sequence[Any], build_table: Callable[[], Table], as_json: bool) -> None:
    """Print rows (dataclasses or JSON values) as a JSON list, or the table that `build_table` returns."""
    if as_json:
        print_json([asdict(row) if is_dataclass(row) and not isinstance(row, type) else row for row in rows])
    else:
        stdout_console.print(build_table())


def print_json(payload: Any) -> None:
    """Print a JSON value to standard output."""
    click.echo(json.dumps(payload, ensure_ascii=False, indent=1))
