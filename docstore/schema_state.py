"""The versions that a store states, read without upgrading it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import func, inspect, select

from docstore.bookkeeping import EXTRACTOR_VERSION_KEY
from docstore.database import open_engine, read_store_meta, translate_errors
from docstore.locking.cluster_locks import STAGE_LEASE_KIND
from docstore.locking.leases import select_holders
from docstore.schema.article_tables import articles
from docstore.schema.operation_tables import leases
from domain.errors import StoreError


@dataclass(frozen=True)
class SchemaState:
    """Versions that a store states.

    Attributes:
        schema_version: Version of its tables.
        extractor_version: Version of the extractor that created its articles; 0 before the first extraction.
        article_count: Number of articles.
        pid_by_stage: Processes that run a stage, by leases; empty for SQLite, which has only file locks.
    """

    schema_version: int
    extractor_version: int
    article_count: int
    pid_by_stage: Mapping[str, int] = field(default_factory=dict)


def read_schema_state(url: str) -> SchemaState | None:
    """Return the versions of the store at an SQLAlchemy URL, or None if there is no store. Changes nothing.

    Raises StoreError if the database cannot be read or states no version.
    """
    engine = open_engine(url)
    name = engine.url.database
    if engine.url.get_backend_name() == "sqlite" and not (name and Path(name).is_file()):
        return None
    try:
        with translate_errors(), engine.connect() as connection:
            meta = read_store_meta(connection)
            if not meta:
                return None
            versions = [meta.get(key, "0") for key in ("schema_version", EXTRACTOR_VERSION_KEY)]
            if not all(version.isdecimal() for version in versions):
                raise StoreError(f"the store is damaged (versions {versions}): restore it from a backup")
            has_articles = inspect(connection).has_table(articles.name)
            count = connection.scalar(select(func.count()).select_from(articles)) if has_articles else 0
            has_leases = inspect(connection).has_table(leases.name)
            holders = select_holders(connection, STAGE_LEASE_KIND) if has_leases else {}
            pid_by_stage = {stage: int(holder.split()[-1]) for stage, holder in holders.items()}
            return SchemaState(int(versions[0]), int(versions[1]), count or 0, pid_by_stage)
    finally:
        engine.dispose()
