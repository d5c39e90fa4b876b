"""Word lists of other programs in and out: every bad line is named, and nothing else is lost on the way."""

import re
from io import StringIO

import jieba
import pytest

from domain.term import LexiconEntry, TermClass
from lexicon.jieba_dictionary import decode_dictionary
from lexicon.word_lists import FORMATTERS, PARSERS, detect_word_list_format, parse_word_list
from tests.conftest import SHARED

ENTRIES = [
    LexiconEntry("PDC钻头", 12, "nz", ("聚晶金刚石钻头", "PDC bit"), TermClass.PROFESSIONAL, ("钻头",)),
    LexiconEntry("shale gas", 0, "eng", (), TermClass.SUBJECT, ()),
    LexiconEntry("钻头", 0, "n"),
    LexiconEntry("页岩气", 77, "n", ("shale gas",), TermClass.SUBJECT, ("天然气", "非常规气")),
    LexiconEntry("=1+1", 0, "eng", ('a|b "c"', "d"), broader_terms=('"e"',)),
]
CSV_HEADER = "term,frequency,tag,class,synonyms\n"


@pytest.mark.parametrize(
    ("form", "text", "entries"),
    [
        ("thuocl", "页岩气\t1520\nC++ \t 7\r\n\n", [LexiconEntry("页岩气"), LexiconEntry("C++", 0, "eng")]),
        ("plain", "页岩气\nshale gas\n\n", [LexiconEntry("页岩气"), LexiconEntry("shale gas", 0, "eng")]),
        ("thuocl", "金钱豹\t120\n白 鹭\t33\n高棚子\t3?\n灰鹤\n丹顶鹤 \t18\n",
         [LexiconEntry(text) for text in ("金钱豹", "白 鹭", "高棚子", "灰鹤", "丹顶鹤")]),
        ("plain", "GB 1234", [LexiconEntry("GB 1234", 0, "eng")]),
        ("csv", "term\n页岩气\n", [LexiconEntry("页岩气")]),
        ("csv", "Term,synonyms,class\r\n页岩气,a b| 页岩瓦斯 |,subject\r\n",
         [LexiconEntry("页岩气", 0, "n", ("a b", "页岩瓦斯"), TermClass.SUBJECT)]),
    ],
    ids=["thuocl", "thuocl without counts", "plain", "plain with a number", "csv of one column", "csv"],
)  # fmt: skip
def test_a_good_list(form: str, text: str, entries: list[LexiconEntry]) -> None:
    assert parse_word_list(text, form) == (entries, [])


@pytest.mark.parametrize(
    ("form", "text", "faults"),
    [
        ("thuocl", "页岩气\t12\n水力压裂\tfracturing\n页岩气\t9\n\x07\t1\n\t8", [
            (2, "a line must be: term, tab"), (3, "repeats line 1"), (4, "U+0007"), (5, "no term")]),
        ("plain", "页岩气\n" + "长" * 100_000, [(2, "longer than 100")]),
        ("csv", "term,colour\n页岩气,red", [(1, "invalid header row")]),
        ("csv", "frequency\n7", [(1, "invalid header row")]),
        ("csv", CSV_HEADER + "页岩气,-1\n压裂液,,qq\n钻井液,,n,nonsense\n储层,,,,好的词|\x07\nab,,,,,f", [
            (2, "not a whole number"), (3, "unknown part-of-speech tag “qq”"), (4, "unknown class “nonsense”"),
            (5, "synonyms: contains"),
            (6, "more cells")]),
        ("csv", 'term\n页岩气\n"页岩"x\n', [(3, "not valid CSV")]),
        ("csv", 'term\n"页\n岩"\n\x07\n', [(2, "forbidden character"), (4, "U+0007")]),
        ("csv", "term,broader\n页岩气,气\na," + "|".join(map(str, range(151))), [(3, "broader: it has 151 terms")]),
        ("csv", "term\n" + "长" * 200_000, [(2, "not valid CSV")]),
    ],
    ids=["thuocl", "an endless word", "csv header", "csv without term", "csv cells", "broken csv",
         "line breaks in a cell", "many words", "an endless cell"],
)  # fmt: skip
def test_every_bad_line_is_named(form: str, text: str, faults: list[tuple[int, str]]) -> None:
    _, errors = parse_word_list(text, form)
    assert [number for number, _ in errors] == [number for number, _ in faults]
    for (_, said), (_, wanted) in zip(errors, faults, strict=True):
        assert wanted in said


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('term\n页岩气\n"坏\n\n词"\n水力压裂\n', [3]),
        ('term\n页岩气\n"没有结尾\n水力压裂\n', [3]),
    ],
    ids=["a record of three lines", "an open quote"],
)
def test_a_bad_record_with_line_breaks_is_left_out(text: str, numbers: list[int]) -> None:
    entries, faults = parse_word_list(text, "csv")
    assert [entry.text for entry in entries] == ["页岩气", "水力压裂"]
    assert [number for number, _ in faults] == numbers


def test_a_wrong_header_names_the_columns_of_both_kinds() -> None:
    entries, [(number, error)] = parse_word_list("colour\nred\n", "csv")
    assert (entries, number) == ([], 1)
    assert "columns of terms: term, frequency, tag" in error and "columns of concepts: concept id, language" in error


def test_a_file_says_how_it_is_written() -> None:
    assert [
        detect_word_list_format("A.CSV", ""),
        detect_word_list_format("x.txt", "灰鹤\n页岩气\t9\n"),
        detect_word_list_format("x.txt", "页岩气 9 n"),
    ] == [*("csv", "thuocl", "jieba")]


def test_csv_comes_back_as_it_went() -> None:
    assert parse_word_list(FORMATTERS["csv"](ENTRIES), "csv") == (ENTRIES, [])
    assert parse_word_list(FORMATTERS["csv"]([]), "csv") == ([], [])
    assert "'=1+1," in FORMATTERS["csv"](ENTRIES)  # no formula for a spreadsheet


def test_a_jieba_dictionary_comes_back_without_what_it_cannot_say() -> None:
    back, _ = parse_word_list(FORMATTERS["jieba"](ENTRIES), "jieba")
    assert {(e.text, e.frequency, e.pos_tag) for e in back} == {(e.text, e.frequency, e.pos_tag) for e in ENTRIES}


def test_jieba_keeps_the_words_of_an_exported_dictionary_whole() -> None:
    """jieba chooses the frequency of a word by the parts that it has loaded before, so short words stand first."""
    entries = [
        LexiconEntry(text, frequency) for text, frequency in (("页岩气藏", 0), ("页岩", 900_000), ("气藏", 900_000))
    ]
    tokenizer = jieba.Tokenizer()
    tokenizer.load_userdict(StringIO(FORMATTERS["jieba"](entries)))
    assert tokenizer.lcut("页岩气藏") == ["页岩气藏"]


def test_synonyms_are_lines_of_solr() -> None:
    text = FORMATTERS["synonyms"]([*ENTRIES[:-1], LexiconEntry("甲", synonyms=("a,b", "c=>d"))])
    groups = [
        [re.sub(r"\\(,|=>|\\)", r"\1", word) for word in re.split(r"(?<!\\),", line)] for line in text.splitlines()
    ]
    assert groups == [["PDC钻头", "聚晶金刚石钻头", "PDC bit"], ["页岩气", "shale gas"], ["甲", "a,b", "c=>d"]]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["car", "law", "medical"])
def test_the_lists_of_thuocl_are_read(name: str) -> None:
    text = decode_dictionary((SHARED / f"data/lexical/thuocl/THUOCL_{name}.txt").read_bytes())
    assert detect_word_list_format(f"THUOCL_{name}.txt", text) == "thuocl"
    entries, faults = parse_word_list(text, "thuocl")
    assert len(entries) > 1700 and len(faults) < len(entries) / 100
    assert len(entries) + len(faults) == sum(bool(line.strip()) for line in text.splitlines())


def test_every_form_is_named_once() -> None:
    assert list(PARSERS) == ["jieba", "thuocl", "plain", "csv"]
    assert list(FORMATTERS) == ["jieba", "csv", "synonyms"]
