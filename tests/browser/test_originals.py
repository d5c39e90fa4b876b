"""Saved pages in a real browser: a hostile page shows its text, runs nothing and requests nothing."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Browser, Page, expect

from domain.article import document_id
from indexer.embedded_solr import EmbeddedSolr
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite
from pipeline.settings import build_settings
from tests.browser_fixture import PATIENCE, Watch
from tests.document_files import pdf
from tests.hostile_page import hostile_page
from tests.local_workers import local_workers
from tests.web_fixture import Answer, Site, page

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

WORDS = "The harbour of the town was closed for a week because of the ice, said its master on Monday. " * 5
PDF = Answer(200, pdf([["Report on ice", "It was thick.", "Nobody could pass."]]), {"Content-Type": "application/pdf"})


@dataclass
class Served:
    """A search site with a hostile page and a file, and the server that records the requests to `evil`."""

    url: str
    evil: Site
    site: Site


@pytest.fixture(scope="module")
def served(chromium: Browser, solr_node: EmbeddedSolr, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("originals")
    with Site({}) as evil, Site({}) as site:
        hostile = hostile_page(evil.url("").rstrip("/"), f"{WORDS}</p><p>{WORDS}")
        site.pages |= {"/": page("/ice.html", "/report.pdf"), "/ice.html": hostile_answer(hostile), "/report.pdf": PDF}
        crawl = {"seeds": [site.url()], "delay": 0.001, "inside_hosts": ["127.0.0.1"], "sitemaps": False}
        sections = {"vertical": {"data_dir": "data"}, "crawl": crawl, "embed": {"model": "off"}, "search": {"port": 0}}
        settings = build_settings(sections, folder)
        index = replace(settings.index, solr_url=solr_node.url, collection="originals")
        settings = replace(settings, index=index, search=replace(settings.search, timeout=60.0))
        with Engine(settings, NullProgress()) as engine:
            with local_workers():
                stages.run(engine)
            with SearchSite(engine) as running:
                yield Served(running.url, evil, site)
            engine.index.delete_all()


def hostile_answer(html: str) -> Answer:
    return Answer(200, html.encode(), {"Content-Type": "text/html; charset=utf-8"})


@pytest.fixture
def tab(chromium: Browser, served: Served) -> Iterator[Page]:
    with closing(chromium.new_context(base_url=served.url, locale="en-GB")) as context:
        context.set_default_timeout(PATIENCE / 5)
        watch = Watch(context)
        yield context.new_page()
    assert watch.faults == []  # no dialog, no complaint of the policy, no request but to this site


@pytest.fixture(autouse=True)
def nobody_asks_for_evil(served: Served) -> Iterator[None]:
    served.evil.requests.clear()
    yield
    assert served.evil.requests == []


def asked_elsewhere(tab: Page, served: Served) -> list[str]:
    """Collect the URLs that the tab requests from now on, except those of the site."""
    found: list[str] = []
    tab.on("request", lambda request: found.append(request.url) if not request.url.startswith(served.url) else None)
    return found


def test_a_hostile_page_shows_its_words_and_does_nothing(tab: Page, served: Served) -> None:
    elsewhere = asked_elsewhere(tab, served)
    tab.goto(f"/article/{document_id(served.site.url('/ice.html'))}")
    tab.locator("#as-fetched").click()
    frame = tab.frame_locator("#page")
    expect(frame.locator("p").first).to_contain_text("The harbour of the town")
    expect(tab.locator("#cited")).to_contain_text(served.site.url("/ice.html"))
    expect(tab.locator("#cited time")).to_contain_text("UTC")
    tab.wait_for_load_state("networkidle")
    assert [url for url in elsewhere if not url.startswith("data:")] == []
    inside = tab.frames[1]
    assert inside.url.endswith("/original/page")
    assert (
        inside.locator("script, iframe, object, embed, form, input, svg, math, base, link, video, audio").count() == 0
    )
    assert inside.locator("p").first.evaluate("one => getComputedStyle(one).color") == "rgb(0, 0, 255)"


def test_links_in_it_lead_nowhere(tab: Page, served: Served) -> None:
    tab.goto(f"/article/{document_id(served.site.url('/ice.html'))}/original")
    frame = tab.frame_locator("#page")
    expect(frame.locator("a")).to_have_count(3)
    for words in ("one", "two"):
        frame.locator("a", has_text=words).click()
    frame.locator("a", has_text="three").click()
    tab.wait_for_load_state("networkidle")
    assert tab.url.endswith("/original") and "/original/page" in tab.frames[1].url
    assert frame.locator("a", has_text="two").get_attribute("title") == served.evil.url("/other.html")


def test_the_frames_own_address_is_as_harmless(tab: Page, served: Served) -> None:
    """The frame's URL opened directly has the same rules: another origin, and no scripts."""
    tab.goto(f"/article/{document_id(served.site.url('/ice.html'))}/original/page")
    expect(tab.locator("p").first).to_contain_text("The harbour of the town")
    tab.wait_for_load_state("networkidle")


def test_the_lock_holds_without_the_cleaning(tab: Page, served: Served, chromium: Browser) -> None:
    """The unsanitized hostile page with the frame's headers: the browser runs and loads nothing."""
    from search_ui.pages.originals import FRAME_HEADERS

    hostile = hostile_page(served.evil.url("").rstrip("/"))
    with Site({}) as plain, closing(chromium.new_context()) as context:
        plain.pages["/page"] = Answer(200, hostile.encode(), {"Content-Type": "text/html", **FRAME_HEADERS})
        plain.pages["/"] = Answer(
            200,
            b'<!doctype html><iframe id=page sandbox="" src="/page"></iframe>',
            {"Content-Type": "text/html", "Content-Security-Policy": "default-src 'self'"},
        )
        dialogs: list[str] = []
        context.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        other = context.new_page()
        other.goto(plain.url())
        expect(other.frame_locator("#page").locator("body")).to_be_attached()
        other.wait_for_load_state("networkidle")
        assert dialogs == []


def test_a_document_is_downloaded_and_never_shown(tab: Page, served: Served) -> None:
    tab.goto(f"/article/{document_id(served.site.url('/report.pdf'))}")
    expect(tab.locator(".source .format")).to_have_text("PDF")
    tab.locator("#as-fetched").click()
    with tab.expect_download() as waiting:
        tab.locator("#file").click()
    assert waiting.value.suggested_filename == "report.pdf"
    with open(waiting.value.path(), "rb") as file:
        assert file.read() == PDF.body
