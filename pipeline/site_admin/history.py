"""The history of all areas in the browser: implements `search_ui.admin.interfaces.history.HistoryBackend`."""

from collections.abc import Sequence
from dataclasses import replace

from domain.administration import HistoryEntry, HistoryFilter, HistorySource
from domain.review import ReviewDecisionKind
from pipeline.engine import Engine
from pipeline.site_admin.undo import UNDO_BY_ACTION, is_reversible


class StoreHistory:
    """Finds entries of the history in the store, and undoes them through their areas."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, history_filter: HistoryFilter, offset: int, limit: int) -> tuple[int, Sequence[HistoryEntry]]:
        """Return the number of matching entries and one page of them, newest first."""
        if self._engine.settings.source is not None:
            self._engine.settings.source.finish_records(self._engine.store.actions)
        total, entries = self._engine.store.administration_history.find(history_filter, offset, limit)
        return total, [_with_undo(entry) for entry in entries]

    def kinds(self) -> Sequence[tuple[HistorySource, str]]:
        """Return the kinds of all entries, by source."""
        return self._engine.store.administration_history.kinds()

    def accounts(self) -> Sequence[str]:
        """Return the accounts of all entries."""
        return self._engine.store.administration_history.accounts()

    def undo(self, source: HistorySource, entry_id: int, account: str) -> bool:
        """Undo an entry. Returns False if it is unknown, undone, or has no effect any more.

        Raises LexiconError, SettingsError or AccountError if something else has changed since.
        """
        store = self._engine.store
        if source is HistorySource.REVIEW:
            store.review_history.undo(account, entry_id)
            return True
        action = store.actions.load(entry_id) if source is HistorySource.ACTION else None
        if action is None or action.undone_by is not None or not is_reversible(action.action, action.details):
            return False
        with store.actions.record_undo(action.action_id):
            return UNDO_BY_ACTION[action.action](self._engine, action, account)


def _with_undo(entry: HistoryEntry) -> HistoryEntry:
    """Return an entry with `can_undo`. A decision on a proposed edit closes it; that is no undo."""
    is_closed = entry.source is HistorySource.REVIEW and entry.kind == ReviewDecisionKind.PROPOSE_EDIT
    return replace(entry, can_undo=can_undo(entry), is_undone=entry.is_undone and not is_closed)


def can_undo(entry: HistoryEntry) -> bool:
    """Return True if the area of an entry can reverse it."""
    if entry.is_undone:
        return False
    if entry.source is HistorySource.REVIEW:
        kind = ReviewDecisionKind(entry.kind)
        return kind is not ReviewDecisionKind.REVERT and kind.has_effect
    return entry.source is HistorySource.ACTION and is_reversible(entry.kind, entry.details)
