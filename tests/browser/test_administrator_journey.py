"""The first administrator: from an empty folder through all areas of the administration, in one browser.

The setup pages make the search engine, and one representative action of each area follows. The tests of the areas have
the details.
"""

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from indexer.embedded_solr import EmbeddedSolr, find_free_port
from indexer.solr_index import SolrIndex
from locks.file_locks import signal_stage_holder, stage_lock_holder
from tests.browser_fixture import PATIENCE, Watch, faults, follow
from tests.web_fixture import Answer, Site

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
TITLES = ("钻井平台完成试验", "天然气管道投产", "页岩油产量上升")
SITE_NAME = "首日新闻"
POLL_MS, STOP_SECONDS = 200, 60.0
ACCOUNT, PASSWORD = "operator", "a password of the test"
FRAME_WARNING = "Failed to execute 'postMessage'"  # axe and a frame with an empty sandbox


def article(title: str) -> Answer:
    text = "".join(
        f"<p>{title}：第{n}项工作在现场完成，记者看到了全部过程，工程师介绍了新的方法。</p>" for n in range(12)
    )
    return Answer(body=f"<!doctype html><title>{title}</title><body><h1>{title}</h1><div>{text}</div></body>".encode())


@pytest.fixture
def site() -> Iterator[Site]:
    """Yield a site with three articles. It also accepts alerts."""
    links = "".join(f'<li><a href="/2026/{n}.html">{title}，现场记者报道</a></li>' for n, title in enumerate(TITLES))
    home = Answer(body=f"<!doctype html><title>新闻</title><body><ul>{links}</ul></body>".encode())
    articles = {f"/2026/{n}.html": article(title) for n, title in enumerate(TITLES)}
    with Site({"/": home, "/hook": Answer()} | articles) as running:
        yield running


class Tab:
    """The tab of the administrator. `problems` are the faults of the pages that were checked."""

    def __init__(self, page: Page, has_scripts: bool) -> None:
        self.page, self.problems = page, list[str]()
        self._has_scripts = has_scripts

    def check(self, step: str = "") -> None:
        """Record what axe finds on the current page, and whether it is wider than the window."""
        if self._has_scripts:  # axe is a script
            step = step or urlsplit(self.page.url).path
            self.problems += [f"{step}: {fault}" for fault in faults(self.page)]
            if self.page.evaluate("document.documentElement.scrollWidth - innerWidth") > 0:
                self.problems.append(f"{step}: wider than the window")

    def open_area(self, path: str) -> None:
        """Open an area of the administration by its link."""
        if not self.page.locator(".areas").count():
            follow(self.page.locator("header a[href='/admin/']"))
        follow(self.page.locator(f".areas a[href='{path}']"))

    def search(self, query: str) -> str:
        """Search on the home page; returns the titles of the results, one in each line."""
        follow(self.page.locator("a.brand"))
        self.page.locator("#q").fill(query)
        follow(self.page.locator("#q"), "Enter")
        return "\n".join(self.page.locator("ol.hits h2").all_inner_texts())


@contextmanager
def serve_empty_folder(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Run `plumb serve` in an empty folder; yields the link of the setup. Ends the site and its run at the end."""
    server = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli.main", "serve", "--port", str(find_free_port(1))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield next(line.strip() for line in server.stdout if "token=" in line)
    finally:
        signal_stage_holder(folder / "data", "run", signal.SIGTERM)
        server.terminate()
        server.communicate()
        deadline = time.monotonic() + STOP_SECONDS
        while stage_lock_holder(folder / "data", "run") is not None and time.monotonic() < deadline:
            time.sleep(0.2)


@contextmanager
def search_engine_from_an_empty_folder(
    chromium: Browser, solr_node: EmbeddedSolr, site: Site, folder: Path, locale: str, viewport: object, scripts: bool
) -> Iterator[Tab]:
    """Complete the setup pages for the site and yield the tab, signed in, when a search has a result."""
    collection = f"setup{uuid.uuid4().hex[:12]}"
    environment = {
        "PLUMB_CRAWL_INSIDE_HOSTS": site.host,
        "PLUMB_ALERTS_INSIDE_HOSTS": site.host,
        "PLUMB_CRAWL_DELAY": "0",
        "PLUMB_EMBED_MODEL": "off",
        "PLUMB_INDEX_SOLR_URL": solr_node.url,
        "PLUMB_INDEX_COLLECTION": collection,
        "PLUMB_SEARCH_TIMEOUT": "60",
    }
    options = {"locale": locale, "viewport": viewport, "java_script_enabled": scripts}
    context = chromium.new_context(**options)  # type: ignore[arg-type]
    with closing(context), serve_empty_folder(folder, environment) as link:
        context.set_default_timeout(PATIENCE)
        watch, tab = Watch(context), Tab(context.new_page(), scripts)
        complete_the_setup(tab, link, site.url())
        expect(tab.page).to_have_url(re.compile("/admin/run$"))
        expect(tab.page.locator("#logout")).to_be_visible()  # signed in
        search_while_it_runs(tab, TITLES[0])
        yield tab
    assert tab.problems + [fault for fault in watch.faults if FRAME_WARNING not in fault] == []
    SolrIndex(solr_node.url, collection, timeout=120.0).delete_all()


@pytest.mark.exhaustive
def test_the_setup_works_without_scripts(
    chromium: Browser, solr_node: EmbeddedSolr, site: Site, tmp_path: Path
) -> None:
    options = ("en-GB", PHONE, False)
    with search_engine_from_an_empty_folder(chromium, solr_node, site, tmp_path, *options) as tab:
        assert TITLES[0] in tab.page.locator("ol.hits h2").first.inner_text()


@pytest.mark.parametrize(
    ("locale", "viewport"),
    [
        pytest.param("zh-CN", DESKTOP, id="zh-desktop"),
        pytest.param("en-GB", PHONE, id="en-phone"),
    ],
)
@pytest.mark.exhaustive
def test_the_first_administrator_uses_all_areas(
    chromium: Browser, solr_node: EmbeddedSolr, site: Site, tmp_path: Path, locale: str, viewport: object
) -> None:
    options = (locale, viewport, True)
    with search_engine_from_an_empty_folder(chromium, solr_node, site, tmp_path, *options) as tab:
        wait_for_the_end_of_the_run(tab)
        rename_pause_and_resume_the_site(tab)
        take_a_page_down_and_bring_it_back(tab, site)
        compare_the_runs(tab)
        set_up_alerts(tab, site)
        undo_in_the_history(tab)
        judge_terms_and_publish(tab)
    text = (tmp_path / "vertical.toml").read_text()
    assert f'"{site.url()}"' in text and 'contact = "operator@company.com"' in text and PASSWORD not in text
    assert SITE_NAME in text and "webhook" in text and "silent_days" not in text  # undone


def complete_the_setup(tab: Tab, link: str, url: str) -> None:
    """Open the link and complete all steps for one site. Returns at the page with the progress of the run."""
    page = tab.page
    page.goto(link)
    page.fill("#name", ACCOUNT)
    page.fill("#password", PASSWORD)
    page.fill("#repeated", PASSWORD)
    tab.check("account")
    page.click("form.stacked button")
    page.fill("#urls", url)
    page.click("#check")
    page.wait_for_selector("#next")
    tab.check("sites")
    page.click("#next")
    page.wait_for_selector(".answers")
    tab.check("samples")
    for index in range(page.locator(".sample").count()):
        page.press(f"input[name=answer-{index}][value=yes]", "Space")  # a click during the scrolling to it is lost
    page.click("#next")
    page.fill("#title", "Example")
    page.fill("#contact", "operator@company.com")
    tab.check("details")
    page.click("#next")
    page.wait_for_selector("#start")
    tab.check("start")
    page.click("#start")
    page.wait_for_selector("#count-searchable")


def search_while_it_runs(tab: Tab, query: str) -> None:
    """Wait until articles are searchable, search in the box of the progress page, and wait for a result."""
    page = tab.page
    while page.locator("#count-searchable").inner_text() == "0":
        page.wait_for_timeout(POLL_MS)
    tab.check("progress")
    page.fill("#q", query)
    page.click(".search button")
    page.wait_for_selector("ol.hits h2 a")


def wait_for_the_end_of_the_run(tab: Tab) -> None:
    """Watch the progress page until no run is active. It updates itself."""
    tab.open_area("/admin/runs")
    follow(tab.page.locator("main a[href='/admin/run']"))
    expect(tab.page.locator("#run-now")).to_be_visible()


def rename_pause_and_resume_the_site(tab: Tab) -> None:
    """Change the only site and look at what its removal would delete."""
    page, status = tab.page, tab.page.locator("p.note[role=status]")
    tab.open_area("/admin/sites")
    tab.check()
    follow(page.locator("#site-health th a"))
    tab.check()
    follow(page.locator("main a[href^='/admin/sites/'][href$='/settings']"))
    page.locator("#site-name").fill(SITE_NAME)
    follow(page.locator("form[action$='/settings'] button"))
    expect(page.locator("#site-name")).to_have_value(SITE_NAME)
    for action in ("pause", "resume"):
        follow(page.locator(f"form[action$='/{action}'] button"))
    tab.check()
    follow(page.locator("a[href$='/remove']"))
    expect(page.locator("#removed-contents li").first).to_contain_text("3")
    tab.check()
    follow(page.locator("form[action$='/remove'] button"))
    expect(status).to_contain_text("127.0.0.1")  # nothing would be left to crawl
    follow(page.locator("main a[href^='/admin/sites/'][href$='/settings']"))


def take_a_page_down_and_bring_it_back(tab: Tab, site: Site) -> None:
    """Take the first result down; then ask why it is missing, undo that, and let a run fetch it again."""
    page = tab.page
    assert TITLES[0] in tab.search(TITLES[0])
    follow(page.locator("ol.hits a[href*='/article/']").first)
    page.locator("#take-down summary").click()
    page.locator("#takedown-reason").fill("right holder")
    follow(page.locator("#take-down button"))
    tab.check()
    assert TITLES[0] not in tab.search(TITLES[0])
    tab.open_area("/admin/sites")
    page.locator("#page-url").fill(site.url("/2026/0.html"))
    follow(page.locator("#page-url"), "Enter")
    expect(page.locator("#cause")).to_have_attribute("data-cause", "taken_down")
    tab.check()
    follow(page.locator("form[action$='page_restore'] button"))
    expect(page.locator("#cause")).to_have_attribute("data-cause", "deleted")
    tab.check()
    follow(page.locator("button[name=now]"))
    wait_for_the_end_of_the_run(tab)
    assert TITLES[0] in tab.search(TITLES[0])


def compare_the_runs(tab: Tab) -> None:
    """Open the second run from the list of runs, which has charts since then."""
    page = tab.page
    tab.open_area("/admin/runs")
    expect(page.locator("#runs tbody tr")).to_have_count(2)
    expect(page.locator("#resources figure").first).to_be_visible()
    tab.check()
    follow(page.locator("#runs tbody a").first)
    expect(page.locator("#stages tbody tr").first).to_be_visible()
    tab.check()


def set_up_alerts(tab: Tab, site: Site) -> None:
    """Change two settings, after a look at the difference, and send a test message to the new channel."""
    page = tab.page
    tab.open_area("/admin/alerts")
    follow(page.locator("section a[href='/admin/settings']"))
    page.locator("#group-alerts summary").click()
    page.locator("[name='set.alerts.webhook']").fill(site.url("/hook"))
    page.locator("[name='set.alerts.silent_days']").fill("9")
    tab.check()
    follow(page.locator(".save-bar button"))
    expect(page.locator("#diff .added").last).to_have_text("+silent_days = 9")
    tab.check()
    follow(page.locator(".save-bar button").first)
    tab.open_area("/admin/alerts")
    follow(page.locator("#test-message button"))
    tab.check()
    assert [request.path for request in site.requests].count("/hook") == 1


def undo_in_the_history(tab: Tab) -> None:
    """Undo the newest change that can be undone: that of a setting."""
    page = tab.page
    tab.open_area("/admin/history")
    changes = page.locator("#history tbody tr")
    expect(changes.filter(has_text=SITE_NAME)).to_have_count(1)
    follow(changes.locator("button").first)
    expect(page.locator("#history .undone", has_text="alerts.silent_days")).to_have_count(1)
    tab.check()


def judge_terms_and_publish(tab: Tab) -> None:
    """Accept the first candidate by key, comment on the second, and publish. The details follow the keys."""
    page, terms = tab.page, tab.page.locator(".term")
    tab.open_area("/admin/lexicon")
    expect(terms.nth(0)).to_be_focused()
    page.keyboard.press("a")
    expect(terms.nth(0)).to_have_attribute("data-status", "accepted")
    expect(terms.nth(1).locator(".detail")).to_be_visible()
    page.keyboard.press("c")
    page.keyboard.type("ok?")
    terms.nth(1).locator(".comments > form button").click()
    expect(terms.nth(1).locator(".comments li p")).to_have_text("ok?")
    tab.check()
    page.keyboard.press("Escape")
    with page.expect_navigation():
        page.keyboard.press("p")
    tab.check()
    follow(page.locator("#publish button"))
    expect(page.locator("p.note[role=status]")).to_be_visible()
    expect(page.locator("#pending-added")).to_have_text("0")
