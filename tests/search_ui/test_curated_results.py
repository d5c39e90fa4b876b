"""Rules of editors in total, pages, facets, export, API and MCP of one query, in a real Solr with vectors."""

import json
from typing import Any

import pytest

from domain.curation import CurationAction
from domain.term import Lexicon, LexiconEntry
from indexer.solr_index import SolrIndex
from tests.builders import operate
from tests.search_ui.test_one_list import QUERIES, client_of, index, read_all
from tests.site_fixture import MemorySite

__all__ = ["index"]  # the fixture
pytestmark = pytest.mark.solr
BY_MEANING = pytest.mark.parametrize("with_meaning", [True, False], ids=["meaning", "words"])


def curated(query: str, *rules: tuple[CurationAction, str], with_synonyms: bool = False) -> MemorySite:
    """Return a vertical with these rules for a query, the first one first."""
    synonyms = Lexicon(1, (LexiconEntry("压裂", synonyms=("储层改造",)),))
    site = MemorySite(published=synonyms if with_synonyms else Lexicon())
    for action, doc_id in rules:
        values = {"query": query, "doc_id": doc_id, "action": action, "with_synonyms": with_synonyms, "reason": "best"}
        assert operate(site.store, "curation_create", **values)
    return site


def ids_of(hits: list[dict[str, Any]]) -> list[str]:
    return [hit["id"] for hit in hits]


@BY_MEANING
@pytest.mark.parametrize("query", QUERIES)
def test_pinned_and_hidden_results_are_one_list(index: SolrIndex, query: str, with_meaning: bool) -> None:
    plain, hits = read_all(client_of(index, with_meaning=with_meaning), query)
    order = ids_of(hits)
    pins, hides = [order[-1], order[14], order[0]], [order[1], order[-2]]
    rules = [(CurationAction.PIN, doc_id) for doc_id in pins] + [(CurationAction.HIDE, doc_id) for doc_id in hides]
    site = curated(query, *rules)
    first, after = read_all(client_of(index, with_meaning=with_meaning, site=site), query)
    assert ids_of(after)[:3] == pins and not {*hides} & {*ids_of(after)}
    assert len(after) == len({*ids_of(after)}) == first["matched"]
    assert [hit["recommended"] for hit in after] == [True] * 3 + [False] * (len(after) - 3)
    assert (
        sum(not hit["is_partial"] for hit in after)
        == first["total"]
        == sum(facet["count"] for facet in first["facets"]["sites"])
    )
    full = {hit["id"] for hit in hits if not hit["is_partial"]}
    assert first["total"] == len({*full, *pins} - {*hides})
    if plain["total"] and not with_meaning:  # other neighbours take the places of the hidden ones
        assert {*ids_of(after)} == {*order} - {*hides}
    for page_size in (6, 100):
        client = client_of(index, page_size, with_meaning=with_meaning, site=site)
        assert ids_of(read_all(client, query)[1]) == ids_of(after)


@BY_MEANING
@pytest.mark.parametrize("query", ["水平井压裂", "压裂 产量"])
def test_raised_and_lowered_results_move_among_their_equals(index: SolrIndex, query: str, with_meaning: bool) -> None:
    before = ids_of(read_all(client_of(index, with_meaning=with_meaning), query)[1])
    raised, lowered = before[9], before[0]
    site = curated(query, (CurationAction.RAISE, raised), (CurationAction.LOWER, lowered))
    first, hits = read_all(client_of(index, with_meaning=with_meaning, site=site), query)
    after = ids_of(hits)
    assert after.index(raised) < 3 and after.index(lowered) > 4
    assert {*after} == {*before} and [hit["id"] for hit in hits if hit["recommended"]] == [raised]
    others = [[doc_id for doc_id in ids if doc_id not in (raised, lowered)] for ids in (before, after)]
    assert others[0] == others[1], "the order of the other results stays"
    assert first["total"] == sum(not hit["is_partial"] for hit in hits)


def test_a_pinned_result_passes_the_filters_of_the_reader(index: SolrIndex) -> None:
    order = read_all(client_of(index), "压裂")[1]
    pinned = order[-1]
    site = curated("压裂", (CurationAction.PIN, pinned["id"]), (CurationAction.HIDE, order[0]["id"]))
    client = client_of(index, site=site)
    assert ids_of(read_all(client, "压裂", site=pinned["site"])[1])[0] == pinned["id"]
    elsewhere = "b.example" if pinned["site"] != "b.example" else "c.example"
    assert pinned["id"] not in ids_of(read_all(client, "压裂", site=elsewhere)[1])
    by_date = read_all(client, "压裂", sort="date")[1]
    assert not any(hit["recommended"] for hit in by_date) and order[0]["id"] not in ids_of(by_date)


def test_a_rule_applies_to_its_query_in_any_spelling_and_to_its_synonyms(index: SolrIndex) -> None:
    pin = (CurationAction.PIN, read_all(client_of(index), "压裂")[1][40]["id"])
    exact, wide = curated("压裂", pin), curated("压裂", pin, with_synonyms=True)
    for site, query, applies in (
        (exact, " 壓裂", True),
        (exact, "压裂 产量", False),
        (exact, "储层改造", False),
        (wide, "储层改造", True),
        (wide, "产量", False),
    ):
        [first] = client_of(index, site=site).get("/api/v1/search", query_string={"q": query}).json["hits"][:1]
        assert (first["id"] == pin[1]) is first["recommended"] is applies, (query, applies)


def test_export_and_agents_get_what_the_pages_list(index: SolrIndex) -> None:
    order = ids_of(read_all(client_of(index), "压裂")[1])
    client = client_of(index, site=curated("压裂", (CurationAction.PIN, order[-1]), (CurationAction.HIDE, order[0])))
    first, hits = read_all(client, "压裂")
    exported = [item["title"] for item in client.get("/api/v1/search?q=压裂&format=csl").get_json(force=True)]
    assert exported == [hit["title"] for hit in hits[: first["total"]]]
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call |= {"params": {"name": "search", "arguments": {"query": "压裂"}}}
    response = client.post("/mcp", json=call, headers={"Accept": "application/json, text/event-stream"}).json
    results = json.loads(response["result"]["content"][0]["text"])["results"]
    assert ids_of(results) == ids_of(hits)[:6]
    assert [result.get("recommended") for result in results] == [True, *[None] * 5]
