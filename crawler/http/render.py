"""Render pages of the sites with `render` in a browser before parsing. Off by default.

The browser has no network access. It receives the fetched page. Its scripts and data come through the crawl's
`Fetcher`, only from such sites, within their robots.txt rules and with the crawl delay. Images,
styles, fonts, frames and all other requests are rejected. Needs the extra `render` (playwright) and Chromium.
"""

import hashlib
import logging
import shutil
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from crawler.crawl_plan import CrawlPlan
from crawler.http.fetch import Fetcher, FetchError, HttpResponse
from crawler.http.throttled_fetcher import ThrottledFetcher
from crawler.robots.robots_cache import RobotsRules, fetch_robots, parse_stored_robots
from crawler.schedule.throttle import HostThrottle
from crawler.urls.canonical import canonicalize_url, host_of, url_origin
from domain.errors import SettingsError
from domain.outcome import Reason
from domain.page import Origin, Page
from locks.fences import in_this_context

logger = logging.getLogger(__name__)

_ALLOWED_RESOURCE_TYPES = frozenset(("script", "fetch", "xhr"))
_MAX_REQUESTS_PER_PAGE = 100  # scripts and data
_MAX_CACHED_SCRIPTS = 100  # shared by the pages of a site
_MAX_CACHED_SCRIPT_BYTES = 2_000_000
_NETWORK_IDLE_MILLISECONDS = 10_000.0  # maximum wait for the page's last request
_REPLACED_HEADERS = ("content-type", "content-length", "content-encoding", "transfer-encoding")
# Blocks the network: other requests go to a proxy that does not exist.
_CHROMIUM_FLAGS = (
    *("--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--disable-quic"),
    *("--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--disable-gpu", "--no-sandbox"),
)


def import_playwright() -> Any:
    """Return the module of playwright. Raises SettingsError without the extra `render`."""
    try:
        return import_module("playwright.sync_api")
    except ImportError:
        raise SettingsError("render of a site needs playwright: pip install 'plumbline-search[render]'") from None


def launch_chromium(playwright: Any) -> Any:
    """Start a browser without network access; its requests must be answered by a route."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    return playwright.chromium.launch(executable_path=executable, args=list(_CHROMIUM_FLAGS))


class Renderer:
    """Runs the scripts of pages, one page at a time. Thread-safe. Call `close` at the end."""

    def __init__(self, fetcher: Fetcher, throttle: HostThrottle, plan: CrawlPlan, now: Callable[[], float]) -> None:
        self._loader = _ResourceLoader(fetcher, throttle, plan, now)
        self._rendered_sites = plan.rendered_sites
        self._user_agent = fetcher.user_agent
        self._timeout_milliseconds = 1000 * fetcher.total_timeout
        self._max_bytes = fetcher.max_page_bytes
        self._executor = ThreadPoolExecutor(1, "crawl-render")  # playwright objects belong to one thread
        self._playwright: Any = None
        self._browser: Any = None
        if self._rendered_sites:
            import_playwright()

    def should_render(self, page: Page) -> bool:
        """True if the page belongs to a site that is rendered."""
        host = host_of(page.url)
        return any(scope.covers(host, "/") for scope in self._rendered_sites)

    def render(self, page: Page) -> Page:
        """Return the page after its scripts ran, or the original page if they fail or take too long."""
        html = self._executor.submit(in_this_context(self._render_html), page).result()
        body = html.encode("utf-8", "replace")
        if not body or len(body) > self._max_bytes:
            return page
        headers = tuple((name, value) for name, value in page.headers if name.lower() not in _REPLACED_HEADERS)
        content_type = "text/html; charset=utf-8"
        return replace(
            page,
            body=body,
            content_type=content_type,
            digest=hashlib.sha256(body).hexdigest(),
            headers=(*headers, ("Content-Type", content_type), ("X-Archive-Rendered", "chromium")),
        )

    def close(self) -> None:
        """Close the browser after the current page."""
        self._executor.submit(self._close_browser).result()
        self._executor.shutdown()

    def _render_html(self, page: Page) -> str:
        """Return the rendered HTML, or "" if rendering fails. Runs in the browser's thread."""
        api = import_playwright()
        try:
            context = self._running_browser().new_context(
                user_agent=self._user_agent, service_workers="block", accept_downloads=False
            )
            try:
                return self._load_and_serialize(context, page)
            finally:
                context.close()
        except api.Error as error:
            logger.warning(
                "rendering %s failed, using the original HTML: %s", page.url, error.message.partition("\n")[0]
            )
            return ""

    def _load_and_serialize(self, context: Any, page: Page) -> str:
        context.set_default_timeout(self._timeout_milliseconds)
        context.route_web_socket("**", lambda socket: socket.close())
        context.route("**/*", _RequestRouter(page, self._loader).handle)
        browser_page = context.new_page()
        browser_page.on("dialog", lambda dialog: dialog.dismiss())
        browser_page.goto(page.final_url, wait_until="domcontentloaded")
        with suppress(import_playwright().TimeoutError):
            browser_page.wait_for_load_state(
                "networkidle", timeout=min(_NETWORK_IDLE_MILLISECONDS, self._timeout_milliseconds)
            )
        # Unlike `content()`, this call ends in time even if the page's scripts are busy.
        return str(
            browser_page.wait_for_function("() => '<!doctype html>' + document.documentElement.outerHTML").json_value()
        )

    def _running_browser(self) -> Any:
        if self._browser is None or not self._browser.is_connected():
            self._close_browser()
            self._playwright = import_playwright().sync_playwright().start()
            self._browser = launch_chromium(self._playwright)
        return self._browser

    def _close_browser(self) -> None:
        if self._browser is not None:
            self._browser.close()
        if self._playwright is not None:
            self._playwright.stop()
        self._browser = self._playwright = None


class _RequestRouter:
    """Responds to the browser's requests while it renders one page."""

    def __init__(self, page: Page, loader: "_ResourceLoader") -> None:
        self._page = page
        self._loader = loader
        self._requests_left = _MAX_REQUESTS_PER_PAGE
        self._is_page_served = False

    def handle(self, route: Any) -> None:
        """Respond to one request of the browser page."""
        request = route.request
        if request.is_navigation_request() and not self._is_page_served:
            self._is_page_served = True
            page = self._page
            route.fulfill(status=200, headers={"content-type": page.content_type or "text/html"}, body=page.body)
        elif request.is_navigation_request():
            route.fulfill(status=204)  # the browser stays on the page
        elif request.method == "GET" and request.resource_type in _ALLOWED_RESOURCE_TYPES and self._requests_left > 0:
            self._requests_left -= 1
            response = self._loader.load(request.url, self._page.url, should_cache=request.resource_type == "script")
            if response is None:
                route.abort()
            else:
                headers = {"content-type": response.header("content-type"), "access-control-allow-origin": "*"}
                route.fulfill(status=200, headers=headers, body=response.body)
        else:
            route.abort()


class _ResourceLoader:
    """Fetches the resources of pages, if that is allowed."""

    def __init__(self, fetcher: Fetcher, throttle: HostThrottle, plan: CrawlPlan, now: Callable[[], float]) -> None:
        self._fetcher = ThrottledFetcher(fetcher, throttle)
        self._find_login = fetcher.logins.find
        self._throttle, self._now = throttle, now
        self._allowed_sites = plan.rendered_sites
        self._product_token = plan.product_token
        self._robots_by_origin: dict[str, RobotsRules] = {}
        self._script_cache: OrderedDict[str, HttpResponse] = OrderedDict()

    def load(self, url_text: str, page_url: str, should_cache: bool) -> HttpResponse | None:
        """Return the resource at a URL, from the cache if possible, or None if it is not allowed or not available.

        A resource behind a login is only for pages behind the same login.
        """
        url = canonicalize_url(url_text)
        if isinstance(url, Reason) or not any(scope.covers(host_of(url), "/") for scope in self._allowed_sites):
            return None
        if (login := self._find_login(url)) is not None and login is not self._find_login(page_url):
            return None
        if url_text in self._script_cache:
            return self._script_cache[url_text]
        rules = self._robots_rules(url_origin(url))
        if rules.rejection_outcome(url) is not None:
            return None
        self._throttle.raise_crawl_delay(host_of(url), rules.crawl_delay)
        try:
            # The page's spelling of the URL: a data server may depend on the order of parameters.
            response = self._fetcher.get(
                urlsplit(url_text)._replace(fragment="").geturl(), {}, lambda status, _: status == 200
            )
        except FetchError as error:
            logger.info("resource %s not loaded: %s", url, error.outcome)
            return None
        if response.status != 200:
            return None
        if should_cache and len(response.body) <= _MAX_CACHED_SCRIPT_BYTES:
            self._script_cache[url_text] = response
            if len(self._script_cache) > _MAX_CACHED_SCRIPTS:
                self._script_cache.popitem(last=False)
        return response

    def _robots_rules(self, origin: Origin) -> RobotsRules:
        if origin not in self._robots_by_origin:
            robots_fetch = fetch_robots(self._fetcher, origin, self._now)
            self._robots_by_origin[origin] = parse_stored_robots(robots_fetch.robots_file, self._product_token)
        return self._robots_by_origin[origin]
