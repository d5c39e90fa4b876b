"""Common parts of all tables: metadata and row ids.

meta      schema version, id of the store, and other single values
"""

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text

metadata = MetaData()

# SQLite assigns row ids only to columns of type INTEGER.
BigIntegerId = BigInteger().with_variant(Integer, "sqlite")
# Compares bytes, as SQLite does by default. The default collation of a PostgreSQL database depends on its locale.
BytewiseText = Text().with_variant(Text(collation="C"), "postgresql")

store_meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
