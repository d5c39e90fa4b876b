"""Messages to people: an English template, which is the key of its translations, and values for its placeholders."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Self

_SEPARATOR = "\x1e"  # between text and record in a stored message; texts do not contain it
_PLACEHOLDER_RE = re.compile(r"\{(\w+)\}")


class Message(str):
    """A sentence in English that the site can show in the reader's language.

    Args:
        template: Sentence with placeholders, such as "{n} terms accepted"; the form for n = 1 if there is a plural.
        plural: Form for other n; "": the sentence has one form.
        values: Values of the placeholders. A value can be a `Message` itself, or a tuple (a list). Whole numbers are
            written with separators.
    """

    template: str
    plural: str
    values: Mapping[str, object]

    def __new__(cls, template: str, plural: str = "", /, **values: object) -> Self:
        text = fill_template(select_form(template, plural, values), values, value_text)
        message = super().__new__(cls, text)
        message.template, message.plural, message.values = template, plural, values
        return message


def select_form(template: str, plural: str, values: Mapping[str, object]) -> str:
    """Return the English form of a message: the plural if there is one and the value `n` is not 1."""
    return plural if plural and int(str(values["n"])) != 1 else template


def fill_template(template: str, values: Mapping[str, object], to_text: Callable[[object], str]) -> str:
    """Return a template with its placeholders filled in; unchanged without values. Raises KeyError: one is missing."""
    return _PLACEHOLDER_RE.sub(lambda match: to_text(values[match[1]]), template) if values else template


def value_text(value: object) -> str:
    """Return the English text of a value of a message. Whole numbers have separators."""
    if isinstance(value, tuple):
        return list_separator(value).join(map(value_text, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def list_separator(items: tuple[object, ...]) -> str:
    """Return what separates the items of a list in English: clauses or words."""
    return "; " if any(isinstance(item, Message) for item in items) else ", "


def error_message(error: BaseException) -> str:
    """Return the message that `error` was raised with: a `Message`, or a plain text that has no translation."""
    message = error.args[0] if error.args else ""
    return message if isinstance(message, Message) else str(error)


def truncate_message(message: str, max_chars: int) -> str:
    """Return a message that is not longer than `max_chars`. A message that is cut loses its translation."""
    return message if len(message) <= max_chars else str(message)[:max_chars]


def serialize_message(message: str) -> str:
    """Return a message as text that contains its template and values; a plain text unchanged."""
    if not isinstance(message, Message):
        return message
    values = {name: _encode(value) for name, value in message.values.items()}
    record = {"template": message.template, "plural": message.plural, "values": values}
    return f"{message}{_SEPARATOR}{json.dumps(record, ensure_ascii=False)}"


def parse_message(stored_text: str) -> str:
    """Return the message that `serialize_message` made a text of. Other texts are returned unchanged."""
    text, separator, record_text = stored_text.partition(_SEPARATOR)
    if not separator:
        return stored_text
    try:
        record = json.loads(record_text)
        values = {name: _decode(value) for name, value in record["values"].items()}
        return Message(record["template"], record["plural"], **values)
    except (ValueError, KeyError, TypeError, AttributeError):  # cut, edited or of an earlier version: only the text
        return text


def _encode(value: object) -> Any:
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return serialize_message(value) if isinstance(value, str) else value


def _decode(value: Any) -> object:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    return parse_message(value) if isinstance(value, str) else value
