"""Interface of the page with the history of all areas. `pipeline.site_admin.history` implements it."""

from collections.abc import Sequence
from typing import Protocol

from domain.administration import HistoryEntry, HistoryFilter, HistorySource


class HistoryBackend(Protocol):
    """The source of the history."""

    def find(self, history_filter: HistoryFilter, offset: int, limit: int) -> tuple[int, Sequence[HistoryEntry]]:
        """Return the number of matching entries and one page of them, newest first."""

    def kinds(self) -> Sequence[tuple[HistorySource, str]]:
        """Return the kinds of all entries, by source."""

    def accounts(self) -> Sequence[str]:
        """Return the accounts of all entries."""

    def undo(self, source: HistorySource, entry_id: int, account: str) -> bool:
        """Undo an entry. Returns False if it is unknown, undone, or has no effect any more. Raises PlumblineError."""
