"""English messages with the key of their translation, for errors that the site shows in the reader's language."""

from collections.abc import Mapping
from typing import Self


class CodedMessage(str):
    """The text of an error in English, with what the catalogs need to say it in another language.

    `code` is the key of the sentence without its prefix `error.`; `values` are its placeholders. A value can be a
    `CodedMessage` itself, or a tuple of them (a list). The command line and the log show the English text.
    """

    code: str
    values: Mapping[str, object]

    def __new__(cls, text: str, code: str = "", **values: object) -> Self:
        message = super().__new__(cls, text)
        message.code, message.values = code, values
        return message


def coded_message(error: Exception) -> CodedMessage:
    """Return the message that `error` was raised with; one without a code if it was raised with a plain text."""
    message = error.args[0] if error.args else ""
    return message if isinstance(message, CodedMessage) else CodedMessage(str(error))
