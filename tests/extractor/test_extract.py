"""The whole stage: a page becomes an article or an outcome with the reason."""

import pytest

from domain.article import Article, Block, BlockKind
from domain.outcome import Outcome, Reason
from extractor import ExtractSettings, extract
from extractor.article_extractor import ArticleExtractor

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
