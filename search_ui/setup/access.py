"""Access to the setup pages: one browser on this machine.

The pages are served before there is an account. A link with a random token opens them in one browser, which gets a
cookie. The Host header must name this machine, so that a foreign page cannot reach them by DNS rebinding.
"""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable

COOKIE = "setup"  # its purpose
TOKEN_BYTES = 32


class SetupAccess:
    """Decides which requests are allowed. Thread-safe.

    Args:
        port: The port of the setup pages.
        cookie_digest: Digest of the cookie of the browser that started an earlier, unfinished setup, or "".
        save_digest: Stores the digest of a new cookie.
    """

    def __init__(self, port: int, cookie_digest: str, save_digest: Callable[[str], None]) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._is_token_used = False
        self._cookie_digest = cookie_digest
        self._save_digest = save_digest
        self._lock = threading.Lock()
        default_port = {"127.0.0.1", "localhost"} if port == 80 else set()
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}", *default_port}

    def is_allowed_host(self, host_header: str) -> bool:
        """Return True if the Host header names this machine."""
        return host_header.lower() in self._hosts

    def is_allowed_cookie(self, cookie: str) -> bool:
        """Return True if the cookie is that of the browser that opened the link."""
        return bool(self._cookie_digest) and hmac.compare_digest(digest_secret(cookie), self._cookie_digest)

    def redeem_token(self, token: str) -> str:
        """Return a new cookie for the token of the link; "" if the token is wrong or was used before."""
        with self._lock:
            is_right = hmac.compare_digest(token.encode(), self.token.encode())
            if not is_right or self._is_token_used:
                return ""
            self._is_token_used = True
            cookie = secrets.token_urlsafe(TOKEN_BYTES)
            self._cookie_digest = digest_secret(cookie)
            self._save_digest(self._cookie_digest)
            return cookie


def digest_secret(secret: str) -> str:
    """Return the SHA-256 digest of a secret as hex digits."""
    return hashlib.sha256(secret.encode()).hexdigest()
