"""Command-line options and error handling that all benchmarks share: --data, --smoke, one-line errors."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchmarks import results
from benchmarks.results import SHARED
from domain.errors import PlumblineError

FAILURES = (PlumblineError, OSError, subprocess.SubprocessError)
"""What ends a benchmark with one line. Other exceptions are bugs and keep their traceback."""


class BenchmarkCommand(click.Command):
    """A command that ends with status 1 and one line on a failure."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the benchmark."""
        try:
            return super().invoke(ctx)
        except FAILURES as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            if len(lines) > 1:
                click.echo("\n".join(lines), err=True)
            raise click.ClickException(f"{self.name}: {' '.join(dict.fromkeys((lines[0], lines[-1])))}") from error


def benchmark(name: str, **smoke: object) -> Callable[[Callable[..., object]], BenchmarkCommand]:
    """Turn a function into a command with --smoke: other defaults for its options, and another output folder.

    Args:
        name: The module of the benchmark, also the name of its output file.
        smoke: The defaults of the smoke form, by parameter. Options of the command line have precedence.

    Raises:
        TypeError: A name in `smoke` is not a parameter.
    """

    def use_smoke(context: click.Context, _parameter: click.Parameter, is_smoke: bool) -> None:
        if is_smoke:
            context.default_map = smoke
            context.with_resource(results.output_to(results.OUT / "smoke"))

    def decorate(function: Callable[..., object]) -> BenchmarkCommand:
        command = click.command(name, cls=BenchmarkCommand)(function)
        if unknown := smoke.keys() - {option.name for option in command.params}:
            raise TypeError(f"{name} has no parameters {', '.join(sorted(unknown))}")
        text = "Run the same code on a handful of data; figures go to benchmarks/out/smoke."
        flags = {"is_flag": True, "is_eager": True, "expose_value": False}
        command.params.append(click.Option(["--smoke"], callback=use_smoke, help=text, **flags))
        return command

    return decorate


def data_option(
    default: Path | None = SHARED, text: str = "A folder of the form of ../shared/data."
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """The option --data."""
    return click.option("--data", default=default, type=click.Path(path_type=Path), help=text)


def names(_context: click.Context, _parameter: click.Parameter, text: str) -> list[str]:
    """The parts of a comma-separated option."""
    return [part.strip() for part in text.split(",") if part.strip()]
