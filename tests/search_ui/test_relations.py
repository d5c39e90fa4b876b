"""The page of proposed relations: evidence, decisions with undo, and the error of a cycle."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import document_id
from domain.errors import SolrUnavailableError
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import TermStatus
from domain.term_relation import RelationKind, RelationProposal, TermRelation
from search_ui.query.solr_query import Params
from tests.site_fixture import FakeSearch, MemorySite, sign_in, site_app, term

EVIDENCE = "甲烷属于烃类，英文为methane。"
URL = "http://a.example/1"
PAGE = "/admin/lexicon/relations"


@pytest.fixture
def held() -> MemorySite:
    held = MemorySite([term(text, status=TermStatus.ACCEPTED) for text in ("甲烷", "烃类")])
    relations = [
        TermRelation(RelationKind.BROADER, "甲烷", "烃类", "kind_of", 0.9, EVIDENCE),
        TermRelation(RelationKind.EQUIVALENT, "甲烷", "methane", "gloss", 0.8, EVIDENCE),
    ]
    proposals = [RelationProposal(relation, 1, URL, "题", 0.0) for relation in relations]
    held.store.relations.save(proposals, [], 1, 1.0)
    return held


@pytest.fixture
def client(held: MemorySite) -> FlaskClient:
    return site_app(FakeSearch([]), held).test_client()


def decide(client: FlaskClient, token: str, decision: str, kind: str = "broader", other: str = "烃类") -> BeautifulSoup:
    sent = {"token": token, "kind": kind, "term": "甲烷", "other": other, "decision": decision}
    return BeautifulSoup(client.post(f"{PAGE}/decide", data=sent, follow_redirects=True).text, "lxml")


def undo(client: FlaskClient, page: BeautifulSoup) -> BeautifulSoup:
    form = page.select_one("#undo")
    sent = {field["name"]: field["value"] for field in form.select("input, button[name]")}
    return BeautifulSoup(client.post(form["action"], data=sent, follow_redirects=True).text, "lxml")


def shown(page: BeautifulSoup) -> list[str]:
    return [[bdi.text for bdi in row.h2.select("bdi")][1] for row in page.select("#relations > li")]


def test_a_proposal_quotes_its_evidence_and_links_its_article(client: FlaskClient) -> None:
    sign_in(client)
    page = BeautifulSoup(client.get(PAGE).text, "lxml")
    assert shown(page) == ["烃类", "methane"] and page.select_one("#total").text == "2"
    row = page.select_one("#relations > li")
    assert row.blockquote.text == EVIDENCE and f"/article/{document_id(URL)}" in row.select_one(".source a")["href"]
    assert [button["data-key"] for button in row.select("button")] == ["a", "r"]


def test_accepted_relations_go_into_the_term_and_can_be_undone(client: FlaskClient, held: MemorySite) -> None:
    token = sign_in(client)
    page = decide(client, token, "accepted")
    assert shown(page) == ["methane"] and held.store.review_queue.find_terms(["甲烷"])["甲烷"].broader_terms == (
        "烃类",
    )
    assert shown(undo(client, page)) == ["烃类", "methane"]
    assert held.store.review_queue.find_terms(["甲烷"])["甲烷"].broader_terms == ()
    decide(client, token, "accepted", "equivalent", "methane")
    assert held.store.review_queue.find_terms(["甲烷"])["甲烷"].synonyms == ("methane",)


def test_rejected_relations_are_listed_apart_and_can_be_opened_again(client: FlaskClient) -> None:
    token = sign_in(client)
    page = decide(client, token, "rejected")
    assert shown(page) == ["methane"] and page.select_one("#rejected li").text.split()[0] == "甲烷"
    assert shown(undo(client, page)) == ["烃类", "methane"]
    decide(client, token, "rejected")
    page = decide(client, token, "proposed")
    assert shown(page) == ["烃类", "methane"] and not page.select("#rejected")


def test_a_paused_pattern_is_named_and_its_proposals_can_be_decided(client: FlaskClient, held: MemorySite) -> None:
    token = sign_in(client)
    found = [TermRelation(RelationKind.EQUIVALENT, "甲烷", f"name {n}", "gloss", 0.7, EVIDENCE) for n in range(10)]
    held.store.relations.save([RelationProposal(relation, 1, URL, "题", 0.0) for relation in found], [], 1, 1.0)
    for relation in found:
        page = decide(client, token, "rejected", "equivalent", relation.other)
    assert shown(page) == ["烃类"] and "采纳了 0 条" in page.select_one(".paused").text
    page = BeautifulSoup(client.get(page.select_one(".paused a")["href"]).text, "lxml")
    assert shown(page) == ["methane"]
    sent = {field["name"]: field["value"] for field in page.select("#relations form input")} | {"decision": "accepted"}
    answer = client.post(f"{PAGE}/decide", data=sent)
    assert "pattern=gloss" in answer.headers["Location"]


def test_a_cycle_is_one_clear_error(client: FlaskClient, held: MemorySite) -> None:
    held.review.apply(ReviewDecisionKind.RELATE, [TermEdit("烃类", broader_terms=("甲烷",))], "ann")
    token = sign_in(client)
    client.get("/?lang=zh")
    page = decide(client, token, "accepted")
    assert "甲烷 < 烃类 < 甲烷" in page.text and not page.select("#undo")
    assert held.store.review_queue.find_terms(["甲烷"])["甲烷"].broader_terms == ()


def test_invalid_decisions_are_bad_requests(client: FlaskClient) -> None:
    token = sign_in(client)
    for kind, decision in (("broader", "x"), ("x", "accepted")):
        sent = {"token": token, "kind": kind, "term": "甲烷", "other": "烃类", "decision": decision}
        assert client.post(f"{PAGE}/decide", data=sent).status_code == 400
    assert "methane2" in decide(client, token, "rejected", "equivalent", "methane2").text  # there is no such proposal


@pytest.mark.parametrize("kind", [RelationKind.FORMER, RelationKind.RENAMED])
def test_the_old_name_of_a_renaming_becomes_deprecated(
    held: MemorySite, client: FlaskClient, kind: RelationKind
) -> None:
    token = sign_in(client)
    relation = TermRelation(kind, "甲烷", "沼气", "renaming", 0.9, EVIDENCE)
    held.store.relations.save([RelationProposal(relation, 1, URL, "题", 0.0)], [], 1, 1.0)
    assert "沼气" in shown(BeautifulSoup(client.get(f"{PAGE}?lang=zh").text, "lxml"))
    page = decide(client, token, "accepted", kind.value, "沼气")
    accepted = held.store.review_queue.find_terms(["甲烷"])["甲烷"]
    old, new = ("沼气", "甲烷") if kind is RelationKind.FORMER else ("甲烷", "沼气")
    assert accepted.synonyms == ("沼气",)
    assert {one.text: one.status.value for one in accepted.concept_terms} == {old: "deprecated", new: "preferred"}
    assert "沼气" not in shown(page)
    undo(client, page)
    assert held.store.review_queue.find_terms(["甲烷"])["甲烷"].concept_terms == ()


def test_an_accepted_related_term_is_listed_apart_and_can_be_withdrawn(client: FlaskClient, held: MemorySite) -> None:
    token = sign_in(client)
    related = TermRelation(RelationKind.RELATED, "烃类", "甲烷", "together", 0.5, EVIDENCE)
    held.store.relations.add_related([RelationProposal(related, 1, URL, "题", 0.0)], "")
    sent = {"token": token, "kind": "related", "term": "烃类", "other": "甲烷", "decision": "accepted"}
    page = BeautifulSoup(client.post(f"{PAGE}/decide", data=sent, follow_redirects=True).text, "lxml")
    assert page.select_one("#accepted li").text.split()[0] == "烃类" and shown(page) == ["烃类", "methane"]
    assert held.list_related("甲烷") == ["烃类"] and held.store.relations.list_related("烃类") == ["甲烷"]
    assert shown(undo(client, page)) == ["烃类", "methane", "甲烷"] and held.list_related("甲烷") == []
    decide(client, token, "accepted")  # 烃类 is now the broader term, which is more than related
    assert shown(BeautifulSoup(client.get(PAGE).text, "lxml")) == ["methane"]


class NameSearch(FakeSearch):
    """Answers the requests for the usage of names."""

    def select(self, params: Params) -> dict[str, Any]:
        name = dict(params)["name_text"].strip('"')
        if name == "沼气":
            months = [{"val": "2019-12-01T00:00:00Z", "count": 9, "n": 8}]
            dated = {"first": "2015-03-02T00:00:00Z", "last": "2019-12-31T00:00:00Z"}
            return {"facets": {"total": 1234, "dated": dated, "months": {"buckets": months}}}
        if self.error:
            raise self.error
        return {"facets": {"total": 5, "months": {"buckets": [{"val": "2020-01-01T00:00:00Z", "count": 5, "n": 5}]}}}


@pytest.mark.parametrize("kind", [RelationKind.FORMER, RelationKind.RENAMED])
def test_a_renaming_shows_the_usage_of_both_names(held: MemorySite, kind: RelationKind) -> None:
    relation = TermRelation(kind, "甲烷", "沼气", "renaming", 0.95, EVIDENCE)
    held.store.relations.save([RelationProposal(relation, 1, URL, "题", 0.0)], [], 1, 1.0)
    search = NameSearch([])
    client = site_app(search, held).test_client()
    sign_in(client)
    [row, *others] = BeautifulSoup(client.get(f"{PAGE}?lang=en").text, "lxml").select("#relations > li")
    assert not any(other.select("table") for other in others)
    summary, by_month = ([cell.text for cell in table.select("tbody th, tbody td")] for table in row.select("table"))
    old, new = ["沼气", "1,234", "2015-03-02", "2019-12-31"], ["甲烷", "5", "–", "–"]
    assert summary == (old + new if kind is RelationKind.FORMER else new + old)
    counts = {"2020-01": ["0", "5"], "2019-12": ["8", "0"]}
    step = 1 if kind is RelationKind.FORMER else -1
    assert by_month == [cell for month, cells in counts.items() for cell in (month, *cells[::step])]
    search.error = SolrUnavailableError("down")
    assert not BeautifulSoup(client.get(PAGE).text, "lxml").select("#relations table")
