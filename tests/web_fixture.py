"""A real HTTP server on loopback for tests, and a raw one for answers that are not HTTP.

`Site` serves what a dict of paths says and notes every request: path, headers, and the monotonic time it arrived.
`serving` runs a server of any kind, and leaves no thread of it behind.
"""

import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, BaseServer, ThreadingTCPServer
from typing import Any

PATIENCE = 300.0  # seconds after which a test gives up waiting; never what a test is about
LOOPBACK = "127.0.0.1"

Answers = Mapping[str, "Answer | str | Callable[[Request], Answer]"]


@dataclass(frozen=True)
class Request:
    """One request as it arrived; `at` is monotonic time."""

    path: str
    headers: Mapping[str, str]
    at: float
    host: str = ""


@dataclass(frozen=True)
class Answer:
    """What to answer. Content-Length is added unless `headers` has it or Transfer-Encoding."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})


def page(*links: str, text: str = "", **headers: str) -> Answer:
    """An HTML page with some links."""
    anchors = "".join(f'<p>行业 <a href="{link}">见{number}</a> 新闻</p>' for number, link in enumerate(links))
    body = f"<!doctype html><title>t</title><body><h1>标题</h1>{text}{anchors}</body>"
    fields = {"Content-Type": "text/html; charset=utf-8"}
    fields.update({name.replace("_", "-"): value for name, value in headers.items()})
    return Answer(body=body.encode(), headers=fields)


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Let `server` answer meanwhile. Fails, rather than waits for ever, where it does not end."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        threading.Thread(target=server.shutdown, daemon=True).start()
        thread.join(PATIENCE)
        server.server_close()
    assert not thread.is_alive(), f"{server} does not end"


class Site:
    """A running site, over `tls` where given. `pages` may be changed while it runs; unknown paths are 404 (robots.txt
    too)."""

    def __init__(self, pages: Answers, tls: ssl.SSLContext | None = None) -> None:
        self.pages = dict(pages)
        self.requests: list[Request] = []
        self._server = _Listener((LOOPBACK, 0), _answering(self))
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._running = ExitStack()
        self.port = int(self._server.server_address[1])

    @property
    def host(self) -> str:
        """host:port of the site."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        """The URL of a path."""
        return f"http://{self.host}{path}"

    def asked(self) -> list[str]:
        """The paths requested, robots.txt left out."""
        return [request.path for request in self.requests if request.path != "/robots.txt"]

    def __enter__(self) -> "Site":
        self._running.enter_context(serving(self._server))
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()


class _Listener(ThreadingHTTPServer):
    request_queue_size = 64  # a connection that finds no room is tried again after a second

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _answering(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            request = Request(self.path, dict(self.headers.items()), time.monotonic(), self.headers.get("Host", ""))
            site.requests.append(request)
            found = site.pages.get(self.path, Answer(404, b"no"))
            answer = found(request) if callable(found) else page(text=found) if isinstance(found, str) else found
            self.send_response(_not_modified(request, answer))
            unchanged = _not_modified(request, answer) == 304
            for name, value in answer.headers.items():
                self.send_header(name, value)
            framed = {name.lower() for name in answer.headers} & {"content-length", "transfer-encoding"}
            if not framed and not unchanged:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if not unchanged:
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _not_modified(request: Request, answer: Answer) -> int:
    etag = answer.headers.get("ETag")
    return 304 if etag and request.headers.get("If-None-Match") == etag else answer.status


class _RawServer(ThreadingTCPServer):
    """Reads the head of a request, then lets `talk` say anything."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, talk: Callable[[socket.socket], None]) -> None:
        super().__init__((LOOPBACK, 0), BaseRequestHandler)
        self._talk = talk

    def finish_request(self, request: Any, client_address: Any) -> None:
        """One connection, closed at the end."""
        with request:
            try:
                data = b""
                while b"\r\n\r\n" not in data:
                    part = request.recv(65536)
                    if not part:
                        return
                    data += part
                self._talk(request)
            except OSError:
                return  # the client has left, which is what many tests are about


@contextmanager
def raw_server(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that reads a request and then lets `talk` say anything; yields host:port."""
    # No thread may be left in accept() on a closed socket: when the system starts that call again (a stopped or frozen
    # process that goes on), the number of the descriptor is that of another test's server, whose clients it then gets.
    server = _RawServer(talk)
    with serving(server):
        yield f"{LOOPBACK}:{server.server_address[1]}"
