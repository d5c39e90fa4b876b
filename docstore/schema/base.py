"""What all tables have in common: where they are known, how rows are numbered, which version of them this is.

meta      schema version, the id of this store, and other single values
"""

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 9

metadata = MetaData()

# SQLite numbers rows by itself only for a column of type INTEGER.
BigIntegerId = BigInteger().with_variant(Integer, "sqlite")

store_meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
