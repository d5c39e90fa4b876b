"""Leases: exclusive work across machines that share a store, with an expiry time and a fencing token.

    acquire   a free or expired lease gets a holder, an expiry time, and a token one higher than any before
    renew     the current holder extends the expiry time; `LeaseHeartbeat` does so in a thread
    fence     commits check the token, requests the remaining time: work that lost its lease does neither
    release   the lease expires immediately, or after a cooldown

Crawl work is leased by host, all other work by block of ids, never by URL. A lease only decides who does the work; the
work itself is always read from the store. Times are those of the database clock, so machine clocks may differ. A token
that is still the newest proves that no other process started the work, even after the expiry time. The row is locked
until the commit, so that no process can start meanwhile (Kleppmann, How to do distributed locking, 2016: fencing
tokens).
"""

import threading
import time
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, Float, and_, cast, extract, func, select, tuple_, update
from sqlalchemy.sql.dml import ReturningUpdate

from docstore.database import Database
from docstore.schema.operation_tables import leases
from domain.batches import batched
from domain.errors import LeaseLostError, StoreError
from domain.lease import Lease

MAX_KEYS_PER_STATEMENT = 1_000


class LeaseTable:
    """Acquire, renew and release leases (`store.leases`) on behalf of `holder`.

    `holder` is the name of a process on a machine, see `docstore.locking.cluster_locks.holder_name`.
    """

    def __init__(self, database: Database, holder: str = "") -> None:
        self._database = database
        self.holder = holder[:100]

    def with_holder(self, holder: str) -> "LeaseTable":
        """Return the same leases on behalf of another holder."""
        return LeaseTable(self._database, holder)

    def acquire(self, kind: str, keys: Iterable[str], seconds: float, limit: int = 1) -> list[Lease]:
        """Acquire up to `limit` free leases among `keys` for `seconds`.

        Rows locked by a concurrent caller are skipped.
        """
        acquired_leases: list[Lease] = []
        for batch in batched(list(keys), MAX_KEYS_PER_STATEMENT):
            acquired_leases += self._acquire_batch(kind, batch, seconds, limit - len(acquired_leases))
            if len(acquired_leases) < limit:
                query = select(leases.c.key).where(leases.c.kind == kind, leases.c.key.in_(batch))
                with self._database.write() as connection:
                    existing_keys = set(connection.scalars(query))
                    rows = [{"kind": kind, "key": key, "token": 0, "holder": "", "until": 0.0} for key in batch]
                    missing_rows = [row for row in rows if row["key"] not in existing_keys]
                    self._database.insert_missing(connection, leases, missing_rows)
                acquired_leases += self._acquire_batch(kind, batch, seconds, limit - len(acquired_leases))
            if len(acquired_leases) >= limit:
                break
        return acquired_leases

    def take_over(self, kind: str, key: str, seconds: float, holder_prefix: str) -> Lease | None:
        """Acquire a lease from a holder whose name begins with `holder_prefix`; None if there is no such lease.

        The caller must know that the holder is dead.
        """
        is_requested = and_(
            leases.c.kind == kind, leases.c.key == key, leases.c.holder.startswith(holder_prefix, autoescape=True)
        )
        with self._database.write() as connection:
            row = connection.execute(self._acquire_statement(connection, seconds).where(is_requested)).first()
        return Lease(kind, row.key, row.token) if row else None

    def _acquire_batch(self, kind: str, keys: Sequence[str], seconds: float, limit: int) -> list[Lease]:
        with self._database.write() as connection:
            is_free = and_(leases.c.kind == kind, leases.c.key.in_(keys), leases.c.until <= database_now(connection))
            free_keys = select(leases.c.key).where(is_free).limit(limit).with_for_update(skip_locked=True).cte("picked")
            is_requested = and_(leases.c.kind == kind, leases.c.key.in_(select(free_keys.c.key)))
            rows = connection.execute(self._acquire_statement(connection, seconds).where(is_requested)).all()
        return [Lease(kind, row.key, row.token) for row in rows]

    def _acquire_statement(self, connection: Connection, seconds: float) -> ReturningUpdate[tuple[str, int]]:
        values = {"token": leases.c.token + 1, "holder": self.holder, "until": database_now(connection) + seconds}
        return update(leases).values(values).returning(leases.c.key, leases.c.token)

    def renew(self, leases_held: Collection[Lease], seconds: float) -> list[Lease]:
        """Extend leases to `seconds` from now. Returns the leases that this holder still owns."""
        renewed_keys: set[tuple[str, str, int]] = set()
        for batch in batched(list(leases_held), MAX_KEYS_PER_STATEMENT):
            with self._database.write() as connection:
                own_leases = update(leases).where(matches_leases(batch), leases.c.holder == self.holder)  # not released
                statement = own_leases.values(until=database_now(connection) + seconds).returning(*LEASE_COLUMNS)
                renewed_keys.update(map(tuple, connection.execute(statement)))
        return [lease for lease in leases_held if (lease.kind, lease.key, lease.token) in renewed_keys]

    def release(self, leases_held: Collection[Lease], cooldown_seconds: float = 0.0) -> None:
        """Release leases. Others can acquire them after `cooldown_seconds`."""
        for batch in batched(list(leases_held), MAX_KEYS_PER_STATEMENT):
            with self._database.write() as connection:
                released_values = {"holder": "", "until": database_now(connection) + cooldown_seconds}
                connection.execute(update(leases).where(matches_leases(batch)).values(released_values))

    def holders_by_key(self, kind: str) -> dict[str, str]:
        """Return the current holders of leases of a kind, by key."""
        with self._database.read() as connection:
            return select_holders(connection, kind)

    def seconds_left_by_key(self, kind: str) -> dict[str, float]:
        """Return the seconds until each held lease of a kind ends unless it is renewed, by key."""
        with self._database.read() as connection:
            now = database_now(connection)
            is_held = and_(leases.c.kind == kind, leases.c.holder != "", leases.c.until > now)
            rows = connection.execute(select(leases.c.key, (leases.c.until - now).label("seconds")).where(is_held))
            return {row.key: row.seconds for row in rows}


def select_holders(connection: Connection, kind: str) -> dict[str, str]:
    """Return the current holders of leases of a kind, by key."""
    is_held = and_(leases.c.kind == kind, leases.c.holder != "", leases.c.until > database_now(connection))
    rows = connection.execute(select(leases.c.key, leases.c.holder).where(is_held))
    return {row.key: row.holder for row in rows}


LEASE_COLUMNS = (leases.c.kind, leases.c.key, leases.c.token)


def matches_leases(leases_held: Collection[Lease]) -> ColumnElement[bool]:
    """SQL condition: the row is one of these leases with an unchanged token."""
    return tuple_(*LEASE_COLUMNS).in_([(lease.kind, lease.key, lease.token) for lease in leases_held])


def database_now(connection: Connection) -> ColumnElement[float]:
    """SQL expression: the current time of the database in epoch seconds."""
    if connection.dialect.name == "postgresql":
        return cast(extract("epoch", func.clock_timestamp()), Float)
    return (func.julianday("now") - 2440587.5) * 86400.0


def lock_held_leases(connection: Connection, leases_held: Collection[Lease]) -> set[Lease]:
    """Return the leases that are still owned, and lock their rows until the transaction ends."""
    query = select(*LEASE_COLUMNS).where(matches_leases(leases_held)).with_for_update(read=True)
    held_rows = {tuple(row) for row in connection.execute(query)} if leases_held else set()
    return {lease for lease in leases_held if (lease.kind, lease.key, lease.token) in held_rows}


class LeaseHeartbeat:
    """The `LeaseClient` of a process.

    Renews leases in a thread every `interval_seconds` until closed. Each renewal is for `lease_seconds`.

    The remaining time of a lease is measured by the clock of this machine, from before the database request. A lease
    therefore expires here before it expires in the database, also while the database is not responding.
    """

    def __init__(self, lease_table: LeaseTable, lease_seconds: float, interval_seconds: float) -> None:
        self.lease_table, self.lease_seconds, self.interval_seconds = lease_table, lease_seconds, interval_seconds
        self._expires_at: dict[Lease, float] = {}
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def acquire(self, kind: str, keys: Iterable[str], limit: int = 1) -> list[Lease]:
        """Acquire leases as `LeaseTable.acquire` does, and start to renew them."""
        requested_at = time.monotonic()
        acquired_leases = self.lease_table.acquire(kind, keys, self.lease_seconds, limit)
        self.track(acquired_leases, requested_at)
        return acquired_leases

    def track(self, acquired_leases: Iterable[Lease], requested_at: float) -> None:
        """Start to renew leases. `requested_at` is the monotonic time before their request."""
        with self._lock:
            self._expires_at.update(dict.fromkeys(acquired_leases, requested_at + self.lease_seconds))

    def seconds_left(self, lease: Lease) -> float:
        return self._expires_at.get(lease, 0.0) - time.monotonic()

    def make_fence(self, leases_held: Collection[Lease]) -> "LeaseFence":
        return LeaseFence(self, leases_held)

    def release(self, leases_held: Collection[Lease], cooldown_seconds: float = 0.0) -> None:
        """Stop renewing leases and release them. If the database fails, they expire."""
        with self._lock:
            for lease in leases_held:
                self._expires_at.pop(lease, None)
        try:
            self.lease_table.release(leases_held, cooldown_seconds)
        except StoreError:
            return

    def renew(self) -> None:
        """Renew all leases now, and stop to renew those that another process has acquired. Raises StoreError."""
        with self._lock:
            tracked_leases = list(self._expires_at)
        requested_at = time.monotonic()
        renewed_leases = set(self.lease_table.renew(tracked_leases, self.lease_seconds)) if tracked_leases else set()
        with self._lock:
            for lease in self._expires_at.keys() & tracked_leases:
                if lease in renewed_leases:
                    self._expires_at[lease] = requested_at + self.lease_seconds
                else:
                    del self._expires_at[lease]

    def stop(self) -> None:
        """Stop the thread. The leases stay acquired until they expire."""
        self._stop_event.set()
        self._thread.join()

    def close(self) -> None:
        """Stop the thread and release all leases."""
        self.stop()
        self.release(list(self._expires_at))

    def _run(self) -> None:
        while not self._stop_event.wait(self.interval_seconds):
            try:
                self.renew()
            except StoreError:
                continue  # database unavailable: the leases expire unless it recovers in time


class LeaseFence:
    """A fence (`domain.lease.Fence`) of leases that `heartbeat` renews.

    A commit is allowed while the tokens of all leases are the newest. A request is allowed while no lease has expired.
    An expired lease is renewed first, which succeeds only if no other process has acquired it.
    """

    def __init__(self, heartbeat: LeaseHeartbeat, leases_held: Collection[Lease]) -> None:
        self._heartbeat, self._leases_held = heartbeat, tuple(leases_held)

    def check_commit(self, connection: Connection) -> None:
        """Raise LeaseLostError if another process has acquired one of the leases. Locks their rows."""
        self._raise_if_lost(set(self._leases_held) - lock_held_leases(connection, self._leases_held))

    def check_request(self) -> None:
        """Raise LeaseLostError if another process has acquired one of the leases.

        Raises StoreError if a lease has expired and the database is not responding.
        """
        if self._expired_leases():
            self._heartbeat.renew()
            self._raise_if_lost(self._expired_leases())

    def _expired_leases(self) -> set[Lease]:
        return {lease for lease in self._leases_held if self._heartbeat.seconds_left(lease) <= 0}

    @staticmethod
    def _raise_if_lost(lost_leases: Collection[Lease]) -> None:
        if lost_leases:
            kind, key = min(lease.identity for lease in lost_leases)
            raise LeaseLostError(
                f"another process has taken over this work ({kind} {key}), because this process did not renew its "
                "lease in time: nothing recorded was lost; let the other process finish, and check that this machine "
                "is not suspended or overloaded and that it reaches the database"
            )
