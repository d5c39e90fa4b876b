"""From an empty folder to a found article in a real browser, with and without scripts."""

import re
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.admin_wizard import PASSWORD, SetupVisit, serve_empty_folder
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import SolrIndex
from tests.browser_fixture import PATIENCE, Watch, faults
from tests.web_fixture import Answer, Site

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

PHONE = {"width": 390, "height": 844}
TITLES = ("钻井平台完成试验", "天然气管道投产", "页岩油产量上升")
FRAME_WARNING = "Failed to execute 'postMessage'"  # axe and a frame with an empty sandbox


def article(title: str) -> Answer:
    text = "".join(
        f"<p>{title}：第{n}项工作在现场完成，记者看到了全部过程，工程师介绍了新的方法。</p>" for n in range(12)
    )
    return Answer(body=f"<!doctype html><title>{title}</title><body><h1>{title}</h1><div>{text}</div></body>".encode())


@pytest.fixture
def site() -> Iterator[Site]:
    links = "".join(f'<li><a href="/2026/{n}.html">{title}，现场记者报道</a></li>' for n, title in enumerate(TITLES))
    home = Answer(body=f"<!doctype html><title>新闻</title><body><ul>{links}</ul></body>".encode())
    with Site({"/": home} | {f"/2026/{n}.html": article(title) for n, title in enumerate(TITLES)}) as running:
        yield running


def wide_parts(page: Page) -> int:
    """Return the pixels by which a page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.mark.parametrize(
    ("scripts", "locale"),
    [
        pytest.param(True, "zh-CN", id="scripts-zh"),
        pytest.param(False, "en-GB", id="no scripts-en", marks=pytest.mark.exhaustive),
    ],
)
def test_an_empty_folder_becomes_a_search_engine(
    chromium: Browser, solr_node: EmbeddedSolr, site: Site, tmp_path: Path, scripts: bool, locale: str
) -> None:
    collection = f"setup{uuid.uuid4().hex[:12]}"
    environment = {
        "PLUMB_CRAWL_INSIDE_HOSTS": site.host,
        "PLUMB_CRAWL_DELAY": "0",
        "PLUMB_EMBED_MODEL": "off",
        "PLUMB_INDEX_SOLR_URL": solr_node.url,
        "PLUMB_INDEX_COLLECTION": collection,
        "PLUMB_SEARCH_TIMEOUT": "60",
    }
    problems: list[str] = []
    context = chromium.new_context(locale=locale, viewport=PHONE, java_script_enabled=scripts)  # type: ignore[arg-type]
    with closing(context), serve_empty_folder(tmp_path, environment) as link:
        context.set_default_timeout(PATIENCE)
        watch, page = Watch(context), context.new_page()

        def look(step: str) -> None:
            if scripts:
                problems.extend(f"{step}: {fault}" for fault in faults(page))
                if wide_parts(page) > 0:
                    problems.append(f"{step}: wider than the window")

        visit = SetupVisit(page, look)
        visit.complete(link, site.url())
        expect(page).to_have_url(re.compile("/admin/run$"))
        expect(page.locator("#logout")).to_be_visible()  # signed in
        visit.search(TITLES[0])
        assert TITLES[0] in page.locator("ol.hits h2").first.inner_text()
    assert problems + [fault for fault in watch.faults if FRAME_WARNING not in fault] == []
    text = (tmp_path / "vertical.toml").read_text()
    assert f'"{site.url()}"' in text and 'contact = "operator@company.com"' in text and PASSWORD not in text
    SolrIndex(solr_node.url, collection, timeout=120.0).delete_all()
