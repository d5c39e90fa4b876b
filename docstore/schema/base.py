"""Common parts of all tables: metadata and column types.

meta      schema version, id of the store, and other single values
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Dialect, Integer, MetaData, String, Table, Text
from sqlalchemy.types import TypeDecorator

from domain.message import parse_message, serialize_message
from domain.packed_text import pack_text, unpack_text

metadata = MetaData()
MIN_PACKED_CHARS = 200  # shorter texts gain little

# SQLite assigns row ids only to columns of type INTEGER.
BigIntegerId = BigInteger().with_variant(Integer, "sqlite")
LongInteger = Integer().with_variant(BigInteger(), "postgresql")  # SQLite stores 64 bits in every INTEGER


def make_types_portable() -> None:
    """Give the text columns of all tables in PostgreSQL the length and order of SQLite.

    SQLite checks no length and compares bytes. In PostgreSQL, the order of texts and their lower-case letters would
    otherwise depend on the locale of the database.
    """
    for table in metadata.tables.values():
        for column in table.columns:
            if isinstance(column.type, String):
                column.type = column.type.with_variant(Text(collation="C"), "postgresql")


class CodedText(TypeDecorator[str]):
    """Text that keeps the code and the values of a `Message`."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the stored text of a message."""
        return None if value is None else serialize_message(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the message of a stored text."""
        return None if value is None else parse_message(value)


class PackedText(TypeDecorator[str]):
    """Long text: compressed in SQLite, plain in PostgreSQL, which compresses long values itself.

    Short texts, and texts that programs before schema version 16 wrote, are plain in SQLite too. Damaged values are
    returned as text with U+FFFD, like damaged plain text: the checksum of the row reveals them.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Return the stored value of a text."""
        if value is None or len(value) < MIN_PACKED_CHARS or dialect.name != "sqlite":
            return value
        return pack_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Return the text of a stored value."""
        text: str | None = unpack_column(value)
        return text


def unpack_column(value: Any) -> Any:
    """Return the text of a stored value of a `PackedText` column. Values other than bytes are returned unchanged."""
    if not isinstance(value, bytes):
        return value
    try:
        return unpack_text(value)
    except ValueError:
        return value.decode("utf-8", "replace")


store_meta = Table("meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))
