"""Follows and their deliveries, in a database of their own beside the store.

A restored store has an earlier state: its articles are crawled again, and follows that were stopped meanwhile would be
back. This database is therefore not restored over a newer one, and names articles by document id, which does not
depend on the store. With PostgreSQL the tables are in the database of the store.

first_seen        document id -> batch: number of the pass that saw the article first
follow_state      the number of the last batch
follows           followed searches; each has the last batch it was matched with
follow_sent       what each follower got: document ids and clusters
follow_deliveries messages that wait for their delivery
follow_requests   confirmation mails of the last hour, for the limits
"""

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Column, Float, Index, Integer, MetaData, Row, String, Table, Text, delete, func, insert, select
from sqlalchemy import update as update_rows

from docstore.database import Database
from docstore.schema.base import BigIntegerId
from domain.batches import batched
from domain.follow import HOUR_SECONDS, Delivery, Follow, FollowChannel, FollowCounts, Interval

MAX_REQUESTS_PER_ADDRESS = 3  # confirmation mails in an hour
MAX_REQUESTS_PER_NETWORK = 30
FOLLOWS_FILE = "follows.db"  # in the data folder, with SQLite
_BATCH = "batch"
_LOOKUP_SIZE = 500

_metadata = MetaData()
_first_seen = Table(
    "first_seen",
    _metadata,
    Column("doc_id", String(32), primary_key=True),
    Column("batch", Integer, nullable=False, index=True),
)
_state = Table(
    "follow_state", _metadata, Column("name", String(16), primary_key=True), Column("value", Integer, nullable=False)
)
_follows = Table(
    "follows",
    _metadata,
    Column("follow_id", String(32), primary_key=True),
    Column("channel", String(16), nullable=False),
    Column("address", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("interval", String(16), nullable=False),
    Column("language", String(8), nullable=False),
    Column("created_at", Float, nullable=False),  # epoch seconds
    Column("batch", Integer, nullable=False),
    Column("delivered_at", Float),
    Column("problem", Text, nullable=False, server_default=""),
    Index("follows_by_address", "address", "query", unique=True),
)
_sent_keys = Table(
    "follow_sent",
    _metadata,
    Column("follow_id", String(32), primary_key=True),
    Column("key", String(64), primary_key=True),
)
_deliveries = Table(
    "follow_deliveries",
    _metadata,
    Column("delivery_id", String(32), primary_key=True),
    Column("follow_id", String(32), nullable=False, index=True),
    Column("message", Text, nullable=False),  # JSON: subject, text, articles
    Column("attempts", Integer, nullable=False, server_default="0"),
)
_requests = Table(
    "follow_requests",
    _metadata,
    Column("request_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),  # epoch seconds
    Column("sender", String(64), nullable=False, index=True),  # hash of an address or a network
)


class FollowDatabase(Database):
    """The connection to the tables of follows. See `Database`."""

    def _initialize_schema(self) -> None:
        with self.write() as connection:
            _metadata.create_all(connection)


class FollowTable:
    """Followed searches and what their followers get. Close it after use.

    Args:
        url: SQLAlchemy URL of the database.
        clock: Returns epoch seconds.

    Raises StoreError: The database cannot be opened.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self._database = FollowDatabase(url)
        self._clock = clock

    def close(self) -> None:
        """Close all connections to the database."""
        self._database.close()

    # -- articles

    def mark_seen(self, doc_ids: Iterable[str]) -> int:
        """Save the ids that were never seen as one batch. Returns the number of the last batch.

        The row of the number is written first, so that batches are complete in the order of their numbers.
        """
        with self._database.write() as connection:
            self._database.insert_missing(connection, _state, [{"name": _BATCH, "value": 0}])
            connection.execute(update_rows(_state).where(_state.c.name == _BATCH).values(value=_state.c.value + 1))
            batch = int(connection.execute(select(_state.c.value).where(_state.c.name == _BATCH)).scalar_one())
            for ids in batched(doc_ids, _LOOKUP_SIZE):
                known_ids = set(connection.scalars(select(_first_seen.c.doc_id).where(_first_seen.c.doc_id.in_(ids))))
                rows = [{"doc_id": doc_id, "batch": batch} for doc_id in dict.fromkeys(ids) if doc_id not in known_ids]
                if rows:
                    connection.execute(insert(_first_seen), rows)
            return batch

    def list_seen(self, after_batch: int, last_batch: int) -> list[str]:
        """Return the ids of the articles of some batches, sorted. `after_batch` is exclusive."""
        batch = _first_seen.c.batch
        query = select(_first_seen.c.doc_id).where(batch > after_batch, batch <= last_batch)
        with self._database.read() as connection:
            return list(connection.scalars(query.order_by(_first_seen.c.doc_id)))

    # -- follows

    def save(self, follow: Follow) -> Follow:
        """Save a new follow, or a new interval and language of the follow of the same search; returns it.

        A follow with a problem is matched again.
        """
        same = (_follows.c.address == follow.address) & (_follows.c.query == follow.query)
        with self._database.write() as connection:
            row = connection.execute(select(_follows).where(same)).one_or_none()
            if row is not None:
                changes = {"interval": follow.interval, "language": follow.language, "problem": ""}
                connection.execute(update_rows(_follows).where(same).values(changes))
                waiting = update_rows(_deliveries).where(_deliveries.c.follow_id == row.follow_id)
                connection.execute(waiting.values(attempts=0))
                return replace(_to_follow(row), interval=follow.interval, language=follow.language, problem="")
            new = replace(follow, follow_id=secrets.token_hex(16), created_at=self._clock())
            connection.execute(
                insert(_follows), {column.name: getattr(new, column.name) for column in _follows.columns}
            )
            return new

    def list_by_address(self, address: str) -> list[Follow]:
        """Return the follows of an address, oldest first."""
        return self._list(_follows.c.address == address)

    def list_all(self) -> list[Follow]:
        """Return all follows without a problem, in the order of searches."""
        return self._list(_follows.c.problem == "", _follows.c.query, _follows.c.batch)

    def list_problems(self, limit: int) -> list[Follow]:
        """Return the first follows with a problem, oldest first."""
        return self._list(_follows.c.problem != "")[:limit]

    def _list(self, condition: object, *order: object) -> list[Follow]:
        query = select(_follows).where(condition).order_by(*order, _follows.c.created_at, _follows.c.follow_id)  # type: ignore[arg-type]
        with self._database.read() as connection:
            return [_to_follow(row) for row in connection.execute(query)]

    def find(self, follow_id: str) -> Follow | None:
        """Return a follow; None if it was stopped."""
        return next(iter(self._list(_follows.c.follow_id == follow_id)), None)

    def retry(self, follow_id: str) -> None:
        """Forget the problem of a follow, so that its messages are sent again."""
        with self._database.write() as connection:
            connection.execute(update_rows(_follows).where(_follows.c.follow_id == follow_id).values(problem=""))
            waiting = update_rows(_deliveries).where(_deliveries.c.follow_id == follow_id)
            connection.execute(waiting.values(attempts=0))

    def stop(self, address: str, follow_id: str = "") -> int:
        """Delete a follow of an address, or all of them, with what waits for delivery. Returns their number."""
        with self._database.write() as connection:
            condition = _follows.c.address == address
            condition = condition & (_follows.c.follow_id == follow_id) if follow_id else condition
            ids = list(connection.scalars(select(_follows.c.follow_id).where(condition)))
            for table in (_deliveries, _sent_keys, _follows):
                connection.execute(delete(table).where(table.c.follow_id.in_(ids)))
            return len(ids)

    def counts(self) -> FollowCounts:
        """Return the numbers of follows and waiting messages."""
        with self._database.read() as connection:
            follows, problems = connection.execute(
                select(func.count(), func.count().filter(_follows.c.problem != "")).select_from(_follows)
            ).one()
            waiting = connection.scalar(select(func.count()).select_from(_deliveries)) or 0
            return FollowCounts(follows, waiting, problems)

    def allow_request(self, address: str, network: str) -> bool:
        """Return True, and count the request, if address and network have not reached their limits of this hour.

        Times in the future, which a clock that was set back leaves, count too for an hour.
        """
        now = self._clock()
        senders = [(_hash(address), MAX_REQUESTS_PER_ADDRESS), (_hash(network), MAX_REQUESTS_PER_NETWORK)]
        with self._database.write() as connection:
            is_old = (_requests.c.at < now - HOUR_SECONDS) | (_requests.c.at > now + HOUR_SECONDS)
            connection.execute(delete(_requests).where(is_old))
            for sender, limit in senders:
                count = connection.scalar(select(func.count()).where(_requests.c.sender == sender)) or 0
                if count >= limit:
                    return False
            connection.execute(insert(_requests), [{"at": now, "sender": sender} for sender, _ in senders])
            return True

    # -- deliveries

    def find_known(self, follow: Follow, keys: Collection[str]) -> set[str]:
        """Return those of the keys (document ids and clusters) that are not new for the follower.

        They were sent, or first seen before what is matched now: a cluster has the id of one of its documents.
        """
        old_keys = select(_sent_keys.c.key).where(_sent_keys.c.follow_id == follow.follow_id)
        old_ids = select(_first_seen.c.doc_id).where(_first_seen.c.batch <= follow.batch)
        known_keys: set[str] = set()
        with self._database.read() as connection:
            for batch in batched(keys, _LOOKUP_SIZE):
                known_keys.update(connection.scalars(old_keys.where(_sent_keys.c.key.in_(batch))))
                known_keys.update(connection.scalars(old_ids.where(_first_seen.c.doc_id.in_(batch))))
        return known_keys

    def finish_batch(self, follow_ids: Sequence[str], batch: int) -> None:
        """Record that follows were matched with all articles up to a batch, without a result."""
        with self._database.write() as connection:
            for ids in batched(follow_ids, _LOOKUP_SIZE):
                connection.execute(update_rows(_follows).where(_follows.c.follow_id.in_(ids)).values(batch=batch))

    def add_delivery(self, delivery: Delivery, batch: int, keys: Collection[str]) -> None:
        """Save a message to deliver, with `keys` as sent, and that its follow was matched up to a batch.

        It is one transaction: whatever happens later, the message exists once. A follow that was stopped meanwhile gets
        none.
        """
        follow_id, now = delivery.follow.follow_id, self._clock()
        message = {"subject": delivery.subject, "text": delivery.text, "articles": list(delivery.articles)}
        row = {"delivery_id": delivery.delivery_id, "follow_id": follow_id}
        with self._database.write() as connection:
            change = update_rows(_follows).where(_follows.c.follow_id == follow_id, _follows.c.batch < batch)
            if not connection.execute(change.values(batch=batch, delivered_at=now)).rowcount:
                return
            self._database.insert_missing(
                connection, _sent_keys, [{"follow_id": follow_id, "key": key} for key in keys]
            )
            connection.execute(insert(_deliveries), [{**row, "message": json.dumps(message, ensure_ascii=False)}])

    def list_deliveries(self, after_id: str, limit: int) -> list[Delivery]:
        """Return waiting messages of follows without a problem with ids above `after_id`, in their order."""
        query = (
            select(_follows, _deliveries.c.delivery_id, _deliveries.c.message, _deliveries.c.attempts)
            .join(_follows, _follows.c.follow_id == _deliveries.c.follow_id)
            .where(_follows.c.problem == "", _deliveries.c.delivery_id > after_id)
            .order_by(_deliveries.c.delivery_id)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [
                Delivery(row.delivery_id, _to_follow(row), **json.loads(row.message), attempts=row.attempts)
                for row in connection.execute(query)
            ]

    def record_sent(self, delivery_id: str) -> None:
        """Delete a message that was delivered."""
        with self._database.write() as connection:
            connection.execute(delete(_deliveries).where(_deliveries.c.delivery_id == delivery_id))

    def record_failure(self, delivery: Delivery, problem: str) -> None:
        """Count a failed attempt. A `problem` other than "" ends the deliveries of the follow; the message is kept."""
        with self._database.write() as connection:
            change = update_rows(_deliveries).where(_deliveries.c.delivery_id == delivery.delivery_id)
            connection.execute(change.values(attempts=_deliveries.c.attempts + 1))
            if problem:
                change = update_rows(_follows).where(_follows.c.follow_id == delivery.follow.follow_id)
                connection.execute(change.values(problem=problem))


def _hash(text: str) -> str:
    return hashlib.sha256(text.casefold().encode("utf-8", "surrogatepass")).hexdigest()


def _to_follow(row: Row[tuple[object, ...]]) -> Follow:
    values = {column.name: getattr(row, column.name) for column in _follows.columns}
    return Follow(**{**values, "channel": FollowChannel(row.channel), "interval": Interval(row.interval)})
