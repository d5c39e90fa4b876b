"""How answers are said: lines and tables for a person, JSON for a program."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

A = TypeVar("A")
PIPED_WIDTH = 4000  # columns where nobody's window bounds them: no table is cut for another program

out = Console(soft_wrap=True, width=None if sys.stdout.isatty() else PIPED_WIDTH)
err = Console(stderr=True, soft_wrap=True)
json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")


def say(lines: Iterable[str]) -> None:
    """Lines on standard output, with nothing in them read as markup."""
    for line in lines:
        out.print(line, markup=False, highlight=False)


def say_or_json(answer: A, lines: Callable[[A], Iterable[str]], as_json: bool) -> None:
    """An answer for a program or for a person."""
    if as_json:
        say_json(answer)
    else:
        say(lines(answer))


def say_table(rows: Sequence[Any], table: Callable[[], Table], as_json: bool) -> None:
    """A list: for a program its rows (dataclasses, or what JSON can hold), for a person a table."""
    if as_json:
        say_json([asdict(row) if is_dataclass(row) and not isinstance(row, type) else row for row in rows])
    else:
        out.print(table())


def say_json(answer: Any) -> None:
    """An answer for a program."""
    click.echo(json.dumps(answer, ensure_ascii=False, indent=1))
