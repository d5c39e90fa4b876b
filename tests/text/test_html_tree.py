"""The text and the links of pages whose end lxml does not reach: found, in bounded time and memory."""

import pytest
from lxml import etree

from crawler.parsing.links import parse_page as parse_links
from domain.outcome import Outcome
from domain.page import Page
from extractor import extract
from text.decoding.html_tree import END_ID, parse_html

URL = "http://a.test/1"
START = "<html><head><title>页岩气产量创新高</title></head><body><h1>页岩气产量创新高</h1>"
TEXT = "".join(f"<p>第{n}段：四川盆地的页岩气产量今年继续增长，新投产的水平井超过计划。</p>" for n in "一二三四五")
REST = f'{TEXT}<p>见<a href="/next">下一页</a>。</p><p>最后一段结束全文。</p>'
PAGES = {
    "ordinary": f"{START}{REST}</body></html>",
    "text after html": f"{START}</body></html>{REST}",
    "second document": f"{START}</body></html><html><body>{REST}</body></html>",
    "deep divs": START + "<div>" * 3_000 + REST,
    "deep font": START + "<font><b>" * 3_000 + REST,
    "title without end": f"<html><head><title>页岩气产量创新高<body>{REST}</body></html>",
    "title with broken end": f"<html><head><title>页岩气产量创新高</titel></head><body>{REST}</body></html>",
    "textarea": f"{START}<textarea name=x>{REST}</body></html>",
    "xmp and iframe": f"{START}<iframe>{REST}</body></html>",
    "comment": f"{START}<!-- navigation ->{REST}</body></html>",
    "comment after a comment": f"{START}<!-- a --><!-- b -{REST}</body></html>",
    "nested forms": f"{START}<form><form>{REST}</form></form></body></html>",
    "table soup": f"{START}<table><tr><td><table><tr></td></table></td>{REST}</tr></table></body></html>",
    "svg": f"{START}<svg><path d='M0'>{REST}</body></html>",
    "video": f"{START}<video src=x>{REST}</body></html>",
    "template": f"{START}<template>{REST}</body></html>",
}


@pytest.mark.parametrize("markup", PAGES.values(), ids=PAGES)
def test_the_end_of_the_page_is_read(markup: str) -> None:
    root, share = parse_html(markup.encode())
    assert root is not None and share == 1.0
    text = "".join(root.find("body").itertext())  # type: ignore[union-attr, arg-type]
    assert "第一段" in text and text.rstrip().endswith("最后一段结束全文。") and "<p>" not in text
    assert END_ID.encode() not in etree.tostring(root)
    article = extract(markup, URL)
    assert not isinstance(article, Outcome), article
    assert all(f"第{n}段" in article.body for n in "一二三四五") and "产量创新高" in article.title
    links = [
        link.url
        for link in parse_links(Page(1, URL, URL, 200, "text/html; charset=utf-8", markup.encode(), "", 0.0)).links
    ]
    assert links == ["http://a.test/next"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<title>My page", "My page"),
        ('<p>hello</p><img src="http://x/1.jpg', "hello"),
        ("<p>hello</p></di", "hello"),
        ("<p>a < b", "a < b"),
        ("<p>" * 6_000 + '<a href="http://x.test/abc', ""),
        ("<p>" * 6_000 + "<textarea>x", "x"),
    ],
)
def test_a_cut_page_shows_neither_its_last_tag_nor_the_mark(markup: str, text: str) -> None:
    root = parse_html(markup.encode())[0]
    assert root is not None and "".join(root.itertext()) == text  # type: ignore[arg-type]
    assert END_ID.encode() not in etree.tostring(root) and not list(root.iter("a"))


@pytest.mark.parametrize("markup", ["", " ", "<!-- a -->", "<!DOCTYPE html>", "\0"])
def test_a_page_without_an_element_has_no_root(markup: str) -> None:
    assert parse_html(markup.encode())[0] is None


@pytest.mark.parametrize("markup", ["<p>a", "a", "<title>a</title>", "<p>a</p>b", "<ul><li>a<li>b", "<table><td>a"])
def test_the_mark_at_the_end_changes_nothing(markup: str) -> None:
    root, plain_root = parse_html(markup.encode())[0], etree.fromstring(markup, etree.HTMLParser())
    assert root is not None and list(root.itertext()) == list(plain_root.itertext())
    assert parse_html(b"<body class=a></body>")[0] is not None


def test_scripts_without_an_end_stay_code() -> None:
    root, _ = parse_html(f"{START}<script>let a = 1;{TEXT}".encode())
    assert root is not None and "第一段" in "".join(root.xpath("//script//text()"))


@pytest.mark.parametrize(
    "piece",
    [
        "<textarea>",
        "<title>",
        "<!--",
        "<![foo[",
        "<div>",
        "</div>",
        '<a href="x>',
        "<b></i>",
        "<template>",
        "<svg>",
        "<?",
    ],
)
def test_hostile_pages_are_parsed_in_bounded_memory(piece: str) -> None:
    """Beautiful Soup gets at most 5,000 tags, and no element is deeper than lxml's limit."""
    root, share = parse_html((START + piece * (1_000_000 // len(piece)) + TEXT).encode())
    assert root is not None and 0 < share <= 1
    assert sum(1 for _ in root.iter()) < 250_000
