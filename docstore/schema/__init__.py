"""The tables of a store. SQLite (WAL) by default, PostgreSQL by URL; nothing here is special to either.

crawl_tables      URLs, pages, outcomes, robots.txt, what a crawl for a topic thought
article_tables    articles, copies, vectors, sites, the change log
relation_tables   what articles are to each other: citations, stories, glosses
lexicon_tables    terms, what was said of them, published lexicons
operation_tables  runs, alerts, accounts, searches, sums, leases
base, migrations  their version, and the way to it from older ones

Who makes all tables imports `metadata` from here, which knows them all then.
"""

from docstore.schema import (  # noqa: F401  # each makes its tables known
    article_tables,
    crawl_tables,
    lexicon_tables,
    operation_tables,
    relation_tables,
)
from docstore.schema.base import SCHEMA_VERSION, metadata

__all__ = ["SCHEMA_VERSION", "metadata"]
