"""Parsing a page creates no reference cycles, so pausing the cycle collector leaks no memory."""

import gc
from collections.abc import Iterator

import pytest

from domain.article import Article
from extractor.article_extractor import ArticleExtractor, gc_paused

PAGE = (
    "<html><head><title>大庆油田增产 - 新闻网</title></head><body><h1>大庆油田增产</h1><ul>"
    + "<li><a href='/a'>首页</a></li>" * 20
    + "<div class='content'>"
    + "<p>大庆油田今天宣布，今年产量超过去年同期，创下新高。<a href='/b'>详细</a></p>" * 20
    + "<table><tr><td>原油</td><td>10</td></tr></table><pre>a = 1\n b = 2\n</pre></div></body></html>"
)


@pytest.fixture
def searching() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.usefixtures("searching")
def test_a_page_leaves_no_cycles_behind() -> None:
    reader = ArticleExtractor()
    assert isinstance(reader.extract_with_site(PAGE, "http://a.test/1.html").result, Article)
    gc.disable()

    def cycles_of_three_pages() -> int:
        gc.collect()
        for _ in range(3):
            reader.extract_with_site(PAGE, "http://a.test/1.html")
        return gc.collect()

    # Cycles of a page would be there each time, those that threads of other tests leave meanwhile are not.
    assert 0 in (cycles_of_three_pages() for _ in range(50))


@pytest.mark.usefixtures("searching")
def test_the_search_goes_on_afterwards_even_where_something_was_raised_and_stays_off_where_it_was() -> None:
    with pytest.raises(ValueError, match="inside"), gc_paused():
        assert not gc.isenabled()
        raise ValueError("inside")
    assert gc.isenabled()
    gc.disable()
    with gc_paused():
        pass
    assert not gc.isenabled()
