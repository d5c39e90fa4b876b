"""Parsing accepts any input; cleaning removes only elements that are never read."""

import pytest

from extractor.page import dom
from extractor.page.layout import Layout
from extractor.page.parsed_page import decode_page, parse_text


def text_after_cleaning(html: str) -> str:
    root = dom.parse(html)
    assert root is not None
    dom.remove_unread_elements(root)
    return dom.element_text(root)


@pytest.mark.parametrize("html", ["", " \n", "\x00", "<!-- x -->", "<!doctype html>"], ids=repr)
def test_a_page_without_an_element_is_not_parsed(html: str) -> None:
    assert dom.parse(html) is None


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a\x00b\x0bc", "abc"),
        ("\ud800好", "好"),
        ('<?xml version="1.0" encoding="gb2312"?><rss><a>新闻</a></rss>', "新闻"),
        ("<p>甲<script>x</script>乙<style>y</style>丙<iframe>z</iframe>丁<noscript>w</noscript>戊", "甲乙丙丁戊"),
        ("<head><title>题</title></head><body>文", "题文"),
        ("<p>甲<button>分享</button>乙<select><option>北京</select>丙", "甲乙丙"),
        ("<button><div><p>正文在没有关闭的按钮里", "正文在没有关闭的按钮里"),
        ("<head><head><p>正文在头里", "正文在头里"),
    ],
    ids=["control", "surrogate", "xml", "dead", "title", "controls", "unclosed button", "text in head"],
)
def test_cleaning_keeps_readable_text(html: str, text: str) -> None:
    assert text_after_cleaning(html) == text


@pytest.mark.parametrize(
    ("html", "left", "linked_data"),
    [
        ("a<script>b</script>c<STYLE>d</STYLE >e<!-- f -->g", "aceg", ()),
        ("<!-- <script> -->a<script>b</script>", "a", ()),
        ("a<script>'<!--'</script>b<!-- c -->d", "abd", ()),
        ("a<script>b</scripture></script\n>c", "ac", ()),
        ("a<scripted>b", "a<scripted>b", ()),
        ("a<script>b", "a<script>b", ()),
        ("a<!-- b", "a<!-- b", ()),
        ("a<!-->b", "ab", ()),
        ("a<svg><title>b</title></svg>c<svg>d<script>e</script>f", "ac<svg>df", ()),
        ("a<svg>b<svg>c<script>d</script>e", "a<svg>b<svg>ce", ()),
        ("a<noscript>b</noscript>c<noscripts>d", "ac<noscripts>d", ()),
        ("<script type='application/ld+json'>{}</script><script>x = 'application/ld+json'</script>", "", ("{}",)),
    ],
    ids=[
        "each",
        "in a comment",
        "comment in a script",
        "end tags",
        "no script",
        "open",
        "open comment",
        "short",
        "drawing",
        "open drawings",
        "not shown",
        "data",
    ],
)
def test_scripts_end_where_browsers_end_them(html: str, left: str, linked_data: tuple[str, ...]) -> None:
    source = decode_page(html)
    assert source is not None
    assert (source.text, source.json_ld) == (left, linked_data)


@pytest.mark.parametrize("depth", [300, 5_000, 100_000])
@pytest.mark.parametrize("tag", ["div", "b", "blockquote"])
def test_deep_nesting_keeps_all_text(depth: int, tag: str) -> None:
    html = f"<p>before</p>{f'<{tag}>' * depth}DEEP<script>no</script>{f'</{tag}>' * depth}<p>after</p>"
    assert text_after_cleaning(html).replace(" ", "") == "beforeDEEPafter"


def layout(html: str) -> Layout:
    document = parse_text(html, "")
    assert document is not None
    return document.layout


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<div><h1>标题</h1><p>正文<br>第二行</p></div>", ["标题", "正文", "第二行"]),
        ("<p>中国<b>石油</b><a href='/'>报道</a></p>", ["中国石油报道"]),
        ("<p>中国\n  石油 and\n gas</p>", ["中国石油 and gas"]),
        ("<pre>one\n  two</pre>", ["one", "  two"]),
        ("<div>甲<div>乙</div>丙</div>", ["甲", "乙", "丙"]),
        ("<table><tr><td>油价<td>60.5<td>美元</table>", ["油价 60.5 美元"]),
        (f"<table><tr><td>导航<td>{'正文很长。' * 9}</table>", ["导航", "正文很长。" * 9]),
    ],
    ids=["blocks and breaks", "inline", "white space", "pre", "mixed", "row of data", "row of layout"],
)
def test_lines_are_the_visible_lines(html: str, lines: list[str]) -> None:
    assert [line.text for line in layout(html).lines] == lines


def test_size_links_and_punctuation_of_a_line() -> None:
    line = layout("<p>中国，<a href='/'>石油</a> gas.</p>").lines[0]
    assert (line.size, line.link_size, line.punctuation_count) == (pytest.approx(5 + 4 / 3), 2.0, 2)


def test_a_span_contains_the_lines_of_its_element() -> None:
    page_layout = layout("<div id='a'><p>甲</p><table><tr><td>乙<td>丙</table></div><p>丁</p>")
    spans = {
        span.tag_info.attributes.get("id", span.tag_info.tag): (span.start_line, span.end_line)
        for span in page_layout.spans
    }
    assert spans["a"] == (0, 2)
    assert spans["tr"] == spans["td"] == (1, 2)
    assert spans["body"] == (0, 3)


def test_unclosed_inline_elements_have_bounded_text() -> None:
    notes = layout("<span class='date'>" * 200 + "正文，很长。<br>" * 5_000).inline_elements
    assert len(notes) > 100
    assert max(len(note.text) for note in notes) <= 2_000
