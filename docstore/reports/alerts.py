"""Which alerts fire, and what each channel has been told: kept in the store, so that each is told once."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import delete, select

from docstore.database import Database
from docstore.schema.operation_tables import alert_notices, alerts


@dataclass(frozen=True, order=True)
class AlertKey:
    """What an alert is about: its kind, and a subject of that kind (a host; "" where there is but one)."""

    kind: str
    subject: str = ""


@dataclass(frozen=True)
class Alert:
    """Something that the operator shall know. `message_values` are what its message says; `firing_since` epoch seconds."""

    key: AlertKey
    message_values: Mapping[str, str | int] = field(default_factory=dict)
    firing_since: float = 0.0


class AlertTable:
    """`store.alerts`."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def firing(self) -> list[Alert]:
        """The alerts that fire, those that began first ahead."""
        query = select(alerts).order_by(alerts.c.since, alerts.c.kind, alerts.c.subject)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [Alert(AlertKey(row.kind, row.subject), json.loads(row.details), row.since) for row in rows]

    def replace_firing(self, now_firing: Iterable[Alert]) -> None:
        """Let these fire and no others; one that fired before keeps its `since`."""
        firing_since = {alert.key: alert.firing_since for alert in self.firing()}
        rows = [
            {
                "kind": alert.key.kind,
                "subject": alert.key.subject,
                "details": json.dumps(dict(alert.message_values), ensure_ascii=False),
                "since": firing_since.get(alert.key, self._clock()),
            }
            for alert in now_firing
        ]
        with self._database.write() as connection:
            connection.execute(delete(alerts))
            if rows:
                connection.execute(alerts.insert(), rows)

    def unresolved_notices(self, channel: str) -> dict[AlertKey, Mapping[str, str | int]]:
        """What this channel was told of and not yet that it is over; with the values that it was told."""
        query = select(alert_notices).where(alert_notices.c.channel == channel)
        with self._database.read() as connection:
            return {AlertKey(row.kind, row.subject): json.loads(row.details) for row in connection.execute(query)}

    def record_notified(self, channel: str, started: Collection[Alert], resolved_keys: Collection[AlertKey]) -> None:
        """Note that this channel was told of what has begun and of what is over."""
        rows = [
            {
                "channel": channel,
                "kind": alert.key.kind,
                "subject": alert.key.subject,
                "details": json.dumps(dict(alert.message_values), ensure_ascii=False),
            }
            for alert in started
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
            self._database.upsert(connection, alert_notices, rows, update_columns=("details",))
