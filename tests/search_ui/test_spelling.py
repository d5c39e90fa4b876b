"""Spelling corrections of a query."""

from typing import Any

import pytest

from search_ui.query.query_parser import parse_query
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import QueryWords
from search_ui.query.search_request import SearchRequest
from search_ui.spelling.corrections import Correction, QueryTiers, correct_query, find_corrections
from search_ui.spelling.did_you_mean import SuggestionSearch
from search_ui.spelling.typing_errors import LIKELY, SLIP
from search_ui.spelling.vocabulary import Vocabulary
from tests.site_fixture import BASE

TERMS = {"页岩气": 120, "水力压裂": 40, "油田": 80, "由天": 1, "烃源岩": 30, "树莓派": 90, "石油化学": 60, "页岩油": 5}
WORDS = {
    "开发": 300, "特征": 200, "加工": 90, "公司": 300, "实验": 90, "试验": 70, "峰值": 60, "黎明": 80, "张伟": 50,
    "docker": 300, "python": 400, "kafka": 50, "kubernetes": 90, "supersonic": 3, "flow": 100, "discovery": 40,
    "hansen": 20, "mary": 400, "linux": 900, "drills": 3,
}  # fmt: skip
KNOWN = Vocabulary(terms=TERMS, title_words=WORDS, names=["冯志远", "Mayr"], document_count=1000)


def corrected(typed: str, known: Vocabulary = KNOWN) -> QueryTiers:
    query = parse_query(typed)
    return correct_query(query, find_corrections(query, known, BASE))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("叶岩气", ["页岩气"]),
        ("叶岩气 开发", ["页岩气 开发"]),
        ("页岩气开发", []),
        ("烃原岩特怔", ["烃源岩特征"]),
        ("树梅派", ["树莓派"]),
        ("树梅派怎么联网", ["树莓派怎么联网"]),
        ("水压力裂", ["水力压裂"]),
        ("水力裂", ["水力压裂"]),
        ("由田开发", ["油田开发"]),
        ("yeyanqi", ["页岩气"]),
        ("ye yan qi", ["页岩气"]),
        ("YeYanQi kaifa", ["页岩气开发"]),
        ("yeyanqishuiliyalie", ["页岩气水力压裂"]),
        ("slyl", ["水力压裂"]),  # first letters
        ("sly", []),
        ("油添", ["油田"]),  # the other one is too rare
        ("石验", ["实验", "试验"]),
        ('"叶岩气" -叶岩气', ['"页岩气" -叶岩气']),
        ("title:叶岩气 site:叶岩气.cn", ["title:页岩气 site:叶岩气.cn"]),
        ("dcoker", ["docker"]),  # swapped
        ("pyhton 安装", ["python 安装"]),
        ("用dcoker部署", ["用docker部署"]),
        ("dockker", ["docker"]),  # doubled
        ("dokcer kuberntes", ["docker kubernetes"]),  # omitted
        ("dovker", ["docker"]),  # a neighbouring key
        ("dobker", ["docker"]),  # another key
        ("ython", ["python"]),
        ("kubrenets", []),  # two edits need a far more frequent word
        ("supersonicflow", ["supersonic flow"]),
        ("flwo flwos", ["flow flwos"]),
        ("qi", []),
        ("shale gas", []),
        ("hp1010", []),
        ("", []),
    ],
)
def test_what_may_be_meant(typed: str, meant: list[str]) -> None:
    assert list(map(str, corrected(typed)[0])) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "哪家公司的产量最高",  # 家公 lies across two words
        "这家公司的加工能力",
        "页岩气田的发现是由谁",  # 是由 are two words
        "什么是由来",
        "实用化学",  # both are words, although 石油化学 sounds so
        "页岩油",  # a rare term
        "冯志远",  # an author
        "冯志远的报告",
        "冯治远",  # another name, not a misspelt 峰值
        "李铭",  # a name that sounds like 黎明
        "张纬",  # another name than 张伟
        "who discovered the gas field",
        "discovered",
        "jansen",  # in the English dictionary
        "Mayr",  # an author
        "linus",
    ],
)
def test_known_words_and_names_are_not_corrected(typed: str) -> None:
    assert find_corrections(parse_query(typed), KNOWN, BASE) == []


@pytest.mark.parametrize(
    ("word", "forms", "typed", "other"),
    [
        ("нефтяной", ["нефти", "газ"], "нефтянйо", "нефтяной"),
        ("γεωλογος", [], "γεωλγοος", "γεωλογος"),  # the last letter stays as it is written
        ("búsqueda", [], "búsqeuda", "búsqueda"),
        ("búsqueda", [], "busqueda", "búsqueda"),
        ("gehörte", [], "gehhörte", "gehörte"),
        ("przemysłowy", [], "przemyslowy", "przemysłowy"),
    ],
)
def test_words_of_any_alphabet_are_corrected(word: str, forms: list[str], typed: str, other: str) -> None:
    known = Vocabulary(title_words={word: 50, **dict.fromkeys(forms, 20)}, document_count=500)
    assert list(map(str, corrected(typed, known)[0])) == [other]


@pytest.mark.parametrize(
    ("typed", "word", "stems", "endings"),
    [
        ("häusern", "häuser", ("kinder", "bücher", "bilder", "männer"), ("n", "")),
        ("газовый", "газового", ("нефтян", "буров", "нов", "стар"), ("ый", "ого")),
        ("tassen", "tasse", ("katze", "schule", "lampe", "straße"), ("n", "")),
        ("querida", "querido", ("buen", "mal", "alt", "baj"), ("a", "o")),
    ],
)
def test_another_form_of_a_word_is_no_correction(
    typed: str, word: str, stems: tuple[str, ...], endings: tuple[str, str]
) -> None:
    """The endings alternate in other words of the site. At the end of a word, few words show the contrary."""
    others = {stem + ending: 20 for stem in stems for ending in endings}
    for words in (others, {}):
        assert corrected(typed, Vocabulary(title_words={word: 300, **words}, document_count=500))[0] == []
    constant = {f"{n}{stem}{endings[1]}": 20 for stem in stems for n in "abcde"}
    assert not Vocabulary(title_words={word: 300, **constant}).are_forms(typed, word)


def test_a_correction_is_much_more_frequent_than_what_was_typed() -> None:
    slip = Correction("dcoker", ("docker",), SLIP)
    assert slip.is_credible(0, 1) and slip.is_credible(1, 6) and not slip.is_credible(1, 5)
    assert not slip.is_credible(0, 0) and not slip.is_credible(100, 300)
    assert not Correction("树梅派", ("树莓派",), LIKELY).is_credible(1, 9)


def test_several_mistakes_are_corrected_together_first_then_one_alone() -> None:
    together, alone = corrected("supersonc 叶岩气")
    assert list(map(str, together)) == ["supersonic 页岩气"]
    assert list(map(str, alone)) == ["supersonic 叶岩气", "supersonc 页岩气"]


def test_a_long_query_is_looked_up_in_part() -> None:
    assert corrected("叶" * 160) == [[], []]
    assert list(map(str, corrected("页岩气开发" * 7 + "叶岩气" + "叶" * 100)[0])) == [
        "页岩气开发" * 7 + "页岩气" + "叶" * 100
    ]


class Counts:
    """Counts documents: `typed` with what was typed and `meant` with each correction, alone and in the whole query."""

    def __init__(self, typed: int, meant: int, typed_phrase: int = 0, meant_phrase: int = 0) -> None:
        self.typed, self.meant = typed, meant
        self.phrases = (meant_phrase, typed_phrase)

    @property
    def response(self) -> dict[str, Any]:
        counts = {
            f"o{n}": {"total": self.meant, "whole": {"count": 3}, "phrase": {"count": count}}
            for n, count in enumerate(self.phrases)
        }
        return {"facets": {"text0": {"count": self.typed}, "text1": {"count": self.meant}, **counts}}


def offered(typed: str, counts: Counts) -> list[tuple[str, int]]:
    def plan(asked: SearchRequest) -> QueryPlan:
        return QueryPlan(asked, QueryWords(asked.text, asked.text, (asked.text,), (asked.text,)))

    request = SearchRequest(raw_query=typed, text=typed)
    search = SuggestionSearch(plan(request), KNOWN, plan, BASE)
    search.search_facets(counts.response, total=40)
    offers = search.suggestions(counts.response)
    return [(offer.label, offer.typed_count) for offer in offers]


@pytest.mark.parametrize(("typed", "meant"), [("树梅派", "树莓派"), ("dcoker", "docker"), ("yeyanqi", "页岩气")])
def test_many_results_do_not_hide_a_correction_and_the_error_may_occur_in_documents(typed: str, meant: str) -> None:
    assert offered(typed, Counts(0, 30)) == [(meant, 0)]
    assert offered(typed, Counts(2, 30)) == [(meant, 2)]
    assert offered(typed, Counts(20, 30)) == []
    assert offered(typed, Counts(0, 0)) == []


def test_what_documents_contain_with_the_words_around_it_is_correct() -> None:
    """George Coker is a person; no document has the words `George cover`."""
    assert offered("pyhton George", Counts(1, 30, typed_phrase=1)) == []
    assert offered("pyhton George", Counts(1, 30, typed_phrase=1, meant_phrase=12)) == [("python George", 1)]
