"""Values of the administration: pages taken down, muted alerts, contents of sites."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.alert import AlertKey
from domain.operation import Values


@dataclass(frozen=True)
class PendingAction:
    """An operation of a settings file that is not recorded yet, and the operation that it undoes."""

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
        operation_id: The operation that took it down. Addresses of one page have the same.
        account: Name of the account.
        reason: Text of the operator.
        at: Epoch seconds.
    """

    url: str
    operation_id: int
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


@dataclass(frozen=True)
class HistoryEntry:
    """One entry of the history of all areas: an operation, or a decision on terms (`is_review`).

    Attributes:
        is_review: It is a decision on terms; its id is that of the decision, and its name the kind.
        entry_id: Identifies the operation or the decision.
        at: Epoch seconds.
        account: Name of the account; "" for the program itself.
        name: Name of the operation, or kind of the review decision.
        subject: What was changed: a URL, a host, a setting, terms.
        before: See `OperationRecord`.
        after: See `OperationRecord`.
        undone_by: The later entry that undid it; None if it is in effect.
    """

    is_review: bool
    entry_id: int
    at: float
    account: str
    name: str
    subject: str
    before: Values | None = None
    after: Values = field(default_factory=dict)
    undone_by: int | None = None


@dataclass(frozen=True)
class HistoryFilter:
    """Selects entries of the history; None selects all.

    `since` (inclusive) and `until` (exclusive) are epoch seconds.
    """

    account: str | None = None
    is_review: bool | None = None
    name: str | None = None
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
