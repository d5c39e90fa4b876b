"""Which candidates are accepted without a reviewer, and the check on known items."""

import math
from dataclasses import replace

import pytest

from domain.concept import Concept
from domain.term import AUTOMATIC_ACTOR, Lexicon, LexiconEntry, Term, TermStatus
from lexicon.automatic_acceptance import (
    MIN_COMPOUND_PROBABILITY,
    MIN_DOCUMENTS,
    MIN_REVIEWED,
    UNREVIEWED_PROBABILITY,
    select_confident_terms,
)
from lexicon.concepts.formats import format_concept_file
from lexicon.counting.corpus import InMemoryCorpus
from lexicon.known_item_check import KnownItemComparison, compare_versions
from lexicon.mining import mine_terms
from lexicon.publishing import add_terms
from lexicon.settings import LexiconSettings
from lexicon.word_lists import FORMATTERS, parse_word_list
from tests.builders import make_candidate
from text.domain_terms import is_quantity
from text.segment import base_segmenter

SHALE_GAS = make_candidate("页岩气")
CONGRESS = make_candidate("全国茶业大会", 0.65, 30, 12, per_million=300)
"""A frequent compound of general words, of which the model is less certain."""
PLACES = ("北京", "上海", "广州", "成都", "武汉", "西安", "南京", "天津")
TIMES = ("上午", "本周", "去年", "昨天", "六月", "近日", "年初", "周末")
CONGRESS_SENTENCES = (
    "{time}，全国茶业大会在{place}开幕，各地代表围绕品种和加工展开讨论。",
    "全国茶业大会已经举办多届，{place}的企业带来了新茶和设备。",
    "参加全国茶业大会的代表来自产区，{place}的一家茶厂签下订单。",
    "{time}闭幕的全国茶业大会上，专家介绍了病虫防治的经验。",
    "筹备组{time}说，全国茶业大会会场设在{place}，展区比上届扩大一倍。",
    "为了迎接全国茶业大会，{place}修缮了三条道路。",
)
OTHER_SENTENCES = (
    "柴永安{time}在{place}说，今年的雨水比往年少。他要求各站加强巡查。",
    "按照柴永安的安排，两支队伍{time}赶到山区。村民柴永安家的茶园也受了灾。",
    "有关方面{time}检查了仓库，发现三处漏水。",
    "有关方面表示，将在{place}补种苗木。技术人员正在培训农户。",
    "{place}的农户{time}采摘了第一批茶叶，收购价格比去年高。",
    "烘干车间更换了机器，{time}恢复生产。",
)
LAYOUT = "\n本文由云岭茶讯网编辑部整理，转载请注明云岭茶讯网。\n云岭茶讯"


def selected(*candidates: Term) -> list[str]:
    return [term.text for term in select_confident_terms(candidates, base_segmenter())]


def test_a_confident_candidate_is_selected() -> None:
    shale_gas = make_candidate("shale gas", UNREVIEWED_PROBABILITY["en"], 12, MIN_DOCUMENTS["en"])
    assert selected(SHALE_GAS, shale_gas) == ["页岩气", "shale gas"]


@pytest.mark.parametrize(
    "term",
    [
        replace(SHALE_GAS, score_components=()),
        make_candidate("页岩气", neighbour_count=0),  # a label, in no sentence
        make_candidate("页岩气", neighbour_count=18),  # a fragment
        make_candidate("柴永安"),
        replace(SHALE_GAS, score=UNREVIEWED_PROBABILITY["zh"] - 0.01),
        replace(SHALE_GAS, document_count=MIN_DOCUMENTS["zh"] - 1),
        replace(SHALE_GAS, status=TermStatus.DEFERRED),
        replace(SHALE_GAS, version=1),  # a reviewer has taken it back
        make_candidate("赵国栋"),
        make_candidate("Feng Zhiyuan"),
        make_candidate("立方米"),
        make_candidate("billion cubic metres"),
        make_candidate("实验结果显示"),
        make_candidate("王进喜"),
        make_candidate("million years ago"),
        make_candidate("屏幕截图所示"),
        make_candidate("创建供应商"),
        make_candidate("依法承担民事责任"),
        make_candidate("第八十七条"),
        make_candidate("Controls for Configuration"),
        make_candidate("rapid growth", frequency=25),
        make_candidate("verbose"),
        make_candidate("Rows"),
        make_candidate("OK"),
        make_candidate("Christopher Wren"),
        make_candidate("Friedrich Engels"),
        make_candidate("Milošević"),
        make_candidate("21st century"),
        make_candidate("three standards"),
        make_candidate("Henry VIII"),
        make_candidate("一台服务器"),
        make_candidate("kilowatt hours"),
    ],
)
def test_other_candidates_wait_for_a_reviewer(term: Term) -> None:
    assert selected(term) == []


@pytest.mark.parametrize("text", ["二次电池", "一级建造师", "三层交换机", "一类疫苗"])
def test_a_number_of_a_kind_is_no_quantity(text: str) -> None:
    assert not is_quantity(text, base_segmenter())


def test_a_frequent_compound_of_a_small_corpus_is_selected() -> None:
    assert selected(CONGRESS) == [CONGRESS.text]


@pytest.mark.parametrize(
    "term",
    [
        replace(CONGRESS, text="查看茶业大会"),
        replace(CONGRESS, text="congress of tea"),
        replace(CONGRESS, score=MIN_COMPOUND_PROBABILITY - 0.01),
        replace(CONGRESS, document_count=CONGRESS.frequency),  # once a document, as lines of a page layout
        make_candidate(CONGRESS.text, 0.65, 7, 4, 2, per_million=300),
        make_candidate(CONGRESS.text, 0.65, per_million=50),  # the same number in a large corpus
        make_candidate(CONGRESS.text, 0.65, neighbour_count=0, per_million=300),
        make_candidate(CONGRESS.text, 0.65, neighbour_count=13, per_million=300),
        replace(CONGRESS, score_components=(*CONGRESS.score_components, ("association", 1.9))),
    ],
)
def test_other_frequent_candidates_wait_for_a_reviewer(term: Term) -> None:
    assert selected(term) == []


def test_a_small_corpus_gives_its_frequent_term_alone() -> None:
    """Names of persons, general phrases, fragments and lines of the page layout are as frequent."""
    texts = []
    for number in range(60):
        congress = (number // 3, number // 3 + 2) if number % 3 == 0 else ()
        sentences = [CONGRESS_SENTENCES[index % 6] for index in congress]
        sentences += [OTHER_SENTENCES[number % 6], OTHER_SENTENCES[(number + 3) % 6]]
        filled = (
            sentence.format(time=TIMES[(number + index) % 8], place=PLACES[(number * 5 + index) % 8])
            for index, sentence in enumerate(sentences)
        )
        texts.append(("", "".join(filled) + LAYOUT))
    candidates = mine_terms(InMemoryCorpus(texts), LexiconSettings())
    assert {CONGRESS.text, "柴永安"} <= {term.text for term in candidates}
    assert selected(*candidates) == [CONGRESS.text]


def test_a_fragment_of_a_longer_candidate_is_not_selected() -> None:
    deep, network = make_candidate("deep neural network"), make_candidate("neural network", frequency=34)
    swarm, optimization = make_candidate("粒子群", frequency=14), make_candidate("粒子群优化", frequency=12)
    assert selected(swarm, optimization) == [optimization.text]
    assert selected(deep, network) == [deep.text]
    assert selected(deep, make_candidate("neural network", frequency=80)) == [deep.text, network.text]


def test_words_that_resemble_phrases_are_selected() -> None:
    terms = [
        make_candidate(text)
        for text in ("添加剂", "未成年子女", "第四纪", "TCP/IP", "PowerShell", "提高采收率", "thomas process")
    ]
    assert selected(*terms) == [term.text for term in terms]


def test_a_fragment_of_an_accepted_term_is_not_selected() -> None:
    accepted = Term("粒子群优化", 0.9, 12, 10, status=TermStatus.ACCEPTED)
    swarm = make_candidate("粒子群", frequency=12)
    assert selected(swarm) == [swarm.text]
    assert select_confident_terms([swarm], base_segmenter(), [accepted]) == []


def test_a_plural_is_no_second_term() -> None:
    acids, acid = make_candidate("fatty acids"), make_candidate("fatty acid")
    assert selected(acids, acid) == [acids.text]
    assert select_confident_terms([acids], base_segmenter(), [replace(acid, status=TermStatus.ACCEPTED)]) == []


FILLER = "这里介绍今年各地的生产情况。" * 60


@pytest.mark.parametrize(
    ("candidate", "text"),
    [
        ("卡帕西", f"{FILLER}卡帕西表示，{FILLER}"),
        ("双马尾", f"{FILLER}记者双马尾在{FILLER}"),
        ("steve jobs", f"{FILLER} Steve Jobs {FILLER}"),
        ("校对者编号", f"{FILLER}校对者编号：甲。"),
        ("荣誉推出", f"荣誉推出。{FILLER}"),
    ],
)
def test_articles_show_names_and_parts_of_a_template(candidate: str, text: str) -> None:
    words = [make_candidate(candidate)]
    other_text = f"{FILLER}在{candidate}中{FILLER}"
    assert select_confident_terms(words, base_segmenter(), [], [other_text] * 3) == words
    assert select_confident_terms(words, base_segmenter(), [], [text] * 3) == []


def test_names_of_authors_are_not_selected() -> None:
    words = [make_candidate("云岭茶讯")]
    assert select_confident_terms(words, base_segmenter(), authors=["本报记者 李明"]) == words
    assert select_confident_terms(words, base_segmenter(), authors=["本报记者 李明 云岭茶讯"]) == []


@pytest.mark.parametrize(
    ("rejected_count", "probability"), [(0, 0.82), (MIN_REVIEWED, math.inf), (2, math.inf), (1, 0.82)]
)
def test_decisions_of_reviewers_set_the_probability(rejected_count: int, probability: float) -> None:
    reviewed = [make_candidate(f"页岩气{chr(0x4E00 + n)}井", 0.95) for n in range(2 * MIN_REVIEWED)]
    decided = [
        replace(term, status=TermStatus.REJECTED if n < rejected_count else TermStatus.ACCEPTED)
        for n, term in enumerate(reviewed)
    ]
    candidates = [make_candidate("储层改造", score) for score in (0.82, 0.99)]
    accepted = select_confident_terms(candidates[:1], base_segmenter(), decided)
    assert bool(accepted) == (probability == 0.82)
    assert bool(select_confident_terms(candidates[1:], base_segmenter(), decided)) == (probability < 1)


def test_terms_are_added_to_the_latest_version() -> None:
    latest = Lexicon(3, (LexiconEntry("钻井", 7, "v", ("drilling",)),))
    assert add_terms(latest, [Term("钻井", 0.9, 9, 9)]) is latest
    added = add_terms(latest, [SHALE_GAS])
    assert added.version == 4 and [entry.text for entry in added.entries] == ["钻井", "页岩气"]
    assert added.entries[0] == latest.entries[0]


def test_exports_name_the_origin() -> None:
    entries = [LexiconEntry("页岩气", is_automatic=True), LexiconEntry("钻井")]
    csv = FORMATTERS["csv"](entries)
    assert csv.splitlines()[1:] == ["页岩气,,n,,,,automatic", "钻井,,n,,,,"]
    assert parse_word_list(csv, "csv")[0] == [LexiconEntry("页岩气"), LexiconEntry("钻井")]
    concepts = [Concept(f"c{n}", (), is_automatic=entry.is_automatic) for n, entry in enumerate(entries)]
    assert format_concept_file(concepts, "skos").count(b'skos:editorialNote "accepted automatically"@en') == 1
    assert Term("a", 1, 1, 1, status=TermStatus.ACCEPTED, decided_by=AUTOMATIC_ACTOR).is_automatic


def test_words_that_hide_articles_are_harmful() -> None:
    titles = [f"井{n}号 压裂" for n in range(20)]
    bodies = [f"井{n}号压裂完成" for n in range(20)]

    def split(text: str) -> list[str]:
        return [text[start : start + 2] for start in range(len(text) - 1)]

    def hide(text: str) -> list[str]:
        return ["压裂"] if "压裂" in text else []

    harm = compare_versions(titles, bodies, split, hide)
    assert harm.lost_count > 10 and harm.is_harmful
    assert not compare_versions(titles, bodies, hide, split).is_harmful
    assert compare_versions(titles, bodies, split, split) == KnownItemComparison(20, 0, 0)
    assert compare_versions([], [], split, split) == KnownItemComparison(0, 0, 0)
    assert compare_versions(titles, [""] * 20, split, split) == KnownItemComparison(20, 0, 0)


def test_a_small_difference_may_be_chance() -> None:
    assert not KnownItemComparison(200, 4, 1).is_harmful
    assert KnownItemComparison(200, 5, 0).is_harmful
    assert not KnownItemComparison(200, 0, 0).is_harmful
