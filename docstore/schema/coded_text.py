"""Column type for sentences that are shown in the reader's language."""

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from domain.coded_message import parse_message, serialize_message


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
