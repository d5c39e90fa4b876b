"""Invariants of every body method, and the lines that `blocks` keeps and drops."""

import pytest

from extractor.body_methods import BODY_METHODS
from extractor.page.boilerplate_phrases import is_article_end, is_byline, is_copyright, is_template_label
from extractor.page.parsed_page import Body, parse_text
from extractor.page.tag_info import Hint
from extractor.settings import ExtractSettings

FIRST = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高。"
SECOND = "公司负责人表示，下一步将继续推进技术创新，努力降低成本，确保全年任务完成。"
ENGLISH = "The ministry said on Monday that output rose by five percent, the fastest pace in more than a decade."


def choose(html: str, method: str = "blocks") -> Body | None:
    document = parse_text(html, "http://news.test/a.html")
    assert document is not None
    return BODY_METHODS[method](ExtractSettings(method=method)).choose_body(document)


def article(inner: str, outside: str = "") -> str:
    head = "<html><head><title>大庆油田产量创新高_某某网</title></head>"
    return f"{head}<body><h1>大庆油田产量创新高</h1><div id='x'>{inner}</div>{outside}</body></html>"


@pytest.mark.parametrize("method", BODY_METHODS)
class TestEveryMethod:
    """Invariants of every method."""

    def test_a_plain_article_is_found(self, method: str) -> None:
        body = choose(article(f"<p>{FIRST}</p><p>{SECOND}</p>"), method)
        assert body is not None
        assert body.text.endswith(f"{FIRST}\n{SECOND}")

    def test_the_answer_is_the_same_twice(self, method: str) -> None:
        html = article(f"<p>{FIRST}</p><p>{SECOND}</p>", f"<div><p>{ENGLISH}</p></div>")
        first, second = choose(html, method), choose(html, method)
        assert first is not None and second is not None
        assert first.text == second.text


@pytest.mark.parametrize(
    "outside",
    [
        "<ul>" + "<li><a href='/1'>国际油价再次下跌引发市场关注和担忧</a></li>" * 30 + "</ul>",
        f"<div class='comments'>{'<p>网友说得好，我也这么想，非常同意，真的是这样。</p>' * 30}</div>",
        f"<div id='footer'><p>{SECOND}</p></div>",
        "<p>版权所有 某某网 京ICP备12345678号，未经授权不得转载。</p>",
        f"<div style='display: none'><p>{SECOND}</p></div>",
        f"<nav><p>{SECOND}</p></nav>",
    ],
    ids=["link list", "comments longer than the article", "footer", "copyright", "hidden", "nav"],
)
def test_what_is_no_article_stays_out(outside: str) -> None:
    body = choose(article(f"<p>{FIRST}</p><p>{SECOND[:-1]}！</p>", outside))
    assert body is not None
    assert body.text == f"{FIRST}\n{SECOND[:-1]}！"


@pytest.mark.parametrize(
    "line",
    [
        "<p>责任编辑：张三</p>", "<p>分享到：微信</p>", "<p><a href='/1'>相关一</a></p><p><a href='/2'>相关二</a></p>",
        "<p>相关阅读</p><p>另一篇文章的摘要，不属于这里。</p>", "<p>https://x.test/1.jpg</p>", "<p>阅读</p>",
    ],
    ids=["editor", "share", "run of links", "all after related", "address", "button at the end"],
)  # fmt: skip
def test_lines_at_the_end_are_dropped(line: str) -> None:
    body = choose(article(f"<p>{FIRST}</p><p>{SECOND}</p>{line}"))
    assert body is not None
    assert body.text == f"{FIRST}\n{SECOND}"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (f"{FIRST}<br><br>{SECOND}", f"{FIRST}\n{SECOND}"),
        (f"<p>2016-05-09 来源：某报</p><p>{FIRST}</p>", FIRST),
        (f"<p>{FIRST}</p><h2>小标题</h2><p>{SECOND}</p>", f"{FIRST}\n小标题\n{SECOND}"),
        (f"<p>{FIRST}</p><p><a href='/1'>大庆油田</a></p><p>{SECOND}</p>", f"{FIRST}\n大庆油田\n{SECOND}"),
        (f"<figure><img><figcaption>{FIRST}</figcaption></figure><p>{SECOND}</p>", f"{FIRST}\n{SECOND}"),
        (f"<figure><figcaption>{ENGLISH}</figcaption></figure><p>{FIRST}</p><p>{SECOND}</p>", f"{FIRST}\n{SECOND}"),
        (f"<p>{FIRST}</p><p>{FIRST}</p>", f"{FIRST}\n{FIRST}"),
    ],
    ids=["br for p", "meta line", "sub-heading", "lone link", "Chinese caption", "English caption", "copies"],
)  # fmt: skip
def test_the_body_is_one_paragraph_a_line(inner: str, text: str) -> None:
    body = choose(article(inner))
    assert body is not None
    assert body.text == text


def test_names_are_not_believed_against_the_text() -> None:
    paragraphs = "".join(f"<p>{number}、{FIRST}</p>" for number in range(20))
    body = choose(f"<html><body><div class='sidebar-layout'>{paragraphs}</div><div><p>{SECOND}</p></div></body></html>")
    assert body is not None
    assert body.text.count("大庆") == 20


@pytest.mark.parametrize(
    ("html", "hint"),
    [
        ("<div class='article-content'>", Hint.BODY), ("<div id='artibody'>", Hint.BODY),
        ("<div itemprop='articleBody'>", Hint.BODY), ("<div class='news_list'>", Hint.ARTICLE),
        ("<div class='site-footer'>", Hint.FOOTER_OR_COMMENTS), ("<footer>", Hint.FOOTER_OR_COMMENTS),
        ("<div id='CommentList'>", Hint.FOOTER_OR_COMMENTS),
        ("<div class='relatedNews'>", Hint.ASIDE), ("<div role='navigation'>", Hint.ASIDE), ("<aside>", Hint.ASIDE),
        ("<div style='DISPLAY : NONE'>", Hint.NONE), ("<div style='color:red; display: none'>", Hint.HIDDEN),
        ("<div class='post tag-oil author-x'>", Hint.ARTICLE), ("<article class='sidebar'>", Hint.ARTICLE),
        ("<div class='elementor-widget'>", Hint.NONE), ("<div>", Hint.NONE),
    ],
)  # fmt: skip
def test_hints_in_names(html: str, hint: Hint) -> None:
    document = parse_text(f"<body>{html}x", "")
    assert document is not None
    expected = Hint.HIDDEN if "NONE" in html else hint
    assert document.layout.spans[-1].tag_info.hint is expected


@pytest.mark.parametrize(
    ("text", "copyright_", "template", "end", "meta"),
    [
        ("版权所有 某某网 京ICP备12345678号", True, False, False, False),
        ("© 2024 The Times. All rights reserved.", True, False, False, False),
        ("责任编辑：张三", False, True, True, True),
        ("相关新闻", False, True, True, False),
        ("Related articles", False, True, True, False),
        ("Read more: oil prices fall", False, True, False, False),
        ("Comments (12)", False, False, True, False),
        ("2016-05-09 10:30 来源：新华社", False, False, False, True),
        ("By Jane Doe, May 9, 2016", False, False, False, True),
        (FIRST, False, False, False, False),
        (ENGLISH, False, False, False, False),
    ],
)
def test_phrases(text: str, copyright_: bool, template: bool, end: bool, meta: bool) -> None:
    assert (is_copyright(text), is_template_label(text), is_article_end(text), is_byline(text)) == (
        copyright_, template, end, meta,
    )  # fmt: skip
