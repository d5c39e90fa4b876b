"""News of one event on several sites is one story: joining, not joining, and later changes."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from docstore.articles.stories import StoryTable, story_id
from docstore.store import Store
from domain.article import Article, PageType, StoredArticle, document_id
from domain.article_relations import NewsItem
from domain.outcome import Outcome, Reason
from indexer.article_relations import event_similarity, to_news_item
from pipeline.demo.articles import generate_articles
from tests.builders import extract_all, keep_page, relate_articles
from text.segment import base_segmenter

DOHA = (
    "多哈冻产谈判破裂 国际油价大跌",
    "主要产油国17日在卡塔尔首都多哈举行的冻产谈判未能达成协议，沙特要求伊朗一同冻产，布伦特原油期货周一开盘下跌近7%。",
)
DOHA_TOO = (
    "产油国多哈冻产谈判无果 布伦特原油下跌",
    "因沙特与伊朗分歧，产油国在多哈的冻产谈判周日未能达成协议，布伦特原油期货周一应声下跌近7%，跌破41美元。",
)
PROFIT = ("中国石油一季度净利润下降30%", "中国石油今日公布一季度业绩，净利润同比下降30%，营业收入下降12%。")
OTHER_PROFIT = ("中国石化一季度净利润增长25%", "中国石化今日公布一季度业绩，净利润同比增长25%，营业收入增长8%。")


def item(number: int, host: str, text: tuple[str, str], published: str = "2016-04-18") -> NewsItem:
    url = f"http://{host}.test/{number}"
    article = Article(url, *text, published, page_type=PageType.ARTICLE)
    found = to_news_item(StoredArticle(number, document_id(url), host, article), base_segmenter(), {})
    assert found is not None
    return found


def story_of(store: Store, *items: NewsItem) -> list[str]:
    with store._database.read() as connection:
        rows = connection.exec_driver_sql("SELECT url_id, story FROM news").all()
    found = {row.url_id: row.story for row in rows}
    return [found[one.url_id] for one in items]


def test_the_same_event_and_another_of_the_same_kind() -> None:
    assert event_similarity(item(1, "a", DOHA), item(2, "b", DOHA_TOO)) > 0
    assert event_similarity(item(1, "a", PROFIT), item(2, "b", OTHER_PROFIT)) == 0
    assert event_similarity(item(1, "a", DOHA), item(2, "b", PROFIT)) == 0


LEAD = "项目于本周投产，工程采用国产设备，建设历时两年，技术人员介绍，投产后将满足冬季保供的需要，带动周边产业发展。"


@pytest.mark.parametrize(
    ("title", "other"),
    [
        pytest.param("苍原石油公司新平台建成投产", "瀚北石油集团新平台建成投产", id="company"),
        pytest.param("青麓气田新平台建成投产", "望川气田新平台建成投产", id="field"),
        pytest.param("澜湾港新平台建成投产", "东屿港新平台建成投产", id="place"),
        pytest.param("国产平台在中东建成投产", "国产平台在南美建成投产", id="region"),
        pytest.param("新平台建成投产 日产气180万立方米", "新平台建成投产 日产气96万立方米", id="figure"),
        pytest.param("Qinglu opens a new gas platform", "Wangchuan opens a new gas platform", id="english"),
    ],
)
def test_different_names_or_figures_in_the_titles_are_different_events(title: str, other: str) -> None:
    assert event_similarity(item(1, "a", (title, LEAD)), item(2, "b", (other, LEAD))) == 0
    assert event_similarity(item(1, "a", (title, LEAD)), item(2, "b", (title, LEAD))) > 0


def test_a_name_or_figure_in_the_lead_is_the_same_event() -> None:
    first = item(1, "a", ("澜湾港接收站投产 储罐增至8座", f"新建4座储罐。{LEAD}"))
    second = item(2, "b", ("4座储罐投用 接收站迎来首船", f"澜湾港接收站储罐增至8座。{LEAD}"))
    assert event_similarity(first, second) > 0


def test_reports_of_one_template_about_different_companies_are_no_story() -> None:
    """The articles of the demo that share a template differ in names and figures only."""
    grouped = compared = 0
    by_template: dict[str, list[NewsItem]] = {}
    for article in generate_articles():
        url = f"http://{article.site}.test/{article.number}"
        news = Article(url, article.title, "\n".join(article.paragraphs), "2016-04-18", page_type=PageType.ARTICLE)
        found = to_news_item(StoredArticle(article.number, url, article.site, news), base_segmenter(), {})
        by_template.setdefault(article.story, []).extend([found] if found else [])
    for items in by_template.values():
        for first, second in itertools.combinations(items, 2):
            compared += 1
            grouped += event_similarity(first, second) > 0
    assert compared > 400 and grouped < 0.08 * compared


def test_two_sites_make_a_story_that_keeps_its_id(store: Store) -> None:
    stories: StoryTable = store.stories
    first, other = item(1, "a", DOHA), item(2, "b", DOHA_TOO)
    assert stories.assign([first], [], event_similarity, 0.0) == set()
    assert story_of(store, first) == [""]
    assert stories.assign([other], [], event_similarity, 0.0) == {1, 2}  # the first one is indexed again
    assert story_of(store, first, other) == [story_id(first.doc_id)] * 2
    later = item(3, "a", DOHA_TOO, "2016-04-20")
    assert stories.assign([later], [], event_similarity, 0.0) == {3}  # nobody else changes
    assert story_of(store, later) == [story_id(first.doc_id)]
    assert stories.assign([later, first], [], event_similarity, 0.0) == {1, 3}  # again, and in another order
    assert story_of(store, first, later, other) == [story_id(first.doc_id)] * 3


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("a", DOHA_TOO), id="the-same-site"),
        pytest.param(("b", DOHA_TOO, "2016-04-25"), id="a-week-later"),
        pytest.param(("b", PROFIT), id="another-event"),
    ],
)
def test_what_makes_no_story(store: Store, arguments: tuple[Any, ...]) -> None:
    first, other = item(1, "a", DOHA), item(2, *arguments)
    store.stories.assign([first, other], [], event_similarity, 0.0)
    assert story_of(store, first, other) == ["", ""]


def test_a_story_that_one_site_alone_tells_any_more_is_none(store: Store) -> None:
    first, other = item(1, "a", DOHA), item(2, "b", DOHA_TOO)
    store.stories.assign([first, other], [], event_similarity, 0.0)
    assert store.stories.assign([], [other.url_id], event_similarity, 0.0) == {1, 2}
    assert story_of(store, first) == [""]


def test_a_story_ends(store: Store) -> None:
    items = [item(n, "ab"[n % 2], DOHA, f"2016-04-{1 + 3 * n:02}") for n in range(8)]
    for one in items:
        store.stories.assign([one], [], event_similarity, 0.0)
    assert len(set(story_of(store, *items))) > 1


def test_vectors_make_up_for_some_words() -> None:
    words = item(1, "a", DOHA)
    less = replace(item(2, "b", DOHA_TOO), word_weights=dict(list(words.word_weights.items())[:12]))
    vector = bytes([100] * 8)
    alike = (replace(words, vector=vector), replace(less, vector=vector))
    assert event_similarity(*alike) >= event_similarity(words, less)


@pytest.mark.parametrize(
    "change",
    [{"published": ""}, {"published": "2016-04"}, {"page_type": PageType.REFERENCE}, {"title": "短", "body": "文"}],
)
def test_what_is_no_news(change: dict[str, str]) -> None:
    article = replace(Article("http://a.test/", *DOHA, "2016-04-18", page_type=PageType.ARTICLE), **change)
    assert to_news_item(StoredArticle(1, "x", "a", article), base_segmenter(), {}) is None
    copy = StoredArticle(1, "x", "a", Article("http://a.test/", *DOHA, "2016-04-18", page_type="article"), 0.0, "y")
    assert to_news_item(copy, base_segmenter(), {}) is None


def test_stories_follow_the_change_log(store: Store) -> None:
    def write(url: str, text: tuple[str, str] | None) -> None:
        keep_page(store, url, url.encode())
        extract_all(
            store,
            Article(url, *text, "2016-04-18", language="zh", page_type=PageType.ARTICLE)
            if text
            else Outcome(Reason.NO_BODY),
        )

    write("http://a.test/1", DOHA)
    write("http://b.test/2", PROFIT)
    assert relate_articles(store) == 0 and relate_articles(store) == 0
    ids = store.articles.find_url_ids([document_id("http://a.test/1")])
    assert [one.story_id for one in store.articles.load_by_url_ids(ids).values()] == [""]
