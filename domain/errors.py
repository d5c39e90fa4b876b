"""The exception hierarchy. All errors with a message for people derive from `PlumblineError`.

The message is one line: what happened and what to do. The command line prints it unchanged and exits with a non-zero
status. Code that calls a library wraps the library's errors.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from domain.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping


class PlumblineError(Exception):
    """An error that the administrator can resolve. Its arguments are those of a `Message`, or a message."""

    def __init__(self, message: str, plural: str = "", /, **values: object) -> None:
        super().__init__(message if isinstance(message, Message) else Message(message, plural, **values))

    def __reduce__(self) -> tuple[object, ...]:
        """Return how another process restores the error: without `__init__`, which may need other arguments."""
        return _restore_error, (type(self), self.args), self.__dict__


def _restore_error(kind: type[PlumblineError], arguments: tuple[object, ...]) -> PlumblineError:
    return kind.__new__(kind, *arguments)


class SettingsError(PlumblineError):
    """A setting is unknown, contradictory or out of range. The message names the full path of the setting."""

    @property
    def path(self) -> str:
        """The setting at fault: the value `path` of the message, or ""."""
        return str(getattr(self.args[0], "values", {}).get("path", ""))


class SiteError(SettingsError):
    """Values of a site are invalid. `problems` says what is wrong, by key of its table [[sites]]."""

    def __init__(self, site: str, problems: "Mapping[str, Message]") -> None:
        key, problem = next(iter(problems.items()))
        super().__init__(Message("Site {site}, {key}: {problem}", site=site, key=key, problem=problem))
        self.problems = problems


class SettingsConflictError(SettingsError):
    """The settings file has changed since it was loaded, at `changed_at` (epoch seconds)."""

    def __init__(self, name: str, changed_at: float) -> None:
        changed = datetime.fromtimestamp(changed_at).strftime("%H:%M")
        super().__init__(f"{name} was changed at {changed}: load it again")
        self.changed_at = changed_at


class StoreError(PlumblineError):
    """The store could not complete an operation. No part of the attempted change was saved."""


class StoreUnavailableError(StoreError):
    """The store cannot be used now, which is no sign of damage: it is locked, or its file or server does not open."""


class StoreFullError(StoreUnavailableError):
    """The store cannot grow: the disk is full, or a quota or file size limit is reached."""


class StoreDamagedError(StoreError):
    """A database file is damaged."""


class StoreTooNewError(StoreUnavailableError):
    """A newer version of the program created the store."""


class BusyError(PlumblineError):
    """Another process is already doing this work on the same vertical."""


class LeaseLostError(StoreError):
    """The lease for the current work was lost; another process now does the work."""


class PortInUseError(PlumblineError):
    """Another program uses the port that this program should listen on."""


class SolrError(PlumblineError):
    """Solr could not be started, or rejected a request."""


class UnknownFieldError(SolrError):
    """A query uses a field that the collection does not have: an earlier version of the program created it."""


MISSING_COLLECTION_MESSAGE = "Could not find collection"  # in Solr's response; the alias named it just before


class CollectionReplacedError(SolrError):
    """The collection was deleted during a query, because the alias names a new one. The repeated query succeeds."""


class SolrUnavailableError(SolrError):
    """Solr is not responding. A later retry may succeed."""


class SolrStartingError(SolrUnavailableError):
    """Solr is starting. Requests will succeed soon."""


class IndexOwnershipError(SolrError):
    """The index belongs to another store. Synchronizing it with this store would delete its documents."""


class EmbeddingError(PlumblineError):
    """An embedding model cannot be used."""


class LexiconError(PlumblineError):
    """A dictionary, or a decision on a term, is invalid."""


class TopicError(PlumblineError):
    """A topic does not exist, its file cannot be read, or a decision on it is invalid."""


class ConcurrentEditError(LexiconError):
    """Another account changed the term `text` since it was loaded.

    `changed_by` is the account, "" for the term miner. `changed_at` is epoch seconds, `status` the current status.
    """

    def __init__(self, text: str, changed_by: str, changed_at: float | None, status: str) -> None:
        super().__init__(f"{text} was changed meanwhile by {changed_by or 'the system'}: it is {status} now; reload it")
        self.text, self.changed_by, self.changed_at, self.status = text, changed_by, changed_at, status


class UrlError(PlumblineError):
    """A text is not an http or https URL."""


class AccountError(PlumblineError):
    """An account could not be created or changed."""
