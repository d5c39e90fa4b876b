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
from pipeline.cli.console import err, say
from pipeline.cli.grammar import CONFIG
from pipeline.local_time import local_time
from pipeline.logs import log_to
from pipeline.progress import JsonLines, Progress, Terminal
from pipeline.settings import Settings, load_settings

if TYPE_CHECKING:
    from pipeline.engine import Engine


def settings_of(context: click.Context, **flags: Any) -> Settings:
    """The settings of this call; a flag is named as its setting, with `_` between section and key."""
    named = context.obj["config"]
    if named is None and not Path(CONFIG).exists():
        raise SettingsError(
            f"no vertical is named and there is no {CONFIG} here: name its file, as `plumb -c my.toml "
            f"{context.command_path.partition(' ')[2]} ...` (`plumb init my.toml` makes one)"
        )
    return loaded(context, named or Path(CONFIG), flags)


def settings_or_defaults(context: click.Context, **flags: Any) -> Settings:
    """As `settings_of`, for commands that need no vertical: where no file is named and none lies here, the defaults."""
    if context.obj["config"] is None and not Path(CONFIG).exists():
        return loaded(context, Path(os.devnull), flags)
    return settings_of(context, **flags)


def loaded(context: click.Context, path: Path, flags: Mapping[str, Any]) -> Settings:
    """The settings in a file, overridden by --set and by the flags that were given."""
    given = dict(context.obj["flags"])
    given.update({name.replace("__", "."): str(value) for name, value in flags.items() if value is not None})
    return load_settings(path, given)


@contextmanager
def opened(settings: Settings) -> "Iterator[Engine]":
    """The engine of a vertical, its log file open."""
    from pipeline.engine import Engine, make_folder  # SQLAlchemy: help and wrong settings are shown without it

    make_folder(settings.data_dir / "logs")
    log_to(settings.data_dir / "logs" / "plumb.log", settings.vertical.log_format)
    with Engine(settings, progress_of(settings)) as engine:
        yield engine


def progress_of(settings: Settings) -> Progress:
    """How a command tells how far it is: bars and notes for people, JSON lines for machines."""
    return JsonLines(err.file) if settings.vertical.log_format == "json" else Terminal(err)


def say_reports(reports: list[StageReport]) -> None:
    """The reports of a run, one line a stage."""
    say(report_lines(reports))


def report_lines(reports: Iterable[StageReport]) -> Iterator[str]:
    """One line a stage, and its notes below."""
    for report in reports:
        counts = ", ".join(f"{reason} {count}" for reason, count in by_count(report.counts))
        first, *rest = [counts] * bool(counts) + list(report.notes) or ["nothing to do"]
        yield f"{report.stage:<8} {report.seconds:7.1f} s  {first}"
        yield from (f"{'':<8} {'':7}    {note}" for note in rest)


def by_count(counts: Mapping[Reason, int]) -> list[tuple[Reason, int]]:
    """Reasons that occurred, most frequent first."""
    return sorted(((r, n) for r, n in counts.items() if n), key=lambda pair: (-pair[1], pair[0]))


def time_or_none(seconds: float | None) -> str | None:
    """Epoch seconds in local time."""
    return None if seconds is None else local_time(seconds)


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
