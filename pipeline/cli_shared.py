"""What all commands share: the settings of a call, the open engine, and how answers are said."""

import getpass
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from docstore.errors import PlumblineError
from docstore.model import StageReport
from pipeline import report
from pipeline.engine import Engine, make_folder
from pipeline.logs import log_to
from pipeline.progress import Terminal
from pipeline.settings import Settings, load_settings

CONFIG = "vertical.toml"
F = TypeVar("F", bound=Callable[..., Any])

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)


def with_config(command: F) -> F:
    """Let a command take the TOML file as its argument too: `plumb run my.toml`."""
    argument = click.argument("config_file", required=False, metavar="[CONFIG]", type=click.Path(path_type=Path))
    return click.pass_context(argument(command))  # type: ignore[return-value]


def settings_of(context: click.Context, config_file: Path | None = None, **flags: Any) -> Settings:
    """The settings of this call; a flag is named as its setting, with `_` between section and key."""
    given = dict(context.obj["flags"])
    given.update({name.replace("__", "."): str(value) for name, value in flags.items() if value is not None})
    return load_settings(config_file or context.obj["config"] or Path(CONFIG), given)


def settings_or_defaults(context: click.Context, config_file: Path | None = None, **flags: Any) -> Settings:
    """As `settings_of`, for commands that need no vertical: where no file is named and none lies here, the defaults."""
    named = config_file or context.obj["config"]
    return settings_of(context, named or (None if Path(CONFIG).exists() else Path(os.devnull)), **flags)


@contextmanager
def opened(settings: Settings) -> Iterator[Engine]:
    """The engine of a vertical, its log file open."""
    make_folder(settings.data_dir / "logs")
    log_to(settings.data_dir / "logs" / "plumb.log")
    with Engine(settings, Terminal(err)) as engine:
        yield engine


def say_reports(reports: list[StageReport]) -> None:
    """The reports of a run, one line a stage."""
    say(report.report_lines(reports))


def say(lines: Iterable[str]) -> None:
    """Lines on standard output, with nothing in them read as markup."""
    for line in lines:
        out.print(line, markup=False, highlight=False)


def say_or_json(answer: dict[str, Any], lines: Callable[[dict[str, Any]], Iterable[str]], as_json: bool) -> None:
    """An answer for a program or for a person."""
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=1))
    else:
        say(lines(answer))


def terminal_name() -> str:
    """Who works at the terminal, for the history of the lexicon: there are no accounts here."""
    try:
        return f"{getpass.getuser()} (terminal)"
    except (KeyError, OSError):  # a user without a name
        return "terminal"


def read_bytes(path: Path) -> bytes:
    """The content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlumblineError(f"cannot read {path}: {error.strerror}") from error
