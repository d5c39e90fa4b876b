"""Shared by all commands: the settings of a call, the open engine and the output of stage reports."""

import getpass
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from domain.errors import PlumblineError, SettingsError
from domain.outcome import Reason, StageReport
from pipeline.alerts.secrets import register_settings_secrets
from pipeline.cli.config_argument import DEFAULT_CONFIG_FILE
from pipeline.cli.console import print_line, print_lines, stderr_console
from pipeline.local_time import local_time
from pipeline.logs import configure_logging, ensure_folder
from pipeline.progress import JsonLineProgress, Progress, TerminalProgress
from pipeline.settings import Settings, load_settings

if TYPE_CHECKING:
    from pipeline.engine import Engine


def load_call_settings(context: click.Context, **flags: Any) -> Settings:
    """Load the settings of this call. Raises SettingsError if no config file is given or a setting is invalid.

    Args:
        context: The click context of the command.
        **flags: Overrides by setting path, with `__` for the dot (`crawl__threads`). None means no override.
    """
    config_path = context.obj["config"]
    if not has_config_file(context):
        raise SettingsError(
            f"no config file given and no {DEFAULT_CONFIG_FILE} in this folder: use `plumb -c my.toml "
            f"{context.command_path.partition(' ')[2]} ...`, or create one with `plumb init my.toml`"
        )
    return load_with_overrides(context, config_path or Path(DEFAULT_CONFIG_FILE), flags)


def has_config_file(context: click.Context) -> bool:
    """Return True if a config file is given, or there is one in the working folder."""
    return context.obj["config"] is not None or Path(DEFAULT_CONFIG_FILE).exists()


def load_call_settings_or_defaults(context: click.Context, **flags: Any) -> Settings:
    """Load the settings of this call, or the defaults if no config file is given or found.

    For commands that need no store.
    """
    if not has_config_file(context):
        return load_with_overrides(context, Path(os.devnull), flags)
    return load_call_settings(context, **flags)


def load_with_overrides(context: click.Context, path: Path, flags: Mapping[str, Any]) -> Settings:
    """Load the settings from `path`, overridden by --set, then by `flags` that are not None.

    Prints a warning for each deprecated setting to standard error.
    """
    overrides = {name.replace("__", "."): str(value) for name, value in flags.items() if value is not None}
    settings = load_settings(path, context.obj["flags"] | overrides)
    for setting in settings.deprecated_settings:
        print_line(f"warning: {setting}", stderr_console)
    return settings


def check_crawl_settings(settings: Settings) -> None:
    """Raise SettingsError if a crawl with these settings would fail, before store and Solr are opened.

    The seeds of a topic are in the data folder, so a focused crawl is checked when it starts.
    """
    from crawler.crawl_plan import build_crawl_plan, check_addresses

    if not settings.crawl.topic:
        check_addresses(build_crawl_plan(settings.crawl))


@contextmanager
def open_engine(settings: Settings) -> "Iterator[Engine]":
    """Open the log file and the engine of a vertical; closes the engine at the end."""
    from pipeline.engine import Engine  # imported late because it loads SQLAlchemy

    register_settings_secrets(settings)
    ensure_folder(settings.data_dir / "logs")
    configure_logging(settings.data_dir / "logs" / "plumb.log", settings.vertical.log_format)
    with Engine(settings, create_progress(settings)) as engine:
        yield engine


def with_engine(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command: open the engine of this call and pass it as the first argument.

    Options with `__` in their name override settings (see `load_call_settings`) and are not passed on.
    """

    @click.pass_context
    def run_command(context: click.Context, /, **options: Any) -> None:
        overrides = {name: options.pop(name) for name in list(options) if "__" in name}
        with open_engine(load_call_settings(context, **overrides)) as engine:
            command(engine, **options)

    return update_wrapper(run_command, command)


def create_progress(settings: Settings) -> Progress:
    """Create the progress display: bars and notes, or JSON lines if `vertical.log_format` is json."""
    return (
        JsonLineProgress(stderr_console.file)
        if settings.vertical.log_format == "json"
        else TerminalProgress(stderr_console)
    )


def print_reports(reports: list[StageReport]) -> None:
    """Print stage reports, one line for each stage and note."""
    print_lines(format_reports(reports))


def format_reports(reports: Iterable[StageReport]) -> Iterator[str]:
    """Yield one line for each stage (name, seconds, counts), followed by its notes."""
    for report in reports:
        counts = ", ".join(f"{reason} {count}" for reason, count in sort_by_count(report.outcome_counts))
        first_line, *more_lines = [counts] * bool(counts) + list(report.notes) or ["nothing to do"]
        yield f"{report.stage:<8} {report.seconds:7.1f} s  {first_line}"
        yield from (f"{'':<8} {'':7}    {line}" for line in more_lines)


def sort_by_count(counts: Mapping[Reason, int]) -> list[tuple[Reason, int]]:
    """Return (reason, count) pairs with a count above 0, most frequent first."""
    return sorted(((r, n) for r, n in counts.items() if n), key=lambda pair: (-pair[1], pair[0]))


def format_time_or_none(seconds: float | None) -> str | None:
    """Format epoch seconds as local time; None stays None."""
    return None if seconds is None else local_time(seconds)


def terminal_user() -> str:
    """Return the name of the operating system user, as the actor in the review history: `anna (terminal)`."""
    try:
        return f"{getpass.getuser()} (terminal)"
    except (KeyError, OSError):  # a user without a name
        return "terminal"


def read_file(path: Path) -> bytes:
    """Read a file. Raises PlumblineError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlumblineError(f"cannot read {path}: {error.strerror}") from error


def read_secret(prompt: str) -> str:
    """Read a secret: typed twice at a prompt, or the first line of standard input.

    Raises SettingsError if standard input is empty.
    """
    if sys.stdin.isatty():
        return str(click.prompt(prompt, hide_input=True, confirmation_prompt=True))
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise SettingsError("no password given: type it at the prompt, or send it on standard input")
    return line
