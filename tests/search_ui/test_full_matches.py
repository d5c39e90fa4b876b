"""Full and partial matches: the queries, and their counts in a real Solr."""

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from indexer.embedded_solr import EmbeddedSolr
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import QueryWords
from search_ui.query.search_request import SearchRequest
from tests.builders import indexed, lexicon_of, stored_article
from tests.site_fixture import MemorySite, site_app


def sent(*words: str, synonyms: tuple[tuple[str, ...], ...] = ()) -> dict[str, str]:
    text = " ".join(words)
    asked = SearchRequest(raw_query=text, text=text)
    plan = QueryPlan(asked, QueryWords(text, text, words, words, synonym_groups=synonyms))
    return dict(plan.full_matches.to_params())


def test_every_word_is_required_as_one_part_whatever_its_length() -> None:
    named = sent("天然气", "价格")
    assert named["full_matches"] == "{!bool must=$part0 must=$part1}"
    assert (named["part0_text"], named["part1_text"]) == ('"天然气"', '"价格"')


@pytest.mark.parametrize(
    ("word", "looked_in"),
    [
        ("天然气", "title body"),
        ("シェールガス", "title body"),
        ("셰일가스", "title body"),
        ("税", "body_chars"),
        ("the", "body_chars"),
        ("PDC钻头", "body_chars"),
    ],
)
def test_pairs_are_asked_where_a_word_is_made_of_pairs(word: str, looked_in: str) -> None:
    named = sent(word)
    assert f"qf='{looked_in}'" in named.get("part0_phrase", named["part0"])


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("Bohrungen", "stems_de stems_es stems_fr stems_pl"),
        ("скважины", "stems_ru"),
        ("掘削した", "stems_ja"),
        ("시추를", "stems_ko"),
    ],
)
def test_other_forms_of_a_word_are_asked_for_by_its_letters(word: str, fields: str) -> None:
    named = sent(word)
    assert named["part0"] == "{!bool should=$part0_phrase should=$part0_stems}"
    assert named["part0_stems"] == f"{{!simple qf='{fields}' q.op=AND q.operators='' v=$part0_word}}"


def test_a_long_query_has_no_other_forms() -> None:
    assert "part0_stems" not in sent(*"abcdefghijklm")


@pytest.mark.parametrize(("word", "sign"), [("C++", "c++"), (".NET", ".net"), ("K+", "k+"), ("C#", "c#")])
def test_a_sign_that_is_part_of_the_name_is_required(word: str, sign: str) -> None:
    named = sent(word)
    assert named["part0"] == "{!bool must=$part0_must0 must=$part0_must1}" and named["part0_sign0"] == sign


def test_a_synonym_stands_for_its_word_and_for_each_word_of_its_term() -> None:
    named = sent("页岩气", "开发", synonyms=(("页岩气", "shale gas"),))
    assert (named["part0_text"], named["part1_text"]) == ('"页岩气" "shale gas"', '"开发"')
    both = sent("shale", "gas", synonyms=(("shale gas", "页岩气"),))
    assert (both["part0_text"], both["part1_text"]) == ('"shale" "页岩气"', '"gas" "页岩气"')


def test_signs_alone_are_looked_for_one_by_one() -> None:
    asked = SearchRequest(raw_query="☃", text="☃")
    named = dict(QueryPlan(asked, QueryWords("☃", "☃")).full_matches.to_params("o1_"))
    assert named["o1_text"] == "☃" and "v=$o1_text" in named["o1_full_matches"]


# -- in a real Solr

TERMS = ("天然气",)
ARTICLES = [
    ("天然气价格上涨", "天然气的价格今年上涨了。"),
    ("天然气产量", "天然气产量增长，天然气管道投产。天然气天然气天然气。"),
    ("国际油价", "国际原油价格下跌，价格回落，价格价格。"),
    ("天然湖泊", "天然的湖泊有气泡，价格不高。"),  # pairs and characters of it, not the word
    ("车险怎么选", "新手买的第一份车险，要看保额。"),
    ("产油大户", "本国油田中产量居首位的是大庆。"),
    ("PDC drill bits", "How to choose a drill bit: wells, bits and prices."),
]


@pytest.fixture(scope="module")
def client(solr_node: EmbeddedSolr) -> Iterator[FlaskClient]:
    """The site with `ARTICLES`."""
    lexicon = lexicon_of(TERMS)
    articles = [stored_article(n, "a.example", *row) for n, row in enumerate(ARTICLES)]
    with indexed(solr_node.url, "parts", articles, lexicon) as search:
        yield site_app(search, MemorySite(published=lexicon)).test_client()  # type: ignore[arg-type]


def answer(client: FlaskClient, query: str, **more: str) -> tuple[int, dict[str, bool]]:
    """Return the number of full matches, and title and partial flag of each hit, in order."""
    told = client.get("/search", query_string={"q": query, "format": "json", **more}).json
    assert told is not None
    return told["total"], {hit["title"]: hit["is_partial"] for hit in told["hits"]}


@pytest.mark.solr
def test_the_mark_says_what_the_order_says(client: FlaskClient) -> None:
    """A document with both words is first and unmarked. A document with one word is marked, whatever its length."""
    total, hits = answer(client, "天然气 价格")
    assert total == 1
    assert next(iter(hits)) == "天然气价格上涨" and hits["天然气价格上涨"] is False
    assert hits["天然气产量"] is hits["国际油价"] is hits["天然湖泊"] is True
    marked = list(hits.values())
    assert marked == sorted(marked)


@pytest.mark.solr
@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("产量最高的油田是哪个？", "产油大户"),
        ("天然气价格为什么会上涨", "天然气价格上涨"),
        ("how do I choose the best drill bit", "PDC drill bits"),
    ],
)
def test_a_question_finds_what_it_asks_for(client: FlaskClient, query: str, title: str) -> None:
    total, hits = answer(client, query)
    assert total == 1 and next(iter(hits)) == title and hits[title] is False
    assert answer(client, query, sort="date") == (1, {title: False})


@pytest.mark.solr
@pytest.mark.parametrize("query", ["天然气的价格", "天然气价格", "价格 天然气 天然气"])
def test_what_holds_all_words_is_never_marked(client: FlaskClient, query: str) -> None:
    total, hits = answer(client, query)
    assert total == 1 and [title for title, is_partial in hits.items() if not is_partial] == ["天然气价格上涨"]


@pytest.mark.solr
def test_a_character_left_over_between_words_is_no_part_of_its_own(client: FlaskClient) -> None:
    """买 is separate from 车险 in the text. It does not affect whether the document is a full match."""
    total, hits = answer(client, "买车险")
    assert total == 1 and [title for title, is_partial in hits.items() if not is_partial] == ["车险怎么选"]


def test_no_part_is_left_to_a_parser() -> None:
    named = sent('a" OR *:*', "{!func}x", "$part1")
    fixed = [value for name, value in named.items() if not re.fullmatch(r"part\d+_(text|word)", name)]
    assert not any("func" in value or "*" in value for value in fixed)
    assert all(value.count('"') == 2 for name, value in named.items() if name.endswith("_text"))
