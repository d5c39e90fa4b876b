"""What every focused strategy promises: range, determinism, and that no page or link is too odd for it."""

import random
from collections.abc import Sequence

import pytest

from crawler.focused_policy import (
    BLOCK_CONTENT,
    BLOCK_TITLE,
    FocusedStrategy,
    LinkWords,
    PageWords,
    TopicWords,
    WordBlock,
)
from focused.strategy_registry import STRATEGIES

GEOLOGY = ("岩石", "玄武岩", "矿物", "火山", "断层", "地层", "沉积")
MUSIC = ("钢琴", "交响", "乐章", "歌剧", "旋律", "和声", "作曲")
FILLER = ("我们", "今天", "可以", "一个", "其中")

Step = tuple[float, Sequence[float | None], dict[str, float]]


def made_page(number: int, words: Sequence[str], seed: random.Random) -> PageWords:
    text = tuple(seed.choices(words, k=20) + seed.choices(FILLER, k=10))
    title = tuple(seed.choices(words, k=2))
    return PageWords(
        f"http://a.cn/{number}", title, (), (WordBlock(BLOCK_TITLE, title, 0.5), WordBlock(BLOCK_CONTENT, text, 0.5))
    )


def made_links(number: int, seed: random.Random) -> tuple[LinkWords, ...]:
    """Links of an even page are geology's, of an odd one music's."""
    words = MUSIC if number % 2 else GEOLOGY
    return tuple(
        LinkWords(f"http://a.cn/{number * 10 + place}", (seed.choice(words),), tuple(seed.choices(words, k=6)))
        for place in range(5)
    )


def web(count: int) -> list[tuple[PageWords, tuple[LinkWords, ...]]]:
    seed = random.Random(7)
    return [(made_page(n, MUSIC if n % 2 else GEOLOGY, seed), made_links(n, seed)) for n in range(count)]


def topic_of(pages: Sequence[tuple[PageWords, tuple[LinkWords, ...]]]) -> TopicWords:
    return TopicWords(("地质",), tuple(page for page, _ in pages if int(page.url.rsplit("/", 1)[1]) in (0, 2, 4)))


def crawled(focus: FocusedStrategy, pages: Sequence[tuple[PageWords, tuple[LinkWords, ...]]]) -> list[Step]:
    steps: list[Step] = []
    for page, links in pages:
        judgement = focus.score_page(page)
        priorities = focus.link_priorities(page, judgement, links)
        focus.observe_page(page, judgement)
        steps.append((judgement.score, priorities, dict(focus.take_changed_priorities())))
    return steps


@pytest.fixture(params=list(STRATEGIES))
def name(request: pytest.FixtureRequest) -> str:
    made: str = request.param
    return made


def test_scores_are_in_range_and_every_link_has_an_answer(name: str) -> None:
    pages = web(60)
    for (score, priorities, changed), (_, links) in zip(
        crawled(STRATEGIES[name](topic_of(pages)), pages), pages, strict=True
    ):
        assert 0.0 <= score <= 1.0
        assert len(priorities) == len(links)
        assert all(value is None or abs(value) < 1e6 for value in priorities)
        assert all(abs(value) < 1e6 for value in changed.values())


def test_the_same_crawl_gives_the_same_answers(name: str) -> None:
    pages = web(60)
    assert crawled(STRATEGIES[name](topic_of(pages)), pages) == crawled(STRATEGIES[name](topic_of(pages)), pages)


def test_a_page_of_the_topic_scores_above_one_that_is_not(name: str) -> None:
    pages = web(60)
    scores = [score for score, _, _ in crawled(STRATEGIES[name](topic_of(pages)), pages)]
    late = scores[30:]
    assert sum(late[0::2]) > sum(late[1::2]) + 1


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(PageWords("http://a.cn/odd"), id="a page without words"),
        pytest.param(
            PageWords("http://a.cn/odd", ("x1", "x2"), (), (WordBlock(BLOCK_CONTENT, ("x1", "x2", "x3")),)),
            id="unknown words",
        ),
        pytest.param(
            PageWords("http://a.cn/odd", (), (), (WordBlock(BLOCK_CONTENT, ("地质",) * 5000),)), id="one word"
        ),
    ],
)
@pytest.mark.parametrize("before", [0, 40])
def test_odd_pages(name: str, odd: PageWords, before: int) -> None:
    pages = web(40)
    focus = STRATEGIES[name](topic_of(pages))
    crawled(focus, pages[:before])
    links = (LinkWords("http://a.cn/odd-1"), LinkWords("http://a.cn/odd-2", ("没见过",), ()))
    ((score, priorities, _),) = crawled(focus, [(odd, links)])
    assert 0.0 <= score <= 1.0
    assert len(priorities) == 2


@pytest.mark.parametrize(
    "topic", [pytest.param(TopicWords(), id="nothing"), pytest.param(TopicWords(("地质",)), id="a name")]
)
def test_a_topic_of_little(name: str, topic: TopicWords) -> None:
    assert len(crawled(STRATEGIES[name](topic), web(20))) == 20


def test_a_page_without_links(name: str) -> None:
    pages = web(12)
    assert crawled(STRATEGIES[name](topic_of(pages)), [(pages[0][0], ())])[0][1] == []


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_a_page_of_very_many_links(strategy: str, count: int) -> None:
    pages = web(40)
    focus = STRATEGIES[strategy](topic_of(pages))
    crawled(focus, pages)
    many = tuple(LinkWords(f"http://a.cn/m{n}", (GEOLOGY[n % 7],), (MUSIC[n % 7],)) for n in range(count))
    ((_, priorities, _),) = crawled(focus, [(pages[1][0], many)])
    assert len(priorities) == len(many)
