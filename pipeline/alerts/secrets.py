"""Read secrets from environment variables or files. They are never in the TOML file, in logs or in messages."""

import os
from pathlib import Path

from domain.errors import SettingsError
from pipeline.alerts.settings import AlertSettings
from pipeline.logs import register_secrets

SMTP_PASSWORD_VARIABLE = "PLUMB_SMTP_PASSWORD"  # noqa: S105 (the name of a setting, no secret)
MAX_SECRET_LENGTH = 4096  # characters


def alert_secrets(settings: AlertSettings) -> tuple[str, str]:
    """Return what log records must not contain: the webhook URL, and its path with the query; "" if there is none."""
    return settings.webhook, settings.webhook.partition("://")[2].partition("/")[2]


def read_smtp_password(folder: Path, file: str) -> str:
    """Read the password of the mail server from PLUMB_SMTP_PASSWORD, otherwise from `file` (relative to `folder`).

    Returns "" if neither is set. Raises SettingsError if the file cannot be read or is longer than a password.
    """
    if SMTP_PASSWORD_VARIABLE in os.environ or not file:
        return os.environ.get(SMTP_PASSWORD_VARIABLE, "")
    try:
        with (folder / file).open(encoding="utf-8") as stream:
            content = stream.read(MAX_SECRET_LENGTH + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"cannot read alerts.smtp_password_file = {file!r}: {reason}") from None
    if len(content) > MAX_SECRET_LENGTH:
        raise SettingsError(
            f"cannot read alerts.smtp_password_file = {file!r}: it has more than {MAX_SECRET_LENGTH} characters; "
            "name a file that contains only the password"
        )
    password = content.strip()
    register_secrets(password)
    return password
