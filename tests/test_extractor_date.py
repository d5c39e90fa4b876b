"""Dates: WD-A4 from the URL, then the page."""

import pytest

from extractor import dom
from extractor.date import Published, date_in_text, date_in_url, find_date
from extractor.document import read_document
from extractor.lines import read_lines

BODY = (
    "<div id='body'>"
    + "<p>这是一段正文，足够长的正文，里面有标点，也有不少字，应当被认为是文章的内容，不会有错。2001年1月1日的事。</p>"
    * 2
    + "</div>"
)


def published(html: str, url: str = "http://news.test/1.html", **options: str) -> Published:
    root = dom.parse(html)
    assert root is not None
    document = read_document(root, url)
    body = next((element for element in document.root.iter("div") if element.get("id") == "body"), None)
    return find_date(document, read_lines(document.root), body, **options)


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml", "2016-05-09"),
        ("http://a.test/2016-05/09/content_1.htm", "2016-05-09"),
        ("http://a.test/c/2016-5-9/x.html", "2016-05-09"),
        ("http://a.test/2016_05_09_516923.shtml", "2016-05-09"),
        ("http://a.test/a/20160509/14526474_0.shtml", "2016-05-09"),
        ("http://a.test/news/201605/09/x.html", "2016-05-09"),
        ("http://a.test/2016/0509/x.html", "2016-05-09"),
        ("http://a.test/system/2016/05/001591599.shtml", "2016-05"),
        ("http://a.test/news/201909/1220000.shtml", "2019-09"),
        ("http://a.test/2016/", ""),
        ("http://a.test/001591599.shtml", ""),
        ("http://a.test/9201605091.html", ""),
        ("http://a.test/2016/13/45/x.html", ""),
        ("http://a.test/2015/02/30/x.html", "2015-02"),
        ("http://a.test/1989/05/09/x.html", ""),
        ("http://a.test/2100/05/09/x.html", ""),
        ("http://2016.test:2016/", ""),
        ("", ""),
        ("http://a.test/" + "2016-" * 50_000, ""),
    ],
)
def test_dates_in_urls(url: str, day: str) -> None:
    assert date_in_url(url) == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2016年5月9日 10:30", "2016-05-09"), ("发布时间：2016-05-09", "2016-05-09"), ("2016.05.09", "2016-05-09"),
        ("May 9, 2016", "2016-05-09"), ("9 May 2016", "2016-05-09"), ("9th of no month 2016", ""),
        ("Mon, 09 May 2016 10:00:00 GMT", "2016-05-09"), ("09.05.2016", "2016-05-09"), ("20160509", "2016-05-09"),
        ("2016-05-09T10:00:00+08:00", "2016-05-09"), ("更新 2016年5月10日，发布 2016年5月9日", "2016-05-10"),
        ("2019/13/01", ""), ("0000-00-00", ""), ("1562200000000", ""), ("昨天 12:30", ""), ("2016年2月30日", ""),
    ],
)  # fmt: skip
def test_dates_in_text(text: str, day: str) -> None:
    assert date_in_text(text) == day


@pytest.mark.parametrize(
    "html",
    [
        f'<script type="application/ld+json">{{"datePublished": "2016-05-09T08:00",,}}</script><p>2015-01-01</p>{BODY}',
        f"<meta property='article:published_time' content='2016-05-09T08:00'><time>2015-01-01</time>{BODY}",
        f"<meta name='PubDate' content='2016-05-09'>{BODY}",
        f"<time datetime='2016-05-09'>gestern</time>{BODY}",
        f"<div itemprop='datePublished' content='2016-05-09'></div>{BODY}",
        f"<p>2020年1月1日 星期三</p><h1>标题</h1><p>2016-05-09 10:00 来源：某报</p>{BODY}",
        f"<h1>标题</h1><span class='pub-time'>2016-05-09</span>{BODY}<p>2020-01-01</p>",
    ],
    ids=["JSON-LD, broken", "meta", "meta in capitals", "time", "microdata", "nearest line above", "class"],
)
def test_dates_on_the_page(html: str) -> None:
    assert published(html) == Published("2016-05-09", "page")


def test_the_url_goes_before_the_page() -> None:
    html = f"<meta name='pubdate' content='2016-05-11'>{BODY}"
    assert published(html, "http://a.test/2016/05/09/1.html") == Published("2016-05-09", "url")


@pytest.mark.parametrize(
    ("stated", "found"),
    [("2016-05-11", Published("2016-05-11", "page")), ("2016-06-11", Published("2016-05", "url"))],
    ids=["in the month", "in another"],
)
def test_the_page_makes_a_month_exact_only_within_it(stated: str, found: Published) -> None:
    assert published(f"<meta name='pubdate' content='{stated}'>{BODY}", "http://a.test/2016/05/1.html") == found


def test_a_page_without_a_date_has_none() -> None:
    assert published("<p>没有日期</p>") == Published()


def test_no_date_lies_after_the_fetch() -> None:
    html = "<meta name='pubdate' content='2099-01-01'><p>2016-05-09</p>"
    assert published(html, "http://a.test/2088/01/01/", latest="2016-06-01") == Published("2016-05-09", "page")
