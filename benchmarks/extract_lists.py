"""Classification of list pages and articles on pages of known type: gold articles, demo sites, crawl test site."""

import html
import http.client
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from json import loads
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from benchmarks.extract_pages import GoldSet, Run
from benchmarks.extract_systems import OURS
from benchmarks.results import SHARED, Figure
from domain.errors import PlumblineError
from indexer.embedded_solr import find_free_port
from pipeline.demo.articles import generate_articles
from pipeline.demo.render import SITES, load_design, render_site

POOLED = "list-or-article"
ACCURACY, KEPT, REFUSED = "list_accuracy", "articles_kept", "lists_refused"
CRAWLBENCH = SHARED.parent / "tools" / "crawlbench"
OF_A_KIND = 8  # list pages of each kind; most kinds are endless
ARTICLES = 60
HREF = re.compile(r'href="([^"]+)"')


@dataclass(frozen=True)
class KnownPage:
    """A page of known type, with its content type as sent."""

    set: str
    url: str
    content: bytes
    content_type: str
    is_list: bool


def list_figures(verdicts: Iterable[tuple[KnownPage, bool]]) -> Iterator[Figure]:
    """Compute the share of correctly classified pages, by set and pooled. Any rejection of a list page is correct.

    Args:
        verdicts: Each page with whether it was classified as an article.
    """
    known = list(verdicts)
    for name in [*dict.fromkeys(page.set for page, _ in known), POOLED]:
        mine = [(page.is_list, is_article) for page, is_article in known if name in (page.set, POOLED)]
        yield Figure(name, OURS, ACCURACY, sum(is_list != is_article for is_list, is_article in mine) / len(mine))
        for metric, kind in ((KEPT, False), (REFUSED, True)):
            right = [is_article != is_list for is_list, is_article in mine if is_list == kind]
            if right:
                yield Figure(name, OURS, metric, sum(right) / len(right))


def gold_articles(sets: Sequence[GoldSet], run: Run) -> Iterator[tuple[KnownPage, bool]]:
    """Yield every article with a gold body, with whether our answer has a body.

    Pages of other types have separate figures.
    """
    has_body = {(page["set"], page["id"]): bool(page["body"]) for page in run.pages}
    for gold in sets:
        for page in gold.pages:
            if page.get("body") is not None and "type" not in page:
                known = KnownPage("dev-articles", page.get("url") or "", gold.read(page), "", False)
                yield known, has_body[gold.name, page["id"]]


def demo_pages() -> Iterator[KnownPage]:
    """Yield articles, lists and home pages of the demo sites."""
    articles = generate_articles()
    for design in map(load_design, SITES):
        texts = {design.page_path(article) for article in articles if article.site == design.key}
        for path, content in render_site(design, articles).files.items():
            url = f"http://{design.host}/{'' if path == 'index.html' else path}"
            if b"<body" in content and path not in design.file:  # the design's own files are forms and similar pages
                yield KnownPage("demo", url, content, design.html_type, path not in texts)


def crawlbench_pages() -> Iterator[KnownPage]:
    """Yield articles of the content hosts, and the link lists of the hosts `traps`, `status` and `bodies`.

    The home pages of the content hosts are excluded: they are complete articles that also link to everything. Without a
    Go compiler there are no pages.
    """
    if shutil.which("go") is None or not CRAWLBENCH.is_dir():
        return
    with crawlbench() as site:
        quirks = {host["quirk"]: host["host"] for host in loads(site.control("/stats")) if host.get("quirk")}
        truth = [loads(line) for line in site.control("/truth").splitlines()]
        articles = [page["url"] for page in truth if page["status"] == 200 and urlsplit(page["url"]).path != "/"]
        articles = [url for url in articles if urlsplit(url).hostname not in quirks.values()]
        for url in articles[:: max(1, len(articles) // ARTICLES)][:ARTICLES]:
            yield site.page(url, is_list=False)
        yield from list_walk(site, f"http://{quirks['traps']}/")
        for name in ("status", "bodies"):
            yield site.page(f"http://{quirks[name]}/", is_list=True)


def list_walk(site: "Crawlbench", start: str) -> Iterator[KnownPage]:
    """Yield the list pages reachable from `start`, nearest first, a few of each kind (first step of the path)."""
    waiting, seen, kinds = deque([start]), {start}, Counter[str]()
    while waiting:
        page = site.page(waiting.popleft(), is_list=True)
        yield page
        for href in HREF.findall(page.content.decode("utf-8")):
            url = urljoin(page.url, html.unescape(href))
            kind = urlsplit(url).path.split("/")[1]
            if url not in seen and kinds[kind] < OF_A_KIND:
                kinds[kind] += 1
                seen.add(url)
                waiting.append(url)


@dataclass(frozen=True)
class Crawlbench:
    """The running crawl test site; a page is selected by the Host header."""

    port: int

    def page(self, url: str, is_list: bool) -> KnownPage:
        """Fetch a page of the site."""
        parts = urlsplit(url)
        answer, content = ask(self.port, parts.netloc, f"{parts.path}?{parts.query}" if parts.query else parts.path)
        if answer.status != 200:
            raise PlumblineError(f"the crawl test site answers {answer.status} for {url}")
        return KnownPage("crawlbench", url, content, answer.getheader("Content-Type", ""), is_list)

    def control(self, path: str) -> str:
        """Fetch a response of the control port."""
        return ask(self.port + 1, "127.0.0.1", path)[1].decode("utf-8")


@contextmanager
def crawlbench() -> Iterator[Crawlbench]:
    """Build and run the crawl test site on loopback. Raises PlumblineError if that fails."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "crawlbench"
        built = subprocess.run(["go", "build", "-o", str(program), "."], cwd=CRAWLBENCH, capture_output=True, text=True)
        if built.returncode != 0:
            raise PlumblineError(f"the crawl test site cannot be built: {built.stderr[-500:]}")
        port = find_free_port(1)
        flags = ["-names", "name", "-hosts", "4", "-pages", "400", "-quirks", "-port", str(port)]
        server = subprocess.Popen([str(program), *flags], stderr=subprocess.DEVNULL)
        try:
            wait_for(port + 1)
            yield Crawlbench(port)
        finally:
            server.terminate()
            server.wait()


def ask(port: int, host: str, path: str) -> tuple[http.client.HTTPResponse, bytes]:
    """Fetch a response from loopback and read it completely."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def wait_for(port: int, seconds: float = 120.0) -> None:
    """Wait until a port on loopback accepts connections."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise PlumblineError("the crawl test site did not start")
