"""What every part of the store writes beside its own result: an outcome, and a line in the change log."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, select

from docstore.database import Database
from docstore.model import Outcome, Stage
from docstore.schema.article_tables import index_changes
from docstore.schema.base import store_meta
from docstore.schema.crawl_tables import outcomes

TEXT_VERSION_KEY = "text_version"  # key of a number that grows whenever an article is new or changed
EXTRACTOR_VERSION_KEY = "extractor_version"  # of the extractor that every page was extracted with, or waits for
GROUPING_VERSION_KEY = "grouping_version"  # of the rules by which it was decided whose copy each article is
GROUPING_CURSOR_KEY = (
    "grouped_to"  # the last article (url_id) that newer rules were applied to; 0 when they were to all
)
MINED_TEXT_VERSION_KEY = "mined_version"  # the text version that the candidate terms were mined from
# PostgreSQL refuses NUL in text, and neither database can encode a lone surrogate.
UNSTORABLE_CHARS = re.compile("[\x00\ud800-\udfff]")


class IndexOperation(StrEnum):
    """What the indexer has to do with a document."""

    UPSERT = "upsert"
    DELETE = "delete"
    RESEGMENT = "resegment"  # the text is the same, the lexicon is not


@dataclass(frozen=True)
class OutcomeRow:
    """An outcome with its place: which URL, which stage, when, and the digest of what the stage was given."""

    url_id: int
    stage: Stage
    outcome: Outcome
    recorded_at: float
    input_digest: str = ""


def sanitize_text(text: str) -> str:
    """`text` with what no database keeps (NUL, lone surrogates) replaced by U+FFFD."""
    return UNSTORABLE_CHARS.sub("\ufffd", text)


def write_outcomes(database: Database, connection: Connection, rows: Iterable[OutcomeRow]) -> None:
    """Keep the last outcome of each (URL, stage)."""
    values = [
        {
            "url_id": row.url_id,
            "stage": row.stage,
            "reason": row.outcome.reason,
            "detail": sanitize_text(row.outcome.detail)[:500],
            "input": row.input_digest,
            "at": row.recorded_at,
        }
        for row in rows
    ]
    database.upsert(connection, outcomes, values, update_columns=("reason", "detail", "input", "at"))


def read_meta_int(connection: Connection, key: str) -> int:
    """A number that the store keeps under `key`; 0 if it never did."""
    return int(connection.scalar(select(store_meta.c.value).where(store_meta.c.key == key)) or 0)


def write_meta_int(database: Database, connection: Connection, key: str, value: int) -> None:
    """Keep a number under `key`."""
    database.upsert(connection, store_meta, [{"key": key, "value": str(value)}], update_columns=("value",))


def log_index_changes(
    connection: Connection, operation: IndexOperation, url_ids: Iterable[int], logged_at: float
) -> None:
    """Append to the change log."""
    rows = [{"url_id": url_id, "op": operation, "at": logged_at} for url_id in url_ids]
    if rows:
        connection.execute(index_changes.insert(), rows)
