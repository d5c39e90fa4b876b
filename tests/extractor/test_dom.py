"""Parsing accepts any input; cleaning removes only elements that are never read."""

import pytest

from domain.article import Article, BlockKind
from domain.outcome import Outcome, Reason
from extractor import extract
from extractor.article_extractor import ArticleExtractor
from extractor.page import dom
from extractor.page.layout import Layout, join_lines
from extractor.page.parsed_page import decode_page, parse_text
from text.decoding.html_limits import MAX_TAGS_AND_ATTRIBUTES


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
        "each", "in a comment", "comment in a script", "end tags", "no script", "open", "open comment", "short",
        "drawing", "open drawings", "not shown", "data",
    ],
)  # fmt: skip
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


# -- Pages are read as browsers show them: late text, shadow roots, invisible elements, pictures, cut pages.


URL = "http://news.test/2024/05/01/harbour-opened-again.html"
SENTENCE = "The harbour was opened again on Monday, the authority of the port said in statement {}."
PARAGRAPHS = [f"<p>{SENTENCE.format(number)}</p>" for number in range(4)]


def lines_of(html: str) -> list[str]:
    page = parse_text(html, URL)
    assert page is not None
    return join_lines(page.layout.lines).split("\n")


@pytest.mark.parametrize(
    "html",
    [
        "<html><body><p>one</p></body></html><p>two</p>",
        "<html><body><p>one</p></BODY ><p>two</p></html>",
        "<p>one</p></html><!-- x --></html\n><table><tr><td>two</td></tr></table>",
        "<html><head><title>a</title></head><body><p>one</p></body></html>"
        "<!doctype html><html><head><title>b</title></head><body class=b><p>two</p></body></html>",
        "<body><p>one</p></body><body><p>two</p></body>",
        "<body><div><p>one</p></body></html><p>two</p></div>",
        "<body><p>one</p></body></html",
    ],
)
def test_text_after_the_end_tags_is_read(html: str) -> None:
    assert lines_of(html) == ["one", "two"][: html.count("one") + html.count("two")]


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<x-a><template shadowrootmode=open><p>one</p><slot></slot></template><p>two</p></x-a>", ["one", "two"]),
        ("<div><template shadowrootmode=closed><p>one</p></template>not shown<p>nor this</p></div>", ["one"]),
        (
            "<x-a><p slot=b>two</p> tail<template shadowrootmode=open><slot>none</slot><slot name=b><p>x</p></slot>"
            "<slot name=c><p>own</p></slot></template></x-a>",
            ["tail", "two", "own"],
        ),
        (
            "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open><p>in</p><slot></slot></template>"
            "<slot></slot></x-b></template><p>out</p></x-a>",
            ["in", "out"],
        ),
        ("<template><p>not shown</p></template><p>one</p>", ["one"]),
        ("<template shadowrootmode=open><p>one</p></template>", ["one"]),
    ],
    ids=["default slot", "no slot", "named slots", "nested", "no root", "of the body"],
)
def test_shadow_roots_are_shown(html: str, lines: list[str]) -> None:
    assert [line.strip() for line in lines_of(html)] == lines


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<td><span style='display:none' class=sortkey>700427</span>27,991</td>", "27,991"),
        (
            "<p>one <span hidden>no</span>two <i class='d-none'>no</i><em style='DISPLAY : none'>no</em></p>",
            "one two",
        ),
        ("<p>one <a class=sr-only href=/x>no</a><b>two</b></p>", "one two"),
        ("<p>one <span class=visually-hidden>no <a href=/a>no</a> <b>no</b></span><a href=/b>two</a></p>", "one two"),
        ("<p>a<span aria-hidden=true>one</span></p>", "aone"),
        ("<p>one <span class='hidden md:inline'>two</span></p>", "one two"),
    ],
    ids=["style", "attribute and class", "link", "links inside", "only from screen readers", "on small screens"],
)
def test_invisible_inline_elements_are_left_out(html: str, line: str) -> None:
    assert lines_of(f"<table><tr>{html}</tr></table>" if html.startswith("<td") else html) == [line]


def test_invisible_elements_keep_their_metadata() -> None:
    hidden = "<span class=author hidden>Jane Doe</span>"
    article = extract(f"<h1>Harbour opened again</h1><p>{hidden}</p>{''.join(PARAGRAPHS)}", URL)
    assert isinstance(article, Article)
    assert (article.author, "Jane" in article.body) == ("Jane Doe", False)


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=/thumb.jpg width=30><noscript><img src=/a.jpg width=800></noscript>",
        "<img src='data:image/gif;base64,AA'><noscript><p><img alt='x' src='/a.jpg'/></p></noscript>",
        "<amp-img src=/a.jpg width=800 height=400></amp-img>",
        "<amp-img src=/a.jpg><noscript><img src=/a.jpg></noscript></amp-img>",
        "<img src=static/none.gif file=/b.jpg zoomfile=/a.jpg>",
        "<img src=static/none.gif file=/a.jpg>",
    ],
)
def test_pictures_that_a_script_would_load(picture: str) -> None:
    article = extract(f"<h1>Harbour opened again</h1>{PARAGRAPHS[0]}<p>{picture}</p>{''.join(PARAGRAPHS[1:])}", URL)
    assert isinstance(article, Article)
    pictures = [block.url for block in article.blocks if block.kind is BlockKind.PICTURE]
    assert (pictures, article.picture) == (["http://news.test/a.jpg"], "http://news.test/a.jpg")


@pytest.mark.parametrize("is_article", [True, False])
def test_a_page_that_is_cut_says_so_with_its_share(is_article: bool) -> None:
    text = f"<h1>Harbour opened again</h1>{''.join(PARAGRAPHS)}" if is_article else ""
    result = ArticleExtractor().extract_with_site(f"{text}{'<i></i>' * 2 * MAX_TAGS_AND_ATTRIBUTES}", URL)
    outcome = result.warning if is_article else result.result
    assert isinstance(outcome, Outcome)
    assert outcome.reason is (Reason.INCOMPLETE_BODY if is_article else Reason.NO_BODY)
    assert ("its first 50% was read" if is_article else "only the first 50% of the page was read") in outcome.detail


FORMULA = "<math><semantics><mrow><mi>v</mi><mo>=</mo><mfrac><mi>s</mi><mi>t</mi></mfrac></mrow>{}</semantics></math>"
TEX = FORMULA.format("<annotation encoding='application/x-tex'>v=\\frac{s}{t}</annotation>")


@pytest.mark.parametrize(
    "formula",
    [
        TEX,
        f"<span class=katex><span class=katex-mathml>{TEX}</span><span aria-hidden=true>v=s</span></span>",
        f"<span><span style='display: none'>{TEX}</span><img src=a.svg aria-hidden=true alt='v'></span>",
        f"<span class=MathJax><nobr aria-hidden=true>v=s</nobr><span role=presentation>{TEX}</span></span>",
        f"<mjx-container><mjx-math aria-hidden=true><mjx-mi></mjx-mi></mjx-math><mjx-assistive-mml>{TEX}"
        "</mjx-assistive-mml></mjx-container>",
    ],
    ids=["plain", "katex", "picture", "mathjax 2", "mathjax 3"],
)
def test_a_formula_is_shown_once(formula: str) -> None:
    assert lines_of(f"<p>The speed {formula} is known.</p><p aria-hidden=true>two</p>") == [
        "The speed v=s/t is known.",
        "two",
    ]


@pytest.mark.parametrize(
    "word",
    [
        "<ruby>钻<rp>(</rp><rt>zuàn</rt><rp>)</rp>杆<rp>(</rp><rt>gǎn</rt><rp>)</rp></ruby>",
        "<ruby><rb>钻杆</rb><rtc><rt>zuàn gǎn</rt></rtc></ruby>", "<ruby>钻杆<rt>zuàn gǎn</ruby>",
    ],
)  # fmt: skip
def test_the_reading_of_a_word_is_no_part_of_it(word: str) -> None:
    assert lines_of(f"<p>铝合金{word}应当合格。</p>") == ["铝合金钻杆应当合格。"]
