"""Synonyms of the lexicon in the words of a query."""

import pytest

from docstore.model import Lexicon, LexiconEntry
from search_ui.query.parse import parse
from search_ui.query.thesaurus import MAX_ADDED, Thesaurus, spellings_in, synonym_groups, synonyms_in, thesaurus_of

LEXICON = Lexicon(
    1,
    (
        LexiconEntry("页岩气", synonyms=("shale gas", "页岩天然气")),
        LexiconEntry("钻井"),
        LexiconEntry("煤层气", synonyms=("CBM",)),
        LexiconEntry("coal bed methane", synonyms=("cbm",)),
    ),
)
THESAURUS = thesaurus_of(LEXICON)


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
    assert THESAURUS.of(word) == others


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
    assert synonyms_in(synonym_groups(parse(text), words, THESAURUS)) == also


def test_a_query_gets_only_so_many() -> None:
    entries = tuple(LexiconEntry(f"词{n}", synonyms=tuple(f"w{n}x{m}" for m in range(5))) for n in range(4))
    words = tuple(f"词{n}" for n in range(4))
    assert (
        len(synonyms_in(synonym_groups(parse(" ".join(words)), words, thesaurus_of(Lexicon(1, entries))))) == MAX_ADDED
    )


def test_a_filter_looks_the_spellings_of_one_word_up() -> None:
    spellings = spellings_in(synonym_groups(parse("页岩气 开发"), ("页岩气", "开发"), THESAURUS))
    assert spellings("页岩气") == ("shale gas", "页岩天然气")
    assert spellings("开发") == ()


def test_without_synonyms_nothing_is_looked_up() -> None:
    assert thesaurus_of(Lexicon(1, (LexiconEntry("钻井"),))) == Thesaurus()
    assert synonym_groups(parse("钻井"), ("钻井",), Thesaurus()) == ()
