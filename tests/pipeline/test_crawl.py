"""`plumb frontier`, `plumb sites`, `plumb fetch` and the live view, on a real store and a real site."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from crawler.progress import CrawlProgress, HostProgress
from docstore.warc_reader import read_warc
from domain.errors import StoreError
from domain.outcome import Reason
from domain.page import Page
from pipeline.cli.crawl import crawl_command, fetch, frontier, sites, warc
from pipeline.crawl_stage.crawl_progress import progress_table
from tests.web_fixture import Answer, Site, page

ROBOTS = Answer(200, b"User-agent: *\nDisallow: /private", {})


@click.group()
@click.pass_context
def cli(context: click.Context) -> None:
    """As `plumb`, with the commands of this module alone."""


for command in (crawl_command, fetch, frontier, sites, warc):
    cli.add_command(command)


class Vertical:
    """A vertical over one local site."""

    def __init__(self, folder: Path, site: Site, *others: Site) -> None:
        self._obj: dict[str, Any] = {"config": folder / "v.toml", "flags": {}}
        lines = ["[vertical]", 'data_dir = "data"', "[crawl]", "delay = 0.001"]
        lines += [
            f"inside_hosts = {json.dumps([one.host for one in (site, *others)])}",
            'contact = "https://plumbline.test/"',
            f'[[sites]]\nurls = ["{site.url()}"]',
        ]
        (folder / "v.toml").write_text("\n".join(lines))

    def plumb(self, *arguments: str) -> str:
        """What a command prints."""
        done = CliRunner().invoke(cli, arguments, obj=self._obj, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output


@pytest.fixture
def site() -> Any:
    with Site({"/": page("/a", "/private/1", "/gone"), "/a": page(), "/robots.txt": ROBOTS}) as running:
        yield running


def test_a_crawl_and_what_is_known_after_it(tmp_path: Path, site: Site) -> None:
    vertical = Vertical(tmp_path, site)
    assert "fetched 2" in vertical.plumb("crawl")
    rows = [json.loads(line) for line in vertical.plumb("frontier", "export").splitlines()]
    assert {row["url"].removeprefix(site.url("")): row["reason"] for row in rows} == {
        "/": "fetched",
        "/a": "fetched",
        "/private/1": "robots_forbidden",
        "/gone": "gone",
    }
    [health] = json.loads(vertical.plumb("sites", "--json"))
    assert (health["host"], health["known"], health["kept"], health["bad"]) == (site.host, 4, 2, 2)


def test_block_requeue_add(tmp_path: Path, site: Site) -> None:
    vertical = Vertical(tmp_path, site)
    vertical.plumb("crawl")
    assert vertical.plumb("frontier", "block", site.url("/*")) == "4 blocked\n"
    assert vertical.plumb("frontier", "show").count("blocked ") == 4
    site.requests.clear()
    assert vertical.plumb("frontier", "requeue", site.url("/a")) == "1 due now\n"
    assert vertical.plumb("frontier", "add", site.url("/b"), site.url("/a")) == "1 added, 1 already known\n"
    vertical.plumb("crawl")
    assert sorted(path for path in site.asked() if "sitemap" not in path) == ["/a", "/b"]


def test_hosts_linked_from_kept_pages_are_proposed_and_asked_only_once_they_are_added(tmp_path: Path) -> None:
    with Site({"/": page("/9", text="<p>来源</p>"), "/9": page()}) as source:
        links = [source.url(f"/{number}") for number in range(3)]
        pages = {"/": page("/a", "http://foot.test/"), "/a": page(*links, "http://foot.test/")}
        with Site(pages) as site:
            vertical = Vertical(tmp_path, site, source)
            vertical.plumb("crawl")
            assert source.requests == []
            found = json.loads(vertical.plumb("sites", "proposed", "--json"))
            assert [(one["host"], one["addresses"], one["pages"]) for one in found] == [
                ("foot.test", 1, 2),
                (source.host, 1, 1),
            ]
            assert found[1]["example"] == links[0]
            assert source.host in vertical.plumb("sites", "proposed")
            vertical.plumb("sites", "add", source.host)
            assert [one["host"] for one in json.loads(vertical.plumb("sites", "proposed", "--json"))] == ["foot.test"]
            vertical.plumb("crawl")
            assert "/" in source.asked()
            source.requests.clear()
            vertical.plumb("sites", "remove", source.host)
            vertical.plumb("crawl")
            assert source.requests == []


def test_kept_pages_leave_as_one_warc_file_and_come_back(tmp_path: Path, site: Site) -> None:
    vertical, file = Vertical(tmp_path, site), tmp_path / "out.warc.gz"
    vertical.plumb("crawl")
    assert vertical.plumb("warc", "export", str(file)).startswith("2 pages in ")
    pages = {page.url: page for page in read_warc(file) if isinstance(page, Page)}
    assert sorted(pages) == [site.url("/"), site.url("/a")]
    assert "行业" in pages[site.url("/")].body.decode()
    with pytest.raises(StoreError, match="already exists"):
        vertical.plumb("warc", "export", str(file))
    assert vertical.plumb("warc", "export", str(tmp_path / "a.warc.gz"), site.url("/a*")).startswith("1 pages in ")


def test_fetch_prints_every_decision_and_keeps_nothing(tmp_path: Path, site: Site) -> None:
    vertical = Vertical(tmp_path, site)
    found = json.loads(vertical.plumb("fetch", "--json", site.url("/")))
    assert (found["scope"], found["trap"], found["robots"]["status"]) == ("allowed", "none", 200)
    assert (found["outcome"], found["links"]["followed"]) == ("fetched", 3)
    assert "robots_forbidden" in vertical.plumb("fetch", site.url("/private/1"))
    assert vertical.plumb("frontier", "export") == ""
    site.requests.clear()
    outside = json.loads(vertical.plumb("fetch", "--json", "http://elsewhere.test/"))
    assert (outside["scope"], outside["refused"]) == ("off_scope", "by the rules of the crawl")
    with (tmp_path / "v.toml").open("a") as file:
        file.write("\npaused = true\n")
    assert json.loads(vertical.plumb("fetch", "--json", site.url("/")))["refused"] and site.requests == []


def test_the_live_view_shows_rates_since_the_last_look() -> None:
    before = CrawlProgress({Reason.FETCHED: 10}, 5, 1, 10.0, {"a.test": HostProgress(10, 0, 9, 1.0, 0.5)})
    now = CrawlProgress(
        {Reason.FETCHED: 30}, 9, 1, 20.0, {"a.test": HostProgress(30, 2, 120, 1.5, 0.25)}, 120, 1, 210.0
    )
    console = Console(width=140, record=True)
    console.print(progress_table(now, before))
    shown = console.export_text()
    flat = " ".join(shown.split())
    assert "30 done, 2.0 pages/s, 1 host at work, 120 left, about 4 min; 30 new or changed" in flat
    assert "1.5" in shown
