"""What every part of the store writes beside its own result: an outcome, and a line in the change log."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, select

from docstore.database import Database
from docstore.model import Outcome, Stage
from docstore.schema.article_tables import changes
from docstore.schema.base import meta
from docstore.schema.crawl_tables import outcomes

TEXT_VERSION = "text_version"  # key of a number that grows whenever an article is new or changed
EXTRACTOR_VERSION = "extractor_version"  # of the extractor that every page was extracted with, or waits for
GROUPING_VERSION = "grouping_version"  # of the rules by which it was decided whose copy each article is
GROUPED_TO = "grouped_to"  # the last article (url_id) that newer rules were applied to; 0 when they were to all
MINED_VERSION = "mined_version"  # the text version that the candidate terms were mined from
# PostgreSQL refuses NUL in text, and neither database can encode a lone surrogate.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Op(StrEnum):
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
    at: float
    input: str = ""


def storable(text: str) -> str:
    """`text` with what no database keeps (NUL, lone surrogates) replaced by U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def write_outcomes(database: Database, connection: Connection, rows: Iterable[OutcomeRow]) -> None:
    """Keep the last outcome of each (URL, stage)."""
    values = [
        {
            "url_id": row.url_id,
            "stage": row.stage,
            "reason": row.outcome.reason,
            "detail": storable(row.outcome.detail)[:500],
            "input": row.input,
            "at": row.at,
        }
        for row in rows
    ]
    database.upsert(connection, outcomes, values, update=("reason", "detail", "input", "at"))


def number(connection: Connection, key: str) -> int:
    """A number that the store keeps under `key`; 0 if it never did."""
    return int(connection.scalar(select(meta.c.value).where(meta.c.key == key)) or 0)


def write_number(database: Database, connection: Connection, key: str, value: int) -> None:
    """Keep a number under `key`."""
    database.upsert(connection, meta, [{"key": key, "value": str(value)}], update=("value",))


def write_changes(connection: Connection, op: Op, url_ids: Iterable[int], at: float) -> None:
    """Append to the change log."""
    rows = [{"url_id": url_id, "op": op, "at": at} for url_id in url_ids]
    if rows:
        connection.execute(changes.insert(), rows)
