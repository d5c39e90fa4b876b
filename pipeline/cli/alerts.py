"""`plumb alerts`: list open alerts, and test the alert channels."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from domain.errors import PlumblineError
from pipeline.cli.config_argument import VerticalCommand
from pipeline.cli.console import json_option, print_lines, print_lines_or_json
from pipeline.cli.session import format_time_or_none, load_call_settings, open_engine

if TYPE_CHECKING:
    from pipeline.engine import Engine


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--test", "is_test", is_flag=True, help="Only send a test alert through each configured channel.")
@json_option
def alerts(context: click.Context, is_test: bool, as_json: bool) -> None:
    """List open alerts, and send new and resolved ones by mail and webhook.

    Every run does this at its end; without runs, call it from a timer.
    """
    if is_test and as_json:
        raise click.UsageError("--json cannot be combined with --test")
    with open_engine(load_call_settings(context)) as engine:
        from pipeline.alerts.service import evaluate_and_send, send_test_alert

        if is_test:
            tests = list(send_test_alert(engine.settings))
            print_lines(f"{test.channel}: sent in {test.seconds:.1f} s" for test in tests if not test.error)
            if errors := [test.error for test in tests if test.error]:
                raise PlumblineError("; ".join(errors))
            return
        delivery_errors = evaluate_and_send(engine)
        print_lines_or_json(firing_rows(engine), format_alerts, as_json)
        if delivery_errors:
            raise PlumblineError("; ".join(delivery_errors))


def firing_rows(engine: "Engine") -> list[dict[str, Any]]:
    """Return the open alerts as JSON rows."""
    firing_alerts = engine.store.alerts.firing()
    if not firing_alerts:
        return []
    from pipeline.alerts.channels import alert_json  # imported late because it loads Babel and Flask

    language = engine.settings.alerts.language
    return [
        {"since": format_time_or_none(alert.firing_since), **alert_json(alert, "firing", language)}
        for alert in firing_alerts
    ]


def format_alerts(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Format each row of `firing_rows` as one line: time to the minute, text."""
    if not rows:
        yield "no open alerts"
    yield from (f"since {row['since'][:16]}  {row['text']}" for row in rows)
