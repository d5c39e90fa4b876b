"""Titles: WD-A3, site names cut, and pages whose <title> says nothing."""

import pytest

from extractor import dom
from extractor.document import read_document
from extractor.lines import read_lines
from extractor.similarity import LONGEST, lcs, similarity
from extractor.title import cut_site_name, find_title

SITE = "Electrical Safety Foundation International"
TEXT = (
    "<div id='body'>"
    + "<p>这是一段正文，足够长的正文，里面有标点，也有不少字，应当被认为是文章的内容，不会有错。</p>" * 3
    + "</div>"
)


def title_of(html: str) -> str:
    root = dom.parse(html)
    assert root is not None
    document = read_document(root, "http://news.test/")
    body = next((element for element in document.root.iter("div") if element.get("id") == "body"), None)
    return find_title(document, read_lines(document.root), body)


@pytest.mark.parametrize(
    ("first", "second", "length"),
    [("", "abc", 0), ("abc", "abc", 3), ("abcbdab", "bdcaba", 4), ("石油大会", "世界石油大会", 4), ("ab", "ba", 1)],
)
def test_lcs_is_the_longest_common_subsequence(first: str, second: str, length: int) -> None:
    assert lcs(first, second) == lcs(second, first) == length


@pytest.mark.parametrize(
    ("first", "second", "likeness"),
    [
        ("石油", "石油", 1.0),
        ("世界石油大会", "石油大会", 4 / 6),
        ("油", "石油气", 0.0),
        ("", "", 0.0),
        ("AB", "ab", 1.0),
    ],
    ids=["same", "part", "three times as long", "empty", "case"],
)
def test_similarity_is_the_lcs_over_the_longer(first: str, second: str, likeness: float) -> None:
    assert similarity(first, second) == pytest.approx(likeness)


def test_similarity_looks_at_a_bounded_part() -> None:
    assert similarity("a" * LONGEST + "b" * 10**6, "a" * LONGEST + "c" * 10**6) == 1.0


@pytest.mark.parametrize(
    ("title", "site", "left"),
    [
        ("大庆油田产量创新高_国内新闻_某某网", "", "大庆油田产量创新高"),
        ("大庆油田产量创新高-某某网", "", "大庆油田产量创新高"),
        ("大庆油田产量创新高——某某网", "", "大庆油田产量创新高"),
        ("Oil prices fall again as co-op closes - The Guardian", "", "Oil prices fall again as co-op closes"),
        ("Oil prices fall again | Business | Reuters", "", "Oil prices fall again"),
        ("棱镜|数据业大整顿：爬虫与现金贷共生共荣", "", "棱镜|数据业大整顿：爬虫与现金贷共生共荣"),
        ("2016-2017年度石油产量", "", "2016-2017年度石油产量"),
        (f"Wiring - {SITE}", SITE, f"Wiring - {SITE}"),
        (f"Home wiring basics - {SITE}", SITE, "Home wiring basics"),
        ("某某网 - 大庆油田产量创新高", "某某网", "大庆油田产量创新高"),
        ("", "", ""),
    ],
    ids=["_", "-", "dash", "Latin hyphen", "|", "short head stays", "years",
         "too short a rest", "site", "before", "empty"],
)  # fmt: skip
def test_site_names_are_cut_from_the_title(title: str, site: str, left: str) -> None:
    assert cut_site_name(title, site) == left


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (f"<title>油价再次下跌_某网</title><h2>今日要闻</h2><h1>国际油价再次下跌</h1>{TEXT}", "国际油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><p>油价再次下跌 记者</p><h2>今日要闻</h2>{TEXT}", "油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><p>油价再次下跌</p>{TEXT}<h2>油价再次下跌了</h2>", "油价再次下跌"),
        (f"<title>某网首页</title><p>国际油价再次下跌</p><p>2016-05-09 某报</p>{TEXT}", "国际油价再次下跌"),
        (f"<h1>国际油价再次下跌</h1>{TEXT}", "国际油价再次下跌"),
        ("<span class='title'>国际油价再次下跌</span>", "国际油价再次下跌"),
        ("<meta property='og:title' content='国际油价再次下跌'>" + TEXT, "国际油价再次下跌"),
        ("<p>只有一行</p>", ""),
        ("<svg><title>图标</title></svg><p>只有一行</p>", ""),
    ],
    ids=["similar heading", "no similar heading", "heading behind the body", "title of the site", "no title, heading",
         "no title, class", "og:title", "nothing", "svg title"],
)  # fmt: skip
def test_titles_by_wd_a3(html: str, title: str) -> None:
    assert title_of(html) == title


def test_a_title_of_a_million_characters_is_cut() -> None:
    long = "标题" * 500_000
    assert len(title_of(f"<title>{long}</title><h1>{long}</h1>{TEXT}")) <= 300
