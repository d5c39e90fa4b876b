"""Author, source, section, keywords, picture and URLs of a page."""

import json

import pytest

from extractor.fields.json_ld import JsonLdArticle, find_json_ld_article
from extractor.fields.metadata import Metadata, find_metadata
from extractor.page.parsed_page import Body, parse_text

URL = "http://www.some-site.test/news/1.html"
TITLE = "一个够长的文章标题"
TEXT = (
    "这是一段正文，足够长的正文，里面有标点，也有不少字，说的是大庆油田和产量，不会有错，也不会太短，四十个字总是有的。"
)
BODY = f"<div id='body'><p>{TEXT}</p><p>{TEXT}</p></div>"


def metadata(above: str = "", head: str = "", below: str = "", url: str = URL, body: str = BODY) -> Metadata:
    html = (
        f"<html><head><title>{TITLE}_某网</title>{head}</head><body><h1>{TITLE}</h1>{above}{body}{below}</body></html>"
    )
    document = parse_text(html, url)
    assert document is not None
    spans = document.layout.spans
    place = next(index for index, span in enumerate(spans) if span.tag_info.attributes.get("id") == "body")
    lines = tuple(range(spans[place].start_line, spans[place].end_line))
    return find_metadata(document, Body(place, lines, TEXT), TITLE)


def linked(**fields: object) -> str:
    node = {"@context": "https://schema.org", "@type": "NewsArticle", **fields}
    return f"<script type='application/ld+json'>{json.dumps(node)}</script>"


@pytest.mark.parametrize(
    ("above", "author"),
    [
        ("<p>2020-07-04 来源：求是网 作者：陈海峰 责任编辑：王某某</p>", "陈海峰"),
        ("<p>来源：<span>求是网</span><span>作者：陈海峰</span><span>责任编辑：王某某</span></p>", "陈海峰"),
        ("<p>文/张三 李四</p>", "张三, 李四"),
        ("<p>作者：张三、李四</p>", "张三, 李四"),
        ("<p>作者：张三 发布时间：2020-01-01</p>", "张三"),
        ("<p>本报记者 张三 李四</p>", "张三, 李四"),
        ("<p>2020-10-04 聯合報 記者林宸誼／即時報導</p>", "林宸誼"),
        (
            "<p>By Danielle DeSiato, Donna Enzmann, and Natalie Nguyen</p>",
            "Danielle DeSiato, Donna Enzmann, Natalie Nguyen",
        ),
        ("<p>Published by Jane Doe on May 9, 2016</p>", "Jane Doe"),
        ("<p>Posted on January 2, 2020 by Jane Doe</p>", "Jane Doe"),
        ("<p>BY JANE DOE</p>", "JANE DOE"),
        ("<p>Executes a statement prepared by SPI_prepare</p>", ""),
        ("<p>Denial of service by UserAttributeSimilarityValidator</p>", ""),
        ("<p>Development of this module was sponsored by Harbour Tools Ltd.</p>", ""),
        ("<p>3 hours ago by UserAttributeSimilarityValidator</p>", ""),
        ("<h4 id='guc-wal-writer-delay'>wal_writer_delay (integer)</h4>", ""),
        ("<span class='article-writer'>Jane Doe</span>", "Jane Doe"),
        ("<span class='author'>Jane Doe (Harbour News)</span>", "Jane Doe (Harbour News)"),
        ("<span class='author-name'>Jane Doe</span>", "Jane Doe"),
        ("<a rel='author' href='/jane'>Jane Doe, Staff Writer</a>", "Jane Doe"),
        ("<p>石佳/中国青年报</p>", "石佳"),
        ("<p>责任编辑：王某某</p>", ""),
        ("<p>作者：某网</p>", ""),
        ("<p>作者：佚名</p>", ""),
        ("<p>中新社记者 张三 摄</p>", ""),
        ("<p>作者最新文章</p>", ""),
        ("<p>Step by step to a better life</p>", ""),
        ("<span class='author'>http://some-site.test/jane</span>", ""),
    ],
)
def test_authors(above: str, author: str) -> None:
    assert metadata(above).author == author


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ("<meta name='author' content='Jane Doe'>", "Jane Doe"),
        ("<meta name='byl' content='By Jane Doe and John Roe'>", "Jane Doe, John Roe"),
        ("<meta name='author' content='某网'>", ""),
        ("<meta name='author' content='some-site.test'>", ""),
        ("<meta name='author' content='admin'>", ""),
        ("<meta property='article:author' content='https://www.facebook.test/jane'>", ""),
        (linked(author={"@type": "Person", "name": "Jane Doe"}), "Jane Doe"),
        (
            linked(author=[{"@type": "Person", "name": "Jane Doe"}, {"@type": "Person", "name": "J. Roe"}]),
            "Jane Doe, J. Roe",
        ),
        (linked(author={"@type": "Organization", "name": "某网"}), ""),
        (linked(author="Jane Doe"), "Jane Doe"),
        (linked(author=None), ""),
    ],
)
def test_authors_in_fields(head: str, author: str) -> None:
    assert metadata(head=head).author == author


def test_the_reporter_in_the_text() -> None:
    body = f"<div id='body'><p>某社北京5月9日电（记者张三）{TEXT}</p></div>"
    assert metadata(body=body).author == "张三"


@pytest.mark.parametrize(
    ("above", "head", "source"),
    [
        ("<p>2020-07-04 12:10 来源：求是网 作者：陈海峰</p>", "", "求是网"),
        ("<p>2020年07月04日12:10来源：<a href='/x'>21世纪经济报道</a> 评论(3)</p>", "", "21世纪经济报道"),
        ("<p>发表于2014-08-24| 来源CSDN| 0 条评论</p>", "", "CSDN"),
        ("<p>转载自：The Verge</p>", "", "The Verge"),
        ("<p>2019年11月25日 18:57 参考消息</p>", "", "参考消息"),
        ("<span class='source'>2019年11月25日 参考消息</span>", "", "参考消息"),
        ("", "<meta name='source' content='新华社'>", "新华社"),
        ("", linked(isBasedOn={"@type": "NewsArticle", "name": "原来的报道"}), "原来的报道"),
        ("", linked(publisher={"@type": "Organization", "name": "某网"}), ""),
        ("<p>石佳/中国青年报</p>", "", "中国青年报"),
        ("<p>2020-10-04 15:05聯合報 記者林宸誼／即時報導</p>", "", "聯合報"),
        ("<p>来源：互联网</p>", "", ""),
        ("<p>来源：本站原创</p>", "", ""),
        ("<p>能源的来源很多，也很复杂，这里不说。</p>", "", ""),
    ],
)
def test_sources(above: str, head: str, source: str) -> None:
    assert metadata(above, head).source == source


@pytest.mark.parametrize(
    ("above", "head", "section"),
    [
        ("", "<meta property='article:section' content='Science &amp;amp; Technology'>", "Science & Technology"),
        ("", linked(articleSection=["News", "UK"]), "UK"),
        ("<div>您的位置：首页 &gt; 新闻 &gt; 社会 &gt; 正文</div>", "", "社会"),
        ("<ul class='breadcrumb'><li>Home</li><li>Travel</li><li>Air</li></ul>", "", "Air"),
        (f"<div class='crumbs'>首页 &gt; 财经 &gt; {TITLE}</div>", "", "财经"),
        ("<p>&lt;&lt; 上一页 | 下一页 &gt;&gt;</p>", "", ""),
        ("<div>您的位置：首页 &raquo; 市场 &raquo; 浏览文章</div>", "", "市场"),
        ("<div class='crumbs'>首页 &gt; 信息公开 &gt; 查看详细内容</div>", "", "信息公开"),
        ("<div class='crumbs'>Home &gt; Reading &gt; View full story</div>", "", "Reading"),
        ("", "", ""),
    ],
)
def test_sections(above: str, head: str, section: str) -> None:
    actual = metadata(head=head, above=above)
    assert actual.section == section


@pytest.mark.parametrize(
    ("content", "keywords"),
    [
        ("大庆油田,产量，天然气、大庆油田", ("大庆油田", "产量", "天然气")),
        ("大庆油田 产量", ("大庆油田", "产量")),
        (f"大庆油田,{TITLE},某网", ("大庆油田",)),
        ("新闻,门户,资讯", ()),
        (",".join(f"栏目{n}" for n in range(30)) + ",大庆油田", ("大庆油田",)),
        ("<meta name=,大庆油田", ("大庆油田",)),
        ("", ()),
    ],
    ids=["apart", "spaces", "title and site", "only the site's", "stuffed", "markup", "none"],
)
def test_keywords(content: str, keywords: tuple[str, ...]) -> None:
    content = content.replace("<", "&lt;")
    assert metadata(head=f"<meta name='keywords' content='{content}'>").keywords == keywords


@pytest.mark.parametrize(
    ("head", "body", "picture"),
    [
        ("<meta property='og:image' content='/a.jpg'>", BODY, "http://www.some-site.test/a.jpg"),
        ("<meta property='og:image' content='/img/logo.png'>" + linked(image=["b.jpg"]), BODY, "/news/b.jpg"),
        ("<meta property='og:image' content='http://[/a.jpg'>", BODY, ""),
        ("", f"<div id='body'><img src='blank.gif' data-original='c.jpg'><p>{TEXT}</p></div>", "/news/c.jpg"),
        ("", f"<div id='body'><img src='c.jpg' width='20'><p>{TEXT}</p></div>", ""),
        ("", f"<img src='far.jpg'><p>栏目</p><p>栏目</p>{BODY}", ""),
    ],
    ids=["og", "logo, JSON-LD", "no address", "lazy", "icon", "outside"],
)
def test_pictures(head: str, body: str, picture: str) -> None:
    actual = metadata(head=head, body=body).picture
    assert actual == (f"http://www.some-site.test{picture}" if picture.startswith("/") else picture)


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel='canonical' href='/news/one.html#top'>", "http://www.some-site.test/news/one.html"),
        ("<meta property='og:url' content='https://m.some-site.test/1'>", "https://m.some-site.test/1"),
        ("<link rel='canonical' href='/'><meta property='og:url' content='/n/1'>", "http://www.some-site.test/n/1"),
        ("<link rel='canonical' href='http://www.some-site.test/'>", ""),
        ("<link rel='canonical' href='http://localhost/news/1'>", ""),
        ("<link rel='canonical' href='http://192.168.0.7/news/1'>", ""),
        ("<link rel='canonical' href='http://[/'>", ""),
        ("<link rel='canonical' href='javascript:alert(1)'>", ""),
        ("<link rel='canonical' href='/a&#10;b'>", "http://www.some-site.test/a%20b"),
        (linked(mainEntityOfPage={"@id": "http://www.some-site.test/news/3"}), "http://www.some-site.test/news/3"),
    ],
    ids=["link", "og", "home, og", "home", "localhost", "number", "broken", "script", "line break", "JSON-LD"],
)
def test_canonical_urls(head: str, canonical: str) -> None:
    assert metadata(head=head).canonical_url == canonical


@pytest.mark.parametrize(
    ("url", "href", "text", "leads"),
    [
        ("/n/1.html", "1_2.html", "下一页", True),
        ("/n/1.html", "1_1.html", "下一页", True),
        ("/n/1.html", "/n/1-2.html", "2", True),
        ("/n/1_2.html", "1_3.html", "下一页", True),
        ("/n/slug/", "/n/slug/page/2/", "Next page", True),
        ("/n/slug/", "/n/slug/2/", "2", True),
        ("/n?id=5", "?id=5&page=2", "Next", True),
        ("/n?id=5&page=2", "?id=5&page=3", "下一页", True),
        ("/n/1.html", "2.html", "下一篇", False),
        ("/n/1.html", "2.html", "下一页", False),
        ("/n/1.html", "1_3.html", "3", False),
        ("/n/post-12", "post-13", "Next", False),
        ("/n/2019/12", "/n/2019/13", "next", False),
        ("/n?id=5", "?id=6", "Next", False),
        ("/n/1.html", "http://other.test/n/1_2.html", "下一页", False),
        ("/n/1.html", "javascript:next()", "下一页", False),
        ("/n/1.html", "http://[/1_2.html", "下一页", False),
    ],
)
def test_the_next_page_of_an_article(url: str, href: str, text: str, leads: bool) -> None:
    pager = f"<div><a href='{href}'>{text}</a></div>"
    if "1_2" in url:
        pager = f"<div><a href='1.html'>1</a> <a href='1_3.html'>3</a> <a href='{href}'>{text}</a></div>"
    actual = metadata(below=pager, url=f"http://a.test{url}").next_url
    assert bool(actual) is leads


def test_a_link_to_the_next_post_is_not_a_next_page() -> None:
    assert metadata(head="<link rel='next' href='/news/another-post'>").next_url == ""
    assert (
        metadata(head="<link rel='next' href='/news/1_2.html'>").next_url == "http://www.some-site.test/news/1_2.html"
    )


def test_a_page_without_a_url_has_no_absolute_urls() -> None:
    head = "<link rel='canonical' href='1.html'><meta property='og:image' content='a.jpg'>"
    actual = metadata(head=head, below="<a href='1_2.html'>下一页</a>", url="")
    assert (actual.canonical_url, actual.picture, actual.next_url) == ("", "", "")


@pytest.mark.parametrize(
    ("scripts", "headline"),
    [
        (['{"@type": "NewsArticle", "headline": "x"}'], "x"),
        (['{"@graph": [{"@type": "WebPage", "name": "p"}, {"@type": ["Article"], "headline": "x"}]}'], "x"),
        (['[{"@type": "Organization", "name": "o"}, {"@type": "BlogPosting", "headline": "x"}]'], "x"),
        (['{"@type": "ItemList", "itemListElement": [{"@type": "Article", "headline": "other"}]}'], ""),
        (['[{"@type": "Article", "headline": "o", "url": "/2"}, {"@type": "Article", "headline": "x"}]'], "x"),
        (['<!-- {"@type": "http://schema.org/Article", "headline": "x"} -->'], "x"),
        (['{"@type": "Article", "headline": "a\nb"}'], "a\nb"),
        (['{"@type": "Article", "headline": "\\u4e00",,}'], "一"),
        (['{"@type": "Article"', '{"headline"'], ""),
        (["[" * 100_000], ""),
        (["null"], ""),
        ([], ""),
    ],
    ids=["one", "graph", "list", "list of others", "another's address", "comment", "line break", "broken",
         "cut", "deep", "null", "none"],
)  # fmt: skip
def test_the_article_in_json_ld(scripts: list[str], headline: str) -> None:
    assert find_json_ld_article(tuple(scripts), "http://a.test/1").headline == headline


def test_names_in_other_nodes_and_dates_of_the_page() -> None:
    graph = [
        {"@type": "Article", "author": {"@id": "#jane"}, "image": {"@id": "#pic"}},
        {"@type": "WebPage", "datePublished": "2016-05-09"},
        {"@type": "Person", "@id": "#jane", "name": "Jane Doe"},
        {"@type": "ImageObject", "@id": "#pic", "url": "http://a.test/a.jpg"},
    ]
    actual = find_json_ld_article((json.dumps({"@graph": graph}),), "http://a.test/1")
    assert actual == JsonLdArticle(
        published="2016-05-09",
        picture="http://a.test/a.jpg",
        person_names=("Jane Doe",),
        author_names=("Jane Doe",),
        page_kind="article",
    )


@pytest.mark.parametrize(
    ("nodes", "kind", "elsewhere"),
    [
        ([{"@type": "NewsArticle", "url": "http://a.test/1"}], "article", False),
        ([{"@type": "NewsArticle", "mainEntityOfPage": {"@id": "http://a.test/1"}}], "article", False),
        ([{"@type": "VideoObject", "name": "Oil"}], "article", False),
        ([{"@type": "NewsArticle", "url": "http://a.test/2"}], "", True),
        ([{"@type": "NewsArticle", "headline": "Oil"}] * 3, "", False),
        ([{"@type": ["WebPage", "CollectionPage"]}, {"@type": "Article", "headline": "Oil"}], "collection", False),
        ([{"@type": "Blog", "blogPost": [{"@type": "BlogPosting", "url": "http://a.test/2"}]}], "collection", True),
        ([{"@type": "CollectionPage"}, {"@type": "Article", "url": "http://a.test/1"}], "article", False),
        ([{"@type": "WebPage", "url": "http://a.test/1"}], "", False),
        ([], "", False),
    ],
    ids=["address", "main entity", "video", "another's", "many", "collection", "blog", "both", "page", "nothing"],
)
def test_what_the_page_is_by_json_ld(nodes: list[object], kind: str, elsewhere: bool) -> None:
    actual = find_json_ld_article((json.dumps(nodes),), "http://a.test/1")
    assert (actual.page_kind, actual.is_other_page) == (kind, elsewhere)


def test_broken_json_with_a_headline_and_a_day_is_an_article() -> None:
    actual = find_json_ld_article(('{"headline": "Oil", "datePublished": "2016-05-09", "articleBody": "a\tb",, }',), "")
    assert (actual.page_kind, actual.published) == ("article", "2016-05-09")


def test_the_text_of_the_article() -> None:
    actual = find_json_ld_article(
        (json.dumps([{"@type": "WebPage"}, {"@type": "Article", "articleBody": "Oil rose."}]),), ""
    )
    assert actual.body == "Oil rose."


TITLES = ("Harbour opens again after nine weeks - Coast News",)


@pytest.mark.parametrize(
    "other",
    [
        {"@type": "NewsArticle", "headline": "Mayor resigns over pier", "datePublished": "2016-05-01"},
        {"@type": "NewsArticle", "url": "http://a.test/2", "datePublished": "2016-05-01"},
        {"@type": "WebPage", "about": {"@type": "Article", "headline": "Mayor resigns", "datePublished": "2016-05-01"}},
        {"@type": "WebPage", "comments": [{"@type": "Comment", "text": "No!", "datePublished": "2016-05-01"}]},
        {"@type": "Review", "name": "Mayor resigns over pier", "datePublished": "2016-05-01", "reviewBody": "x"},
    ],
    ids=["headline", "url", "nested", "comment", "review"],
)
@pytest.mark.parametrize(
    "own",
    [
        {"@type": "BlogPosting", "headline": "Harbour opens again after nine weeks"},
        {"@type": "Report", "headline": "Harbour opens again after nine weeks", "url": "http://amp.a.test/1/amp"},
        {"@type": "Article", "name": "x", "url": "https://www.a.test/1"},
    ],
    ids=["headline", "other address", "url"],
)
def test_the_node_of_the_page_wins_and_lends_no_dates(own: dict[str, str], other: dict[str, object]) -> None:
    for nodes in ([other, own], [own, other]):
        actual = find_json_ld_article((json.dumps(nodes),), "http://a.test/1", TITLES)
        assert (actual.headline, actual.published) == (own.get("headline", "x"), "")


def test_a_related_story_alone_is_not_the_article_of_the_page() -> None:
    story = {"@type": "NewsArticle", "url": "http://a.test/2", "headline": "Mayor resigns over pier"}
    script = json.dumps(story | {"author": "Jane Moss", "datePublished": "2016-05-01"})
    actual = find_json_ld_article((script,), "http://a.test/1", TITLES)
    assert (actual.published, actual.headline, actual.author_names) == ("", "", ())
