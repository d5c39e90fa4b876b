"""Parsing of the query syntax."""

import json
import random
from datetime import date

import pytest

from search_ui.query.query_parser import MAX_CONDITIONS, ParsedQuery, PartKind, QueryPart, parse_query
from tests.conftest import SHARED

WORD, PHRASE, TITLE, SITE = PartKind.WORD, PartKind.PHRASE, PartKind.TITLE, PartKind.SITE
AFTER, BEFORE = PartKind.AFTER, PartKind.BEFORE


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("页岩气 开发", [QueryPart(WORD, "页岩气"), QueryPart(WORD, "开发")]),
        ('"世界石油大会" 2016', [QueryPart(PHRASE, "世界石油大会"), QueryPart(WORD, "2016")]),
        ("“a  b”「c」『d』”e“", [QueryPart(PHRASE, t) for t in ("a b", "c", "d", "e")]),
        ("气 -煤 －新闻", [QueryPart(WORD, "气"), QueryPart(WORD, "煤", True), QueryPart(WORD, "新闻", True)]),
        ('气 -"a b"', [QueryPart(WORD, "气"), QueryPart(PHRASE, "a b", True)]),
        ("title:产量 Title：「产 量」", [QueryPart(TITLE, "产量"), QueryPart(TITLE, "产 量")]),
        ("site:News.example", [QueryPart(SITE, "news.example")]),
        ("site：https://a.example:80/b?c -site:x.cn", [QueryPart(SITE, "a.example:80"), QueryPart(SITE, "x.cn", True)]),
        ("after:2016 before:2017-5", [QueryPart(AFTER, "2016"), QueryPart(BEFORE, "2017-05")]),
        ("after：2016年5月9日 before:2016/6", [QueryPart(AFTER, "2016-05-09"), QueryPart(BEFORE, "2016-06")]),
        ('foo"bar baz"qux', [QueryPart(WORD, "foo"), QueryPart(PHRASE, "bar baz"), QueryPart(WORD, "qux")]),
    ],
)  # fmt: skip
def test_syntax(text: str, parts: list[QueryPart]) -> None:
    assert list(parse_query(text).parts) == parts


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
    assert parse_query(text) == ParsedQuery(tuple(QueryPart(WORD, word) for word in words))


def test_a_quoted_value_that_an_operator_cannot_take_is_a_phrase() -> None:
    assert parse_query('after:"foo bar"').parts == (QueryPart(WORD, "after:"), QueryPart(PHRASE, "foo bar"))


def test_excluding_alone_finds_nothing_so_the_words_are_looked_for_but_a_site_is_left_out() -> None:
    assert parse_query("-a -b") == parse_query("a b")
    assert parse_query("-site:a.example").parts == (QueryPart(SITE, "a.example", True),)


def test_conditions_beyond_the_limit_are_words() -> None:
    query = parse_query(" ".join(f"-w{n}" for n in range(30)) + ' "p q"')
    assert len(query.conditions) == MAX_CONDITIONS
    assert query.parts[-2:] == (QueryPart(WORD, "p"), QueryPart(WORD, "q"))


def test_repeated_dates_narrow() -> None:
    query = parse_query("after:2015 after:2016-05 before:2018 before:2017-03-02")
    assert (query.since, query.until) == (date(2016, 5, 1), date(2017, 3, 2))
    assert (parse_query("a").since, parse_query("a").until) == (None, None)


def test_what_ranks_is_what_is_wanted_and_not_excluded() -> None:
    query = parse_query('页岩气 "水力 压裂" -煤 title:产量 site:a.example after:2016')
    assert query.ranking_text == "页岩气 水力 压裂 产量"
    assert [part.text for part in query.word_parts] == ["页岩气"]
    assert query.required_texts(PHRASE) == ("水力 压裂",)
    assert [str(part) for part in query.conditions] == [
        '"水力 压裂"', "-煤", "title:产量", "site:a.example", "after:2016",
    ]  # fmt: skip


def test_parts_can_be_taken_off_and_phrases_be_searched_by_their_parts() -> None:
    query = parse_query('a "b c" -d')
    assert str(query.without(QueryPart(PHRASE, "b c"))) == "a -d"
    assert str(query.without(*query.parts)) == ""
    assert str(query.with_phrase_split(QueryPart(PHRASE, "b c"), ("b", "c"))) == "a b c -d"


PIECES = [
    "site:", "title:", "after:", "-", '"', "“", "「", "」", " ", "a", "2016", "2016-05", "b.c", "：", "--", "，",
    "页岩", "SITE：", "『", "\n", "\ud800", "\0",
]  # fmt: skip


def test_what_is_read_is_written_so_that_it_is_read_the_same() -> None:
    chance = random.Random(5)
    for n in range(5000):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 60 if n % 50 == 0 else 9)))
        query = parse_query(text)
        assert parse_query(str(query)) == query, text


@pytest.mark.shared
def test_hostile_text_is_read_and_written_the_same() -> None:
    for name in ("queries", "strings", "xss"):
        for line in (SHARED / "data" / "hostile" / f"{name}.jsonl").read_text("utf-8").splitlines():
            text = json.loads(line).get("text", "")
            assert parse_query(str(parse_query(text))) == parse_query(text), text
