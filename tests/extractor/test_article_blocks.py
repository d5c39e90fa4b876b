"""Blocks of articles: every kind of block, positions of links, pictures, and unchanged text."""

import json
import tarfile
from pathlib import Path

import pytest

from benchmarks.results import sample
from domain.article import Block, BlockKind
from extractor.article_blocks import absolute_url, build_blocks
from extractor.body_methods import BODY_METHODS
from extractor.page.layout import join_lines
from extractor.page.parsed_page import Body, ParsedPage, parse_text
from extractor.rendering import to_text
from extractor.settings import ExtractSettings
from text.decoding.decode import decode_page

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
URL = "http://news.test/oil/a.html"
HEADING, ITEM, ROW, QUOTE = BlockKind.HEADING, BlockKind.LIST_ITEM, BlockKind.TABLE_ROW, BlockKind.QUOTE
CODE, PICTURE, CAPTION, TEXT = BlockKind.CODE, BlockKind.PICTURE, BlockKind.CAPTION, BlockKind.PARAGRAPH


def page(inner: str, head: str = "") -> ParsedPage:
    document = parse_text(f"<html><head>{head}</head><body><p>上</p><div id='x'>{inner}</div><p>下</p></body>", URL)
    assert document is not None
    return document


def body_of(document: ParsedPage, *dropped: str) -> Body:
    """Return all lines of the element x except the dropped ones."""
    layout = document.layout
    place = next(n for n, span in enumerate(layout.spans) if span.tag_info.attributes.get("id") == "x")
    span = layout.spans[place]
    kept = tuple(n for n in range(span.start_line, span.end_line) if layout.lines[n].text not in dropped)
    return Body(span_index=place, line_indices=kept, title_line=-1, text=join_lines(layout.lines[n] for n in kept))


def blocks(inner: str, *dropped: str, head: str = "") -> list[Block]:
    document = page(inner, head)
    body = body_of(document, *dropped)
    actual_blocks = build_blocks(document, body)
    assert to_text(actual_blocks) == body.text  # the law, on every page of this file
    return list(actual_blocks)


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<p>甲</p>乙<br>丙", [Block(TEXT, "甲"), Block(TEXT, "乙"), Block(TEXT, "丙")]),
        ("<h2>甲</h2><h6><span>乙</span></h6>", [Block(HEADING, "甲", 2), Block(HEADING, "乙", 6)]),
        ("<ul><li>甲<li><p>乙</p></ul>", [Block(ITEM, "甲", 1), Block(ITEM, "乙", 1)]),
        ("<ol><li>甲<ul><li>乙</ul></ol>", [Block(ITEM, "甲", 1, True), Block(ITEM, "乙", 2)]),
        ("<ul><li>甲<br>乙<li>丙</ul>", [Block(ITEM, "甲\n乙", 1), Block(ITEM, "丙", 1)]),
        ("<li>甲", [Block(ITEM, "甲", 1)]),
        ("<ul><li><h3>甲</h3>乙</ul>", [Block(HEADING, "甲", 3), Block(ITEM, "乙", 1)]),
        ("<blockquote>甲<p>乙</blockquote>", [Block(QUOTE, "甲"), Block(QUOTE, "乙")]),
        ("<blockquote><ul><li>甲</ul></blockquote>", [Block(ITEM, "甲", 1)]),
        ("<table><tr><td>甲<td>乙<tr><td>丙<td>丁</table>", [Block(ROW, "甲\t乙"), Block(ROW, "丙\t丁")]),
        ("<table><tr><th>甲<th>乙<tr><th>丙<td>丁</table>", [Block(ROW, "甲\t乙", 1), Block(ROW, "丙\t丁")]),
        ("<table><tr><td>甲<td><tr><td>丙<td>丁</table>", [Block(ROW, "甲"), Block(ROW, "丙\t丁")]),
        (f"<table><tr><td>甲<td>{'乙' * 40}</table>", [Block(TEXT, "甲"), Block(TEXT, "乙" * 40)]),
        ("<figure><figcaption>甲</figcaption></figure>", [Block(CAPTION, "甲")]),
        ("<p class='wp-caption'>甲", [Block(CAPTION, "甲")]),
    ],
    ids=[
        "paragraphs", "headings", "list", "nested list", "item of two lines", "item without list", "heading in item",
        "quote", "list in quote", "table", "heading row", "row with one cell", "table of layout", "caption", "by class",
    ],
)  # fmt: skip
def test_kinds(inner: str, expected: list[Block]) -> None:
    assert blocks(inner) == expected


def test_code_keeps_line_breaks_indentation_and_empty_lines() -> None:
    actual_blocks = blocks(
        "<p>see</p><pre><code>\ndef f(x):\n    <b>return</b> x\n\n\n\tpass  \n</code></pre><pre>ls -l</pre>"
    )
    assert actual_blocks == [
        Block(TEXT, "see"),
        Block(CODE, "def f(x):\n    return x\n\n\n\tpass"),
        Block(CODE, "ls -l"),
    ]
    assert to_text(actual_blocks).split("\n") == ["see", "def f(x):", "    return x", "\tpass", "ls -l"]


def test_preformatted_prose_is_paragraphs() -> None:
    inner = "<pre>　　大庆油田今天宣布，产量创新高。\n\n　　PDC 钻头也是。</pre>"
    assert blocks(inner) == [Block(TEXT, "大庆油田今天宣布，产量创新高。"), Block(TEXT, "PDC 钻头也是。")]


def test_an_item_around_the_article_is_none() -> None:
    inner = "<ul><li>" + "".join(f"<p>第{n}段</p>" for n in range(9)) + "</li></ul>"
    assert {block.kind for block in blocks(inner)} == {TEXT}


@pytest.mark.parametrize("tag", ["li", "blockquote", "h2", "figure"])
def test_the_body_s_own_element_says_nothing(tag: str) -> None:
    document = parse_text(f"<body><{tag} id='x'>甲<br>乙</{tag}>", URL)
    assert document is not None
    assert [block.kind for block in build_blocks(document, body_of(document))] == [TEXT, TEXT]


@pytest.mark.parametrize(
    ("inner", "links"),
    [
        ("中国<a href='/1'>石油</a>。", [("石油", "http://news.test/1")]),
        ("中国\n <a href='b.html'> 石\n油 </a> 。", [("石油", "http://news.test/oil/b.html")]),
        ("of  the <a href='http://x.test/'> oil  field </a>!", [("oil field", "http://x.test/")]),
        ("<a href='//x.test/1?a=1&amp;b=2'>甲</a>乙<a href='?q'>丙</a>", [
            ("甲", "http://x.test/1?a=1&b=2"), ("丙", "http://news.test/oil/a.html?q"),
        ]),
        ("<a href='/1'>甲<br>乙</a>", [("甲", "http://news.test/1"), ("乙", "http://news.test/1")]),
        ("<a href='javascript:x()'>甲</a><a href='mailto:a@b'>乙</a><a href='#t'>丙</a><a name=x>丁</a>", []),
        ("<a href='http://[x'>甲</a><a href=''>乙</a><a href='/1'> </a>丙", []),
    ],
    ids=["place", "Chinese line breaks", "white space", "relative", "two lines", "no web", "broken"],
)  # fmt: skip
def test_links(inner: str, links: list[tuple[str, str]]) -> None:
    actual_blocks = [(block.text[start:end], url) for block in blocks(inner) for start, end, url in block.links]
    assert actual_blocks == links


def test_links_of_an_item_of_two_lines_stay_in_place() -> None:
    (block,) = blocks("<ul><li>甲<a href='/1'>乙</a><br>丙<a href='/2'>丁</a></ul>")
    assert [(block.text[start:end], url[-1]) for start, end, url in block.links] == [("乙", "1"), ("丁", "2")]


def test_the_base_element_counts() -> None:
    (block,) = blocks("<a href='1'>甲</a>", head="<base href='/new/'>")
    assert block.links == ((0, 1, "http://news.test/new/1"),)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        (" /a b ", "http://news.test/a%20b"), ("/a\n\tb", "http://news.test/ab"), ("HTTPS://x.test", "HTTPS://x.test"),
        ("java\nscript:alert(1)", ""), ("data:text/html,x", ""), ("http:///x", ""), ("http://", ""), ("x" * 3_000, ""),
        ("/新闻", "http://news.test/新闻"),
    ],
    ids=repr,
)  # fmt: skip
def test_absolute(href: str, url: str) -> None:
    assert absolute_url(href, URL) == url


def test_a_page_without_address_has_only_absolute_links() -> None:
    document = parse_text("<div id='x'><a href='/1'>甲</a><a href='http://x.test/2'>乙</a></div>", "")
    assert document is not None
    assert [link[2] for block in build_blocks(document, body_of(document)) for link in block.links] == [
        "http://x.test/2"
    ]


@pytest.mark.parametrize(
    ("image", "url"),
    [
        ("src='1.jpg'", "http://news.test/oil/1.jpg"),
        ("src='blank.gif' data-src='/2.jpg'", "http://news.test/2.jpg"),
        ("src='data:image/gif;base64,R0' data-original='//x.test/3.jpg'", "http://x.test/3.jpg"),
        ("srcset='s.jpg 300w, l.jpg 1200w, m.jpg 600w'", "http://news.test/oil/l.jpg"),
        ("src='/static/loading.gif' srcset='4.jpg 1x'", "http://news.test/oil/4.jpg"),
        ("src='4.jpg' width='1' height='1'", ""),
        ("src='5.jpg' width='100%' height='400'", "http://news.test/oil/5.jpg"),
        ("src='/img/icon-share.png'", ""),
        ("src='6.jpg' class='avatar'", ""),
        ("src='/qrcode.png'", ""),
        ("src='data:image/png;base64,R0'", ""),
        ("src='javascript:alert(1)'", ""),
        ("alt='x'", ""),
    ],
)
def test_pictures(image: str, url: str) -> None:
    actual_blocks = blocks(f"<p>甲</p><img {image}><p>乙</p>")
    assert [block.url for block in actual_blocks if block.kind is PICTURE] == [url] * bool(url)


@pytest.mark.parametrize(
    ("image", "url"),
    [
        ("src='data:,'", "http://news.test/oil/l.webp"),
        ("src='/blank.gif' class='lazy'", "http://news.test/oil/l.webp"),
        ("src='1.jpg'", "http://news.test/oil/1.jpg"),
    ],
)
def test_a_source_stands_in_for_a_placeholder(image: str, url: str) -> None:
    sources = "<source srcset='s.webp, l.webp 2x' type='image/webp'><source srcset='p.png' media='print'>"
    actual_blocks = blocks(f"<p>甲</p><picture>{sources}<img {image}></picture><p>乙<b>丙</b></p><img src='2.jpg'>")
    assert [block.url for block in actual_blocks if block.kind is PICTURE] == [url, "http://news.test/oil/2.jpg"]


@pytest.mark.parametrize(
    ("inner", "kinds"),
    [
        ("<img src='1.jpg'><p>甲</p><p>乙</p>", [PICTURE, TEXT, TEXT]),
        ("<p>甲</p><p><img src='1.jpg'></p><p>乙</p>", [TEXT, PICTURE, TEXT]),
        ("<p>甲</p><p>乙</p><img src='1.jpg'>", [TEXT, TEXT, PICTURE]),
        ("<p>甲</p><img src='1.jpg'><img src='1.jpg'><p>乙</p>", [TEXT, PICTURE, TEXT]),
        ("<p>甲</p><div class='related'><img src='1.jpg'></div><p>乙</p>", [TEXT, TEXT]),
        ("<table><tr><td><img src='1.jpg'>甲<td>乙<td>丙</table><p>丁</p><p>戊</p>", [PICTURE, ROW, TEXT, TEXT]),
    ],
    ids=["before", "between", "behind", "twice", "in an aside", "in a row"],
)
def test_pictures_stand_where_they_stood(inner: str, kinds: list[BlockKind]) -> None:
    assert [block.kind for block in blocks(inner)] == kinds


def test_pictures_outside_the_body_stay_out() -> None:
    document = page("<p>甲</p>")
    document.layout.pictures.clear()
    outside = parse_text("<img src='0.jpg'><div id='x'><p>甲</p></div><div><img src='9.jpg'></div>", URL)
    assert outside is not None
    assert [block.kind for block in build_blocks(outside, body_of(outside))] == [TEXT]


def test_a_caption_that_the_text_leaves_out_follows_its_picture() -> None:
    figure = "<figure><img src='1.jpg' alt='A rig'><figcaption>The rig at sea</figcaption></figure>"
    assert blocks(f"{figure}<p>Text.</p>", "The rig at sea") == [
        Block(PICTURE, "A rig", url="http://news.test/oil/1.jpg"),
        Block(CAPTION, "The rig at sea", 1),
        Block(TEXT, "Text."),
    ]
    assert [block.level for block in blocks(f"{figure}<p>Text.</p>") if block.kind is CAPTION] == [0]


@pytest.mark.shared
@pytest.mark.parametrize("pages", [24, pytest.param(10_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", sorted(path.parent.name for path in (DATA / "extraction").glob("*/gold.json")))
def test_the_text_of_the_blocks_is_the_body(name: str, pages: int) -> None:
    method = BODY_METHODS["blocks"](ExtractSettings())
    gold = json.loads((DATA / "extraction" / name / "gold.json").read_text(encoding="utf-8"))
    urls = {row["id"]: row.get("url") or "" for row in gold["pages"]}
    seen = 0
    with tarfile.open(DATA / "extraction" / name / "pages.tar.xz") as archive:
        for member in sample(archive.getmembers(), pages, lambda member: member.name):
            file = archive.extractfile(member)
            decoded = decode_page(file.read()) if file is not None else None
            document = parse_text(decoded.text, urls.get(Path(member.name).stem, "")) if decoded else None
            body = method.choose_body(document) if document is not None else None
            if document is None or body is None:
                continue
            actual_blocks = build_blocks(document, body)
            assert to_text(actual_blocks) == body.text, member.name
            assert all(0 <= start < end <= len(one.text) for one in actual_blocks for start, end, _ in one.links), (
                member.name
            )
            seen += 1
    assert seen > 12


@pytest.mark.shared
def test_hostile_pages() -> None:
    method = BODY_METHODS["blocks"](ExtractSettings())
    for name in ("html_tree", "html_tok", "xss"):
        for row in (DATA / "hostile" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            document = parse_text(json.loads(row).get("text", ""), URL)
            body = method.choose_body(document) if document is not None else None
            if document is not None and body is not None:
                assert to_text(build_blocks(document, body)) == body.text
