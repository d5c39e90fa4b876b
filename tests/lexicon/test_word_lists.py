"""Word lists of other programs in and out: all or nothing, every bad line named, and nothing lost on the way."""

import base64
import json
import re
from io import StringIO

import jieba
import pytest

from domain.errors import DictionaryError
from domain.term import LexiconEntry, TermClass
from lexicon.jieba_dictionary import decode_dictionary
from lexicon.word_lists import FORMATTERS, PARSERS, detect_word_list_format, parse_valid_lines, parse_word_list
from tests.conftest import SHARED

ENTRIES = [
    LexiconEntry("PDC钻头", 12, "nz", ("聚晶金刚石钻头", "PDC bit"), TermClass.PROFESSIONAL, ("钻头",)),
    LexiconEntry("shale gas", 0, "eng", (), TermClass.SUBJECT, ()),
    LexiconEntry("钻头", 0, "n"),
    LexiconEntry("页岩气", 77, "n", ("shale gas",), TermClass.SUBJECT, ("天然气", "非常规气")),
]
CSV_HEADER = "term,frequency,tag,class,synonyms\n"


@pytest.mark.parametrize(
    ("form", "text", "entries"),
    [
        ("thuocl", "页岩气\t1520\nC++ \t 7\r\n\n", [LexiconEntry("页岩气"), LexiconEntry("C++", 0, "eng")]),
        ("plain", "页岩气\nshale gas\n\n", [LexiconEntry("页岩气"), LexiconEntry("shale gas", 0, "eng")]),
        ("plain", "GB 1234", [LexiconEntry("GB 1234", 0, "eng")]),
        ("csv", "term\n页岩气\n", [LexiconEntry("页岩气")]),
        ("csv", "Term,synonyms,class\r\n页岩气,a b| 页岩瓦斯 |,subject\r\n",
         [LexiconEntry("页岩气", 0, "n", ("a b", "页岩瓦斯"), TermClass.SUBJECT)]),
    ],
    ids=["thuocl", "plain", "plain with a number", "csv of one column", "csv"],
)  # fmt: skip
def test_a_good_list(form: str, text: str, entries: list[LexiconEntry]) -> None:
    assert parse_word_list(text, form) == entries


@pytest.mark.parametrize(
    ("form", "text", "faults"),
    [
        ("thuocl", "页岩气\t12\n水力压裂\n页岩气\t9\n<b>\t1", [
            (2, "a line must be: term, tab"), (3, "repeats line 1"), (4, "symbol “<”")]),
        ("plain", "页岩气\n的页岩\n硅", [(2, "begins or ends with “的”"), (3, "single character")]),
        ("plain", "页岩气\n" + "长" * 100_000, [(2, "longer than 64")]),
        ("csv", "term,colour\n页岩气,red", [(1, "invalid header row")]),
        ("csv", "frequency\n7", [(1, "invalid header row")]),
        ("csv", CSV_HEADER + "页岩气,-1\n压裂液,,qq\n钻井液,,n,nonsense\n储层,,,,好的词|<i>\nab,,,,,f", [
            (2, "not a whole number"), (3, "unknown part-of-speech tag “qq”"), (4, "unknown class “nonsense”"),
            (5, "synonyms: contains"),
            (6, "more cells")]),
        ("csv", 'term\n页岩气\n"页岩"x\n', [(3, "not valid CSV")]),
        ("csv", 'term\n"页\n岩"\n<b>\n', [(2, "forbidden character"), (4, "symbol “<”")]),
        ("csv", "term\n" + "长" * 200_000, [(2, "not valid CSV")]),
    ],
    ids=["thuocl", "plain", "an endless word", "csv header", "csv without term", "csv cells", "broken csv",
         "line breaks in a cell", "an endless cell"],
)  # fmt: skip
def test_every_bad_line_is_named_and_nothing_comes_back(form: str, text: str, faults: list[tuple[int, str]]) -> None:
    with pytest.raises(DictionaryError) as error:
        parse_word_list(text, form)
    assert [number for number, _ in error.value.line_errors] == [number for number, _ in faults]
    for (_, said), (_, wanted) in zip(error.value.line_errors, faults, strict=True):
        assert wanted in said


def test_the_good_lines_can_be_asked_for() -> None:
    entries, faults = parse_valid_lines("页岩气\n硅\n水力压裂\n页岩气", "plain")
    assert [entry.text for entry in entries] == ["页岩气", "水力压裂"]
    assert [number for number, _ in faults] == [2, 4]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('term\n页岩气\n"坏\n<b>\n词"\n水力压裂\n', [3]),
        ('term\n页岩气\n"没有结尾\n水力压裂\n', [3]),
    ],
    ids=["a record of three lines", "an open quote"],
)
def test_a_bad_record_with_line_breaks_is_left_out(text: str, numbers: list[int]) -> None:
    entries, faults = parse_valid_lines(text, "csv")
    assert [entry.text for entry in entries] == ["页岩气", "水力压裂"]
    assert [number for number, _ in faults] == numbers


def test_a_list_without_a_valid_line_is_refused() -> None:
    with pytest.raises(DictionaryError, match=r"invalid header row.*synonyms.*concepts: concept id, language"):
        parse_valid_lines("colour\nred\n", "csv")


def test_a_file_says_how_it_is_written() -> None:
    assert [
        detect_word_list_format("A.CSV", ""),
        detect_word_list_format("x.txt", "页岩气\t9\n"),
        detect_word_list_format("x.txt", "页岩气 9 n"),
    ] == [*("csv", "thuocl", "jieba")]


def test_csv_comes_back_as_it_went() -> None:
    assert parse_word_list(FORMATTERS["csv"](ENTRIES), "csv") == ENTRIES
    assert parse_word_list(FORMATTERS["csv"]([]), "csv") == []


def test_a_jieba_dictionary_comes_back_without_what_it_cannot_say() -> None:
    back = parse_word_list(FORMATTERS["jieba"](ENTRIES), "jieba")
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
    text = FORMATTERS["synonyms"]([*ENTRIES, LexiconEntry("甲", synonyms=("a,b", "c=>d"))])
    groups = [
        [re.sub(r"\\(,|=>|\\)", r"\1", word) for word in re.split(r"(?<!\\),", line)] for line in text.splitlines()
    ]
    assert groups == [["PDC钻头", "聚晶金刚石钻头", "PDC bit"], ["页岩气", "shale gas"], ["甲", "a,b", "c=>d"]]


@pytest.mark.shared
def test_no_hostile_line_is_loaded_by_any_reader() -> None:
    rows = [
        json.loads(line) for line in (SHARED / "data/hostile/lexicon.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    bad = [row for row in rows if row["expect"].startswith("rejected")]
    assert len(bad) > 20
    for row in bad:
        text = row["text"] if "text" in row else decode_dictionary(base64.b64decode(row["b64"]))
        good = "水力压裂 40 vn\n"
        with pytest.raises(DictionaryError) as error:
            parse_word_list(good + text, "jieba")
        assert [number for number, _ in error.value.line_errors] == [2], row["id"]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["car", "law", "medical"])
def test_the_lists_of_thuocl_are_read(name: str) -> None:
    text = decode_dictionary((SHARED / f"data/lexical/thuocl/THUOCL_{name}.txt").read_bytes())
    assert detect_word_list_format(f"THUOCL_{name}.txt", text) == "thuocl"
    entries, faults = parse_valid_lines(text, "thuocl")
    assert len(entries) > 1700 and len(faults) < len(entries) / 100
    assert len(entries) + len(faults) == sum(bool(line.strip()) for line in text.splitlines())


def test_every_form_is_named_once() -> None:
    assert list(PARSERS) == ["jieba", "thuocl", "plain", "csv"]
    assert list(FORMATTERS) == ["jieba", "csv", "synonyms"]
