"""Words of a query: content words, function words, and synonyms of the lexicon."""

import pytest

from domain.term import Lexicon, LexiconEntry
from search_ui.query.query_parser import parse_query
from search_ui.query.query_words import (
    MAX_QUERY_SYNONYMS,
    QueryWords,
    Thesaurus,
    build_thesaurus,
    drop_question_words,
    find_synonym_groups,
    split_content_words,
)
from tests.site_fixture import BASE
from text.segment import RjiebaSegmenter


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("天然气 价格", "天然气 价格"),
        ("天然气价格为什么上涨？", "天然气 价格 上涨"),
        ("产量最高的油田是哪个", "产量 油田"),
        ("哪个油田产量最高", "油田 产量"),
        ("最高法院的最小二乘法", "最高法院 最小 乘法 + 二"),  # no superlatives of a question
        ("量子纠缠态", "量子 纠缠 + 态"),  # 态 stands in words of any meaning
        ("税改革 税", "改革 税 + 税"),  # typed alone it is meant
        ("劳动合同到期不续签有没有补偿", "劳动合同 到期 续签 补偿"),
        ("什么时候能退税", "退税"),
        ("什麼時候能退稅", "退稅"),
        ("哪一年投产", "投产"),
        ("借据和几何", "借据 几何"),
        ("how do I configure the proxy", "configure proxy"),
        ("What is shale gas?", "shale gas"),
        ("who runs IT support", "runs IT support"),
        ("TO BE OR NOT", "TO BE OR NOT"),
        ("是什么", "是 什么"),
        ("the the", "the"),
        ("买车", "买车"),
        ("车", "车"),
        ("第3期 油气周报", "第3期 油气 周报"),
        ("2023年 天然气3月价格", "2023 天然气 3月 价格"),
        ("Gas gas GAS", "Gas"),
        ("☃ ！", ""),
    ],
)
def test_parts_are_words_with_content(query: str, words: str) -> None:
    counted, _, left_over = words.partition(" + ")
    assert split_content_words(query, BASE.cut(query)) == (tuple(counted.split()), tuple(left_over.split()))


def test_a_word_of_the_lexicon_is_one() -> None:
    segmenter = RjiebaSegmenter([("世界石油大会", 0, "n"), ("shale gas", 0, "n")])
    query = "世界石油大会上谁谈了 shale gas"
    assert split_content_words(query, segmenter.cut(query)) == (("世界石油大会", "shale gas"), ("谈",))


def test_a_number_that_goes_on_into_the_next_word_is_taken_out_of_it() -> None:
    assert split_content_words("2号井喷", ["2", "号井喷"]) == (("2号", "井喷"), ())


@pytest.mark.parametrize(
    ("query", "ranked"),
    [
        ("LNG是什么", "LNG是"),
        ("为什么天然气价格上涨？", "天然气价格上涨？"),
        ("What is shale gas", "is shale gas"),
        ("WHO guidelines", "WHO guidelines"),
        ("是什么", "是什么"),
        ("天然气 价格", "天然气 价格"),
    ],
)
def test_question_words_do_not_rank_beside_a_content_word(query: str, ranked: str) -> None:
    assert drop_question_words(query, BASE.cut(query)) == ranked


# -- Synonyms of the lexicon for the words of a query.


LEXICON = Lexicon(
    1,
    (
        LexiconEntry("页岩气", synonyms=("shale gas", "页岩天然气")),
        LexiconEntry("钻井"),
        LexiconEntry("煤层气", synonyms=("CBM",)),
        LexiconEntry("coal bed methane", synonyms=("cbm",)),
    ),
)
THESAURUS = build_thesaurus(LEXICON)


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("页岩气", ("shale gas", "页岩天然气")),
        ("Shale Gas", ("页岩气", "页岩天然气")),
        ("ＣＢＭ", ("煤层气", "coal bed methane")),
        ("钻井", ()),
        ("没有", ()),
    ],
)
def test_a_group_of_words_leads_to_all_its_others(word: str, others: tuple[str, ...]) -> None:
    assert THESAURUS.find_synonyms(word) == others


def found(text: str, words: tuple[str, ...], thesaurus: Thesaurus = THESAURUS) -> QueryWords:
    return QueryWords(text, text, words, synonym_groups=find_synonym_groups(parse_query(text), words, thesaurus))


@pytest.mark.parametrize(
    ("text", "words", "also"),
    [
        ("页岩气 开发", ("页岩气", "开发"), ("shale gas", "页岩天然气")),
        ("about shale gas", ("about", "shale", "gas"), ("页岩气", "页岩天然气")),
        ("页岩天然气", ("页岩", "天然气"), ("页岩气", "shale gas")),
        ('"页岩气" 开发', ("页岩气", "开发"), ()),
        ("开发 -页岩气", ("开发",), ()),
        ("title:页岩气", ("页岩气",), ("shale gas", "页岩天然气")),
        ("页岩气 (shale gas)", ("页岩气", "shale", "gas"), ("页岩天然气",)),
    ],
)
def test_what_is_also_searched(text: str, words: tuple[str, ...], also: tuple[str, ...]) -> None:
    assert found(text, words).synonyms == also


def test_a_query_gets_only_so_many() -> None:
    entries = tuple(LexiconEntry(f"词{n}", synonyms=tuple(f"w{n}x{m}" for m in range(5))) for n in range(4))
    words = tuple(f"词{n}" for n in range(4))
    assert len(found(" ".join(words), words, build_thesaurus(Lexicon(1, entries))).synonyms) == MAX_QUERY_SYNONYMS


def test_a_filter_looks_the_spellings_of_one_word_up() -> None:
    words = found("页岩气 开发", ("页岩气", "开发"))
    assert words.find_synonyms("页岩气") == ("shale gas", "页岩天然气")
    assert words.find_synonyms("开发") == ()


def test_without_synonyms_nothing_is_looked_up() -> None:
    assert build_thesaurus(Lexicon(1, (LexiconEntry("钻井"),))) == Thesaurus()
    assert find_synonym_groups(parse_query("钻井"), ("钻井",), Thesaurus()) == ()
