"""The topic pages without a browser: access, invalid requests and pagination."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from flask.testing import FlaskClient

from domain.account import Role
from domain.errors import TopicError
from domain.focused_decision import HostHarvest, TopicCoverage, TopicQuestion
from domain.topic import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from focused.strategy_needs import assess_needs
from search_ui.review.topic_tools import TopicReviewState
from search_ui.review.topic_views import ITEMS_PER_PAGE
from tests.builders import page_at
from tests.search_ui.test_hostile import assert_harmless
from tests.site_fixture import MemorySite, sign_in, site_app

HOSTILE = '"><script>alert(1)</script>'
ESTIMATED = TopicCoverage(100, 12, 18.0, 9.0, 20, 80)  # three quarters of the kept pages, half of all


@dataclass
class FakeTopics:
    """Topics in memory."""

    held: dict[str, Topic] = field(default_factory=dict)
    rates: list[HostHarvest] = field(default_factory=list)
    asked: list[TopicQuestion] = field(default_factory=list)
    answers: dict[str, tuple[bool, str]] = field(default_factory=dict)
    coverage: TopicCoverage | None = ESTIMATED
    notes: Sequence[str] = ()

    def names(self) -> Sequence[str]:
        return sorted(self.held)

    def active_topic(self) -> str:
        return "油"

    def topic(self, name: str) -> Topic:
        if name not in self.held:
            raise TopicError(f"there is no topic {name}")
        return self.held[name]

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        if unknown := self.held[name].unknown_items(items):
            raise TopicError(f"topic {name} has no {unknown[0]}")
        self.held[name] = self.held[name].with_decision(items, state, kind)

    def review_questions(self, name: str) -> TopicReviewState:
        waiting = [one for one in self.asked if one.url not in self.answers]
        return TopicReviewState(0.8, self.coverage, len(self.answers), waiting, self.notes)

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        if unknown := answers.keys() - {one.url for one in self.asked}:
            raise TopicError(f"{min(unknown)} was not fetched for a topic")
        self.answers |= {url: (is_relevant, by) for url, is_relevant in answers.items()}


def client_of(topics: FakeTopics, role: Role = Role.REVIEWER) -> tuple[FlaskClient, str]:
    site = MemorySite(topics=topics)
    site.store.focused_decisions.harvest_by_host = lambda: topics.rates  # type: ignore[method-assign]
    client = site_app(site=site, roles={"someone": role}).test_client()
    return client, sign_in(client, "someone")


def many(count: int) -> FakeTopics:
    terms = tuple(TopicTerm(f"词{n}", origin="index", score=n / 100) for n in range(count))
    return FakeTopics({"油": Topic("油", ("油",), terms, (TopicSeed("http://a.test/", score=0.5),))})


def test_the_best_come_first_a_page_at_a_time() -> None:
    client, _ = client_of(many(70))
    first = [row.th.bdi.text for row in page_at(client, "/admin/topics/油").select("#terms tbody tr")]  # type: ignore[union-attr]
    assert first == [f"词{n}" for n in range(69, 69 - ITEMS_PER_PAGE, -1)]
    second = page_at(client, "/admin/topics/油?page=2")
    assert len(second.select("#terms tbody tr")) == 20 and len(second.select("#seeds tbody tr")) == 1
    assert len(page_at(client, "/admin/topics/油?page=999").select("#terms tbody tr")) == 20


def test_what_the_strategy_lacks_is_said_in_the_language_of_the_reader() -> None:
    topics = many(1)
    client, _ = client_of(topics)
    assert not page_at(client, "/admin/topics/油").select("#strategy-notes")
    topics.notes = assess_needs("semantic", False, False, False, 12).messages()
    english = [item.text for item in page_at(client, "/admin/topics/油?lang=en").select("#strategy-notes li")]
    assert len(english) == 3 and "12 of at least 500 articles" in english[0] and "Static keywords" in english[2]
    chinese = [item.text for item in page_at(client, "/admin/topics/油?lang=zh").select("#strategy-notes li")]
    assert "现有 12 篇文章" in chinese[0] and "静态关键词" in chinese[2]


def test_a_person_is_asked_about_pages_and_sees_what_is_to_be_expected() -> None:
    topics = many(1)
    topics.asked = [TopicQuestion("http://a.test/1", HOSTILE, 0.51), TopicQuestion("http://a.test/2", "", 0.4)]
    client, token = client_of(topics)
    before = page_at(client, "/admin/topics/油")
    said = before.select_one("#expected")
    assert said is not None and "12" in said.text and "75%" in said.text and "80%" in said.text and "50%" in said.text
    assert [row.th.text for row in before.select("#questions tbody tr")] == [HOSTILE, "http://a.test/2"]  # type: ignore[union-attr]
    assert_harmless(str(before))
    answer = client.post("/admin/topics/油/answer", data={"token": token, "yes": "http://a.test/1"})
    assert answer.status_code == 303 and topics.answers == {"http://a.test/1": (True, "someone")}
    client.post("/admin/topics/油/answer", data={"token": token, "no": "http://a.test/2"})
    assert topics.answers["http://a.test/2"] == (False, "someone")
    assert not page_at(client, "/admin/topics/油").select("#questions")
    wrong = {"token": token, "yes": "http://a.test/1", "no": "http://a.test/1"}
    assert client.post("/admin/topics/油/answer", data=wrong).status_code == 400
    assert client.post("/admin/topics/油/answer", data={"token": token, "no": "http://b.test/"}).status_code == 303
    assert client.post("/admin/topics/石/answer", data={"token": token, "no": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        pytest.param(TopicCoverage(100, 12, 18.0, 9.0, 3, 80), "还需回答 17 个网页", id="few labels"),
        pytest.param(TopicCoverage(100, 0, 18.0, 0.0, 20, 80), "没有网页的概率高到足以保留", id="nothing kept"),
        pytest.param(None, "尚未为此主题抓取网页", id="nothing fetched"),
    ],
)
def test_no_share_is_stated_that_is_not_known(coverage: TopicCoverage | None, said: str) -> None:
    topics = many(1)
    topics.coverage = coverage
    expected = page_at(client_of(topics)[0], "/admin/topics/油").select_one("#expected")
    assert expected is not None and said in expected.text and "75%" not in expected.text


@pytest.mark.parametrize("query", ["state=none", "page=0", "page=x", "page=-1", "page=99999999", "state=confirmed"])
def test_odd_questions_have_an_answer(query: str) -> None:
    client, _ = client_of(many(3))
    assert client.get(f"/admin/topics/油?{query}").status_code == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"decision": "confirmed", "item": "词1"}, 303),
        ({"confirmed": "词1"}, 303),
        ({"decision": "confirmed"}, 303),
        ({"decision": "maybe", "item": "词1"}, 400),
        ({"item": "词1"}, 400),
        ({"decision": "confirmed", "item": "词1", "class": "verb"}, 400),
    ],
    ids=["ticked", "its own button", "nothing ticked", "no such decision", "no decision", "no such class"],
)
def test_a_decision(sent: dict[str, str], status: int) -> None:
    topics = many(3)
    client, token = client_of(topics)
    assert client.post("/admin/topics/油/decide", data={**sent, "token": token}).status_code == status
    decided = [term.text for term in topics.held["油"].terms if term.state is TopicState.CONFIRMED]
    assert decided == (["词1"] if status == 303 and "词1" in sent.values() else [])


def test_all_or_none_and_the_reason_is_said() -> None:
    topics = many(3)
    client, token = client_of(topics)
    sent = {"decision": "refused", "item": ["词1", "词99"], "token": token}
    assert client.post("/admin/topics/油/decide", data=sent).status_code == 303
    assert "has no 词99" in client.get("/admin/topics/油").text
    assert {term.state for term in topics.held["油"].terms} == {TopicState.PROPOSED}


def test_a_topic_that_is_not_there() -> None:
    client, token = client_of(many(1))
    assert client.get("/admin/topics/气").status_code == 404
    sent = {"decision": "refused", "item": "词0", "token": token}
    assert client.post("/admin/topics/气/decide", data=sent).status_code == 404


def test_what_others_wrote_stays_text() -> None:
    name, terms = "a b+c.d-e", (TopicTerm(HOSTILE, origin=HOSTILE, evidence=HOSTILE),)
    client, _ = client_of(FakeTopics({name: Topic(name, (HOSTILE,), terms, (TopicSeed(HOSTILE),))}))
    link = page_at(client, "/admin/topics/").select_one("#topics a")
    assert link is not None
    for address in ("/admin/topics/", str(link["href"])):
        assert_harmless(client.get(address).text)
    assert HOSTILE in page_at(client, str(link["href"])).text


def test_the_harvest_of_a_site_is_shown_where_something_was_judged() -> None:
    topics = FakeTopics(rates=[HostHarvest("news.example", "fused", 8, 6), HostHarvest("other.example", "vsm", 1, 0)])
    client, _ = client_of(topics, Role.REPORTS)
    [row] = page_at(client, "/admin/sites").select("#site-health tbody tr")
    assert "多特征融合 75%" in " ".join(row.text.split()) and "(6 / 8)" in row.text
    topics.rates.clear()
    assert "主题命中率" not in client.get("/admin/sites").text
