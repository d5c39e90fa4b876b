"""`plumb alerts`: what needs the operator, and whether the operator can be told."""

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from docstore.errors import PlumblineError
from pipeline.cli.console import json_option, say, say_or_json
from pipeline.cli.grammar import Verb
from pipeline.cli.shared import opened, settings_of, time_or_none

if TYPE_CHECKING:
    from pipeline.engine import Engine


@click.command(cls=Verb)
@click.pass_context
@click.option("--test", "is_test", is_flag=True, help="Only send a test alert through each configured channel.")
@json_option
def alerts(context: click.Context, is_test: bool, as_json: bool) -> None:
    """List open alerts, and send new and resolved ones by mail and webhook.

    Every run does this at its end; without runs, call it from a timer.
    """
    with opened(settings_of(context)) as engine:
        from pipeline.alerts.service import tell

        if is_test:
            say(test(engine))
            return
        faults = tell(engine)
        say_or_json(firing(engine), firing_lines, as_json)
        if faults:
            raise PlumblineError("; ".join(faults))


def test(engine: "Engine") -> Iterator[str]:
    """Send a test by each channel. Raises the first channel's error."""
    from docstore.reports.alerts import Alert, AlertKey
    from pipeline.alerts.channels import check
    from pipeline.alerts.message import News

    for channel in check(engine.settings):
        started = time.monotonic()
        channel.tell(News((Alert(AlertKey("test")),)))
        yield f"{channel.name}: sent in {time.monotonic() - started:.1f} s"


def firing(engine: "Engine") -> list[dict[str, Any]]:
    """What fires, as JSON can hold it."""
    firing_alerts = engine.store.alerts.firing()
    if not firing_alerts:
        return []
    from pipeline.alerts.channels import as_json  # Babel and Flask, for the texts

    language = engine.settings.alerts.language
    return [{"since": time_or_none(one.since), **as_json(one, "firing", language)} for one in firing_alerts]


def firing_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The same for a person."""
    if not rows:
        yield "no open alerts"
    yield from (line_of(row) for row in rows)


def line_of(row: Mapping[str, Any]) -> str:
    """An alert in a line."""
    return f"since {row['since'][:16]}  {row['text']}"
