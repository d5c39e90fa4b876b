"""Undo of recorded actions: each area registers the inverse of its actions here."""

import time
from collections.abc import Callable, Mapping

from crawler.site import SITE_KEYS
from docstore.reports.alert_mutes import MUTE_ACTION, UNMUTE_ACTION
from docstore.site_pages import REMOVE_ACTION
from docstore.takedowns import RESTORE_ACTION, TAKEDOWN_ACTION
from docstore.terms.assignments import ASSIGN_ACTION
from docstore.terms.comments import COMMENT_ACTION, REMOVE_COMMENT_ACTION
from docstore.terms.relations import ACTION_BY_STATE
from domain.account import Role
from domain.administration import AdminAction
from domain.alert import AlertKey
from domain.review import TermComment
from domain.term_relation import ProposalState, RelationKind
from pipeline.engine import Engine
from pipeline.settings_source import Sections, stored_value
from pipeline.settings_text import Changes
from pipeline.site_admin.settings_editor import CHANGE_ACTION
from pipeline.site_admin.sites import ADD_ACTION, PAUSE_ACTION, RESUME_ACTION, StoreSites
from pipeline.site_admin.sites import CHANGE_ACTION as SITE_CHANGE_ACTION
from pipeline.site_admin.takedowns import StoreTakedowns
from search_ui.accounts import SESSION_SECONDS

DISABLE_ACCOUNT_ACTION, ENABLE_ACCOUNT_ACTION, ROLES_ACTION = "account_disable", "account_enable", "account_roles"

Undo = Callable[[Engine, AdminAction, str], bool]
"""Reverses an action for an account and records that once. Returns False if nothing was left to reverse."""


def undo_mute(engine: Engine, action: AdminAction, account: str) -> bool:
    """End the mute of an alert; without a mute, nothing changes."""
    return engine.store.alert_mutes.unmute(alert_key(action), account) is not None


def undo_unmute(engine: Engine, action: AdminAction, account: str) -> bool:
    """Mute the alert again until it is unmuted, unless it is muted."""
    key = alert_key(action)
    is_muted = any(mute.key == key for mute in engine.store.alert_mutes.active())
    if not is_muted:
        engine.store.alert_mutes.mute(key, account, None)
    return not is_muted


def alert_key(action: AdminAction) -> AlertKey:
    """Return the alert of an action."""
    return AlertKey(str(action.details.get("kind", "")), str(action.details.get("subject", "")))


def undo_takedown(engine: Engine, action: AdminAction, account: str) -> bool:
    """Restore the pages, unless they were restored before."""
    takedown = engine.store.takedowns.find(action.subject)
    if takedown is None or takedown.action_id != action.action_id:
        return False
    engine.store.takedowns.restore(takedown.url, account)
    return True


def undo_restore(engine: Engine, action: AdminAction, account: str) -> bool:
    """Take the page down again with all its addresses, unless it is taken down."""
    reason, addresses = str(action.details.get("reason", "")), list_details(action, "urls")
    return bool(StoreTakedowns(engine).take_down(action.subject, account, reason, addresses))


def list_details(action: AdminAction, name: str) -> list[str]:
    """Return a list of texts in the details of an action; empty if it is missing, as in older records."""
    values = action.details.get(name)
    return list(map(str, values)) if isinstance(values, list) else []


def undo_setting_change(engine: Engine, action: AdminAction, account: str) -> bool:
    """Write the previous value to the settings file, unless the setting has another value now.

    Raises SettingsError, or SettingsConflictError if the file changes at the same time.
    """
    path, values, actions = action.subject, action.details, engine.store.actions

    def find_changes(stored: Sections) -> Changes:
        return {path: values["before"]} if stored_value(stored, path) == values["after"] else {}

    reversed_values = {"before": values["after"], "after": values["before"]}
    pending = actions.prepare(account, CHANGE_ACTION, path, reversed_values)
    return bool(engine.settings.require_source().edit(find_changes, actions, lambda _: [pending]).changes)


def undo_site_edit(engine: Engine, action: AdminAction, account: str) -> bool:
    """Give the site its values before the action, unless one of them has another value now.

    After a removal, the next runs fetch the pages again. Raises SettingsError.
    """
    changes = action.details["changes"]
    if not isinstance(changes, dict) or not changes or not changes.keys() <= SITE_KEYS.keys():
        return False  # nothing has changed, or an earlier version recorded lines of settings
    inverse = {PAUSE_ACTION: RESUME_ACTION, RESUME_ACTION: PAUSE_ACTION, REMOVE_ACTION: ADD_ACTION}
    inverse_action = inverse.get(action.action, SITE_CHANGE_ACTION)
    return StoreSites(engine).undo_edit(action.subject, changes, account, inverse_action)


def undo_relation(engine: Engine, action: AdminAction, account: str) -> bool:
    """Open the proposal of a relation again, unless its state has changed since."""
    kind, term, other = (str(action.details[name]) for name in ("kind", "term", "other"))
    state = next(state for state, code in ACTION_BY_STATE.items() if code == action.action)
    relations = engine.store.relations
    return relations.set_state(RelationKind(kind), term, other, ProposalState.PROPOSED, account, state)


def undo_comment(engine: Engine, action: AdminAction, account: str) -> bool:
    """Remove the comment, unless it was removed before."""
    return engine.store.term_comments.remove(int(str(action.details["comment_id"])), account) is not None


def undo_comment_removal(engine: Engine, action: AdminAction, account: str) -> bool:
    """Add the comment again, unless it is there. Raises LexiconError if its term does not exist any more."""
    comment_id, at = int(str(action.details["comment_id"])), float(str(action.details["at"]))
    author, text = str(action.details["author"]), str(action.details["text"])
    comment = TermComment(comment_id, action.subject, author, text, at)
    return engine.store.term_comments.restore(comment, account) is not None


def undo_assignment(engine: Engine, action: AdminAction, account: str) -> bool:
    """Give the terms their previous reviewers, unless one of them has another reviewer now."""
    changes = action.details["changes"]
    return isinstance(changes, dict) and engine.store.term_assignments.undo(changes, account) is not None


def undo_account_disable(engine: Engine, action: AdminAction, account: str) -> bool:
    """Enable the account, unless it is enabled. Raises AccountError if it does not exist any more."""
    current = engine.store.accounts.find(action.subject)
    if current is not None and current.disabled_at is None:
        return False
    engine.store.account_administration.enable(action.subject, account)
    return True


def undo_account_enable(engine: Engine, action: AdminAction, account: str) -> bool:
    """Disable the account, unless it is disabled. Raises AccountError, for example for the last administrator."""
    current = engine.store.accounts.find(action.subject)
    if current is not None and current.disabled_at is not None:
        return False
    engine.store.account_administration.disable(action.subject, time.time() + SESSION_SECONDS, account)
    return True


def undo_account_roles(engine: Engine, action: AdminAction, account: str) -> bool:
    """Give the account its previous roles. Raises AccountError if its roles have changed since."""
    before, after = (parse_roles(str(action.details[name])) for name in ("before", "after"))
    engine.store.account_administration.set_roles(action.subject, before, after, account)
    return True


def parse_roles(text: str) -> list[Role]:
    """Parse comma-separated names of roles."""
    return [Role(name) for name in text.split(",") if name]


def is_reversible(action: str, details: Mapping[str, object]) -> bool:
    """Return True if an action with this code and these details has an inverse."""
    return action in UNDO_BY_ACTION and REQUIRED_DETAILS.get(action, frozenset()) <= details.keys()


UNDO_BY_ACTION: Mapping[str, Undo] = {
    MUTE_ACTION: undo_mute,
    UNMUTE_ACTION: undo_unmute,
    TAKEDOWN_ACTION: undo_takedown,
    RESTORE_ACTION: undo_restore,
    CHANGE_ACTION: undo_setting_change,
    ADD_ACTION: undo_site_edit,
    SITE_CHANGE_ACTION: undo_site_edit,
    PAUSE_ACTION: undo_site_edit,
    RESUME_ACTION: undo_site_edit,
    COMMENT_ACTION: undo_comment,
    REMOVE_COMMENT_ACTION: undo_comment_removal,
    ASSIGN_ACTION: undo_assignment,
    REMOVE_ACTION: undo_site_edit,
    DISABLE_ACCOUNT_ACTION: undo_account_disable,
    ENABLE_ACCOUNT_ACTION: undo_account_enable,
    ROLES_ACTION: undo_account_roles,
    ACTION_BY_STATE[ProposalState.ACCEPTED]: undo_relation,
    ACTION_BY_STATE[ProposalState.REJECTED]: undo_relation,
}
"""The inverse of each action that can be undone, by the code of the action."""

REQUIRED_DETAILS: Mapping[str, frozenset[str]] = {
    CHANGE_ACTION: frozenset({"before", "after"}),
    REMOVE_COMMENT_ACTION: frozenset({"text"}),
    **dict.fromkeys(
        (ADD_ACTION, SITE_CHANGE_ACTION, PAUSE_ACTION, RESUME_ACTION, REMOVE_ACTION), frozenset({"changes"})
    ),
}
"""Details without which an action cannot be undone: the values of secrets are not recorded, nor, by earlier versions,
the text of removed comments."""
