"""Vectors, concepts, trees and weights of words: the papers' formulas by hand-computed cases."""

import math
from collections import Counter

import numpy as np
import pytest

from domain.paper_settings import ZhouKunSettings
from focused.concepts.hownet import parse_sense, read_hownet, read_pooled_sememes
from focused.concepts.source import CombinedConcepts
from focused.concepts.synonym_groups import CilinConcepts, read_open_wordnet
from focused.paper_strategies.topic_tree import TreeSimilarity, build_term_tree, parse_tree
from focused.paper_strategies.word_similarity import (
    TopicWordIndex,
    WordSimilarity,
    combine_similarities,
)
from focused.paper_strategies.word_vectors import EMPTY_VECTORS, WordVectors, train_word_vectors
from focused.sparse_vectors import cosine
from focused.word_weights import WordWeights

TREE = parse_tree(["地质", "  岩石, 石头", "    玄武岩", "    花岗岩", "  地震", "音乐", "  钢琴"])
CILIN = ["Aa01A01= 人 士", "Aa01A02= 人类 生人", "Aa01B01= 老人 士", "Bb01A01# 石 土", "Aa02A01@ 我"]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "c": 1}, 4 / 5, id="ZK-F1, ZJ-F4"),
        pytest.param({"a": 3}, {"a": 5}, 1.0, id="length does not count"),
        pytest.param({"a": 1}, {"b": 1}, 0.0, id="nothing shared"),
        pytest.param({}, {"b": 1}, 0.0, id="zero vector"),
    ],
)
def test_cosine(left: dict[str, float], right: dict[str, float], expected: float) -> None:
    assert cosine(left, right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        pytest.param("玄武岩", "玄武岩", 0, id="itself"),
        pytest.param("玄武岩", "地质", 2, id="ancestor: the difference of depths"),
        pytest.param("玄武岩", "花岗岩", 2, id="siblings: by way of the nearest common ancestor"),
        pytest.param("玄武岩", "地震", 3, id="cousins"),
        pytest.param("石头", "岩石", 0, id="two words of one place"),
        pytest.param("玄武岩", "钢琴", math.inf, id="no common ancestor"),
        pytest.param("玄武岩", "无", math.inf, id="unknown"),
        pytest.param("无", "无", 0, id="unknown, itself"),
    ],
)
def test_tree_distance(one: str, other: str, distance: float) -> None:
    """ZJ-F6, ZJ-F7; symmetric."""
    assert TREE.distance(one, other) == TREE.distance(other, one) == distance


def test_tree_similarity_is_one_half_at_alpha() -> None:
    """ZJ-F5: alpha / (dist + alpha), alpha 1.6."""
    assert TREE.similarity("玄武岩", "花岗岩") == pytest.approx(1.6 / 3.6)
    assert TREE.similarity("玄武岩", "钢琴") == 0.0
    assert TREE.similarity("无", "无") == 1.0


def test_semantic_similarity_is_the_mean_of_the_best() -> None:
    """ZJ-F8 over two features: 花岗岩 finds 玄武岩 at 2, 钢琴 finds nothing."""
    features = TreeSimilarity(TREE, ["花岗岩", "钢琴"])
    assert features.mean_best_similarity(["玄武岩", "无"]) == pytest.approx((1.6 / 3.6) / 2)
    assert TreeSimilarity(TREE, []).mean_best_similarity(["玄武岩"]) == features.mean_best_similarity([]) == 0.0


def test_a_word_at_two_places_counts_by_the_nearer() -> None:
    tree = parse_tree(["a", " b", "  x", "c", " x"])
    assert tree.distance("x", "c") == 1
    assert tree.distance("x", "a") == 2


def test_grown_tree() -> None:
    """Each term is a root: terms that nobody has put below one another are not alike."""
    tree = build_term_tree({"岩石": ["玄武岩", "花岗岩"], "地震": []})
    assert tree.distance("玄武岩", "岩石") == 1
    assert tree.distance("玄武岩", "花岗岩") == 2
    assert tree.distance("玄武岩", "地震") == math.inf
    assert tree.roots_of_word("玄武岩") == tree.roots_of_word("岩石") != tree.roots_of_word("地震")
    assert build_term_tree({}).nodes_by_word == {}


def test_word_weight() -> None:
    """ZK-F2: (f / N) * ln(N / N_i)."""
    statistics = WordWeights(manual_weights={"中国": 0.01})
    for counts in ({"党": 2, "的": 1}, {"党": 1, "的": 1}, {"的": 3}, {"的": 1, "中国": 9}):
        statistics.add(Counter(counts))
    assert statistics.weight("党") == pytest.approx(3 / 4 * math.log(4 / 2))
    assert statistics.weight("的") == 0.0
    assert statistics.weight("中国") == 0.01
    mean = (3 / 4 * math.log(2) + 9 / 4 * math.log(4)) / 3
    assert statistics.weight("没见过") == pytest.approx(mean)


def test_word_weight_before_any_document() -> None:
    assert WordWeights().weight("党") == 0.0


def test_smoothed_idf() -> None:
    """WY-F12 [D]: ln((N + 1) / (n + 1/2))."""
    statistics = WordWeights()
    statistics.add({"a": 1, "b": 1})
    statistics.add({"a": 4})
    assert statistics.idf("a") == pytest.approx(math.log(3 / 2.5))
    assert statistics.idf("b") == pytest.approx(math.log(3 / 1.5))
    assert statistics.idf("c") == pytest.approx(math.log(3 / 0.5))


@pytest.mark.parametrize(
    ("vectors", "concepts", "expected"),
    [
        pytest.param(-0.1, 1.0, 0.0, id="1: opposed"),
        pytest.param(0.4, None, 0.0, id="2: too weak"),
        pytest.param(0.8, 0.5, 0.9 * 0.8, id="3 and 4: concepts too weak, vectors discounted"),
        pytest.param(0.8, 0.9, 0.6 * 0.9 + 0.4 * 0.8, id="4: both"),
        pytest.param(0.3, 0.9, 0.6 * 0.9, id="4: concepts alone"),
        pytest.param(0.52, None, 0.0, id="5: 0.468 is below Th1"),
        pytest.param(None, 0.9, 0.54, id="a missing value is 0, not opposed"),
        pytest.param(None, None, 0.0, id="neither"),
    ],
)
def test_word_similarity(vectors: float | None, concepts: float | None, expected: float) -> None:
    """ZK-A1 with alpha 0.9, beta 0.6, Th1 0.5, Th2 0.6."""
    assert combine_similarities(vectors, concepts, ZhouKunSettings()) == pytest.approx(expected)


def test_a_word_is_itself_whoever_knows_it() -> None:
    assert WordSimilarity(EMPTY_VECTORS)("无", "无") == 1.0


def test_index_gives_the_same_scores_as_no_index() -> None:
    """ZK-S2, and again once it had to be emptied."""
    similarity = WordSimilarity(EMPTY_VECTORS, CilinConcepts(CILIN))
    topic = ["人", "石"]
    for most in (1000, 1):
        index = TopicWordIndex(similarity, topic, most)
        for word in ("人类", "土", "人", "无", "人类"):
            direct = [(term, similarity(word, term)) for term in topic if similarity(word, term) > 0]
            assert list(index[word]) == direct


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param("人", "士", 1.0, id="one group"),
        pytest.param("人", "人类", 0.8, id="all levels but the last"),
        pytest.param("人类", "老人", 0.6, id="three levels"),
        pytest.param("人类", "我", 0.4, id="two levels"),
        pytest.param("人", "石", 0.0, id="none"),
        pytest.param("石", "土", 0.9, id="one group of related words"),
        pytest.param("人", "无", None, id="unknown"),
    ],
)
def test_cilin(one: str, other: str, expected: float | None) -> None:
    cilin = CilinConcepts(CILIN)
    assert cilin.similarity(one, other) == (pytest.approx(expected) if expected is not None else None)
    assert cilin.similarity(one, other) == cilin.similarity(other, one)


def test_cilin_relates_synonyms_only() -> None:
    assert CilinConcepts(CILIN).related("士") == ("人", "老人")
    assert CilinConcepts(CILIN).related("石") == CilinConcepts(CILIN).related("无") == ()


def test_wordnet() -> None:
    synsets = read_open_wordnet(
        ["# Chinese\n", "1-n\tcmn:lemma\t汽车\n", "1-n\tcmn:lemma\t小+汽车\n", "2-n\tcmn:lemma\t汽车\n"]
    )
    assert synsets.similarity("汽车", "小汽车") == 1.0
    assert synsets.related("汽车") == ("小汽车",)
    assert synsets.similarity("汽车", "船") is None


def test_pooled_sememes() -> None:
    """Of three words two share 动物, which counts ln(3/2), beside 家 and 野 of ln 3 each."""
    sememes = read_pooled_sememes(["猫\t动物 家\n", "狼\t动物 野\n", "桌\t用具\n", "空\t\n"])
    shared, own = math.log(3 / 2) ** 2, math.log(3) ** 2
    assert sememes.similarity("猫", "狼") == pytest.approx(shared / (shared + own))
    assert sememes.similarity("猫", "桌") == 0.0
    assert sememes.similarity("猫", "猫") == 1.0
    assert sememes.similarity("猫", "空") is None


LIU_LI = read_hownet(
    [
        "猫 /N/beast|走兽,*cry|叫\n",
        "狼 /N/beast|走兽,wild|野\n",
        "鸟 /N/bird|禽\n",
        "鸽 /N/bird|禽,belong=dove|鸽\n",
        "坏\n",
    ],
    ["0\tanimal|动物\t0\n", "1\tbeast|走兽\t0\n", "2\tbird|禽\t0\n", "3\twild|野\t3\n"],
)


@pytest.mark.parametrize(
    ("one", "other", "parts"),
    [
        pytest.param("狼", "猫", (1.0, 0.2, 1.0, 0.2), id="one sememe more, one symbol more"),
        pytest.param("狼", "鸟", (1.6 / 3.6, 0.2, 1.0, 1.0), id="first sememes two steps apart"),
        pytest.param("鸟", "鸽", (1.0, 1.0, 0.2, 1.0), id="one relation more"),
    ],
)
def test_liu_li(one: str, other: str, parts: tuple[float, ...]) -> None:
    """SimC = sum of beta_i * product of Sim_1 ... Sim_i."""
    expected = sum(beta * math.prod(parts[: i + 1]) for i, beta in enumerate((0.5, 0.2, 0.17, 0.13)))
    assert LIU_LI.similarity(one, other) == pytest.approx(expected)
    assert LIU_LI.similarity(other, one) == pytest.approx(expected)


def test_liu_li_of_unknown_and_equal_words() -> None:
    assert LIU_LI.similarity("狼", "坏") is None
    assert LIU_LI.similarity("狼", "狼") == 1.0


def test_a_definition_has_four_parts() -> None:
    sense = parse_sense("tool|用具,metal|金属,*LookFor|寻,#cry|喊,belong=police|警")
    assert sense.primary_sememe == "tool|用具"
    assert sense.other_sememes == ("metal|金属",)
    assert sense.sememes_by_symbol == {"*": ("LookFor|寻",), "#": ("cry|喊",)}
    assert sense.sememe_by_relation == {"belong": "police|警"}


def test_the_first_provider_that_knows_both_words_decides() -> None:
    both = CombinedConcepts([CilinConcepts(CILIN), read_pooled_sememes(["人\tx\n", "机\tx\n"])])
    assert both.similarity("人", "士") == 1.0
    assert both.similarity("人", "机") == pytest.approx(0.0)  # a sememe of all words says nothing
    assert both.similarity("人", "无") is None
    assert both.related("人") == ("士", "机")


def test_ahp_weights_are_the_eigenvector_of_the_comparisons() -> None:
    settings = ZhouKunSettings()
    weights = (settings.description_weight, settings.anchor_weight, settings.structure_weight)
    comparisons = np.array([[1, 1, 8], [1, 1, 8], [1 / 8, 1 / 8, 1]])
    assert comparisons @ weights == pytest.approx(len(weights) * np.array(weights))
    assert sum(weights) == pytest.approx(1.0)


TEXTS = [["cat", "eats", "fish"], ["dog", "eats", "meat"], ["cat", "drinks", "milk"], ["dog", "drinks", "water"]] * 5


def test_vectors_tell_words_of_like_company() -> None:
    vectors = train_word_vectors(TEXTS, dimensions=3)
    alike, unlike = vectors.similarity("cat", "dog"), vectors.similarity("cat", "meat")
    assert alike is not None
    assert unlike is not None
    assert alike > unlike
    assert "dog" in [word for word, _ in vectors.nearest("cat", 2, 0.0)]


def test_vectors_are_the_same_for_the_same_texts() -> None:
    assert (train_word_vectors(TEXTS, 3).matrix == train_word_vectors(TEXTS, 3).matrix).all()


@pytest.mark.parametrize("texts", [pytest.param([], id="no text"), pytest.param([["a", "b"]], id="rare words alone")])
def test_vectors_of_too_little(texts: list[list[str]]) -> None:
    vectors: WordVectors = train_word_vectors(texts)
    assert vectors.similarity("a", "b") is None
    assert vectors.nearest("a", 3, 0.0) == []
