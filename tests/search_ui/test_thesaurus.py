"""Synonyms of the lexicon for the words of a query."""

import pytest

from domain.term import Lexicon, LexiconEntry
from search_ui.query.query_parser import parse_query
from search_ui.query.query_words import (
    MAX_QUERY_SYNONYMS,
    QueryWords,
    Thesaurus,
    build_thesaurus,
    find_synonym_groups,
)

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
