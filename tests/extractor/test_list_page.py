"""List or article? Made-up pages of many kinds, none like another, each in Chinese and in English."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest

from domain.article import Article
from domain.outcome import Outcome, Reason
from extractor import extract
from extractor.page_types.page_signals import url_score


@dataclass(frozen=True)
class Words:
    """What a site in one language says; `numbered` texts have a place for a number."""

    site: str
    section: str
    headline: str
    summary: str
    long_summary: str
    paragraph: str
    more: str
    home: str
    notice: str
    menu: tuple[str, ...]


ZH = Words(
    site="某某新闻网",
    section="国内经济与产业要闻",
    headline="第{}号油田产量再创新高引发各界关注",
    summary="某地油田今天宣布，产量第{}次超过去年同期，创下新高。",
    long_summary="某地油田今天宣布，产量第{}次超过去年同期，创下五年来的新高。业内人士认为，随着新井陆续投产，"
    "全年产量有望继续增长；不过国际油价的波动仍给企业的经营带来压力，下半年的投资计划可能因此推迟，具体安排将在下月公布。"
    "与此同时，当地政府表示，将继续支持企业开展技术改造，提高采收率。",
    paragraph="大庆油田今天宣布，今年前{}个季度的原油产量超过去年同期，创下五年来的新高，业内人士对此表示欢迎。",
    more="阅读全文",
    home="首页",
    notice="版权所有 某某新闻网 京ICP备12345678号",
    menu=("首页", "国内", "国际", "财经", "体育", "图片", "视频", "专题"),
)
EN = Words(
    site="The Example Post",
    section="Energy industry and markets news",
    headline="Oil field number {} reports record output for the year",
    summary="The operator of field {} said on Monday that output rose again, the fastest pace in a decade.",
    long_summary="The operator of field {} said on Monday that output rose again, the fastest pace in a decade. "
    "Analysts had expected a smaller gain, and prices fell after the news. The company plans to drill more wells next "
    "year, although lower prices may delay some of them, according to two people who know the plans. The ministry "
    "declined to comment, but said that it would continue to support investment in the region and in its pipelines.",
    paragraph="Output rose by {} percent in April, the ministry said on Monday, the fastest pace in a decade, and "
    "analysts who had expected a smaller gain said that prices would fall further in the weeks to come.",
    more="Read more",
    home="Home",
    notice="Copyright 2024 The Example Post. All rights reserved.",
    menu=("Home", "World", "Politics", "Business", "Sports", "Pictures", "Video", "Opinion"),
)
Kind = Callable[[Words], str]
LANGUAGES = pytest.mark.parametrize("words", [ZH, EN], ids=["zh", "en"])


def page(words: Words, content: str, title: str = "", head: str = "") -> str:
    """A page with a menu and a footer around its content."""
    menu = "".join(f"<li><a href='/{n}/'>{name}</a></li>" for n, name in enumerate(words.menu))
    return (
        f"<html><head><title>{title or words.section} - {words.site}</title>{head}</head><body>"
        f"<div class='top'><ul>{menu}</ul></div>{content}"
        f"<div class='bottom-bar'><p>{words.notice}</p></div></body></html>"
    )


def links(words: Words, numbers: Iterable[int]) -> str:
    """A list of headlines."""
    return "".join(f"<li><a href='/a/{n}.html'>{words.headline.format(n)}</a></li>" for n in numbers)


def linked(words: Words, n: int) -> str:
    return f"<a href='/a/{n}.html'>{words.headline.format(n)}</a>"


def portal(words: Words) -> str:
    """The home page of a portal: boxes of headlines, one of them with a summary."""
    boxes = "".join(
        f"<div><h2><a href='/{n}/'>{name}</a></h2><p><a href='/a/{n}0.html'>{words.headline.format(n)}</a></p>"
        f"<p>{words.summary.format(n)}</p><ul>{links(words, range(20 * n, 20 * n + 12))}</ul></div>"
        for n, name in enumerate(words.menu[1:], 1)
    )
    return page(words, boxes, words.home)


def dated_section(words: Words) -> str:
    """A channel: headlines with their days."""
    items = "".join(f"<li>{linked(words, n)}<span>2024-05-{n:02d}</span></li>" for n in range(1, 26))
    return page(words, f"<h1>{words.section}</h1><ul>{items}</ul>")


def short_section(words: Words) -> str:
    """A channel with few entries so far, and a sentence about itself."""
    items = "".join(f"<tr><td>{linked(words, n)}</td><td>2024-05-{n:02d}</td></tr>" for n in range(1, 8))
    return page(words, f"<p>{words.summary.format(0)}</p><table>{items}</table>")


def blog_index(words: Words) -> str:
    """Teasers with a link to the whole."""
    posts = "".join(
        f"<div class='post'><h2>{linked(words, n)}</h2><p class='meta'>2024-05-{n:02d}</p>"
        f"<p>{words.long_summary.format(n)}</p><a href='/a/{n}.html'>{words.more}</a></div>"
        for n in range(1, 11)
    )
    return page(words, f"<h1>{words.section}</h1><div id='content'>{posts}</div>")


def summaries(words: Words) -> str:
    """Long summaries below their headlines, with nothing to click but these."""
    entries = "".join(
        f"<article><h3>{linked(words, n)}</h3><p>{words.long_summary.format(n)}</p></article>" for n in range(1, 16)
    )
    return page(words, f"<main><h1>{words.section}</h1>{entries}</main>")


def board(words: Words) -> str:
    """A forum's board: threads, who began them, when, and how many answers."""
    rows = "".join(
        f"<tr><td>{linked(words, n)}</td><td><a href='/u/{n}'>user{n}</a></td><td>{n * 7}</td>"
        f"<td>2024-05-{n:02d} 10:{n:02d}</td></tr>"
        for n in range(1, 29)
    )
    return page(words, f"<table><tbody>{rows}</tbody></table>")


def aged_board(words: Words) -> str:
    """A forum's board that says how long ago a thread began and was answered last, and by whom."""
    ago, last = ("3 年前", "2 个月前") if words is ZH else ("3 years 40 weeks ago", "2 years 7 weeks ago")
    rows = "".join(
        f"<tr><td>{linked(words, n)}</td><td>{n * 7}</td><td>{ago} by user{n}</td><td>{last} by guest{n}</td></tr>"
        for n in range(1, 29)
    )
    return page(words, f"<p>{words.summary.format(1)}</p><table><tbody>{rows}</tbody></table>")


def whole_posts(words: Words) -> str:
    """A page of a blog that shows its posts whole, one below the other, under the blog's own name."""
    texts = "".join(f"<p>{words.paragraph.format(n)}</p>" for n in range(4))
    posts = "".join(f"<article><h2>{linked(words, n)}</h2>{texts}</article>" for n in range(1, 9))
    return page(words, f"<main>{posts}</main>", title=words.site)


def search_results(words: Words) -> str:
    """Hits with a piece of their text and their URL."""
    hits = "".join(
        f"<li><h3>{linked(words, n)}</h3><p>... {words.summary.format(n)} ...</p><cite>news.test/a/{n}.html</cite></li>"
        for n in range(1, 11)
    )
    return page(words, f"<p>1-10 / 1234</p><ol>{hits}</ol>")


def tag_page(words: Words) -> str:
    """What stands below a tag, by a content system that calls everything an article."""
    head = (
        "<meta property='og:type' content='article'><script type='application/ld+json'>{\"@graph\":[{\"@type\":"
        '"CollectionPage","url":"http://news.test/tag/oil/"},{"@type":"WebSite","url":"http://news.test/"}]}</script>'
    )
    posts = "".join(f"<h2>{linked(words, n)}</h2><p>{words.summary.format(n)}</p>" for n in range(1, 9))
    return page(words, f"<h1>{words.section}</h1><div>{posts}</div>", head=head)


def documents(words: Words) -> str:
    """A table of papers to load down, with numbers, days and sizes."""
    rows = "".join(
        f"<tr><td>{n}</td><td><a href='/files/{n}.pdf'>{words.headline.format(n)}</a></td><td>2023-11-{n:02d}</td>"
        f"<td>{n * 13} KB</td></tr>"
        for n in range(1, 21)
    )
    return page(words, f"<h2>{words.section}</h2><table><tbody>{rows}</tbody></table>")


def gallery_index(words: Words) -> str:
    """Pictures that lead to galleries."""
    items = "".join(
        f"<div class='item'><a href='/g/{n}'><img src='/g/{n}.jpg'></a><a href='/g/{n}'>"
        f"{words.headline.format(n)}</a><span>{n * 3}</span></div>"
        for n in range(1, 25)
    )
    return page(words, f"<div class='gallery'>{items}</div>")


def link_farm(words: Words) -> str:
    """Names of other sites, and nothing else."""
    return page(
        words, "<div>" + " | ".join(f"<a href='http://{n}.test/'>{words.site}{n}</a>" for n in range(200)) + "</div>"
    )


def card_wall(words: Words) -> str:
    """Cards: the headline, the summary and the day are inside one link or none."""
    cards = "".join(
        f"<div class='card'><a href='/a/{n}.html'><h3>{words.headline.format(n)}</h3></a>"
        f"<p>{words.summary.format(n)}</p><time datetime='2024-05-{n:02d}'>2024-05-{n:02d}</time></div>"
        for n in range(1, 13)
    )
    return page(words, f"<section>{cards}</section>")


def profile(words: Words) -> str:
    """A writer: who it is, and what was written, day by day."""
    items = "".join(
        f"<div><span>2024-05-{n:02d}</span><h4>{linked(words, n)}</h4><p>{words.summary.format(n)}</p></div>"
        for n in range(1, 10)
    )
    return page(words, f"<h1>Jane Doe</h1><p>{words.summary.format(0)}</p><div>{items}</div>", "Jane Doe")


def special(words: Words) -> str:
    """A dossier: an introduction, and headlines in boxes."""
    boxes = "".join(
        f"<div><h3>{name}</h3><ul>{links(words, range(8 * n, 8 * n + 8))}</ul></div>"
        for n, name in enumerate(words.menu)
    )
    return page(words, f"<div class='intro'><p>{words.summary.format(1)}</p></div>{boxes}")


def lead_story(words: Words) -> str:
    """A channel that shows the beginning of its first story, and more stories below."""
    more = "".join(f"<div><h3>{linked(words, n)}</h3><p>{words.summary.format(n)}</p></div>" for n in range(2, 14))
    return page(words, f"<div><h2>{linked(words, 1)}</h2><p>{words.long_summary.format(1)}</p></div>{more}")


LISTS = [
    (profile, "http://news.test/author/jane-doe"),
    (special, "http://news.test/special/oil/"),
    (lead_story, "http://news.test/channel_25950"),
    (portal, "http://news.test/"),
    (dated_section, "http://news.test/finance/"),
    (short_section, "http://news.test/notices/"),
    (blog_index, "http://news.test/blog/"),
    (summaries, "http://news.test/category/energy"),
    (board, "http://bbs.test/forum-12-1.html"),
    (aged_board, "http://bbs.test/forum/49779.html?order=Created&page=4"),
    (search_results, "http://news.test/search?q=oil"),
    (tag_page, "http://news.test/tag/oil/"),
    (documents, "http://news.test/documents/index.html"),
    (gallery_index, "http://news.test/photo/"),
    (link_farm, "http://links.test/"),
    (card_wall, "http://news.test/energy"),
]


@LANGUAGES
@pytest.mark.parametrize(("kind", "url"), LISTS, ids=[kind.__name__ for kind, _ in LISTS])
def test_a_list_is_no_article(kind: Kind, url: str, words: Words) -> None:
    found = extract(kind(words), url)
    assert isinstance(found, Outcome), found.body
    assert found.reason in (Reason.LIST_PAGE, Reason.COPYRIGHT_ONLY, Reason.NO_BODY)


@LANGUAGES
@pytest.mark.parametrize("url", ["http://blog.test/", "http://blog.test/page/78/", "http://blog.test/page9/"])
def test_posts_that_are_shown_whole_are_a_list_where_the_address_is_no_article_s(url: str, words: Words) -> None:
    found = extract(whole_posts(words), url)
    assert isinstance(found, Outcome) and found.reason is Reason.LIST_PAGE


@LANGUAGES
@pytest.mark.parametrize(("kind", "url"), LISTS, ids=[kind.__name__ for kind, _ in LISTS])
def test_a_list_is_one_without_its_address(kind: Kind, url: str, words: Words) -> None:
    found = extract(kind(words), "")
    assert isinstance(found, Outcome), found.body


def among_links(words: Words) -> str:
    """A short report above many more."""
    title = words.headline.format(7)
    return page(
        words,
        f"<div><h1>{title}</h1><p>{words.paragraph.format(3)}</p></div><div><ul>{links(words, range(60))}</ul></div>",
        title,
    )


def among_dated_links(words: Words) -> str:
    """The same with the days of the others."""
    items = "".join(f"<li>{linked(words, n)} <span>05-{n:02d}</span></li>" for n in range(1, 31))
    title = words.headline.format(40)
    return page(words, f"<h1>{title}</h1><p>{words.paragraph.format(3)}</p><ul>{items}</ul>", title)


def with_cards(words: Words) -> str:
    """An article without a heading of its own, and beside it <article>s that begin with headlines."""
    texts = "".join(f"<p>{words.paragraph.format(n)}</p>" for n in range(12))
    cards = "".join(f"<article><h3>{linked(words, n)}</h3><p>{words.summary.format(n)}</p></article>" for n in range(5))
    return page(words, f"<main><section>{texts}</section>{cards}</main>", title=words.headline.format(1))


def caption(words: Words) -> str:
    """A picture with a caption, and other galleries."""
    title = words.headline.format(99)
    return page(
        words,
        f"<h1>{title}</h1><div><img src='/1.jpg'><p>{words.summary.format(3)}</p></div>"
        f"<ul>{links(words, range(40))}</ul>",
        title,
    )


def questions(words: Words) -> str:
    """A question, answers, and other questions."""
    title = words.headline.format(5)
    answers = "".join(f"<div class='answer'><p>{words.paragraph.format(n)}</p></div>" for n in range(1, 5))
    return page(words, f"<h1>{title}</h1>{answers}<ul>{links(words, range(20))}</ul>", title)


def product_guide(words: Words) -> str:
    """Things to buy, each with a heading that leads to a shop, and some text."""
    things = "".join(
        f"<h2>{linked(words, n)}</h2><p>{words.paragraph.format(n)}</p><p>{words.summary.format(n)} "
        f"<a href='http://shop.test/{n}'>{words.site}</a></p><p>{words.paragraph.format(n + 1)}</p>"
        f"<p>{words.summary.format(n)}</p>"
        for n in range(1, 12)
    )
    title = words.headline.format(12)
    return page(words, f"<article><h1>{title}</h1><p>{words.paragraph.format(1)}</p>{things}</article>", title)


def live_blog(words: Words) -> str:
    """Entries by the hour."""
    entries = "".join(f"<div><b>10:{n:02d}</b><p>{words.summary.format(n)}</p></div>" for n in range(10, 40))
    title = words.headline.format(3)
    return page(words, f"<h1>{title}</h1>{entries}", title)


def listicle(words: Words) -> str:
    """Ten things, each a linked heading and one sentence."""
    things = "".join(f"<h2>{linked(words, n)}</h2><p>{words.summary.format(n)}</p>" for n in range(1, 11))
    title = words.headline.format(10)
    return page(words, f"<h1>{title}</h1>{things}", title)


def notice(words: Words) -> str:
    """An announcement with many annexes."""
    title = words.headline.format(16)
    annexes = "".join(f"<p><a href='/f/{n}.doc'>{n}. {words.headline.format(n)}.doc</a></p>" for n in range(1, 17))
    return page(words, f"<h2>{title}</h2><div><p>{words.paragraph.format(2)}</p>{annexes}</div>", title)


def untitled(words: Words) -> str:
    """A report on a page that has the site's name for a title, told by its dateline only."""
    return page(
        words,
        f"<div>{words.headline.format(8)}</div><div>时间：2024-05-09 来源：某某日报</div><div><p>"
        f"{words.paragraph.format(3)}</p></div><ul>{links(words, range(60))}</ul>",
        words.site,
    )


def thread(words: Words) -> str:
    """A question in a forum, short answers, and other threads."""
    title = words.headline.format(6)
    posts = "".join(
        f"<div><a href='/u/{n}'>user{n}</a><span>2024-05-{n:02d}</span><p>{words.summary.format(n)}</p></div>"
        for n in range(1, 9)
    )
    return page(words, f"<h1>{title}</h1>{posts}<ul>{links(words, range(30))}</ul>", title)


ARTICLES = [
    (notice, "http://gov.test/art/2024/5/9/art_1234_56789.html"),
    (untitled, "http://news.test/show.asp?id=12345"),
    (thread, "http://bbs.test/thread-123456-1-1.html"),
    (among_links, "http://news.test/2024/0509/123456.html"),
    (among_dated_links, "http://news.test/a/40.html"),
    (caption, "http://news.test/photo/2024-05/09/c_123456.htm"),
    (questions, "http://qa.test/question/1234567"),
    (product_guide, "http://news.test/best-things-to-buy-this-year"),
    (live_blog, "http://news.test/live/oil-output-live-updates-today"),
    (listicle, "http://news.test/ten-things-you-should-know"),
    (with_cards, "http://home.test/cost/additions/remodel/"),
]


@LANGUAGES
@pytest.mark.parametrize("known", [True, False], ids=["with address", "without"])
@pytest.mark.parametrize(("kind", "url"), ARTICLES, ids=[kind.__name__ for kind, _ in ARTICLES])
def test_an_article_that_looks_like_a_list_is_none(kind: Kind, url: str, known: bool, words: Words) -> None:
    found = extract(kind(words), url if known else "")
    assert isinstance(found, Article), found
    assert found.body


@pytest.mark.parametrize(
    ("url", "points"),
    [
        ("http://news.test/", -3),
        ("http://news.test/index.html", -3),
        ("http://news.test/finance/index.shtml", -2),
        ("http://news.test/finance/index_2.html", -2),
        ("http://news.test/tag/oil", -2),
        ("http://news.test/tag/%E5%8E%9F%E6%B2%B9", -2),
        ("http://news.test/category/energy/oil-and-gas", -2),
        ("http://news.test/list/12345.html", -2),
        ("http://news.test/col/col12345/index.html", -2),
        ("http://news.test/2016/05/", -2),
        ("http://news.test/2016/05/09/", -2),
        ("http://bbs.test/forum-12-3.html", -2),
        ("http://news.test/find?q=oil", -2),
        ("http://news.test/energy", -1),
        ("http://news.test/energy/", -1),
        ("http://news.test/a/1.html", 0),
        ("", 0),
        ("http://[broken", 0),
        ("http://news.test/show?id=12345", 1),
        ("http://news.test/a/123456.html?page=2", 1),
        ("http://news.test/oil-prices-rise-again", 1),
        ("http://news.test/category/energy/oil-prices-rise-again", 1),
        ("http://news.test/topics/energy/98765", 1),
        ("http://news.test/2016/05/09/oil/index.html", 2),
        ("http://news.test/oil-prices-rise-again-on-monday", 2),
        ("http://news.test/2016/%E5%A4%A7%E5%BA%86%E6%B2%B9%E7%94%B0%E5%8E%9F%E6%B2%B9%E4%BA%A7%E9%87%8F", 1),
    ],
)
def test_what_an_address_says(url: str, points: int) -> None:
    assert url_score(url) == points


SHOP = (
    "<ul>" + "".join(f"<li><a href='/{n}'>Something else to look at, number {n}</a></li>" for n in range(50)) + "</ul>"
)
TEXT = "Output rose by five percent in April, the ministry said on Monday."


def stated(node: str = "", metas: str = "", content: str = SHOP) -> str:
    script = f"<script type='application/ld+json'>{node}</script>" if node else ""
    return f"<html><head><title>Oil</title>{script}{metas}</head><body><h1>Oil</h1>{content}</body></html>"


OG = "<meta property='og:type' content='article'><meta property='og:description' content='" + TEXT + "'>"
TIME = "<meta property='article:published_time' content='2024-05-09T10:00Z'>"


@pytest.mark.parametrize(
    ("html", "body"),
    [
        (stated('{"@type":"NewsArticle","articleBody":"<p>First &amp; last of the sentences.</p><p>Second line.</p>"}'),
         "First & last of the sentences.\nSecond line."),
        (stated('{"@type":"Article","articleBody":"It is all in a script, and nowhere else."}', "", ""),
         "It is all in a script, and nowhere else."),
        (stated('{"@type":"VideoObject","name":"Oil"}', OG), TEXT),
        (stated("", OG + TIME), TEXT),
    ],
    ids=["text in JSON-LD", "no text but that", "video", "picture"],
)  # fmt: skip
def test_a_page_that_shows_no_text_may_state_it(html: str, body: str) -> None:
    found = extract(html, "http://news.test/oil")
    assert isinstance(found, Article)
    assert found.body == body
    assert "\n".join(block.text for block in found.blocks) == body


@pytest.mark.parametrize(
    "html",
    [
        stated("", OG),
        stated('{"@type":"CollectionPage"}', OG + TIME),
        stated('{"@type":"NewsArticle","url":"http://news.test/another","headline":"Gas"}', OG),
        stated("[" + ",".join(['{"@type":"NewsArticle","headline":"Gas"}'] * 5) + "]", OG),
        stated('{"@type":"NewsArticle","url":"http://news.test/oil"}'),
    ],
    ids=["og:type alone", "a collection", "another's", "many", "nothing said"],
)
def test_what_is_stated_of_a_list_is_no_article(html: str) -> None:
    assert isinstance(extract(html, "http://news.test/oil"), Outcome)


def test_a_shown_text_goes_before_a_stated_one() -> None:
    shown = f"<p>{EN.paragraph.format(1)}</p><p>{EN.paragraph.format(2)}</p>"
    found = extract(stated('{"@type":"NewsArticle","articleBody":"Not this."}', "", shown), "http://news.test/oil")
    assert isinstance(found, Article)
    assert "Output rose by 1 percent" in found.body and "Not this" not in found.body


@pytest.mark.parametrize(
    ("title", "content", "is_article"),
    [
        ("油气论坛", "<ul><li>油气论坛 » 张三 的个人资料页面</li></ul>", False),
        ("Oil board", "<p>• Oil board › Profile of a member called John Smith</p>", False),
        ("Oil board", "<p>Press Menu › Settings › Network and switch the proxy off there.</p>", True),
        ("如何关闭代理", "<p>依次进入 菜单 › 设置 › 网络，然后在那里把代理服务器关掉即可。</p>", True),
    ],
)
def test_a_line_that_says_where_a_page_stands_is_no_body(title: str, content: str, is_article: bool) -> None:
    html = f"<html><head><title>{title}</title></head><body><div>{content}</div></body></html>"
    result = extract(html, "http://a.test/profile-7.html")
    assert isinstance(result, Article) == is_article
    assert isinstance(result, Article) or result.reason is Reason.NO_BODY


# -- A page with few links and no text of its own is a list, whatever its footer says.


FOOTERS = [
    "<footer>© 2024 Harbour Site. All rights reserved.</footer>",
    "<div class=footer><p>Copyright 2024 Harbour Site, the press of the old town. All rights reserved.</p></div>",
    "<p>版权所有 © 2024 石化要闻网 未经授权不得转载</p>",
    "",
]
SHORT_LISTS = {
    "http://x.test/tech/": "<ul><li><a href=/tech/a1.html>New wells drilled in the north</a> 2024-05-01</li></ul>",
    "http://x.test/tech/index.html": "<p>All about machines.</p><p><a href=a1.html>Wells</a> (May 2024, by J. Doe)</p>",
    "http://x.test/list.php?c=3": "<p><a href='show.php?id=3'>大庆油田产量创新高</a></p>",
    "http://x.test/forum/": "<table><tr><td><a href=/forum/t1>Help!</a></td><td>3 answers, last by a</td></tr></table>",
    "http://x.test/files/": "<p>Our files:</p><ul><li><a href=a.pdf>report.pdf</a> (PDF, 120 kB)</li></ul>",
}


@pytest.mark.parametrize("footer", FOOTERS)
@pytest.mark.parametrize("url", SHORT_LISTS)
def test_few_links_are_a_list(url: str, footer: str) -> None:
    navigation = "<div class=nav><a href=/>Home</a> <a href=/tech/>Tech</a> <a href=/files/>Files</a></div>"
    result = extract(f"<title>Tech - Site</title>{navigation}<h1>Tech</h1>{SHORT_LISTS[url]}{footer}", url)
    assert isinstance(result, Outcome)
    assert result.reason is Reason.LIST_PAGE


@pytest.mark.parametrize("footer", FOOTERS[1:3])
def test_a_page_with_only_a_notice_is_still_one(footer: str) -> None:
    navigation = "<div class=nav><a href=/>Home</a> <a href=/tech/>Tech</a></div>"
    result = extract(
        f"<title>Video of the day</title>{navigation}<h1>Video of the day</h1>{footer}", "http://x.test/v/1"
    )
    assert isinstance(result, Outcome)
    assert result.reason is Reason.COPYRIGHT_ONLY


def test_a_short_text_with_a_link_is_an_article() -> None:
    text = "<p>The harbour is closed on Sunday, see <a href=map.html>map</a>.</p>"
    html = f"<title>Notice</title><h1>Notice of closure</h1>{text}"
    assert isinstance(extract(html, "http://x.test/notices/12.html"), Article)


@pytest.mark.parametrize(
    ("url", "heading"),
    [
        ("http://a.test/2016/05/", "Archive for May 2016"),
        ("http://a.test/tag/ports/", "Tag: ports"),
        ("http://a.test/blog/", "All posts"),
        ("http://a.test/blog", "Notes of a captain"),
    ],
)
def test_an_archive_with_one_post_is_a_list(url: str, heading: str) -> None:
    href = f"{url.rstrip('/')}/09/harbour-opens-again/"
    post = f"<h2><a href='{href}'>The harbour opens again after nine weeks</a></h2><p>May 9, 2016</p>"
    text = "".join(
        f"<p>The harbour was opened again on Monday, the authority said in statement {n}.</p>" for n in range(6)
    )

    def outcome(page_url: str, title: str) -> str:
        html = f"<title>{title} - A Blog</title><body><h1>{title}</h1><div>{post}{text}</div></body>"
        result = extract(html, page_url)
        return result.reason.value if isinstance(result, Outcome) else "article"

    assert outcome(url, heading) == "list_page"
    assert outcome(href, "The harbour opens again after nine weeks") == "article"


def test_a_guide_with_long_sections_offers_nothing() -> None:
    def kind(sentences: int, offer: str = "") -> str:
        text = (
            "The pump is taken out of its case before the new filter is put in, and the seal is cleaned. " * sentences
        )
        sections = "".join(f"<h2>Part {n}</h2><p>{text.replace('new', f'new, {n}.')}</p>" for n in range(5))
        html = f"<title>Filters of a pump</title><body><h1>Filters of a pump</h1><div>{sections}{offer}</div></body>"
        result = extract(html, "http://a.test/filters-of-a-pump")
        assert not isinstance(result, Outcome)
        return result.page_type.value

    assert kind(12) == "reference"
    assert kind(12, "<p>Get a quote, or contact us.</p>") == kind(2) == "service"
