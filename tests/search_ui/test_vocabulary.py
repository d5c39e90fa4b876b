"""Lookup of words by spelling, sound and typing errors."""

from math import inf

import pytest

from search_ui.spelling.typing_errors import edit_penalty
from search_ui.spelling.vocabulary import Vocabulary, WordKind
from text.pinyin import fuzzy_pinyin, initials, join_syllables, pinyin_syllables

TERMS = {
    "页岩气": 120, "水力压裂": 40, "PDC钻头": 30, "shale gas": 20, "夜宴": 9, "西安": 8, "向斜": 70, "压裂液": 60,
}  # fmt: skip
KNOWN = Vocabulary(["页岩气 产量", "油价", "钻井 "], TERMS, {"开发": 300, "压裂": 90, "烃源岩": 50, "页岩气": 7})


@pytest.mark.parametrize(
    ("text", "full", "first", "blurred"),
    [
        ("页岩气", "yeyanqi", "yyq", "yeyanqi"),
        ("PDC 钻头", "pdczuantou", "pdczt", "pdczuantou"),
        ("ＰＤＣ", "pdc", "pdc", "pdc"),
        ("xi'an", "xian", "xian", "xian"),
        ("重庆", "chongqing", "cq", "conqin"),
        ("绿色", "lvse", "ls", "nvse"),
        ("", "", "", ""),
    ],
)
def test_sounds(text: str, full: str, first: str, blurred: str) -> None:
    one = pinyin_syllables(text)
    assert (join_syllables(one), initials(one), fuzzy_pinyin(one)) == (full, first, blurred)


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("页", ["页岩气 产量", "页岩气"]),
        ("页岩", ["页岩气 产量", "页岩气"]),
        ("yey", ["页岩气 产量", "页岩气", "夜宴"]),
        ("页yan", ["页岩气 产量", "页岩气"]),
        ("yyq", ["页岩气 产量", "页岩气"]),
        ("slyl", ["水力压裂"]),
        ("压裂", ["压裂液", "水力压裂"]),
        ("SHALE", ["shale gas"]),
        ("gas", ["shale gas"]),
        ("ｐｄｃ钻", ["PDC钻头"]),
        ("pdczuan", ["PDC钻头"]),
        ("xi'an", ["西安", "向斜"]),
        ("youj", ["油价"]),
        ("zzz", []),
        (" ", []),
        ("\n", []),
    ],
)
def test_what_is_suggested(typed: str, suggested: list[str]) -> None:
    assert [word.text for word in KNOWN.complete(typed, 8)] == suggested


def test_the_best_are_suggested_and_each_once() -> None:
    many = Vocabulary(["词1"], {f"词{n}": n for n in range(5000)} | {"词 1": 9})
    found = many.complete("词", 3)
    assert [word.text for word in found][:1] == ["词1"] and len(found) == 3
    assert found[0].kind is WordKind.QUERY and found[1].kind is WordKind.TERM
    assert [word.text for word in many.complete("词49", 3)] == ["词4999", "词4998", "词4997"]


def similar(known: Vocabulary, text: str) -> list[str]:
    return sorted(penalties := known.similar_words(text), key=lambda word: (penalties[word], known.cost(word)))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("叶岩气", ["页岩气"]),
        ("页岩器", ["页岩气"]),
        ("水里压列", ["水力压裂"]),
        ("夜眼", ["夜宴"]),
        ("页岩气", []),
        ("页岩", ["夜宴"]),
        ("开方", []),
        ("水力压列", ["水力压裂"]),
        ("水力裂", ["水力压裂"]),
        ("水力的压裂", ["水力压裂"]),
        ("水压力裂", ["水力压裂"]),
        ("烃原岩", ["烃源岩"]),
        ("开放", []),
        ("shale gsa", ["shale gas"]),
    ],
)
def test_words_that_sound_alike_or_are_one_edit_away(text: str, meant: list[str]) -> None:
    assert similar(KNOWN, text) == meant


def test_sounds_that_are_mixed_up_come_after_the_same_sound() -> None:
    known = Vocabulary(terms={"陈规": 1, "常规": 90, "成规": 5})
    assert similar(known, "晨规") == ["陈规", "成规"]
    assert similar(known, "苍规") == ["常规"]
    assert similar(Vocabulary(terms={"储层": 1}), "出城") == ["储层"]


@pytest.mark.parametrize(
    ("word", "errors"),
    [
        (
            "docker",
            ["dcoker", "docler", "dociker", "xdocker"],
        ),  # swapped, a neighbouring key, another letter, the first
        ("coffee", ["cofffee", "cffee", "cofxee"]),  # doubled, omitted, another key
        ("búsqueda", ["bbúsqueda", "bsqueda", "bízqueda"]),
        ("水力压裂", ["水压力裂", "水力裂", "水力压的"]),
        ("maintenance", ["maintennace", "mantenance", "mqintenance", "maintxnance", "maintainance"]),
    ],
)
def test_errors_are_ordered_by_the_keys(word: str, errors: list[str]) -> None:
    penalties = [edit_penalty(error, word) for error in errors]
    assert penalties == sorted(penalties)


@pytest.mark.parametrize(
    ("typed", "word"), [("gas", "gap"), ("开放", "开发"), ("mantainense", "maintenance"), ("flwos", "flow")]
)
def test_short_words_and_several_edits_are_other_words(typed: str, word: str) -> None:
    assert edit_penalty(typed, word) == inf


def test_frequent_words_cost_less_and_long_unknown_words_more() -> None:
    known = Vocabulary(title_words={"docker": 300, "podman": 3}, document_count=1000)
    assert known.cost("docker") < known.cost("podman") < known.cost("qwzxtr") < known.cost("qwzxtrwp")
    assert known.typed_cost("the") < known.cost("the")
    assert known.cost("podman") == Vocabulary(title_words={"podman": 300}, document_count=100_000).cost("podman")


@pytest.mark.parametrize(("word", "is_known"), [
    ("Shale", True), ("shale gas", True), ("discovered", True), ("jansen", True), ("的士", True), ("冯志远", True),
    ("dcoker", False), ("树梅派", False), ("docker", True), ("qwzxtr", False),
])  # fmt: skip
def test_terms_names_and_dictionary_words_are_known(word: str, is_known: bool) -> None:
    assert Vocabulary(terms=TERMS, names=["冯志远"], title_words={"qwzxtr": 9}).is_known(word) is is_known


def test_pinyin_is_read_and_frequencies_are_those_of_documents() -> None:
    assert KNOWN.words_for_pinyin("yeyanqi") == ["页岩气"]
    assert KNOWN.words_for_pinyin("yeya") == []
    assert (KNOWN.frequency("页岩气"), KNOWN.frequency("开发"), KNOWN.frequency("没有")) == (120, 300, 0)


def test_an_empty_vocabulary_knows_nothing() -> None:
    nothing = Vocabulary()
    assert nothing.complete("页", 8) == [] and nothing.similar_words("页岩气") == nothing.similar_words("") == {}
