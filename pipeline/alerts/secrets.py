"""Read secrets from environment variables or files. They are never in the TOML file, in logs or in messages."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.http.login_secrets import read_secrets
from domain.errors import SettingsError
from locks.private_files import MAX_SECRET_LENGTH, read_secret_text
from pipeline.alerts.settings import AlertSettings
from pipeline.logs import register_secrets

if TYPE_CHECKING:
    from pipeline.settings import Settings  # which imports the settings of alerts

SMTP_PASSWORD_VARIABLE = "PLUMB_SMTP_PASSWORD"  # noqa: S105 (the name of a setting, no secret)


def alert_secrets(settings: AlertSettings) -> tuple[str, str]:
    """Return what log records must not contain: the webhook URL, and its path with the query; "" if there is none."""
    return settings.webhook, settings.webhook.partition("://")[2].partition("/")[2]


def register_settings_secrets(settings: "Settings") -> None:
    """Mask the secrets of alerts and of logins in the log. A broken file of logins is reported by its use."""
    register_secrets(*alert_secrets(settings.alerts))
    with suppress(SettingsError):
        register_secrets(*read_secrets(settings.folder).values())


def read_smtp_password(folder: Path, file: str) -> str:
    """Read the password of the mail server from PLUMB_SMTP_PASSWORD, otherwise from `file` (relative to `folder`).

    Returns "" if neither is set. Raises SettingsError if the file cannot be read or is longer than a password.
    """
    if SMTP_PASSWORD_VARIABLE in os.environ or not file:
        return os.environ.get(SMTP_PASSWORD_VARIABLE, "")
    try:
        password = read_secret_text(folder / file, MAX_SECRET_LENGTH).strip()
    except SettingsError as error:
        raise SettingsError(
            f"cannot read alerts.smtp_password_file = {file!r}: {error}; name a file that contains only the password"
        ) from None
    register_secrets(password)
    return password
