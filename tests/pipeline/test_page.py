"""`plumb extract --file` and `--url`: one page on the command line, with and without a vertical."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from crawler.settings import CrawlSettings
from crawler.site import Sites
from domain.article import Article, Block, BlockKind
from domain.errors import PlumblineError
from pipeline.cli.main import cli
from pipeline.cli.page import format_article_html, format_article_markdown, format_article_text
from pipeline.page_source import fetch_page
from tests.crash_harness import Vertical
from tests.local_workers import local_workers
from tests.web_fixture import Answer, Site

FIRST = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高。"
SECOND = "公司负责人表示，下一步将继续推进技术创新，努力降低成本，确保全年任务完成。"
PAGE = f"""<!doctype html><html><head><meta charset="utf-8"><title>大庆油田产量创新高_某某网</title></head><body>
<ul><li><a href="/">首页</a></ul><h1>大庆油田产量创新高</h1><div><p>{FIRST}</p><p>{SECOND}</p></div></body></html>"""
LIST = "<title>新闻</title>" + "<p><a href='/1'>国际油价再次下跌引发市场关注和担忧</a></p>" * 40
ROBOTS = Answer(200, b"User-agent: *\nDisallow: /private", {"Content-Type": "text/plain"})
SLOW = "User-agent: *\nCrawl-delay: 0.2"


@pytest.fixture(autouse=True)
def _local_workers() -> Iterator[None]:
    with local_workers():
        yield


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a vertical, to work in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "list.html").write_text(LIST, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    def moved(to: str) -> Answer:
        return Answer(302, b"", {"Location": to})

    pages: dict[str, Any] = {
        "/robots.txt": ROBOTS, "/2024/05/01/a.html": Answer(200, PAGE.encode()), "/old": moved("/2024/05/01/a.html"),
        "/loop": moved("/loop"), "/private/x": PAGE, "/to-private": moved("/private/x"),
        "/picture": Answer(200, b"\x89PNG", {"Content-Type": "image/png"}),
    }  # fmt: skip
    with Site(pages) as running:
        yield running


def plumb(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli, list(arguments), input=stdin)


def failure(result: Result) -> str:
    """What `main` says in one line before it leaves with status 1."""
    assert isinstance(result.exception, PlumblineError), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


class TestFile:
    def test_text_is_title_line_and_body(self) -> None:
        said = plumb("extract", "--file", "page.html", "--base-url", "http://a.test/2024/05/01/x.html")
        assert said.output == f"大庆油田产量创新高\n2024-05-01\n\n{FIRST}\n{SECOND}\n"

    def test_standard_input(self) -> None:
        assert FIRST in plumb("extract", "--file", "-", stdin=PAGE.encode("gb18030").replace(b"utf-8", b"gbk")).output

    @pytest.mark.parametrize(
        ("form", "expected"),
        [
            ("markdown", f"# 大庆油田产量创新高\n\n2024-05-01\n\n{FIRST}\n\n{SECOND}\n"),
            ("html", f"<h1>大庆油田产量创新高</h1>\n<p>2024-05-01</p>\n<p>{FIRST}</p>\n<p>{SECOND}</p>\n</article>\n"),
            ("text", f"大庆油田产量创新高\n2024-05-01\n\n{FIRST}\n{SECOND}\n"),
        ],
    )
    def test_formats(self, form: str, expected: str) -> None:
        said = plumb("extract", "--file", "page.html", "--base-url", "http://a.test/2024/05/01/", "--format", form)
        assert said.exit_code == 0
        assert said.output.endswith(expected)

    def test_json(self) -> None:
        made = json.loads(plumb("extract", "--file", "page.html", "--format", "json").output)
        assert (made["title"], made["body"], made["method"]) == ("大庆油田产量创新高", f"{FIRST}\n{SECOND}", "blocks")

    def test_another_method(self) -> None:
        made = plumb("extract", "--file", "page.html", "--format", "json", "--method", "tag_path_ratio").output
        assert json.loads(made)["method"] == "tag_path_ratio"

    def test_the_settings_of_a_vertical_count(self, folder: Path) -> None:
        (folder / "vertical.toml").write_text("[extract]\nmethod = 'two_pass'\nbeta = 1000", encoding="utf-8")
        made = plumb("extract", "--file", "page.html", "--format", "json").output
        assert json.loads(made)["method"] == "two_pass"
        assert not (folder / "data").exists()  # nothing of the vertical is opened

    @pytest.mark.parametrize(
        ("arguments", "parts"),
        [
            (["--file", "list.html"], ["list.html: list_page"]),
            (["--file", "-"], ["standard input: "]),
            (["--file", "nowhere.html"], ["cannot read nowhere.html: No such file"]),
            (["--file", "."], ["cannot read .: "]),
            (["--file", "page.html", "--base-url", "mailto:x"], ["'mailto:x' is not a URL"]),
            (["--file", "page.html", "--method", "magic"], ["extract.method = 'magic': expected one of blocks"]),
        ],
        ids=["list", "empty", "missing", "folder", "no address", "no method"],
    )
    def test_no_article(self, arguments: list[str], parts: list[str]) -> None:
        said = failure(plumb("extract", *arguments))
        assert all(part in said for part in parts), said

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--file", "page.html", "--url", "http://a.test/"], ["--file", "page.html", "--again"],
            ["--url", "http://a.test/", "--again"], ["--url", "http://a.test/", "--base-url", "http://a.test/"],
            ["--format", "json"], ["--base-url", "http://a.test/"], ["--file", "page.html", "--format", "pdf"],
        ],
        ids=" ".join,
    )  # fmt: skip
    def test_misuse(self, arguments: list[str]) -> None:
        assert plumb("extract", *arguments).exit_code == 2

    def test_without_a_page_it_is_the_stage(self) -> None:
        assert "no vertical.toml in this folder" in failure(plumb("extract"))

    @pytest.mark.process
    def test_the_real_command(self, folder: Path) -> None:
        vertical = Vertical(folder / "vertical").write({})
        good = vertical.plumb("extract", "--file", str(folder / "page.html"))
        assert (good.status, good.err) == (0, "")
        bad = vertical.call("extract", "--file", str(folder / "list.html"))
        assert (bad.status, bad.out) == (1, "")
        assert "list_page" in bad.complaint


class TestUrl:
    def fetch(self, site: Site, path: str, *more: str) -> Result:
        inside = ["-s", f"crawl.inside_hosts={site.host}", "-s", "crawl.delay=0"]
        return plumb(*inside, "extract", "--url", site.url(path), *more)

    def test_a_page(self, site: Site) -> None:
        said = self.fetch(site, "/2024/05/01/a.html")
        assert said.output == f"大庆油田产量创新高\n2024-05-01\n\n{FIRST}\n{SECOND}\n"

    def test_a_redirect_is_followed_and_its_target_is_the_address(self, site: Site) -> None:
        made = json.loads(self.fetch(site, "/old", "--format", "json").output)
        assert made["url"] == site.url("/2024/05/01/a.html")

    @pytest.mark.parametrize(
        ("path", "part"),
        [
            ("/private/x", "robots_forbidden"), ("/to-private", "/private/x: robots_forbidden"),
            ("/loop", "too_many_redirects"), ("/nowhere", "gone: 404"), ("/picture", "not_html"),
        ],
    )  # fmt: skip
    def test_refused(self, site: Site, path: str, part: str) -> None:
        assert part in failure(self.fetch(site, path))

    def test_inside_addresses_are_refused_unless_the_settings_allow_them(self, site: Site) -> None:
        before = len(site.requests)
        assert "inside_address" in failure(plumb("extract", "--url", site.url("/old")))
        assert len(site.requests) == before

    def test_no_address(self) -> None:
        assert "'news' is not a URL" in failure(plumb("extract", "--url", "news"))

    def test_the_page_is_fetched_politely(self, site: Site) -> None:
        """robots.txt first, a pause before each request behind it, our name on each."""
        before = len(site.requests)
        settings = CrawlSettings(inside_hosts=(site.host,), delay=0.05, user_agent="Plumbline/9", contact="a@b.test")
        assert fetch_page(site.url("/old"), settings).url == site.url("/2024/05/01/a.html")
        asked = site.requests[before:]
        assert [request.path for request in asked] == ["/robots.txt", "/old", "/2024/05/01/a.html"]
        assert {request.headers["User-Agent"] for request in asked} == {"Plumbline/9 (+a@b.test)"}
        assert min(later.at - earlier.at for earlier, later in itertools.pairwise(asked)) >= 0.05

    @pytest.mark.parametrize("by_robots", [True, False], ids=["Crawl-delay", "delay of the site"])
    def test_longer_delays_are_kept(self, by_robots: bool) -> None:
        robots = Answer(200, SLOW.encode() if by_robots else b"", {"Content-Type": "text/plain"})
        moved = Answer(302, b"", {"Location": "/b"})
        with Site({"/robots.txt": robots, "/a": moved, "/b": Answer(200, PAGE.encode())}) as site:
            sites = Sites.parse([] if by_robots else [{"host": site.host, "delay": 0.2}])
            fetch_page(site.url("/a"), CrawlSettings(inside_hosts=(site.host,), delay=0.01, sites=sites))
        starts = [request.at for request in site.requests]
        assert min(later - earlier for earlier, later in itertools.pairwise(starts)) >= 0.2


HOSTILE = Article(
    "http://a.test/",
    "# 题 <b>",
    "甲",
    "2024-05-01",
    author="<i>张三</i>",
    source="*报*",
    blocks=(Block(BlockKind.PARAGRAPH, "甲"),),
)


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (format_article_text, "# 题 <b>\n2024-05-01 · <i>张三</i> · *报*\n\n甲"),
        (format_article_markdown, "# # 题 \\<b>\n\n2024-05-01 · \\<i>张三\\</i> · \\*报\\*\n\n甲\n"),
    ],
)
def test_head_lines(draw: Callable[[Article], str], expected: str) -> None:
    assert draw(HOSTILE) == expected


def test_the_head_of_a_page_is_escaped() -> None:
    made = format_article_html(HOSTILE)
    assert "<h1># 题 &lt;b&gt;</h1>\n<p>2024-05-01 · &lt;i&gt;张三&lt;/i&gt; · *报*</p>\n<p>甲</p>" in made
    assert "<b>" not in made and "<i>" not in made


def test_an_article_without_title_and_date_is_its_body() -> None:
    assert format_article_text(Article("", "", "甲")) == "甲"
