"""A web of published sites on loopback: file trees, each under its own host name.

Files are served as static hosts do: `index.html` for a folder, a redirect to the slash, `/a` for `a.html`, the site's
own 404 page. robots.txt and sitemaps are those of the site, or 404. An https site is served over TLS by a temporary
certificate authority; plain http redirects to it. The server is a separate process, so its time does not count as the
crawler's.
"""

import hashlib
import json
import multiprocessing
import os
import ssl
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path, PurePosixPath
from types import TracebackType
from urllib.parse import unquote, urlsplit

import trustme

CONTENT_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
    ".txt": "text/plain",
}
COUNTS_HOST = "counts.real-web.test"
_INDEX = ("index.html", "index.htm", "index.xhtml")


@dataclass(frozen=True)
class Reply:
    """Response to a request. location: target of a redirect."""

    status: int
    content: bytes = b""
    content_type: str = "text/html"
    location: str = ""


def reply_of(tree: Path, target: str) -> Reply:
    """Return the response of a static host with document root `tree` to a request target (path and query)."""
    path = unquote(urlsplit(target).path, errors="surrogateescape")
    parts = PurePosixPath(path.lstrip("/")).parts
    if ".." in parts or "\0" in path:
        return Reply(404)
    file = tree.joinpath(*parts)
    if path.endswith("/"):
        file = next((file / name for name in _INDEX if (file / name).is_file()), file / _INDEX[0])
    elif any((file / name).is_file() for name in _INDEX):
        return Reply(301, location=urlsplit(target).path + "/")
    elif not file.is_file():
        file = file.with_name(file.name + ".html")
    return _file_reply(file) if file.is_file() else _missing(tree)


def _file_reply(file: Path) -> Reply:
    return Reply(200, file.read_bytes(), CONTENT_TYPES.get(file.suffix.lower(), "application/octet-stream"))


def _missing(tree: Path) -> Reply:
    own = tree / "404.html"
    return Reply(404, own.read_bytes() if own.is_file() else b"<html><body>Not Found</body></html>")


class RealWeb:
    """Serves `trees` (host -> document root) in a `with` block; `secure` hosts over https.

    It is also the crawler's IP policy (`resolve_allowed`), which resolves every name to this server.
    """

    def __init__(self, trees: Mapping[str, Path], secure: frozenset[str] = frozenset()) -> None:
        self.trees = dict(trees)
        self.secure = secure
        self._ports = {80: 0, 443: 0}
        self._before: str | None = None

    def url(self, host: str, path: str = "/") -> str:
        """Return the URL of a path on a host."""
        return f"{'https' if host in self.secure else 'http'}://{host}{path}"

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        """Map ports 80 and 443 to the server's ports; any other port is closed, as on the real host."""
        if port not in self._ports:
            raise ConnectionRefusedError(f"{host} listens at 80 and 443 alone")
        return [("127.0.0.1", self._ports[port])]

    def counts(self) -> Counter[str]:
        """Return the counts so far: `requests`, `bytes` of content, and each status."""
        connection = HTTPConnection("127.0.0.1", self._ports[80], timeout=30)
        try:
            connection.request("GET", "/", headers={"Host": COUNTS_HOST})
            return Counter(json.load(connection.getresponse()))
        finally:
            connection.close()

    def __enter__(self) -> "RealWeb":
        self._folder = tempfile.TemporaryDirectory()
        authority, folder = trustme.CA(), Path(self._folder.name)
        authority.cert_pem.write_to_path(str(folder / "authority.pem"))
        authority.issue_cert(*sorted({COUNTS_HOST, *self.trees})).private_key_and_cert_chain_pem.write_to_path(
            str(folder / "server.pem")
        )
        ours, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        what = (self.trees, self.secure, folder / "server.pem", theirs)
        self._process = context.Process(target=serve, args=what, daemon=True)
        self._process.start()
        theirs.close()
        self._ports = dict(zip((80, 443), ours.recv(), strict=True))
        self._before = os.environ.get("SSL_CERT_FILE")
        os.environ["SSL_CERT_FILE"] = str(folder / "authority.pem")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.join()
        self._folder.cleanup()
        if self._before is None:
            os.environ.pop("SSL_CERT_FILE", None)
        else:
            os.environ["SSL_CERT_FILE"] = self._before


def serve(trees: Mapping[str, Path], secure: frozenset[str], certificate: Path, pipe: Connection) -> None:
    """Main function of the server process: sends its two ports, and serves until it is terminated."""
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    plain = _Server(("127.0.0.1", 0), partial(Handler, trees, secure, counts, lock))
    tls = _Server(("127.0.0.1", 0), partial(Handler, trees, frozenset(), counts, lock))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    # The handshake is left to the thread of the connection: a slow one must not hold up the others.
    tls.socket = context.wrap_socket(tls.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=tls.serve_forever, daemon=True).start()
    pipe.send((plain.server_address[1], tls.server_address[1]))
    plain.serve_forever()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect."""


class Handler(BaseHTTPRequestHandler):
    """Responds by the Host header; redirects `secure` hosts to https."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits 40 ms for the receipt of its head

    def __init__(
        self,
        trees: Mapping[str, Path],
        secure: frozenset[str],
        counts: Counter[str],
        lock: threading.Lock,
        *arguments: object,
    ) -> None:
        self.trees, self.secure, self.counts, self.lock = trees, secure, counts, lock
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Send a file, 304, a redirect or 404."""
        host = self.headers.get("Host", "").partition(":")[0].lower()
        if host == COUNTS_HOST:
            with self.lock:
                self._send(Reply(200, json.dumps(self.counts).encode(), "application/json"))
        elif host in self.secure:
            self._answer(Reply(301, location=f"https://{host}{self.path}"))
        elif host in self.trees:
            self._answer(reply_of(self.trees[host], self.path))
        else:
            self._answer(Reply(421))

    def _answer(self, reply: Reply) -> None:
        tag = f'"{hashlib.sha256(reply.content).hexdigest()[:32]}"' if reply.status == 200 else ""
        if tag and self.headers.get("If-None-Match") == tag:
            reply = Reply(304)
        with self.lock:
            self.counts.update({"requests": 1, "bytes": len(reply.content), str(reply.status): 1})
        self._send(reply, tag)

    def _send(self, reply: Reply, tag: str = "") -> None:
        self.send_response(reply.status)
        if reply.location:
            self.send_header("Location", reply.location)
        if tag:
            self.send_header("ETag", tag)
        if reply.status != 304:
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing; requests are counted."""
