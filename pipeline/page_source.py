"""One page outside the flow: from a file, from the archive, or fetched as the crawl would, for who wants to see it.

Whoever wrote it, it is read in a process of its own (`apart`), as in the flow.
"""

import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicAddresses
from crawler.robots.cache import RobotsRules, fetch_robots, product_token, rules_of
from crawler.settings import CrawlSettings
from crawler.urls.canonical import canonical, host_of, origin_of
from docstore.articles.table import PendingPage
from docstore.errors import PlumblineError
from docstore.formats import BY_ENDING, FORMATS
from docstore.model import FrontierEntry, Kind, Origin, Outcome, Page, Reason, SiteKnowledge, WarcPointer
from pipeline.workers.page_reading import EXTRACTOR
from pipeline.workers.worker_process import WorkerError, WorkerProcess

if TYPE_CHECKING:  # a worker process reads pages without a store, an index and a site
    from pipeline.engine import Engine

P = ParamSpec("P")
T = TypeVar("T")

NOTHING_KNOWN = SiteKnowledge()


@dataclass(frozen=True)
class SourcePage:
    """The bytes of a page and what is known of it and its site; `name` is what a person calls it, `url` may be ""."""

    name: str
    html: bytes
    url: str
    content_type: str = ""
    fetched_at: float = 0.0
    site: SiteKnowledge = NOTHING_KNOWN


def address_of(url: str) -> str:
    """The canonical form of a URL. PlumblineError where it has none."""
    found = canonical(url)
    if isinstance(found, Reason):
        raise PlumblineError(f"{url!r} is not a URL: {found}")
    return found


def apart(page: SourcePage, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`work(*args, **kwargs)`, which reads `page`, in a process that ends with it (see worker_process.py).

    PlumblineError names the page that takes too long or too much memory, or kills its process.
    """
    with closing(WorkerProcess(preload=[work.__module__, *EXTRACTOR])) as process:
        try:
            return process.call(work, *args, **kwargs)
        except WorkerError as error:
            raise PlumblineError(f"{page.name}: {error}") from error


def page_in_file(path: Path, url: str) -> SourcePage:
    """A page on disk, or on standard input for `-`."""
    if str(path) == "-":
        return SourcePage("standard input", sys.stdin.buffer.read(), url)
    try:
        return SourcePage(str(path), path.read_bytes(), url, type_of(path))
    except OSError as error:
        raise PlumblineError(f"cannot read {path}: {error.strerror}") from error


def type_of(path: Path) -> str:
    """What a server would call a file: the type of the document that its ending names; "" for any other."""
    name = BY_ENDING.get(path.suffix.removeprefix(".").lower())
    return FORMATS[name].types[0] if name else ""


def page_in_store(engine: "Engine", url: str) -> SourcePage:
    """The kept version of a page. PlumblineError for a URL that was never fetched, or whose bytes are lost."""
    address = address_of(url)
    told = engine.store.status.explain(address)
    kept = told.page if told else None
    if kept is None:
        raise PlumblineError(f"no page is kept of {address}: `plumb explain {address}` says why")
    articles, host = engine.store.articles, host_of(address)
    pointer = WarcPointer(kept.warc_file, kept.warc_offset, kept.warc_length)
    page = PendingPage(kept.url_id, address, kept.content_type, kept.digest, pointer, kept.fetched_at, host)
    html = articles.read_page(page)
    return SourcePage(address, html, address, page.content_type, page.fetched_at, articles.site(host))


def fetch_page(url: str, settings: CrawlSettings, pause: Callable[[float], None] = time.sleep) -> SourcePage:
    """A page as the crawl would fetch it: robots.txt asked first, with pauses, and only from the public internet.

    Redirects are followed, each a request of its own. Raises PlumblineError with the reason why there is no page.
    """
    address = address_of(url)
    with closing(Fetcher(settings, PublicAddresses(settings.inside_hosts))) as fetcher:
        visit = PageVisit(fetcher, settings, pause)
        for _ in range(settings.max_redirects + 1):
            found = visit.ask(address)
            if isinstance(found, Page):
                return SourcePage(found.url, found.body, found.url, found.content_type, found.fetched_at)
            address = found
    raise PlumblineError(f"{url}: {Reason.TOO_MANY_REDIRECTS}")


class PageVisit:
    """The requests of one call."""

    def __init__(self, fetcher: Fetcher, settings: CrawlSettings, pause: Callable[[float], None]) -> None:
        self.fetcher = fetcher
        self.agent, self.delay = product_token(settings.user_agent), settings.delay
        self.pause = pause
        self.rules: dict[str, RobotsRules] = {}

    def ask(self, address: str) -> Page | str:
        """The page, or the URL that it has moved to."""
        rules = self.rules_for(origin_of(address))
        refusal = rules.refuse(address)
        if refusal is not None:
            raise no_page(address, refusal)
        self.pause(max(self.delay, rules.delay))
        result = self.fetcher.fetch(FrontierEntry(0, address, host_of(address), 0, 0, Kind.UNKNOWN, 0.0))
        if result.page is None and not result.redirect:
            raise no_page(address, result.outcome)
        return result.page or result.redirect

    def rules_for(self, origin: Origin) -> RobotsRules:
        """What the origin's robots.txt says, asked once."""
        if origin not in self.rules:
            answer = fetch_robots(self.fetcher, origin, time.time, lambda: self.pause(self.delay))
            if answer.failure is not None:
                raise no_page(origin, answer.failure)
            self.rules[origin] = rules_of(answer.stored, self.agent)
        return self.rules[origin]


def no_page(address: str, outcome: Outcome) -> PlumblineError:
    """Why there is no page, as one line."""
    return PlumblineError(": ".join(part for part in (address, str(outcome.reason), outcome.detail) if part))
