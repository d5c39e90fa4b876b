"""Set `whynot` of `make bench-admin`: whether the page about a missing page names the cause that is known.

Sites on loopback have pages that are lost for known causes by construction. A real crawl, extraction and indexing lose
them. `cause_named` is the share of pages for which the named cause is the known one; a page that is represented by
another one also has to name that page.
"""

import gzip
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from socket import socket

from benchmarks.results import OURS, Figure
from crawler.http.ip_policy import PublicOnlyPolicy
from domain.article import document_id
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from pipeline import stages
from pipeline.crawl_stage.manual_urls import add_manual_urls
from pipeline.engine import Engine
from pipeline.explain.diagnosis_service import StorePageDiagnosis
from pipeline.progress import NullProgress
from pipeline.settings import Settings, build_settings
from search_ui.admin.interfaces.diagnosis import PageCause, PageDiagnosis

LOOPBACK = "127.0.0.1"
PAGES_PER_CAUSE, FEW_PAGES = 7, 1
MAX_DEPTH, MAX_BYTES = 3, 200_000
SLOW_SECONDS, TIMEOUT_SECONDS = 8.0, 2.0
WORDS = (
    *("页岩", "钻井", "储层", "压裂", "产量", "管道", "炼油", "天然气", "勘探", "盆地", "裂缝"),
    *("渗透率", "采收率", "井口", "设备", "国家", "企业", "市场", "价格", "投资"),
)


@dataclass(frozen=True)
class Response:
    """What a site answers for a path."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})
    seconds: float = 0.0


class LoopbackServer(ThreadingHTTPServer):
    """A server that ignores clients that close the connection."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Report nothing: the crawl closes connections at its timeout and size limits."""


class LoopbackSite:
    """A site whose pages are a mapping of paths. Other paths answer 404."""

    def __init__(self) -> None:
        self.pages: dict[str, Response] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                response = site.pages.get(self.path, Response(b"no such page", 404))
                time.sleep(response.seconds)
                self.send_response(response.status)
                for name, value in {**response.headers, "Content-Length": str(len(response.body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(response.body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = LoopbackServer((LOOPBACK, 0), Handler)
        self.host = f"{LOOPBACK}:{self._server.server_address[1]}"

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return f"http://{self.host}{path}"

    @contextmanager
    def serving(self) -> Iterator["LoopbackSite"]:
        """Answer requests while the context is open."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


@dataclass
class LostPages:
    """The sites, and the pages that they lose: URL -> known cause; `represented_by` names the page that is listed."""

    count: int
    main: LoopbackSite
    other: LoopbackSite
    outside: LoopbackSite
    failing: LoopbackSite
    slow: LoopbackSite
    private: LoopbackSite
    paused: LoopbackSite
    closed_host: str
    causes: dict[str, PageCause] = field(default_factory=dict)
    represented_by: dict[str, str] = field(default_factory=dict)
    copies: list[tuple[str, str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def put(self, url: str, response: Response) -> None:
        """Let the main site answer for a URL."""
        self.main.pages[url.removeprefix(f"http://{self.main.host}")] = response

    def lose(self, cause: PageCause, response: Response | None, site: LoopbackSite, suffix: str = ".html") -> list[str]:
        """Add pages that are lost for `cause`, linked from the start page. Returns their URLs."""
        urls = [site.url(f"/{cause}/{number}{suffix}") for number in range(self.count)]
        for url in urls:
            if response is not None:
                site.pages[url.removeprefix(f"http://{site.host}")] = response
        self.causes |= dict.fromkeys(urls, cause)
        self.links += urls
        return urls


def html(title: str, text: str, head: str = "") -> Response:
    """Return an HTML page."""
    start = f"<!doctype html><html><head><title>{title}</title>{head}</head>"
    return Response(f"{start}<body><h1>{title}</h1>{text}</body></html>".encode())


def article(seed: str, head: str = "") -> Response:
    """Return an article with its own random text."""
    random = Random(seed)
    sentences = ["".join(random.choices(WORDS, k=8)) + f"，达到{random.randint(100, 9999)}吨。" for _ in range(24)]
    paragraphs = "".join(f"<p>{''.join(sentences[start : start + 4])}</p>" for start in range(0, 24, 4))
    return html(f"{''.join(random.choices(WORDS, k=4))}报告{seed.rpartition('/')[2]}", paragraphs, head)


def link_list(urls: Sequence[str], title: str = "目录") -> Response:
    """Return a page of links."""
    return html(title, "<ul>" + "".join(f'<li><a href="{url}">条目 {url[-12:]}</a></li>' for url in urls) + "</ul>")


def build_sites(lost: LostPages) -> None:
    """Write the pages of all sites."""
    _add_forbidden_pages(lost)
    _add_failing_pages(lost)
    _add_redirects(lost)
    _add_pages_without_article(lost)
    _add_copies(lost)
    lost.main.pages["/"] = link_list(lost.links[: len(lost.links) // 2])
    lost.other.pages["/in/"] = link_list(lost.links[len(lost.links) // 2 :])
    lost.main.pages["/robots.txt"] = Response(b"User-agent: *\nDisallow: /robots_forbidden/\n", headers={})
    for site in (lost.slow, lost.private):
        site.pages["/robots.txt"] = Response(b"", headers={})


def _add_forbidden_pages(lost: LostPages) -> None:
    """Add pages that the crawl does not know or may not fetch."""
    page = article("forbidden")
    before = list(lost.links)
    lost.lose(PageCause.NO_LINK, page, lost.main)
    nofollow = lost.lose(PageCause.NOFOLLOW, page, lost.main)
    too_deep = lost.lose(PageCause.TOO_DEEP, page, lost.main)
    lost.links = before
    lost.main.pages["/quiet.html"] = html(
        "不跟踪", "".join(f'<p><a rel="nofollow" href="{url}">链接</a> 说明文字</p>' for url in nofollow)
    )
    lost.main.pages["/level1.html"] = link_list([lost.main.url("/level2.html")])
    lost.main.pages["/level2.html"] = link_list([lost.main.url("/level3.html")])
    lost.main.pages["/level3.html"] = link_list(too_deep)
    lost.links += [lost.main.url("/quiet.html"), lost.main.url("/level1.html")]
    lost.lose(PageCause.OTHER_HOST, page, lost.outside)
    lost.lose(PageCause.OTHER_PATH, page, lost.other)
    lost.lose(PageCause.UNSUPPORTED_EXTENSION, page, lost.main, ".png")
    lost.lose(PageCause.ROBOTS_FORBIDDEN, page, lost.main)
    lost.lose(PageCause.ROBOTS_UNAVAILABLE, page, lost.failing)
    lost.failing.pages["/robots.txt"] = Response(b"", 500)
    lost.lose(PageCause.PRIVATE_ADDRESS, page, lost.private)
    lost.lose(PageCause.SITE_PAUSED, page, lost.paused)


def _add_failing_pages(lost: LostPages) -> None:
    """Add pages whose responses cannot be used."""
    site, page = lost.main, article("failing")
    lost.lose(PageCause.HTTP_ERROR, Response(b"no", 403), site)
    lost.lose(PageCause.GONE, Response(b"no", 410), site)
    lost.lose(
        PageCause.NOT_HTML, Response(bytes(range(256)) * 8, headers={"Content-Type": "application/x-binary"}), site
    )
    lost.lose(PageCause.EMPTY_BODY, Response(b""), site)
    lost.lose(PageCause.TOO_LARGE, Response(page.body + b" " * MAX_BYTES), site)
    broken = Response(gzip.compress(page.body)[:-20], headers={"Content-Type": "text/html", "Content-Encoding": "gzip"})
    lost.lose(PageCause.MALFORMED_RESPONSE, broken, site)
    lost.lose(PageCause.TIMED_OUT, replace(page, seconds=SLOW_SECONDS), lost.slow)
    unreachable = [f"http://{lost.closed_host}/{number}.html" for number in range(lost.count)]
    lost.causes |= dict.fromkeys(unreachable, PageCause.UNREACHABLE)
    lost.links += unreachable
    for url in lost.lose(PageCause.EXPIRED, None, site):
        lost.put(url, article(url, '<meta property="article:published_time" content="1999-05-01T08:00:00Z">'))
    lost.lose(PageCause.NOINDEX, article("noindex", '<meta name="robots" content="noindex">'), site)


def _add_redirects(lost: LostPages) -> None:
    """Add pages that redirect."""
    site = lost.main
    for url in lost.lose(PageCause.REDIRECTED, None, site):
        target = url.replace("/duplicate/", "/target/")
        site.pages[f"/target/{url.rpartition('/')[2]}"] = article(target)
        lost.put(url, Response(b"", 301, {"Location": target}))
        lost.represented_by[url] = target
    target = lost.outside.url("/elsewhere.html")
    for url in lost.lose(PageCause.REDIRECTED_OUT_OF_SCOPE, Response(b"", 302, {"Location": target}), site):
        lost.represented_by[url] = target
    for url in lost.lose(PageCause.TOO_MANY_REDIRECTS, None, site):
        lost.put(url, Response(b"", 302, {"Location": url}))


def _add_pages_without_article(lost: LostPages) -> None:
    """Add pages that are fetched and have no article."""
    site = lost.main
    elsewhere = [site.url(f"/target/{number}.html") for number in range(lost.count)]
    for number, url in enumerate(lost.lose(PageCause.LIST_PAGE, None, site)):
        titles = [f"{''.join(Random(f'{number} {n}').choices(WORDS, k=5))}" for n in range(40)]
        items = "".join(
            f'<li><a href="{elsewhere[n % len(elsewhere)]}">{title}</a> 2024-05-{1 + n % 28:02}</li>'
            for n, title in enumerate(titles)
        )
        lost.put(url, html(f"新闻列表第{number}栏", f"<ul>{items}</ul>"))
    for number, url in enumerate(lost.lose(PageCause.NO_BODY, None, site)):
        lost.put(url, html(f"通知{number}", f"<p>无{number}</p>"))
    scripts = '<div id="root"></div><noscript>请启用 JavaScript</noscript><script src="/app.js"></script>'
    for number, url in enumerate(lost.lose(PageCause.NEEDS_JAVASCRIPT, None, site)):
        page = f"<!doctype html><html><head><title>应用{number}</title></head><body>{scripts}</body></html>"
        lost.put(url, Response(page.encode()))
    damaged = Response(b"%PDF-1.4\nno objects at all\n%%EOF", headers={"Content-Type": "application/pdf"})
    lost.lose(PageCause.UNPARSABLE, damaged, site, ".pdf")


def _add_copies(lost: LostPages) -> None:
    """Add pairs of the same article on two sites. One of them is lost; which one, the engine decides."""
    for number in range(lost.count):
        page = article(f"copy/{number}")
        paths = f"/copy/{number}.html", f"/in/copy/{number}.html"
        lost.main.pages[paths[0]] = lost.other.pages[paths[1]] = page
        lost.copies.append((lost.main.url(paths[0]), lost.other.url(paths[1])))
        lost.links += lost.copies[-1]


def settings_for(lost: LostPages, folder: Path, solr_url: str) -> Settings:
    """Return settings that crawl the sites."""
    hosts = [lost.main.host, lost.failing.host, lost.slow.host, lost.paused.host, lost.closed_host]
    crawl = {
        "seeds": [lost.main.url("/"), lost.other.url("/in/")],
        "scope": [*hosts, lost.private.host, f"{lost.other.host}/in/"],
        "inside_hosts": [*hosts, lost.other.host],
        "paused_sites": [lost.paused.host],
        "depth": MAX_DEPTH,
        "max_bytes": MAX_BYTES,
        "delay": 0.001,
        "read_timeout": TIMEOUT_SECONDS,
        "per_host": 8,
    }
    settings = build_settings({"vertical": {"data_dir": "data"}, "crawl": crawl}, folder)
    return replace(settings, index=IndexSettings(solr_url=solr_url, collection="whynot", start_timeout=600))


def run_stages(engine: Engine, lost: LostPages) -> None:
    """Crawl, extract and index, and lose further pages after each stage."""
    lose_document = add_late_pages(lost, PageCause.DOCUMENT_LOST)
    add_manual_urls(engine, lose_document)
    stages.crawl(engine)
    stages.extract(engine)
    stages.index(engine)
    engine.index.delete([document_id(url) for url in lose_document])
    for url in add_late_pages(lost, PageCause.TAKEN_DOWN):
        engine.store.takedowns.take_down(url, "anna", "request of the owner")
    engine.store.retention.remove_expired(KEEP_DAYS, {})
    add_manual_urls(engine, add_late_pages(lost, PageCause.NOT_INDEXED))
    stages.crawl(engine)
    stages.extract(engine)
    add_manual_urls(engine, add_late_pages(lost, PageCause.NOT_EXTRACTED))
    stages.crawl(engine)
    blocked = add_late_pages(lost, PageCause.STOPPED)
    add_manual_urls(engine, [*blocked, *add_late_pages(lost, PageCause.NOT_VISITED)])
    for url in blocked:
        engine.store.frontier.admin.block_urls(url)


KEEP_DAYS = 3650  # the expired articles are of 1999


def add_late_pages(lost: LostPages, cause: PageCause) -> list[str]:
    """Add articles of the main site that no page links to. Returns their URLs."""
    urls = [lost.main.url(f"/{cause}/{number}.html") for number in range(lost.count)]
    for url in urls:
        lost.put(url, article(url))
    lost.causes |= dict.fromkeys(urls, cause)
    return urls


def judge(diagnosis: PageDiagnosis | None, cause: PageCause, represented_by: str) -> bool:
    """Return True if the only stop of a diagnosis has the known cause, and names the page that is listed instead."""
    stop = diagnosis.stop if diagnosis else None
    return stop is not None and stop.cause is cause and stop.related_url in (represented_by or stop.related_url,)


def judge_copies(diagnoser: StorePageDiagnosis, pair: tuple[str, str]) -> bool:
    """Return True if exactly one page of a pair is a copy, and the other one is named."""
    stops = [diagnosis.stop if diagnosis else None for diagnosis in map(diagnoser.diagnose_page, pair)]
    verdicts = [
        stop is not None and stop.cause is PageCause.COPY and stop.related_url == other
        for stop, other in zip(stops, reversed(pair), strict=True)
    ]
    return sorted(verdicts) == [False, True] and None in stops


def measure_whynot(few: bool) -> Sequence[Figure]:
    """Lose pages for known causes and return the share whose cause is named, over all and for each cause."""
    named, totals = Counter[str](), Counter[str]()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        sites = [stack.enter_context(LoopbackSite().serving()) for _ in range(7)]
        unused = stack.enter_context(closing(socket()))
        unused.bind((LOOPBACK, 0))  # bound and not open: refuses connections
        closed_host = f"{LOOPBACK}:{unused.getsockname()[1]}"
        main, other, outside, failing, slow, private, paused = sites
        count = FEW_PAGES if few else PAGES_PER_CAUSE
        lost = LostPages(count, main, other, outside, failing, slow, private, paused, closed_host)
        build_sites(lost)
        solr = stack.enter_context(
            EmbeddedSolr(folder / "solr-home", IndexSettings(solr_heap="512m", start_timeout=600))
        )
        settings = settings_for(lost, folder, solr.url)
        policy = PublicOnlyPolicy(settings.crawl.inside_hosts)
        engine = stack.enter_context(Engine(settings, NullProgress(), ip_policy=policy))
        run_stages(engine, lost)
        diagnoser = StorePageDiagnosis(engine)
        for url, cause in lost.causes.items():
            diagnosis = diagnoser.diagnose_page(url)
            is_named = judge(diagnosis, cause, lost.represented_by.get(url, ""))
            totals[cause] += 1
            named[cause] += is_named
            if not is_named:
                print(f"{url}: {cause} expected, {diagnosis and diagnosis.stop}")
        for pair in lost.copies:
            totals[PageCause.COPY] += 1
            named[PageCause.COPY] += judge_copies(diagnoser, pair)
    return [
        Figure("whynot", OURS, "pages", totals.total()),
        Figure("whynot", OURS, "cause_named", named.total() / totals.total()),
        *(Figure("whynot", OURS, f"cause_named {cause}", named[cause] / count) for cause, count in totals.items()),
    ]
