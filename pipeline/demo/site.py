"""The demo sites on disk and on loopback.

    write_sites(folder)          folder/<host>/...  static files; folder/demo.json  what the server must know
    change_article(folder, ...)  one article gets another sentence, as an editor would do
    DemoServer(folder, port)     serves all sites on one port; the Host header says which

The folder belongs to the reader once it is written: files that were edited stay as they are until the generated
sites themselves change with a new version of the program.
"""

import errno
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from docstore.errors import PlumblineError, PortInUseError
from pipeline.demo.articles import DemoArticle, generate_articles
from pipeline.demo.render import SITES, SiteDesign, load_design, render_site

SITE_NAMES: Mapping[str, str] = dict(SITES.values())  # host -> name of the site
LOOPBACK = "127.0.0.1"

_STAMP_FILE = "demo.json"
_CONTENT_TYPES = {
    ".txt": "text/plain; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
_ADDED_SENTENCES = {
    "zh": "编辑部补充：本文发布后，现场又传来新消息，代号为{marker}的试验已经完成。",
    "en": "Update: after publication the editors learned that a trial named {marker} has been completed.",
}


@dataclass(frozen=True)
class WrittenSites:
    """What stands in `folder`: `article_count` of all sites, and how many files this call `written_count`."""

    folder: Path
    article_count: int
    written_count: int


def write_sites(folder: Path) -> WrittenSites:
    """Put the three sites below `folder`, unless this version of them was put there before.

    A file that is already as it should be is not touched, so its date stays. Raises PlumblineError if the folder
    cannot be written.
    """
    articles = generate_articles()
    files, stamp = _render_all_files(articles)
    try:
        if _read_stamp(folder) == stamp:
            return WrittenSites(folder, len(articles), 0)
        written_count = sum(_write_if_changed(folder / path, content) for path, content in files.items())
        # Last: a folder that was left half written has no stamp and is completed the next time.
        _write_if_changed(folder / _STAMP_FILE, json.dumps(stamp, indent=1).encode())
    except OSError as error:
        raise PlumblineError(
            f"cannot write the demo sites to {folder} ({error.strerror}): name another folder"
        ) from error
    return WrittenSites(folder, len(articles), written_count)


def demo_urls(port: int) -> list[str]:
    """The home pages of the sites: the seeds of a crawl."""
    return [f"http://{host}:{port}/" for host in SITE_NAMES]


def change_article(folder: Path, number: int, port: int) -> tuple[str, str]:
    """Add a sentence to one article on disk; `number` picks it, any integer will do.

    Returns the article's URL and the word that now occurs nowhere but there. Raises PlumblineError if the sites are
    not there or the article was edited beyond recognition.
    """
    text_articles = [article for article in generate_articles() if not article.has_picture]
    article = text_articles[number % len(text_articles)]
    design = load_design(article.site)
    file = folder / design.host / design.path_of(article)
    try:
        marker = _add_sentence(file, design, article)
    except (OSError, ValueError) as error:
        raise PlumblineError(f"cannot change {file} ({error}): remove {folder} and start the demo again") from error
    return f"http://{design.host}:{port}/{design.path_of(article)}", marker


def _add_sentence(file: Path, design: SiteDesign, article: DemoArticle) -> str:
    original = file.read_bytes()
    head, end, tail = original.rpartition(design.body_end.encode(design.encoding))
    if not end:
        raise ValueError(f"it has no line {design.body_end}")
    marker = _unique_word(original)
    added = design.paragraph(_ADDED_SENTENCES[article.language].format(marker=marker)) + "\n"
    modified = file.stat().st_mtime
    temporary = file.with_suffix(".new")
    temporary.write_bytes(head + added.encode(design.encoding) + end + tail)
    temporary.replace(file)  # at once: the server never reads half a file
    # Last-Modified counts whole seconds; a change within the same second would not show.
    os.utime(file, (max(file.stat().st_mtime, modified + 1),) * 2)
    return marker


def _unique_word(content: bytes) -> str:
    """A word of sixteen letters that stands for this content alone."""
    return "zq" + "".join(chr(ord("a") + int(digit, 16)) for digit in hashlib.sha256(content).hexdigest()[:14])


def _render_all_files(articles: tuple[DemoArticle, ...]) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Every file by its path below the folder, and the stamp: a digest of them with what the server must know."""
    files: dict[str, bytes] = {}
    sites: dict[str, Any] = {}
    for design in map(load_design, SITES):
        site = render_site(design, articles)
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
    """What `demo.json` holds; None if there is none that can be read."""
    try:
        return json.loads((folder / _STAMP_FILE).read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def _write_if_changed(file: Path, content: bytes) -> bool:
    """Write a file unless it is the same already; says whether it wrote."""
    if file.is_file() and file.read_bytes() == content:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return True


class DemoServer:
    """Serves the sites of `folder` on 127.0.0.1:`port` (0: any free port), from `with` to its end.

    `port` is the port that was taken, `response_counts` counts answers by (host, status). The port is taken when the
    server is made: raises PortInUseError if another program has it, PlumblineError if it cannot be had or the
    folder holds no sites.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.response_counts: Counter[tuple[str, int]] = Counter()
        self._sites = _SiteFiles(folder)
        self._count_lock = Lock()
        self._http = _listen(port, self)
        self._thread = Thread(target=self._http.serve_forever, args=(0.05,), name="demo-sites", daemon=True)
        self.port = int(self._http.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def respond(self, host: str, target: str, conditions: "ConditionalHeaders") -> "DemoResponse":
        """The answer to a GET of `target` (path and query) at `host`, counted."""
        response = self._sites.respond(host, target, conditions)
        with self._count_lock:
            self.response_counts[host, int(response.status)] += 1
        return response


@dataclass(frozen=True)
class ConditionalHeaders:
    """The conditional headers of a request, "" where there is none."""

    if_none_match: str = ""
    if_modified_since: str = ""


@dataclass(frozen=True)
class DemoResponse:
    """Status, headers and body of one answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


class _SiteFiles:
    """Decides what is answered; knows files, not sockets."""

    def __init__(self, folder: Path) -> None:
        stamp = _read_stamp(folder)
        if stamp is None:
            raise PlumblineError(f"there are no demo sites in {folder}: write them first (`plumb demo` does)")
        self._folder = folder.resolve()
        self._sites: Mapping[str, Any] = stamp["sites"]

    def respond(self, host: str, target: str, conditions: ConditionalHeaders) -> DemoResponse:
        """The answer to a GET."""
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
        """The file behind a path, the index of a folder; None for whatever is not below the host's folder."""
        root = self._folder / host
        try:
            file = (root / path.lstrip("/")).resolve()
            file = file / "index.html" if file.is_dir() else file
            return file if file.is_relative_to(root) and file.is_file() else None
        except (OSError, ValueError):  # a name too long for the file system, a zero byte
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
    """RFC 9110, 13.2.2: If-Modified-Since counts only where there is no If-None-Match."""
    if conditions.if_none_match:
        tags = {tag.strip().removeprefix("W/") for tag in conditions.if_none_match.split(",")}
        return bool(tags & {etag, "*"})
    try:
        return modified <= parsedate_to_datetime(conditions.if_modified_since)
    except (TypeError, ValueError):  # no date, or one without a zone
        return False


def _html_response(status: HTTPStatus, text: str) -> DemoResponse:
    body = f"<!DOCTYPE html><title>{status.phrase}</title><p>{escape(text)}</p>".encode()
    return DemoResponse(status, {"Content-Type": "text/html; charset=utf-8"}, body)


def _listen(port: int, demo: DemoServer) -> ThreadingHTTPServer:
    try:
        return _DemoHttpServer((LOOPBACK, port), partial(_RequestHandler, demo))
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise PortInUseError(
                f"port {port} is taken by another program: stop it, or choose another port for the demo sites "
                "(make demo SITE_PORT=..., plumb demo --site-port ...)"
            ) from error
        raise PlumblineError(f"cannot listen on port {port} ({error}): choose another port") from error


class _DemoHttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news; anything else is shown as usual."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _RequestHandler(BaseHTTPRequestHandler):
    """One connection: reads requests, sends what the server of the sites answers."""

    protocol_version = "HTTP/1.1"
    server_version = "PlumblineDemo"
    timeout = 30
    wbufsize = 1 << 16  # headers and body in one packet, or each answer waits for a delayed ACK

    def __init__(self, demo: DemoServer, *connection: Any) -> None:
        self._demo = demo
        super().__init__(*connection)  # answers all requests of the connection

    def do_GET(self) -> None:
        """Answer with the body."""
        self._respond(with_body=True)

    def do_HEAD(self) -> None:
        """Answer without it."""
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
        """Say nothing: the counts of DemoServer tell what was asked."""
