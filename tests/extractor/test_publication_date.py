"""Dates of publication: WD-A4 from the URL, then visible and declared dates, with time, zone and last change."""

import pytest

from extractor.fields.dates.date_parsing import (
    datetime_after,
    find_date_in_text,
    find_date_in_url,
    normalize_date_text,
    parse_machine_date,
)
from extractor.fields.dates.publication_date import PublicationDate, find_publication_date
from extractor.page.parsed_page import parse_text

SENTENCE = "这是一段正文，足够长的正文，里面有标点，也有不少字，应当被认为是文章的内容，不会太短，四十个字总是有的。"
BODY = f"<div id='body'><p>{SENTENCE}2001年1月1日的事。</p><p>{SENTENCE}</p></div>"

UNDATED = f"<div id='body'><p>{SENTENCE}</p><p>{SENTENCE}</p></div>"


def published(html: str, url: str = "http://news.test/1.html", latest: str = "2099-12-31") -> PublicationDate:
    document = parse_text(html, url)
    assert document is not None
    spans = document.layout.spans
    body = next((place for place, span in enumerate(spans) if span.tag_info.attributes.get("id") == "body"), 0)
    return find_publication_date(document, body, latest)


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
        ("http://a.test/news/09-05-2016", "2016-05-09"),
        ("http://a.test/world/2016/may/09/x", "2016-05-09"),
        ("http://a.test/world/2016/none/09/x", ""),
        ("http://a.test/system/2016/05/001591599.shtml", "2016-05"),
        ("http://a.test/news/201909/1220000.shtml", "2019-09"),
        ("http://a.test/2016/", ""),
        ("http://a.test/001591599.shtml", ""),
        ("http://a.test/9201605091.html", ""),
        ("http://a.test/2016/13/45/x.html", ""),
        ("http://a.test/2015/02/30/x.html", "2015-02"),
        ("http://a.test/1989/05/09/x.html", "1989-05-09"),
        ("http://a.test/2100/05/09/x.html", ""),
        ("http://2016.test:2016/", ""),
        ("", ""),
        ("http://a.test/" + "2016-" * 50_000, ""),
    ],
    ids=lambda value: value[:60],
)
def test_dates_in_urls(url: str, day: str) -> None:
    assert find_date_in_url(url) == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2016年5月9日 10:30", "2016-05-09"), ("发布时间：2016-05-09", "2016-05-09"), ("2016.05.09", "2016-05-09"),
        ("May 9, 2016", "2016-05-09"), ("9 May 2016", "2016-05-09"), ("9th of no month 2016", ""),
        ("May 9th 2016", "2016-05-09"), ("9th of May, 2016", "2016-05-09"), ("MAY 9, 2016", "2016-05-09"),
        ("Mon, 09 May 2016 10:00:00 GMT", "2016-05-09"), ("Mon May  9 10:00:00 PDT 2016", "2016-05-09"),
        ("09.05.2016", "2016-05-09"), ("9/5/2016", "2016-05-09"), ("5/19/2016", "2016-05-19"),
        ("20160509", "2016-05-09"),
        ("2016-05-09T10:00:00+08:00", "2016-05-09"), ("更新 2016年5月10日，发布 2016年5月9日", "2016-05-10"),
        ("二〇一六年五月九日", "2016-05-09"), ("二○一九年十二月二十三日", "2019-12-23"),
        ("２０１６．５．９", "2016-05-09"),
        ("２０１６年５月９日", "2016-05-09"), ("民國105年5月9日", "2016-05-09"), ("中華民國一〇五年", ""),
        ("令和2年5月1日", "2020-05-01"), ("平成元年5月1日", ""), ("2016년 5월 9일", "2016-05-09"),
        ("9 мая 2016, 13:43", "2016-05-09"), ("9. května 2016", "2016-05-09"), ("2016. május 9.", "2016-05-09"),
        ("9 mai 2016", "2016-05-09"), ("1er mai 2016", "2016-05-01"), ("9. März 2016", "2016-03-09"),
        ("9 de mayo de 2016", "2016-05-09"), ("9 maggio 2016", "2016-05-09"), ("9 de maio de 2016", "2016-05-09"),
        ("9 maja 2016", "2016-05-09"), ("9 Mayıs 2016", "2016-05-09"), ("9 Μαΐου 2016", "2016-05-09"),
        ("٩ مايو ٢٠١٦", "2016-05-09"), ("9 mei 2016", "2016-05-09"), ("9 травня 2016", "2016-05-09"),
        ("ngày 9 tháng 5 năm 2016", "2016-05-09"), ("2016 m. gegužės 9 d.", "2016-05-09"),
        ("04-ago-2021", "2021-08-04"), ("28 luglio 202010:43", "2020-07-28"), ("2020-07-2810:43", "2020-07-28"),
        ("28 luglio 20201043", ""), ("22. juni/lipanj, 2020.", "2020-06-22"), ("5 lip 2023", "2023-07-05"),
        ("5. lip 2023.", "2023-06-05"), ("5. listopada 2023.", "2023-10-05"), ("5 listopada 2023", "2023-11-05"),
        ("13 gusht 2020, 09:08", "2020-08-13"), ("5 בינואר 2023", "2023-01-05"), ("5 février 2023", "2023-02-05"),
        ("2023. febr. 5.", "2023-02-05"), ("5 янв. 2023", "2023-01-05"), ("5 avgust 2023", "2023-08-05"),
        ("५ जनवरी २०२३", "2023-01-05"), ("5 मई 2023", "2023-05-05"), ("৫ জানুয়ারি, ২০২৩", "2023-01-05"),
        ("5 جنوری، 2023", "2023-01-05"), ("5 სექტემბერი, 2023", "2023-09-05"), ("5 thg 1, 2023", "2023-01-05"),
        ("the best of 2016 and 2017", ""), ("in 2015 we sold 12, on 9 May 2016 more", "2016-05-09"),
        ("2019/13/01", ""), ("0000-00-00", ""), ("1562200000000", ""), ("昨天 12:30", ""), ("3 hours ago", ""),
        ("2016年2月30日", ""), ("9.5.16", ""), ("", ""),
    ],
)  # fmt: skip
def test_dates_in_text(text: str, day: str) -> None:
    assert find_date_in_text(text) == day


@pytest.mark.parametrize(
    ("value", "day"),
    [("1562200000", "2019-07-04"), ("1562200000000", "2019-07-04"), ("2016-05", "2016-05"), ("9.5.16", "2016-05-09")],
)
def test_values_for_machines(value: str, day: str) -> None:
    publication = parse_machine_date(value)
    assert publication is not None
    assert publication.date == day


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2016年5月9日 10:30", "2016-05-09T10:30"),
        ("2016-05-09T10:30:05.123+08:00", "2016-05-09T10:30:05+08:00"),
        ("2016-05-09T10:30:05Z", "2016-05-09T10:30:05+00:00"),
        ("May 9, 2016 at 3:05 pm EST", "2016-05-09T15:05-05:00"),
        ("2016年5月9日星期一 下午3:05", "2016-05-09T15:05"),
        ("9 May 2016 12:10 am", "2016-05-09T00:10"),
        ("2016-05-09T08:30:00+99:00", "2016-05-09T08:30:00"),
        ("2016-05-09 来源：某报", ""),
        ("1562200000", "2019-07-04T00:26:40+00:00"),
    ],
)
def test_the_time_of_day(text: str, at: str) -> None:
    stamp = parse_machine_date(text)
    assert stamp is not None
    assert datetime_after(normalize_date_text(text), stamp) == at


@pytest.mark.parametrize(
    ("html", "source"),
    [
        (f'<script type="application/ld+json">{{"datePublished": "2016-05-09T08:00",,}}</script>{BODY}', "json-ld"),
        (f"<meta property='article:published_time' content='2016-05-09T08:00'>{BODY}", "meta"),
        (f"<meta name='PubDate' content='2016-05-09'>{BODY}", "meta"),
        (f"<meta name='some_upload_date' content='2016-05-09'>{BODY}", "meta"),
        (f"<time datetime='2016-05-09'>gestern</time>{BODY}", "time"),
        (f"<div itemprop='datePublished' content='2016-05-09'>gestern</div>{BODY}", "time"),
        (f"<h1>标题</h1><p>2016-05-09 10:00 来源：某报</p>{BODY}", "text"),
        (f"<h1>标题</h1><span class='pub-time'>2016-05-09</span>{BODY}<p>2020-01-01</p>", "text"),
        (f"<h1>标题</h1>{BODY}<p>某某委员会</p><p>二〇一六年五月九日</p>", "text"),
        (f"<h1>标题</h1><p>Party, 9.5.16</p>{BODY}", "text"),
    ],
    ids=["broken JSON-LD", "meta", "in capitals", "odd name", "time", "microdata", "line", "class", "signed", "short"],
)
def test_each_source_of_a_date(html: str, source: str) -> None:
    publication = published(html)
    assert (publication.date, publication.source) == ("2016-05-09", source)


@pytest.mark.parametrize(
    "other",
    [
        "<div class='header'>今天是2020年1月1日 星期三</div>{}",
        "<p class='todays-date'>Wednesday, January 1, 2020</p>{}",
        "{}<div class='related'><span class='time'>2020-01-01</span></div>",
        "{}<ul><li><a href='/2.html'>另一条新闻</a> <span class='time'>2020-01-01</span></li></ul>",
        "{}<div id='comments'><time datetime='2020-01-01'>2020-01-01</time></div>",
        "{}<footer>Copyright 2020-01-01</footer>",
    ],
    ids=["clock", "English clock", "related", "list", "comments", "copyright"],
)
def test_dates_of_other_content_are_ignored(other: str) -> None:
    page = f"<h1>一个够长的标题</h1><p>2016-05-09 10:00</p>{BODY}"
    assert published(other.format(page)).date == "2016-05-09"


@pytest.mark.parametrize(
    "page",
    [f"<footer>© 2020-01-01 某网</footer>{BODY}", f"<div class='clock'>2020-01-01</div>{'<p>栏目</p>' * 40}{BODY}"],
    ids=["copyright", "clock far away"],
)
def test_no_date_is_better_than_a_date_of_other_content(page: str) -> None:
    assert published(page).source in ("", "text")
    assert published(page).date != "2020-01-01"


def test_the_url_ranks_before_the_page() -> None:
    html = f"<meta name='pubdate' content='2016-05-11'>{BODY}"
    assert published(html, "http://a.test/2016/05/09/1.html") == PublicationDate("2016-05-09", "url")


@pytest.mark.parametrize(
    ("page", "day"),
    [
        ("<meta name='pubdate' content='2016-05-11'><h1>Version 2016-05-09</h1><p>May 11, 2016</p>", "2016-05-11"),
        (
            "<meta name='pubdate' content='2016-05-11'><h1>2016-05-09 的活动</h1><p>2016年5月11日 10:20</p>",
            "2016-05-11",
        ),
        ("<meta name='pubdate' content='2016-05-11'><h1>Title</h1><p>May 12, 2016</p>", "2016-05-09"),
        ("<h1>Title</h1><p>May 11, 2016</p>", "2016-05-09"),
    ],
    ids=["agreed", "agreed in Chinese", "at odds", "shown alone"],
)
def test_equal_visible_and_declared_dates_rank_before_the_url(page: str, day: str) -> None:
    assert published(page + BODY, "http://a.test/2016/05/09/event.html").date == day


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("http://a.test/t/no-train-on-2016-05-09-again", "2016-05-11"),
        ("http://a.test/t/2016-5-9-2016-6-0-does-not-start/12", "2016-05-11"),
        ("http://a.test/news/t20160509_123.html", "2016-05-09"),
        ("http://a.test/2016-05-09/no-train-on-the-line-again", "2016-05-09"),
    ],
)
def test_a_date_in_the_slug_of_a_url_is_the_subject_of_the_page(url: str, day: str) -> None:
    assert published(f"<meta name='pubdate' content='2016-05-11'>{UNDATED}", url).date == day
    assert published(UNDATED, url).date == "2016-05-09"


def test_the_page_adds_the_time_of_day_to_the_url_date() -> None:
    html = f"<meta name='pubdate' content='2016-05-09T10:20:00+08:00'>{BODY}"
    publication = published(html, "http://a.test/2016/05/09/1.html")
    assert publication == PublicationDate("2016-05-09", "url", "2016-05-09T10:20:00+08:00")


@pytest.mark.parametrize(
    ("stated", "publication"),
    [("2016-05-11", PublicationDate("2016-05-11", "meta")), ("2016-06-11", PublicationDate("2016-05", "url"))],
    ids=["in the month", "in another"],
)
def test_the_page_refines_a_month_only_within_it(stated: str, publication: PublicationDate) -> None:
    assert published(f"<meta name='pubdate' content='{stated}'>{BODY}", "http://a.test/2016/05/1.html") == publication


@pytest.mark.parametrize(
    ("stated", "shown", "day"),
    [
        ("2016-05-08T23:30:00Z", "2016-05-09", "2016-05-09"),
        ("2016-05-01", "2016-05-09", "2016-05-01"),
        ("2016-09-05", "2016-05-09", "2016-05-09"),
        ("2016-05-09", "05/09/2016", "2016-05-09"),
        ("2016-05-09", "9/5/2016", "2016-05-09"),
    ],
    ids=["time zone", "stated", "stated in the wrong order", "month first", "day first"],
)
def test_visible_and_declared_dates_that_differ(stated: str, shown: str, day: str) -> None:
    html = f"<meta name='pubdate' content='{stated}'><h1>标题</h1><p>{shown}</p>{BODY}"
    assert published(html).date == day


@pytest.mark.parametrize(
    ("attributes", "url", "day"),
    [
        ("lang='en-US'", "http://a.test/", "2016-05-09"),
        ("lang='en-GB'", "http://a.test/", "2016-09-05"),
        ("lang='en'", "http://a.co.uk/", "2016-09-05"),
        ("lang='de'", "http://a.test/", "2016-09-05"),
        ("lang='zh-CN'", "http://a.test/", "2016-05-09"),
        ("lang='en'><meta property='og:locale' content='en_GB'", "http://a.test/", "2016-09-05"),
        ("lang='en'><meta property='og:locale' content='en_US'", "http://a.test/", "2016-05-09"),
    ],
)
def test_the_page_decides_the_order_of_day_and_month(attributes: str, url: str, day: str) -> None:
    assert published(f"<html {attributes}><h1>标题</h1><p>5/9/2016</p>{BODY}", url).date == day


@pytest.mark.parametrize("shown", ["5/9/2016", "05/09/2016 10:20"])
def test_a_time_element_decides_the_order_of_day_and_month(shown: str) -> None:
    page = f"<html lang='en-US'><h1>Title</h1><time datetime='2016-09-05T10:20'>{shown}</time>{BODY}"
    assert published(page).date == "2016-09-05"
    apart = f"<html lang='en-US'><h1>Title</h1><p>By me on {shown}</p><time datetime='2016-09-05'></time>{BODY}"
    assert published(apart).date == "2016-09-05"


@pytest.mark.parametrize(
    ("other", "day"),
    [("25/12/2015", "2016-09-05"), ("12/25/2015", "2016-05-09"), ("25/12/2015 12/25/2015", "2016-05-09")],
)
def test_other_dates_of_a_page_decide_the_order_of_day_and_month(other: str, day: str) -> None:
    assert published(f"<html lang='en-US'><h1>标题</h1><p>5/9/2016</p>{BODY}<p>{other}</p>").date == day


@pytest.mark.parametrize("language", ["fa", "fa-IR"])
def test_a_persian_page_uses_its_own_calendar(language: str) -> None:
    assert published(f"<html lang='{language}'><h1>عنوان</h1><p>1402/05/12 10:30</p>{BODY}").date == "2023-08-03"
    assert published(f"<html lang='en'><h1>Title</h1><p>1402/05/12 10:30</p>{UNDATED}").date == ""


@pytest.mark.parametrize(
    "page",
    [
        "<h1>Title</h1><p>someone, registered: 2012-07-02</p><p>2016-05-09 10:20</p>",
        "<h1>标题</h1><p>注册时间：2012-07-02</p><p>2016-05-09 10:20</p>",
    ],
)
def test_the_join_date_of_a_member_is_not_the_date_of_the_post(page: str) -> None:
    assert published(page + BODY).date == "2016-05-09"


STATE = '<script id="__NEXT_DATA__" type="application/json">{}</script>'
ONE = '{"props": {"article": {"title": "A title", "publishedAt": "2016-05-09T08:00:00Z", "id": 1562200000}}}'
TWO = '{"all": [{"slug": "/a-long-title", "publishedAt": "2016-05-09"}, {"slug": "/b", "publishedAt": "2020-01-01"}]}'


@pytest.mark.parametrize(
    ("script", "day"),
    [
        (STATE.format(ONE), "2016-05-09"),
        ("<script>dataLayer.push({'publish_date': '2016-05-09', 'page': 'article'})</script>", "2016-05-09"),
        ('<script>self.__next_f.push([1,"{\\"datePublished\\":\\"2016-05-09\\"}"])</script>', "2016-05-09"),
        ("<script>window.state = {published_at: 1462780800000}</script>", "2016-05-09"),
        (STATE.format(TWO), ""),
        (STATE.format('{"publishedAt": "2099-01-01"}'), ""),
        (STATE.format('{"updatedAt": "2016-05-09", "date": "2016-05-09", "expires": 1462780800}'), ""),
        ('<script type="application/ld+json">{"@type": "Thing", "mentions": {"pubDate": "2016-05-09"}}</script>', ""),
        ("<!-- datePublished: '2016-05-09' -->", ""),
        ("<p>publishedAt: '1462780800'</p>", ""),
    ],
    ids=["state", "data layer", "escaped", "seconds", "two articles", "to come", "other names", "JSON-LD", "comment",
         "text"],
)  # fmt: skip
def test_dates_that_only_scripts_contain(script: str, day: str) -> None:
    publication = published(f"<h1>Title</h1>{UNDATED}{script}", latest="2024-01-01")
    assert (publication.date, publication.source) == (day, "script" if day else "")


def test_the_url_selects_one_of_several_articles_in_a_script() -> None:
    far = TWO.replace('{"slug": "/b"', f'{{"text": "{"x" * 4_000}", "slug": "/b"')
    assert published(f"<h1>T</h1>{UNDATED}{STATE.format(far)}", "http://a.test/en/a-long-title").date == "2016-05-09"
    assert published(f"<h1>T</h1>{UNDATED}{STATE.format(far)}", "http://a.test/en/b").date == ""


def test_script_dates_rank_after_declared_dates_and_before_guesses() -> None:
    assert published(f"<h1>Title</h1><p>2016-05-01</p>{BODY}{STATE.format(ONE)}").date == "2016-05-01"
    assert published(f"<meta name='date' content='2016-05-01'>{BODY}{STATE.format(ONE)}").date == "2016-05-01"
    assert published(f"<h1>Title</h1>{BODY}{STATE.format(ONE)}").date == "2016-05-09"


@pytest.mark.parametrize(
    ("address", "day"), [("http://news.test/1.html", "2016-05-10"), ("http://news.test/2.html", "2016-05-01")]
)
def test_json_ld_of_another_page_ranks_after_the_metas(address: str, day: str) -> None:
    node = f'{{"@type":"NewsArticle","url":"{address}","datePublished":"2016-05-10"}}'
    html = f"<script type='application/ld+json'>{node}</script><meta name='pubdate' content='2016-05-01'>{BODY}"
    assert published(html).date == day


def test_published_and_modified_dates_are_separate() -> None:
    html = f"<h1>Title</h1><p>Updated May 11, 2016</p><p>Published May 9, 2016</p>{BODY}"
    publication = published(html)
    assert (publication.date, publication.modified) == ("2016-05-09", "2016-05-11")


def test_a_modification_before_the_publication_is_ignored() -> None:
    html = f"<meta name='pubdate' content='2016-05-09'><meta name='lastmod' content='2016-05-01'>{BODY}"
    assert published(html) == PublicationDate("2016-05-09", "meta")


def test_the_modification_date_is_the_last_resort() -> None:
    publication = published(f"<meta property='article:modified_time' content='2016-05-09'>{BODY}")
    assert (publication.date, publication.modified) == ("2016-05-09", "2016-05-09")


def test_the_date_of_a_thread_is_that_of_its_first_post() -> None:
    posts = "".join(f"<p>{SENTENCE}</p><p>发布时间 2016/05/{day:02d} 22:36 by someone</p>" for day in range(9, 20))
    assert published(f"<h1>主题</h1><div id='body'>{posts}</div>").date == "2016-05-09"


def test_a_page_without_a_date_has_none() -> None:
    assert published("<p>没有日期</p>") == PublicationDate()


def test_no_date_is_after_the_fetch() -> None:
    html = "<meta name='pubdate' content='2099-01-01'><h1>标题</h1><p>2016-05-09</p>" + BODY
    assert published(html, "http://a.test/2088/01/01/", latest="2016-06-01").date == "2016-05-09"
    assert published(f"<h1>Title</h1><p>06/05/2016</p>{BODY}", latest="2016-05-31").date == "2016-05-06"


@pytest.mark.parametrize("piece", ["2019年", "2019-", "12:", "1/", " ", "Jan ", "(", "9" * 50, "年月日", "二〇"])
def test_no_text_is_slow(piece: str) -> None:
    text = "2019年" + piece * 20_000
    for publication in (
        find_date_in_text(text),
        find_date_in_url(text),
        stated.date if (stated := parse_machine_date(text)) else "",
    ):
        assert publication == "" or publication.startswith(
            "20"
        )  # and not after minutes, as a pattern that is not linear would
