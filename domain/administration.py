"""Values of the administration: recorded actions, pages taken down, muted alerts, contents of sites."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from domain.alert import AlertKey


@dataclass(frozen=True)
class AdminAction:
    """One recorded action of an account.

    Attributes:
        action_id: Increases with each action.
        at: Epoch seconds.
        account: Name of the account; the name of the system user for a command.
        action: Code of the action, such as `page_takedown`.
        subject: What the action changed: a URL, a host, the path of a setting.
        details: Values of the message about the action; JSON values.
        undone_by: The action that undid this one; None if it is in effect.
    """

    action_id: int
    at: float
    account: str
    action: str
    subject: str
    details: Mapping[str, object] = field(default_factory=dict)
    undone_by: int | None = None


@dataclass(frozen=True)
class PendingAction:
    """An action that is not recorded yet: the values of an `AdminAction`, and the action that it undoes."""

    at: float
    account: str
    action: str
    subject: str
    details: Mapping[str, object]
    undoes: int | None = None


@dataclass(frozen=True)
class Takedown:
    """An address that is permanently excluded from crawl, extraction and index.

    Attributes:
        url: Canonical URL.
        action_id: The action that took it down. Addresses of one page have the same action.
        account: Name of the account.
        reason: Text of the operator.
        at: Epoch seconds.
    """

    url: str
    action_id: int
    account: str
    reason: str
    at: float


@dataclass(frozen=True)
class AlertMute:
    """An alert about which nobody is notified. `until` is epoch seconds; None: until somebody unmutes it."""

    key: AlertKey
    account: str
    until: float | None


@dataclass(frozen=True)
class ApiToken:
    """A token with which a program uses the API.

    Attributes:
        token_id: Its id.
        account: The account that owns it, whose roles limit what the token permits.
        name: What the owner calls it.
        token_hash: Hash of the secret.
        scopes: What the token permits.
        created_at: Epoch seconds.
        last_used_at: Epoch seconds; None if it was never used.
        revoked_at: Epoch seconds; None if it is valid.
    """

    token_id: int
    account: str
    name: str
    token_hash: str
    scopes: frozenset[str]
    created_at: float
    last_used_at: float | None = None
    revoked_at: float | None = None


class HistorySource(StrEnum):
    """Where an entry of the history comes from."""

    ACTION = "action"  # `store.actions`
    REVIEW = "review"  # review decisions on terms
    LEXICON = "lexicon"  # published lexicon versions
    TOPIC = "topic"  # answers about pages of topics


@dataclass(frozen=True)
class HistoryEntry:
    """One entry of the history of all areas.

    Attributes:
        source: The area of the store.
        entry_id: Identifies the entry in its source.
        at: Epoch seconds.
        account: Name of the account; "" for the program itself.
        kind: Code of the action, or kind of the review decision.
        subject: What was changed: a URL, a host, a setting, terms.
        details: Values of the message about the entry; JSON values.
        is_undone: True if a later entry undid it.
        can_undo: True if the site can undo it now.
    """

    source: HistorySource
    entry_id: int
    at: float
    account: str
    kind: str
    subject: str
    details: Mapping[str, object] = field(default_factory=dict)
    is_undone: bool = False
    can_undo: bool = False


@dataclass(frozen=True)
class HistoryFilter:
    """Selects entries of the history; None selects all.

    `since` (inclusive) and `until` (exclusive) are epoch seconds.
    """

    account: str | None = None
    source: HistorySource | None = None
    kind: str | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True)
class SiteContents:
    """Counts of one host: known URLs, saved pages and articles. `archived_bytes` is the size of the pages in WARC."""

    url_count: int = 0
    page_count: int = 0
    article_count: int = 0
    archived_bytes: int = 0


@dataclass(frozen=True)
class HostSuggestion:
    """A suggested host with its link counts and one example link.

    Attributes:
        linking_pages: saved pages that link to the host.
        linked_urls: different URLs of the host that are linked, at most 100.
        linking_hosts: different hosts that link to it, at most 20.
    """

    host: str
    linking_pages: int
    linked_urls: int
    linking_hosts: int
    example_url: str
    example_anchor: str
