"""Take screenshots of all pages of the demo for the documentation: `make pictures`.

    python deploy/pictures.py [FOLDER]     writes LANGUAGE-PAGE-WIDTH.png to FOLDER (docs/pictures)

Each page is photographed in both languages and at two widths. The demo runs in a folder that is removed afterwards.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ACCOUNT, PASSWORD = "demo", "demo administrator"
LANGUAGES = {"zh": "zh-CN", "en": "en-GB"}
WIDTHS_AND_HEIGHTS = {1280: 900, 390: 844}  # pixels: a laptop, a phone
MAX_PAGE_HEIGHT = 1500  # pixels; longer pages are cut
PALETTE_COLOURS = 256
ROOT = Path(__file__).resolve().parents[1]
PUBLIC_PAGES: Mapping[str, str] = {
    "home": "/",
    "results": f"/search?q={quote('液化天然气接收站')}",
    "answer": f"/search?q={quote('什么是页岩气')}",
    "file": "/search?q=boil-off+gas",
    "help": "/help",
    "terms": "/terms",
    "glossary": f"/term/{quote('液化天然气')}",
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
    "page": "/admin/page?url=https://elsewhere.example/page.html",
    "account": "/admin/account",
}
LINKED_PAGES: Mapping[str, tuple[str, str]] = {
    "article": (PUBLIC_PAGES["results"], "#hits a[href^='/article/']"),
    "story": (PUBLIC_PAGES["results"], "#hits a.story"),
    "saved": (PUBLIC_PAGES["results"], "#hits a[href^='/article/'] >> nth=0"),
    "site": (SIGNED_IN_PAGES["sites"], "#site-health tbody a"),
    "definition": (f"/search?q={quote('液化天然气常识')}", "#hits a[href^='/article/']"),
}
"""Pages with an id in their URL: the page with a link to them, and the selector of the link."""


def main() -> None:
    """Start the demo and take all screenshots."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    if not subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False).stdout.strip():
        sys.exit("no Chinese font: apt-get install fonts-noto-cjk")
    with running_demo() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        take_pictures(browser, url, folder)
        browser.close()
    total_bytes = sum(file.stat().st_size for file in folder.glob("*.png"))
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}, {total_bytes / 1e6:.1f} MB")


def find_chromium() -> str:
    """Return the path of chromium. Exits if there is none."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    return path or sys.exit("no chromium: apt-get install chromium")


@contextmanager
def running_demo() -> Iterator[str]:
    """Run the demo in a temporary folder and yield the URL of its search page."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        port, site_port = first.getsockname()[1], second.getsockname()[1]
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
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def take_pictures(browser: Browser, url: str, folder: Path) -> None:
    """Take the screenshots of all pages, languages and widths."""
    for language, locale in LANGUAGES.items():
        context = browser.new_context(base_url=url, locale=locale)
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
            if name == "saved":
                path = f"{path.partition('?')[0]}/original"
            take_picture(page, path, folder, f"{language}-{name}")
        context.close()


def take_picture(page: Page, path: str, folder: Path, name: str) -> None:
    """Save the screenshots of a page, with few colours, so that the files are small. `definition` has an open card."""
    for width, height in WIDTHS_AND_HEIGHTS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.goto(path)
        page.wait_for_load_state("networkidle")
        if name.endswith("-definition"):
            page.locator("a.defined").first.focus()
            page.locator(".definition-card").first.wait_for(state="visible")
        image = Image.open(BytesIO(page.screenshot(full_page=True)))
        image = image.crop((0, 0, image.width, min(image.height, MAX_PAGE_HEIGHT)))
        image.convert("RGB").quantize(PALETTE_COLOURS).save(folder / f"{name}-{width}.png", optimize=True)


def sign_in(page: Page) -> None:
    """Sign in as the administrator of the demo."""
    page.goto("/admin/login")
    page.locator("#name").fill(ACCOUNT)
    page.locator("#password").fill(PASSWORD)
    page.locator("#password").press("Enter")
    page.wait_for_url("**/admin/")


def accept_terms(page: Page) -> None:
    """Accept two candidates, so that the preview shows changes."""
    page.goto("/admin/lexicon")
    for _ in range(2):
        page.locator(".term[data-status=candidate] .accept").first.click()
        page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    main()
