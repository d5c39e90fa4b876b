"""jieba checks a version: every term whole, known sentences counted, harmful terms named."""

from collections.abc import Iterable

import pytest

from domain.term import Lexicon, LexiconEntry, Term, VersionCheck
from lexicon import version_check
from lexicon.jieba_segmenter import JiebaSegmenter
from lexicon.version_check import add_harmless_terms
from text.segment import RjiebaSegmenter

SENTENCES = ["四川页岩气开采技术", "页岩气井投产", "海上油田开发", "今天天气好"]


def lexicon(*entries: str | tuple[str, int]) -> Lexicon:
    pairs = [entry if isinstance(entry, tuple) else (entry, 0) for entry in entries]
    return Lexicon(1, tuple(LexiconEntry(text, frequency) for text, frequency in pairs))


def check_version(before: Lexicon, after: Lexicon, sentences: Iterable[str]) -> VersionCheck:
    return version_check.check_version(before, after, [Term("", 0.0, 0, 0, contexts=tuple(sentences))])


def test_known_sentences_are_counted_and_shown() -> None:
    check = check_version(lexicon(), lexicon("页岩气", "shale gas"), [*SENTENCES, "Shale gas is gas"])
    assert (check.sentence_count, check.changed_count, check.error_by_term) == (3, 3, {})
    assert check.words_by_term == {
        "页岩气": (("四川", "页岩", "气", "开采", "技术"), ("四川", "页岩气", "开采", "技术")),
        "shale gas": (
            ("Shale", " ", "gas", " ", "is", " ", "gas"),
            ("Shale gas", " ", "is", " ", "gas"),
        ),
    }


def test_a_term_without_a_sentence_is_its_own_example_and_no_sentence() -> None:
    check = check_version(lexicon("水力压裂"), lexicon("页岩气"), [])
    assert check.sentence_count == check.changed_count == 0 and not check.error_by_term
    assert check.words_by_term["页岩气"] == (("页岩", "气"), ("页岩气",))
    assert check.words_by_term["水力压裂"] == (("水力压裂",), ("水力", "压裂"))


def test_nothing_is_checked_if_nothing_changes() -> None:
    assert check_version(lexicon("页岩气"), lexicon("页岩气"), SENTENCES).sentence_count == 0


@pytest.mark.parametrize(
    "text", ["页岩气", "頁岩氣", "PDC钻头", "CO2驱油", "shale gas", "GB/T 1234", "α-烯烃", "C++", "𬭊", "油·气", "AT&T"]
)
def test_terms_of_all_kinds_are_whole(text: str) -> None:
    assert JiebaSegmenter([(text, 0, "n")]).cut(text) == [text]
    assert check_version(lexicon(), lexicon(text), []).error_by_term == {}


def test_a_term_that_jieba_does_not_keep_whole_is_an_error() -> None:
    errors = check_version(lexicon(), lexicon(("研究方法", 1), "页岩气"), SENTENCES).error_by_term
    assert errors == {"研究方法": "jieba cuts it into 研究 | 方法, the index into 研究 | 方法"}


def test_a_difference_between_jieba_and_the_index_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    index_segmenter = RjiebaSegmenter([("页岩", 0, "n")])
    monkeypatch.setattr(version_check, "create_domain_segmenter", lambda lexicon: index_segmenter)
    errors = check_version(lexicon(), lexicon("页岩气"), []).error_by_term
    assert errors == {"页岩气": "jieba cuts it into 页岩气, the index into 页岩 | 气"}


def test_a_term_that_cuts_a_published_term_in_most_sentences_is_an_error() -> None:
    before, after = lexicon("页岩气"), lexicon("页岩气", ("气开采", 900_000))
    assert JiebaSegmenter([("页岩气", 0, "n"), ("气开采", 900_000, "n")]).cut(SENTENCES[0])[1:3] == ["页岩", "气开采"]
    errors = check_version(before, after, SENTENCES).error_by_term
    assert errors == {"气开采": "it cuts longer words such as 页岩气 apart in 1 of 1 texts"}
    # In most of its sentences the term is right.
    assert check_version(before, after, [*SENTENCES, "油气开采", "加快气开采"]).error_by_term == {}


def test_a_term_that_cuts_a_longer_dictionary_word_is_an_error() -> None:
    errors = check_version(lexicon(), lexicon(("震仪", 900_000)), ["地震仪的读数"]).error_by_term
    assert errors == {"震仪": "it cuts longer words such as 地震仪 apart in 1 of 1 texts"}
    # 开发商 is no longer than the term.
    assert check_version(lexicon(), lexicon(("商用车", 900_000)), ["开发商用车"]).error_by_term == {}


def test_a_term_that_breaks_a_published_term_is_an_error_without_a_sentence() -> None:
    errors = check_version(lexicon("页岩气"), lexicon("页岩气", ("岩气", 1_000_000)), []).error_by_term
    assert errors in ({}, {"岩气": "it cuts the term 页岩气 apart"})
    errors = check_version(lexicon(("页岩气", 1)), lexicon(("页岩气", 1), ("岩气", 1_000_000)), []).error_by_term
    assert errors == {"岩气": "it cuts the term 页岩气 apart"}


def test_a_longer_term_may_contain_a_published_one_and_a_removed_term_is_no_loss() -> None:
    assert check_version(lexicon("页岩气"), lexicon("页岩气", "四川页岩气"), SENTENCES).error_by_term == {}
    assert check_version(lexicon("页岩气"), lexicon(), SENTENCES).error_by_term == {}


def test_harmful_terms_are_left_out_and_the_others_added() -> None:
    terms = [
        Term("水平井", 0.9, 5, 5, contexts=("水平井压裂",)),
        Term("气开采", 0.9, 5, 5, contexts=(SENTENCES[0],), dictionary_weight=900_000),
    ]
    version, errors = add_harmless_terms(lexicon("页岩气"), terms, terms)
    assert [entry.text for entry in version.entries] == ["水平井", "页岩气"] and version.version == 2
    assert list(errors) == ["气开采"]
    previous = lexicon("页岩气")
    assert add_harmless_terms(previous, terms[1:], terms)[0] is previous


def test_the_sentences_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_check, "MAX_SENTENCES", 7)
    check = check_version(lexicon(), lexicon("页岩气"), (f"页岩气{n}" for n in range(50)))
    assert check.sentence_count == check.changed_count == 7
