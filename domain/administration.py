"""Values of the administration: recorded actions, pages taken down, muted alerts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
