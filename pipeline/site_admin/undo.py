"""Undo of recorded actions: each area registers the inverse of its actions here."""

from collections.abc import Callable, Mapping

from docstore.reports.alert_mutes import MUTE_ACTION, UNMUTE_ACTION
from domain.administration import AdminAction
from domain.alert import AlertKey
from pipeline.engine import Engine

Undo = Callable[[Engine, AdminAction, str], int | None]
"""Reverses an action for an account and records that. Returns the id of the new action; None if nothing was left to
reverse."""


def undo_mute(engine: Engine, action: AdminAction, account: str) -> int | None:
    """Unmute the alert."""
    return engine.store.alert_mutes.unmute(alert_key(action), account)


def undo_unmute(engine: Engine, action: AdminAction, account: str) -> int | None:
    """Mute the alert again until it is unmuted, unless it is muted."""
    key = alert_key(action)
    is_muted = any(mute.key == key for mute in engine.store.alert_mutes.active())
    return None if is_muted else engine.store.alert_mutes.mute(key, account, None)


def alert_key(action: AdminAction) -> AlertKey:
    """Return the alert of an action."""
    return AlertKey(str(action.details.get("kind", "")), str(action.details.get("subject", "")))


UNDO_BY_ACTION: Mapping[str, Undo] = {
    MUTE_ACTION: undo_mute,
    UNMUTE_ACTION: undo_unmute,
}
"""The inverse of each action that can be undone, by the code of the action."""
