"""Narrowing results with filters: several values, excluded values, all values, dates; with a real Solr."""

from collections.abc import Iterator

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient

from domain.article import StoredArticle
from indexer.embedded_solr import EmbeddedSolr
from tests.builders import indexed, lexicon_of, page_at, stored_article
from tests.site_fixture import MemorySite, site_app

pytestmark = pytest.mark.solr

SITES = ("a.example", "b.example", "c.example", "d.example")
QUERY = "页岩气"


def corpus() -> list[StoredArticle]:
    return [
        stored_article(
            n,
            SITES[n % 4],
            f"页岩气井{n}号",
            f"第{n}口页岩气井完钻，井深{n}千米。{'水力压裂顺利。' if n % 3 else ''}",
            f"201{n % 8}-03-0{n % 9 + 1}",
            section=("-要闻", "国际")[n % 2],
            author=f"作者{n % 40:02}",
        )
        for n in range(48)
    ]


@pytest.fixture(scope="module")
def reader(solr_node: EmbeddedSolr) -> Iterator[FlaskClient]:
    lexicon = lexicon_of((QUERY, "水力压裂"))
    with indexed(solr_node.url, "narrowing", corpus(), lexicon) as search:
        yield site_app(search, MemorySite(published=lexicon)).test_client()  # type: ignore[arg-type]


def total(reader: FlaskClient, query: str = QUERY, **more: str | list[str]) -> int:
    return int(reader.get("/api/v1/search", query_string={"q": query, **more}).json["total"])


def rows(page: BeautifulSoup, name: str) -> dict[str, Tag]:
    return {row.bdi.text: row for row in page.select(f"#{name} li")}


def shown_total(page: BeautifulSoup) -> str:
    return page.select_one("#total").get_text(" ", strip=True)


def test_a_second_value_is_added_to_the_first_and_the_states_are_clear(reader: FlaskClient) -> None:
    page = page_at(reader, "/search", q=QUERY, lang="en")
    first = page_at(reader, rows(page, "sites")["a.example"].a["href"])
    other = rows(first, "sites")["b.example"].a
    assert other["title"].endswith("b.example") and "aria-current" not in other.attrs
    both = page_at(reader, other["href"])
    assert shown_total(both) == "24 results"
    assert [a.bdi.text for a in both.select("#sites a[aria-current=true]")] == ["a.example", "b.example"]


@pytest.mark.parametrize(("language", "name"), [("en", "Exclude {}"), ("zh", "排除 {}")])
def test_a_value_is_excluded_and_its_chip_takes_that_back(reader: FlaskClient, language: str, name: str) -> None:
    page = page_at(reader, "/search", q=QUERY, lang=language)
    link = rows(page, "sites")["a.example"].select_one(".exclude")
    assert link["aria-label"] == name.format("a.example") and "-site=a.example" in link["href"]
    without = page_at(reader, link["href"])
    assert "36" in shown_total(without) and "a.example" not in rows(without, "sites")
    chip = without.select_one("#narrowed a")
    assert chip.text == {"en": "not: a.example ×", "zh": "排除：a.example ×"}[language]
    assert "48" in shown_total(page_at(reader, chip["href"]))


def test_every_facet_excludes_what_it_counts(reader: FlaskClient) -> None:
    whole = reader.get(f"/api/v1/search?q={QUERY}").json
    parameters = {"sites": "-site", "sections": "-section", "authors": "-author"}
    for name, parameter in parameters.items():
        for value in whole["facets"][name]:
            rest = reader.get("/api/v1/search", query_string={"q": QUERY, parameter: value["value"]}).json
            assert rest["total"] == whole["total"] - value["count"], value
            assert value["value"] not in [other["value"] for other in rest["facets"][name]]
    assert total(reader, **{"-term": "水力压裂"}) == 16
    assert total(reader, **{"-site": ["a.example", "b.example"], "section": "国际"}) == 12
    assert total(reader, section="-要闻") == total(reader, **{"-section": "国际"}) == 24


def test_feeds_and_exports_leave_out_what_is_excluded(reader: FlaskClient) -> None:
    query = {"q": QUERY, "-site": ["a.example", "b.example", "c.example"]}
    for address, extra in (("/feed.atom", {}), ("/api/v1/search", {"format": "ris"})):
        text = reader.get(address, query_string=query | extra).text
        assert "d.example" in text and "a.example/" not in text, address


def test_without_a_result_the_exclusion_can_be_dropped(reader: FlaskClient) -> None:
    page = page_at(reader, f"/search?q={QUERY}&lang=en&" + "&".join(f"-site={site}" for site in SITES))
    offers = {link.text: link["href"] for link in page.select("#offers a")}
    assert "-site" not in offers["With what is excluded"]


# -- all values of a filter


@pytest.mark.parametrize(("language", "more"), [("en", "More Author"), ("zh", "更多 作者")])
def test_a_facet_with_more_values_than_shown_leads_to_all_of_them(
    reader: FlaskClient, language: str, more: str
) -> None:
    page = page_at(reader, "/search", q=QUERY, lang=language)
    assert page.select_one("#sites .all-of") is None
    link = page.select_one("#authors .all-of a")
    assert link.text == more and link["href"].startswith("/filter/authors?q=")
    assert len(page.select("#authors .toggle")) == 24
    opened = page_at(reader, link["href"])
    assert len(opened.select("#authors .toggle")) == 40 and "40" in opened.select_one("#value-count").text
    assert opened.select_one("meta[name=robots]")["content"] == "noindex"
    for author, count in (("作者00", 2), ("作者39", 1)):
        row = rows(opened, "authors")[author]
        assert row.select_one(".count").text == str(count)
        assert shown_total(page_at(reader, row.a["href"])).split()[0] == str(count)
        assert str(48 - count) in shown_total(page_at(reader, row.select_one(".exclude")["href"]))


def test_values_are_found_by_a_part_of_them_within_the_search(reader: FlaskClient) -> None:
    opened = page_at(reader, "/filter/authors", q=QUERY, section="国际", contains="作者1", lang="en")
    assert set(rows(opened, "authors")) == {"作者11", "作者13", "作者15", "作者17", "作者19"}
    form = opened.select_one("#value-filter")
    assert {field["name"] for field in form.select("input")} == {"q", "section", "contains"}
    assert page_at(reader, "/filter/authors", q=QUERY, contains="zz").select("#authors li") == []


def test_a_selected_value_is_taken_back_on_the_page_of_all_values(reader: FlaskClient) -> None:
    opened = page_at(reader, "/filter/sites", q=QUERY, site="a.example")
    assert len(opened.select("#sites .toggle")) == 4
    chosen = opened.select_one("#sites a[aria-current=true]")
    assert "site=" not in chosen["href"]


def test_all_terms_are_those_that_readers_see(reader: FlaskClient) -> None:
    assert set(rows(page_at(reader, "/filter/terms", q=QUERY), "terms")) == {QUERY, "水力压裂"}


def test_an_unknown_filter_and_a_bad_search_are_reported(reader: FlaskClient) -> None:
    assert reader.get(f"/filter/url?q={QUERY}").status_code == 404
    response = reader.get(f"/filter/sites?q={QUERY}&from=x&lang=en")
    assert response.status_code == 400 and "Invalid date" in response.text


# -- partial matches


def test_partial_matches_have_facets_whose_counts_are_right(reader: FlaskClient) -> None:
    query = "页岩气 量子计算机"
    whole = reader.get("/api/v1/search", query_string={"q": query}).json
    page = page_at(reader, "/search", q=query, lang="en")
    assert "No article contains all words; 48 articles contain some of them." in shown_total(page)
    facets = whole["facets"]
    assert {value["value"]: value["count"] for value in facets["sites"]} == dict.fromkeys(SITES, 12)
    for name, row in [*rows(page, "sites").items(), *rows(page, "sections").items()]:
        narrowed = page_at(reader, row.a["href"])
        assert f"; {row.select_one('.count').text} articles contain" in shown_total(narrowed), name
        assert f"; {48 - int(row.select_one('.count').text)} articles" in shown_total(
            page_at(reader, row.select_one(".exclude")["href"])
        )
    assert facets["dates"][0]["count"] == 6
    assert "; 6 articles" in shown_total(page_at(reader, page.select_one("#dates a")["href"]))
    opened = page_at(reader, page.select_one("#authors .all-of a")["href"])
    assert rows(opened, "authors")["作者00"].select_one(".count").text == "2"


# -- dates


def test_the_bars_name_their_dates_for_dragging(reader: FlaskClient) -> None:
    page = page_at(reader, "/search", q=QUERY)
    assert page.select_one("#dates")["data-dates"].split() == [f"201{n}" for n in range(8)]
    assert page.select_one("script[src*='dates.js']") is not None
    assert {field["name"] for field in page.select("form.span input:not([type=hidden])")} == {"from", "to"}


@pytest.mark.parametrize(("name", "value"), [("from", "2016-13"), ("to", "x"), ("to", "2016-02-30")])
def test_an_invalid_date_has_one_message(reader: FlaskClient, name: str, value: str) -> None:
    page = page_at(reader, "/search", q=QUERY, lang="en", **{name: value})
    assert [error.text for error in page.select(".field-error")] == [
        "Invalid date. Use the form 2016, 2016-05 or 2016-05-09."
    ]
