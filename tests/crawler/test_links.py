"""Links of pages, good and monstrous."""

import re
import time

import pytest

from crawler.parsing.links import MAX_ANCHOR_CHARS, MAX_CONTEXT_CHARS, MAX_LINKS, detect_encoding, parse_page
from crawler.robots.page_directives import Directives
from domain.outcome import Reason
from domain.page import Link, Page

URL = "http://site.test/a/b.html"


def of(body: str | bytes, content_type: str = "text/html", headers: tuple[tuple[str, str], ...] = ()) -> object:
    data = body.encode() if isinstance(body, str) else body
    return parse_page(Page(1, URL, URL, 200, content_type, data, "", 0.0, headers=headers))


def urls(body: str | bytes, **options: object) -> list[str]:
    return [link.url for link in of(body, **options).links]


def test_anchor_and_context() -> None:
    found = of("<ul><li>要闻： <a href='c.html#x'>石油 <b>新闻</b>\n</a> 5月9日</li></ul>")
    assert found.links == (Link("http://site.test/a/c.html", "石油 新闻", "要闻： 5月9日"),)


def test_context_of_a_link_alone_on_its_line_is_what_stands_about_the_line() -> None:
    assert of("<div>头条<h2><a href=/x>标题</a></h2>摘要文字</div>").links[0].context == "头条 摘要文字"


def test_images_and_titles_stand_for_missing_text() -> None:
    found = of("<a href=/1><img alt='图 一'></a><a href=/2 title='二'> </a><a href=/3><img></a>")
    assert [link.anchor for link in found.links] == ["图 一", "二", ""]


def test_sources() -> None:
    body = """<map><area href=/area></map><frame src=/frame><iframe src=/iframe></iframe>
        <meta http-equiv=Refresh content="5; URL='/next'"><a>no</a><a href=#top>no</a><a href="">no</a><img src=/no>"""
    assert urls(body) == [f"http://site.test/{name}" for name in ("area", "frame", "iframe", "next")]


def test_each_address_once_with_the_first_words() -> None:
    found = of("<a href=/x></a><a href=/x>first</a><a href=/x>second</a><a href=http://site.test:80/x>third</a>")
    assert [(link.url, link.anchor) for link in found.links] == [("http://site.test/x", "first")]


def test_base() -> None:
    assert urls("<base href=/deep/dir/><base href=/no/><a href=x>x</a>") == ["http://site.test/deep/dir/x"]
    assert urls("<base href='javascript:1'><a href=x>x</a>") == ["http://site.test/a/x"]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ("<meta name=ROBOTS content='noindex, NOFOLLOW'><a href=/x>x</a>", ()),
        ("<a href=/x>x</a><meta name=robots content=none>", ()),
        ("<a href=/x rel='external nofollow'>x</a>", ()),
        ("<a href=/x>x</a>", (("X-Robots-Tag", "nofollow"),)),
    ],
    ids=["meta", "none", "rel", "header"],
)
def test_pages_and_links_that_ask_not_to_be_followed(body: str, headers: tuple[tuple[str, str], ...]) -> None:
    assert urls(body, headers=headers) == []


def test_addresses_without_canonical_form_are_counted() -> None:
    found = of("<a href='http://[/'>1</a><a href='ftp://a/b'>2</a><a href='JavaScript:x'>no page</a><a href=/ok>3</a>")
    assert found.rejected_reasons == (Reason.INVALID_URL, Reason.INVALID_URL)
    assert len(found.links) == 1


@pytest.mark.parametrize(
    ("codec", "label", "content_type"),
    [
        ("utf-8", "", "text/html; charset=gbk"),
        ("utf-8", "gb2312", "text/html; charset=iso-8859-1"),
        ("gbk", "gb2312", "text/html"),
        ("gbk", "", "text/html; charset=GBK"),
        ("gbk", "", "text/html; charset=iso-8859-1"),
        ("gbk", "", "text/html"),
        ("gbk", "no-such", "text/html; charset=x-unknown"),
        ("gbk", "utf-8", "text/html; charset=utf-8"),
        ("big5", "big5", "text/html"),
        ("utf-16", "", "text/html"),
        ("utf-16-le", "", "text/html"),
        ("hz", "", "text/html"),
    ],
)
def test_words_are_read_whatever_the_labels_say(codec: str, label: str, content_type: str) -> None:
    words = "石油天然氣新聞中心" if codec == "big5" else "中国石油天然气集团公司新闻中心发布最新消息"
    meta = f"<meta charset={label}>" if label else ""
    body = f"<html>{meta}<body><p>{words * 20}<a href=/x>{words}</a>".encode(codec)
    assert of(body, content_type).links[0].anchor == words


def test_the_query_is_encoded_as_the_page_is() -> None:
    body = "<meta charset=gbk><p>中国石油新闻中心<a href='/中?q=中'>x</a>".encode("gbk")
    assert urls(body) == ["http://site.test/%E4%B8%AD?q=%D6%D0"]


def test_any_bytes_have_an_encoding() -> None:
    assert b"".decode(detect_encoding(b"", "")) == ""
    every = bytes(range(256)) * 10
    every.decode(detect_encoding(every, "text/html; charset=\x00"), "replace")


DEEP = [f"<{tag}>" * 100_000 for tag in ("div", "b", "select", "template", "svg", "a", "form", "p", "table")]
MONSTERS = [
    *DEEP,
    "<a " + " ".join(f"a{n}=1" for n in range(1000)) + ">",
    "&amp;&#x4e2d;&bogus;" * 50_000,
    ("a" * 64 + "\0") * 1000,
    "中文" * 200_000,
    "</b></p>" * 50_000,
    '<?xml version="1.0" encoding="gbk"?>',
    "<![CDATA[<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>",
]


@pytest.mark.parametrize("monster", MONSTERS, ids=[monster[:12] for monster in MONSTERS])
def test_links_after_monsters_are_found(monster: str) -> None:
    assert "http://site.test/last" in urls(monster + "<a href=/last>x</a>")


@pytest.mark.parametrize(
    "body", [b"", b"\x00", b"<", b"<!--" + b"x" * 5_000_000, b"<script>" + b"<a href=/x>" * 99_999]
)
def test_pages_without_links(body: bytes) -> None:
    assert urls(body) == []


def test_what_is_taken_is_bounded() -> None:
    found = of("".join(f"<a href=/{n}>{'字' * 400}</a>{'文' * 500}" for n in range(MAX_LINKS + 10)))
    assert len(found.links) <= MAX_LINKS
    assert max(len(link.anchor) for link in found.links) == MAX_ANCHOR_CHARS
    assert max(len(link.context) for link in found.links) == MAX_CONTEXT_CHARS
    assert len(of("".join(f"<a href=/{n}>x</a>" for n in range(1_000_000))).links) == MAX_LINKS


def test_links_have_their_canonical_form() -> None:
    found = of("<a href='/%7ex?b=1&a=2'>x</a><a href=/y>y</a>")
    assert [link.url for link in found.links] == ["http://site.test/~x?a=2&b=1", "http://site.test/y"]


def test_what_the_head_says() -> None:
    found = of(
        """<link rel=Canonical href=/own?utm_source=x><link rel=canonical href=/other>
        <link rel="alternate feed" type="application/rss+xml" href=/rss><link rel=alternate hreflang=en href=/en>
        <meta name=robots content=noindex><a href=/e hreflang=en>e</a>"""
    )
    assert found.canonical_url == "http://site.test/own"
    assert found.feeds == ("http://site.test/rss",)
    assert found.directives == Directives(noindex=True)
    assert [link.url for link in found.links] == ["http://site.test/e"]


@pytest.mark.parametrize(
    ("link", "is_feed"),
    [
        ("rel=alternate type=application/rss+xml", True),
        ("rel=ALTERNATE type='application/atom+xml; charset=utf-8' hreflang=en", True),
        ("rel=alternate type=application/rdf+xml", True),
        ("rel=alternate type=application/json", True),
        ("rel=alternate type=application/xml", True),
        ("rel=alternate type=text/html", True),
        ("rel=alternate", True),
        ("rel=feed", True),
        ("rel='feed alternate' type=text/plain hreflang=en", True),
        ("rel=alternate hreflang=en", False),
        ("rel=alternate type=text/html hreflang=en", False),
        ("rel=alternate media='only screen and (max-width: 640px)'", False),
        ("rel='alternate stylesheet' type=text/css", False),
        ("rel=alternate type=application/json+oembed", False),
        ("rel=alternate type=text/xml+oembed", False),
        ("rel=icon", False),
    ],
)
def test_a_feed_is_declared_by_its_relation(link: str, is_feed: bool) -> None:
    assert of(f"<link {link} href=/x>").feeds == ("http://site.test/x",) * is_feed
    header = "</x>; " + re.sub(" (type|hreflang)=", r"; \1=", link.replace("'", '"'))
    if "media" not in link:
        assert of("", headers=(("Link", header),)).feeds == ("http://site.test/x",) * is_feed


def test_the_link_header_names_the_canonical_address_first() -> None:
    headers = (("Link", '</style.css>; rel=preload, </own>; title="a, b"; rel="canonical"'),)
    assert of("<link rel=canonical href=/other>", headers=headers).canonical_url == "http://site.test/own"


@pytest.mark.parametrize(
    ("body", "headers", "followed"),
    [
        ("<meta name=plumbline content=nofollow><a href=/x>x</a>", (), False),
        ("<meta name=otherbot content=nofollow><a href=/x>x</a>", (), True),
        ("<a href=/x>x</a>", (("X-Robots-Tag", "otherbot: nofollow"),), True),
        ("<a href=/x>x</a>", (("X-Robots-Tag", "plumbline: none"),), False),
    ],
)
def test_directives_for_one_agent(body: str, headers: tuple[tuple[str, str], ...], followed: bool) -> None:
    page = Page(1, URL, URL, 200, "text/html", body.encode(), "", 0.0, headers=headers)
    assert bool(parse_page(page, "Plumbline").links) is followed


@pytest.mark.parametrize("ending", ["</body></html>", "</HTML>", "</html></html>\n", "</body>"])
def test_links_after_the_end_of_the_page(ending: str) -> None:
    assert urls(f" <html><body><p>x</p>{ending} <p><a href=/x>x</a></p>") == ["http://site.test/x"]


def test_a_tag_of_a_hundred_thousand_attributes_is_left_out() -> None:
    before = time.thread_time()
    body = "<a " + " ".join(f"a{n}=1" for n in range(150_000)) + " href=/no>x</a><a href=/x>x</a>"
    assert urls(body) == ["http://site.test/x"]
    assert time.thread_time() - before < 10  # CPU time; a minute without that
