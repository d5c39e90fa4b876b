"""A mail server and a webhook on loopback, which keep what they get."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


class Mailbox:
    """What a mail server was given. It rejects mails with the reply `refuses`, recipients with those of `bounces`."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.refuses = ""
        self.bounces: dict[str, str] = {}

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address in self.bounces:
            return self.bounces[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refuses:
            return self.refuses
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 kept"


def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
    is_right = isinstance(given, LoginPassword) and (given.login, given.password) == (b"plumb", b"s3cret pass")
    return AuthResult(success=is_right, handled=is_right)


class AnyPort(Controller):
    """On whichever port is free."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def open_mail_server() -> Iterator[tuple[str, Mailbox]]:
    """Yield the host:port of a mail server, and what it gets."""
    mailbox = Mailbox()
    controller = AnyPort(mailbox, hostname="127.0.0.1", port=0, authenticator=authenticate, auth_require_tls=False)
    controller.start()
    try:
        yield f"127.0.0.1:{controller.port}", mailbox
    finally:
        controller.stop()


class Hook(HTTPServer):
    """Keeps what is posted to it; answers `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HookHandler)
        self.posted: list[dict[str, Any]] = []
        self.status = 204

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/T0/s3cret"


class HookHandler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers.get("Idempotency-Key", "")
        self.server.posted.append({"path": self.path, "key": key, **json.loads(body)})
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def open_hook() -> Iterator[Hook]:
    """Yield a webhook."""
    with Hook() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
