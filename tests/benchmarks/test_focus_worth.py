"""What pages are worth and what a search answers, on a web small enough to compute by hand."""

import math

import numpy as np
import pytest

from benchmarks.focus_graph import Graph, Node, cut_latin
from benchmarks.focus_worth import WebIndex, citations, gain, grades_of, questions_of
from crawler.focused_policy import BLOCK_CONTENT, BLOCK_TITLE, LinkWords, PageWords, WordBlock

LONG = ("text",) * 40


def node(url: str, title: str, text: tuple[str, ...], links: str = "", label: str = "rock") -> Node:
    words = tuple(title.split())
    blocks = (WordBlock(BLOCK_TITLE, words, 0.5), WordBlock(BLOCK_CONTENT, text, 0.5))
    return Node(
        PageWords(url, words, (), blocks),
        tuple(LinkWords(one, ("see", one)) for one in links),
        (label,) if label else (),
    )


def web() -> Graph:
    """Five pages of rocks, of which b copies a and e has no text; f, which has no label, lists them all."""
    nodes = {
        "a": node("a", "basalt columns", ("a", *LONG), "cd"),
        "b": node("b", "basalt columns", ("a", *LONG), "c"),
        "c": node("c", "basalt lava", ("c", *LONG)),
        "d": node("d", "basalt lava", ("d", "basalt", *LONG), "c"),
        "e": node("e", "granite lava", ("short",)),
        "f": node("f", "all basalt lava", LONG, "abcde", label=""),
        "g": node("g", "basalt opera lava", LONG, "c", label="sound"),
    }
    return Graph("small", nodes, {"basalt": ("rock",)}, cut_latin)


def test_what_lists_pages_does_not_cite_them() -> None:
    assert citations(web()) == {"c": 4, "d": 1}


def test_copies_and_empty_pages_are_worth_nothing_and_cited_ones_more() -> None:
    graph = web()
    assert grades_of(graph, graph.relevant("basalt")) == {"a": 1, "b": 0, "c": 2, "d": 2, "e": 0}


def test_questions_are_the_name_with_words_that_titles_share() -> None:
    [question] = questions_of(web(), "basalt")
    assert question.words == ("basalt", "lava") and question.grades == {"c": 2, "d": 2, "e": 0}


def test_a_search_sees_only_what_was_crawled() -> None:
    index = WebIndex(web())
    nothing = np.zeros(7)
    seen = np.array([True, False, True, False, True, False, False])
    assert index.found(("basalt",), seen, nothing) == [0, 2]
    assert index.found(("unheard",), seen, nothing) == []
    assert index.found(("basalt",), seen, np.array([0, 0, 9.0, 0, 0, 0, 0])) == [2, 0]  # who is cited comes first


def test_answers_that_were_not_crawled_are_missing() -> None:
    graph = web()
    index, questions = WebIndex(graph), questions_of(graph, "basalt")
    assert index.ndcg(questions, ["c", "d"]) == pytest.approx(1)
    assert index.ndcg(questions, ["c"]) == pytest.approx(3 / (3 + 3 / math.log2(3)))
    assert index.ndcg(questions, []) == 0.0


def test_gain_falls_with_the_place() -> None:
    assert gain([3, 0, 1]) == pytest.approx(7 + 1 / 2)
