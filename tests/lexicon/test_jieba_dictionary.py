"""Dictionary lines: all or nothing, every bad line named, and what is accepted never harms a text."""

import base64
import json

import pytest

from domain.errors import LexiconError
from domain.term import LexiconEntry
from lexicon.jieba_dictionary import decode_dictionary, find_term_error, format_dictionary, parse_dictionary
from tests.conftest import SHARED
from text.segment import RjiebaSegmenter


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("页岩气 100 n", LexiconEntry("页岩气", 100, "n")),
        ("页岩气", LexiconEntry("页岩气", 0, "n")),
        ("页岩气 nz", LexiconEntry("页岩气", 0, "nz")),
        ("页岩气 3", LexiconEntry("页岩气", 3, "n")),
        ("PDC钻头 20 nz", LexiconEntry("PDC钻头", 20, "nz")),
        ("ＰＤＣ钻头 20 nz", LexiconEntry("PDC钻头", 20, "nz")),
        ("shale gas 20 eng", LexiconEntry("shale gas", 20, "eng")),
        ("shale gas", LexiconEntry("shale gas", 0, "eng")),
        ("GB/T 1234 5 nz", LexiconEntry("GB/T 1234", 5, "nz")),
        ("C++ nz", LexiconEntry("C++", 0, "nz")),
        ("α-烯烃", LexiconEntry("α-烯烃", 0, "n")),
        ("勘探目的 n", LexiconEntry("勘探目的", 0, "n")),
        ("和田玉 1000000 n", LexiconEntry("和田玉", 1000000, "n")),
        ("页岩气 3 n\r", LexiconEntry("页岩气", 3, "n")),
        ("𬭼 5 n", LexiconEntry("𬭼", 5, "n")),
        ("鿏", LexiconEntry("鿏", 0, "n")),
        ("\U0002ebf0合金", LexiconEntry("\U0002ebf0合金", 0, "n")),
        ("β-内酰胺", LexiconEntry("β-内酰胺", 0, "n")),
        ("Москва", LexiconEntry("Москва", 0, "n")),
        ("64位系统", LexiconEntry("64位系统", 0, "n")),
        ("侏罗纪", LexiconEntry("侏罗纪", 0, "n")),
        ("第三方", LexiconEntry("第三方", 0, "n")),
        ("的确良", LexiconEntry("的确良", 0, "n")),
        ("钛及其合金", LexiconEntry("钛及其合金", 0, "n")),
    ],
)
def test_a_good_line(line: str, entry: LexiconEntry) -> None:
    assert parse_dictionary(line) == [entry]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (" 10 n", "no term"),
        ("\u3000 10 n", "no term"),
        ("n", "single character"),
        ("硅 10 n", "single character"),
        ("长" * 65, "longer than 64"),
        ("页\u200b岩气 3 n", r"forbidden character U\+200B"),
        ("页\u202e岩气 3 n", r"forbidden character U\+202E"),
        ("页\x00岩气 3 n", r"forbidden character U\+0000"),
        ("页\r岩气 3 n", r"forbidden character U\+000D"),
        ("页岩气\t10\tn", r"forbidden character U\+0009"),
        ("shale\u2028gas 3 eng", r"space character U\+2028"),
        ("页岩\ue000 3 n", r"forbidden character U\+E000"),
        ("页岩\ud800 3 n", r"forbidden character U\+D800"),
        ("<script>alert(1)</script> 10 n", "symbol “<”"),
        ("=HYPERLINK(1) 10 n", "symbol “=”"),
        ("%s%s%n 10 n", "begins with the symbol “%”"),
        ("-1+1 10 n", "no letter"),
        ("2024 10 m", "no letter"),
        ("页岩- 10 n", "ends with the symbol “-”"),
        ("页 岩 气 10 n", "a space in a Chinese term"),
        ("页岩气 10 n extra words here", "a space in a Chinese term"),
        ("页岩气 10 <b>", "symbol “<”"),
        ("shale  gas 10 eng", "a space in a Chinese term"),
        ("页岩气的 10 n", "begins or ends with “的”"),
        ("和页岩气 10 n", "begins or ends with “和”"),
        ("技术的研究 10 n", "contains “的”: a phrase"),
        ("什么是页岩气", "contains “是”: a phrase"),
        ("2019年 3 n", "a number with a measure word, or a date"),
        ("2019年底", "a number with a measure word, or a date"),
        ("3月15日", "a number with a measure word, or a date"),
        ("15天", "a number with a measure word, or a date"),
        ("三十年代", "a number with a measure word, or a date"),
        ("Рetroleum 3 eng", "letters of several scripts"),
        ("petrοleum 3 eng", "letters of several scripts"),
        ("Т细胞", "letters of several scripts"),
        ("页岩气 0 n", "the frequency is 0"),
        ("页岩气 -1 n", "not a whole number"),
        ("页岩气 1.5 n", "not a whole number"),
        ("页岩气 1000001 n", "above 1,000,000"),
        ("页岩气 " + "9" * 5000 + " n", "above 1,000,000"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_bad_line_is_named_with_its_reason(line: str, reason: str) -> None:
    with pytest.raises(LexiconError, match=f"line 2: .*{reason}"):
        parse_dictionary(f"水力压裂 40 vn\n{line}\n")


def test_every_bad_line_is_named_and_nothing_is_applied() -> None:
    with pytest.raises(LexiconError) as error:
        parse_dictionary("页岩气 3 n\n。 10 w\n\nshale gas\n页岩气 4 nz\nＳhale gas 3 eng")
    faults = str(error.value).removeprefix("dictionary not applied: ").split("; ")
    assert [fault.partition(":")[0] for fault in faults] == ["line 2", "line 5", "line 6"]
    assert "repeats line 1" in str(error.value)
    assert "repeats line 4" in str(error.value)


def test_an_error_on_thousands_of_lines_stays_readable() -> None:
    with pytest.raises(LexiconError, match=r"line 50: .*; and 950 more lines$") as error:
        parse_dictionary("<b>\n" * 1000)
    assert "line 51" not in str(error.value)


def test_blank_lines_and_a_byte_order_mark_are_nothing() -> None:
    assert parse_dictionary("") == []
    assert parse_dictionary(decode_dictionary(b"\xef\xbb\xbf\n\xe9\xa1\xb5\xe5\xb2\xa9 3 n\r\n \n")) == [
        LexiconEntry("页岩", 3, "n")
    ]


@pytest.mark.parametrize("encoding", ["gbk", "big5", "utf-16"])
def test_another_encoding_is_refused_by_line(encoding: str) -> None:
    with pytest.raises(LexiconError, match=r"line 1: "):
        parse_dictionary(decode_dictionary("頁岩 3 n\n".encode(encoding)))


@pytest.mark.parametrize("text", ["页岩气", "PDC钻头", "shale gas", "shale-gas", "C++", "勘探目的", "API 5CT", "H₂S"])
def test_an_acceptable_term(text: str) -> None:
    assert find_term_error(text) is None


def test_what_is_written_is_read_back() -> None:
    entries = [
        LexiconEntry("页岩气", 0, "n"),
        LexiconEntry("PDC钻头", 12, "nz"),
        LexiconEntry("shale gas", 0, "eng"),
        LexiconEntry("API 5CT", 0, "n"),
        LexiconEntry("vitamin c", 7, "eng"),
        LexiconEntry("vitamin d", 0, "eng"),
    ]
    by_length = sorted(entries, key=lambda entry: (len(entry.text), entry.text))
    assert parse_dictionary(format_dictionary(entries)) == by_length
    assert format_dictionary(entries[1::-1]) == "页岩气 n\nPDC钻头 12 nz\n"
    assert format_dictionary([]) == ""
    assert parse_dictionary(format_dictionary([LexiconEntry("GB 1234", 0, "n")])) == [LexiconEntry("GB 1234", 1, "n")]


@pytest.mark.shared
def test_hostile_lines() -> None:
    rows = [
        json.loads(line) for line in (SHARED / "data/hostile/lexicon.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(rows) > 50
    for row in rows:
        text = row["text"] if "text" in row else decode_dictionary(base64.b64decode(row["b64"]))
        try:
            entries = parse_dictionary(text)
        except LexiconError as error:
            assert row["expect"] != "accepted", row["id"]
            assert "line 1: " in str(error)
        else:
            assert not row["expect"].startswith("rejected"), row["id"]
            segmenter = RjiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in entries)
            for sample in (text, f"四川{text}开采", "四川页岩气开采"):
                assert "".join(segmenter.cut(sample)) == sample
