"""The demo vertical in a real browser: Debian's chromium, controlled by playwright.

`vertical` is the complete engine: three news sites on loopback, crawled, extracted, mined and indexed. No lexicon is
published unless the module overrides the fixture `lexicon`. Crawl, extraction and mining run once per test run; each
module has a copy of their data and an index of its own. `visit` opens tabs, each for a new visitor. A test fails if, in
any of its tabs, a dialog opens, a script or the content security policy reports an error, the server sends an
unexpected 4xx or 5xx, or a request leaves this machine.
"""

import dataclasses
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest
from argon2 import PasswordHasher
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page, Response, expect, sync_playwright

from domain.account import Role
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import SolrIndex
from pipeline import stages
from pipeline.demo.run import DemoOptions, demo_settings
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite
from pipeline.settings import Settings
from tests.demo_sites import DemoData, shared_demo

ACCOUNT, PASSWORD = "operator", "demo administrator"
PASSWORD_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)  # cheap: this is a test
PATIENCE = 300_000  # timeout in milliseconds for pages and the index
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--in-process-gpu",
    "--disable-software-rasterizer", "--disable-gpu-compositing", "--renderer-process-limit=1", "--process-per-site",
]  # fmt: skip

Visit = Callable[..., Page]
# Session cookies by account, for each browser.
SESSION_COOKIES: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Vertical:
    """The running engine. `index` is a separate connection for the test."""

    url: str
    demo_url: str
    engine: Engine
    index: SolrIndex


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Yield the browser. Without chromium, tests are skipped; in CI they fail."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")  # the shell takes a third of the CPU
    if path is None:
        reason = "there is no chromium: apt-get install chromium"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoData]:
    """Yield the demo after crawl, extraction and mining; all processes of the test run share it."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ  # then the folder is one of several in that of the run
    folder = tmp_path_factory.getbasetemp()
    with shared_demo(folder.parent if is_worker else folder) as data:
        yield data


@pytest.fixture(scope="module")
def unindexed(
    chromium: Browser, solr_node: EmbeddedSolr, demo_data: DemoData, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """Yield a copy of the demo without an index.

    Depends on the browser, so that nothing is copied if there is no browser.
    """
    folder = tmp_path_factory.mktemp("browser")
    shutil.copytree(demo_data.data_dir, folder / "data")
    settings = settings_for(folder, demo_data.port, solr_node.url)
    with Engine(settings, NullProgress()) as engine:
        engine.store.accounts.create(ACCOUNT, PASSWORD_HASH, [Role.OPERATOR])
        yield engine
        engine.index.delete_all()


@pytest.fixture(scope="module")
def lexicon(unindexed: Engine) -> None:
    """Publish terms before the index is created: none. A module can override this fixture."""


@pytest.fixture(scope="module")
def vertical(unindexed: Engine, lexicon: None) -> Iterator[Vertical]:
    """Yield the demo after one run, with a running search site."""
    engine = unindexed
    stages.run(engine, only_stage="index")
    with SearchSite(engine) as site:
        settings = engine.settings
        index = SolrIndex(settings.index.solr_url, settings.index.collection, timeout=120.0)
        yield Vertical(site.url, settings.crawl.sites.seeds[0], engine, index)


def settings_for(folder: Path, site_port: int, solr_url: str) -> Settings:
    """Return the settings of the demo, with a free port and the Solr of the session."""
    settings = demo_settings(DemoOptions(folder, port=0, site_port=site_port))
    collection = f"browser{uuid.uuid4().hex[:12]}"
    index = dataclasses.replace(settings.index, solr_url=solr_url, collection=collection)
    search = dataclasses.replace(settings.search, timeout=60.0)  # long, because the machine can be under load
    return dataclasses.replace(settings, index=index, search=search)


class Watch:
    """Records what must not happen in the tabs of one visitor; `allowed` are expected error statuses."""

    def __init__(self, context: BrowserContext) -> None:
        self.faults: list[str] = []
        self.allowed: set[int] = set()
        context.on("dialog", self._dialog)
        context.on("console", lambda message: self._console(message.type, message.text))
        context.on("weberror", lambda error: self.faults.append(f"script failed: {error.error}"))
        context.on("request", lambda request: self._address(request.url))
        context.on("response", self._answer)

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, kind: str, text: str) -> None:
        refused = text.startswith("Failed to load resource: the server responded")  # `_answer` knows better
        if kind in ("error", "warning") and not refused:
            self.faults.append(f"console: {text}")

    def _address(self, url: str) -> None:
        host = urlsplit(url).hostname or ""
        if host != "127.0.0.1" and not host.endswith(".localhost"):
            self.faults.append(f"request to {url}")

    def _answer(self, response: Response) -> None:
        is_missing_picture = response.status == 404 and "/picture/" in response.url  # the page shows none
        if response.status >= 400 and response.status not in self.allowed and not is_missing_picture:
            self.faults.append(f"{response.status} from {response.url}")


@pytest.fixture
def watches() -> list[Watch]:
    """Return the watches of the visitors of this test, in order."""
    return []


@pytest.fixture
def visit(chromium: Browser, vertical: Vertical, watches: list[Watch]) -> Iterator[Visit]:
    """Yield a function that opens a tab for a new visitor; the default locale is Chinese (`locale`).

    Positional arguments are the error statuses that the test expects. Other options are those of a playwright context.
    """
    with ExitStack() as stack:

        def new_visitor(*allowed: int, locale: str = "zh-CN", **options: object) -> Page:
            context = chromium.new_context(base_url=vertical.url, locale=locale, **options)  # type: ignore[arg-type]
            stack.enter_context(closing(context))
            context.set_default_timeout(PATIENCE)
            watches.append(Watch(context))
            watches[-1].allowed |= set(allowed)
            return context.new_page()

        yield new_visitor
    assert [fault for watch in watches for fault in watch.faults] == []


def follow(control: Locator, key: str = "") -> None:
    """Click a link or button, or press `key` in it, and wait until the page that it leads to is loaded.

    A test that reads a page without `expect` needs this: after `click` alone the page can be the old one or half of
    the new one.
    """
    with control.page.expect_navigation():
        if key:
            control.press(key)
        else:
            control.click()


def fill_in(page: Page, name: str = ACCOUNT, password: str = PASSWORD) -> None:
    """Send the sign-in form and wait for the page that answers it."""
    page.locator("#name").fill(name)
    page.locator("#password").fill(password)
    follow(page.locator("#password"), "Enter")


def sign_in(page: Page, name: str = ACCOUNT) -> Page:
    """Sign in and open the review page. Visitors with the same browser and account share a session."""
    cookies = SESSION_COOKIES.setdefault(page.context.browser, {})
    if name in cookies:
        page.context.add_cookies(cookies[name])
    page.goto("/admin/lexicon")
    if page.locator("#password").count():
        fill_in(page, name)
        expect(page.locator("#publish")).to_be_visible()
        cookies[name] = page.context.cookies()
    return at_keys(page)


def at_keys(page: Page) -> Page:
    """Wait until the review page handles its keys."""
    expect(page.locator("#publish")).to_be_visible()
    page.wait_for_load_state("load")
    return page


def number(place: Locator) -> int:
    """Return the first number in a text: `1,234 results` -> 1234."""
    found = re.search(r"\d[\d,]*", place.inner_text())
    assert found, place.inner_text()
    return int(found.group().replace(",", ""))


def links(page: Page) -> list[str]:
    """Return the URLs of the hits on a results page, related results included."""
    hits: list[str] = page.locator("ol.hits h2 a").evaluate_all("all => all.map(a => a.href)")
    return hits


def becomes_true(page: Page, condition: str | Callable[[], object]) -> None:
    """Wait for a condition in JavaScript or Python, and handle the events of the page meanwhile.

    Playwright's own wait needs `eval`, which the site's policy forbids.
    """
    deadline = time.monotonic() + PATIENCE / 1000
    while not (page.evaluate(condition) if isinstance(condition, str) else condition()):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(50)


def wait_for(page: Page, address: str, condition: str) -> None:
    """Poll the JSON at `address` until the JavaScript `condition` is true for it."""
    became_true = page.evaluate(
        f"""async ([address, patience]) => {{
            const end = Date.now() + patience, condition = {condition};
            while (Date.now() < end) {{
                if (condition(await (await fetch(address, {{cache: "no-store"}})).json())) return true;
                await new Promise(resolve => setTimeout(resolve, 100));
            }}
            return false;
        }}""",
        [address, PATIENCE],
    )
    assert became_true, f"{address}: {condition}"


# -- properties of a page


def vocabulary(page: Page) -> set[str]:
    """Return the elements and attributes in use: `a`, `a href` ..."""
    words: Sequence[str] = page.evaluate(
        """() => [...document.querySelectorAll("*")].flatMap(
            one => [one.localName, ...one.getAttributeNames().map(name => `${one.localName} ${name}`)])"""
    )
    return set(words)


def odd_addresses(page: Page) -> list[str]:
    """Return URLs that are neither a path nor http(s): javascript:, data:, protocol-relative."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("[href], [src], [action]")].flatMap(one =>
            ["href", "src", "action"].map(name => one.getAttribute(name)).filter(
                value => value !== null && !/^(https?:[/][/][^/]|[/](?![/])|#)/.test(value)))"""
    )
    return found


def weak_contrasts(page: Page) -> list[str]:
    """Return visible texts with less contrast than WCAG 2.2 AA (1.4.3) requires: 4.5, or 3 for large text."""
    found: list[str] = page.evaluate(WEAK_CONTRASTS)
    return found


def faults(page: Page) -> list[str]:
    """Return the violations that axe reports, and weak contrasts in the light and the dark color scheme."""
    page.emulate_media(color_scheme="dark")
    messages = [f"dark {text}" for text in weak_contrasts(page)]
    page.emulate_media(color_scheme="light")
    messages += [f"light {text}" for text in weak_contrasts(page)]
    for violation in Axe().run(page).response["violations"]:
        messages += [f"{violation['id']}: {node['html']}" for node in violation["nodes"]]
    return messages


WEAK_CONTRASTS = """() => {
  const colour = text => { const c = text.match(/[\\d.]+/g).map(Number); return c.length === 3 ? [...c, 1] : c; };
  const over = (top, alpha, bottom) => bottom.map((below, n) => top[n] * alpha + below * (1 - alpha));
  const linear = part => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const above = one => one ? [...above(one.parentElement), one] : [];
  const weak = [];
  for (const one of document.body.querySelectorAll("*")) {
    const own = [...one.childNodes].filter(n => n.nodeType === 3 && n.data.trim()).map(n => n.data.trim()).join(" ");
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    const unseen = one.closest(".hidden, .skip") || style.visibility !== "visible" || !box.width || !box.height;
    if (!own || unseen) continue;
    let ground = [255, 255, 255], solid = 1;
    for (const layer of above(one)) {
      const look = getComputedStyle(layer), paint = colour(look.backgroundColor);
      ground = over(paint, paint[3], ground);
      solid *= Number(look.opacity);
    }
    const ink = colour(style.color), text = light(over(ink, ink[3] * solid, ground)), paper = light(ground);
    const ratio = (Math.max(text, paper) + 0.05) / (Math.min(text, paper) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5)) weak.push(`${ratio.toFixed(2)} ${one.localName}.${one.className}: ${own}`);
  }
  return weak;
}"""
