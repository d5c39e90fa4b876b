"""Who does which work, where several machines share a store: leases with an end, and a token checked in the commit.

    take      the lease is free, or its end is past: it gets a holder, an end, and a token one higher than any before
    renew     the end is put off, for who still holds it (Heartbeat, a thread, does so)
    fence     in the transaction that writes: who has lost the lease cannot commit
    release   the end is now, or after a rest

Crawl work is leased by host, all other work by block, never by URL. A lease says only who does the work: what there is
to do is asked of the store each time. Times are those of the database, so machines may disagree about the hour.
A token that is still the newest proves that nobody else has begun, even where the end is past; the row is locked until
the commit, so that nobody begins meanwhile (Kleppmann, How to do distributed locking, 2016: fencing tokens).
"""

import threading
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Float, and_, cast, extract, func, select, tuple_, update
from sqlalchemy.sql.dml import ReturningUpdate

from docstore.batches import batched
from docstore.database import Database
from docstore.errors import LeaseLostError, StoreError
from docstore.schema.operation_tables import leases

AT_ONCE = 1_000  # keys in one statement


@dataclass(frozen=True)
class Lease:
    """One piece of work, and the token by which it is ours."""

    kind: str
    key: str
    token: int

    @property
    def name(self) -> tuple[str, str]:
        """What there is one lease for."""
        return self.kind, self.key


class LeaseTable:
    """`store.leases`, as `holder` sees it: a name that says which process of which machine it is."""

    def __init__(self, database: Database, holder: str = "") -> None:
        self._database = database
        self.holder = holder[:100]

    def named(self, holder: str) -> "LeaseTable":
        """The same leases, taken as another holder."""
        return LeaseTable(self._database, holder)

    def take(self, kind: str, keys: Iterable[str], seconds: float, most: int = 1) -> list[Lease]:
        """Take at most so many of the leases that are free among `keys`, for so many seconds. Who asks at the same time
        is not waited for, and gets others."""
        taken: list[Lease] = []
        for batch in batched(list(keys), AT_ONCE):
            taken += self._take(kind, batch, seconds, most - len(taken))
            if len(taken) < most:
                self._offer(kind, batch)
                taken += self._take(kind, batch, seconds, most - len(taken))
            if len(taken) >= most:
                break
        return taken

    def take_over(self, kind: str, key: str, seconds: float, of: str) -> Lease | None:
        """Take a lease whose holder's name begins with `of`, who is known to be dead."""
        mine = and_(leases.c.kind == kind, leases.c.key == key, leases.c.holder.startswith(of, autoescape=True))
        with self._database.write() as connection:
            row = connection.execute(self._taken(connection, seconds).where(mine)).first()
        return Lease(kind, row.key, row.token) if row else None

    def _offer(self, kind: str, keys: Sequence[str]) -> None:
        query = select(leases.c.key).where(leases.c.kind == kind, leases.c.key.in_(keys))
        with self._database.write() as connection:
            known = set(connection.scalars(query))
            rows = [{"kind": kind, "key": key, "token": 0, "holder": "", "until": 0.0} for key in keys]
            self._database.upsert(connection, leases, [row for row in rows if row["key"] not in known])

    def _take(self, kind: str, keys: Sequence[str], seconds: float, most: int) -> list[Lease]:
        with self._database.write() as connection:
            free = and_(leases.c.kind == kind, leases.c.key.in_(keys), leases.c.until <= now_in(connection))
            picked = select(leases.c.key).where(free).limit(most).with_for_update(skip_locked=True).cte("picked")
            mine = and_(leases.c.kind == kind, leases.c.key.in_(select(picked.c.key)))
            rows = connection.execute(self._taken(connection, seconds).where(mine)).all()
        return [Lease(kind, row.key, row.token) for row in rows]

    def _taken(self, connection: Connection, seconds: float) -> ReturningUpdate[tuple[str, int]]:
        values = {"token": leases.c.token + 1, "holder": self.holder, "until": now_in(connection) + seconds}
        return update(leases).values(values).returning(leases.c.key, leases.c.token)

    def renew(self, held: Collection[Lease], seconds: float) -> list[Lease]:
        """Hold leases for so many seconds from now; those that are still ours."""
        kept: set[tuple[str, str, int]] = set()
        for batch in batched(list(held), AT_ONCE):
            with self._database.write() as connection:
                change = update(leases).where(is_one_of(batch)).values(until=now_in(connection) + seconds)
                kept.update(tuple(row) for row in connection.execute(change.returning(*NAMED)))
        return [lease for lease in held if (lease.kind, lease.key, lease.token) in kept]

    def release(self, held: Collection[Lease], rest: float = 0.0) -> None:
        """Let others have them, after so many seconds."""
        for batch in batched(list(held), AT_ONCE):
            with self._database.write() as connection:
                free = {"holder": "", "until": now_in(connection) + rest}
                connection.execute(update(leases).where(is_one_of(batch)).values(free))

    def holders(self, kind: str) -> dict[str, str]:
        """The keys that somebody holds now -> who."""
        with self._database.read() as connection:
            is_held = and_(leases.c.kind == kind, leases.c.holder != "", leases.c.until > now_in(connection))
            rows = connection.execute(select(leases.c.key, leases.c.holder).where(is_held))
            return {row.key: row.holder for row in rows}


NAMED = (leases.c.kind, leases.c.key, leases.c.token)


def is_one_of(held: Collection[Lease]) -> ColumnElement[bool]:
    """The rows of leases that nobody has taken since."""
    return tuple_(*NAMED).in_([(lease.kind, lease.key, lease.token) for lease in held])


def now_in(connection: Connection) -> ColumnElement[float]:
    """The present time of the database in epoch seconds."""
    if connection.dialect.name == "postgresql":
        return cast(extract("epoch", func.clock_timestamp()), Float)
    return (func.julianday("now") - 2440587.5) * 86400.0


def still_ours(connection: Connection, held: Collection[Lease]) -> set[Lease]:
    """Those leases that nobody else has taken; nobody can until the transaction ends."""
    query = select(*NAMED).where(is_one_of(held)).with_for_update(read=True)
    found = {tuple(row) for row in connection.execute(query)} if held else set()
    return {lease for lease in held if (lease.kind, lease.key, lease.token) in found}


def fence(connection: Connection, held: Collection[Lease]) -> None:
    """Raise LeaseLostError where somebody else has taken one of the leases by which a transaction writes."""
    lost = set(held) - still_ours(connection, held)
    if lost:
        kind, key = min(lease.name for lease in lost)
        raise LeaseLostError(
            f"another process has taken over this work ({kind} {key}), because nothing was heard of this one for too "
            "long: nothing was lost; see that machines and database reach each other"
        )


class Heartbeat:
    """Holds leases for `seconds` each, and puts their ends off every `beat` seconds until it is closed.

    How long a lease is ours for sure is told by this machine's clock, counted from before the database was asked; so it
    ends here before it ends there, also while the database does not answer.
    """

    def __init__(self, table: LeaseTable, seconds: float, beat: float) -> None:
        self.table, self.seconds, self.beat = table, seconds, beat
        self._ends: dict[Lease, float] = {}
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def take(self, kind: str, keys: Iterable[str], most: int = 1) -> list[Lease]:
        """As `LeaseTable.take`; what is got is held from now on."""
        asked = time.monotonic()
        taken = self.table.take(kind, keys, self.seconds, most)
        self.hold(taken, asked)
        return taken

    def hold(self, taken: Iterable[Lease], since: float) -> None:
        """Hold leases that were asked for at `since` (monotonic)."""
        with self._guard:
            self._ends.update(dict.fromkeys(taken, since + self.seconds))

    def left(self, lease: Lease) -> float:
        """For how many seconds a lease is ours for sure; 0 or less where it may be another's."""
        return self._ends.get(lease, 0.0) - time.monotonic()

    def release(self, held: Collection[Lease], rest: float = 0.0) -> None:
        """Give leases back. A database that does not take that has them end by themselves."""
        with self._guard:
            for lease in held:
                self._ends.pop(lease, None)
        try:
            self.table.release(held, rest)
        except StoreError:
            return

    def close(self) -> None:
        """Give all back."""
        self._stop.set()
        self._thread.join()
        self.release(list(self._ends))

    def _run(self) -> None:
        while not self._stop.wait(self.beat):
            with self._guard:
                held = list(self._ends)
            asked = time.monotonic()
            try:
                kept = set(self.table.renew(held, self.seconds)) if held else set()
            except StoreError:
                continue  # the database is away: what is held runs out unless it comes back in time
            with self._guard:
                for lease in held:
                    if lease not in self._ends:
                        continue
                    if lease in kept:
                        self._ends[lease] = asked + self.seconds
                    else:
                        del self._ends[lease]
