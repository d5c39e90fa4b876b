"""Firing alerts, and the notifications sent on each channel. Both are stored so that each notification is sent once."""

import json
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import delete, select

from docstore.database import StorePart
from docstore.schema.operation_tables import alert_notices, alerts
from domain.alert import Alert, AlertKey
from domain.message import parse_message, serialize_message


def values_to_json(values: Mapping[str, str | int]) -> str:
    """Serialize the values of a message."""
    texts = {name: serialize_message(value) if isinstance(value, str) else value for name, value in values.items()}
    return json.dumps(texts, ensure_ascii=False)


def values_from_json(text: str) -> dict[str, str | int]:
    """Parse what `values_to_json` returned."""
    values: dict[str, str | int] = json.loads(text)
    return {name: parse_message(value) if isinstance(value, str) else value for name, value in values.items()}


class AlertTable(StorePart):
    """Load and save firing alerts and sent notifications (`store.alerts`)."""

    def firing(self) -> list[Alert]:
        """Return the firing alerts, oldest first."""
        query = select(alerts).order_by(alerts.c.since, alerts.c.kind, alerts.c.subject)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [Alert(AlertKey(row.kind, row.subject), values_from_json(row.details), row.since) for row in rows]

    def replace_firing(self, firing_alerts: Iterable[Alert]) -> None:
        """Replace the firing alerts. An alert that was already firing retains its start time."""
        firing_since = {alert.key: alert.firing_since for alert in self.firing()}
        rows = [
            {
                "kind": alert.key.kind,
                "subject": alert.key.subject,
                "details": values_to_json(alert.message_values),
                "since": firing_since.get(alert.key, self._clock()),
            }
            for alert in firing_alerts
        ]
        with self._database.write() as connection:
            connection.execute(delete(alerts))
            if rows:
                connection.execute(alerts.insert(), rows)

    def unresolved_notices(self, channel: str) -> dict[AlertKey, Mapping[str, str | int]]:
        """Return the open notifications of a channel: alert key -> message values last sent.

        Alerts already reported as resolved are excluded.
        """
        query = select(alert_notices).where(alert_notices.c.channel == channel)
        with self._database.read() as connection:
            return {AlertKey(row.kind, row.subject): values_from_json(row.details) for row in connection.execute(query)}

    def record_notified(
        self, channel: str, started_alerts: Collection[Alert], resolved_keys: Collection[AlertKey]
    ) -> None:
        """Record that a channel was notified of started alerts and of resolved alerts."""
        rows = [
            {
                "channel": channel,
                "kind": alert.key.kind,
                "subject": alert.key.subject,
                "details": values_to_json(alert.message_values),
            }
            for alert in started_alerts
        ]
        with self._database.write() as connection:
            for key in resolved_keys:
                connection.execute(
                    delete(alert_notices).where(
                        alert_notices.c.channel == channel,
                        alert_notices.c.kind == key.kind,
                        alert_notices.c.subject == key.subject,
                    )
                )
            self._database.upsert(connection, alert_notices, rows)
