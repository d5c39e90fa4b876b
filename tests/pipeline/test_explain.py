"""`plumb explain`: why each line was kept or dropped, as tables, as JSON and as a coloured page."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser

from domain.article import SiteTemplate, text_hash64
from domain.errors import PlumblineError
from extractor import ExtractSettings
from extractor.article_extractor import ArticleExtractor
from extractor.body_methods import BODY_METHODS
from extractor.body_methods.explanation import VERDICT_REASONS
from pipeline.cli.main import cli
from pipeline.explain.extraction_html import render_html
from pipeline.explain.extraction_report import ExtractionReport, candidate_table, explain_extraction
from pipeline.page_source import LoadedPage
from tests.browser_fixture import weak_contrasts
from tests.local_workers import local_workers
from tests.web_fixture import Answer, Site, page

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
FIRST = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高。"
SECOND = "公司负责人表示，下一步将继续推进技术创新，努力降低成本，确保全年任务完成。"
ENGLISH = "The ministry said on Monday that output rose by five percent, the fastest pace in more than a decade."
PAGE = f"""<title>大庆油田产量创新高_某某网</title><body>
<ul class="nav"><li><a href="/">首页</a><li><a href="/2">要闻</a></ul>
<h1>大庆油田产量创新高</h1><div class="article-content" id="main"><p>2016-05-09 来源：某报</p><p>{FIRST}</p>
<div class="share"><p>分享给您所有的朋友们，让大家都看到。</p></div>
<figure><figcaption>A rig at sea</figcaption></figure>
<p>{SECOND}</p><p>责任编辑：张三</p></div><div class="footer"><p>版权所有 某某网 京ICP备12345678号</p></div>"""
LIST = "<title>新闻</title>" + "<p><a href='/1'>国际油价再次下跌引发市场关注和担忧</a></p>" * 40


@pytest.fixture(autouse=True)
def _local_workers() -> Iterator[None]:
    with local_workers():
        yield


def explained(html: str, method: str = "blocks", url: str = "", site: SiteTemplate | None = None) -> ExtractionReport:
    source = LoadedPage("page.html", html.encode(), url, site=site or SiteTemplate())
    return explain_extraction(source, ExtractSettings(method=method))


def why(found: ExtractionReport) -> dict[str, str]:
    """Line -> verdict."""
    lines = found.document.layout.lines
    return {lines[verdict.line].text: verdict.why for verdict in found.explanation.verdicts}


@pytest.mark.parametrize("method", BODY_METHODS)
class TestEveryMethod:
    def test_every_line_has_a_verdict_and_kept_lines_are_the_body(self, method: str) -> None:
        found = explained(PAGE, method)
        explanation, lines = found.explanation, found.document.layout.lines
        assert [verdict.line for verdict in explanation.verdicts] == list(range(len(lines)))
        body = BODY_METHODS[method](ExtractSettings(method=method)).choose_body(found.document)
        kept = tuple(verdict.line for verdict in explanation.verdicts if verdict.kept)
        assert (kept, explanation.chosen_span) == ((body.line_indices, body.span_index) if body else ((), -1))
        assert {verdict.why for verdict in explanation.verdicts} <= set(VERDICT_REASONS)
        assert all((verdict.why == "kept") == verdict.kept for verdict in explanation.verdicts)

    def test_candidates_come_best_first_and_with_features(self, method: str) -> None:
        explanation = explained(PAGE, method).explanation
        scores = [one.score for one in explanation.candidates]
        assert scores and scores == sorted(scores, reverse=True)
        assert all(one.features for one in explanation.candidates)

    def test_a_page_without_a_choice(self, method: str) -> None:
        found = explained("<p>x</p>", method)
        assert "no article: " in found.summary
        assert "x" in render_html(found)


def test_why_lines_were_dropped() -> None:
    found = why(explained(PAGE))
    assert {text: found[text] for text in (FIRST, SECOND)} == dict.fromkeys((FIRST, SECOND), "kept")
    assert found["首页"] == "outside the chosen element"
    assert found["2016-05-09 来源：某报"] == "before the text begins"
    assert found["分享给您所有的朋友们，让大家都看到。"] == "in an element whose name marks it as outside the article"
    assert found["A rig at sea"] == "caption"
    assert found["责任编辑：张三"] == "label of the template"


def test_what_the_site_repeats_is_said() -> None:
    html = PAGE.replace("<p>责任", "<p>本网版块由编辑部负责，欢迎来稿。</p><p>责任")
    known = SiteTemplate(9, frozenset({text_hash64("本网版块由编辑部负责，欢迎来稿。")}))
    assert why(explained(html, site=known))["本网版块由编辑部负责，欢迎来稿。"] == "on many pages of the site"


def test_title_and_date_are_marked_where_the_page_shows_them() -> None:
    found = explained(PAGE)
    lines = found.document.layout.lines
    marks = {name: lines[place].text for place, names in found.fields_by_line.items() for name in names}
    assert (marks["title"], marks["date"]) == ("大庆油田产量创新高", "2016-05-09 来源：某报")


def test_the_explained_result_is_that_of_the_extraction() -> None:
    menu = "".join(f"<li><a href='/{n}'>频道{n}</a></li>" for n in range(4))
    html = f"<title>某某网</title><p>短文</p><footer><ul>{menu}</ul><p>版权所有 某某网</p></footer>"
    found = explained(html)
    assert found.result == ArticleExtractor().extract_with_site(html, "").result
    assert found.document.layout.lines[0].text == "短文"


def test_nothing_to_read_is_said() -> None:
    with pytest.raises(PlumblineError, match=r"page\.html: (empty|unparsable)"):
        explained("")


class TestPage:
    """The drawn page."""

    def test_it_shows_every_line_and_the_frame(self) -> None:
        drawn = lxml.html.fromstring(render_html(explained(PAGE)))
        text = drawn.text_content()
        assert all(part in text for part in (FIRST, SECOND, "首页", "责任编辑：张三", "版权所有"))
        (frame,) = drawn.findall(".//section")
        assert frame.text_content().strip().startswith("chosen: div#main.article-content")
        assert FIRST in frame.text_content() and "首页" not in frame.text_content()
        (kept,) = [one for one in drawn.iter("div") if one.get("title") and FIRST in one.text_content()]
        assert re.search(r"weight \d+\.\d, size \d+, link share 0%, marks \d", kept.get("title"))
        assert "div#main.article-content (body)" in kept.get("title")

    def test_it_is_self_contained_and_without_scripts(self) -> None:
        html = render_html(explained(PAGE))
        drawn = lxml.html.fromstring(html)
        assert not set(drawn.xpath("//@src")) and not drawn.findall(".//script") and not drawn.findall(".//link")
        assert all(address.startswith("#l") for address in drawn.xpath("//@href"))
        assert "url(" not in html and "@import" not in html

    @pytest.mark.exhaustive
    @pytest.mark.shared
    def test_hostile_pages_are_text(self) -> None:
        rows = [json.loads(row)["text"] for row in (HOSTILE / "xss.jsonl").read_text(encoding="utf-8").splitlines()]
        quoted = [text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for text in rows]
        pages = [f"<p>{FIRST}</p>{text}" for text in rows[::5]]  # all are in the pages below
        for n in range(0, len(rows), 20):
            named = "".join(
                f'<div class="{text}" id="{text}"><h1>{text}</h1><p>{text}</div>' for text in quoted[n : n + 20]
            )
            pages.append(f"<title>{' '.join(quoted[n : n + 20])}</title>{named}<p>{FIRST}")
        for html in pages:
            drawn = lxml.html.fromstring(render_html(explained(html, url="http://a.test/")))
            assert not drawn.xpath("//script|//img|//svg|//iframe|//@onerror|//@onload|//@src"), html
            assert all(name in SAFE for element in drawn.iter() for name in element.attrib), html

    @pytest.mark.browser
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize(
        "html", [PAGE, LIST, f"<h1>Oil output rises</h1><p>{ENGLISH}</p>"], ids=["zh", "list", "en"]
    )
    def test_it_can_be_read_in_a_browser(self, chromium: Browser, tmp_path: Path, scheme: Any, html: str) -> None:
        (tmp_path / "why.html").write_text(render_html(explained(html)), encoding="utf-8")
        context = chromium.new_context(color_scheme=scheme)
        faults: list[str] = []
        tab = context.new_page()
        tab.on("console", lambda message: faults.append(message.text))
        tab.goto((tmp_path / "why.html").as_uri())
        assert weak_contrasts(tab) == []
        assert faults == []
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        context.close()


SAFE = frozenset(("class", "id", "title", "href", "lang", "charset", "name", "content", "http-equiv"))


def plumb(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli, list(arguments), input=stdin)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a vertical, with a page in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return tmp_path


class TestFile:
    @pytest.mark.parametrize("more", [[], ["--blocks"]])
    def test_tables(self, folder: Path, more: list[str]) -> None:
        said = plumb("explain", "--file", "page.html", *more).output
        assert said.startswith("an article of ")
        row = next(line for line in said.splitlines() if "div#main.article-content" in line)
        assert "●" in row and "body" in row
        assert re.search(rf"^ +\d+ +● +\d+\.\d +kept +p +{FIRST[:20]}", said, re.M)

    def test_json(self, folder: Path) -> None:
        made = json.loads(plumb("explain", "http://a.test/x", "--file", "page.html", "--json").output)
        assert made["result"]["url"] == "http://a.test/x"
        assert made["candidates"][0]["features"]["punctuation"] > 0
        assert [line["text"] for line in made["lines"] if line["kept"]] == [FIRST, SECOND]

    def test_page(self, folder: Path) -> None:
        said = plumb("explain", "--file", "page.html", "--page", "out.html")
        assert said.output == "wrote out.html\n"
        assert FIRST in (folder / "out.html").read_text(encoding="utf-8")
        assert "candidates" in plumb("explain", "--file", "page.html", "--page", "out.html", "--blocks").output

    def test_open(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        opened: list[str] = []
        monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
        plumb("explain", "--file", "page.html", "--open")
        (address,) = opened
        assert FIRST in Path(address.removeprefix("file://")).read_text(encoding="utf-8")

    def test_a_method_of_the_paper(self, folder: Path) -> None:
        said = plumb("-s", "extract.method=tag_path_ratio", "explain", "--file", "page.html").output
        assert re.search(r"element +from-to +score +T +L +G +A +P +S +I +Q +V +DS", said)

    @pytest.mark.parametrize(
        ("arguments", "part"),
        [
            (["--file", "nowhere.html"], "cannot read nowhere.html"),
            (["--file", "-"], "standard input: empty"),
            (["mailto:x", "--file", "page.html"], "'mailto:x' is not a URL"),
            (["--file", "page.html", "--page", "no/such/folder.html"], "cannot write no/such/folder.html"),
            (["http://a.test/", "--blocks"], "no vertical.toml in this folder"),
        ],
    )
    def test_refused(self, folder: Path, arguments: list[str], part: str) -> None:
        said = plumb("explain", *arguments)
        assert isinstance(said.exception, PlumblineError)
        assert part in str(said.exception)

    def test_misuse(self, folder: Path) -> None:
        assert plumb("explain").exit_code == 2


class TestStoredPage:
    @pytest.fixture(scope="class")
    @classmethod
    def vertical(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Site]]:
        """A crawled vertical of a home page and one article."""
        folder = tmp_path_factory.mktemp("explain")
        with Site({"/": page("/a.html"), "/a.html": Answer(200, PAGE.encode())}) as site:
            crawl = f"seeds = ['{site.url('/')}']\ninside_hosts = ['{site.host}']\ndelay = 0"
            (folder / "vertical.toml").write_text(f"[crawl]\n{crawl}", encoding="utf-8")
            assert plumb("-c", str(folder / "vertical.toml"), "crawl").exit_code == 0
            yield folder, site

    def explain(self, vertical: tuple[Path, Site], *arguments: str) -> Result:
        return plumb("-c", str(vertical[0] / "vertical.toml"), "explain", *arguments)

    def test_from_the_archive(self, vertical: tuple[Path, Site]) -> None:
        address = vertical[1].url("/a.html")
        made = json.loads(self.explain(vertical, address, "--blocks", "--json").stdout)
        assert made["page"] == address
        assert made["result"]["title"] == "大庆油田产量创新高"
        assert [line["text"] for line in made["lines"] if line["kept"]] == [FIRST, SECOND]

    def test_as_a_page(self, vertical: tuple[Path, Site], tmp_path: Path) -> None:
        said = self.explain(vertical, vertical[1].url("/a.html"), "--page", str(tmp_path / "out.html"))
        assert said.exit_code == 0
        assert SECOND in (tmp_path / "out.html").read_text(encoding="utf-8")

    def test_without_blocks_it_is_the_path_of_the_document(self, vertical: tuple[Path, Site]) -> None:
        said = self.explain(vertical, vertical[1].url("/a.html")).output
        assert "\nLast crawled " in said and "candidates" not in said

    @pytest.mark.parametrize("path", ["/never"])
    def test_a_page_that_is_not_kept(self, vertical: tuple[Path, Site], path: str) -> None:
        said = self.explain(vertical, vertical[1].url(path), "--blocks")
        assert isinstance(said.exception, PlumblineError)
        assert f"no saved page of {vertical[1].url(path)}" in str(said.exception)


def test_the_table_survives_markup_of_rich() -> None:
    found = explained(f"<div class='[/bold]'><p>[red]{FIRST}[/nothing]</p></div>")
    assert candidate_table(found).row_count >= 1
