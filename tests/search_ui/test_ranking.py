"""The queries of the ranking profiles, and their ranking in a real Solr."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from domain.article import Article, StoredArticle, document_id
from indexer.embedded_solr import EmbeddedSolr
from search_ui.query.query_words import QueryWords, segment_words
from search_ui.query.ranking import (
    BEST_PARTS_PER_WORK,
    MAX_WORKS,
    PROFILES,
    build_rank_query,
    parse_work_boosts,
    works_params,
)
from search_ui.query.solr_client import SolrSearchClient
from search_ui.query.solr_query import Params, QueryVariant, select_params
from solr_client import solr_fields
from tests.builders import indexed
from text.segment import base_segmenter
from text.solr_words import WORD_SEPARATOR

OWN, OTHER = "0123456789abcdef", "fedcba9876543210"


def answer(*parts: tuple[str, float]) -> Mapping[str, Any]:
    return {"response": {"docs": [{solr_fields.WORK_ID: work, "score": score} for work, score in parts]}}


def words_of(text: str, *words: str, base: tuple[str, ...] = (), works: tuple[str, ...] = ()) -> QueryWords:
    return QueryWords(text, text, words, words, base=base or words, work_boosts=works)


WORDS = words_of("石油", "石油")


def rank_params(words: QueryWords, profile: str, rows: int = 0) -> Params:
    return select_params(build_rank_query(words, profile), rows=rows, fl=[solr_fields.URL])


def test_a_work_is_worth_the_mean_of_its_ten_best_parts() -> None:
    found = parse_work_boosts(answer(*[(OWN, 4.0)] * 12, (OTHER, 30.0)), "plumbline")
    weight = PROFILES["plumbline"].work_weight
    assert found == (f"{OWN}^={4 * weight:.4f}", f"{OTHER}^={30 / BEST_PARTS_PER_WORK * weight:.4f}")


def test_only_so_many_works_and_nothing_that_is_no_id() -> None:
    many = answer(*[(f"{n:016x}", 100.0 - n) for n in range(MAX_WORKS + 5)], ("x) OR *:* (", 999.0))
    found = parse_work_boosts(many, "plumbline")
    assert len(found) == MAX_WORKS and found[0].startswith("0" * 16)
    assert parse_work_boosts({}, "plumbline") == ()


def test_works_are_asked_for_only_where_they_count() -> None:
    assert works_params(WORDS, "base") == [] and works_params(words_of(""), "plumbline") == []
    named = dict(works_params(words_of("“石油” 大会"), "plumbline"))
    assert named["text"].split() == ["石油", "大会"] and named["fl"] == "work,score"
    ranked = dict(rank_params(replace(WORDS, work_boosts=(f"{OWN}^=1.5",)), "plumbline"))
    assert "should=$work_boost}" in ranked["matched"] and ranked[QueryVariant.WORK_BOOSTS] == f"{OWN}^=1.5"
    assert "work" not in dict(rank_params(WORDS, "plumbline"))


def test_titles_count_where_a_document_is_no_part_of_a_work() -> None:
    named = dict(rank_params(WORDS, "plumbline"))
    assert named["titles"] == "{!bool should=$title0 should=$title1 must_not='work:[* TO *]'}"
    assert re.findall(r"qf='(\w+)", named["title0"] + named["title1"]) == [solr_fields.TITLE, solr_fields.TITLE_BASE]


def test_authority_multiplies_what_was_found_and_finds_nothing() -> None:
    named = dict(rank_params(WORDS, "plumbline"))
    assert named["q"] == "{!boost b='sum(1,product(0.06,authority))' v=$matched}"
    assert named["matched"].startswith("{!bool ") and "authority" not in named["matched"]
    assert not dict(rank_params(WORDS, "bigram"))["q"].startswith("{!boost")


def test_terms_of_the_lexicon_count_beside_the_words_of_the_base_dictionary() -> None:
    words = words_of("世界石油大会召开", "世界石油大会", "召开", base=("世界", "石油", "大会", "召开"))
    named = dict(rank_params(words, "plumbline"))
    assert named[QueryVariant.LEXICON_TERMS] == "世界石油大会"
    assert f"v=${QueryVariant.LEXICON_TERMS}" in named["clause3"]
    assert named[QueryVariant.BASE].split(WORD_SEPARATOR) == [*words.base]
    assert "clause3" not in dict(rank_params(WORDS, "plumbline"))


LAW = [f"采油者应当依照本条第{n}款申请许可证。" for n in range(12)]
ARTICLES = (
    *(Article(f"http://a.test/law/{n}", f"石油法 第{n}条", text) for n, text in enumerate(LAW)),
    Article("http://a.test/lost", "渔业法 第1条", "捕鱼者应当申请许可证。"),
    Article("http://a.test/fees", "石油法 第99条", "费用由政府规定。"),
    Article("http://a.test/fish", "渔业法 第99条", "费用由政府规定。"),
    Article("http://a.test/title", "钻井液配方", "膨润土与水的比例。"),
    Article("http://a.test/body", "膨润土", "钻井液配方：膨润土与水的比例。"),
    Article("http://a.test/old", "兩岸石油勘探", "鑽頭與頁岩氣。"),
    Article("http://a.test/new", "石油开采", "页岩气与钻头。"),
)


@pytest.fixture(scope="module")
def client(solr_node: EmbeddedSolr) -> Iterator[SolrSearchClient]:
    """A client of the index with the articles above."""
    stored = [StoredArticle(0, document_id(one.url), "a.test", one) for one in ARTICLES]
    with indexed(solr_node.url, "ranking", stored) as client:
        yield client


def found(client: SolrSearchClient, text: str, with_works: bool = True, rows: int = 20) -> list[str]:
    words = words_of(text, *segment_words(text, base_segmenter()))
    if with_works:
        works = parse_work_boosts(client.select(works_params(words, "plumbline")), "plumbline")
        words = replace(words, work_boosts=works)
    params = rank_params(words, "plumbline", rows)
    return [doc[solr_fields.URL].removeprefix("http://a.test/") for doc in client.select(params)["response"]["docs"]]


@pytest.mark.solr
def test_a_part_gains_by_the_other_parts_of_its_work(client: SolrSearchClient) -> None:
    """Two articles have the same text. The law of one of them is about permits throughout."""
    lifted = found(client, "申请许可证 费用由政府规定")
    assert lifted.index("fees") < lifted.index("fish")


@pytest.mark.solr
def test_the_title_of_a_single_page_counts_more_than_a_body(client: SolrSearchClient) -> None:
    assert found(client, "钻井液配方")[:2] == ["title", "body"]


SERIES = [
    *(
        Article(f"http://b.test/week{n}", f"油气周报 第{n}期", f"本期周报综述国内油气市场。上期是第{7 - n}期。")
        for n in range(1, 7)
    ),
    *(
        Article(f"http://b.test/year{n}", f"鼎原公司{n}年年度报告", f"与{n - 1}年和{n + 1}年相比，营业收入增长。" * 3)
        for n in range(2020, 2026)
    ),
    Article("http://b.test/fracturing", "压裂", "压裂是一种增产的办法。"),
    *(Article(f"http://b.test/fracturing{n}", f"压裂车组压裂{n}", "压裂压裂压裂。压裂！" * 3) for n in range(9)),
    Article("http://b.test/capitals", "HTML5 标签", "标签。HTML5 标签 HTML5 标签。"),
    Article("http://b.test/small", "html5 标签？", "标签。"),
    Article("http://b.test/glued", "hp1010win7", "printer driver"),
    Article("http://b.test/apart", "HP 1010 on Windows 7", "Use the HP 1010 driver for win 7."),
    Article("http://b.test/half", "HP 1020", "Use the HP 1020 driver."),
    Article("http://b.test/marks", "Styles", "Set main_mark to bold; WorkCentre7428 prints it."),
    Article("http://b.test/printer", "Xerox printers", "The Xerox WorkCentre 7428 prints."),
    *(
        Article(f"http://b.test/other{n}", f"其他新闻{n}", "天气很好。市场平稳。main street, a mark.")
        for n in range(30)
    ),
]


@pytest.fixture(scope="module")
def series(solr_node: EmbeddedSolr) -> Iterator[SolrSearchClient]:
    """A client of the index with `SERIES`."""
    stored = [StoredArticle(0, document_id(one.url), "b.test", one) for one in SERIES]
    with indexed(solr_node.url, "series", stored) as client:
        yield client


def first_in(client: SolrSearchClient, text: str, rows: int = 1) -> list[str]:
    return [url.removeprefix("http://b.test/") for url in found(client, text, rows=rows)]


@pytest.mark.solr
@pytest.mark.parametrize("article", [one for one in SERIES if "other" not in one.url], ids=lambda one: one.url[14:])
def test_an_exact_title_is_first(series: SolrSearchClient, article: Article) -> None:
    assert found(series, article.title, rows=1) == [article.url]
    if "html5" not in article.title.lower():  # two have this title but for case and a sign
        assert found(series, f"《{article.title.upper()}》 ？", rows=1) == [article.url]


@pytest.mark.solr
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("周报 第3期", "week3"),
        ("油气周报第四期", "week4"),
        ("第 5 期 油气 周报", "week5"),
        ("鼎原 年度报告 2023", "year2023"),
        ("2024年 鼎原公司 年报", "year2024"),
        ("鼎原公司二〇二一年报告", "year2021"),
    ],
)
def test_numbers_in_titles_tell_one_of_a_series_from_the_next(series: SolrSearchClient, text: str, first: str) -> None:
    assert first_in(series, text) == [first]


@pytest.mark.solr
@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("hp1010win7", ["glued", "apart"]),  # typed as one and stored as one is best
        ("windows driver hp 1010", ["apart", "glued"]),
        ("hp1010 driver", ["glued", "apart"]),
        ("main mark", ["marks"]),
        ("main_mark", ["marks"]),
        ("workcentre 7428", ["printer", "marks"]),
        ("workcentre7428", ["marks", "printer"]),
    ],
)
def test_what_is_glued_is_found_apart_and_what_is_apart_is_found_glued(
    series: SolrSearchClient, text: str, best: list[str]
) -> None:
    assert first_in(series, text, rows=len(best)) == best


@pytest.mark.solr
@pytest.mark.parametrize("text", ["页岩气 钻头", "頁岩氣 鑽頭", "鑽頭 页岩气"])
def test_either_script_finds_both(client: SolrSearchClient, text: str) -> None:
    assert set(found(client, text, rows=2)) == {"old", "new"}


@pytest.mark.solr
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("".join(map(chr, range(0x4E00, 0x4E00 + 200))), id="200-characters"),
        pytest.param(" ".join(map(chr, range(0x4E00, 0x4E00 + 100))), id="100-single-characters"),
        pytest.param(" ".join(f"{n:x}" for n in range(70)), id="70-numbers"),
    ],
)
def test_a_long_query_is_not_too_many_clauses(client: SolrSearchClient, text: str) -> None:
    works = tuple(f"{n:016x}^=1.0000" for n in range(MAX_WORKS))
    cut = list(text.replace(" ", ""))
    words = words_of(text, *cut[:20], "".join(cut[:20]), base=tuple(cut), works=works)
    assert "response" in client.select(rank_params(words, "plumbline", 1))
