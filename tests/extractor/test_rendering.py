"""Blocks as text, HTML, Markdown and JSON: the output, and that text never becomes markup."""

import json
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from domain.article import Article, Block, BlockKind
from extractor.rendering import to_html, to_json, to_markdown, to_text

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
URL = "http://news.test/1"
TEXT, HEADING, ITEM, ROW, QUOTE, CODE, PICTURE, CAPTION = (
    *(BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.LIST_ITEM, BlockKind.TABLE_ROW, BlockKind.QUOTE),
    *(BlockKind.CODE, BlockKind.PICTURE, BlockKind.CAPTION),
)
FENCE = "```"


def item(text: str, level: int = 1, ordered: bool = False) -> Block:
    return Block(ITEM, text, level, ordered)


CASES: dict[str, tuple[list[Block], str, str, str]] = {
    "nothing": ([], "", "", ""),
    "paragraphs": ([Block(TEXT, "中国石油"), Block(TEXT, "Oil & gas")], "中国石油\nOil & gas",
        "<p>中国石油</p>\n<p>Oil &amp; gas</p>", "中国石油\n\nOil & gas\n"),
    "heading": ([Block(HEADING, "产量 #1", 3)], "产量 #1", "<h3>产量 #1</h3>", "### 产量 #1\n"),
    "level out of range": ([Block(HEADING, "甲", 9)], "甲", "<h6>甲</h6>", "###### 甲\n"),
    "list": ([item("甲"), item("乙")], "甲\n乙", "<ul><li>甲</li><li>乙</li></ul>", "- 甲\n- 乙\n"),
    "numbered": ([item("a", 1, True), item("b", 1, True)], "a\nb", "<ol><li>a</li><li>b</li></ol>", "1. a\n2. b\n"),
    "nested list": ([item("甲", 1, True), item("乙", 2), item("丙", 2), item("丁", 1, True)], "甲\n乙\n丙\n丁",
        "<ol><li>甲<ul><li>乙</li><li>丙</li></ul></li><li>丁</li></ol>", "1. 甲\n   - 乙\n   - 丙\n2. 丁\n"),
    "two lists": ([item("甲"), item("乙", 1, True)], "甲\n乙", "<ul><li>甲</li></ul><ol><li>乙</li></ol>",
        "- 甲\n1. 乙\n"),
    "deep first": ([item("甲", 3), item("乙", 1)], "甲\n乙",
        "<ul><li>甲</li></ul><ul><li>乙</li></ul>", "- 甲\n- 乙\n"),
    "item of two lines": ([item("甲\n乙")], "甲\n乙", "<ul><li>甲<br>乙</li></ul>", "- 甲\n\n  乙\n"),
    "table": ([Block(ROW, "年\t产量", 1), Block(ROW, "2023\t2|08")], "年 产量\n2023 2|08",
        "<table><tr><th>年</th><th>产量</th></tr><tr><td>2023</td><td>2|08</td></tr></table>",
        "| 年 | 产量 |\n| --- | --- |\n| 2023 | 2\\|08 |\n"),
    "table without head": ([Block(ROW, "甲\t乙"), Block(ROW, "丙")], "甲 乙\n丙",
        "<table><tr><td>甲</td><td>乙</td></tr><tr><td>丙</td></tr></table>",
        "|  |  |\n| --- | --- |\n| 甲 | 乙 |\n| 丙 |  |\n"),
    "empty cell": ([Block(ROW, "甲\t\t丙")], "甲 丙",
        "<table><tr><td>甲</td><td></td><td>丙</td></tr></table>", "|  |  |  |\n| --- | --- | --- |\n| 甲 |  | 丙 |\n"),
    "quote": ([Block(QUOTE, "甲"), Block(QUOTE, "乙")], "甲\n乙", "<blockquote><p>甲</p><p>乙</p></blockquote>",
        "> 甲\n>\n> 乙\n"),
    "code": ([Block(CODE, "if a < b:\n    x()\n\ny")], "if a < b:\n    x()\ny",
        "<pre><code>\nif a &lt; b:\n    x()\n\ny</code></pre>", f"{FENCE}\nif a < b:\n    x()\n\ny\n{FENCE}\n"),
    "backticks in code": ([Block(CODE, FENCE)], FENCE, f"<pre><code>\n{FENCE}</code></pre>", f"````\n{FENCE}\n````\n"),
    "link": ([Block(TEXT, "见石油网。", links=((1, 4, URL),))], "见石油网。", f'<p>见<a href="{URL}">石油网</a>。</p>',
        f"见[石油网]({URL})。\n"),
    "picture": ([Block(PICTURE, "钻机", url=f"{URL}.jpg"), Block(CAPTION, "图1")], "图1",
        f'<figure><img src="{URL}.jpg" alt="钻机"><figcaption>图1</figcaption></figure>',
        f"![钻机]({URL}.jpg)\n\n*图1*\n"),
    "caption beside the text": ([Block(PICTURE, "", url=URL), Block(CAPTION, "A rig", 1)], "",
        f'<figure><img src="{URL}" alt=""><figcaption>A rig</figcaption></figure>', f"![]({URL})\n\n*A rig*\n"),
    "caption alone": ([Block(CAPTION, "图1")], "图1", "<p>图1</p>", "图1\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_text(name: str) -> None:
    blocks, text, _, _ = CASES[name]
    assert to_text(blocks) == text


@pytest.mark.parametrize("name", CASES)
def test_html(name: str) -> None:
    blocks, _, html, _ = CASES[name]
    assert to_html(blocks) == html


@pytest.mark.parametrize("name", CASES)
def test_markdown(name: str) -> None:
    blocks, _, _, markdown = CASES[name]
    assert to_markdown(blocks) == markdown


def markdown_tokens(markdown: str) -> list[Any]:
    """Return the tokens of a CommonMark parser with tables, including inline tokens."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(markdown)
    return [one for token in tokens for one in (token, *(token.children or ()))]


TRAPS = [
    "# no heading", "- no item", "+ no item", "* no item", "1. no item", "12) no item", "> no quote", "---", "***",
    "===", "    no code", "`no code`", "*no* _emphasis_ __strong__ **strong**", "~~no~~", "[no](http://link)",
    "![no](http://picture)", "<b>no</b>", "<http://no.link>", "&lt;b&gt;", "[no]: http://reference", "a\\", "\\*a*",
    "| no | table |", "``` no fence", "~~~", "snake_case_name", "中文*强调*中文", "!", "1986. A year",
    "C #", "a ##", "#", "&copy; &#42;no&#42;", "a | b",
]  # fmt: skip


@pytest.mark.parametrize("text", TRAPS)
@pytest.mark.parametrize("kind", [TEXT, HEADING, ITEM, QUOTE, CAPTION, ROW])
def test_no_text_becomes_markdown(text: str, kind: BlockKind) -> None:
    tokens = markdown_tokens(to_markdown([Block(TEXT, "before"), Block(kind, text, 1), Block(TEXT, "after")]))
    shown = "".join(token.content for token in tokens if token.type in ("text", "text_special"))
    assert shown == f"before{text.strip()}after"
    allowed = {
        *("inline", "text", "text_special", "paragraph_open", "paragraph_close"),
        *{HEADING: ("heading_open", "heading_close"), QUOTE: ("blockquote_open", "blockquote_close")}.get(kind, ()),
        *(("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close") if kind is ITEM else ()),
    }
    found = {token.type for token in tokens}
    assert kind is ROW or found <= allowed
    assert kind is not ROW or not found & {"em_open", "strong_open", "link_open", "image", "code_inline", "html_inline"}


@pytest.mark.parametrize("text", TRAPS)
def test_no_second_line_of_an_item_becomes_markdown(text: str) -> None:
    tokens = markdown_tokens(to_markdown([item(f"first\n{text}"), item("second")]))
    assert [token.type for token in tokens].count("list_item_open") == 2
    assert not {token.type for token in tokens} & {"heading_open", "code_block", "fence", "hr", "html_block"}


@pytest.mark.parametrize(
    "url",
    [
        "http://x.test/a(b)c",
        "http://x.test/a b",
        "http://x.test/<b>|`*",
        "http://x.test/?a=1&lt;=2",
        "http://x.test/新",
    ],
)
def test_addresses_survive_markdown(url: str) -> None:
    tokens = markdown_tokens(to_markdown([Block(TEXT, "甲乙丙", links=((1, 2, url),))]))
    (link,) = [token for token in tokens if token.type == "link_open"]
    href = str(link.attrs["href"])
    assert href.startswith("http://x.test/") and not set(href) & set(" ()<>|`")
    assert [token.content for token in tokens if token.type == "text"] == ["甲", "乙", "丙"]


@pytest.mark.parametrize(
    "links",
    [
        ((0, 1, "javascript:alert(1)"),), ((0, 1, "data:text/html,x"),), ((0, 1, "http:"),), ((0, 1, "/path"),),
        ((0, 9, URL),), ((-1, 1, URL),), ((1, 1, URL),), ((0, 1, "\x01http://x"),),
    ],
    ids=str,
)  # fmt: skip
def test_links_that_lead_nowhere_are_text(links: tuple[tuple[int, int, str], ...]) -> None:
    blocks = [Block(TEXT, "甲乙", links=links)]
    assert (to_html(blocks), to_markdown(blocks)) == ("<p>甲乙</p>", "甲乙\n")


def test_links_that_overlap_are_linked_once() -> None:
    block = Block(TEXT, "甲乙丙", links=((1, 3, "http://b.test/"), (0, 2, "http://a.test/")))
    assert to_html([block]) == '<p><a href="http://a.test/">甲乙</a>丙</p>'


def test_a_picture_without_a_web_address_is_not_drawn() -> None:
    for url in ("", "javascript:alert(1)", "data:image/svg+xml,<svg onload=alert(1)>"):
        blocks = [Block(PICTURE, "x", url=url), Block(CAPTION, "图", 1)]
        assert (to_html(blocks), to_markdown(blocks)) == ("<p>图</p>", "*图*\n")


def every_kind(text: str) -> list[Block]:
    """Return blocks with a hostile text in every text and URL."""
    whole = ((0, len(text), f"http://x.test/{text}"),)
    wild = ((0, len(text), text),)
    made = [Block(kind, text, 1, False, "", links) for kind in BlockKind for links in (whole, wild)]
    return [*made, Block(PICTURE, text, url=f"https://x.test/{text}"), Block(PICTURE, text, url=text)]


SAFE = {
    "p": set(), "a": {"href"}, "br": set(), "blockquote": set(), "pre": set(), "code": set(), "table": set(),
    "tbody": set(), "tr": set(), "td": set(), "th": set(), "ul": set(), "ol": set(), "li": set(), "figure": set(),
    "img": {"src", "alt"}, "figcaption": set(), "h1": set(), "html": set(), "body": set(), "head": set(), "div": set(),
}  # fmt: skip


@pytest.mark.shared
def test_hostile_texts_are_text_in_html() -> None:
    rows = [json.loads(row) for row in (HOSTILE / "xss.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 500
    for row in rows:
        html = to_html(every_kind(row["text"]))
        for element in elements(html):
            name, attributes = element
            assert attributes.keys() <= SAFE[name], (row["id"], element)
            for address in (attributes.get("href"), attributes.get("src")):
                assert address is None or address.lower().startswith(("http://", "https://")), (row["id"], element)


def elements(html: str) -> list[tuple[str, dict[str, str]]]:
    """Return all elements with their attributes, as two parsers see them."""
    by_lxml = [
        (str(one.tag), {str(k): str(v) for k, v in one.attrib.items()})
        for one in lxml.html.fromstring(f"<div>{html}</div>").iter()
    ]
    soup = BeautifulSoup(html, "html.parser")
    return by_lxml + [(tag.name, {key: str(value) for key, value in tag.attrs.items()}) for tag in soup.find_all(True)]


@pytest.mark.shared
def test_hostile_texts_are_text_in_markdown() -> None:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for row in (HOSTILE / "xss.jsonl").read_text(encoding="utf-8").splitlines():
        text = " ".join(json.loads(row)["text"].split())
        tokens = parser.parse(to_markdown([Block(kind, text, 1) for kind in BlockKind if kind is not CODE]))
        kinds = {one.type for token in tokens for one in (token, *(token.children or ()))}
        assert not kinds & {"html_block", "html_inline", "link_open", "image", "code_inline", "fence", "hr"}, text


def test_json_has_every_field() -> None:
    article = Article(
        URL, "题", "甲", keywords=("油",), blocks=(Block(HEADING, "甲", 2, links=((0, 1, URL),)),), signature=(7,)
    )
    made = json.loads(to_json(article))
    assert made.keys() == Article.__dataclass_fields__.keys()
    assert (made["title"], made["keywords"], made["signature"]) == ("题", ["油"], [7])
    expected = {"kind": "heading", "text": "甲", "level": 2, "ordered": False, "url": "", "links": [[0, 1, URL]]}
    expected |= {"page": 0, "time": ""}
    assert made["blocks"] == [expected]
    assert "题" in to_json(article)  # readable, not \u escapes
