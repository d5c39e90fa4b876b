"""The `plumb takedown` commands: exclude pages permanently, list them, and undo it."""

from typing import TYPE_CHECKING

import click
from rich.table import Table

from domain.administration import Takedown
from domain.errors import PlumblineError
from pipeline.cli.config_argument import VerticalGroup
from pipeline.cli.console import json_option, print_line, print_table_or_json
from pipeline.cli.session import format_time_or_none, terminal_user, with_engine
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from pipeline.engine import Engine


@click.group(cls=VerticalGroup)
def takedown() -> None:
    """Take pages down permanently: they are never crawled, extracted or indexed again."""


@takedown.command("add")
@click.argument("url")
@click.option("--reason", required=True, help="Why the page is taken down; the list of takedowns shows it.")
@with_engine
def add_takedown(engine: "Engine", url: str, reason: str) -> None:
    """Take a page down, with all URLs of the same article."""
    from pipeline.operations import run_command

    change = run_command(engine, "page_takedown", terminal_user(), url=url, reason=reason)
    if change is None:
        raise PlumblineError(f"{url[:200]} is taken down already: `plumb takedown list` shows all")
    count = len(change.result)
    urls_are = "URL is" if count == 1 else "URLs are"
    print_line(f"took down {change.subject}; {count} {urls_are} excluded")


@takedown.command("undo")
@click.argument("url")
@with_engine
def undo_takedown(engine: "Engine", url: str) -> None:
    """Undo the takedown of a page; the next run crawls it again."""
    from pipeline.operations import run_command

    if run_command(engine, "page_restore", terminal_user(), url=url) is None:
        raise PlumblineError(f"{url[:200]} is not taken down: `plumb takedown list` shows all")
    print_line(f"{url} is due for the next run")


@takedown.command("list")
@json_option
@with_engine
def list_takedowns(engine: "Engine", as_json: bool) -> None:
    """List the URLs that are taken down, the newest first."""
    takedowns = engine.store.takedowns.list_all()
    print_table_or_json(
        [
            {"url": row.url, "account": row.account, "reason": row.reason, "at": format_time_or_none(row.at)}
            for row in takedowns
        ],
        lambda: takedown_table(takedowns),
        as_json,
    )


def takedown_table(takedowns: list[Takedown]) -> Table:
    """Build the table of takedowns."""
    table = Table("URL", "reason", "account", "time")
    for row in takedowns:
        table.add_row(row.url, row.reason, row.account, local_time(row.at))
    return table
