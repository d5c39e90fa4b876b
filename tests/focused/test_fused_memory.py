"""What `fused` forgets: so many pages at most are remembered, and what is left is as if the others had not been."""

import pickle
import random
from functools import cache

import numpy as np
import pytest

from crawler.guide import CONTENT, TITLE, Instructions, LinkWords, PageReading, PageWords, TopicWords, WordBlock, packed
from docstore.frontier.focused_decisions import WHOLE, Sample, StoredDecision, StoredScore
from focused.fused.crawl_graph import CrawlGraph
from focused.fused.memory import part_of, remembered
from focused.fused.strategy import Fused
from focused.topic_guide import GuideConfig, TopicGuide

MOST = 40


def page_of(number: int, draw: random.Random) -> PageReading:
    """A page of one of two subjects with links to twelve others."""
    subject = "sound" if number % 3 else "stone"
    words = [f"{subject}{draw.randrange(20)}" for _ in range(12)] + [f"w{draw.randrange(200)}" for _ in range(30)]
    blocks = (WordBlock(TITLE, tuple(words[:2]), 0.5), WordBlock(CONTENT, tuple(words), 0.5))
    links = tuple(
        LinkWords(f"http://a.test/{other % 7}/p-{other}", (f"stone{other % 20}", f"t{other}"), tuple(words[:9]))
        for other in draw.sample(range(2000), 12)
        if other != number
    )
    return PageReading(PageWords(f"http://a.test/{number % 7}/p-{number}", blocks[0].words, (), blocks), links)


def pages(count: int) -> list[PageReading]:
    draw = random.Random(5)
    return [page_of(number, draw) for number in range(count)]


def graph_of(some: list[PageReading]) -> CrawlGraph:
    graph = CrawlGraph()
    for one in some:
        graph.add_links(graph.add_page(one.page, graph.bag(one.page)), one.links, one.page.counts.total())
    return graph


def by_name(graph: CrawlGraph) -> dict[str, object]:
    """All that a graph knows, by URLs and words instead of numbers."""
    names = np.array([*graph.words, ""])
    page_urls = [graph.urls[node] for node in graph.pages]
    every = slice(0, len(graph.source.values))
    anchors, contexts = (rows.matrix(every, len(graph.words)) for rows in (graph.anchors, graph.contexts))
    return {
        "words": [dict(zip(names[ids].tolist(), counts.tolist(), strict=True)) for ids, counts in graph.page_words],
        "titles": [names[ids].tolist() for ids in graph.titles],
        "pages": page_urls,
        "links": [(page_urls[source], graph.urls[node]) for source, node in zip(*ends(graph), strict=True)],
        "anchors": [sorted(names[row.indices].tolist()) for row in anchors],
        "contexts": [sorted(names[row.indices].tolist()) for row in contexts],
        "into": {graph.urls[node]: links for node, links in enumerate(graph.into) if links},
        "spans": graph.links_of,
        "degrees": graph.degree.values.tolist(),
        "paths": [list(graph.paths)[path] for path in graph.path.values.tolist()],
    }


def ends(graph: CrawlGraph) -> tuple[list[int], list[int]]:
    return graph.source.values.tolist(), graph.target.values.tolist()


def test_a_graph_of_some_pages_is_as_if_only_those_had_been_fetched() -> None:
    some = pages(30)
    whole, part = graph_of(some), [3, 7, 8, 20, 29]
    left, alone = by_name(part_of(whole, np.array(part))), by_name(graph_of([some[page] for page in part]))
    assert {name: left[name] for name in left if name != "paths"} == {
        name: alone[name] for name in alone if name != "paths"
    }


def test_a_graph_of_all_pages_is_the_graph() -> None:
    whole = graph_of(pages(30))
    left = part_of(whole, np.arange(30))
    assert by_name(left) == by_name(whole)
    assert (left.page_of.values == whole.page_of.values).all() and (left.depth.values == whole.depth.values).all()


def test_a_fetched_page_that_is_forgotten_is_no_page_of_the_frontier() -> None:
    whole = graph_of(pages(200))
    left = part_of(whole, np.arange(0, 200, 2))
    waiting, fetched = {left.urls[node] for node in left.frontier()}, {whole.urls[node] for node in whole.pages}
    assert waiting and not waiting & fetched


def test_words_of_a_page_after_forgetting_are_numbered_on() -> None:
    some = pages(30)
    left = part_of(graph_of(some), np.arange(5))
    size = len(left.words)
    left.numbers(["never", "seen", "never"])
    assert [left.words["never"], left.words["seen"]] == [size, size + 1]


def test_what_somebody_has_labelled_is_remembered_and_the_rest_is_a_sample_of_all() -> None:
    labelled = np.zeros(1000, dtype=bool)
    labelled[:10] = True
    found = remembered(labelled, 400)
    assert len(found) == 200 and found[:10].tolist() == list(range(10)) and (np.diff(found) > 0).all()
    assert 400 < found.mean() < 600


def focus_after(count: int, most: int = MOST) -> tuple[Fused, list[PageReading]]:
    """A strategy that has seen so many pages, with the pages; a copy, so that a test may change it."""
    focus, some = pickle.loads(pickled_focus(count, most))
    return focus, some


@cache
def pickled_focus(count: int, most: int) -> bytes:
    some = pages(count)
    topic = TopicWords(("stone1",), tuple(one.page for one in some[3:7:3]))
    focus = Fused(topic, most_pages=most)
    for one in some:
        focus.link_priorities(one.page, focus.keep(one.page), one.links)
    return pickle.dumps((focus, some))


def test_a_crawl_without_end_is_remembered_in_part_and_judged_as_a_whole() -> None:
    focus, some = focus_after(400)
    assert len(focus._graph.pages) <= MOST * 5 // 4 + 8
    verdicts, without_end = focus.verdicts(), focus_after(400, most=10**6)[0].verdicts()
    assert verdicts.keys() == {one.page.url for one in some}
    kept = [url for url, one in verdicts.items() if one.keep]
    right = sum(int(url.rpartition("-")[2]) % 3 == 0 for url in kept)
    assert right == len(kept) > 0.5 * sum(one.keep for one in without_end.values())
    assert all(verdicts[one.page.url].score == 1.0 for one in some[3:7:3])  # examples
    expected = focus.expected()
    assert expected is not None and expected.precision >= 0.8
    again = pickle.loads(pickle.dumps(focus))
    assert again.verdicts() == verdicts


def test_a_memory_that_nothing_fills_forgets_nothing() -> None:
    some, all_of_them = focus_after(60, most=60)[0], focus_after(60, most=10**6)[0]
    assert some.verdicts() == all_of_them.verdicts() and not some.forgotten()


def test_an_answer_counts_for_a_page_that_is_forgotten() -> None:
    focus, some = focus_after(400)
    gone = next(one.page.url for one in some if one.page.url in focus._forgotten)
    for said in (True, False):
        focus.instruct(Instructions(answers={gone: said}))
        assert focus.verdicts()[gone].score == float(said)
    assert gone not in focus.questions(10)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_forgotten_page_that_is_read_again_is_remembered_again(is_new: bool) -> None:
    focus, some = focus_after(400)
    gone = next(one for one in some if one.page.url in focus._forgotten)
    links = (LinkWords("http://a.test/new", ("stone1",)),) if is_new else gone.links
    focus.link_priorities(gone.page, focus.keep(gone.page), links)
    assert len(focus.verdicts()) == len(some)
    assert gone.page.url not in focus._forgotten


def test_a_guide_holds_the_priorities_of_what_is_remembered() -> None:
    some = pages(400)
    guide = guide_of(some)
    focus = guide.state.focus
    assert isinstance(focus, Fused)
    told: dict[str, float] = {}
    for one in some:
        told |= guide.judge(one, {}).priorities
    waiting = {focus._graph.urls[node] for node in focus._graph.frontier()}
    assert guide.priorities.keys() <= waiting | {link.url for one in some[-20:] for link in one.links}
    assert len(guide.priorities) < len(told.keys() - guide.state.shown)  # the table has those that are forgotten


def guide_of(some: list[PageReading]) -> TopicGuide:
    focus, examples = Fused(TopicWords(("stone1",), (some[3].page,)), most_pages=MOST), frozenset({some[3].page.url})
    return TopicGuide(
        GuideConfig("fused", "t", focus, lambda page: PageWords(page.url), lambda text: (), examples=examples)
    )


def test_a_start_without_a_state_shows_no_more_than_it_can_remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples and a fair sample are shown; of the others it is known that they were fetched, and what was thought."""
    monkeypatch.setattr("focused.topic_guide.MOST_RESTORED", 60)
    some = pages(400)
    rows = [StoredDecision(one.page.url, seq, "fused", "t", 0.3, False, packed(one)) for seq, one in enumerate(some)]
    guide = guide_of(some)
    sample = guide.sample(len(rows))
    assert sample == Sample(7, frozenset({some[3].page.url}))
    shown = [row for row in rows if row.seq % 7 == 0 or row.seq == 3]
    guide.take_as_judged(StoredScore(row.url, row.seq, row.score) for row in rows if row not in shown)
    guide.restore(shown)
    assert (guide.state.pages, guide.seq) == (400, 400)
    assert guide.state.shown == {row.url for row in rows}
    verdicts = guide.verdicts()
    assert verdicts.keys() == guide.state.shown and verdicts[rows[1].url].score == 0.3
    fetched = {one.page.url for one in some}
    assert guide.priorities and not guide.priorities.keys() & fetched
    assert guide.sample(60) == WHOLE
