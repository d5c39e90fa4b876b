"""What the runs of a vertical know of its logins: those that failed, and URLs that end sessions.

A failed login pauses its site until the operator changes the login or its secret, or clears the failure. The file has
a hash of both, to see the change, and no secret.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawler.state_files import read_state, write_state
from domain.login import Login
from domain.message import parse_message, serialize_message
from locks.file_locks import stage_lock

STATE_FILE = "logins.json"
_MAX_SUSPECTS = 100  # URLs of a site
_MIN_ENDINGS = 2  # sessions that ended after a URL
_LOCK_TIMEOUT_SECONDS = 30.0


def login_failures(data_dir: Path) -> Mapping[str, str]:
    """Return the reasons of failed logins by host of the record."""
    state = read_state(data_dir / STATE_FILE)
    return {host: parse_message(str(entry["problem"])) for host, entry in state.items() if entry.get("problem")}


def clear_login_failure(data_dir: Path, host: str) -> None:
    """Let the next run sign in again, and request the URLs after which sessions ended."""
    state = LoginState(data_dir, host)
    state.save_failure("")
    state.forget_endings()


class LoginState:
    """The state of one login. Without a folder nothing is saved."""

    def __init__(self, data_dir: Path | None, host: str) -> None:
        self._path, self._host = data_dir / STATE_FILE if data_dir else None, host
        # A URL can be blamed for a session that ended by itself, so each run requests it once more.
        known_endings: dict[str, int] = self._entry().get("endings", {})
        self._endings = {url: min(count, _MIN_ENDINGS - 1) for url, count in known_endings.items()}

    def find_pause(self, login: Login, secret: str) -> str:
        """Return why the site is paused, or "". Forgets a failure of another login or secret."""
        entry = self._entry()
        if not entry.get("problem") or not entry.get("login"):
            return ""
        if _matches(str(entry["login"]), login, secret):
            return parse_message(str(entry["problem"]))
        self.save_failure("")
        return ""

    def end_outage(self) -> None:
        """Forget a failure that is no refusal, because the site has answered."""
        if not self._entry().get("login"):
            self.save_failure("")

    def save_failure(self, problem: str, login: Login | None = None, secret: str = "") -> None:
        """Save why a login failed; "" forgets it. With `login`, its site is paused."""
        if problem or self._entry().get("problem"):
            from argon2 import PasswordHasher  # late, because few runs need it

            pause = PasswordHasher().hash(f"{login!r}{secret}") if login else ""
            self._save({"problem": serialize_message(problem), "login": pause})

    def ends_session(self, url: str) -> bool:
        """True if sessions ended each time after the URL was fetched, at least twice."""
        return self._endings.get(url, 0) >= _MIN_ENDINGS

    def record_next(self, url: str, has_ended: bool) -> None:
        """Record whether the session had ended at the request after that for `url`."""
        if has_ended and (url in self._endings or len(self._endings) < _MAX_SUSPECTS):
            self._endings[url] = self._endings.get(url, 0) + 1
        elif has_ended or self._endings.pop(url, None) is None:
            return
        self._save({"endings": self._endings})

    def forget_endings(self) -> None:
        """Forget after which URLs sessions ended."""
        if self._endings:
            self._endings = {}
            self._save({"endings": {}})

    def _entry(self) -> dict[str, Any]:
        entry = read_state(self._path).get(self._host, {}) if self._path else {}
        return entry if isinstance(entry, dict) else {}

    def _save(self, changes: Mapping[str, Any]) -> None:
        if self._path:
            with stage_lock(self._path.parent, "logins", _LOCK_TIMEOUT_SECONDS):
                write_state(self._path, {**read_state(self._path), self._host: {**self._entry(), **changes}})


def _matches(pause: str, login: Login, secret: str) -> bool:
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return PasswordHasher().verify(pause, f"{login!r}{secret}")
    except (InvalidHashError, VerificationError):
        return False
