"""The passwords and tokens of logins: from the environment, or from a file of mode 600 beside the settings file.

They are in no setting, store, log, backup or page. The file has one line for each host: `"host" = "secret"`.
"""

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from domain.errors import SettingsError
from locks.private_files import MAX_SECRET_LENGTH, read_secret_text, write_private_file

SECRETS_FILE = "login-secrets.toml"
SECRET_VARIABLE_PREFIX = "PLUMB_LOGIN_SECRET_"  # noqa: S105 (the name of a variable, no secret)
_MAX_FILE_LENGTH = 1_000_000  # characters


def find_secret(folder: Path, host: str) -> str:
    """Return the secret of host[:port] or *.host; "" if there is none. The environment overrides the file.

    Args:
        folder: That of the settings file.
        host: As in the table [[sites]].

    Raises SettingsError, never with a secret, if the file cannot be read or other users can read it.
    """
    return os.environ.get(secret_variable(host)) or read_secrets(folder).get(host, "")


def save_secret(folder: Path, host: str, secret: str) -> None:
    """Set or replace the secret of a host in the file; "" removes it.

    Raises SettingsError if the file is broken or cannot be written, and as `check_secret`.
    """
    from tomlkit import dumps  # late, because a crawl does not need it

    check_secret(secret)
    stored_secrets = read_secrets(folder)
    secrets = {name: text for name, text in {**stored_secrets, host: secret}.items() if text}
    if secrets == stored_secrets:
        return
    try:
        write_private_file(folder / SECRETS_FILE, dumps(secrets).encode())
    except OSError as error:
        reason = error.strerror
        raise SettingsError("cannot write {file}: {reason}", file=SECRETS_FILE, reason=reason) from error


def check_secret(secret: str) -> None:
    """Raise SettingsError if a secret has control characters or is longer than a password."""
    if len(secret) > MAX_SECRET_LENGTH or not secret.isprintable():
        raise SettingsError(
            "A password has at most {n} characters and no control characters, such as line breaks.",
            n=MAX_SECRET_LENGTH,
        )


def secret_variable(host: str) -> str:
    """Return the variable of the environment for a host: `a.example.com` -> `PLUMB_LOGIN_SECRET_A_EXAMPLE_COM`."""
    return SECRET_VARIABLE_PREFIX + re.sub(r"[^A-Z0-9]", "_", host.upper())


def read_secrets(folder: Path) -> Mapping[str, str]:
    """Return the secrets of the file by host; none without the file. Raises SettingsError as `find_secret` does."""
    path = folder / SECRETS_FILE
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _error(path, error.strerror or "") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise _error(path, f"other users can read it; run: chmod 600 {path}")
    try:
        secrets = tomllib.loads(read_secret_text(path, _MAX_FILE_LENGTH))
    except SettingsError as error:
        raise _error(path, str(error)) from None
    except tomllib.TOMLDecodeError:  # its message may contain a part of a secret
        raise _error(path, "it is not valid TOML") from None
    if not all(isinstance(secret, str) for secret in secrets.values()):
        raise _error(path, 'expected lines such as "www.example.com" = "secret"')
    return secrets


def _error(path: Path, reason: str) -> SettingsError:
    return SettingsError("cannot use {file}: {reason}", file=str(path), reason=reason)
