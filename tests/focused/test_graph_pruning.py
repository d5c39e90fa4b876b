"""Pruning of `fused`: the graph has a maximum size, and equals a graph that never contained the evicted pages."""

import pickle
import random
from functools import cache

import numpy as np
import pytest

from crawler.focused_policy import (
    BLOCK_CONTENT,
    BLOCK_TITLE,
    LinkWords,
    PageWords,
    ReviewInstructions,
    TokenizedPage,
    TopicWords,
    WordBlock,
    serialize_page,
)
from domain.focused_decision import ALL_DECISIONS, DecisionSample, StoredFocusedDecision, StoredFocusedScore
from focused.fused.crawl_graph import CrawlGraph
from focused.fused.graph_pruning import extract_subgraph, sample_pages_to_retain
from focused.fused.strategy import FusedFeatureStrategy
from focused.topic_policy import TopicPolicy, TopicPolicyConfig

MOST = 40


def page_of(number: int, draw: random.Random) -> TokenizedPage:
    """A page of one of two subjects with links to twelve others."""
    subject = "sound" if number % 3 else "stone"
    words = [f"{subject}{draw.randrange(20)}" for _ in range(12)] + [f"w{draw.randrange(200)}" for _ in range(30)]
    blocks = (WordBlock(BLOCK_TITLE, tuple(words[:2]), 0.5), WordBlock(BLOCK_CONTENT, tuple(words), 0.5))
    links = tuple(
        LinkWords(f"http://a.test/{other % 7}/p-{other}", (f"stone{other % 20}", f"t{other}"), tuple(words[:9]))
        for other in draw.sample(range(2000), 12)
        if other != number
    )
    return TokenizedPage(PageWords(f"http://a.test/{number % 7}/p-{number}", blocks[0].words, (), blocks), links)


def pages(count: int) -> list[TokenizedPage]:
    draw = random.Random(5)
    return [page_of(number, draw) for number in range(count)]


def graph_of(some: list[TokenizedPage]) -> CrawlGraph:
    graph = CrawlGraph()
    for one in some:
        graph.add_links(
            graph.add_page(one.words, graph.bag_of_words(one.words)), one.links, one.words.word_counts.total()
        )
    return graph


def by_name(graph: CrawlGraph) -> dict[str, object]:
    """All that a graph knows, by URLs and words instead of numbers."""
    names = np.array([*graph.word_ids, ""])
    page_urls = [graph.node_urls[node] for node in graph.page_nodes]
    every = slice(0, len(graph.link_source_page.values))
    anchors, contexts = (
        rows.to_csr(every, len(graph.word_ids)) for rows in (graph.anchor_word_ids, graph.context_word_ids)
    )
    return {
        "words": [
            dict(zip(names[ids].tolist(), counts.tolist(), strict=True)) for ids, counts in graph.page_word_counts
        ],
        "titles": [names[ids].tolist() for ids in graph.title_word_ids],
        "pages": page_urls,
        "links": [(page_urls[source], graph.node_urls[node]) for source, node in zip(*ends(graph), strict=True)],
        "anchors": [sorted(names[row.indices].tolist()) for row in anchors],
        "contexts": [sorted(names[row.indices].tolist()) for row in contexts],
        "into": {graph.node_urls[node]: links for node, links in enumerate(graph.incoming_links) if links},
        "spans": graph.page_link_ranges,
        "degrees": graph.page_out_degree.values.tolist(),
        "paths": [list(graph.path_ids)[path] for path in graph.node_path_id.values.tolist()],
    }


def ends(graph: CrawlGraph) -> tuple[list[int], list[int]]:
    return graph.link_source_page.values.tolist(), graph.link_target_node.values.tolist()


def test_a_graph_of_some_pages_is_as_if_only_those_had_been_fetched() -> None:
    some = pages(30)
    whole, part = graph_of(some), [3, 7, 8, 20, 29]
    left, alone = by_name(extract_subgraph(whole, np.array(part))), by_name(graph_of([some[page] for page in part]))
    assert {name: left[name] for name in left if name != "paths"} == {
        name: alone[name] for name in alone if name != "paths"
    }


def test_a_graph_of_all_pages_is_the_graph() -> None:
    whole = graph_of(pages(30))
    left = extract_subgraph(whole, np.arange(30))
    assert by_name(left) == by_name(whole)
    assert (left.node_page_id.values == whole.node_page_id.values).all() and (
        left.node_depth.values == whole.node_depth.values
    ).all()


def test_a_fetched_page_that_is_forgotten_is_no_page_of_the_frontier() -> None:
    whole = graph_of(pages(200))
    left = extract_subgraph(whole, np.arange(0, 200, 2))
    waiting, fetched = (
        {left.node_urls[node] for node in left.unfetched_nodes()},
        {whole.node_urls[node] for node in whole.page_nodes},
    )
    assert waiting and not waiting & fetched


def test_words_of_a_page_after_forgetting_are_numbered_on() -> None:
    some = pages(30)
    left = extract_subgraph(graph_of(some), np.arange(5))
    size = len(left.word_ids)
    left.get_or_add_word_ids(["never", "seen", "never"])
    assert [left.word_ids["never"], left.word_ids["seen"]] == [size, size + 1]


def test_what_somebody_has_labelled_is_remembered_and_the_rest_is_a_sample_of_all() -> None:
    labelled = np.zeros(1000, dtype=bool)
    labelled[:10] = True
    found = sample_pages_to_retain(labelled, 400)
    assert len(found) == 200 and found[:10].tolist() == list(range(10)) and (np.diff(found) > 0).all()
    assert 400 < found.mean() < 600


def focus_after(count: int, most: int = MOST) -> tuple[FusedFeatureStrategy, list[TokenizedPage]]:
    """A strategy that has seen so many pages, with the pages; a copy, so that a test may change it."""
    focus, some = pickle.loads(pickled_focus(count, most))
    return focus, some


@cache
def pickled_focus(count: int, most: int) -> bytes:
    some = pages(count)
    topic = TopicWords(("stone1",), tuple(one.words for one in some[3:7:3]))
    focus = FusedFeatureStrategy(topic, max_pages=most)
    for one in some:
        focus.link_priorities(one.words, focus.score_page(one.words), one.links)
    return pickle.dumps((focus, some))


def test_a_crawl_without_end_is_remembered_in_part_and_judged_as_a_whole() -> None:
    focus, some = focus_after(400)
    assert len(focus._graph.page_nodes) <= MOST * 5 // 4 + 8
    verdicts, without_end = focus.current_scores(), focus_after(400, most=10**6)[0].current_scores()
    assert verdicts.keys() == {one.words.url for one in some}
    kept = [url for url, one in verdicts.items() if one.is_relevant]
    right = sum(int(url.rpartition("-")[2]) % 3 == 0 for url in kept)
    assert right == len(kept) > 0.5 * sum(one.is_relevant for one in without_end.values())
    assert all(verdicts[one.words.url].score == 1.0 for one in some[3:7:3])  # examples
    assert sum(verdicts[url].score for url in kept) >= 0.8 * len(kept)
    again = pickle.loads(pickle.dumps(focus))
    assert again.current_scores() == verdicts


def test_a_memory_that_nothing_fills_forgets_nothing() -> None:
    some, all_of_them = focus_after(60, most=60)[0], focus_after(60, most=10**6)[0]
    assert some.current_scores() == all_of_them.current_scores() and not some.take_forgotten_urls()


def test_an_answer_counts_for_a_page_that_is_forgotten() -> None:
    focus, some = focus_after(400)
    gone = next(one.words.url for one in some if one.words.url in focus._evicted_scores)
    for said in (True, False):
        focus.apply_instructions(ReviewInstructions(labels_by_url={gone: said}))
        assert focus.current_scores()[gone].score == float(said)
    assert gone not in focus.pages_to_label(10)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_forgotten_page_that_is_read_again_is_remembered_again(is_new: bool) -> None:
    focus, some = focus_after(400)
    gone = next(one for one in some if one.words.url in focus._evicted_scores)
    links = (LinkWords("http://a.test/new", ("stone1",)),) if is_new else gone.links
    focus.link_priorities(gone.words, focus.score_page(gone.words), links)
    assert len(focus.current_scores()) == len(some)
    assert gone.words.url not in focus._evicted_scores


def test_a_guide_holds_the_priorities_of_what_is_remembered() -> None:
    some = pages(400)
    guide = guide_of(some)
    focus = guide.state.strategy
    assert isinstance(focus, FusedFeatureStrategy)
    told: dict[str, float] = {}
    for one in some:
        told |= guide.decide(one, {}).priorities
    waiting = {focus._graph.node_urls[node] for node in focus._graph.unfetched_nodes()}
    assert guide.priority_by_url.keys() <= waiting | {link.url for one in some[-20:] for link in one.links}
    assert len(guide.priority_by_url) < len(
        told.keys() - guide.state.assessed_urls
    )  # the table has those that are forgotten


def guide_of(some: list[TokenizedPage]) -> TopicPolicy:
    focus, examples = (
        FusedFeatureStrategy(TopicWords(("stone1",), (some[3].words,)), max_pages=MOST),
        frozenset({some[3].words.url}),
    )
    return TopicPolicy(
        TopicPolicyConfig("fused", "t", focus, lambda page: PageWords(page.url), lambda text: (), example_urls=examples)
    )


def test_a_start_without_a_state_shows_no_more_than_it_can_remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples and a fair sample are shown; of the others it is known that they were fetched, and what was thought."""
    monkeypatch.setattr("focused.topic_policy.MAX_REPLAYED_PAGES", 60)
    some = pages(400)
    rows = [
        StoredFocusedDecision(one.words.url, seq, "fused", "t", 0.3, False, serialize_page(one))
        for seq, one in enumerate(some)
    ]
    guide = guide_of(some)
    sample = guide.replay_sample(len(rows))
    assert sample == DecisionSample(7, frozenset({some[3].words.url}))
    shown = [row for row in rows if row.seq % 7 == 0 or row.seq == 3]
    guide.restore_scores(StoredFocusedScore(row.url, row.seq, row.score) for row in rows if row not in shown)
    guide.replay(shown)
    assert (guide.state.page_count, guide.next_seq) == (400, 400)
    assert guide.state.assessed_urls == {row.url for row in rows}
    verdicts = guide.current_scores()
    assert verdicts.keys() == guide.state.assessed_urls and verdicts[rows[1].url].score == 0.3
    fetched = {one.words.url for one in some}
    assert guide.priority_by_url and not guide.priority_by_url.keys() & fetched
    assert guide.replay_sample(60) == ALL_DECISIONS
