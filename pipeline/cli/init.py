"""`plumb init`: create the config file of a new vertical."""

from pathlib import Path

import click

from domain.errors import PlumblineError
from pipeline.cli.config_argument import DEFAULT_CONFIG_FILE
from pipeline.cli.console import stdout_console
from pipeline.settings_template import render_sample_toml


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.pass_context
def init(context: click.Context, path: Path | None) -> None:
    """Write a sample config file with all settings, defaults and descriptions to PATH [vertical.toml]."""
    path = path or context.obj["config"] or Path(DEFAULT_CONFIG_FILE)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(render_sample_toml())
    except FileExistsError:
        raise PlumblineError(f"{path} already exists and was not changed: name another file") from None
    except OSError as error:
        raise PlumblineError(f"cannot write {path}: {error.strerror}") from error
    stdout_console.print(
        f"created {path}: set crawl.seeds and crawl.contact in it, then run `plumb run {path}`",
        markup=False,
        highlight=False,
    )
