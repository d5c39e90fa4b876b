"""Alerts that have ended, in a file of JSON lines in the data folder."""

import logging
import time
from collections.abc import Set
from contextlib import suppress
from pathlib import Path

from docstore.reports.alerts import values_from_json, values_to_json
from domain.alert import Alert, AlertKey, EndedAlert
from pipeline.engine import Engine
from pipeline.json_lines import append_json_lines, read_json_lines

log = logging.getLogger(__name__)
ENDED_ALERTS_FILE = "ended_alerts.jsonl"
MAX_ENDED_ALERTS = 500


def record_ended_alerts(engine: Engine, firing_keys: Set[AlertKey]) -> None:
    """Append the stored alerts that no longer fire. Needs the lock `alerts`. Errors are only logged.

    After a kill before the store changes, the file already has them.
    """
    now, path = time.time(), engine.settings.data_dir / ENDED_ALERTS_FILE
    past_keys = {
        (row.get("kind"), row.get("subject"), row.get("since")) for row in read_json_lines(path, MAX_ENDED_ALERTS)
    }
    rows = [
        {
            "kind": alert.key.kind,
            "subject": alert.key.subject,
            "details": values_to_json(alert.message_values),
            "since": alert.firing_since,
            "ended_at": now,
        }
        for alert in engine.store.alerts.firing()
        if alert.key not in firing_keys and (alert.key.kind, alert.key.subject, alert.firing_since) not in past_keys
    ]
    try:
        if rows:
            append_json_lines(path, rows, MAX_ENDED_ALERTS)
    except OSError as error:
        log.warning("ended alerts not recorded: %s", error)


def read_ended_alerts(data_dir: Path) -> list[EndedAlert]:
    """Return the ended alerts, newest first. Invalid lines are skipped."""
    ended_alerts = []
    for row in reversed(read_json_lines(data_dir / ENDED_ALERTS_FILE, MAX_ENDED_ALERTS)):
        with suppress(KeyError, TypeError, ValueError):
            values = values_from_json(row["details"])
            alert = Alert(AlertKey(row["kind"], row["subject"]), values, float(row["since"]))
            ended_alerts.append(EndedAlert(alert, float(row["ended_at"])))
    return ended_alerts
