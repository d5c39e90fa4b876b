"""Alerts for the administrator."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class AlertKey:
    """Identity of an alert: its kind, and a subject such as a host ("" if the kind has only one)."""

    kind: str
    subject: str = ""


@dataclass(frozen=True)
class Alert:
    """A condition that needs an administrator.

    `message_values` are the values in its message; `firing_since` is epoch seconds.
    """

    key: AlertKey
    message_values: Mapping[str, str | int] = field(default_factory=dict)
    firing_since: float = 0.0


@dataclass(frozen=True)
class EndedAlert:
    """An alert that no longer fires. `ended_at` is epoch seconds."""

    alert: Alert
    ended_at: float


@dataclass(frozen=True)
class ChannelTest:
    """The result of a test message: the channel, the duration in seconds, and the error or ""."""

    channel: str
    seconds: float
    error: str = ""
