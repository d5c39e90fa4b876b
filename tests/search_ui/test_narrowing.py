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
