"""The formulas of the three crawl papers, by hand-computed cases."""

import math

import pytest

from crawler.focused_policy import (
    BLOCK_ANCHOR,
    BLOCK_CONTENT,
    BLOCK_NAVIGATION,
    BLOCK_TITLE,
    LinkWords,
    PageWords,
    RelevanceScore,
    TopicWords,
    WordBlock,
)
from domain.paper_settings import WuYuetingSettings, ZhangJinSettings, ZhouKunSettings
from focused.concepts.synonym_groups import CilinConcepts
from focused.paper_strategies.adaptive_threshold import AdaptiveThreshold
from focused.paper_strategies.position_weighting import (
    position_weighted_frequency,
    position_weighted_tfidf,
    top_block_weighted_terms,
)
from focused.paper_strategies.semantic import LEAD_WORDS, SemanticStrategy, description_words
from focused.paper_strategies.semantic_tree import SemanticTreeStrategy, page_score
from focused.paper_strategies.term_expansion import (
    DynamicTermLibrary,
    Expansion,
    SharedTerms,
    build_concept_map,
    expand_terms,
    map_words_to_concepts,
)
from focused.paper_strategies.topic_knowledge import OperatorResources
from focused.paper_strategies.topic_library import TopicLibraryStrategy
from focused.paper_strategies.topic_tree import parse_tree
from focused.paper_strategies.url_similarity import (
    RelevantUrls,
    character_bitmask,
    jaccard,
    url_similarity,
)
from focused.paper_strategies.word_vectors import EMPTY_VECTORS
from focused.word_weights import WordStatistics

HOST = "http://www.a.cn"


def page(*blocks: tuple[str, str], url: str = f"{HOST}/1", description: str = "") -> PageWords:
    made = tuple(WordBlock(kind, tuple(words.split()), 1 / len(blocks)) for kind, words in blocks)
    title = next((block.words for block in made if block.kind == BLOCK_TITLE), ())
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
    assert jaccard(character_bitmask(one), character_bitmask(other)) == expected


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
    assert url_similarity(one, other) == pytest.approx(expected)


def test_equal_hosts_are_alike_when_read_literally() -> None:
    settings = ZhouKunSettings(host_containment="literal")
    assert url_similarity(f"{HOST}/x", f"{HOST}/y", settings) == 1.0


def test_host_weights_never_fall_below_nothing() -> None:
    many = "http://a.b.c.d.e.f.g.h/"
    assert url_similarity(many, many) == pytest.approx(0.4 * (0.4 + 0.3 + 0.2 + 0.1))


def test_structure_by_a_sample_of_the_history() -> None:
    """ZK-A3: more than half of those drawn, 0 for an empty history; the same seed draws the same."""
    history = RelevantUrls(ZhouKunSettings(random_seed=3, sample_size=4))
    assert history.structure_score(f"{HOST}/x/ab", history.sample()) == 0.0
    for number in range(10):
        history.add(f"{HOST}/x/a{number}")
    again = RelevantUrls(ZhouKunSettings(random_seed=3, sample_size=4))
    again._urls = list(history._urls)
    drawn = history.sample()
    assert drawn == again.sample()
    assert len(drawn) == 4
    assert history.structure_score(f"{HOST}/x/a77", drawn) == 1.0
    assert history.structure_score("http://b.org/q", drawn) == 0.0


def seen_semantic(discard: bool = True) -> tuple[SemanticStrategy, PageWords]:
    """Topic 党 after four pages: idf ln 2 for 党, of which there are three."""
    topic = TopicWords(name=("党",))
    semantic = SemanticStrategy(topic, settings=ZhouKunSettings(discard_below_threshold=discard))
    first = page((BLOCK_TITLE, "党 建"), url=f"{HOST}/x/1")
    for one in (
        first,
        page((BLOCK_TITLE, "党 党"), url=f"{HOST}/2"),
        page((BLOCK_TITLE, "雨")),
        page((BLOCK_TITLE, "雪")),
    ):
        judgement = semantic.score_page(one)
        semantic.observe_page(one, judgement)
    return semantic, first


def test_relevance_of_words() -> None:
    """ZK-F3: one of two distinct words is the topic's name, whose weight is 2: w * 2 * 1 / 2."""
    semantic, _ = seen_semantic()
    weight = 3 / 4 * math.log(4 / 2)
    assert semantic.scaled_relevance(("党", "云", "党")) == pytest.approx(weight * 2 / 2)
    assert semantic.scaled_relevance(()) == 0.0


def test_link_priority() -> None:
    """ZK-F5 with the AHP weights; the URL of the kept page speaks for its neighbour."""
    semantic, first = seen_semantic()
    relevance = 2 * 3 / 4 * math.log(2)
    of_page = 0.1
    judgement = RelevanceScore(True, of_page / (1 + of_page))
    links = [LinkWords(f"{HOST}/x/2", ("党",)), LinkWords("http://b.org/", ("雨",))]
    found = semantic.link_priorities(first, judgement, links)
    assert found[0] == pytest.approx(8 / 17 * of_page + 8 / 17 * relevance)
    assert found[1] is None


def test_what_is_off_topic_is_not_followed() -> None:
    """ZK-S1, step 3; put behind all else where nothing may be left out, the better first."""
    links = [LinkWords(f"{HOST}/9", ("党",)), LinkWords(f"{HOST}/9", ("雪",))]
    off = page((BLOCK_TITLE, "雨"))
    for discard in (True, False):
        semantic, _ = seen_semantic(discard)
        found = semantic.link_priorities(off, RelevanceScore(False, 0.0), links)
        if discard:
            assert found == [None, None]
        else:
            better, worse = (value for value in found if value is not None)
            assert worse < better < -500


def test_relevance_goes_by_the_examples() -> None:
    """Pages that say a word twenty times make ZK-F3 ten times as large, but not beside the paper's constants."""
    examples = tuple(page((BLOCK_TITLE, f"井 油 {name}"), url=f"{HOST}/{name}") for name in "甲乙丙")
    found: dict[bool, list[float]] = {}
    for by_examples in (True, False):
        semantic = SemanticStrategy(TopicWords(examples=examples), settings=ZhouKunSettings(by_examples=by_examples))
        scores = []
        for number in range(1, 129):
            words = "井 油 " * (1 if number <= 60 else 20) if number % 8 == 0 else f"雨 雪 {number}"
            semantic.score_page(page((BLOCK_TITLE, words), url=f"{HOST}/{number}"))
            if number in (60, 128):
                scores.append(semantic.scaled_relevance(("井", "油")))
        found[by_examples] = scores
    (early, late), (printed_early, printed_late) = found[True], found[False]
    assert printed_late > 10 * printed_early
    assert late / early == pytest.approx(1, abs=0.4)
    assert min(early, late) > ZhouKunSettings().page_threshold


# -- Wu


def test_term_weights() -> None:
    """WY-F6: weights 0.5 each: a 0.5 * 1, b 0.5 * 1 + 0.5 * 2, of 2 in all."""
    blocks = (WordBlock(BLOCK_TITLE, ("a", "b"), 0.5), WordBlock(BLOCK_CONTENT, ("b", "b"), 0.5))
    assert top_block_weighted_terms(blocks, 9) == pytest.approx({"a": 0.25, "b": 0.75})
    assert top_block_weighted_terms(blocks, 1) == pytest.approx({"b": 0.75})
    assert top_block_weighted_terms((), 9) == {}


def test_position_weights() -> None:
    """WY-F13 with F14: a in a title, b in content twice and in navigation; idf 1 for words that all documents hold."""
    statistics = WordStatistics()
    statistics.add({"a": 1, "b": 1})
    values = WuYuetingSettings().position_values
    by_kind = {BLOCK_TITLE: {"a": 1}, BLOCK_CONTENT: {"b": 2}, BLOCK_NAVIGATION: {"b": 1}}
    a, b = 1 * 1.0, 3 * (0.6 + 0.1)
    length = math.hypot(a, b)
    assert position_weighted_tfidf(by_kind, statistics, values) == pytest.approx({"a": a / length, "b": b / length})
    assert position_weighted_tfidf({}, statistics, values) == {}


def test_words_become_concepts() -> None:
    """WY-A3, steps 1 and 3: of two concepts the more similar, then the first; a term stays itself."""
    expanded = [Expansion("国税", "税", 0.7), Expansion("国税", "机关", 0.9), Expansion("税", "机关", 1.0)]
    template = build_concept_map(["税", "机关"], expanded)
    assert template == {"国税": "机关", "税": "税", "机关": "机关"}
    assert map_words_to_concepts({"国税": 2, "雨": 1, "机关": 3}, template) == {"机关": 5, "雨": 1}
    assert build_concept_map(["a", "b"], [Expansion("x", "a", 0.5), Expansion("x", "b", 0.5)])["x"] == "a"


def test_synonyms_expand_terms() -> None:
    """WY-A2, scheme 1."""
    cilin = CilinConcepts(["Aa01A01= 税 赋税 捐税"])
    assert expand_terms(["税", "无"], cilin, EMPTY_VECTORS) == [
        Expansion("赋税", "税", 1.0),
        Expansion("捐税", "税", 1.0),
    ]


def test_a_page_of_synonyms_is_kept_by_concepts() -> None:
    """WY-A3: the page has no word of the topic, but a synonym."""
    topic = TopicWords(name=("税",))
    other = page((BLOCK_TITLE, "赋税 制度"), (BLOCK_CONTENT, "赋税 雨"))
    by_concept = TopicLibraryStrategy(
        topic, OperatorResources(concepts=CilinConcepts(["Aa01A01= 税 赋税"]))
    ).score_page(other)
    literal = TopicLibraryStrategy(topic).score_page(other)
    assert by_concept.score > 0.5 > literal.score == 0.0


def test_block_sum_weighs_kinds() -> None:
    """WY-F9: a page with the topic's word alone in its title has c1 = 0.3."""
    strategy = TopicLibraryStrategy(TopicWords(name=("税",)), settings=WuYuetingSettings(block_sum=True))
    assert strategy.score_page(page((BLOCK_TITLE, "税"), (BLOCK_ANCHOR, "雨"))).score == pytest.approx(0.3)


def test_what_kept_pages_share_weighs_by_their_mean() -> None:
    """WY-F7, automatic: needs three pages. All words have equal idf, so pages are (1, 0), (1, 0), (1, 1) / sqrt 2."""
    statistics = WordStatistics()
    statistics.add({"印花税": 1, "雨": 1})
    shared = SharedTerms()
    for number, counts in enumerate(({"印花税": 1}, {"印花税": 1}, {"印花税": 1, "雨": 1})):
        assert (number < 3) == (shared.term_weights({"税": 1.0}, statistics) == {})
        shared.add_page(counts)
    half = math.sqrt(1 / 2)
    expected = {"印花税": 0.5 * (2 + half) / 3, "雨": 0.5 * half / 3}
    assert shared.term_weights({"税": 1.0}, statistics) == pytest.approx(expected)


def test_threshold_is_between_examples_and_ground() -> None:
    """level 0.4; ground (0.1 * 10 + 50 * 0.04) / 60 = 0.05: 0.4 ^ 0.4 * 0.05 ^ 0.6."""
    threshold = AdaptiveThreshold(0.2)
    assert threshold.value == 0.2
    threshold.set_example_scores([0.3, 0.5])
    for _ in range(10):
        threshold.add_score(0.1)
    assert threshold.value == pytest.approx(0.4**0.4 * 0.05**0.6)
    threshold.set_example_scores([])
    assert threshold.value == 0.2


def test_blocks_of_a_kind_count_as_one() -> None:
    """Reading of WY-F14."""
    one = page((BLOCK_CONTENT, "a"), (BLOCK_TITLE, "b"), (BLOCK_CONTENT, "c a"))
    assert one.counts_by_kind == {BLOCK_CONTENT: {"a": 2, "c": 1}, BLOCK_TITLE: {"b": 1}}


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        pytest.param("d e", ("t", "d", "e"), id="its own"),
        pytest.param("", ("t", *["x"] * LEAD_WORDS), id="none: the first words of its text"),
    ],
)
def test_what_describes_a_page(description: str, expected: tuple[str, ...]) -> None:
    one = page(
        (BLOCK_TITLE, "t"),
        (BLOCK_CONTENT, "x " * 40),
        (BLOCK_NAVIGATION, "y"),
        (BLOCK_CONTENT, "x " * 400),
        description=description,
    )
    assert description_words(one) == expected


def test_dynamic_library() -> None:
    """After 50 kept pages what five of them share is pending until it is confirmed."""
    library = DynamicTermLibrary()
    for number in range(WuYuetingSettings.update_pages):
        assert library.pending_terms == []
        library.add_page_terms(["印花税", "税"] if number < 5 else ["雨"] if number == 9 else [], {"税"})
    assert (library.confirmed_terms, library.pending_terms) == ([], ["印花税"])
    assert library.confirm_pending() == ("印花税",)
    assert (library.confirmed_terms, library.pending_terms) == (["印花税"], [])


def test_classes_of_terms_have_weights() -> None:
    """Values of this project: Fs 1.0, Fb 0.8, Fv 0.6; a term of two classes has the larger."""
    topic = TopicWords(name=("税",), technical=("印花税",), subject=("国税局", "税"), evaluative=("偷漏",))
    assert topic.term_weights == {"税": 1.0, "印花税": 1.0, "国税局": 0.8, "偷漏": 0.6}


# -- Zhang


def test_weighted_frequency() -> None:
    """ZJ-F3 [D]: title 3, anchor 1.5, text 1, meta 0.5; of 7.5 in all."""
    one = page((BLOCK_TITLE, "a"), (BLOCK_ANCHOR, "b"), (BLOCK_CONTENT, "a b"), description="c c")
    weights = ZhangJinSettings().position_weights
    assert position_weighted_frequency(one, weights) == pytest.approx({"a": 4 / 7.5, "b": 2.5 / 7.5, "c": 1 / 7.5})
    assert position_weighted_frequency(page(), weights) == {}


def test_similarity_is_half_angle_half_meaning() -> None:
    """ZJ-F9: no word is shared (cosine 0), the tree says 1.6 / 2.6."""
    tree = parse_tree(["岩石", "  玄武岩"])
    strategy = SemanticTreeStrategy(TopicWords(name=("岩石",)), OperatorResources(tree=tree))
    assert strategy.score_page(page((BLOCK_TITLE, "玄武岩"))).score == pytest.approx(0.5 * 1.6 / 2.6)


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
    assert page_score(0.5, children, ZhangJinSettings(), 0.2) == pytest.approx(expected)


def test_tunnelling() -> None:
    """A weak page whose links speak of the topic hands them on before a like page's that do not (ZJ-F10)."""
    strategy = SemanticTreeStrategy(TopicWords(name=("岩石",)))
    weak = page((BLOCK_TITLE, "雨"))
    judgement = strategy.score_page(weak)
    through, off = strategy.link_priorities(
        weak, judgement, [LinkWords(f"{HOST}/a", ("岩石",)), LinkWords(f"{HOST}/b", ("雪",))]
    )
    assert through is not None
    assert off is not None
    assert through > off
