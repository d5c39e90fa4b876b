"""The exception tree. Every error that a person is meant to read descends from `PlumblineError`.

Its text is one line that says what happened and what to do about it; the command line prints it as it
stands and leaves with a non-zero status. Errors of libraries are wrapped where the library is called.
"""


class PlumblineError(Exception):
    """Something went wrong that the operator can do something about."""


class SettingsError(PlumblineError):
    """A setting is unknown, contradictory or out of range. The text names it by its full path."""


class StoreError(PlumblineError):
    """The store could not do what was asked; nothing of the attempted change was kept."""


class StoreFullError(StoreError):
    """No space is left on the device that holds the store."""


class StoreTooNewError(StoreError):
    """The store was made by a newer version of the program."""


class BusyError(PlumblineError):
    """Another process is already doing this on the same vertical."""


class LeaseLostError(StoreError):
    """Who wants to write has lost the lease that it writes by: somebody else does this work now."""


class PortInUseError(PlumblineError):
    """A port that the program was told to listen on belongs to another program."""


class SolrError(PlumblineError):
    """Solr could not be started, or refused what it was sent."""


class SolrUnavailableError(SolrError):
    """Solr does not answer. Asking again later may work."""


class SolrStartingError(SolrUnavailableError):
    """Solr is being started. It will answer soon."""


class IndexOwnershipError(SolrError):
    """The index was filled from another store: to bring it in step with this one would delete what it holds."""


class EmbeddingError(PlumblineError):
    """A model of meaning cannot be used."""


class LexiconError(PlumblineError):
    """A dictionary or a decision on a term could not be accepted."""


class TopicError(PlumblineError):
    """A topic is not there, its file cannot be read, or a decision on it could not be accepted."""


class DictionaryError(LexiconError):
    """A list of words has lines that no lexicon takes: `line_errors`, as (number from 1, reason), all of them."""

    def __init__(self, text: str, faults: tuple[tuple[int, str], ...]) -> None:
        super().__init__(text)
        self.line_errors = faults


class ConcurrentEditError(LexiconError):
    """Somebody else (`by`, an account; "" is the miner) has changed the term `text` since it was looked at."""

    def __init__(self, text: str, changed_by: str, changed_at: float | None, status: str) -> None:
        super().__init__(f"{text} was changed meanwhile by {changed_by or 'the miner'}: it is {status} now; look again")
        self.text, self.by, self.at, self.status = text, changed_by, changed_at, status


class AccountError(PlumblineError):
    """An account could not be made or changed as asked."""
