"""Alerts about which nobody is notified for some time."""

from collections.abc import Mapping

from sqlalchemy import delete, or_, select

from docstore.database import StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.reports.alerts import AlertTable
from docstore.schema.administration_tables import alert_mutes
from domain.account import Role
from domain.administration import AlertMute
from domain.alert import AlertKey
from domain.message import Message
from domain.operation import Call, Change, Field, Operation

DAY_SECONDS = 86_400
SECONDS_BY_PERIOD: Mapping[str, float | None] = {"day": DAY_SECONDS, "week": 7 * DAY_SECONDS, "ever": None}
ALERT_KEY = (Field("kind", 300, is_required=True), Field("subject", 300))


class AlertMuteTable(StorePart):
    """Mute and unmute alerts (`store.alert_mutes`)."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        """`alert_mute` for a period from now, of an alert that fires, and `alert_unmute`."""
        fields, role = (*ALERT_KEY, Field("period", choices=tuple(SECONDS_BY_PERIOD), is_required=True)), Role.OPERATOR
        muted = Message("The alert is muted. No notification about it is sent until the mute ends.")
        unmuted = Message("The alert is no longer muted.")
        changed = Message("This alert has changed meanwhile. The list below is up to date.")
        return (
            Operation("alert_mute", role, self._mute, fields, "alert_unmute", muted, changed),
            Operation("alert_unmute", role, self._unmute, ALERT_KEY, "alert_mute", unmuted, changed),
        )

    def _mute(self, call: Call) -> Change | None:
        key, seconds = AlertKey(call.text("kind"), call.text("subject")), SECONDS_BY_PERIOD[call.text("period")]
        is_muted = any(mute.key == key for mute in self.active())
        is_firing = any(alert.key == key for alert in AlertTable(self._database, self._clock).firing())
        if is_muted if call.expected is not None else not is_firing:
            return None
        until = call.values.get("until", None if seconds is None else self._clock() + seconds)
        row = {"kind": key.kind, "subject": key.subject, "account": call.account, "until": until}
        with self._database.write() as connection:
            self._database.upsert(connection, alert_mutes, [row])
            update_row_checksums(self._database, connection, alert_mutes, [key.kind])
        values = {"kind": key.kind, "subject": key.subject}
        return Change(key.subject or key.kind, {**values, "until": until}, values)

    def _unmute(self, call: Call) -> Change | None:
        key = AlertKey(call.text("kind"), call.text("subject"))
        is_key = (alert_mutes.c.kind == key.kind) & (alert_mutes.c.subject == key.subject)
        with self._database.write() as connection:
            row = connection.execute(delete(alert_mutes).where(is_key).returning(alert_mutes.c.until)).first()
            if row is None:
                return None
            update_row_checksums(self._database, connection, alert_mutes, [key.kind])
        values = {"kind": key.kind, "subject": key.subject}
        return Change(key.subject or key.kind, values, {**values, "period": "ever", "until": row.until})

    def active(self) -> list[AlertMute]:
        """Return the mutes that have not ended, ordered by alert."""
        is_active = or_(alert_mutes.c.until.is_(None), alert_mutes.c.until > self._clock())
        query = select(alert_mutes).where(is_active).order_by(alert_mutes.c.kind, alert_mutes.c.subject)
        with self._database.read() as connection:
            return [AlertMute(AlertKey(*row[:2]), row.account, row.until) for row in connection.execute(query)]
