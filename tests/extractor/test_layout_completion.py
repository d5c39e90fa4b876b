"""Laying out the skipped elements of a page gives the layout of a page without skipped elements."""

import pytest

from extractor.page import dom
from extractor.page.layout import Layout
from extractor.page.layout_builder import build_layout
from extractor.page.layout_completion import complete_layout
from tests.extractor.made_pages import made_pages

MENU = '<ul class="nav"><li><a href="/1">首页</a></li><li><a href="/2">Sport</a> <img src="2.png"></li></ul>'
ROW = "<table><tr><td>{}</td><td>10</td></tr></table>"


def layouts(page: str) -> tuple[Layout, Layout]:
    """The layout with skipped elements, and the complete one, of a page."""
    root = dom.parse(page)
    assert root is not None
    dom.remove_unread_elements(root)
    markup = dom.serialize(root)
    return build_layout(markup, complete=False)[0], build_layout(markup)[0]


@pytest.mark.parametrize(
    "page",
    [
        f"<h1>News</h1>{MENU}<p>On Monday the wells were opened.</p>{MENU}",
        f'<div>a {MENU} b</div><p class="time"><span class="time">2024</span></p><img src="1.png">{MENU}<p>c</p>',
        f'<div class="footer">© Press {MENU} all rights</div><div>{ROW.format("a")}</div>',
        f'{MENU}{ROW.format("a")}<footer><time>10:00</time> {ROW.format("b")}</footer><p>c <img src="3.png"></p>',
        f'<span class="x">{MENU}</span><p>c</p>',
        *made_pages(80),
    ],
)
def test_completed_layout_equals_a_complete_one(page: str) -> None:
    skipping, expected = layouts(page)
    completed = complete_layout(skipping)
    assert completed in (None, expected)


@pytest.mark.parametrize(
    ("page", "can_complete"),
    [
        (f"<p>a</p>{MENU}", True),
        (f"<a href='/x'>a<div>{MENU}</div></a>", False),
        (f"<b>a<div>{MENU}</div></b>", False),
        (f"<span class='byline'>a<div>{MENU}</div></span>", False),
        (f"<pre>a<div>{MENU}</div></pre>", False),
        ('<table><tr><td>a</td><td class="nav"><a href="/1">b</a></td></tr></table>', False),
    ],
    ids=["menu", "in a link", "in strong text", "in a byline", "in code", "in a row of data"],
)
def test_elements_that_depend_on_a_skipped_one_are_laid_out_again(page: str, can_complete: bool) -> None:
    skipping, _ = layouts(page)
    assert skipping.skipped_elements
    assert (complete_layout(skipping) is not None) == can_complete
