"""Pages that scripts make: shown by a real browser before they are read. Off, but for the sites in `crawl.rendered`.

The browser has no network. The page is handed to it as it was fetched; the scripts and data that it asks for come
through the crawl's own `Fetcher`, by its limits, from the sites in `crawl.rendered` alone, by their robots.txt, and
with the delay between any two. Pictures, styles, fonts, frames and all else are refused. Needs the extra `render`
(playwright) and a chromium.
"""

import hashlib
import logging
import shutil
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from crawler.crawl_plan import CrawlPlan
from crawler.http.fetch import Answer, Fetcher, FetchError
from crawler.robots.cache import RobotsRules, fetch_robots, rules_of
from crawler.urls.canonical import canonical, host_of, origin_of
from docstore.errors import SettingsError
from docstore.model import Origin, Page, Reason

logger = logging.getLogger(__name__)

_LOADED = frozenset(("script", "fetch", "xhr"))
_MAX_LOADED = 100  # scripts and answers a page may ask for
_MAX_KEPT = 100  # scripts, which many pages of a site share
_LARGEST_KEPT = 2_000_000
_SETTLED = 10_000.0  # milliseconds until a page has asked for all that it will ask for, at most
_OURS = ("content-type", "content-length", "content-encoding", "transfer-encoding")
# No network: what is not answered here goes to a proxy that is not there.
_FLAGS = (
    *("--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--disable-quic"),
    *("--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--disable-gpu", "--no-sandbox"),
)


class Renderer:
    """Runs the scripts of pages, one page at a time. Safe to use from many threads; close it at the end."""

    def __init__(
        self,
        fetcher: Fetcher,
        plan: CrawlPlan,
        now: Callable[[], float],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._loader = _Loader(fetcher, plan, now, sleep)
        self._scopes = plan.rendered
        self._agent = fetcher.agent
        self._patience = 1000 * fetcher.total_timeout
        self._most = fetcher.max_bytes
        self._thread = ThreadPoolExecutor(1, "crawl-render")  # playwright's objects live in one thread
        self._playwright: Any = None
        self._browser: Any = None
        if self._scopes:
            self._api()

    def wants(self, page: Page) -> bool:
        """Is this a page of a site that is to be rendered?"""
        host = host_of(page.url)
        return any(scope.covers(host, "/") for scope in self._scopes)

    def render(self, page: Page) -> Page:
        """The page as its scripts leave it; as it came, where they fail or take too long."""
        html = self._thread.submit(self._html, page).result()
        body = html.encode("utf-8", "replace")
        if not body or len(body) > self._most:
            return page
        headers = tuple((name, value) for name, value in page.headers if name.lower() not in _OURS)
        kind = "text/html; charset=utf-8"
        return replace(
            page,
            body=body,
            content_type=kind,
            digest=hashlib.sha256(body).hexdigest(),
            headers=(*headers, ("Content-Type", kind), ("X-Archive-Rendered", "chromium")),
        )

    def close(self) -> None:
        """End the browser, once the page under way is done."""
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _api(self) -> Any:
        try:
            return import_module("playwright.sync_api")
        except ImportError:
            raise SettingsError("crawl.rendered needs playwright: pip install 'plumbline[render]'") from None

    def _html(self, page: Page) -> str:
        """What the browser makes of the page; "" where it fails. Runs in the browser's thread."""
        api = self._api()
        try:
            context = self._opened().new_context(
                user_agent=self._agent, service_workers="block", accept_downloads=False
            )
            try:
                return self._shown(context, page)
            finally:
                context.close()
                self._loader.rest()
        except api.Error as error:
            logger.warning(
                "%s cannot be rendered, and is kept as it came: %s", page.url, error.message.partition("\n")[0]
            )
            return ""

    def _shown(self, context: Any, page: Page) -> str:
        context.set_default_timeout(self._patience)
        context.route_web_socket("**", lambda socket: socket.close())
        context.route("**/*", _Answers(page, self._loader).take)
        tab = context.new_page()
        tab.on("dialog", lambda dialog: dialog.dismiss())
        tab.goto(page.final_url, wait_until="domcontentloaded")
        with suppress(self._api().TimeoutError):
            tab.wait_for_load_state("networkidle", timeout=min(_SETTLED, self._patience))
        # Unlike `content()` this ends in time whatever the page's scripts are at.
        return str(tab.wait_for_function("() => '<!doctype html>' + document.documentElement.outerHTML").json_value())

    def _opened(self) -> Any:
        if self._browser is None or not self._browser.is_connected():
            self._close()
            self._playwright = self._api().sync_playwright().start()
            found = shutil.which("chromium") or shutil.which("chromium-browser")
            self._browser = self._playwright.chromium.launch(executable_path=found, args=list(_FLAGS))
        return self._browser

    def _close(self) -> None:
        if self._browser is not None:
            self._browser.close()
        if self._playwright is not None:
            self._playwright.stop()
        self._browser = self._playwright = None


class _Answers:
    """What the browser gets for its requests while it shows one page."""

    def __init__(self, page: Page, loader: "_Loader") -> None:
        self._page = page
        self._loader = loader
        self._left = _MAX_LOADED
        self._shown = False

    def take(self, route: Any) -> None:
        """Answer one request."""
        request = route.request
        if request.is_navigation_request() and not self._shown:
            self._shown = True
            page = self._page
            route.fulfill(status=200, headers={"content-type": page.content_type or "text/html"}, body=page.body)
        elif request.is_navigation_request():
            route.fulfill(status=204)  # the page stays where it is
        elif request.method == "GET" and request.resource_type in _LOADED and self._left > 0:
            self._left -= 1
            answer = self._loader.load(request.url, keep=request.resource_type == "script")
            if answer is None:
                route.abort()
            else:
                headers = {"content-type": answer.header("content-type"), "access-control-allow-origin": "*"}
                route.fulfill(status=200, headers=headers, body=answer.body)
        else:
            route.abort()


class _Loader:
    """Fetches what pages ask for, where that is allowed."""

    def __init__(
        self, fetcher: Fetcher, plan: CrawlPlan, now: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self._fetcher = fetcher
        self._scopes = plan.rendered
        self._agent = plan.agent
        self._delay = plan.delay
        self._now = now
        self._sleep = sleep
        self._owed = 0.0
        self._rules: dict[str, RobotsRules] = {}
        self._kept: OrderedDict[str, Answer] = OrderedDict()

    def load(self, text: str, keep: bool) -> Answer | None:
        """The answer at a URL, from memory if it was kept; None if there is none that may be had."""
        if text in self._kept:
            return self._kept[text]
        url = canonical(text)
        if isinstance(url, Reason) or not any(scope.covers(host_of(url), "/") for scope in self._scopes):
            return None
        rules = self._rules_of(origin_of(url))
        if rules.refuse(url) is not None:
            return None
        self._owed = max(self._delay, rules.delay)
        self._sleep(self._owed)
        try:
            # As the page spells it: the order of parameters may matter to what serves data.
            answer = self._fetcher.ask(
                urlsplit(text)._replace(fragment="").geturl(), {}, lambda status, _: status == 200
            )
        except FetchError as error:
            logger.info("%s, which a page asks for: %s", url, error.outcome)
            return None
        if answer.status != 200:
            return None
        if keep and len(answer.body) <= _LARGEST_KEPT:
            self._kept[text] = answer
            if len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
        return answer

    def rest(self) -> None:
        """Wait for the delay after the last request, if there was any: whoever asks the host next counts from now."""
        owed, self._owed = self._owed, 0.0
        if owed:
            self._sleep(owed)

    def _rules_of(self, origin: Origin) -> RobotsRules:
        if origin not in self._rules:
            self._sleep(self._delay)
            said = fetch_robots(self._fetcher, origin, self._now, lambda: self._sleep(self._delay))
            self._rules[origin] = rules_of(said.stored, self._agent)
        return self._rules[origin]
