"""English messages with the key of their translation, for sentences that the site shows in the reader's language."""

import json
from collections.abc import Mapping
from typing import Any, Self

_SEPARATOR = "\x1e"  # between text and code in a stored message; texts do not contain it


class CodedMessage(str):
    """A sentence in English, with what the catalogs need to say it in another language.

    `code` is the key of the sentence without its prefix `error.`; `values` are its placeholders. A value can be a
    `CodedMessage` itself, or a tuple of them (a list). The command line and the log show the English text.
    """

    code: str
    values: Mapping[str, object]

    def __new__(cls, text: str, code: str = "", **values: object) -> Self:
        message = super().__new__(cls, text)
        message.code, message.values = code, values
        return message


def coded_message(error: BaseException) -> CodedMessage:
    """Return the message that `error` was raised with; one without a code if it was raised with a plain text."""
    message = error.args[0] if error.args else ""
    return message if isinstance(message, CodedMessage) else CodedMessage(str(error))


def truncate_message(message: str, max_chars: int) -> str:
    """Return a message that is not longer than `max_chars`. A message that is cut loses its code."""
    return message if len(message) <= max_chars else str(message)[:max_chars]


def serialize_message(message: str) -> str:
    """Return a message as text that contains its code and values; a message without a code unchanged."""
    if not isinstance(message, CodedMessage) or not message.code:
        return str(message)
    record = {"code": message.code, "values": {name: _encode(value) for name, value in message.values.items()}}
    return f"{message}{_SEPARATOR}{json.dumps(record, ensure_ascii=False)}"


def parse_message(stored_text: str) -> str:
    """Return the message that `serialize_message` made a text of. Other texts are returned unchanged."""
    text, separator, record_text = stored_text.partition(_SEPARATOR)
    if not separator:
        return stored_text
    try:
        record = json.loads(record_text)
        return CodedMessage(text, record["code"], **{name: _decode(value) for name, value in record["values"].items()})
    except (ValueError, KeyError, TypeError, AttributeError):  # cut or edited: the text is still complete
        return text


def _encode(value: object) -> Any:
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return serialize_message(value) if isinstance(value, str) else value


def _decode(value: Any) -> object:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    return parse_message(value) if isinstance(value, str) else value
