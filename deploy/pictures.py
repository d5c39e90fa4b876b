"""Take screenshots of all pages of the demo for the documentation: `make pictures`.

    python deploy/pictures.py [FOLDER]     writes LANGUAGE-PAGE-WIDTH.png to FOLDER (docs/pictures)

Each page is photographed in both languages and at two widths. The demo runs in a folder that is removed afterwards, and
so does the setup, which checks the sites of the demo. The open alerts are written into the store of the demo.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from domain.alert import Alert, AlertKey
from domain.term import TermStatus
from pipeline.demo.site import SITE_NAMES, demo_urls
from pipeline.engine import Engine
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.progress import NullProgress
from pipeline.settings import load_settings

ACCOUNT, PASSWORD = "demo", "demo administrator"
LANGUAGES = {"zh": "zh-CN", "en": "en-GB"}
WIDTHS_AND_HEIGHTS = {1280: 900, 390: 844}  # pixels: a laptop, a phone
MAX_PAGE_HEIGHT = 1500  # pixels; longer pages are cut
PALETTE_COLOURS = 256
PATIENCE_MS = 300_000  # of a busy machine
ROOT = Path(__file__).resolve().parents[1]
PUBLIC_PAGES: Mapping[str, str] = {
    "home": "/",
    "results": f"/search?q={quote('液化天然气接收站')}",
    "answer": f"/search?q={quote('什么是页岩气')}",
    "file": "/search?q=boil-off+gas",
    "filter": f"/filter/sites?q={quote('天然气')}",
    "follow": f"/follow?q={quote('液化天然气接收站')}",
    "bookmarks": "/bookmarks",
    "help": "/help",
    "terms": "/terms",
    "glossary": f"/term/{quote('天然气管道')}",
    "login": "/admin/login",
}
SIGNED_IN_PAGES: Mapping[str, str] = {
    "compare": f"/compare?q={quote('世界石油大会')}",
    "overview": "/admin/",
    "lexicon": "/admin/lexicon",
    "term": f"/admin/lexicon/term?text={quote('页岩气')}",
    "relations": "/admin/lexicon/relations",
    "preview": "/admin/lexicon/preview",
    "history": "/admin/lexicon/history",
    "versions": "/admin/lexicon/versions",
    "report": "/admin/lexicon/report",
    "topics": "/admin/topics/",
    "searches": "/admin/searches",
    "sites": "/admin/sites",
    "curation": "/admin/curation",
    "alerts": "/admin/alerts",
    "runs": "/admin/runs",
    "actions": "/admin/history",
    "settings": "/admin/settings",
    "page": "/admin/page?url=https://elsewhere.example/page.html",
    "account": "/admin/account",
    "connect": "/admin/connect",
}
LINKED_PAGES: Mapping[str, tuple[str, str]] = {
    "article": (PUBLIC_PAGES["results"], "#hits a[href^='/article/']"),
    "story": (PUBLIC_PAGES["results"], "#hits a.story"),
    "saved": (PUBLIC_PAGES["results"], "#hits a[href^='/article/'] >> nth=0"),
    "site": (SIGNED_IN_PAGES["sites"], "#site-health tbody a"),
    "site-form": (SIGNED_IN_PAGES["sites"], "#site-health tbody a"),
    "site-login": (SIGNED_IN_PAGES["sites"], "#site-health tbody a"),
    "run": (SIGNED_IN_PAGES["overview"], "#runs tbody a"),
    "definition": (f"/search?q={quote('天然气管道')}", "#hits a[href^='/article/']"),
}
"""Pages with an id in their URL: the page with a link to them, and the selector of the link."""
SUFFIXES: Mapping[str, str] = {"saved": "/original", "site-form": "/settings", "site-login": "/login"}
"""Ends of URLs, after the link of `LINKED_PAGES` without its query."""
CHANGED_SETTINGS: Mapping[str, str] = {"vertical.name": "Energy news", "crawl.depth": "5"}


class Demo(NamedTuple):
    """The running demo: URL of its search page, port of its sites, and its folder."""

    url: str
    site_port: int
    folder: Path


def main() -> None:
    """Start the demo and take all screenshots."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    if not subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False).stdout.strip():
        sys.exit("no Chinese font: apt-get install fonts-noto-cjk")
    with running_demo() as demo, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for language, locale in LANGUAGES.items():
            take_setup_pictures(browser, demo_urls(demo.site_port), locale, folder, f"{language}-setup")
        prepare_store(demo)
        change_site_and_alert(browser, demo.url)
        take_pictures(browser, demo.url, folder)
        browser.close()
    total_bytes = sum(file.stat().st_size for file in folder.glob("*.png"))
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}, {total_bytes / 1e6:.1f} MB")


def find_chromium() -> str:
    """Return the path of chromium. Exits if there is none."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    return path or sys.exit("no chromium: apt-get install chromium")


def find_free_ports() -> tuple[int, int]:
    """Return two ports that no program uses."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return first.getsockname()[1], second.getsockname()[1]


@contextmanager
def running_demo() -> Iterator[Demo]:
    """Run the demo in a temporary folder."""
    port, site_port = find_free_ports()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pipeline.cli.main", "demo", "--folder", folder]
        process = subprocess.Popen(
            [*command, "--port", str(port), "--site-port", str(site_port)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PLUMB_ADMIN_PASSWORD": PASSWORD},
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                print(line, end="")
                if "Ctrl-C stops everything" in line:
                    break
            else:
                sys.exit("the demo did not start")
            yield Demo(f"http://127.0.0.1:{port}", site_port, Path(folder))
        finally:
            process.terminate()
            process.wait()


@contextmanager
def running_setup() -> Iterator[str]:
    """Run `plumb serve` in an empty folder and yield the link of the setup."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.cli.main", "serve", "--port", str(find_free_ports()[0])],
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PLUMB_CRAWL_INSIDE_HOSTS": "127.0.0.0/8"},
        )
        assert process.stdout is not None
        try:
            yield next(line.strip() for line in process.stdout if "token=" in line)
        finally:
            process.terminate()
            process.wait()


def take_setup_pictures(browser: Browser, urls: Sequence[str], locale: str, folder: Path, name: str) -> None:
    """Take the screenshots of each step of the setup for these sites, up to the button that creates the vertical."""
    with running_setup() as link:
        context = browser.new_context(locale=locale)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(link)
        page.locator("#name").fill(ACCOUNT)
        for field in ("#password", "#repeated"):
            page.locator(field).fill(PASSWORD)
        save_screenshots(page, folder, f"{name}-account")
        page.locator("#repeated").press("Enter")
        page.locator("#urls").fill("\n".join(urls))
        page.locator("#check").click()
        page.locator("#next").wait_for()
        save_screenshots(page, folder, name)
        page.locator("#next").click()
        page.locator(".answers").first.wait_for()
        save_screenshots(page, folder, f"{name}-samples")
        for index in range(page.locator(".sample").count()):
            page.press(f"input[name=answer-{index}][value=yes]", "Space")
        page.locator("#next").click()
        page.locator("#title").fill("Plumbline")
        page.locator("#contact").fill("operator@company.com")
        save_screenshots(page, folder, f"{name}-details")
        page.locator("#next").click()
        page.locator("#start").wait_for()
        save_screenshots(page, folder, f"{name}-start")
        context.close()


def prepare_store(demo: Demo) -> None:
    """Write two alerts into the store of the demo, accept its published terms and choose their definitions."""
    robots_host, template_host, *_ = (f"{host}:{demo.site_port}" for host in SITE_NAMES)
    with Engine(load_settings(demo.folder / "vertical.toml"), NullProgress()) as engine:
        engine.store.alerts.replace_firing(
            [
                Alert(AlertKey("robots", robots_host), {"host": robots_host, "n": 46, "all": 52}, 0.0),
                Alert(AlertKey("template", template_host), {"host": template_host, "now": 38, "before": 4}, 0.0),
            ]
        )
        terms = [term.text for term in engine.store.lexicons.accepted_terms()]
        review = LexiconReview(engine.store)
        review.decide(terms, TermStatus.ACCEPTED, ACCOUNT)
        for term, candidates in engine.store.definitions.find_candidates(terms).items():
            review.choose_definition(term, candidates[0].sentence, ACCOUNT, None)


def take_pictures(browser: Browser, url: str, folder: Path) -> None:
    """Take the screenshots of all pages, languages and widths."""
    for language, locale in LANGUAGES.items():
        context = browser.new_context(base_url=url, locale=locale)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        for name, path in PUBLIC_PAGES.items():
            take_picture(page, path, folder, f"{language}-{name}")
        sign_in(page)
        for name, path in SIGNED_IN_PAGES.items():
            if name == "preview":
                accept_terms(page)
            take_picture(page, path, folder, f"{language}-{name}")
        for name, (origin, selector) in LINKED_PAGES.items():
            page.goto(origin)
            path = page.locator(selector).first.get_attribute("href") or ""
            if name in SUFFIXES:
                path = path.partition("?")[0] + SUFFIXES[name]
            take_picture(page, path, folder, f"{language}-{name}")
        show_diff(page)
        save_screenshots(page, folder, f"{language}-diff")
        context.close()


def take_picture(page: Page, path: str, folder: Path, name: str) -> None:
    """Open a page and save its screenshots."""
    page.goto(path)
    save_screenshots(page, folder, name)


def save_screenshots(page: Page, folder: Path, name: str) -> None:
    """Save the current page at all widths with few colours, for small files. `definition` has an open card."""
    for width, height in WIDTHS_AND_HEIGHTS.items():
        page.set_viewport_size({"width": width, "height": height})
        if len(page.frames) == 1:
            page.wait_for_load_state("networkidle")
        for frame in page.frames:  # the network of a page that has replaced a loading frame is never idle
            frame.wait_for_load_state()
        if name.endswith("-definition"):
            page.locator("a.defined").first.focus()
            page.locator(".definition-card").first.wait_for(state="visible")
        has_sticky_button = name.endswith("-settings")  # it would be in the middle of a picture of the full page
        image = Image.open(BytesIO(page.screenshot(full_page=not has_sticky_button)))
        image = image.crop((0, 0, image.width, min(image.height, MAX_PAGE_HEIGHT)))
        image.convert("RGB").quantize(PALETTE_COLOURS).save(folder / f"{name}-{width}.png", optimize=True)


def sign_in(page: Page) -> None:
    """Sign in as the administrator of the demo."""
    page.goto("/admin/login")
    page.locator("#name").fill(ACCOUNT)
    page.locator("#password").fill(PASSWORD)
    page.locator("#password").press("Enter")
    page.wait_for_url("**/admin/")


def change_site_and_alert(browser: Browser, url: str) -> None:
    """Mute an alert, and pause and resume a site, so that the history shows actions."""
    context = browser.new_context(base_url=url)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    sign_in(page)
    page.goto(SIGNED_IN_PAGES["alerts"])
    page.locator("#open-alerts form button").last.click()
    page.goto(SIGNED_IN_PAGES["sites"])
    page.locator("#site-health tbody a").first.click()
    page.locator("a[href^='/admin/sites/'][href$='/settings']").click()
    for action in ("pause", "resume"):
        page.locator(f"form[action$='/{action}'] button").click()
        page.wait_for_load_state("networkidle")
    context.close()


def show_diff(page: Page) -> None:
    """Change settings in the form and open the page with the difference."""
    page.goto(SIGNED_IN_PAGES["settings"])
    for path, text in CHANGED_SETTINGS.items():
        page.locator(f"[name='set.{path}']").fill(text)
    page.locator("#settings-form .save-bar button").click()
    page.locator("#diff").wait_for()


def accept_terms(page: Page) -> None:
    """Accept two candidates, so that the preview shows changes."""
    page.goto("/admin/lexicon")
    for _ in range(2):
        page.locator(".term[data-status=candidate] .accept:visible").first.click()
        page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    main()
