"""The tables of a store, for SQLite (WAL; the default) and PostgreSQL alike.

    crawl_tables           URLs, pages, outcomes, robots.txt, decisions of focused crawls
    article_tables         articles, near-duplicates, vectors, site templates, the change log
    relation_tables        relations between articles: citations, stories, glosses
    lexicon_tables         terms, review decisions, comments, published lexicons
    operation_tables       runs, alerts, accounts, searches, checksums, leases
    administration_tables  actions of accounts, takedowns, muted alerts, API tokens
    base, migrations       common parts; upgrades from older versions

Import `metadata` from here to create tables: only then all tables are registered.

The names of tables and columns are part of the file format and may be older than the names in the code.
"""

from docstore.schema import (  # noqa: F401  # each registers its tables
    administration_tables,
    article_tables,
    crawl_tables,
    lexicon_tables,
    operation_tables,
    relation_tables,
)
from docstore.schema.base import make_types_portable, metadata
from docstore.schema.migrations import SCHEMA_VERSION

make_types_portable()

__all__ = ["SCHEMA_VERSION", "metadata"]
