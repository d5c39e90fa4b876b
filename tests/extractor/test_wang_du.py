"""WD-A3 of the paper: the heading before the body that is most similar to <title>."""

import pytest

from extractor.body_methods.wang_du import WangDuMethod
from extractor.page.parsed_page import Body, parse_text

TEXT = "<div id='body'>" + "<p>这是一段正文，足够长的正文，应当被认为是文章的内容。</p>" * 3 + "</div>"


def title_of(html: str) -> str:
    document = parse_text(html, "http://news.test/")
    assert document is not None
    ids = [span.tag_info.attributes.get("id") for span in document.layout.spans]
    return WangDuMethod().find_title(document, Body(ids.index("body") if "body" in ids else 0, (), ""))


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (f"<title>油价再次下跌_某网</title><h2>今日要闻</h2><h1>国际油价再次下跌</h1>{TEXT}", "国际油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><h1>国际油价再次下跌</h1><h3>油价再次下跌</h3>{TEXT}", "油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><p>油价再次下跌 记者</p><h2>今日要闻</h2>{TEXT}", "油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><p>今日</p>{TEXT}<h2>油价再次下跌了</h2>", "油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><div id='body'><h1>国际油价再次下跌</h1>{TEXT}<h2>油价再次下跌</h2></div>",
         "国际油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><div id='body'><h1>国际油价，<b>再次下跌</b></h1>{TEXT}</div>",
         "国际油价，再次下跌"),
        (f"<span class='title'>国际油价再次下跌</span>{TEXT}", "国际油价再次下跌"),
        (f"<h1>国际油价再次下跌</h1>{TEXT}", ""),
        (f"<p class='title'>短标题</p><p id='Title'>国际油价再次下跌</p>{TEXT}", "国际油价再次下跌"),
        (f"<p class='title'>{'太长' * 20}</p>{TEXT}", ""),
    ],
    ids=["similar heading", "most similar", "no similar heading", "heading behind the body", "heading in the body",
         "heading with a comma", "no title, class",
         "no title, heading", "too short", "too long"],
)  # fmt: skip
def test_titles_by_wd_a3(html: str, title: str) -> None:
    assert title_of(html) == title
