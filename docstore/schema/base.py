"""Common parts of all tables: metadata, row ids, schema version.

meta      schema version, id of the store, and other single values
"""

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 9

metadata = MetaData()

# SQLite assigns row ids only to columns of type INTEGER.
BigIntegerId = BigInteger().with_variant(Integer, "sqlite")

store_meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
