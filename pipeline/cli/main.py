"""Entry point of the command line: the `plumb` command, its subcommands and its error handling.

Most commands run one stage, and most options override the setting of the same name.
Exit status: 0 success, 1 failure (one line on standard error), 2 wrong usage, 130 stopped by a signal.
"""

import ast
import errno
import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import FrameType

import click

from domain.errors import PlumblineError
from pipeline.cli.config_argument import DEFAULT_CONFIG_FILE, format_usage_error
from pipeline.cli.console import print_line, stderr_console

COMMANDS: Mapping[str, str] = {
    "account": "pipeline.cli.accounts:account",
    "alerts": "pipeline.cli.alerts:alerts",
    "backup": "pipeline.cli.maintenance:backup",
    "check": "pipeline.cli.maintenance:check",
    "compare": "pipeline.cli.compare:compare",
    "crawl": "pipeline.cli.crawl:crawl_command",
    "demo": "pipeline.cli.run:demo",
    "doctor": "pipeline.cli.maintenance:doctor",
    "embed": "pipeline.cli.run:embed_command",
    "explain": "pipeline.cli.page:explain",
    "extract": "pipeline.cli.page:extract_command",
    "fetch": "pipeline.cli.crawl:fetch",
    "frontier": "pipeline.cli.crawl:frontier",
    "import": "pipeline.cli.run:import_pages",
    "index": "pipeline.cli.run:index",
    "init": "pipeline.cli.maintenance:init",
    "lexicon": "pipeline.cli.lexicon:lexicon",
    "mcp": "pipeline.cli.mcp:mcp",
    "ocr": "pipeline.cli.run:ocr_command",
    "refresh": "pipeline.cli.run:refresh",
    "restore": "pipeline.cli.maintenance:restore",
    "run": "pipeline.cli.run:run",
    "schedule": "pipeline.cli.run:schedule",
    "serve": "pipeline.cli.run:serve",
    "sites": "pipeline.cli.crawl:sites",
    "status": "pipeline.cli.status:show_status",
    "takedown": "pipeline.cli.takedowns:takedown",
    "topic": "pipeline.cli.topic:topic",
    "up": "pipeline.cli.run:up",
    "upgrade": "pipeline.cli.maintenance:upgrade",
    "warc": "pipeline.cli.crawl:warc",
}
"""Command name -> module:function. Only the module of the called command is imported."""


class LazyGroup(click.Group):
    """Group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of this name; None if it does not exist."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summary of each command. The default of click would import every command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, read_summary(COMMANDS[name])) for name in self.list_commands(ctx)])


def read_summary(location: str) -> str:
    """Return the first paragraph of the docstring of `module:function`; reads the source and imports nothing."""
    module, _, name = location.partition(":")
    source = Path(__file__).with_name(f"{module.rpartition('.')[2]}.py").read_text(encoding="utf-8")
    [command] = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    return " ".join((ast.get_docstring(command) or "").partition("\n\n")[0].split())


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="plumbline-search", prog_name="plumb")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    help=f"Config file (TOML) of the vertical [{DEFAULT_CONFIG_FILE}].",
)
@click.option(
    "-s",
    "--set",
    "assignments",
    multiple=True,
    metavar="SECTION.KEY=VALUE",
    help="Override a setting; may be repeated.",
)
@click.pass_context
def cli(context: click.Context, config: Path | None, assignments: tuple[str, ...]) -> None:
    """Plumbline: a search engine for one domain, from seed URLs to a search page.

    Each vertical has one config file (TOML). Pass it with -c or as the first argument of the command:
    `plumb status my.toml`.
    """
    flags = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or "." not in name:
            raise click.UsageError(f"--set {assignment}: use SECTION.KEY=VALUE, for example crawl.threads=8")
        flags[name.strip()] = value.strip()
    context.obj = {"config": config, "flags": flags}


REPEATED_SIGNAL_SECONDS = 1.0
LOST_SIGNAL_SECONDS = 0.05
LOG_ADVICE = "details are in logs/plumb.log in the data folder"
RETRY_ADVICE = "then run the command again; no data was lost"
OS_ERROR_ADVICE = {
    errno.ENOSPC: f"free some space, {RETRY_ADVICE}",
    errno.EDQUOT: f"raise the disk quota, {RETRY_ADVICE}",
    errno.EFBIG: f"raise the file size limit (ulimit -f), {RETRY_ADVICE}",
    errno.EROFS: f"make the folder writable, {RETRY_ADVICE}",
    errno.EIO: f"check the disk for errors, {RETRY_ADVICE}",
}
"""errno -> advice for an operating system error while writing files outside the store."""


class StopSignalHandler:
    """Signal handler that raises KeyboardInterrupt, once for signals within REPEATED_SIGNAL_SECONDS of each other.

    A terminal or service manager signals all processes of `plumb up`, which then stops its scheduler with a signal too.
    The second signal must not interrupt what the first one has started.
    """

    def __init__(self) -> None:
        self._last_signal_at = -math.inf  # monotonic seconds

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        previous, self._last_signal_at = self._last_signal_at, time.monotonic()
        if self._last_signal_at - previous > REPEATED_SIGNAL_SECONDS:
            raise KeyboardInterrupt

    def handle_unraisable(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """Send the signal again if it interrupted a finalizer, in which Python only reports exceptions."""
        if unraisable.exc_type is KeyboardInterrupt:
            self._last_signal_at = -math.inf
            threading.Timer(LOST_SIGNAL_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            sys.__unraisablehook__(unraisable)


def main() -> None:
    """Run the `plumb` command and exit.

    Expected errors are printed as one line. Tracebacks of unexpected errors go to the log.
    """
    # SIGTERM of a service manager is handled like Ctrl-C. A shell's `&` makes child processes ignore SIGINT.
    handler = StopSignalHandler()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, handler)
    sys.unraisablehook = handler.handle_unraisable
    logging.getLogger().addHandler(logging.NullHandler())  # no tracebacks on standard error before the log is open
    try:
        cli.main(prog_name="plumb", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        print_line(format_usage_error(error), stderr_console)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        stderr_console.print("stopped")
        sys.exit(130)
    except PlumblineError as error:
        logging.getLogger(__name__).error("%s", error)  # a timer may discard standard error
        print_line(f"plumb: {error}", stderr_console)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        logging.getLogger(__name__).exception("operating system error")
        advice = OS_ERROR_ADVICE.get(error.errno or 0, LOG_ADVICE)
        print_line(f"plumb: {error}: {advice}", stderr_console)
        sys.exit(1)
    except Exception as error:  # last resort: no traceback on the terminal
        logging.getLogger(__name__).exception("internal error")
        print_line(f"plumb: internal error ({type(error).__name__}): {error}; {LOG_ADVICE}", stderr_console)
        sys.exit(1)


if __name__ == "__main__":
    main()
