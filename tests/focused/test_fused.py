"""The parts of `fused`: what it remembers, and the numbers it judges by, in hand-computed cases."""

import numpy as np
import pytest
import scipy.sparse as sp

from crawler.focused_policy import (
    BLOCK_CONTENT,
    BLOCK_NAVIGATION,
    BLOCK_OTHER,
    BLOCK_TITLE,
    LinkWords,
    PageWords,
    TopicWords,
    WordBlock,
)
from focused.fused.crawl_graph import CrawlGraph, GrowingArray, LinkWordIds, split_path_and_slug
from focused.fused.latent_space import (
    MAX_CORE_WORDS,
    build_latent_space,
    compute_core_vector,
    compute_idf,
    truncated_svd,
)
from focused.fused.link_features import LINK_FEATURES, sum_word_scores
from focused.fused.link_text_model import LinkTextMatrices, fit_link_text_model, incoming_text_rows, link_text_matrices
from focused.fused.neighbour_scores import NeighbourScores, build_walk_matrix, compute_neighbour_scores, take_or_default
from focused.fused.page_features import find_nearest_pages, group_arrays, group_items
from focused.fused.pretrained import model_from_json
from focused.fused.strategy import FusedFeatureStrategy
from focused.paper_strategies.topic_tree import TreeSimilarity, parse_tree
from focused.paper_strategies.word_similarity import WordSimilarity
from focused.paper_strategies.word_vectors import WordVectors
from focused.word_weights import WordWeights


def remembered(*links: tuple[str, str]) -> CrawlGraph:
    """Pages in the order in which they are first linked from."""
    memory = CrawlGraph()
    for source in dict.fromkeys(source for source, _ in links):
        page = PageWords(source, (), (), (WordBlock(BLOCK_TITLE, ("word",)),))
        number = memory.add_page(page, memory.bag_of_words(page))
        memory.add_links(number, [LinkWords(target, ("to", target)) for one, target in links if one == source])
    return memory


def test_a_column_grows() -> None:
    column = GrowingArray(np.int64)
    column.extend(range(1000))
    column.extend(range(1000, 5000))
    assert column.values.tolist() == list(range(5000))
    column.values[0] = 7
    assert column.values[0] == 7


def test_rows_of_words_leave_out_what_is_not_known() -> None:
    rows = LinkWordIds()
    rows.add(np.array([0, 2, -1]), [2, 1])
    rows.add(np.array([5, 1]), [2])
    assert rows.to_csr(slice(0, 3), 3).toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert rows.to_csr(slice(2, 3), 9).toarray()[0].nonzero()[0].tolist() == [1, 5]
    assert rows.to_csr(slice(3, 3), 4).shape == (0, 4)


def test_memory_knows_links_depths_and_the_frontier() -> None:
    memory = remembered(("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"))
    assert [memory.node_urls[node] for node in memory.unfetched_nodes()] == ["c", "d"]
    assert memory.node_depth.values.tolist() == [0, 1, 1, 2]
    assert memory.page_link_ranges == [(0, 2), (2, 4)]
    assert memory.incoming_links[memory.node_ids["c"]] == [1, 2]


def test_slugs_leave_out_numbers() -> None:
    assert split_path_and_slug("http://a.test/x/back-up_2.html") == ("a.test/x", ["/back", "/up"])


def test_the_vocabulary_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focused.fused.crawl_graph.MAX_VOCABULARY", 2)
    memory = CrawlGraph()
    assert memory.get_or_add_word_ids(["a", "b", "c", "a"]).tolist() == [0, 1, -1, 0]
    assert memory.get_or_add_word_ids(["c", "b"]).tolist() == [-1, 1]


def company(memory: CrawlGraph, *relevance: float) -> NeighbourScores:
    """What pages of this relevance say of their company."""
    return compute_neighbour_scores(memory, build_walk_matrix(memory), np.array(relevance))


def test_a_walk_comes_past_what_relevant_pages_link_with() -> None:
    """a is relevant; b is linked with a by way of x, c with nothing: the walk reaches b and not c."""
    memory = remembered(("a", "x"), ("b", "x"), ("c", "y"))
    found = company(memory, 1.0, 0.0, 0.0)
    a, b, c = (found.walk_visits_for(np.array([memory.node_ids[name]]))[0] for name in "abc")
    assert a > b > 0.0 == c


def test_a_share_is_of_the_walks_that_come_past() -> None:
    """x is linked by a, which is relevant, y by c, which is not; what nobody comes past has the mean of all."""
    memory = remembered(("a", "x"), ("b", "x"), ("c", "y"))
    found = company(memory, 1.0, 1.0, 0.0)
    x, y, new = found.relevant_walk_share_for(np.array([memory.node_ids["x"], memory.node_ids["y"], 99]))
    assert x > 0.95 > 0.1 > y
    assert new == pytest.approx(2 / 3)


def test_what_came_after_a_look_has_the_value_of_others() -> None:
    assert take_or_default(np.array([5.0, 7.0]), np.array([1, 2, 0]), -1.0).tolist() == [7.0, -1.0, 5.0]


def test_a_page_is_not_its_own_sibling() -> None:
    """a links to b (1) and c (0); base 2/3: without b (0 + 2) / 4, without c (1 + 2) / 4."""
    memory = remembered(("a", "b"), ("a", "c"), ("b", "x"), ("c", "x"))
    found = company(memory, 1.0, 1.0, 0.0)
    source = np.zeros(2, dtype=np.int64)
    assert found.hub_scores_excluding(source, np.array([1.0, 0.0]), np.ones(2)).tolist() == pytest.approx(
        [2 / 4, 3 / 4]
    )


def test_the_pages_most_like_one_are_others() -> None:
    """Cosines 0.8 and 0.6 with the first, squared: (0.64 * 1 + 0.36 * 0) / 1."""
    pages = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]])
    values = np.array([9.0, 1.0, 0.0])
    assert find_nearest_pages(pages[:1], pages, np.array([0])).weighted_mean(values)[0] == pytest.approx(0.64, abs=1e-4)
    assert find_nearest_pages(pages[:1], pages, np.array([-1])).weighted_mean(values)[0] == pytest.approx(
        (9 + 0.64) / 2, abs=1e-4
    )


def test_singular_vectors_of_many_pages_are_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = sp.random_array((40, 60), density=0.3, rng=np.random.default_rng(3), format="csr")
    matrix = sp.csr_matrix(matrix)
    all_vectors, all_values = truncated_svd(matrix, 5)
    monkeypatch.setattr("focused.fused.latent_space.MAX_DENSE_SVD_PAGES", 10)
    vectors, values = truncated_svd(matrix, 5)
    assert values == pytest.approx(all_values)
    assert np.abs((vectors * all_vectors).sum(axis=0)) == pytest.approx(np.ones(5))


def test_many_pages_of_few_words_have_as_many_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focused.fused.latent_space.MAX_DENSE_SVD_PAGES", 10)
    matrix = np.random.default_rng(3).random((40, 4))
    vectors, values = truncated_svd(sp.csr_matrix(matrix), 5)
    assert vectors.shape == (40, 4)
    assert values == pytest.approx(np.linalg.svd(matrix, compute_uv=False))


def test_gathered_groups_may_be_empty() -> None:
    groups = group_items([[4, 5], [], [6]])
    assert groups.sum_by_owner(np.array([1.0, 2.0, 3.0])).tolist() == [3.0, 0.0, 3.0]
    arrays = group_arrays([np.array([4, 5]), np.array([], dtype=np.int64), np.array([6])])
    assert arrays.items.tolist() == [4, 5, 6]
    assert arrays.sum_by_owner(np.array([1.0, 2.0, 3.0])).tolist() == [3.0, 0.0, 3.0]


def test_paths_and_hubs_are_drawn_toward_the_mean_of_all() -> None:
    """a links to b (1) and x; base 2/3: b's path (1 + 3 * 2/3) / 4, with a the same path 2 of 2: (2 + 2) / 5."""
    memory = remembered(
        ("http://h/p/a", "http://h/p/b"), ("http://h/p/b", "http://h/q/c"), ("http://h/q/c", "http://o/")
    )
    found = company(memory, 1.0, 1.0, 0.0)
    assert found.hub_scores(np.arange(4)).tolist() == pytest.approx([(1 + 2) / 4, (0 + 2) / 4, 2 / 3, 2 / 3])
    assert found.path_relevance_for(np.arange(4)).tolist() == pytest.approx([(2 + 2) / 5, (0 + 2) / 4, 2 / 3, 2 / 3])


def test_scores_of_words_add_up_to_those_of_links() -> None:
    """A link of words 0 and 1, idf 3 and 4: length 5, mean by idf over 7; word 2 came after the look."""
    rows = LinkWordIds()
    rows.add(np.array([0, 1, 2]), [3])
    words = np.array([[3.0, 6.0, 0.0, 0.0, 3.0, 0.5, 3.0, 9.0], [4.0, 4.0, 0.0, 1.0, 0.0, 0.5, 4.0, 16.0]])
    assert sum_word_scores(rows.to_csr(slice(0, 1), 2), words)[0, :6].tolist() == pytest.approx(
        [7 / 5, 2, 0, 1 / 5, 3 / 7, 1]
    )


def linked_to(words: list[str]) -> CrawlGraph:
    """A page that links to a page a word, with the word as anchor; all are fetched."""
    memory = CrawlGraph()
    home = PageWords("home", (), (), (WordBlock(BLOCK_TITLE, ("home",)),))
    memory.add_links(
        memory.add_page(home, memory.bag_of_words(home)), [LinkWords(f"to{n}", (w,)) for n, w in enumerate(words)]
    )
    for number, word in enumerate(words):
        page = PageWords(f"to{number}", (), (), (WordBlock(BLOCK_TITLE, (word, "all")),))
        memory.add_links(memory.add_page(page, memory.bag_of_words(page)), [])
    return memory


def all_texts(memory: CrawlGraph) -> LinkTextMatrices:
    """The words of every link."""
    return link_text_matrices(memory, slice(0, len(memory.link_source_page.values)), len(memory.word_ids))


def test_words_of_links_are_taught_by_what_they_led_to() -> None:
    memory = linked_to(["stone", "stone", "song", "song", "song"])
    space = build_latent_space(memory, np.array([1]), np.zeros(len(memory.page_nodes)))
    relevance = np.array([0.5, 1.0, 1.0, 0.0, 0.0, 0.0])
    found = fit_link_text_model(memory, all_texts(memory), space, relevance)
    stone, song = memory.word_ids["stone"], memory.word_ids["song"]
    for scores in (found.word_weights, found.latent_word_weights):
        assert scores[stone] > 0 > scores[song]
    few = linked_to(["stone"])
    assert not fit_link_text_model(
        few, all_texts(few), space, relevance[:2]
    ).word_weights.any()  # one page teaches nothing


def test_a_page_counts_once_however_many_links_lead_to_it() -> None:
    """Two links to x, anchors of one word each with its URL: the mean of the two rows of unit length."""
    memory = remembered(("a", "x"), ("b", "x"), ("x", "y"))
    idf = np.ones(len(memory.word_ids))
    row = incoming_text_rows(memory, all_texts(memory), np.array([2]), idf).toarray()[0]
    assert np.linalg.norm(row) == pytest.approx(1.0)
    assert (
        row[[memory.word_ids["to"], memory.word_ids["/x"] if "/x" in memory.word_ids else memory.word_ids["x"]]].min()
        > 0.0
    )


def test_the_core_is_what_the_examples_have_in_common() -> None:
    """A word that both have, .8 and .2: the root of .8 * .2, .4. One that one of them has, .9: of .9 * 1e-3, .03."""
    shared = compute_core_vector(sp.csr_matrix(np.array([[0.8, 0.9, 0.0, 0.0], [0.2, 0.0, 0.9, 0.0]])))
    assert np.linalg.norm(shared) == pytest.approx(1.0)
    assert shared[1] == shared[2] == pytest.approx(shared[0] * 0.03 / 0.4, rel=0.05)
    assert shared[3] == 0.0
    many = np.linspace(0.1, 0.9, 3 * MAX_CORE_WORDS)
    kept = compute_core_vector(sp.csr_matrix(np.stack((many, many))))
    assert np.flatnonzero(kept).tolist() == list(range(2 * MAX_CORE_WORDS, 3 * MAX_CORE_WORDS))


def test_a_page_is_judged_by_what_it_says_itself() -> None:
    """Navigation never counts; other blocks do where they hold more words than the content."""
    title, menu = WordBlock(BLOCK_TITLE, ("stone",)), WordBlock(BLOCK_NAVIGATION, ("home", "home", "home"))
    content, other = WordBlock(BLOCK_CONTENT, ("basalt", "stone")), WordBlock(BLOCK_OTHER, ("lava", "lava"))
    assert PageWords("a", (), (), (title, content, menu, other)).own_word_counts == {"stone": 2, "basalt": 1}
    assert PageWords("a", (), (), (title, menu, other)).own_word_counts == {"stone": 1, "lava": 2}
    page = PageWords("a", (), (), (title, content))
    assert page.own_word_counts is page.word_counts
    assert PageWords("a").own_word_counts == {}


def test_words_of_general_language_say_little_however_seldom_they_were_met() -> None:
    memory = linked_to(["岩石", "的", "the", "basalt"])
    idf = build_latent_space(memory, np.array([1]), np.zeros(len(memory.page_nodes))).idf
    rock, of, the, basalt = (idf[memory.word_ids[word]] for word in ("岩石", "的", "the", "basalt"))
    assert basalt >= rock > 2.5 > 0.1 > of > the > 0
    memory = linked_to(["basalt", "basalt", "basalt", "的"])
    idf = build_latent_space(memory, np.array([1]), np.zeros(len(memory.page_nodes))).idf
    assert idf[memory.word_ids["basalt"]] > 2.5 > 0.1 > idf[memory.word_ids["的"]]  # three pages in four, and one


def test_the_topics_words_say_no_less_for_being_found() -> None:
    """Twenty pages of basalt and one of gneiss: those of basalt are of the topic, or count like all others."""
    memory = linked_to([*["basalt"] * 20, "gneiss"])
    basalt, gneiss = memory.word_ids["basalt"], memory.word_ids["gneiss"]
    on_topic = np.array([0.0, *[1.0] * 20, 0.0])
    idf, counted_alike = (
        build_latent_space(memory, np.array([1]), relevance).idf for relevance in (on_topic, np.zeros(22))
    )
    assert idf[basalt] > idf[gneiss]
    assert counted_alike[basalt] < counted_alike[gneiss] - 1
    assert compute_idf(np.array([1.0]), 2.0, np.array([0.5]))[0] == pytest.approx(
        np.log((2 + 100 + 1) / (1 + 50 + 0.5))
    )


def test_a_prior_is_a_logistic_regression() -> None:
    """-1 + 2 * 0.5 + 1 * 3 = 3; a feature that is not named weighs nothing."""
    prior = model_from_json({"own": {"": -1.0, "a": 2.0}, "relative": {"b": 1.0}}, ("a", "b"))
    assert prior(np.array([[0.5, 9.0]]), np.array([[7.0, 3.0]]))[0] == pytest.approx(1 / (1 + np.exp(-3.0)))


def crawled(pages: int) -> tuple[FusedFeatureStrategy, dict[str, float]]:
    """A strategy that has seen so many pages, half of them of stones, and every priority that it gave last."""
    example = PageWords("http://a.test/0", ("岩石",), (), (WordBlock(BLOCK_CONTENT, ("岩石", "矿物")),))
    focus = FusedFeatureStrategy(TopicWords(("岩石",), (example,)))
    priorities: dict[str, float] = {}
    for number in range(pages):
        word = ("岩石", "雨")[number % 2]
        page = PageWords(f"http://a.test/{number}", (word,), (), (WordBlock(BLOCK_CONTENT, (word, f"雪{number % 5}")),))
        page = page if number else example
        onward = [
            LinkWords(f"http://a.test/{number + step}", (("岩石", "雨")[(number + step) % 2],)) for step in (1, 2, 9)
        ]
        focus.link_priorities(page, focus.score_page(page), onward)
        priorities |= focus.take_changed_priorities()
    return focus, priorities


def test_a_page_is_judged_by_its_company_too() -> None:
    """Two pages of the same words: one that relevant pages link to, one that pages off topic link to."""
    focus, _ = crawled(40)
    sights = []
    for name, word in (("from_stones", "岩石"), ("from_rain", "雨")):
        for number in range(3):
            page = PageWords(f"http://a.test/{name}{number}", (word,), (), (WordBlock(BLOCK_CONTENT, (word,)),))
            links = [LinkWords(f"http://a.test/{name}", ("冰",))]
            focus.link_priorities(page, focus.score_page(page), links)
        sights.append(
            focus.score_page(
                PageWords(f"http://a.test/{name}", ("冰",), (), (WordBlock(BLOCK_CONTENT, ("冰",)),))
            ).score
        )
    assert sights[0] > sights[1]


@pytest.mark.parametrize("pages", [pytest.param(25, id="after a look"), pytest.param(28, id="in between")])
def test_the_parts_of_a_priority_add_up(pages: int) -> None:
    focus, priorities = crawled(pages)
    url = f"http://a.test/{pages + 8}"
    parts = focus.priority_contributions(url)
    assert [name for name, _, _ in parts] == list(LINK_FEATURES)
    assert sum(value * weight for _, value, weight in parts) == pytest.approx(priorities[url])
    assert focus.priority_contributions("http://a.test/unknown") == []


def test_a_list_of_what_is_of_the_topic_promises_more() -> None:
    """Two pages of the same words, neither about stones: the one whose links say stones is the one to go on from, as
    soon as it comes and after the next look."""
    focus, _ = crawled(40)
    for name, word in (("of_stones", "岩石"), ("of_rain", "雨")):
        page = PageWords(f"http://a.test/{name}", ("表",), (), (WordBlock(BLOCK_CONTENT, ("表", "冰", "风")),))
        focus.link_priorities(
            page, focus.score_page(page), [LinkWords(f"http://a.test/{name}{n}", (word,)) for n in (1, 2)]
        )
    stones, rain = focus._expected_yield.values[-2:]
    assert stones > rain
    focus._refit_model()
    stones, rain = focus._expected_yield.values[-2:]
    assert stones > rain


def test_an_address_of_the_topic_comes_first() -> None:
    _, priorities = crawled(40)
    assert priorities["http://a.test/48"] > priorities["http://a.test/47"]


def test_an_example_that_comes_late_is_still_one() -> None:
    example = PageWords("http://a.test/1", ("岩石",), (), (WordBlock(BLOCK_CONTENT, ("岩石", "矿物")),))
    focus = FusedFeatureStrategy(TopicWords(("岩石",), (example,)))
    for number in range(2, 30):
        page = PageWords(f"http://a.test/{number}", ("雨",), (), (WordBlock(BLOCK_CONTENT, ("雨", f"雪{number % 5}")),))
        focus.link_priorities(page, focus.score_page(page), [LinkWords(f"http://a.test/x{number}", ("雨",))])
    judgement = focus.score_page(example)
    assert judgement.score == 1.0
    assert len(focus.link_priorities(example, judgement, [LinkWords("http://a.test/y", ("岩石",))])) == 1


def test_the_mean_weight_is_kept_up_by_sums() -> None:
    """ZK-F2: the same as the mean over all words, after every document."""
    statistics = WordWeights()
    for counts in ({"a": 3, "b": 1}, {"b": 2}, {"a": 1, "c": 4}):
        statistics.add(counts)
        own = [statistics.weight(word) for word in statistics.document_frequency]
        assert statistics.weight("unseen") == pytest.approx(sum(own) / len(own))


def test_likeness_keeps_what_it_found_and_forgets_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = parse_tree(["岩石", "  玄武岩", "  花岗岩"])
    likeness = TreeSimilarity(tree, ["岩石", "花岗岩"])
    expected = (1.6 / 2.6 + 1.6 / 3.6) / 2
    assert (
        likeness.mean_best_similarity(["玄武岩", "无"])
        == likeness.mean_best_similarity(["玄武岩"])
        == pytest.approx(expected)
    )
    monkeypatch.setattr("focused.paper_strategies.topic_tree.MAX_CACHED_WORDS", 1)
    assert likeness.mean_best_similarity(["花岗岩", "玄武岩"]) == pytest.approx((1.6 / 2.6 + 1) / 2)
    assert likeness.mean_best_similarity([]) == TreeSimilarity(tree, []).mean_best_similarity(["玄武岩"]) == 0.0


def test_similarity_to_many_words_is_that_to_each() -> None:
    vectors = WordVectors({"a": 0, "b": 1, "c": 2}, np.array([[1, 0], [0.8, 0.6], [-1, 0]], dtype=np.float32))
    similarity = WordSimilarity(vectors)
    others = ("a", "b", "x", "c")
    rows = similarity.vectors_for(others)
    assert rows.tolist() == [pytest.approx(row) for row in ([1, 0], [0.8, 0.6], [0, 0], [-1, 0])]
    for one in ("a", "x", "unknown"):
        direct = [(other, pytest.approx(similarity(one, other))) for other in others if similarity(one, other) > 0]
        assert similarity.similar_words(one, others, rows) == direct
    assert similarity.similar_words("a", others, rows) == [("a", 1.0), ("b", pytest.approx(0.9 * 0.8))]
