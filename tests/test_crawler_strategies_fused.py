"""The parts of `fused`: what it remembers, and the numbers it judges by, in hand-computed cases."""

import numpy as np
import pytest

from crawler.strategies.focus import CONTENT, TITLE, LinkWords, PageWords, Topic, WordBlock
from crawler.strategies.fused import Fused, corrected
from crawler.strategies.fused_judge import latent
from crawler.strategies.fused_links import walked
from crawler.strategies.fused_memory import Column, Memory, WordRows, slug_words
from crawler.strategies.fused_pages import gathered
from crawler.strategies.fused_prior import prior_of
from semantics.topic_tree import Likeness, tree_of
from semantics.vectors import WordVectors
from semantics.word_similarity import WordSimilarity
from semantics.word_weights import WordStatistics


def remembered(*links: tuple[str, str]) -> Memory:
    """Pages in the order in which they are first linked from."""
    memory = Memory()
    for source in dict.fromkeys(source for source, _ in links):
        page = PageWords(source, (), (), (WordBlock(TITLE, ("word",)),))
        number = memory.add_page(page, memory.bag(page))
        memory.add_links(number, [LinkWords(target, ("to", target)) for one, target in links if one == source])
    return memory


def test_a_column_grows() -> None:
    column = Column(np.int64)
    column.add(range(1000))
    column.add(range(1000, 5000))
    assert column.values.tolist() == list(range(5000))
    column.values[0] = 7
    assert column.values[0] == 7


def test_rows_of_words_leave_out_what_is_not_known() -> None:
    rows = WordRows()
    rows.add(np.array([0, 2, -1]), [2, 1])
    rows.add(np.array([5, 1]), [2])
    assert rows.matrix(slice(0, 3), 3).toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert rows.matrix(slice(2, 3), 9).toarray()[0].nonzero()[0].tolist() == [1, 5]
    assert rows.matrix(slice(3, 3), 4).shape == (0, 4)


def test_memory_knows_links_depths_and_the_frontier() -> None:
    memory = remembered(("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"))
    assert [memory.urls[node] for node in memory.frontier()] == ["c", "d"]
    assert memory.depth.values.tolist() == [0, 1, 1, 2]
    assert memory.links_of == [(0, 2), (2, 4)]
    assert memory.into[memory.nodes["c"]] == [1, 2]


def test_slug_words_leave_out_numbers() -> None:
    assert slug_words("http://a.test/x/back-up_2.html") == ["/back", "/up"]


def test_a_walk_comes_past_what_relevant_pages_link_with() -> None:
    """a is relevant; b is linked with a by way of x, c with nothing: the walk reaches b and not c."""
    found = walked(remembered(("a", "x"), ("b", "x"), ("c", "y")), np.array([1.0, 0.0, 0.0]))
    assert found[0] > found[1] > 0.0 == found[2]


def test_singular_vectors_of_many_pages_are_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.sparse as sp

    matrix = sp.random_array((40, 60), density=0.3, rng=np.random.default_rng(3), format="csr")
    matrix = sp.csr_matrix(matrix)
    all_vectors, all_values = latent(matrix, 5)
    monkeypatch.setattr("crawler.strategies.fused_judge.MOST_AT_ONCE", 10)
    vectors, values = latent(matrix, 5)
    assert values == pytest.approx(all_values)
    assert np.abs((vectors * all_vectors).sum(axis=0)) == pytest.approx(np.ones(5))


def test_gathered_groups_may_be_empty() -> None:
    groups = gathered([[4, 5], [], [6]])
    assert groups.total(np.array([1.0, 2.0, 3.0])).tolist() == [3.0, 0.0, 3.0]


def test_a_prior_is_a_logistic_regression() -> None:
    """-1 + 2 * 0.5 + 1 * 3 = 3; a feature that is not named weighs nothing."""
    prior = prior_of({"own": {"": -1.0, "a": 2.0}, "relative": {"b": 1.0}}, ("a", "b"))
    assert prior(np.array([[0.5, 9.0]]), np.array([[7.0, 3.0]]))[0] == pytest.approx(1 / (1 + np.exp(-3.0)))


def test_weights_follow_what_the_links_turned_out_to_be() -> None:
    """Rows say that the second feature is what counts: its weight rises above the first's."""
    rows = np.random.default_rng(4).normal(size=(400, 2))
    weights = corrected(np.array([1.0, 1.0]), rows, 0.3 * rows[:, 1])
    assert weights[1] > weights[0]


def test_an_example_that_comes_late_is_still_one() -> None:
    example = PageWords("http://a.test/1", ("岩石",), (), (WordBlock(CONTENT, ("岩石", "矿物")),))
    focus = Fused(Topic(("岩石",), (example,)))
    for number in range(2, 30):
        page = PageWords(f"http://a.test/{number}", ("雨",), (), (WordBlock(CONTENT, ("雨", f"雪{number % 5}")),))
        focus.link_priorities(page, focus.keep(page), [LinkWords(f"http://a.test/x{number}", ("雨",))])
    judgement = focus.keep(example)
    assert judgement.score == 1.0
    assert len(focus.link_priorities(example, judgement, [LinkWords("http://a.test/y", ("岩石",))])) == 1


def test_the_mean_weight_is_kept_up_by_sums() -> None:
    """ZK-F2: the same as the mean over all words, after every document."""
    statistics = WordStatistics()
    for counts in ({"a": 3, "b": 1}, {"b": 2}, {"a": 1, "c": 4}):
        statistics.add(counts)
        own = [statistics.weight(word) for word in statistics.holding]
        assert statistics.weight("unseen") == pytest.approx(sum(own) / len(own))


def test_likeness_keeps_what_it_found_and_forgets_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(["岩石", "  玄武岩", "  花岗岩"])
    likeness = Likeness(tree, ["岩石", "花岗岩"])
    expected = (1.6 / 2.6 + 1.6 / 3.6) / 2
    assert likeness.mean(["玄武岩", "无"]) == likeness.mean(["玄武岩"]) == pytest.approx(expected)
    monkeypatch.setattr("semantics.topic_tree.MOST_KEPT", 1)
    assert likeness.mean(["花岗岩", "玄武岩"]) == pytest.approx((1.6 / 2.6 + 1) / 2)
    assert likeness.mean([]) == Likeness(tree, []).mean(["玄武岩"]) == 0.0


def test_similarity_to_many_words_is_that_to_each() -> None:
    vectors = WordVectors({"a": 0, "b": 1, "c": 2}, np.array([[1, 0], [0.8, 0.6], [-1, 0]], dtype=np.float32))
    similarity = WordSimilarity(vectors)
    assert vectors.to_all("a", ["b", "x", "c"]) == [pytest.approx(0.8), None, pytest.approx(-1.0)]
    assert similarity.to_all("a", ["a", "b", "x", "c"]) == [1.0, pytest.approx(0.9 * 0.8), 0.0, 0.0]
    assert vectors.to_all("x", ["a"]) == [None]
