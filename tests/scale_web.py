"""A web of many small sites on loopback that counts requests by URL, and concurrent requests by host."""

import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

WORDS = [
    "reservoir", "pressure", "valve", "drilling", "mud", "gradient", "seismic", "survey", "porosity", "core",
    "sample", "fracture", "proppant", "logging", "wellbore", "casing", "cement", "turbine", "rotor", "bearing",
    "lubricant", "corrosion", "inhibitor", "pipeline", "compressor", "separator",
]  # fmt: skip
PARAGRAPHS, SENTENCES, LONGEST = 4, 5, 14


class ScaleWeb:
    """`hosts` sites of `pages` articles each, linked in a chain, served in a `with` block. A response takes `pause` s.

    `asked` counts requests by URL. `two_at_a_host` counts requests that arrived while another was in flight on the
    host. `most_at_once` is the maximum number in flight on all hosts together, which share one IP address.
    """

    def __init__(self, hosts: int, pages: int, pause: float = 0.0) -> None:
        self.pages, self.pause = pages, pause
        self.asked: Counter[str] = Counter()
        self.two_at_a_host = self.most_at_once = 0
        self._under_way: Counter[str] = Counter()
        self._guard = threading.Lock()
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                return

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.port = int(self._http.server_address[1])
        self.hosts = [f"site{number}.localhost:{self.port}" for number in range(hosts)]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def seeds(self) -> list[str]:
        """Return the home page of each site."""
        return [f"http://{host}/" for host in self.hosts]

    @property
    def urls(self) -> set[str]:
        """Return all pages."""
        return {f"http://{host}/{page or ''}" for host in self.hosts for page in (0, *map(name, range(self.pages)))}

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Respond to one request."""
        host, path = str(request.headers["Host"]), request.path
        with self._guard:
            self.asked[f"http://{host}{path}"] += 1
            self.two_at_a_host += self._under_way[host] > 0
            self._under_way[host] += 1
            self.most_at_once = max(self.most_at_once, self._under_way.total())
        time.sleep(self.pause)
        with self._guard:  # before the response: with it the client may send its next request
            self._under_way[host] -= 1
        self._send(request, host, path)

    def _send(self, request: BaseHTTPRequestHandler, host: str, path: str) -> None:
        body = page_of(host, path, self.pages).encode()
        request.send_response(200 if body else 404)
        request.send_header("Content-Type", "text/html; charset=utf-8")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()


def name(page: int) -> str:
    """Return the path of an article."""
    return f"news/{page}.html"


def page_of(host: str, path: str, pages: int) -> str:
    """Return the HTML of a page; "" if not found. The home page links to the first articles, articles to the next."""
    if path == "/":
        return listed(f"Welcome to {host}", [name(page) for page in range(min(pages, 5))])
    number = path.removeprefix("/news/").removesuffix(".html")
    if not number.isdecimal() or int(number) >= pages:
        return ""
    site = host.partition(":")[0]  # the text does not change with the port
    chance = random.Random(f"{site} {number}")
    paragraphs = "".join(f"<p>{paragraph(chance)}</p>" for _ in range(PARAGRAPHS))
    title = f"The {chance.choice(WORDS)} {chance.choice(WORDS)} of {site}, number {number}"
    after = [name(page) for page in range(int(number) + 1, min(int(number) + 6, pages))]
    links = "".join(f'<li><a href="/{path}">{path}</a></li>' for path in after)
    head = f"<html><head><title>{title}</title></head>"
    return f"{head}<body><article><h1>{title}</h1>{paragraphs}</article><ul>{links}</ul></body></html>"


def paragraph(chance: random.Random) -> str:
    """Return some sentences with words of one trade."""
    sentences = (chance.choices(WORDS, k=chance.randint(6, LONGEST)) for _ in range(SENTENCES))
    return " ".join(f"The {' '.join(words)}." for words in sentences)


def listed(title: str, paths: list[str]) -> str:
    """Return a page of links."""
    links = "".join(f'<li><a href="/{path}">{path}</a></li>' for path in paths)
    return f"<html><head><title>{title}</title></head><body><ul>{links}</ul></body></html>"
