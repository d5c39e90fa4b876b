"""Teasers: linked headlines above the text of a page, on pages of invented sites."""

import pytest

from domain.article import Article, ExtractionResult
from domain.outcome import Outcome, Reason
from extractor.article_extractor import ArticleExtractor

URL = "http://blog.test/tags/oil/"
POST = "/posts/new-wells"
HEADLINE = "New wells north of the river"
LEAD = "The operator said on Monday that output rose again, the fastest pace in a decade, and that prices would fall."
REST = "Analysts had expected a smaller gain. The company plans to drill more wells next year, said two people."
TEXT = f"<p>{LEAD}</p><p>{REST}</p>"


def page(content: str, title: str = "oil - A blog about wells", head: str = "") -> str:
    menu = "".join(f"<li><a href='/{name}/'>{name}</a></li>" for name in ("about", "posts", "tags", "links"))
    return (
        f"<html><head><title>{title}</title>{head}</head><body><header><h1><a href='/'>A blog about wells</a></h1>"
        f"<ul>{menu}</ul></header>{content}<footer><p>Powered by hand, since 2003</p></footer></body></html>"
    )


def entry(href: str = POST, headline: str = HEADLINE, text: str = TEXT) -> str:
    return f"<article><h2 class='post-title'><a href='{href}'>{headline}</a></h2>{text}</article>"


def read(html: str, url: str = URL) -> ExtractionResult:
    return ArticleExtractor().extract_with_site(html, url)


@pytest.mark.parametrize(
    "html",
    [
        page(entry()),
        page(entry(text=f"<p>{LEAD}</p>")),
        page(entry().replace("h2", "div")),
        page(entry("http://www.blog.test/posts/new-wells/")),
        page(entry("../../posts/new-wells.html")),
        page("<p>3 posts</p>" + entry() + entry("/posts/2", "Pipelines that nobody wanted to build")),
        page(entry(text="<p>4 May 2024</p><p>2 minutes</p>")),
    ],
    ids=["whole text", "lead", "no heading", "with www", "relative", "several", "no text"],
)
def test_a_text_below_another_pages_headline_is_a_list(html: str) -> None:
    result = read(html).result
    assert isinstance(result, Outcome)
    assert result.reason in (Reason.LIST_PAGE, Reason.NO_BODY)


def test_the_outcome_says_where_the_headline_leads() -> None:
    assert read(page(entry())).result == Outcome(
        Reason.LIST_PAGE, "The headline links to http://blog.test/posts/new-wells"
    )


ITSELF = "http://blog.test/posts/new-wells.html"


@pytest.mark.parametrize(
    ("html", "url"),
    [
        (page(entry(), f"{HEADLINE} - A blog about wells"), ITSELF),
        (page(entry("new-wells.html#start"), "A blog about wells"), ITSELF),
        (page(entry("https://www.blog.test/posts/new-wells/"), "A blog about wells"), ITSELF),
        (page(entry("/p/17"), "A blog", "<link rel='canonical' href='/p/17'>"), ITSELF),
        (page(entry("http://elsewhere.test/report"), "A blog about wells"), "http://blog.test/posts/report"),
        (page(f"<h2>{HEADLINE}</h2>{TEXT}{entry('/posts/2', 'Pipelines that nobody wanted')}"), ITSELF),
        (
            page(entry("viewtopic.php?p=17#p17", f"Re: {HEADLINE}"), f"View topic - {HEADLINE}"),
            "http://forum.test/viewtopic.php?t=3&start=15",
        ),
        (page(f"<h1>{HEADLINE}</h1><p><a href='/'>Home</a></p>{TEXT}", HEADLINE), ITSELF),
    ],
    ids=["named", "itself", "itself, spelled", "canonical", "link blog", "more below", "forum", "plain"],
)  # fmt: skip
def test_an_article_below_its_own_headline_is_not_a_list(html: str, url: str) -> None:
    reading = read(html, url)
    assert isinstance(reading.result, Article)
    assert LEAD in reading.result.body
    assert reading.teaser is None


@pytest.mark.parametrize("href", ["http://[", "//[", "http://[::1/x"])
def test_a_malformed_canonical_url_is_ignored(href: str) -> None:
    assert read(page(entry(), head=f"<link rel='canonical' href='{href}'>"), ITSELF) == read(page(entry()), ITSELF)


@pytest.mark.parametrize(
    ("html", "below_own"),
    [
        (page(f"<h1>Reports from the north</h1>{entry()}", "Reports from the north"), True),
        (page(entry(), head="<meta property='article:published_time' content='2024-05-01'>"), False),
    ],
    ids=["own headline above", "a day of publication"],
)
def test_undecided_teasers_are_left_to_the_other_page(html: str, below_own: bool) -> None:
    reading = read(html, "http://blog.test/2024/05/01/wells-in-the-north.html")
    assert isinstance(reading.result, Article)
    assert reading.teaser is not None
    assert reading.teaser.headline == HEADLINE
    assert reading.teaser.sample_lines == (LEAD[:60], REST[:60])
    assert reading.teaser.is_below_own_headline is below_own


def test_a_short_link_above_the_text_of_a_manual_is_not_a_headline() -> None:
    source = page(f"<h1>module wells</h1><a class='heading' href='/src/wells.c'>Source</a>{TEXT}")
    assert isinstance(read(source, "http://doc.test/wells/").result, Article)


def test_headline_and_text_do_not_declare_an_article() -> None:
    own = page(f"<h1>Posts about oil wells</h1>{TEXT}", "Posts about oil wells")
    assert not read(own).is_declared_article
    assert read(own, "http://blog.test/2024/05/01/oil-wells.html").is_declared_article
