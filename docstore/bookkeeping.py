"""Outcomes, change-log entries and counters: records that every part of the store writes next to its own result."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from docstore.database import Database
from docstore.schema.article_tables import index_changes
from docstore.schema.base import store_meta
from docstore.schema.crawl_tables import outcomes
from domain.batches import batched
from domain.index_change import IndexOperation
from domain.outcome import Outcome, Stage
from domain.storable_text import sanitize_message

TEXT_VERSION_KEY = "text_version"  # counter; increases whenever an article is added or changed
EXTRACTOR_VERSION_KEY = "extractor_version"  # version of the extractor; pages of older versions are pending
GROUPING_VERSION_KEY = "grouping_version"  # version of the rules that assigned near-duplicate clusters
GROUPING_CURSOR_KEY = "grouped_to"  # resume cursor of regrouping for a version; without version when it is done
MINED_TEXT_VERSION_KEY = "mined_version"  # the text version of the last term mining
LOOKUP_BATCH_SIZE = 500
MAX_DETAIL_CHARS = 500  # of an outcome; longer details are cut


@dataclass(frozen=True)
class OutcomeRow:
    """An outcome of one stage for one URL.

    `recorded_at` is epoch seconds. `input_digest` is the digest of the data that the stage processed, or "".
    """

    url_id: int
    stage: Stage
    outcome: Outcome
    recorded_at: float
    input_digest: str = ""


def write_outcomes(database: Database, connection: Connection, rows: Iterable[OutcomeRow]) -> None:
    """Save outcomes. An outcome replaces the earlier one of the same URL and stage."""
    values = [
        {
            "url_id": row.url_id,
            "stage": row.stage,
            "reason": row.outcome.reason,
            "detail": sanitize_message(row.outcome.detail, MAX_DETAIL_CHARS),
            "input": row.input_digest,
            "at": row.recorded_at,
        }
        for row in rows
    ]
    database.upsert(connection, outcomes, values)


def read_meta(connection: Connection, key: str) -> str:
    """Return the value stored under `key` in `store_meta`, or "" if the key does not exist."""
    return connection.scalar(select(store_meta.c.value).where(store_meta.c.key == key)) or ""


def read_meta_int(connection: Connection, key: str) -> int:
    """Return the integer stored under `key` in `store_meta`, or 0 if the key does not exist."""
    return int(read_meta(connection, key) or 0)


def write_meta(database: Database, connection: Connection, key: str, value: str | int) -> None:
    """Store a text or an integer under `key` in `store_meta`."""
    database.upsert(connection, store_meta, [{"key": key, "value": str(value)}])


def read_cursor(connection: Connection, key: str, work: str) -> int:
    """Return the last url_id that was processed by `work`; 0 if the cursor under `key` belongs to other work."""
    stored_work, _, url_id = read_meta(connection, key).rpartition(" ")
    return int(url_id) if stored_work == work else 0


def write_cursor(database: Database, connection: Connection, key: str, work: str, url_id: int) -> None:
    """Store the cursor of `work`, as `read_cursor` returns it."""
    write_meta(database, connection, key, f"{work} {url_id}")


def log_index_changes(
    connection: Connection, operation: IndexOperation, url_ids: Iterable[int], logged_at: float
) -> None:
    """Append one change-log entry per URL. `logged_at` is epoch seconds."""
    rows = [{"url_id": url_id, "op": operation, "at": logged_at} for url_id in url_ids]
    if rows:
        connection.execute(index_changes.insert(), rows)


def log_unless_pending(
    connection: Connection, operation: IndexOperation, url_ids: Iterable[int], logged_at: float
) -> int:
    """Append an entry for each URL that has none; returns their number. Not while a batch of the log is in flight."""
    new_ids: list[int] = []
    for batch in batched(sorted(url_ids), LOOKUP_BATCH_SIZE):
        pending = set(connection.scalars(select(index_changes.c.url_id).where(index_changes.c.url_id.in_(batch))))
        new_ids += (url_id for url_id in batch if url_id not in pending)
    log_index_changes(connection, operation, new_ids, logged_at)
    return len(new_ids)
