"""HTTP server on loopback for tests, and a raw server for responses that are not HTTP.

`Site` serves a dict of paths and records every request: path, headers, and monotonic time of arrival. `serving` runs
any
server, and leaves no thread behind.
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

PATIENCE = 300.0  # timeout in seconds; no test depends on its value
LOOPBACK = "127.0.0.1"

Answers = Mapping[str, "Answer | str | Callable[[Request], Answer]"]


@dataclass(frozen=True)
class Request:
    """A received request; `at` is monotonic time in seconds."""

    path: str
    headers: Mapping[str, str]
    at: float
    host: str = ""
    method: str = "GET"


@dataclass(frozen=True)
class Answer:
    """A response. Content-Length is added unless `headers` contains it or Transfer-Encoding."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})


def page(*links: str, text: str = "", **headers: str) -> Answer:
    """Return an HTML page with these links."""
    anchors = "".join(f'<p>行业 <a href="{link}">见{number}</a> 新闻</p>' for number, link in enumerate(links))
    body = f"<!doctype html><title>t</title><body><h1>标题</h1>{text}{anchors}</body>"
    fields = {"Content-Type": "text/html; charset=utf-8"}
    fields.update({name.replace("_", "-"): value for name, value in headers.items()})
    return Answer(body=body.encode(), headers=fields)


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Run `server` while the context is open. Fails if it does not end."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        threading.Thread(target=server.shutdown, daemon=True).start()
        thread.join(PATIENCE)
        server.server_close()
    assert not thread.is_alive(), f"{server} does not end"


@contextmanager
def refusing_port() -> Iterator[int]:
    """Yield a port that refuses connections. It is bound but not open, so that no other process gets it meanwhile."""
    with socket.socket() as bound:
        bound.bind((LOOPBACK, 0))
        yield int(bound.getsockname()[1])


class Site:
    """A running site, over TLS if `tls` is given.

    `pages` may be changed while it runs. Unknown paths, robots.txt too, return 404.
    """

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
        """Return the URL of a path."""
        return f"http://{self.host}{path}"

    def asked(self) -> list[str]:
        """Return the requested paths, without robots.txt."""
        return [request.path for request in self.requests if request.path != "/robots.txt"]

    def __enter__(self) -> "Site":
        self._running.enter_context(serving(self._server))
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()


class _Listener(ThreadingHTTPServer):
    request_queue_size = 64  # a connection that finds no room is tried again after a second

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that close the connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _answering(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = self.headers.get("Host", "")
            request = Request(self.path, dict(self.headers.items()), time.monotonic(), host, self.command)
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
            if not unchanged and self.command != "HEAD":
                self.wfile.write(answer.body)

        do_HEAD = do_GET

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _not_modified(request: Request, answer: Answer) -> int:
    etag = answer.headers.get("ETag")
    return 304 if etag and request.headers.get("If-None-Match") == etag else answer.status


class _RawServer(ThreadingTCPServer):
    """Reads the head of a request, then calls `talk` with the socket."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, talk: Callable[[socket.socket], None]) -> None:
        super().__init__((LOOPBACK, 0), BaseRequestHandler)
        self._talk = talk

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Handle one connection and close it."""
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
    """Yield host:port of a server that reads a request, then calls `talk` with the socket."""
    # No thread may stay in accept() on a closed socket. If the system restarts that call (a stopped process continues),
    # the descriptor number can belong to the server of another test, and the thread would accept its clients.
    server = _RawServer(talk)
    with serving(server):
        yield f"{LOOPBACK}:{server.server_address[1]}"
