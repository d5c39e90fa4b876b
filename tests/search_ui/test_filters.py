"""The Solr filters of a request."""

from datetime import date

import pytest

from search_ui.query.filters import build_filters
from search_ui.query.query_parser import PartKind, parse_query
from search_ui.query.query_words import QueryWords
from search_ui.query.search_request import SearchRequest, SortOrder
from search_ui.query.solr_query import MATCH_ALL, Params, select_params

ANYWHERE = "qf='body_chars' q.op=OR q.operators=phrase"
PAIRS = ANYWHERE.replace("body_chars", "title body")


def params(text: str, words: tuple[str, ...] = (), **changes: object) -> Params:
    asked = SearchRequest(raw_query=text, text=text).with_changes(**changes)
    query_words = QueryWords(text, text, words, words, synonym_groups=(("页岩气", "shale gas"),))
    filters = build_filters(asked, query_words)
    clauses = [clause for one in filters for clause in one.queries]
    unfiltered = select_params(MATCH_ALL)
    return [pair for pair in select_params(MATCH_ALL, clauses) if pair not in unfiltered]


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("页岩气 开发", []),
        ('"页岩气"', [("fq", f"{{!simple tag=typed0 {PAIRS} v=$typed0_text}}"), ("typed0_text", '"页岩气"')]),
        (
            "煤 -页岩气",
            [
                ("fq", "{!bool tag=typed0 must=$everything must_not=$typed0_out}"),
                ("everything", "*:*"),
                ("typed0_out", f"{{!simple tag=typed0 {PAIRS} v=$typed0_text}}"),
                ("typed0_text", '"页岩气"'),
            ],
        ),
        (
            "title:页岩气",
            [
                ("fq", "{!simple tag=typed0 qf='title_chars' q.op=OR q.operators=phrase v=$typed0_text}"),
                ("typed0_text", '"页岩气" "shale gas"'),
            ],
        ),
        (
            "site:News.example site:例子.cn:8080",
            [
                ("fq", "{!terms tag=inside f=domains separator='\x1f' v=$inside_of}"),
                ("inside_of", "news.example\x1fxn--fsqu00a.cn:8080"),
            ],
        ),
        (
            "a -site:b.example",
            [
                ("fq", "{!bool tag=outside must=$everything must_not=$outside_out}"),
                ("everything", "*:*"),
                ("outside_out", "{!terms tag=outside f=domains separator='\x1f' v=$outside_of}"),
                ("outside_of", "b.example"),
            ],
        ),
        (
            "after:2015 after:2016-05 before:2018",
            [("fq", "{!tag=typed_date}published:[2016-05-01T00:00:00Z TO 2018-01-01T00:00:00Z}")],
        ),
        ("before:2018", [("fq", "{!tag=typed_date}published:[* TO 2018-01-01T00:00:00Z}")]),
    ],
    ids=["words", "phrase", "excluded", "title", "site", "not-site", "dates", "before"],
)  # fmt: skip
def test_what_is_typed(text: str, sent: Params) -> None:
    assert params(text) == sent


def test_by_date_every_word_is_required_in_one_of_its_spellings() -> None:
    assert params("页岩气 开发", ("页岩气", "开发")) == []
    by_date = params('页岩气 "开发"', ("页岩气", "开发", "页岩气"), sort=SortOrder.DATE)
    assert ("word0_text", '"页岩气" "shale gas"') in by_date
    assert [value for name, value in by_date if name.startswith("word1")] == []  # quoted: required anyway
    assert ("fq", f"{{!simple tag=words {ANYWHERE} v=$word0_text}}") in by_date


def test_what_was_chosen() -> None:
    sent = params(
        "a", sites=("a.example", "b,c"), sections=("国际",), terms=("页岩气", "煤"), cluster="x", since="2016"
    )
    assert dict(sent)["sites"] == "a.example\x1fb,c"
    assert ("fq", "{!terms tag=section f=section separator='\x1f' v=$sections}") in sent
    assert ("fq", "{!term tag=term f=domain_terms v=$terms1}") in sent and ("terms1", "煤") in sent
    assert ("fq", "{!terms tag=cluster f=cluster separator='\x1f' v=$cluster}") in sent
    assert ("fq", "{!tag=date}published:[2016-01-01T00:00:00Z TO *}") in sent


def test_every_filter_can_be_named_and_taken_off() -> None:
    text = '"页岩气" -煤 site:a.example after:2016'
    asked = SearchRequest(text=text, sites=("a",), since="2015", sort=SortOrder.DATE)
    filters = build_filters(asked, QueryWords(text, text, content=("页岩", "气")))
    assert [one.tag for one in filters] == ["typed0", "typed1", "inside", "typed_date", "words", "site", "date"]
    assert [one.request_field for one in filters if not one.query_parts] == ["sort", "sites", "date"]
    assert {part.kind for one in filters for part in one.query_parts} == {
        PartKind.PHRASE, PartKind.WORD, PartKind.SITE, PartKind.AFTER,
    }  # fmt: skip
    assert all(f"tag={one.tag}" in clause.to_syntax() for one in filters for clause in one.queries)


def test_a_readers_text_is_only_ever_a_value() -> None:
    text = 'x "{!func}y ${q}" -{!func} title:{!func} title:"a\\" OR *:*'
    fixed = [value for name, value in params(text, ("{!func}",), sort=SortOrder.DATE) if not _is_text(name)]
    assert fixed and not any("func" in value or "${" in value for value in fixed)
    carried = [value for name, value in params(text, ('"{!func}',), sort=SortOrder.DATE) if name.endswith("_text")]
    assert all(value.count('"') == 2 for value in carried)


def _is_text(name: str) -> bool:
    return name.endswith(("_text", "_word"))


def test_dates_are_written_from_what_was_read() -> None:
    assert parse_query("after:2016年5月").since == date(2016, 5, 1)
    assert params("after:2016-13 a") == []
