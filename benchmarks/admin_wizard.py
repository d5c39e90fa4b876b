"""Set `wizard` of `make bench-admin`: from an empty folder to the first search, in a browser.

The folder is empty, the site has 300 pages on loopback, all settings are the defaults. Measured: seconds from opening
the link of `plumb serve` to a results page with a result, seconds from the last click of the setup to that page, and
clicks. The browser fills in forms at once, so the seconds are those that a person waits.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.crawl_site import BenchSite, built
from benchmarks.results import OURS, Figure
from indexer.embedded_solr import find_free_port
from locks.file_locks import signal_stage_holder, stage_lock_holder

CRAWLBENCH = Path(__file__).resolve().parents[2] / "shared" / "tools" / "crawlbench"
PAGES, FEW_PAGES = 300, 60
PATIENCE_MS = 600_000
POLL_MS = 200
STOP_SECONDS = 60.0
ACCOUNT, PASSWORD = "operator", "benchmark password"


class SetupVisit:
    """A person in the setup pages. `clicks` counts the buttons, links and answers so far.

    Args:
        page: A tab.
        at_step: Called with the name of each step when its form is filled in.
    """

    def __init__(self, page: Page, at_step: Callable[[str], None] = lambda name: None) -> None:
        self._page = page
        self._at_step = at_step
        self.clicks = 0
        self.sample_title = ""

    def click(self, selector: str) -> None:
        """Click an element as soon as it is there."""
        self._page.click(selector)
        self.clicks += 1

    def complete(self, link: str, url: str) -> None:
        """Open the link and complete all steps for one site. Returns at the page with the progress of the run."""
        page = self._page
        page.goto(link)
        page.fill("#name", ACCOUNT)
        page.fill("#password", PASSWORD)
        page.fill("#repeated", PASSWORD)
        self._at_step("account")
        self.click("form.stacked button")
        page.fill("#urls", url)
        self.click("#check")
        page.wait_for_selector("#next")
        self._at_step("sites")
        self.click("#next")
        page.wait_for_selector(".answers")
        self.sample_title = page.locator(".extracted b").first.inner_text()
        self._at_step("samples")
        for index in range(page.locator(".sample").count()):
            page.press(f"input[name=answer-{index}][value=yes]", "Space")  # a click during the scrolling to it is lost
            self.clicks += 1
        self.click("#next")
        page.fill("#title", "Example")
        page.fill("#contact", "operator@company.com")
        self._at_step("details")
        self.click("#next")
        page.wait_for_selector("#start")
        self._at_step("start")
        self.click("#start")
        page.wait_for_selector("#count-searchable")

    def search(self, query: str) -> None:
        """Wait until articles are searchable, search in the box of the progress page, and wait for a result."""
        page = self._page
        while page.locator("#count-searchable").inner_text() == "0":
            page.wait_for_timeout(POLL_MS)
        self._at_step("progress")
        page.fill("#q", query)
        self.click(".search button")
        page.wait_for_selector("ol.hits h2 a")


@contextmanager
def serve_empty_folder(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Run `plumb serve` in an empty folder; yields the link of the setup. Ends the site and its run at the end."""
    server = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli.main", "serve", "--port", str(find_free_port(1))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
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


def measure_wizard(few: bool) -> Sequence[Figure]:
    """Set up a search engine for the site and return seconds and clicks."""
    with tempfile.TemporaryDirectory() as folder:
        program, _ = built(CRAWLBENCH, Path(folder))
        empty_folder = Path(folder) / "vertical"
        empty_folder.mkdir()
        flags = ("-hosts", "1", "-pages", str(FEW_PAGES if few else PAGES))
        with (
            BenchSite(program, *flags) as site,
            serve_empty_folder(empty_folder, {"PLUMB_CRAWL_INSIDE_HOSTS": "127.0.0.0/8"}) as link,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(locale="zh-CN")
            page.set_default_timeout(PATIENCE_MS)
            visit, opened_at = SetupVisit(page), time.monotonic()
            visit.complete(link, site.seeds[0])
            completed_at = time.monotonic()
            visit.search(visit.sample_title)
            found_at = time.monotonic()
            browser.close()
    return [
        Figure("wizard", OURS, "seconds_to_first_search", found_at - opened_at),
        Figure("wizard", OURS, "seconds_after_setup", found_at - completed_at),
        Figure("wizard", OURS, "clicks", visit.clicks),
    ]
