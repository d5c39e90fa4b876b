"""Common parts of all tables: metadata and column types.

meta      schema version, id of the store, and other single values
"""

from sqlalchemy import BigInteger, Column, Dialect, Integer, MetaData, String, Table, Text
from sqlalchemy.types import TypeDecorator

from domain.coded_message import parse_message, serialize_message

metadata = MetaData()

# SQLite assigns row ids only to columns of type INTEGER.
BigIntegerId = BigInteger().with_variant(Integer, "sqlite")
# Compares bytes, as SQLite does by default. The default collation of a PostgreSQL database depends on its locale.
BytewiseText = Text().with_variant(Text(collation="C"), "postgresql")


class CodedText(TypeDecorator[str]):
    """Text that keeps the code and the values of a `CodedMessage`."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the stored text of a message."""
        return None if value is None else serialize_message(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the message of a stored text."""
        return None if value is None else parse_message(value)


store_meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
