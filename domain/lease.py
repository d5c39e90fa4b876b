"""Leases of exclusive work, and fences that stop work whose lease is lost.

The store implements both. The crawler and the workers use these types.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Protocol


class Fence(Protocol):
    """The exclusive right to the work of a context."""

    def check_commit(self, connection: Any, /) -> None:
        """Raise LeaseLostError if the right is lost. Otherwise it lasts until the transaction ends.

        `connection` is the SQLAlchemy connection of the transaction.
        """

    def check_request(self) -> None:
        """Raise LeaseLostError if the right is lost."""


@dataclass(frozen=True)
class Lease:
    """An acquired lease: kind of work, key within the kind, and fencing token."""

    kind: str
    key: str
    token: int

    @property
    def identity(self) -> tuple[str, str]:
        """(kind, key): the unit of work."""
        return self.kind, self.key


class LeaseClient(Protocol):
    """Acquires leases and renews them until they are released; see `docstore.locking.leases.LeaseHeartbeat`."""

    def acquire(self, kind: str, keys: Iterable[str], limit: int = 1) -> list[Lease]:
        """Acquire up to `limit` free leases of a kind among `keys`, and start to renew them."""

    def seconds_left(self, lease: Lease) -> float:
        """Return the seconds for which a lease is certainly owned; 0 or less if another process may own it."""

    def release(self, leases_held: Collection[Lease], cooldown_seconds: float = 0.0) -> None:
        """Release leases. They can be acquired again after `cooldown_seconds`."""

    def make_fence(self, leases_held: Collection[Lease]) -> Fence:
        """Return a fence that stops work after one of the leases is lost."""
