"""An aside below a short caption is not the body, however much text it contains."""

import pytest

from domain.article import Article
from extractor import extract

ZH = "2024年5月1日，大庆油田的工人在井场检查设备。"
EN = "A worker checks the pump at the harbour on Monday."
ZH_TEASER = "国际油价周{0}再次下跌，分析人士认为，需求减弱是主要原因，市场仍在观望之中，产油国将于下周开会。"
EN_TEASER = "Oil prices fell on day {0}, as analysts said that demand was weak, and the market waited for the meeting."
PAGE = (
    "<html><head><title>{title}</title></head><body><div class='wrap'><div class='left'><h1>{title}</h1>"
    "<div><img src='/a.jpg'><p>{caption}</p></div></div><{name}><h3>{label}</h3>{others}</{tag}></div></body></html>"
)


def page(name: str, title: str, caption: str, label: str, others: str) -> str:
    return PAGE.format(name=name, tag=name.split()[0], title=title, caption=caption, label=label, others=others)


def body_of(html: str) -> str:
    found = extract(html, "http://news.test/2024/05/01/a.html")
    assert isinstance(found, Article)
    return found.body


@pytest.mark.parametrize("name", ["aside", "div class='sidebar'", "div class='related'", "nav"])
@pytest.mark.parametrize(
    ("title", "caption", "label", "teaser"),
    [
        (
            "大庆油田工人检查设备",
            ZH,
            "相关新闻",
            "<a href='/n/{0}'>国际油价再次下跌第{0}日</a><p>" + ZH_TEASER + "</p>",
        ),
        (
            "Worker checks the pump",
            EN,
            "Related",
            "<a href='/n/{0}'>Oil prices fell on day {0}</a><p>" + EN_TEASER + "</p>",
        ),
    ],
    ids=["zh", "en"],
)
def test_a_list_of_other_pages_is_no_body(name: str, title: str, caption: str, label: str, teaser: str) -> None:
    others = "".join(f"<div>{teaser.format(number)}</div>" for number in range(6))
    assert body_of(page(name, title, caption, label, others)) == caption


def test_an_article_that_is_called_an_aside_is_one() -> None:
    texts = "".join(f"<p>{ZH_TEASER.format(number)}</p>" for number in range(6))
    links = "".join(f"<a href='/n/{number}'>国际油价再次下跌第{number}日</a><br>" for number in range(4))
    body = body_of(page("div class='sidebar-text'", "大庆油田工人检查设备", ZH, "", texts + links))
    assert [ZH_TEASER.format(number) in body for number in range(6)] == [True] * 6
