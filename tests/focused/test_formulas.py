"""The formulas of the three crawl papers, by hand-computed cases (METHODS 2.3 to 2.5, 3.3 to 3.8, 4.2, 4.3)."""

import math

import pytest

from crawler.guide import ANCHOR, CONTENT, NAVIGATION, TITLE, LinkWords, PageWords, Relevance, TopicWords, WordBlock
from focused.papers.concepts_groups import Cilin
from focused.papers.feature_library import (
    EVERY,
    DynamicLibrary,
    Expansion,
    SharedTerms,
    expansions,
    substituted,
    template_of,
)
from focused.papers.knowledge import Given
from focused.papers.positions import position_weights, term_weights, weighted_frequency
from focused.papers.semantic import LEAD, Semantic, SemanticSettings, described
from focused.papers.semantic_tree import SemanticTree, TreeSettings, page_score
from focused.papers.threshold import Threshold
from focused.papers.topic_library import TopicLibrary
from focused.papers.topic_tree import tree_of
from focused.papers.url_structure import History, StructureSettings, jaccard, letters, likeness, same_structure
from focused.papers.vectors import EMPTY
from text.word_weights import WordStatistics

HOST = "http://www.a.cn"


def page(*blocks: tuple[str, str], url: str = f"{HOST}/1", description: str = "") -> PageWords:
    made = tuple(WordBlock(kind, tuple(words.split()), 1 / len(blocks)) for kind, words in blocks)
    title = next((block.words for block in made if block.kind == TITLE), ())
    return PageWords(url, title, tuple(description.split()), made)


# -- Zhou


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param("abc", "bcd", 2 / 4, id="sets of characters"),
        pytest.param("aab", "ab", 1.0, id="how often does not count"),
        pytest.param("", "", 0.0, id="two empty parts"),
    ],
)
def test_jaccard(one: str, other: str, expected: float) -> None:
    """ZK-F4."""
    assert jaccard(letters(one), letters(other)) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # hosts: www 1/2 * 0.4 + 1 * 0.3 + 1 * 0.2 = 0.7; paths: 1 * 0.5 + J(ab, ac) 1/3 * 0.25
        pytest.param(f"{HOST}/x/ab", f"{HOST}/x/ac", 0.4 * 0.7 + 0.6 * (0.5 + 0.25 / 3), id="one host, like paths"),
        pytest.param(f"{HOST}/x", f"{HOST}/y", 0.4 * 0.7, id="one host, unlike paths"),
        pytest.param("http://a.cn/x", "http://news.a.cn/y", 1.0, id="a host contains the other"),
        pytest.param("http://ab.cn/", "http://ac.com/", 0.4 * (0.4 / 3 + 0.3 * 1 / 4), id="other host, no path"),
    ],
)
def test_url_likeness(one: str, other: str, expected: float) -> None:
    """ZK-A2."""
    assert likeness(one, other) == pytest.approx(expected)
    assert same_structure(one, other) is (expected > 0.6)


def test_equal_hosts_are_alike_when_read_literally() -> None:
    settings = StructureSettings(proper=False)
    assert likeness(f"{HOST}/x", f"{HOST}/y", settings) == 1.0


def test_host_weights_never_fall_below_nothing() -> None:
    many = "http://a.b.c.d.e.f.g.h/"
    assert likeness(many, many) == pytest.approx(0.4 * (0.4 + 0.3 + 0.2 + 0.1))


def test_structure_by_a_sample_of_the_history() -> None:
    """ZK-A3: more than half of those drawn, 0 for an empty history; the same seed draws the same."""
    history = History(seed=3, sample=4)
    assert history.struct(f"{HOST}/x/ab", history.drawn()) == 0.0
    for number in range(10):
        history.add(f"{HOST}/x/a{number}")
    again = History(seed=3, sample=4)
    again._urls = list(history._urls)
    drawn = history.drawn()
    assert drawn == again.drawn()
    assert len(drawn) == 4
    assert history.struct(f"{HOST}/x/a77", drawn) == 1.0
    assert history.struct("http://b.org/q", drawn) == 0.0


def seen_semantic(discard: bool = True) -> tuple[Semantic, PageWords]:
    """Topic 党 after four pages: idf ln 2 for 党, of which there are three."""
    topic = TopicWords(name=("党",))
    semantic = Semantic(topic, settings=SemanticSettings(discard=discard))
    first = page((TITLE, "党 建"), url=f"{HOST}/x/1")
    for one in (first, page((TITLE, "党 党"), url=f"{HOST}/2"), page((TITLE, "雨")), page((TITLE, "雪"))):
        judgement = semantic.keep(one)
        semantic.learn(one, judgement)
    return semantic, first


def test_relevance_of_words() -> None:
    """ZK-F3: one of two distinct words is the topic's name, whose weight is 2: w * 2 * 1 / 2."""
    semantic, _ = seen_semantic()
    weight = 3 / 4 * math.log(4 / 2)
    assert semantic.relevance(("党", "云", "党")) == pytest.approx(weight * 2 / 2)
    assert semantic.relevance(()) == 0.0


def test_link_priority() -> None:
    """ZK-F5 with the AHP weights; the URL of the kept page speaks for its neighbour."""
    semantic, first = seen_semantic()
    relevance = 2 * 3 / 4 * math.log(2)
    of_page = 0.1
    judgement = Relevance(True, of_page / (1 + of_page))
    links = [LinkWords(f"{HOST}/x/2", ("党",)), LinkWords("http://b.org/", ("雨",))]
    found = semantic.link_priorities(first, judgement, links)
    assert found[0] == pytest.approx(8 / 17 * of_page + 8 / 17 * relevance)
    assert found[1] is None


def test_what_is_off_topic_is_not_followed() -> None:
    """ZK-S1, step 3; put behind all else where nothing may be left out, the better first."""
    links = [LinkWords(f"{HOST}/9", ("党",)), LinkWords(f"{HOST}/9", ("雪",))]
    off = page((TITLE, "雨"))
    for discard in (True, False):
        semantic, _ = seen_semantic(discard)
        found = semantic.link_priorities(off, Relevance(False, 0.0), links)
        if discard:
            assert found == [None, None]
        else:
            better, worse = (value for value in found if value is not None)
            assert worse < better < -500


def test_relevance_goes_by_the_examples() -> None:
    """Pages that say a word twenty times make ZK-F3 ten times as large, but not beside the paper's constants."""
    examples = tuple(page((TITLE, f"井 油 {name}"), url=f"{HOST}/{name}") for name in "甲乙丙")
    found: dict[bool, list[float]] = {}
    for by_examples in (True, False):
        semantic = Semantic(TopicWords(examples=examples), settings=SemanticSettings(by_examples=by_examples))
        scores = []
        for number in range(1, 129):
            words = "井 油 " * (1 if number <= 60 else 20) if number % 8 == 0 else f"雨 雪 {number}"
            semantic.keep(page((TITLE, words), url=f"{HOST}/{number}"))
            if number in (60, 128):
                scores.append(semantic.relevance(("井", "油")))
        found[by_examples] = scores
    (early, late), (printed_early, printed_late) = found[True], found[False]
    assert printed_late > 10 * printed_early
    assert late / early == pytest.approx(1, abs=0.4)
    assert min(early, late) > SemanticSettings().description


# -- Wu


def test_term_weights() -> None:
    """WY-F6: weights 0.5 each: a 0.5 * 1, b 0.5 * 1 + 0.5 * 2, of 2 in all."""
    blocks = (WordBlock(TITLE, ("a", "b"), 0.5), WordBlock(CONTENT, ("b", "b"), 0.5))
    assert term_weights(blocks, 9) == pytest.approx({"a": 0.25, "b": 0.75})
    assert term_weights(blocks, 1) == pytest.approx({"b": 0.75})
    assert term_weights((), 9) == {}


def test_position_weights() -> None:
    """WY-F13 with F14: a in a title, b in content twice and in navigation; idf 1 for words that all documents hold."""
    statistics = WordStatistics()
    statistics.add({"a": 1, "b": 1})
    by_kind = {TITLE: {"a": 1}, CONTENT: {"b": 2}, NAVIGATION: {"b": 1}}
    a, b = 1 * 1.0, 3 * (0.6 + 0.1)
    length = math.hypot(a, b)
    assert position_weights(by_kind, statistics) == pytest.approx({"a": a / length, "b": b / length})
    assert position_weights({}, statistics) == {}


def test_words_become_concepts() -> None:
    """WY-A3, steps 1 and 3: of two concepts the more similar, then the first; a term stays itself."""
    expanded = [Expansion("国税", "税", 0.7), Expansion("国税", "机关", 0.9), Expansion("税", "机关", 1.0)]
    template = template_of(["税", "机关"], expanded)
    assert template == {"国税": "机关", "税": "税", "机关": "机关"}
    assert substituted({"国税": 2, "雨": 1, "机关": 3}, template) == {"机关": 5, "雨": 1}
    assert template_of(["a", "b"], [Expansion("x", "a", 0.5), Expansion("x", "b", 0.5)])["x"] == "a"


def test_synonyms_expand_terms() -> None:
    """WY-A2, scheme 1."""
    cilin = Cilin(["Aa01A01= 税 赋税 捐税"])
    assert expansions(["税", "无"], cilin, EMPTY) == [Expansion("赋税", "税", 1.0), Expansion("捐税", "税", 1.0)]


def test_a_page_of_synonyms_is_kept_by_concepts() -> None:
    """WY-A3: the page has no word of the topic, but a synonym."""
    topic = TopicWords(name=("税",))
    other = page((TITLE, "赋税 制度"), (CONTENT, "赋税 雨"))
    by_concept = TopicLibrary(topic, Given(concepts=Cilin(["Aa01A01= 税 赋税"]))).keep(other)
    literal = TopicLibrary(topic).keep(other)
    assert by_concept.score > 0.5 > literal.score == 0.0


def test_block_sum_weighs_kinds() -> None:
    """WY-F9: a page with the topic's word alone in its title has c1 = 0.3."""
    from focused.papers.topic_library import LibrarySettings

    strategy = TopicLibrary(TopicWords(name=("税",)), settings=LibrarySettings(block_sum=True))
    assert strategy.keep(page((TITLE, "税"), (ANCHOR, "雨"))).score == pytest.approx(0.3)


def test_what_kept_pages_share_weighs_by_their_mean() -> None:
    """WY-F7, automatic: from three pages on; all words have one idf, so pages are (1, 0), (1, 0), (1, 1) / sqrt 2."""
    statistics = WordStatistics()
    statistics.add({"印花税": 1, "雨": 1})
    shared = SharedTerms()
    for number, counts in enumerate(({"印花税": 1}, {"印花税": 1}, {"印花税": 1, "雨": 1})):
        assert (number < 3) == (shared.weights({"税": 1.0}, statistics) == {})
        shared.add(counts)
    half = math.sqrt(1 / 2)
    expected = {"印花税": 0.5 * (2 + half) / 3, "雨": 0.5 * half / 3}
    assert shared.weights({"税": 1.0}, statistics) == pytest.approx(expected)


def test_threshold_is_between_examples_and_ground() -> None:
    """level 0.4; ground (0.1 * 10 + 50 * 0.04) / 60 = 0.05: 0.4 ^ 0.4 * 0.05 ^ 0.6."""
    threshold = Threshold(0.2)
    assert threshold.value == 0.2
    threshold.take_level([0.3, 0.5])
    for _ in range(10):
        threshold.add(0.1)
    assert threshold.value == pytest.approx(0.4**0.4 * 0.05**0.6)
    threshold.take_level([])
    assert threshold.value == 0.2


def test_blocks_of_a_kind_count_as_one() -> None:
    """Reading of WY-F14."""
    one = page((CONTENT, "a"), (TITLE, "b"), (CONTENT, "c a"))
    assert one.by_kind == {CONTENT: {"a": 2, "c": 1}, TITLE: {"b": 1}}


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        pytest.param("d e", ("t", "d", "e"), id="its own"),
        pytest.param("", ("t", *["x"] * LEAD), id="none: the first words of its text"),
    ],
)
def test_what_describes_a_page(description: str, expected: tuple[str, ...]) -> None:
    one = page((TITLE, "t"), (CONTENT, "x " * 40), (NAVIGATION, "y"), (CONTENT, "x " * 400), description=description)
    assert described(one) == expected


@pytest.mark.parametrize("automatic", [True, False])
def test_dynamic_library(automatic: bool) -> None:
    """After 50 kept pages what five of them share becomes a term, at once or once it is confirmed."""
    library = DynamicLibrary(automatic)
    grown = [
        library.add(["印花税", "税"] if number < 5 else ["雨"] if number == 9 else [], {"税": "税"})
        for number in range(EVERY)
    ]
    assert grown == [False] * (EVERY - 1) + [automatic]
    assert (library.confirmed, library.pending) == ((["印花税"], []) if automatic else ([], ["印花税"]))
    if not automatic:
        library.confirm(("印花税",))
        assert (library.confirmed, library.pending) == (["印花税"], [])


def test_classes_of_terms_have_weights() -> None:
    """METHODS 3.7 [D]: Fs 1.0, Fb 0.8, Fv 0.6; a term of two classes has the larger."""
    topic = TopicWords(name=("税",), professional=("印花税",), subject=("国税局", "税"), judgement=("偷漏",))
    assert topic.terms == {"税": 1.0, "印花税": 1.0, "国税局": 0.8, "偷漏": 0.6}


# -- Zhang


def test_weighted_frequency() -> None:
    """ZJ-F3 [D]: title 3, anchor 1.5, text 1, meta 0.5; of 7.5 in all."""
    one = page((TITLE, "a"), (ANCHOR, "b"), (CONTENT, "a b"), description="c c")
    assert weighted_frequency(one) == pytest.approx({"a": 4 / 7.5, "b": 2.5 / 7.5, "c": 1 / 7.5})
    assert weighted_frequency(page()) == {}


def test_similarity_is_half_angle_half_meaning() -> None:
    """ZJ-F9: no word is shared (cosine 0), the tree says 1.6 / 2.6."""
    tree = tree_of(["岩石", "  玄武岩"])
    strategy = SemanticTree(TopicWords(name=("岩石",)), Given(tree=tree))
    assert strategy.keep(page((TITLE, "玄武岩"))).score == pytest.approx(0.5 * 1.6 / 2.6)


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        pytest.param([], 0.5, id="no children"),
        pytest.param([0.6, 0.4, 0.1], 0.8 * 0.5 + 0.2 * 0.5, id="most are relevant: the mean of the valid"),
        pytest.param([0.6, 0.1, 0.0], 0.5, id="most are not: the page alone"),
        pytest.param([0.6, 0.1], 0.8 * 0.5 + 0.2 * 0.35, id="otherwise: the mean of all"),
    ],
)
def test_page_score(children: list[float], expected: float) -> None:
    """ZJ-F10 with delta 0.8 and 0.2 as the mark of a valid child."""
    assert page_score(0.5, children, TreeSettings(), 0.2) == pytest.approx(expected)


def test_tunnelling() -> None:
    """A weak page whose links speak of the topic hands them on before a like page's that do not (ZJ-F10)."""
    strategy = SemanticTree(TopicWords(name=("岩石",)))
    weak = page((TITLE, "雨"))
    judgement = strategy.keep(weak)
    through, off = strategy.link_priorities(
        weak, judgement, [LinkWords(f"{HOST}/a", ("岩石",)), LinkWords(f"{HOST}/b", ("雪",))]
    )
    assert through is not None
    assert off is not None
    assert through > off
