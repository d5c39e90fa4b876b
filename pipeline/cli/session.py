"""What all commands share: the settings of a call, the open engine, and how answers are said."""

import getpass
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docstore.errors import PlumblineError, SettingsError
from docstore.model import Reason, StageReport
from pipeline.cli.config_argument import DEFAULT_CONFIG_FILE
from pipeline.cli.console import print_lines, stderr_console
from pipeline.local_time import local_time
from pipeline.logs import configure_logging
from pipeline.progress import JsonLineProgress, Progress, TerminalProgress
from pipeline.settings import Settings, load_settings

if TYPE_CHECKING:
    from pipeline.engine import Engine


def load_call_settings(context: click.Context, **flags: Any) -> Settings:
    """The settings of this call; a flag is named as its setting, with `_` between section and key."""
    config_path = context.obj["config"]
    if config_path is None and not Path(DEFAULT_CONFIG_FILE).exists():
        raise SettingsError(
            f"no vertical is named and there is no {DEFAULT_CONFIG_FILE} here: name its file, as `plumb -c my.toml "
            f"{context.command_path.partition(' ')[2]} ...` (`plumb init my.toml` makes one)"
        )
    return load_with_overrides(context, config_path or Path(DEFAULT_CONFIG_FILE), flags)


def load_call_settings_or_defaults(context: click.Context, **flags: Any) -> Settings:
    """As `load_call_settings`, for commands that need no vertical: where no file is named and none lies here, the defaults."""
    if context.obj["config"] is None and not Path(DEFAULT_CONFIG_FILE).exists():
        return load_with_overrides(context, Path(os.devnull), flags)
    return load_call_settings(context, **flags)


def load_with_overrides(context: click.Context, path: Path, flags: Mapping[str, Any]) -> Settings:
    """The settings in a file, overridden by --set and by the flags that were given."""
    overrides = dict(context.obj["flags"])
    overrides.update({name.replace("__", "."): str(value) for name, value in flags.items() if value is not None})
    return load_settings(path, overrides)


@contextmanager
def open_engine(settings: Settings) -> "Iterator[Engine]":
    """The engine of a vertical, its log file open."""
    from pipeline.engine import Engine, ensure_folder  # SQLAlchemy: help and wrong settings are shown without it

    ensure_folder(settings.data_dir / "logs")
    configure_logging(settings.data_dir / "logs" / "plumb.log", settings.vertical.log_format)
    with Engine(settings, create_progress(settings)) as engine:
        yield engine


def create_progress(settings: Settings) -> Progress:
    """How a command tells how far it is: bars and notes for people, JSON lines for machines."""
    return (
        JsonLineProgress(stderr_console.file)
        if settings.vertical.log_format == "json"
        else TerminalProgress(stderr_console)
    )


def print_reports(reports: list[StageReport]) -> None:
    """The reports of a run, one line a stage."""
    print_lines(format_reports(reports))


def format_reports(reports: Iterable[StageReport]) -> Iterator[str]:
    """One line a stage, and its notes below."""
    for report in reports:
        counts = ", ".join(f"{reason} {count}" for reason, count in sort_by_count(report.outcome_counts))
        first, *rest = [counts] * bool(counts) + list(report.notes) or ["nothing to do"]
        yield f"{report.stage:<8} {report.seconds:7.1f} s  {first}"
        yield from (f"{'':<8} {'':7}    {note}" for note in rest)


def sort_by_count(counts: Mapping[Reason, int]) -> list[tuple[Reason, int]]:
    """Reasons that occurred, most frequent first."""
    return sorted(((r, n) for r, n in counts.items() if n), key=lambda pair: (-pair[1], pair[0]))


def format_time_or_none(seconds: float | None) -> str | None:
    """Epoch seconds in local time."""
    return None if seconds is None else local_time(seconds)


def terminal_user() -> str:
    """Who works at the terminal, for the history of the lexicon: there are no accounts here."""
    try:
        return f"{getpass.getuser()} (terminal)"
    except (KeyError, OSError):  # a user without a name
        return "terminal"


def read_file(path: Path) -> bytes:
    """The content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlumblineError(f"cannot read {path}: {error.strerror}") from error
