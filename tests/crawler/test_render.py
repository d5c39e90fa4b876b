"""Pages that scripts make, in a real chromium: what is read of them, and what the browser may ask for."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.crawl_plan import build_crawl_plan
from crawler.http import render
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.render import Renderer
from crawler.schedule.throttle import HostThrottle
from crawler.settings import CrawlSettings
from domain.outcome import Reason
from domain.page import Page
from tests.crawler.test_crawl import run
from tests.crawler_fakes import MemoryTable, settings
from tests.web_fixture import PATIENCE, Answer, Site, page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium"),
]

SCRIPT = """
fetch("/data.json?b=2&a=1").then(answer => answer.json()).then(found => {
  document.title = found.title;
  document.body.insertAdjacentHTML("beforeend", `<p>${found.text}</p><a href="/made">详情</a>`);
});
fetch("/private.json").catch(() => document.body.insertAdjacentHTML("beforeend", "<p>robots 不许</p>"));
fetch("%s").catch(() => document.body.insertAdjacentHTML("beforeend", "<p>别处不许</p>"));
"""
SHELL = """<!doctype html><title>t</title><link rel="stylesheet" href="/style.css"><body><img src="/a.png">
<iframe src="/frame"></iframe><script src="/app.js"></script></body>"""


@pytest.fixture(scope="module")
def quiet() -> Iterator[Site]:
    with Site({}) as running:
        yield running


@pytest.fixture(scope="module")
def renderer(quiet: Site) -> Iterator[Renderer]:
    made = rendered(quiet, total_timeout=2.0)
    fetcher = Fetcher(made, PublicOnlyPolicy(made.inside_hosts))
    found = Renderer(fetcher, HostThrottle(made), build_crawl_plan(made), lambda: 0.0)
    yield found
    found.close()


def script(text: str) -> Answer:
    return Answer(200, text.encode(), {"Content-Type": "text/javascript; charset=utf-8"})


def site_of(other: Site) -> Site:
    data = '{"title": "脚本做的题目", "text": "脚本做的正文"}'
    return Site(
        {
            "/": page("/b"),
            "/b": Answer(200, SHELL.encode(), {"Content-Type": "text/html; charset=utf-8", "ETag": '"1"'}),
            "/made": Answer(200, SHELL.encode()),
            "/app.js": script(SCRIPT % other.url("/x.json")),
            "/data.json?b=2&a=1": Answer(200, data.encode(), {"Content-Type": "application/json"}),
            "/robots.txt": Answer(200, b"User-agent: *\nDisallow: /private", {}),
        }
    )


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts of a page are done before it is read, also on a loaded machine."""
    monkeypatch.setattr(render, "_NETWORK_IDLE_MILLISECONDS", 1000 * PATIENCE)


def rendered(site: Site, site_delay: float = 0.0, **changes: object) -> CrawlSettings:
    return settings(site.url(), tables=[{"host": site.host, "render": True, "delay": site_delay}], **changes)


def test_links_and_text_that_scripts_make_are_found_by_the_crawls_own_manners(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/x.json": page()}) as other, site_of(other) as site:
        run(table, rendered(site, inside_hosts=(site.host, other.host)), tmp_path)
        assert table.reasons()["/made"] == Reason.FETCHED
        kept = table.pages[site.url("/b")]
        text = kept.body.decode()
        assert all(part in text for part in ("脚本做的题目", "脚本做的正文", "robots 不许", "别处不许"))
        assert kept.etag == '"1"'
        assert ("X-Archive-Rendered", "chromium") in kept.headers
        asked = site.asked()
        assert asked.count("/app.js") == 1  # of two pages
        assert asked.count("/data.json?b=2&a=1") == 2
        assert not {"/private.json", "/a.png", "/style.css"} & set(asked)
        assert other.requests == []


@pytest.mark.parametrize("setting", ["delay", "site_delay"])
def test_between_any_two_requests_lies_the_delay(tmp_path: Path, setting: str) -> None:
    with Site({}) as other, site_of(other) as site:
        changes = {"delay" if setting == "delay" else "site_delay": 0.05}
        run(MemoryTable(), rendered(site, per_host=1, delay_factor=0.0, **changes), tmp_path)
        starts = [request.at for request in site.requests]
    assert len(starts) > 8
    assert min(later - earlier for earlier, later in itertools.pairwise(starts)) >= 0.05


def test_other_sites_are_read_as_they_come(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({}) as other, site_of(other) as site:
        run(table, settings(site.url(), tables=[{"host": "other.test", "render": True}]), tmp_path)
        assert sorted(site.asked()) == ["/", "/b", "/frame"]  # a frame is a link
        assert table.pages[site.url("/b")].body == SHELL.encode()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<script>while (true) {}</script>", id="a script without end"),
        pytest.param("<script>setTimeout(() => {while (true) {}}, 50)</script>", id="without end, later"),
        pytest.param("<script>location.href = '/elsewhere'</script>", id="sent elsewhere"),
        pytest.param("<script>alert(1); prompt(2)</script>", id="dialogs"),
        pytest.param("<script>document.documentElement.remove()</script>", id="nothing left"),
    ],
)
def test_a_page_that_cannot_be_rendered_is_kept_in_time(
    body: str, renderer: Renderer, quiet: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Page(1, quiet.url(), quiet.url(), 200, "text/html; charset=utf-8", f"<p>正文</p>{body}".encode(), "d", 0.0)
    good = Page(2, quiet.url("/2"), quiet.url("/2"), 200, "text/html", b"<p>one</p>", "d", 0.0)
    assert "正文" in renderer.render(sent).body.decode()
    monkeypatch.setattr(renderer, "_timeout_milliseconds", 1000 * PATIENCE)
    assert renderer.render(good).body.decode().startswith("<!doctype html><html><head></head><body><p>one</p>")
    assert "/elsewhere" not in quiet.asked()
