"""The whole stage: a page becomes an article or an outcome with the reason."""

import base64
import gc
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from domain.article import Article, Block, BlockKind
from domain.outcome import Outcome, Reason
from extractor import ExtractSettings, extract
from extractor.article_extractor import ArticleExtractor, gc_paused
from extractor.body_methods import BODY_METHODS
from extractor.fields.dates.date_parsing import find_date_in_text
from text.decoding.decode import decode_page

URL = "http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml"
SENTENCE = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高。"
PAGE = (
    "<html><head><title>大庆油田产量创新高_某某网</title></head><body><h1>大庆油田产量创新高</h1>"
    f"<div>{f'<p>{SENTENCE}</p>' * 3}</div></body></html>"
)
ENGLISH = (
    "<html><head><title>Oil output rises again - The Times</title></head><body><article><h1>Oil output rises again</h1>"
    "<p>By Jane Doe, 9 May 2016</p>"
    "<p>Output rose by five percent in April, the ministry said on Monday, the fastest pace in a decade.</p>"
    "<p>Analysts had expected a smaller gain, and prices fell after the news.</p></article></body></html>"
)
HEADLINES = "".join(
    f"<li><a href='/{n}'>第{n}条新闻：某地油田产量再创新高引发关注</a> 05-{n:02d}</li>" for n in range(1, 40)
)
TEASERS = "".join(
    f"<div><h3><a href='/{n}'>某地油田产量再创新高{n}</a></h3><p>某地油田宣布，产量第{n}次超过去年，创下新高。</p>"
    f"<a href='/{n}'>阅读全文</a></div>"
    for n in range(20)
)


def page(body: str, title: str = "要闻_某某网") -> str:
    return f"<html><head><title>{title}</title></head><body>{body}</body></html>"


def test_a_chinese_article() -> None:
    assert extract(PAGE.encode("gbk"), URL, "text/html; charset=gb2312") == Article(
        url=URL,
        title="大庆油田产量创新高",
        body="\n".join([SENTENCE] * 3),
        published="2016-05-09",
        date_source="url",
        language="zh",
        method="blocks",
        blocks=(Block(BlockKind.PARAGRAPH, SENTENCE),) * 3,
        page_type="article",
    )


def test_an_english_article() -> None:
    found = extract(ENGLISH, "http://times.test/oil")
    assert isinstance(found, Article)
    assert (found.title, found.published, found.date_source) == ("Oil output rises again", "2016-05-09", "text")
    assert found.language == "en"
    assert found.body.startswith("Output rose") and found.body.endswith("after the news.")
    assert found.body.count("\n") == 1


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (page("<h1>要闻</h1><p>2024-05-01 10:20</p><ul>" + HEADLINES + "</ul>"), Reason.LIST_PAGE),
        (
            "<meta name='pubdate' content='2024-05-01'>" + page("<p>版权所有 某某网 京ICP备12345号</p>"),
            Reason.COPYRIGHT_ONLY,
        ),
        ("<meta name='pubdate' content='2024-05-01'><title>Title</title><h1>Title</h1>", Reason.NO_BODY),
    ],
    ids=["list", "copyright", "no body"],
)
def test_a_page_that_is_no_article_keeps_its_day(html: str, reason: Reason) -> None:
    found = extract(html, "http://news.test/a/")
    assert isinstance(found, Outcome)
    assert (found.reason, found.published_date) == (reason, "2024-05-01")


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(KeyError, match="nope"):
        ArticleExtractor(ExtractSettings(method="nope"))


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (b"", Reason.EMPTY_BODY),
        (" \n", Reason.EMPTY_BODY),
        ("<!-- nothing -->", Reason.UNPARSABLE),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, Reason.UNDECODABLE),
        ("<html><body></body></html>", Reason.NO_BODY),
        (page("<p>短</p>"), Reason.NO_BODY),
        (page(f"<h1>国内要闻</h1><ul>{HEADLINES}</ul>"), Reason.LIST_PAGE),
        (page(f"<h1>国内要闻</h1><ul>{HEADLINES}</ul><p>本网站由某某主办，欢迎访问，谢谢。</p>"), Reason.LIST_PAGE),
        (page(f"<div>{TEASERS}</div>"), Reason.LIST_PAGE),
        (page("<div><p>版权所有 某某网 京ICP备12345678号</p><p>地址：北京市某某路</p></div>"), Reason.COPYRIGHT_ONLY),
    ],
    ids=["no bytes", "white space", "comment", "picture", "empty body", "one character", "headlines",
         "headlines and a sentence", "teasers", "copyright"],
)  # fmt: skip
def test_a_page_without_an_article_says_why(html: bytes | str, reason: Reason) -> None:
    found = extract(html, "http://news.test/list/")
    assert isinstance(found, Outcome)
    assert found.reason is reason
    assert found.detail


@pytest.mark.parametrize("method", ["two_pass", "tag_path_ratio"])
def test_a_footer_taken_for_the_body_is_no_article(method: str) -> None:
    footer = "<div><p>版权所有，某某网，京ICP备12345678号，未经授权，不得转载。</p></div>"
    found = ArticleExtractor(ExtractSettings(method=method)).extract(page(footer), "http://news.test/1.html")
    assert isinstance(found, Outcome)
    assert found.reason is Reason.COPYRIGHT_ONLY


def test_a_notice_beside_much_text_does_not_make_a_page_copyright_only() -> None:
    html = page(f"<div><p>{'没有标点的正文' * 40}</p></div><p>版权所有 某某网</p>")
    found = ArticleExtractor(ExtractSettings(method="two_pass")).extract(html, "http://news.test/1.html")
    assert isinstance(found, Outcome)
    assert found.reason is Reason.NO_BODY


def test_a_short_article_among_many_links_is_no_list() -> None:
    html = page(f"<h1>大庆油田产量创新高</h1><p>{SENTENCE}</p><ul>{HEADLINES}</ul>", "大庆油田产量创新高_某某网")
    found = extract(html, "http://news.test/1.html")
    assert isinstance(found, Article)
    assert found.body == SENTENCE


def test_the_shortest_body_is_a_setting() -> None:
    html = page("<h1>大庆油田产量创新高</h1><p>短，但有标点的正文。</p>", "大庆油田产量创新高_某某网")
    assert isinstance(extract(html, URL), Article)
    refused = ArticleExtractor(ExtractSettings(shortest_body=20)).extract(html, URL)
    assert isinstance(refused, Outcome)
    assert refused.reason is Reason.NO_BODY


def test_no_article_is_published_after_its_fetch() -> None:
    found = ArticleExtractor().extract(PAGE, URL, fetched_at=1_000_000_000.0)  # in 2001
    assert isinstance(found, Article)
    assert (found.published, found.date_source) == ("", "")


@pytest.mark.parametrize("html", ["<" * 3000, '"' * 3000, "<p>" + "。" * 300], ids=["signs", "quotes", "marks"])
def test_marks_without_a_word_are_no_article(html: str) -> None:
    found = extract(html, URL)
    assert isinstance(found, Outcome)
    assert found.reason is Reason.NO_BODY


def test_many_open_drawings_are_looked_for_once() -> None:
    """Each without an end, which the first has shown."""
    assert isinstance(extract("<svg>" * 200_000 + f"<p>{SENTENCE * 3}", URL), Article | Outcome)


# -- Parsing a page creates no reference cycles, so pausing the cycle collector leaks no memory.


LARGE_PAGE = (
    "<html><head><title>大庆油田增产 - 新闻网</title></head><body><h1>大庆油田增产</h1><ul>"
    + "<li><a href='/a'>首页</a></li>" * 20
    + "<div class='content'>"
    + "<p>大庆油田今天宣布，今年产量超过去年同期，创下新高。<a href='/b'>详细</a></p>" * 20
    + "<table><tr><td>原油</td><td>10</td></tr></table><pre>a = 1\n b = 2\n</pre></div></body></html>"
)


@pytest.fixture
def searching() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.usefixtures("searching")
def test_a_page_leaves_no_cycles_behind() -> None:
    reader = ArticleExtractor()
    assert isinstance(reader.extract_with_site(LARGE_PAGE, "http://a.test/1.html").result, Article)
    gc.disable()

    def cycles_of_three_pages() -> int:
        gc.collect()
        for _ in range(3):
            reader.extract_with_site(LARGE_PAGE, "http://a.test/1.html")
        return gc.collect()

    # Cycles of a page would be there each time, those that threads of other tests leave meanwhile are not.
    assert 0 in (cycles_of_three_pages() for _ in range(50))


@pytest.mark.usefixtures("searching")
def test_the_search_goes_on_afterwards_even_where_something_was_raised_and_stays_off_where_it_was() -> None:
    with pytest.raises(ValueError, match="inside"), gc_paused():
        assert not gc.isenabled()
        raise ValueError("inside")
    assert gc.isenabled()
    gc.disable()
    with gc_paused():
        pass
    assert not gc.isenabled()


# -- Broken, hostile and adversarial input gives an article or an outcome, never an exception.


HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
OIL_SENTENCE = "大庆油田今天宣布，今年产量超过去年同期，创下新高。"


def rows(name: str) -> Iterator[dict[str, str]]:
    with (HOSTILE / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def payload(row: dict[str, str]) -> bytes | str:
    return base64.b64decode(row["b64"]) if "b64" in row else row["text"]


DEFAULT = ExtractSettings().method


@pytest.mark.shared
@pytest.mark.parametrize(
    ("method", "every"),
    [
        (DEFAULT, 1),
        *((method, 8) for method in BODY_METHODS if method != DEFAULT),
        *(pytest.param(method, 1, marks=pytest.mark.exhaustive) for method in BODY_METHODS if method != DEFAULT),
    ],
)
@pytest.mark.parametrize("name", ["html_tree", "html_tok", "xss", "strings", "xml", "feeds", "enc_sniff"])
@pytest.mark.always
def test_every_hostile_row_is_an_article_or_an_outcome(name: str, method: str, every: int) -> None:
    """All rows with the default method, one in eight with each other method; `exhaustive`: all with all."""
    extractor = ArticleExtractor(ExtractSettings(method=method))
    found = [extractor.extract(payload(row), "http://a.test/1.html") for row in islice(rows(name), 0, None, every)]
    assert found
    assert all(isinstance(one, Article | Outcome) for one in found)
    assert not any(isinstance(one, Article) and not one.body.strip() for one in found)


@pytest.mark.shared
def test_cjk_pages_with_wrong_labels_are_decoded() -> None:
    found = [
        row["truth"] in (read.text if (read := decode_page(base64.b64decode(row["b64"]), header_of(row))) else "")
        for row in rows("enc_pages")
    ]
    assert sum(found) / len(found) > 0.98


def header_of(row: dict[str, str]) -> str:
    return f"text/html; charset={row['header']}" if row["header"] else ""


@pytest.mark.shared
def test_date_look_alikes_are_none_or_one_iso_date() -> None:
    for row in rows("dates"):
        recipe = json.loads(row["text"])
        text = recipe.get("text") or recipe["pre"] + recipe["repeat"] * recipe["times"] + recipe["post"]
        day = find_date_in_text(text)
        assert day == "" or (len(day) == 10 and "1990" <= day[:4] <= "2099")
        found = ArticleExtractor().extract(f"<p>{text}</p><p>{OIL_SENTENCE}</p>", f"http://a.test/{text}")
        assert isinstance(found, Article | Outcome)


@pytest.mark.parametrize("method", BODY_METHODS)
@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + OIL_SENTENCE * 5 + "</div>" * 100_000,
        "<a href=x>" * 30_000 + OIL_SENTENCE,
        "<table><tr><td>" * 20_000 + OIL_SENTENCE,
        "".join(f"<a href=/{n}>{n}</a>" for n in range(30_000)) + OIL_SENTENCE,
        "<br>" * 50_000 + OIL_SENTENCE,
        "<p>" + " " * 2_000_000 + OIL_SENTENCE,
        "<p>" + "1" * 1_000_000 + OIL_SENTENCE,
        "<title>" + "标题" * 300_000 + "</title><h1>" + "标题" * 300_000 + f"</h1><p>{OIL_SENTENCE}",
        "".join(f'<div class="article-content nav-{n}">{OIL_SENTENCE}</div>' for n in range(3_000)),
        '<div class="comments">' * 300 + '<p class="article-body">x，y。</p>' * 3_000,
        "<script type='application/ld+json'>" + '"datePublished":"' * 20_000 + f"</script><p>{OIL_SENTENCE}",
        "\x00\ufeff\ud800<p \x00=>" + OIL_SENTENCE,
    ],
    ids=[
        "deep", "links", "numbers", "tables", "breaks", "spaces", "digits", "title", "names", "asides", "json",
        "control",
    ],
)  # fmt: skip
def test_sizes_that_hurt_are_survived(html: str, method: str) -> None:
    found = ArticleExtractor(ExtractSettings(method=method)).extract(html, "http://a.test/1.html")
    assert isinstance(found, Article | Outcome)


def test_text_below_100_000_tags_is_found() -> None:
    html = "<title>x</title>" + "<div>" * 100_000 + f"<p>{OIL_SENTENCE}</p>" * 3
    found = ArticleExtractor().extract(html, "http://a.test/1.html")
    assert isinstance(found, Article)
    assert found.body.count(OIL_SENTENCE) == 3


@pytest.mark.parametrize(
    "url",
    ["", "http://[", "http://a.test:99999999/", "x" * 100_000, "http://a.test/\ud800\x00"],
    ids=lambda url: url[:15],
)
def test_no_url_hurts(url: str) -> None:
    found = ArticleExtractor().extract(f"<p>{OIL_SENTENCE}</p>", url)
    assert isinstance(found, Article)
    assert found.url == url
