"""Secrets of the operator: from a variable or a file, never from the TOML file, never in a log or an error."""

import os
from pathlib import Path

from docstore.errors import SettingsError

SMTP_PASSWORD_VARIABLE = "PLUMB_SMTP_PASSWORD"
MAX_SECRET_LENGTH = 4096  # characters


def read_smtp_password(folder: Path, file: str) -> str:
    """The password for the mail server; `file` is relative to `folder`. SettingsError where it cannot be read."""
    if SMTP_PASSWORD_VARIABLE in os.environ or not file:
        return os.environ.get(SMTP_PASSWORD_VARIABLE, "")
    try:
        with (folder / file).open(encoding="utf-8") as stream:
            return stream.read(MAX_SECRET_LENGTH).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SettingsError(f"cannot read alerts.smtp_password_file = {file!r}: {reason}") from None
