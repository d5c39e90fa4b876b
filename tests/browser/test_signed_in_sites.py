"""A reader signs in on a phone and finds what others do not, with a real Solr and store."""

import re
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
from werkzeug.serving import make_server

from benchmarks.doors_leaks import PRIVATE_ARTICLES, open_vertical
from indexer.embedded_solr import EmbeddedSolr
from tests.browser_fixture import PATIENCE, Watch, follow
from tests.site_fixture import PASSWORD, PASSWORD_HASH

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

PRIVATE = PRIVATE_ARTICLES[0]


@pytest.fixture(scope="module")
def site_url(chromium: Browser, solr_node: EmbeddedSolr, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with open_vertical(solr_node.url, tmp_path_factory.mktemp("private"), has_private=True) as (engine, app):
        engine.store.accounts.set_password("reader", PASSWORD_HASH)
        server = make_server("127.0.0.1", 0, app, threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("locale", "label", "button"),
    [("zh-CN", "仅登录读者可见", "登录"), ("en-US", "Only for signed-in readers", "Sign in")],
)
def test_a_reader_signs_in_and_finds_more(
    chromium: Browser, site_url: str, locale: str, label: str, button: str
) -> None:
    with closing(
        chromium.new_context(base_url=site_url, locale=locale, viewport={"width": 390, "height": 800})
    ) as tabs:
        tabs.set_default_timeout(PATIENCE)
        watch, page = Watch(tabs), tabs.new_page()
        page.goto(f"/search?q={PRIVATE.title}")
        expect(page.locator("#hits > li")).to_have_count(0)
        follow(page.locator("#sign-in"))
        page.locator("#name").fill("reader")
        page.locator("#password").fill(PASSWORD)
        follow(page.locator("main").get_by_role("button", name=button))
        expect(page).to_have_url(re.compile(r"/search\?q="))  # where the reader was
        expect(page.locator("#hits .signed-in").first).to_have_text(label)
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        follow(page.locator("#hits .kept").first)
        expect(page.locator(".kept-text .signed-in")).to_have_text(label)
        follow(page.locator("#logout"))
        watch.allowed = {404}
        page.goto(f"/article/{PRIVATE.doc_id}")
        expect(page.locator(".problem .status")).to_have_text("404")
        assert watch.faults == []
