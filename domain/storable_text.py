"""Texts that the databases can store."""

import re

from domain.message import truncate_message

# PostgreSQL rejects NUL in text, and neither database can encode a lone surrogate.
UNSTORABLE_CHARS = re.compile("[\x00\ud800-\udfff]")


def sanitize_text(text: str) -> str:
    """Replace characters that the databases cannot store (NUL, lone surrogates) by U+FFFD."""
    return UNSTORABLE_CHARS.sub("\ufffd", text)


def sanitize_message(message: str, max_chars: int) -> str:
    """Return a message that the databases can store. A message that must be changed loses its code."""
    text = sanitize_text(message)
    return truncate_message(message if text == message else text, max_chars)
