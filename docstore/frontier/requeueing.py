"""Every URL into the queue of another policy."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from docstore.database import Database
from docstore.schema.base import meta
from docstore.schema.crawl_tables import urls

BATCH = 10_000
POLICY = "queue_policy"  # key of the policy that the queues are by
MOVED = update(urls).where(urls.c.url_id == bindparam("key")).values(queue=bindparam("to"))


def requeue(database: Database, policy_name: str, queue_of: Callable[[str], int]) -> int:
    """See `FrontierTable.requeue`."""
    with database.read() as connection:
        used = connection.scalar(select(meta.c.value).where(meta.c.key == POLICY))
    if used == policy_name:
        return 0
    moved = sum(requeue_batch(database, batch, queue_of) for batch in batches(database))
    with database.write() as connection:
        database.upsert(connection, meta, [{"key": POLICY, "value": policy_name}], update=("value",))
    return moved


def batches(database: Database) -> Iterator[Sequence[Any]]:
    """All URLs with their queues, some at a time."""
    last = 0
    while True:
        query = select(urls.c.url_id, urls.c.url, urls.c.queue).where(urls.c.url_id > last)
        with database.read() as connection:
            rows = connection.execute(query.order_by(urls.c.url_id).limit(BATCH)).all()
        if not rows:
            return
        yield rows
        last = rows[-1].url_id


def requeue_batch(database: Database, rows: Sequence[Any], queue_of: Callable[[str], int]) -> int:
    """Move those that belong elsewhere; how many."""
    moves = [{"key": row.url_id, "to": queue_of(row.url)} for row in rows]
    moves = [move for move, row in zip(moves, rows, strict=True) if move["to"] != row.queue]
    if moves:
        with database.write() as connection:
            connection.execute(MOVED, moves)
    return len(moves)
