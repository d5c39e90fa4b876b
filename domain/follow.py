"""Follows: searches whose new results a reader gets by mail or webhook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

MAX_FOLLOWS = 50  # of one address
MAX_ADDRESS_CHARS = 254  # RFC 5321, section 4.5.3.1.3
MAX_WEBHOOK_CHARS = 2000
HOUR_SECONDS = 3600.0


class FollowChannel(StrEnum):
    """How a follower gets new results."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class Interval(StrEnum):
    """How often a follower gets new results, at most."""

    DAILY = "daily"
    WEEKLY = "weekly"


# Shorter than a day and a week: nightly runs do not end at the same minute.
_MIN_SECONDS: Mapping[Interval, float] = {Interval.DAILY: 20 * HOUR_SECONDS, Interval.WEEKLY: 6.5 * 24 * HOUR_SECONDS}


@dataclass(frozen=True)
class Follow:
    """A followed search.

    Attributes:
        follow_id: Random id; "" before it is saved.
        channel: How results are delivered.
        address: The mail address, or the URL of the webhook.
        query: The search as the query string of its URL, without page and order.
        interval: How often.
        language: Language of the messages, one of `search_ui.i18n.LANGUAGES`.
        created_at: Epoch seconds.
        batch: The last batch of first seen articles that was matched.
        delivered_at: Epoch seconds of the last delivery; None before the first one.
        problem: Why nothing is delivered any more: the last error, or "".
    """

    follow_id: str
    channel: FollowChannel
    address: str
    query: str
    interval: Interval
    language: str
    created_at: float = 0.0
    batch: int = 0
    delivered_at: float | None = None
    problem: str = ""

    @property
    def visible_address(self) -> str:
        """The address for operators: only the host of a webhook, whose path may be secret."""
        return urlsplit(self.address).netloc if self.channel is FollowChannel.WEBHOOK else self.address

    @property
    def masked_address(self) -> str:
        """The address for the history, which does not name a reader: `r…@example.org`, or the host of a webhook."""
        local_part, at, host = self.visible_address.rpartition("@")
        return f"{local_part[:1]}…{at}{host}" if self.channel is FollowChannel.MAIL else self.visible_address

    def is_due(self, now: float) -> bool:
        """Return True if new results may be delivered at `now` (epoch seconds).

        A delivery in the future shows that the clock was set back: it does not delay the next one.
        """
        if self.delivered_at is None and self.interval is Interval.DAILY:
            return True
        seconds = now - (self.delivered_at or self.created_at)
        return seconds < 0 or seconds >= _MIN_SECONDS[self.interval]


@dataclass(frozen=True)
class Delivery:
    """A message that waits for its delivery.

    Attributes:
        delivery_id: Identifies the message for its receiver, also when it is sent again.
        follow: Its follow.
        subject: Subject line.
        text: Text of a mail, or of a chat message.
        articles: What a webhook gets of each article.
        attempts: Number of failed attempts.
    """

    delivery_id: str
    follow: Follow
    subject: str
    text: str
    articles: Sequence[Mapping[str, str]] = ()
    attempts: int = 0


@dataclass(frozen=True)
class FollowCounts:
    """Numbers of followed searches, of messages that wait, and of follows with a problem."""

    follows: int
    waiting: int
    problems: int


def is_mail_address(text: str) -> bool:
    """Return True if a text can be the address of one recipient. Only the mail server knows whether it exists."""
    local_part, at, host = text.rpartition("@")
    has_other = any(
        character.isspace() or not character.isprintable() or character in ',;<>()[]"\\' for character in text
    )
    return bool(local_part and at and host) and len(text) <= MAX_ADDRESS_CHARS and not has_other
