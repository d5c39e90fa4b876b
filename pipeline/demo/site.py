"""The demo sites on disk and on loopback.

    write_sites(folder)          writes static files to folder/<host>/..., data for the server to folder/demo.json
    change_article(folder, ...)  adds a sentence to one article, as an editor would do
    DemoServer(folder, port)     serves all sites on one port, selected by the Host header

After the first write the folder belongs to the user: edited files do not change until a new version of the program
generates different sites.
"""

import errno
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Self
from urllib.parse import unquote

from domain.errors import PlumblineError, PortInUseError
from pipeline.demo.articles import DemoArticle, generate_articles
from pipeline.demo.featured import DemoDocument, load_articles, load_documents
from pipeline.demo.render import SITES, SiteDesign, load_design, render_site

SITE_NAMES: Mapping[str, str] = dict(SITES.values())  # host -> name of the site
LOOPBACK = "127.0.0.1"

_STAMP_FILE = "demo.json"
_CONTENT_TYPES = {
    ".txt": "text/plain; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".ico": "image/x-icon",
}
_ADDED_SENTENCES = {
    "zh": "编辑部补充：本文发布后，现场又传来新消息，代号为{marker}的试验已经完成。",
    "en": "Update: after publication the editors learned that a trial named {marker} has been completed.",
}


@dataclass(frozen=True)
class WrittenSites:
    """Result of `write_sites`.

    `article_count` is the number of articles and documents of all sites, `written_count` the number of files that this
    call wrote.
    """

    folder: Path
    article_count: int
    written_count: int


def write_sites(folder: Path) -> WrittenSites:
    """Write the three sites to `folder`, unless this version of them was written before.

    Files with the right content are not touched, so their dates do not change. Raises PlumblineError if the folder
    cannot be written.
    """
    articles, documents = load_articles(), load_documents()
    files, stamp = _render_all_files(articles, documents)
    count = len(articles) + len(documents)
    try:
        if _read_stamp(folder) == stamp:
            return WrittenSites(folder, count, 0)
        written_count = sum(_write_if_changed(folder / path, content) for path, content in files.items())
        # Written last: an incomplete folder has no stamp, so the next call completes it.
        _write_if_changed(folder / _STAMP_FILE, json.dumps(stamp, indent=1).encode())
    except OSError as error:
        raise PlumblineError(
            f"cannot write the demo sites to {folder} ({error.strerror}): choose another folder"
        ) from error
    return WrittenSites(folder, count, written_count)


def demo_urls(port: int) -> list[str]:
    """Return the home pages of the sites, the seed URLs of a crawl."""
    return [f"http://{host}:{port}/" for host in SITE_NAMES]


def change_article(folder: Path, number: int, port: int) -> tuple[str, str]:
    """Add a sentence to one article on disk. Any integer `number` selects an article.

    Returns the article's URL and a word that occurs only in the new sentence. Raises PlumblineError if the sites do not
    exist or the article was edited beyond recognition.
    """
    text_articles = [article for article in generate_articles() if not article.has_picture]
    article = text_articles[number % len(text_articles)]
    design = load_design(article.site)
    file = folder / design.host / design.page_path(article)
    try:
        marker = _add_sentence(file, design, article)
    except (OSError, ValueError) as error:
        raise PlumblineError(f"cannot change {file} ({error}): remove {folder} and start the demo again") from error
    return f"http://{design.host}:{port}/{design.page_path(article)}", marker


def _add_sentence(file: Path, design: SiteDesign, article: DemoArticle) -> str:
    original = file.read_bytes()
    head, end, tail = original.rpartition(design.body_end.encode(design.encoding))
    if not end:
        raise ValueError(f"the markup {design.body_end!r} after the article is missing")
    marker = "zq" + "".join(chr(ord("a") + int(digit, 16)) for digit in hashlib.sha256(original).hexdigest()[:14])
    added = design.paragraph(_ADDED_SENTENCES[article.language].format(marker=marker)) + "\n"
    modified = file.stat().st_mtime
    temporary = file.with_suffix(".new")
    temporary.write_bytes(head + added.encode(design.encoding) + end + tail)
    temporary.replace(file)  # atomic: the server never reads an incomplete file
    # Last-Modified has a resolution of one second, so move the time of the change to the next second.
    os.utime(file, (max(file.stat().st_mtime, modified + 1),) * 2)
    return marker


def _render_all_files(
    articles: Sequence[DemoArticle], documents: Sequence[DemoDocument]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Render all files by path below the folder, and the stamp: a digest of the files and the data for the server."""
    files: dict[str, bytes] = {}
    sites: dict[str, Any] = {}
    for design in map(load_design, SITES):
        site = render_site(design, articles, documents)
        files |= {f"{design.host}/{path}": content for path, content in site.files.items()}
        redirect = site.redirect
        sites[design.host] = {
            "html_type": design.html_type,
            "redirects": {redirect.path: [redirect.status, redirect.target]},
        }
    digest = hashlib.sha256()
    for path, content in sorted(files.items()):
        digest.update(path.encode() + b"\0" + hashlib.sha256(content).digest())
    return files, {"version": digest.hexdigest(), "sites": sites}


def _read_stamp(folder: Path) -> Any:
    """Read `demo.json`; None if it is missing or not valid."""
    try:
        return json.loads((folder / _STAMP_FILE).read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def _write_if_changed(file: Path, content: bytes) -> bool:
    """Write a file unless it already has this content. Returns True if it was written."""
    if file.is_file() and file.read_bytes() == content:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return True


class DemoServer:
    """Serves the sites of `folder` on 127.0.0.1:`port` (0: any free port) within a `with` block.

    `port` is the actual port, `response_counts` counts responses by (host, status). The constructor opens the port. It
    raises PortInUseError if another program uses the port, PlumblineError for any other port error or if the folder
    contains no sites.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.response_counts: Counter[tuple[str, int]] = Counter()
        self._sites = _SiteFiles(folder)
        self._count_lock = Lock()
        try:
            self._http = _DemoHttpServer((LOOPBACK, port), partial(_RequestHandler, self))
        except (OSError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                raise PortInUseError(
                    f"port {port} is taken by another program: stop it, or choose another port for the demo sites "
                    "(make demo SITE_PORT=..., plumb demo --site-port ...)"
                ) from error
            raise PlumblineError(f"cannot listen on port {port} ({error}): choose another port") from error
        self._thread = Thread(target=self._http.serve_forever, args=(0.05,), name="demo-sites", daemon=True)
        self.port = int(self._http.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def respond(self, host: str, target: str, conditions: "ConditionalHeaders") -> "DemoResponse":
        """Return the response to a GET of `target` (path and query) at `host`, and count it."""
        response = self._sites.respond(host, target, conditions)
        with self._count_lock:
            self.response_counts[host, int(response.status)] += 1
        return response


@dataclass(frozen=True)
class ConditionalHeaders:
    """The conditional headers of a request; "" for a missing header."""

    if_none_match: str = ""
    if_modified_since: str = ""


@dataclass(frozen=True)
class DemoResponse:
    """Status, headers and body of a response."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


class _SiteFiles:
    """Selects the response to a request; has no network code."""

    def __init__(self, folder: Path) -> None:
        stamp = _read_stamp(folder)
        if stamp is None:
            raise PlumblineError(f"no demo sites in {folder}: run `plumb demo` to create them")
        self._folder = folder.resolve()
        self._sites: Mapping[str, Any] = stamp["sites"]

    def respond(self, host: str, target: str, conditions: ConditionalHeaders) -> DemoResponse:
        """Return the response to a GET."""
        site = self._sites.get(host)
        if site is None:
            return _html_response(HTTPStatus.NOT_FOUND, f"no site {host} here; there are {', '.join(self._sites)}")
        path = unquote(target.partition("?")[0])
        if path in site["redirects"]:
            status, location = site["redirects"][path]
            return DemoResponse(status, {"Location": location})
        file = self._file(host, path)
        if file is None:
            return _html_response(HTTPStatus.NOT_FOUND, f"404 {path}")
        return _file_response(file, _CONTENT_TYPES.get(file.suffix, site["html_type"]), conditions)

    def _file(self, host: str, path: str) -> Path | None:
        """Return the file of a path, or the index file of a folder; None for anything outside the host's folder."""
        root = self._folder / host
        try:
            file = (root / path.lstrip("/")).resolve()
            file = file / "index.html" if file.is_dir() else file
            return file if file.is_relative_to(root) and file.is_file() else None
        except (OSError, ValueError):  # a name that is too long for the file system, a zero byte
            return None


def _file_response(file: Path, content_type: str, conditions: ConditionalHeaders) -> DemoResponse:
    body = file.read_bytes()
    modified = datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
    etag = f'"{hashlib.sha256(body).hexdigest()[:24]}"'
    headers = {"ETag": etag, "Last-Modified": format_datetime(modified, usegmt=True)}
    if _is_not_modified(conditions, etag, modified):
        return DemoResponse(HTTPStatus.NOT_MODIFIED, headers)
    return DemoResponse(HTTPStatus.OK, {**headers, "Content-Type": content_type}, body)


def _is_not_modified(conditions: ConditionalHeaders, etag: str, modified: datetime) -> bool:
    """RFC 9110, 13.2.2: If-Modified-Since is ignored if the request has If-None-Match."""
    if conditions.if_none_match:
        tags = {tag.strip().removeprefix("W/") for tag in conditions.if_none_match.split(",")}
        return bool(tags & {etag, "*"})
    try:
        return modified <= parsedate_to_datetime(conditions.if_modified_since)
    except (TypeError, ValueError):  # no date, or a date without a time zone
        return False


def _html_response(status: HTTPStatus, text: str) -> DemoResponse:
    body = f"<!DOCTYPE html><title>{status.phrase}</title><p>{escape(text)}</p>".encode()
    return DemoResponse(status, {"Content-Type": "text/html; charset=utf-8"}, body)


class _DemoHttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; other errors are handled as usual."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _RequestHandler(BaseHTTPRequestHandler):
    """One connection: reads requests and sends the responses of `DemoServer.respond`."""

    protocol_version = "HTTP/1.1"
    server_version = "PlumblineDemo"
    timeout = 30
    wbufsize = 1 << 16  # sends headers and body in one packet, which avoids the wait for a delayed ACK

    def __init__(self, demo: DemoServer, *connection: Any) -> None:
        self._demo = demo
        super().__init__(*connection)  # answers all requests of the connection

    def do_GET(self) -> None:
        """Send the response with its body."""
        self._respond(with_body=True)

    def do_HEAD(self) -> None:
        """Send the response without its body."""
        self._respond(with_body=False)

    def _respond(self, with_body: bool) -> None:
        host = self.headers.get("Host", "").rpartition("@")[2].partition(":")[0].lower().removesuffix(".")
        validators = ConditionalHeaders(
            self.headers.get("If-None-Match", ""), self.headers.get("If-Modified-Since", "")
        )
        response = self._demo.respond(host, self.path, validators)
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if with_body:
            self.wfile.write(response.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: DemoServer counts the responses."""
