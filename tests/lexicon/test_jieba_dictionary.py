"""Dictionary lines: every bad line is named and the others are read, and what is accepted never harms a text."""

import base64
import json

import pytest

from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from lexicon.jieba_dictionary import (
    decode_dictionary,
    find_term_error,
    format_dictionary,
    has_candidate_shape,
    parse_dictionary,
)
from lexicon.publishing import build_next_version
from lexicon.version_check import check_version
from tests.conftest import SHARED
from text.folding import normalize_text, word_key
from text.mixed_terms import TermFinder
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
        ("井 3 n", LexiconEntry("井", 3, "n")),
        ("n", LexiconEntry("n", 0, "eng")),
        ("2019年 3 n", LexiconEntry("2019年", 3, "n")),
        ("页 岩 气 10 n", LexiconEntry("页 岩 气", 10, "n")),
        ("甲烷（CH4）", LexiconEntry("甲烷(CH4)", 0, "n")),
        ("shale\u2028 gas 3 eng", LexiconEntry("shale gas", 3, "eng")),
        ("《石油法》 n", LexiconEntry("《石油法》", 0, "n")),
        ("می‌خواهم", LexiconEntry("می‌خواهم", 0, "n")),
        ("页岩\ue000 3 n", LexiconEntry("页岩\ue000", 3, "n")),
    ],
)
def test_a_good_line(line: str, entry: LexiconEntry) -> None:
    assert parse_dictionary(line) == ([entry], [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (" 10 n", "no term"),
        ("\u3000 10 n", "no term"),
        ("长" * 101, "longer than 100"),
        ("页\u200b岩气 3 n", "forbidden character U+200B"),
        ("页\u202e岩气 3 n", "forbidden character U+202E"),
        ("页\x00岩气 3 n", "forbidden character U+0000"),
        ("页\r岩气 3 n", "forbidden character U+000D"),
        ("页岩气\t10\tn", "forbidden character U+0009"),
        ("页岩\uffff 3 n", "forbidden character U+FFFF"),
        ("页岩\ud800 3 n", "forbidden character U+D800"),
        ("页岩\udcff 3 n", "not UTF-8"),
        ("页岩气 0 n", "the frequency is 0"),
        ("页岩气 -1 n", "not a whole number"),
        ("页岩气 1.5 n", "not a whole number"),
        ("页岩气 1000001 n", "above 1,000,000"),
        ("页岩气 " + "9" * 5000 + " n", "above 1,000,000"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_bad_line_is_named_with_its_reason(line: str, reason: str) -> None:
    entries, [(number, error)] = parse_dictionary(f"水力压裂 40 vn\n{line}\n")
    assert (entries, number) == ([LexiconEntry("水力压裂", 40, "vn")], 2) and reason in error


def test_every_bad_line_is_named_and_the_others_are_read() -> None:
    entries, errors = parse_dictionary("页岩气 3 n\n\x07 10 w\n\nshale gas\n页岩气 4 nz\nＳhale gas 3 eng")
    assert entries == [LexiconEntry("页岩气", 3), LexiconEntry("shale gas", 0, "eng")]
    assert [(number, str(error)) for number, error in errors[1:]] == [(5, "repeats line 1"), (6, "repeats line 4")]


def test_blank_lines_and_a_byte_order_mark_are_nothing() -> None:
    assert parse_dictionary("") == ([], [])
    content = b"\xef\xbb\xbf\n\xe9\xa1\xb5\xe5\xb2\xa9 3 n\r\n \n"
    assert parse_dictionary(decode_dictionary(content)) == ([LexiconEntry("页岩", 3, "n")], [])


@pytest.mark.parametrize("encoding", ["gbk", "big5", "utf-16"])
def test_another_encoding_is_refused_by_line(encoding: str) -> None:
    entries, errors = parse_dictionary(decode_dictionary("頁岩 3 n\n".encode(encoding)))
    assert entries == [] and errors[0][0] == 1


VALID_TERMS = [
    *(
        "页岩气",
        "校验和",
        "64位",
        ".NET",
        "PXE 引导",
        "1,3-丁二烯",
        "(R)-苯甲醇",
        "《石油法》",
        "甲烷（CH4）",
        "4:3画幅",
    ),
    *(
        "℃",
        "SUSE®",
        "D.N.S.",
        "O’Neill",
        "AT&T",
        "C#",
        "12306",
        "或非门",
        "목재 가공",
        "フローチャート",
        "H₂S",
        "n",
        "α粒子",
    ),
]
SHARED_TERMS = SHARED / "data/cases/lexicon/l30-valid-terms.txt"


def test_people_can_decide_on_any_term_and_the_index_finds_it() -> None:
    """Each term is published with all others, and found in texts in other spellings that the index folds."""
    texts = dict.fromkeys(
        [*VALID_TERMS, *(SHARED_TERMS.read_text("utf-8").split("\n") if SHARED_TERMS.exists() else ())]
    )
    terms = [Term(text, 0.0, 0, 0, status=TermStatus.ACCEPTED) for text in texts if text]
    assert [text for text in texts if text and find_term_error(text)] == []
    version = build_next_version(terms, Lexicon())
    assert check_version(Lexicon(), version, terms).error_by_term == {}
    segmenter = RjiebaSegmenter((entry.text, 0, entry.pos_tag) for entry in version.entries)
    finder = TermFinder(entry.text for entry in version.entries)
    for text in filter(None, texts):
        full_width = text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
        for spelling in (text, text.upper(), text.replace(" ", "  "), full_width.replace("，", ",")):
            for sentence in (normalize_text(f"用 {spelling}。"), normalize_text(f"说：{spelling} 的")):
                keys = set(map(word_key, segmenter.cut(sentence)))
                assert word_key(normalize_text(text)) in keys, (text, sentence)
                assert word_key(text) in set(map(word_key, finder.find_terms(sentence))), (text, sentence)


@pytest.mark.parametrize(
    ("text", "has_shape"),
    [
        *(
            (text, True)
            for text in ("页岩气", "PDC钻头", "shale gas", "shale-gas", "C++", "勘探目的", "API 5CT", "H₂S")
        ),
        *((text, True) for text in ("𬭼", "鿏", "β-内酰胺", "Москва", "侏罗纪", "第三方", "的确良", "钛及其合金")),
        *((text, False) for text in ("硅", "长" * 65, "<b>", "=A(1)", "%s%s%n", "-1+1", "2024", "页岩-", "页 岩 气")),
        *(
            (text, False)
            for text in ("shale  gas", "页岩气的", "和页岩气", "技术的研究", "什么是页岩气", "2019年", "3月15日")
        ),
        *((text, False) for text in ("15天", "三十年代", "Рetroleum", "petrοleum", "Т细胞", "页\u200b岩气", "")),
    ],
)
def test_candidates_have_the_shape_of_words(text: str, has_shape: bool) -> None:
    assert has_candidate_shape(text) is has_shape


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
    assert parse_dictionary(format_dictionary(entries)) == (by_length, [])
    assert format_dictionary(entries[1::-1]) == "页岩气 n\nPDC钻头 12 nz\n"
    assert format_dictionary([]) == ""
    numbered = [LexiconEntry("GB 1234", 0, "n")]
    assert parse_dictionary(format_dictionary(numbered))[0] == [LexiconEntry("GB 1234", 1, "n")]


@pytest.mark.shared
def test_hostile_lines() -> None:
    """A line is named with its reason, or its word never changes a text."""
    rows = [
        json.loads(line) for line in (SHARED / "data/hostile/lexicon.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(rows) > 50
    for row in rows:
        text = row["text"] if "text" in row else decode_dictionary(base64.b64decode(row["b64"]))
        entries, errors = parse_dictionary(f"水力压裂井 40 vn\n{text}")
        assert len(entries) + len(errors) == 2 and (not errors or row["expect"] != "accepted"), row["id"]
        assert all(number == 2 for number, _ in errors)
        segmenter = RjiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in entries)
        for sample in (text, f"四川{text}开采", "四川页岩气开采"):
            assert "".join(segmenter.cut(sample)) == sample
