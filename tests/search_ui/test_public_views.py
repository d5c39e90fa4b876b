"""Near-duplicates, counts, deep pages, article pages and explanations, with a real Solr."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import StoredArticle
from indexer.embedded_solr import EmbeddedSolr
from search_ui.query.ranking import PROFILES
from search_ui.settings import SearchSettings
from tests.builders import indexed, lexicon_of, stored_article
from tests.site_fixture import MemorySite, site_app

pytestmark = pytest.mark.solr

TERMS = ("页岩气", "水力压裂", "世界石油大会")
FRACTURING = "水力压裂技术在四川盆地的页岩气井中已经成熟，每口井的产量都上升了。"
ORIGINAL, COPIED, ELSEWHERE = 1, 2, 3  # one text on three sites
YEARS = 80  # the first of three reports of a series; that of the second year has a copy


def article(number: int, title: str, body: str, published: str = "2016-05-09", **more: str) -> StoredArticle:
    stored = stored_article(number, f"{'abc'[number % 3]}.example", title, body, published, **more)
    return replace(stored, fetched_at=1714558830.0)


def doc_id(number: int) -> str:
    return article(number, "", "").doc_id


def corpus() -> list[StoredArticle]:
    same = [
        article(ORIGINAL, "水力压裂", FRACTURING, "2015-01-02", section="要闻", author="张三", language="zh"),
        replace(article(COPIED, "水力压裂（转载）", FRACTURING, "2015-01-03"), duplicate_of=doc_id(ORIGINAL)),
        replace(article(ELSEWHERE, "水力压裂", FRACTURING, "2016-02-04"), duplicate_of=doc_id(ORIGINAL)),
    ]
    wells = [
        article(10 + n, f"页岩气井{n}号", f"页岩气第{n}口井完钻，井深{n}千米。", f"2017-0{n % 9 + 1}")
        for n in range(60)
    ]
    reports = [
        replace(
            article(YEARS + n, "年度报告", f"201{n}年营业收入{n}亿元，利润上升，安全生产形势平稳。", f"201{n}-03-01"),
            series_id="reports",
        )
        for n in range(3)
    ]
    again = article(YEARS + 5, "年度报告", "2011年营业收入1亿元，利润上升，安全生产形势平稳。", "2012-01-02")
    reports.append(replace(again, series_id="reports", duplicate_of=doc_id(YEARS + 1)))
    others = [
        article(100, "世界石油大会", "世界石油大会开幕，各国代表出席。", "2018-03-01", section="要闻"),
        article(101, "世界各国石油产量", "石油产量上升。"),
        article(102, "水力发电", "大坝水力发电。"),
        article(103, "压裂车组", "电驱水力压裂车组在页岩气平台投用。", "2016-06-01"),
    ]
    return [*same, *wells, *reports, *others]


@pytest.fixture(scope="module")
def reader(solr_node: EmbeddedSolr) -> Iterator[FlaskClient]:
    lexicon = lexicon_of(TERMS)
    settings = SearchSettings(page_size=4, deepest_result=56)
    with indexed(solr_node.url, "reading", corpus(), lexicon) as search:
        yield site_app(search, MemorySite(published=lexicon), settings).test_client()  # type: ignore[arg-type]


def found(reader: FlaskClient, query: str = "", **more: str | list[str]) -> dict[str, object]:
    response = reader.get("/api/v1/search", query_string={"q": query, **more})
    assert response.status_code == 200, response.text
    return response.json  # type: ignore[no-any-return]


def hits(answer: dict[str, object]) -> list[dict[str, object]]:
    return answer["hits"]  # type: ignore[return-value]


def facet(answer: dict[str, object], name: str) -> dict[str, int]:
    return {value["value"]: value["count"] for value in answer["facets"][name]}  # type: ignore[index]


# -- near-duplicates


def test_near_duplicates_stand_behind_the_best_one(reader: FlaskClient) -> None:
    answer = found(reader, "四川盆地的产量")
    clusters = [hit["cluster"] for hit in hits(answer)]
    assert clusters.count(doc_id(ORIGINAL)) == 1 and clusters[0] == doc_id(ORIGINAL)
    assert [hit["copies"] for hit in hits(answer)][:2] == [2, 0]
    assert (answer["total"], answer["documents"]) == (1, 3)


def test_copies_are_opened_out_by_their_address(reader: FlaskClient) -> None:
    page = BeautifulSoup(reader.get("/search?q=水力压裂技术&site=b.example").text, "lxml")
    link = page.select_one("#hits .copies")
    assert link is not None and "2" in link.text and "site=" not in str(link["href"])
    opened = BeautifulSoup(reader.get(str(link["href"])).text, "lxml")
    assert len(opened.select("#hits > li")) == 3 and opened.select_one("#hits .copies") is None
    off = opened.select_one("#narrowed a")
    assert off is not None and "cluster=" not in str(off["href"])


def test_a_cluster_is_one_in_every_facet_and_a_click_gives_what_was_counted(reader: FlaskClient) -> None:
    answer = found(reader, "四川盆地的产量")
    assert facet(answer, "sites") == {"a.example": 1, "b.example": 1, "c.example": 1}
    assert sum(facet(answer, "dates").values()) == 2  # 2015 and 2016: one of each
    for site in facet(answer, "sites"):
        assert found(reader, "四川盆地的产量", site=site)["total"] == 1


@pytest.mark.parametrize("sort", ["relevance", "date"])
def test_paging_meets_a_cluster_once(reader: FlaskClient, sort: str) -> None:
    address, clusters = f"/api/v1/search?q=页岩气&sort={sort}", list[str]()
    while address:
        answer = reader.get(address).json
        clusters += [hit["cluster"] for hit in answer["hits"]]
        address = answer["next"] or ""
    assert len(clusters) == len(set(clusters)) == 56  # ten numbered pages and four by cursor


# -- what is similar and no copy


def test_each_of_a_series_is_shown_as_similar_and_its_copy_is_not_counted(reader: FlaskClient) -> None:
    answer = found(reader, "营业收入 利润")
    assert len(hits(answer)) == answer["total"] == 3
    assert [hit["similar"] for hit in hits(answer)] == [2, 2, 2]
    assert sorted(int(str(hit["copies"])) for hit in hits(answer)) == [0, 0, 1]
    assert {hit["similar"] for hit in hits(found(reader, "水力压裂"))} == {0}


@pytest.mark.parametrize(
    ("language", "link", "heading"),
    [("zh", "2 篇同系列文档", "同系列文档"), ("en", "2 other versions or issues", "Other versions and issues")],
)
def test_similar_articles_lead_to_each_other(reader: FlaskClient, language: str, link: str, heading: str) -> None:
    page = BeautifulSoup(reader.get(f"/search?q=营业收入 利润&lang={language}").text, "lxml")
    links = page.select("#hits .similar")
    assert len(links) == 3 and all(link in one.text for one in links)
    for one in links:
        opened = BeautifulSoup(reader.get(f"{one['href']}&lang={language}").text, "lxml")
        section = opened.select_one("#series")
        assert section is not None and heading in section.text
        assert len(section.select("li")) == 2
        assert "年度报告" not in str(opened.select_one("#similar"))


def test_the_api_names_the_others_of_a_series_newest_first(reader: FlaskClient) -> None:
    told = reader.get(f"/api/v1/articles/{doc_id(YEARS)}").json
    assert [one["published"] for one in told["series"]] == ["2012-03-01", "2012-01-02"]
    assert told["copies"] == []
    told = reader.get(f"/api/v1/articles/{doc_id(YEARS + 1)}").json
    assert {one["id"] for one in told["series"]} == {doc_id(YEARS), doc_id(YEARS + 2)}
    assert [one["id"] for one in told["copies"]] == [doc_id(YEARS + 5)]
    assert reader.get(f"/api/v1/articles/{doc_id(102)}").json["series"] == []


# -- counts


def test_what_holds_only_a_part_is_found_and_not_counted(reader: FlaskClient) -> None:
    answer = found(reader, "世界石油大会")
    assert answer["total"] == 1 and int(str(answer["matched"])) > 1
    assert hits(answer)[0]["is_partial"] is False
    by_title = {hit["title"]: hit["is_partial"] for hit in hits(answer)}
    assert by_title["世界石油大会"] is False and by_title["世界各国石油产量"] is True


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("query", ["页岩气", "水力压裂 页岩气", "井", "AND OR NOT", "a:b (c) [d]", "☃", "\u200b页"])
def test_no_profile_counts_more_than_it_finds(reader: FlaskClient, profile: str, query: str) -> None:
    answer = found(reader, query, profile=profile)
    assert int(str(answer["total"])) <= int(str(answer["matched"]))


def test_every_facet_narrows_to_what_it_says_and_comes_off_again(reader: FlaskClient) -> None:
    whole = found(reader, "页岩气")
    for name, parameter in (("sites", "site"), ("sections", "section"), ("terms", "term")):
        for value, count in facet(whole, name).items():
            assert found(reader, "页岩气", **{parameter: value})["total"] == count, value
    page = BeautifulSoup(
        reader.get("/search?q=页岩气 after:2014&term=页岩气&term=水力压裂&section=要闻&from=2015&to=2016").text, "lxml"
    )
    chips = [str(link["href"]) for link in page.select("#narrowed a:not(.clear)")]
    assert len(chips) == 5
    for address in chips:
        rest = BeautifulSoup(reader.get(address).text, "lxml")
        assert len(rest.select("#narrowed a:not(.clear)")) == 4
    cleared = page.select_one("#narrowed .clear")
    assert cleared is not None
    assert len(BeautifulSoup(reader.get(str(cleared["href"])).text, "lxml").select("#narrowed a")) == 1


def test_conditions_alone_list_everything_that_meets_them(reader: FlaskClient) -> None:
    answer = found(reader, "title:世界")
    assert answer["total"] == answer["matched"] == 2


# -- one article


def test_an_article_is_shown_whole_with_the_query_marked_and_explained(reader: FlaskClient) -> None:
    told = reader.get(f"/api/v1/articles/{doc_id(ORIGINAL)}?q=页岩气 水力压裂").json
    assert "".join(piece["text"] for paragraph in told["paragraphs"] for piece in paragraph) == FRACTURING
    marked = {piece["text"] for paragraph in told["paragraphs"] for piece in paragraph if piece["marked"]}
    assert marked == {"页岩气", "水力压裂"}
    assert (told["author"], told["section"], told["fetched"]) == ("张三", "要闻", "2024-05-01T10:20:30Z")
    assert {one["id"] for one in told["copies"]} == {doc_id(COPIED), doc_id(ELSEWHERE)}
    parts = {part["part"]: part for part in told["explanation"]["parts"]}
    assert {"title_pairs", "body_pairs"} <= set(parts)
    assert sum(part["score"] for part in parts.values()) == pytest.approx(told["explanation"]["score"], rel=1e-3)
    assert "other" not in parts


def test_the_parts_add_up_to_the_score_in_every_profile(reader: FlaskClient) -> None:
    for profile in PROFILES:
        why = reader.get(f"/api/v1/articles/{doc_id(103)}?q=电驱水力压裂 页岩气平台&profile={profile}").json[
            "explanation"
        ]
        assert why["score"] > 0
        assert sum(part["score"] for part in why["parts"]) == pytest.approx(why["score"], rel=1e-3), profile


def test_a_query_that_does_not_find_an_article_says_so(reader: FlaskClient) -> None:
    page = BeautifulSoup(reader.get(f"/article/{doc_id(102)}?q=zzz&lang=en").text, "lxml")
    why = page.select_one("#why")
    assert why is not None and "does not match" in why.text


def test_similar_articles_share_words_and_are_no_copies(reader: FlaskClient) -> None:
    told = reader.get(f"/api/v1/articles/{doc_id(ORIGINAL)}").json
    similar = {one["id"] for one in told["similar"]}
    assert doc_id(103) in similar
    assert not similar & {doc_id(COPIED), doc_id(ELSEWHERE), doc_id(ORIGINAL)}
    assert told["explanation"] is None


def test_a_feed_has_the_newest_of_what_holds_every_word(reader: FlaskClient) -> None:
    text = reader.get("/feed.atom?q=世界石油").text
    assert text.count("<entry>") == 2 and text.index("世界石油大会</title>") < text.index("世界各国石油产量</title>")
