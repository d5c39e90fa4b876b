"""Alerts about which nobody is notified for some time."""

import time
from collections.abc import Callable

from sqlalchemy import Connection, delete, or_, select

from docstore.actions import write_action
from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.administration_tables import alert_mutes
from domain.administration import AlertMute
from domain.alert import AlertKey

MUTE_ACTION, UNMUTE_ACTION = "alert_mute", "alert_unmute"  # codes of actions


class AlertMuteTable:
    """Mute and unmute alerts (`store.alert_mutes`). Each change is recorded as an action in its transaction."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def mute(self, key: AlertKey, account: str, until: float | None) -> int:
        """Mute an alert until a time in epoch seconds; None: until `unmute`. Returns the id of the action."""
        row = {"kind": key.kind, "subject": key.subject, "account": account, "until": until}
        with self._database.write() as connection:
            self._database.upsert(connection, alert_mutes, [row])
            update_row_checksums(self._database, connection, alert_mutes, [key.kind])
            return self._write_action(connection, account, MUTE_ACTION, key, until)

    def unmute(self, key: AlertKey, account: str) -> int | None:
        """End the mute of an alert. Returns the id of the action, or None if the alert was not muted."""
        is_key = (alert_mutes.c.kind == key.kind) & (alert_mutes.c.subject == key.subject)
        with self._database.write() as connection:
            if not connection.execute(delete(alert_mutes).where(is_key)).rowcount:
                return None
            update_row_checksums(self._database, connection, alert_mutes, [key.kind])
            return self._write_action(connection, account, UNMUTE_ACTION, key, None)

    def active(self) -> list[AlertMute]:
        """Return the mutes that have not ended, ordered by alert."""
        is_active = or_(alert_mutes.c.until.is_(None), alert_mutes.c.until > self._clock())
        query = select(alert_mutes).where(is_active).order_by(alert_mutes.c.kind, alert_mutes.c.subject)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [AlertMute(AlertKey(row.kind, row.subject), row.account, row.until) for row in rows]

    def _write_action(
        self, connection: Connection, account: str, action: str, key: AlertKey, until: float | None
    ) -> int:
        details = {"kind": key.kind, "subject": key.subject, "until": until}
        return write_action(
            self._database, connection, self._clock(), account, action, key.subject or key.kind, details
        )
