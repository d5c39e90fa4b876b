"""What a reader typed, as what is meant."""

import json
import random
from datetime import date

import pytest

from search_ui.query.parse import MAX_CONDITIONS, Part, PartKind, Query, parse
from tests.conftest import SHARED

WORD, PHRASE, TITLE, SITE = PartKind.WORD, PartKind.PHRASE, PartKind.TITLE, PartKind.SITE
AFTER, BEFORE = PartKind.AFTER, PartKind.BEFORE


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("页岩气 开发", [Part(WORD, "页岩气"), Part(WORD, "开发")]),
        ('"世界石油大会" 2016', [Part(PHRASE, "世界石油大会"), Part(WORD, "2016")]),
        ("“a  b”「c」『d』”e“", [Part(PHRASE, t) for t in ("a b", "c", "d", "e")]),
        ("气 -煤 －新闻", [Part(WORD, "气"), Part(WORD, "煤", True), Part(WORD, "新闻", True)]),
        ('气 -"a b"', [Part(WORD, "气"), Part(PHRASE, "a b", True)]),
        ("title:产量 Title：「产 量」", [Part(TITLE, "产量"), Part(TITLE, "产 量")]),
        ("site:News.example", [Part(SITE, "news.example")]),
        ("site：https://a.example:80/b?c -site:x.cn", [Part(SITE, "a.example:80"), Part(SITE, "x.cn", True)]),
        ("after:2016 before:2017-5", [Part(AFTER, "2016"), Part(BEFORE, "2017-05")]),
        ("after：2016年5月9日 before:2016/6", [Part(AFTER, "2016-05-09"), Part(BEFORE, "2016-06")]),
        ('foo"bar baz"qux', [Part(WORD, "foo"), Part(PHRASE, "bar baz"), Part(WORD, "qux")]),
    ],
)  # fmt: skip
def test_syntax(text: str, parts: list[Part]) -> None:
    assert list(parse(text).parts) == parts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"open end', ["open", "end"]),
        ("site: a", ["site:", "a"]),
        ("site:，", ["site:，"]),
        ("after:2016-13", ["after:2016-13"]),
        ("before:soon", ["before:soon"]),
        ("-after:2016 a", ["-after:2016", "a"]),
        ("k-means --help - a", ["k-means", "--help", "-", "a"]),
        ("-5", ["5"]),
        ('-"', ["-"]),
        ("-title: a", ["-title:", "a"]),
        ("id:* *:* url:http", ["id:*", "*:*", "url:http"]),
        ('"，" ""', ["，"]),
        ("", []),
    ],
)
def test_what_is_no_syntax_is_words(text: str, words: list[str]) -> None:
    assert parse(text) == Query(tuple(Part(WORD, word) for word in words))


def test_a_quoted_value_that_an_operator_cannot_take_is_a_phrase() -> None:
    assert parse('after:"foo bar"').parts == (Part(WORD, "after:"), Part(PHRASE, "foo bar"))


def test_excluding_alone_finds_nothing_so_the_words_are_looked_for_but_a_site_is_left_out() -> None:
    assert parse("-a -b") == parse("a b")
    assert parse("-site:a.example").parts == (Part(SITE, "a.example", True),)


def test_conditions_beyond_the_limit_are_words() -> None:
    query = parse(" ".join(f"-w{n}" for n in range(30)) + ' "p q"')
    assert len(query.conditions) == MAX_CONDITIONS
    assert query.parts[-2:] == (Part(WORD, "p"), Part(WORD, "q"))


def test_repeated_dates_narrow() -> None:
    query = parse("after:2015 after:2016-05 before:2018 before:2017-03-02")
    assert (query.since, query.until) == (date(2016, 5, 1), date(2017, 3, 2))
    assert (parse("a").since, parse("a").until) == (None, None)


def test_what_ranks_is_what_is_wanted_and_not_excluded() -> None:
    query = parse('页岩气 "水力 压裂" -煤 title:产量 site:a.example after:2016')
    assert query.text == "页岩气 水力 压裂 产量"
    assert query.loose_text == "页岩气"
    assert query.wanted(PHRASE) == ("水力 压裂",)
    assert [str(part) for part in query.conditions] == [
        '"水力 压裂"', "-煤", "title:产量", "site:a.example", "after:2016",
    ]  # fmt: skip


def test_parts_can_be_taken_off_and_phrases_be_searched_by_their_parts() -> None:
    query = parse('a "b c" -d')
    assert str(query.without(Part(PHRASE, "b c"))) == "a -d"
    assert str(query.without(*query.parts)) == ""
    assert str(query.loosened(Part(PHRASE, "b c"), ("b", "c"))) == "a b c -d"


PIECES = [
    "site:", "title:", "after:", "-", '"', "“", "「", "」", " ", "a", "2016", "2016-05", "b.c", "：", "--", "，",
    "页岩", "SITE：", "『", "\n", "\ud800", "\0",
]  # fmt: skip


def test_what_is_read_is_written_so_that_it_is_read_the_same() -> None:
    chance = random.Random(5)
    for n in range(5000):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 60 if n % 50 == 0 else 9)))
        query = parse(text)
        assert parse(str(query)) == query, text


@pytest.mark.shared
def test_hostile_text_is_read_and_written_the_same() -> None:
    for name in ("queries", "strings", "xss"):
        for line in (SHARED / "data" / "hostile" / f"{name}.jsonl").read_text("utf-8").splitlines():
            text = json.loads(line).get("text", "")
            assert parse(str(parse(text))) == parse(text), text
