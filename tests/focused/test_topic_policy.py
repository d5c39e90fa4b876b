"""The live crawl with each strategy, over HTTP and by one worker, fetches in the order of the replay."""

import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from benchmarks.focus_baselines import BreadthFirst
from benchmarks.focus_graph import Graph, Node
from benchmarks.focus_replay import replay
from crawler.crawl import crawl
from crawler.focused_policy import FocusedStrategy, TokenizedPage, TopicWords, WordTokenizer
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.parsing.links import parse_page
from crawler.settings import FOCUSED_STRATEGIES, CrawlSettings
from docstore.store import Store, open_sqlite_store
from domain.outcome import Reason
from domain.page import Page
from focused.state_snapshot import StateSnapshot
from focused.strategy_registry import STRATEGIES
from focused.topic.tokenizing import make_tokenizer, tokenize_example
from focused.topic_policy import TopicPolicy, TopicPolicyConfig
from pipeline.demo.articles import generate_articles
from pipeline.topic.page_reader import read_example
from tests.crawler_fakes import settings
from tests.web_fixture import Answer, Site
from text.segment import base_segmenter

PAGES = 50  # of one folder, all led to from within: no more than are followed before a site has proved to end
SEEDS = (3, 17)
LINKS = 7  # on a page


def exhaustive_unless_chosen(strategy: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a strategy: `make test` runs two, which keep most state, `make release-check` all."""
    return [] if strategy in ("fused", "semantic") else [pytest.mark.exhaustive]


def web() -> dict[str, Answer]:
    """Articles of the demo that link to each other, each link with the other's title and a sentence of it."""
    draw = random.Random(5)
    articles = draw.sample(generate_articles(), PAGES)
    pages = {}
    for number, article in enumerate(articles):
        links = "".join(
            f'<p>{escape(articles[other].paragraphs[0][:40])} <a href="/news/{name(other)}">'
            f"{escape(articles[other].title)}</a> {escape(articles[other].paragraphs[-1][:40])}</p>"
            for other in draw.sample([n for n in range(PAGES) if n != number], LINKS)
        )
        body = "".join(f"<p>{escape(text)}</p>" for text in article.paragraphs)
        html = f"<title>{escape(article.title)}</title><h1>{escape(article.title)}</h1>{body}{links}"
        pages[f"/news/{name(number)}"] = Answer(body=f"<!doctype html><meta charset=utf-8>{html}".encode())
    return pages


def name(number: int) -> str:
    """Names that no rule takes for a series."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:03}") + ".html"


def cut() -> WordTokenizer:
    return make_tokenizer(base_segmenter())


def graph_of(pages: Mapping[str, Answer], site: Site) -> Graph:
    """The same pages as the replay has them: read once, by the same eyes."""
    guide = TopicPolicy(means("fused", STRATEGIES["fused"](TopicWords())))
    readings: dict[str, TokenizedPage] = {}
    for path, answer in pages.items():
        url = site.url(path)
        page = Page(1, url, url, 200, answer.headers["Content-Type"], answer.body, "", 0.0)
        readings[url] = guide.tokenize_page(page, parse_page(page).links)
    nodes = {url: Node(one.words, one.links, ()) for url, one in readings.items()}
    return Graph("demo", nodes, {}, cut())


@pytest.fixture(scope="module")
def web_of_demo() -> Iterator[tuple[Site, Graph]]:
    """The site, and the graph that it is."""
    pages = web()
    with Site(pages) as site:
        yield site, graph_of(pages, site)


def means(strategy: str, focus: FocusedStrategy, *first: str) -> TopicPolicyConfig:
    words = cut()
    return TopicPolicyConfig(
        strategy,
        "页岩气",
        focus,
        lambda page: tokenize_example(read_example(page.url, page.body, page.content_type, page.final_url), words),
        words,
        seed_urls=frozenset(first),
    )


def topic_of(graph: Graph, seeds: list[str]) -> TopicWords:
    return TopicWords(("页岩气", "勘探"), tuple(graph.nodes[url].page for url in seeds), technical=("钻井",))


def live_order(store: Store, made: CrawlSettings, guide: TopicPolicy | None, site: Site, folder: Path) -> list[str]:
    site.requests.clear()
    with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
        crawl(store.frontier, fetcher, made, folder / "seen", focused_policy=guide)
    return [site.url(path) for path in site.asked() if path in site.pages]  # the others are probes for soft 404s


def one_worker(site: Site, strategy: str, **changes: object) -> tuple[CrawlSettings, list[str]]:
    seeds = [site.url(f"/news/{name(number)}") for number in SEEDS]
    topic = "" if strategy == "breadth_first" else "页岩气"
    return settings(
        *seeds,
        threads=1,
        depth=50,
        sitemaps=False,
        delay_factor=0.0,
        strategy=strategy,
        topic=topic,
        queue_policy="host",
        **changes,
    ), seeds


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "strategy",
    ["breadth_first", *(pytest.param(one, marks=exhaustive_unless_chosen(one)) for one in FOCUSED_STRATEGIES)],
)
def test_the_order_is_that_of_the_replay(strategy: str, web_of_demo: tuple[Site, Graph], tmp_path: Path) -> None:
    site, graph = web_of_demo
    with open_sqlite_store(tmp_path) as store:
        made, seeds = one_worker(site, strategy)
        new = (lambda topic: BreadthFirst()) if strategy == "breadth_first" else STRATEGIES[strategy]
        expected = replay(graph, new(topic_of(graph, seeds)), seeds, PAGES)
        guide = None
        if strategy != "breadth_first":
            guide = TopicPolicy(means(strategy, STRATEGIES[strategy](topic_of(graph, seeds)), *seeds))
        order = live_order(store, made, guide, site, tmp_path)
        assert order == [*seeds, *expected.fetched]
        assert len(order) > PAGES / 2 or strategy == "semantic"  # which follows no link below its threshold
        if guide is not None:
            verdicts = guide.current_scores()  # of a strategy that thinks again
            now = {
                one.url: verdicts[one.url].is_relevant if verdicts else one.is_retained
                for one in store.focused_decisions.iter_decisions()
            }
            assert {url for url, is_kept in now.items() if is_kept} - set(seeds) == expected.kept


@pytest.mark.parametrize(
    ("strategy", "is_kept"),
    [
        pytest.param(
            strategy,
            is_kept,
            id=f"{strategy}-{'kept' if is_kept else 'shown again'}",
            marks=exhaustive_unless_chosen(strategy),
        )
        for strategy in FOCUSED_STRATEGIES
        for is_kept in (False, True)
    ],
)
def test_a_crawl_in_three_parts_goes_on_as_one(
    strategy: str, is_kept: bool, web_of_demo: tuple[Site, Graph], tmp_path: Path
) -> None:
    """The state is made of the store again, or kept in a file: a new process knows what the last one knew."""
    site, graph = web_of_demo
    with open_sqlite_store(tmp_path) as store:
        made, seeds = one_worker(site, strategy, max_pages=11, revisit_shortest=24.0, hub_gap=24.0)
        expected = replay(graph, STRATEGIES[strategy](topic_of(graph, seeds)), seeds, 31)
        order: list[str] = []
        snapshot = StateSnapshot(tmp_path / "guide.state", b"k" * 32) if is_kept else None
        for part in range(3):
            new = means(strategy, STRATEGIES[strategy](topic_of(graph, seeds)), *seeds)
            guide = TopicPolicy(replace(new, snapshot=snapshot))
            guide.load_snapshot(store.focused_decisions.count)
            assert guide.next_seq == (part * 11 if is_kept else 0)
            assert guide.replay(store.focused_decisions.iter_decisions(guide.next_seq)) == []
            store.focused_decisions.update_priorities(guide.priority_by_url)
            order += live_order(store, made, guide, site, tmp_path)
            guide.save_snapshot()
        assert order == [*seeds, *expected.fetched][:33]


def test_what_is_off_topic_leaves_a_reason_and_its_words(web_of_demo: tuple[Site, Graph], tmp_path: Path) -> None:
    site, graph = web_of_demo
    with open_sqlite_store(tmp_path) as store:
        made, seeds = one_worker(site, "semantic")
        topic = TopicWords(("天然气水合物",), tuple(graph.nodes[url].page for url in seeds[:1]))
        guide = TopicPolicy(means("semantic", STRATEGIES["semantic"](topic), *seeds))
        asked = live_order(store, made, guide, site, tmp_path)
        judged = {one.url: one for one in store.focused_decisions.iter_decisions()}
        off = [url for url, one in judged.items() if not one.is_retained]
        assert set(judged) == set(asked)
        assert off
        for url in off:
            told = store.status.url_report(url)
            assert told is not None
            assert told.outcomes[0].reason == Reason.OFF_TOPIC
            assert "score 0." in told.outcomes[0].detail
            assert told.page is None
        never = next(link.url for url in judged for link in graph.nodes[url].links if link.url not in judged)
        found = store.focused_decisions.find_rejected_link(never)
        assert found is not None
        assert found[0].reason.startswith("semantic: link discarded") and found[1] in judged
        assert sum(one.decided_count for one in store.focused_decisions.harvest_by_host()) == len(asked)
