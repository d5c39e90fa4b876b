"""A web of saved pages with gold answers, served on loopback.

The pages of a data folder (`extraction/<set>/gold.json` and `pages.tar.xz`) are served under their own host names; only
this class resolves the names to loopback. It also generates list pages that link to them. From day to day pages can
change or disappear. Every request is logged with its status.
"""

import hashlib
import html
import json
import re
import tarfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from crawler.urls.canonical import canonicalize_url, host_of
from domain.outcome import Reason

SETS = ("zh-news", "zh-short", "zh-web", "zh-netease", "en-fundus", "en-wcxb", "en-aeb", "date-multi")
LIST_HOST = "lists.gold.test"
LINKS_PER_LIST = 40
SEED = f"http://{LIST_HOST}/"


@dataclass(frozen=True)
class GoldPage:
    """A saved page: the URL it is served at, its bytes, and the gold title and body ("" where there is none)."""

    set: str
    id: str
    url: str
    content: bytes
    encoding: str
    title: str
    body: str

    @property
    def is_scored(self) -> bool:
        """True if the page has a gold title and a gold body."""
        return bool(self.title and self.body)


def load_pages(folder: Path, sets: Sequence[str] = SETS) -> list[GoldPage]:
    """Load the pages of the sets in `folder`, each with a distinct URL."""
    taken: set[str] = set()
    pages = []
    for name in sets:
        if (folder / name / "gold.json").exists():
            for page in filter(may_be_shown, read_set(folder / name, name)):
                url = free_address(page, taken)
                taken.add(url)
                pages.append(replace(page, url=url))
    return pages


_NOINDEX = re.compile(rb"<meta\b(?=[^>]*\bname=.?robots\b)[^>]*\bnoindex\b", re.IGNORECASE)


def may_be_shown(page: GoldPage) -> bool:
    """False for a page with a noindex directive, which the crawl obeys."""
    return _NOINDEX.search(page.content) is None


def read_set(folder: Path, name: str) -> Iterator[GoldPage]:
    """Load the pages of one set, with the URL of the gold."""
    gold = {page["id"]: page for page in json.loads((folder / "gold.json").read_text(encoding="utf-8"))["pages"]}
    with tarfile.open(folder / "pages.tar.xz") as archive:
        for member in archive:
            page = gold.get(Path(member.name).name.removesuffix(".html"))
            file = archive.extractfile(member)
            if page and file:
                yield GoldPage(
                    set=name,
                    id=page["id"],
                    url=page["url"] or "",
                    content=file.read(),
                    encoding=page["encoding"] or "utf-8",
                    title=page["title"] or "",
                    body=page["body"] or "",
                )


def free_address(page: GoldPage, taken: set[str]) -> str:
    """Return the page's URL over plain HTTP; a generated URL if it has none or shares it with another page."""
    if page.url:
        parts = urlsplit(page.url)
        own = canonicalize_url(f"http://{parts.netloc}{parts.path or '/'}{'?' + parts.query if parts.query else ''}")
        if not isinstance(own, Reason) and own not in taken:
            return own
    made = canonicalize_url(f"http://{page.set}.gold.test/{hashlib.sha256(page.id.encode()).hexdigest()[:16]}.html")
    assert not isinstance(made, Reason)
    return made


class GoldWeb:
    """Serves `pages` on a free port. Use with `with`. Also the crawler's IP policy (`resolve_allowed`)."""

    def __init__(self, pages: Sequence[GoldPage]) -> None:
        self.pages = {page.url: page for page in pages}
        self.gone: set[str] = set()
        self.log: list[tuple[str, int]] = []
        self._lists = dict(list_pages(list(self.pages)))
        self._server = GoldServer(("127.0.0.1", 0), GoldHandler)
        self._server.web = self

    def crawl_settings(self) -> dict[str, Any]:
        """Return the section [crawl] for a crawl of all pages and lists, without a crawl delay."""
        return {
            "seeds": [SEED],
            "contact": "https://plumbline.test/bench",
            "scope": sorted({host_of(url) for url in (*self.pages, SEED)}),
            "depth": 2,
            "delay": 0.001,
            "per_host": 8,
        }

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        """Resolve every name to this server, on any port."""
        return [("127.0.0.1", self._server.server_address[1])]

    def answer(self, url: str, etag: str) -> tuple[int, str, bytes]:
        """Return status, ETag and body of `url` for a request with `etag`."""
        page = self.pages.get(url)
        content = self._lists.get(url) or (page.content if page else b"")
        if not content or url in self.gone:
            return 404, "", b"<html><body>not found</body></html>"
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        return (304, tag, b"") if etag == tag else (200, tag, content)

    def insert(self, url: str, marker: str) -> bool:
        """Insert `marker` into the article at `url`, after text that occurs both in the gold body and in the bytes."""
        page = self.pages[url]
        for run in text_runs(page):
            if page.content.count(run) == 1:
                changed = page.content.replace(run, run + f" {marker} ".encode())
                self.pages[url] = replace(page, content=changed)
                return True
        return False

    def __enter__(self) -> "GoldWeb":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def text_runs(page: GoldPage, length: int = 16) -> Iterator[bytes]:
    """Yield runs of `length` characters of the gold body, in the page's encoding."""
    for line in page.body.split("\n"):
        for start in range(0, len(line.strip()) - length, length):
            run = line.strip()[start : start + length]
            encoded = run.encode(page.encoding, "ignore")
            if len(encoded) >= length:
                yield encoded


def list_pages(urls: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Return a front page that links to list pages, and list pages that link to `urls`."""
    chunks = [urls[start : start + LINKS_PER_LIST] for start in range(0, len(urls), LINKS_PER_LIST)]
    names = [f"http://{LIST_HOST}/list-{number}.html" for number in range(len(chunks))]
    yield SEED, link_page("All lists", names)
    for name, chunk in zip(names, chunks, strict=True):
        yield name, link_page(name, chunk)


def link_page(title: str, urls: Sequence[str]) -> bytes:
    """A page of links."""
    items = "".join(f'<li><a href="{html.escape(url)}">page {number}</a></li>' for number, url in enumerate(urls))
    return f"<html><head><title>{title}</title></head><body><ul>{items}</ul></body></html>".encode()


class GoldServer(ThreadingHTTPServer):
    """The server of one GoldWeb."""

    daemon_threads = True
    request_queue_size = 256
    web: GoldWeb

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect."""


class GoldHandler(BaseHTTPRequestHandler):
    """Responds by the Host header."""

    protocol_version = "HTTP/1.1"
    server: GoldServer

    def do_GET(self) -> None:
        """Send a page, a list, 304 or 404."""
        url = f"http://{self.headers.get('Host', '')}{self.path}"
        status, etag, body = self.server.web.answer(url, self.headers.get("If-None-Match", ""))
        self.server.web.log.append((url, status))
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing; requests are in `GoldWeb.log`."""
