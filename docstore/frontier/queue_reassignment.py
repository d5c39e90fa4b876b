"""Move all URLs to the queues of another queue policy."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from docstore.database import Database
from docstore.schema.base import store_meta
from docstore.schema.crawl_tables import urls

BATCH_SIZE = 10_000
QUEUE_POLICY_KEY = "queue_policy"  # key of the policy that assigned the queues
MOVE_STATEMENT = update(urls).where(urls.c.url_id == bindparam("key")).values(queue=bindparam("to"))


def reassign_queues(database: Database, policy_name: str, queue_for_url: Callable[[str], int]) -> int:
    """Move every URL to its queue under a new policy. Does nothing if the stored policy is `policy_name`.

    An interrupted call starts again from the beginning. Returns the number of moved URLs.
    """
    with database.read() as connection:
        stored_policy = connection.scalar(select(store_meta.c.value).where(store_meta.c.key == QUEUE_POLICY_KEY))
    if stored_policy == policy_name:
        return 0
    query = select(urls.c.url_id, urls.c.url, urls.c.queue)
    batches = database.iter_batches(query, urls.c.url_id, BATCH_SIZE)
    moved_count = sum(reassign_batch(database, batch, queue_for_url) for batch in batches)
    with database.write() as connection:
        database.upsert(
            connection, store_meta, [{"key": QUEUE_POLICY_KEY, "value": policy_name}], update_columns=("value",)
        )
    return moved_count


def reassign_batch(database: Database, rows: Sequence[Any], queue_for_url: Callable[[str], int]) -> int:
    """Move the URLs of a batch whose queue differs. Returns the number of moved URLs."""
    moves = [{"key": row.url_id, "to": queue_for_url(row.url)} for row in rows]
    moves = [move for move, row in zip(moves, rows, strict=True) if move["to"] != row.queue]
    if moves:
        with database.write() as connection:
            connection.execute(MOVE_STATEMENT, moves)
    return len(moves)
