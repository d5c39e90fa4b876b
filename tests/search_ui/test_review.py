"""Review of terms and publishing. Access is tested in test_accounts.py."""

import json
import re
from io import BytesIO
from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.account import Role
from domain.errors import StoreFullError
from domain.review import ReviewDecision, ReviewDecisionKind, TermEdit, TermQuery
from domain.term import AUTOMATIC_ACTOR, Definition, Lexicon, LexiconEntry, TermClass, TermStatus
from search_ui.charts import ChartPoint
from search_ui.context import current_services
from search_ui.review.lexicon_views import length_chart, pos_pattern_points, score_chart
from search_ui.review.usage import load_usage
from search_ui.settings import MAX_LIST_BYTES
from tests.builders import operate
from tests.site_fixture import OPERATOR, FakeSearch, MemorySite, document, sign_in, site_app, term

JSON = {"Accept": "application/json", "Accept-Language": "zh"}
NOT_WAITING = {"note": "", "own": False}  # for a second reviewer
COUNTS = {"candidate": 3, "later": 0, "provisional": 0, "accepted": 0, "merged": 0, "rejected": 0}


def actions(count: int = 3) -> MemorySite:
    return MemorySite([term(f"词{n}", 100.0 - n) for n in range(count)])


def statuses(held: MemorySite) -> list[str]:
    return [one.status.value for one in held.all_terms]


def get(client: FlaskClient, address: str) -> BeautifulSoup:
    return BeautifulSoup(client.get(address).text, "lxml")


def reviewing(held: MemorySite, documents: list[dict[str, Any]] | None = None) -> tuple[FlaskClient, str]:
    """Return a signed-in client and its form token."""
    client = site_app(FakeSearch(documents or []), held).test_client()
    return client, sign_in(client)


def post(client: FlaskClient, token: str, action: str, **sent: Any) -> Any:
    """Post a form as a program and return the response."""
    return client.post(f"/admin/lexicon/{action}", data={"token": token, **sent}, headers=JSON)


def test_candidates_stand_by_score_with_their_evidence() -> None:
    parts = (("boundaries", -0.25), ("left", 2.5))
    held = MemorySite(
        [
            term("低分", 1.0),
            term("页岩气", 9.5, contexts=("开发页岩气的页岩气井",), score_components=parts),
            term("页岩", 3.0, frequency=40),
            term("页岩气水平井", 2.0),
            term("页岩油", 0.5, status=TermStatus.ACCEPTED),
        ]
    )
    client, _ = reviewing(held)
    page = get(client, "/admin/lexicon")
    assert [row.h2.bdi.text for row in page.select(".term")] == ["页岩气", "页岩", "页岩气水平井", "低分"]
    first = page.select_one(".term")
    assert first.select_one(".figures-of-term dd").text == "12"
    assert first.select_one("details:has(.score-parts) summary").text.endswith("9.50")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", first.select_one(".figures-of-term time").text)
    assert [value.text for value in first.select(".score-parts dd")] == ["-0.25", "2.50"]
    assert [mark.text for mark in first.select(".contexts mark")] == ["页岩气", "页岩气"]
    near = [[(a.text, a.get("data-status")) for a in one.select("a")] for one in first.select(".near-words > div")]
    assert near == [[("页岩", "candidate")], [("页岩气水平井", "candidate")], [("页岩油", "accepted")], [], []]


def test_chinese_words_on_english_pages_are_marked_as_chinese() -> None:
    client, _ = reviewing(MemorySite([term("页岩气", 9.0), term("shale gas", 8.0)]))
    names = [one.h2.bdi for one in get(client, "/admin/lexicon?lang=en").select(".term")]
    assert [name.get("lang") for name in names] == ["zh-Hans", None]
    assert not get(client, "/admin/lexicon?lang=zh").select(".term bdi[lang]")


def test_filters_and_pages() -> None:
    held = actions(45)
    held.review.decide(["词3"], TermStatus.ACCEPTED, "li")
    client, _ = reviewing(held)
    assert len(get(client, "/admin/lexicon").select(".term")) == 20
    assert len(get(client, "/admin/lexicon?page=3").select(".term")) == 4
    assert [t.h2.bdi.text for t in get(client, "/admin/lexicon?status=accepted").select(".term")] == ["词3"]
    assert len(get(client, "/admin/lexicon?status=all&text=词4").select(".term")) == 6
    assert get(client, "/admin/lexicon?status=nonsense&page=x").select_one(".tabs [aria-current]").text == "全部"


def test_terms_are_filtered_by_class_and_documents_and_put_in_order() -> None:
    held = MemorySite(
        [term("甲词", 3.0, document_count=1, frequency=9), term("乙词", 2.0, document_count=7, frequency=30)]
    )
    client, token = reviewing(held)
    assert post(client, token, "change", term="甲词", what="class", value="subject").status_code == 200

    def shown(query: str) -> list[str]:
        return [one.h2.bdi.text for one in get(client, f"/admin/lexicon?{query}").select(".term")]

    assert shown("category=subject") == ["甲词"] and shown("least=5") == ["乙词"]
    assert shown("order=frequency") == ["乙词", "甲词"] and shown("order=nonsense&category=x&least=-1") == [
        "甲词",
        "乙词",
    ]
    kept = get(client, "/admin/lexicon?least=5&order=score").select_one("form.decide")
    assert (kept.select_one("[name=least]")["value"], kept.select_one("[name=order]")["value"]) == ("5", "score")


def test_each_language_is_reviewed_by_itself_and_the_choice_is_remembered() -> None:
    held = MemorySite([term("shale gas", 9.0), term("页岩气", 8.0), term("PDC钻头", 7.0), term("B-tree index", 6.0)])
    client, token = reviewing(held)

    def shown(query: str = "") -> list[str]:
        return [one.h2.bdi.text for one in get(client, f"/admin/lexicon{query}").select(".term")]

    assert shown() == ["shale gas", "页岩气", "PDC钻头", "B-tree index"]
    page = get(client, "/admin/lexicon?lang=zh")
    links = {one.text: one["href"] for one in page.select(".languages a")}
    assert list(links) == ["中文", "英文及其他", "所有语言"]
    assert [one.text for one in get(client, "/admin/lexicon?lang=en").select(".languages a")] == [
        "Chinese",
        "English and other",
        "All languages",
    ]
    assert shown(links["中文"].removeprefix("/admin/lexicon")) == ["页岩气", "PDC钻头"]
    assert shown() == ["页岩气", "PDC钻头"], "it is remembered"
    assert get(client, "/admin/lexicon").select_one(".languages [aria-current]").text == "Chinese"
    assert shown("?language=en") == ["shale gas", "B-tree index"] == shown("?least=2")
    post(client, token, "bulk", top="2", decision="accepted", language="en")
    accepted = [one.text for one in held.all_terms if one.status is TermStatus.ACCEPTED]
    assert accepted == ["shale gas", "B-tree index"], "the first of those that were shown"
    assert shown("?language=nonsense") == ["页岩气", "PDC钻头"], "nonsense is all languages"
    assert shown() == [], "and is not remembered"
    assert shown("?language=all&status=all") == ["shale gas", "页岩气", "PDC钻头", "B-tree index"]
    kept = get(client, "/admin/lexicon?language=zh").select_one("form.decide [name=language]")
    assert kept["value"] == "zh"


def test_a_button_decides_and_comes_back_to_the_same_place() -> None:
    held = actions()
    client, _ = reviewing(held)
    form = get(client, "/admin/lexicon?status=all&text=词").select_one("form.decide")
    sent = {field["name"]: field["value"] for field in form.select("input")} | {"decision": "accepted"}
    assert sent["token"] and sent["seen"] == "0"
    response = client.post(form["action"], data=sent)
    assert response.status_code == 303
    assert response.location == "/admin/lexicon?status=all&text=%E8%AF%8D&language=all&page=1"
    assert "已采纳“词0”" in client.get(response.location).text
    assert statuses(held) == ["accepted", "candidate", "candidate"]


def test_a_key_decides_and_is_told_what_has_changed() -> None:
    held = actions()
    client, token = reviewing(held)
    answer = post(client, token, "decide", term="词1", decision="rejected", seen="0").json
    assert answer["terms"] == [
        {
            "text": "词1",
            "status": "rejected",
            "version": 1,
            "category": "",
            "synonyms": [],
            "broader": [],
            **NOT_WAITING,
        }
    ]
    assert answer["counts"] == COUNTS | {"candidate": 2, "rejected": 1}
    assert (answer["pending"], answer["last"]) == ({"added": 0, "removed": 0, "changed": 0}, {"good": 0, "of": 1})
    undone = post(client, token, "undo", act=str(answer["act"])).json
    assert (undone["counts"], undone["terms"][0]["version"]) == (COUNTS, 2)


def test_two_reviewers_are_told_of_each_other() -> None:
    held = actions()
    client, token = reviewing(held)
    held.review.apply(ReviewDecisionKind.DECIDE, [TermEdit("词0", TermStatus.ACCEPTED)], "bert")
    told = post(client, token, "decide", term="词0", decision="rejected", seen="0")
    assert told.status_code == 409
    assert told.json["error"]["message"] == "“词0”已由 bert 修改，当前状态：已采纳。请查看后重新处理。"
    assert told.json["terms"][0] | {"text": "词0", "status": "accepted", "version": 1} == told.json["terms"][0]
    sent = {"token": token, "term": "词0", "decision": "rejected", "seen": "0"}
    assert "已由 bert 修改" in client.post("/admin/lexicon/decide", data=sent, follow_redirects=True).text
    assert held.all_terms[0].status is TermStatus.ACCEPTED
    assert post(client, token, "decide", term="词0", decision="rejected", seen="1").status_code == 200
    assert post(client, token, "decide", term="词0", decision="rejected", seen="x").status_code == 400


CHANGES = {
    "class": ("professional", {"category": TermClass.PROFESSIONAL}),
    "synonyms": ('甲词, "1,3-丁二烯"，丙词', {"synonyms": ("甲词", "1,3-丁二烯", "丙词")}),
    "broader": ("大词", {"broader_terms": ("大词",)}),
    "merge": ("词1", {"status": TermStatus.MERGED}),
    "rename": ("新词名", {"status": TermStatus.REJECTED}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_is_changed_can_be_undone(what: str) -> None:
    held = actions()
    client, token = reviewing(held)
    value, wanted = CHANGES[what]
    before = list(held.all_terms)
    assert post(client, token, "change", term="词0", what=what, value=value, seen="0").status_code == 200
    assert {name: getattr(held.all_terms[0], name) for name in wanted} == wanted
    if what == "merge":
        assert held.all_terms[1].synonyms == ("词0",)
    if what == "rename":
        assert (held.all_terms[3].text, held.all_terms[3].status) == ("新词名", TermStatus.ACCEPTED)
    assert post(client, token, "undo", confirmed="1").status_code == 200
    assert held.all_terms == before
    assert post(client, token, "undo").status_code == 409


@pytest.mark.parametrize(
    ("what", "value", "status"),
    [
        ("nonsense", "x", 400),
        ("class", "nonsense", 400),
        ("merge", "没有这个词", 409),
        ("merge", "词0", 409),
        ("rename", "a\x07", 409),
        ("synonyms", "a, b\x07", 409),
        ("broader", "x" * 101, 409),
    ],
)
def test_what_cannot_be_is_refused(what: str, value: str, status: int) -> None:
    held = actions()
    client, token = reviewing(held)
    before = list(held.all_terms)
    assert post(client, token, "change", term="词0", what=what, value=value).status_code == status
    assert held.all_terms == before


def test_what_the_lexicon_refuses_is_said() -> None:
    client, token = reviewing(actions())
    sent = {"token": token, "term": "nowhere", "decision": "accepted"}
    told = client.post("/admin/lexicon/decide", data=sent, headers=JSON)
    assert told.status_code == 409 and "没有此术语" in told.json["error"]["message"]
    assert "没有此术语" in client.post("/admin/lexicon/decide", data=sent, follow_redirects=True).text
    for decision in ("maybe", "merged"):
        assert client.post("/admin/lexicon/decide", data=sent | {"decision": decision}).status_code == 400


def test_selected_terms_are_one_action() -> None:
    held = actions(6)
    client, token = reviewing(held)
    picks = [box["value"] for box in get(client, "/admin/lexicon").select(".term .pick")]
    assert picks == [f"0 词{n}" for n in range(6)]
    sent = {"token": token, "selection": "1", "selected": picks[1:4], "decision": "rejected"}
    answer = client.post("/admin/lexicon/bulk", data=sent, headers=JSON).get_json()
    assert statuses(held) == ["candidate"] + ["rejected"] * 3 + ["candidate"] * 2
    assert answer["today"] == 3 and [one["text"] for one in answer["terms"]] == ["词1", "词2", "词3"]
    stale = client.post("/admin/lexicon/bulk", data={**sent, "decision": "accepted"}, headers=JSON)
    assert stale.status_code == 409 and statuses(held)[1] == "rejected"  # other versions than the reviewer saw
    assert post(client, token, "undo", act=str(answer["act"])).get_json()["today"] == 0
    assert statuses(held) == ["candidate"] * 6
    client.post("/admin/lexicon/bulk", data={"token": token, "selection": "1", "decision": "rejected"})
    assert statuses(held) == ["candidate"] * 6


def test_the_day_s_work_is_counted() -> None:
    held = actions(5)
    client, token = reviewing(held)
    history = held.store.review_history
    history.apply(ReviewDecisionKind.DECIDE, [TermEdit("词4", TermStatus.ACCEPTED)], AUTOMATIC_ACTOR)
    history.apply(ReviewDecisionKind.REVERT, [TermEdit("词4", TermStatus.CANDIDATE)], OPERATOR)
    post(client, token, "decide", term="词0", decision="accepted", seen="0")
    assert get(client, "/admin/lexicon").select_one("#progress").text == "今天已审 1 条，还剩 4 条"
    assert "1 today, 4 left" in client.get("/admin/lexicon?lang=en").text


def test_all_candidates_of_a_kind_are_rejected_at_once() -> None:
    names = ["陈晓华", "李志强", "Feng Zhiyuan"]
    held = MemorySite(
        [term(text, 9.0 - n) for n, text in enumerate([*names, "压裂设备", "亿立方米"])]
        + [term("储层裂", 1.0, frequency=10), term("储层裂缝", 0.5, frequency=9)]
    )
    client, token = reviewing(held)
    listed = get(client, "/admin/lexicon")
    kinds = {
        row["data-term"]: link["href"].rpartition("/")[2]
        for row in listed.select(".term")
        for link in row.select(".same-kind a")
    }
    assert kinds == {**dict.fromkeys(names, "person"), "亿立方米": "quantity", "储层裂": "fragment"}
    form = get(client, "/admin/lexicon/kind/person").select_one("form.of-kind")
    selected = [box["value"] for box in form.select("input[type=checkbox]")]
    assert [value.partition(" ")[2] for value in selected] == names
    client.post(
        "/admin/lexicon/bulk", data={"token": token, "selection": "1", "selected": selected[:2], "decision": "rejected"}
    )
    assert {one.text for one in held.all_terms if one.status is TermStatus.REJECTED} == set(names[:2])
    client.post("/admin/lexicon/undo", data={"token": token, "confirmed": "1"})
    assert {one.status for one in held.all_terms} == {TermStatus.CANDIDATE}
    answer = post(client, token, "bulk", kind="person", decision="rejected").get_json()
    assert {one["text"] for one in answer["terms"] if one["status"] == "rejected"} == set(names)
    assert client.get("/admin/lexicon/kind/other").status_code == 404


def test_the_usage_of_a_term_is_said_in_words() -> None:
    documents = [document(n, f"标题{n}", "页岩开发利用。" * 3, site=f"site{n % 2}.example") for n in range(4)]
    client, _ = reviewing(actions(), documents)
    with client.application.test_request_context():
        usage = load_usage(current_services().search, "页岩")
    assert (usage.words_after, usage.words_before) == (("开发利用",), ())
    assert get(client, "/admin/lexicon/usage?text=页岩").select(".usage") == []  # the fake counts no articles
    assert get(client, "/admin/lexicon/usage").select(".usage") == []


def test_a_whole_page_or_the_best_are_accepted_at_once() -> None:
    held = actions(30)
    client, token = reviewing(held)
    form = get(client, "/admin/lexicon?page=2").select_one("#bulk-page")
    named = [field["value"] for field in form.select("input[name=term]")]
    client.post("/admin/lexicon/bulk", data={"token": token, "term": named, "decision": "rejected"})
    assert statuses(held) == ["candidate"] * 20 + ["rejected"] * 10
    client.post("/admin/lexicon/bulk", data={"token": token, "top": "5", "decision": "accepted"})
    assert statuses(held)[:6] == ["accepted"] * 5 + ["candidate"]
    client.post("/admin/lexicon/undo", data={"token": token, "confirmed": "1"})  # all of it is one act
    assert statuses(held)[:6] == ["candidate"] * 6
    sent = {"token": token, "term": ["词7", "nowhere"], "decision": "accepted"}
    said = client.post("/admin/lexicon/bulk", data=sent, follow_redirects=True).text
    assert "已采纳 1 个术语" in said and "已跳过 1 个术语" in said
    sent = {"token": token, "top": "-1", "decision": "accepted"}
    assert client.post("/admin/lexicon/bulk", data=sent).status_code == 400


def test_publishing_tells_version_words_and_lag() -> None:
    held = actions()
    held.store.lexicons.publish(Lexicon(1, (LexiconEntry("旧词"),)))
    held.lag = 7
    held.review.decide(["词0", "词1"], TermStatus.ACCEPTED, "li")
    client, token = reviewing(held)
    page = get(client, "/admin/lexicon")
    assert (page.select_one("#pending-added").text, page.select_one("#pending-removed").text) == ("2", "1")
    preview = get(client, "/admin/lexicon/preview")
    assert preview.select_one("#summary").text == "第 2 版：新增 2 个术语，删除 1 个，修改 0 个"
    form = preview.select_one("#publish")
    sent = {field["name"]: field.get("value", "") for field in form.select("input")} | {"note": " 首批 "}
    said = client.post(form["action"], data=sent, follow_redirects=True).text
    assert "首批" in get(client, "/admin/lexicon/versions").select_one("#versions").text
    assert "7 篇文档待索引" in page.select_one("#published").text
    assert "已发布第 2 版，共 2 个术语。" in said
    assert "没有待发布的改动" in client.post(
        "/admin/lexicon/publish", data={"token": token}, follow_redirects=True
    ).text  # fmt: skip


def test_a_term_is_added_in_place() -> None:
    held = actions(1)
    client, _ = reviewing(held)
    form = get(client, "/admin/lexicon?text=页岩气藏").select_one("#add-term")
    sent = {field["name"]: field["value"] for field in form.select("input")}
    assert sent["term"] == "页岩气藏"  # nothing was found, so this is what is missing
    said = client.post(form["action"], data=sent, follow_redirects=True).text
    assert "已采纳“页岩气藏”" in said
    assert {one.text: one.status.value for one in held.all_terms} == {"词0": "candidate", "页岩气藏": "accepted"}
    client.post(form["action"], data=sent | {"term": " "})
    assert len(held.all_terms) == 2


def test_too_large_a_form_is_refused() -> None:
    client, token = reviewing(actions())
    sent = {"token": token, "term": "x" * 300_000, "decision": "accepted"}
    assert client.post("/admin/lexicon/decide", data=sent).status_code == 413


def test_a_store_that_fails_is_a_page_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example a full disk: nothing is lost, and no traceback is shown."""

    def full(*_: object) -> ReviewDecision:
        raise StoreFullError("The disk that holds the store is full")

    held = actions()
    client, token = reviewing(held)
    monkeypatch.setattr(held.review, "apply", full)
    sent = {"token": token, "term": "词0", "decision": "accepted"}
    told = client.post("/admin/lexicon/decide", data=sent)
    assert told.status_code == 503
    assert "logs/plumb.log" in told.text
    assert client.post("/admin/lexicon/decide", data=sent, headers=JSON).json["error"]


# -- the other pages


def test_a_term_s_page_shows_it_in_its_articles() -> None:
    held = MemorySite([term("页岩气", 9.0), term("页岩气井", 8.0), term("天然气", 7.0)])
    documents = [document(1, "四川的页岩气", "开发页岩气。又见页岩气。"), document(2, "无关", "没有")]
    client, token = reviewing(held, documents)
    post(client, token, "change", term="页岩气井", what="broader", value="页岩气")
    page = get(client, "/admin/lexicon/term?text=页岩气")
    rows = [[cell.text for cell in row.select("td")] for row in page.select("#kwic tbody tr")]
    assert rows == [
        ["四川的", "页岩气", "开发页岩气。又见页岩气。", "四川的页岩气"],
        ["四川的页岩气 开发", "页岩气", "。又见页岩气。", "四川的页岩气"],
    ]
    assert page.select_one("#kwic a")["href"].startswith("/article/doc1?")
    assert "页岩气井" in page.select(".near-words")[1].text
    assert get(client, "/admin/lexicon/term?text=页岩气井").select_one("#acts tbody tr td").text == "operator"
    assert client.get("/admin/lexicon/term?text=没有").status_code == 404


def test_a_context_leads_to_its_article() -> None:
    client, _ = reviewing(actions(), [document(1, "题", "文")])
    found = client.get("/admin/lexicon/article?term=词0&context=说到词0")
    assert (found.status_code, found.location.partition("?")[0]) == (303, "/article/doc1")
    nothing = client.get("/admin/lexicon/article?term=词0")
    assert nothing.location.startswith("/admin/lexicon/term?")


def test_the_history_says_who_did_what_and_takes_it_back() -> None:
    held = actions()
    client, token = reviewing(held)
    post(client, token, "decide", term="词0", decision="accepted")
    held.review.apply(ReviewDecisionKind.DECIDE, [TermEdit("词1", TermStatus.REJECTED)], "bert")
    page = get(client, "/admin/lexicon/history")
    assert [row.select("td")[0].text for row in page.select("#acts tbody tr")] == ["bert", "operator"]
    assert "候选 → 已拒绝" in page.select_one("#acts tbody tr").text
    form = page.select("#acts form")[0]
    sent = {field["name"]: field["value"] for field in form.select("input")}
    assert client.post(form["action"], data=sent).location == "/admin/lexicon/history"
    assert statuses(held) == ["accepted", "candidate", "candidate"]
    page = get(client, "/admin/lexicon/history?text=词1&by=bert")
    assert len(page.select("#acts tbody tr")) == 1 and page.select("#acts form") == []


def test_the_history_links_terms_that_exist() -> None:
    held = actions()
    client, _ = reviewing(held)
    held.review.decide(["词1"], TermStatus.DEFERRED, "bert")
    held.store.review_history.undo("bert", held.review.propose("新词", "bert").act_id)
    table = get(client, "/admin/lexicon/history").select_one("#acts")
    assert "新词" in table.text
    assert {link.text for link in table.select("a.near")} == {"词1"}


def test_the_history_lists_synonyms() -> None:
    held = actions()
    client, _ = reviewing(held)
    held.review.apply(ReviewDecisionKind.SYNONYMS, [TermEdit("词1", synonyms=("钻头", "钻具"))], "bert")
    page = get(client, "/admin/lexicon/history")
    assert "钻头、钻具" in page.select_one("#acts tbody tr").text


def test_versions_are_compared_reverted_and_exported() -> None:
    held = actions()
    client, token = reviewing(held)
    for text in ("词0", "词1"):
        post(client, token, "decide", term=text, decision="accepted")
        client.post("/admin/lexicon/publish", data={"token": token})
    page = get(client, "/admin/lexicon/versions")
    assert [row.th.text for row in page.select("#versions tbody tr")] == ["2", "1"]
    assert [one.text for one in page.select("#diff li")] == ["+ 词1 n"]
    assert [one.text for one in get(client, "/admin/lexicon/versions?before=2&after=0").select("#diff li")] == [
        *("− 词0 n", "− 词1 n")
    ]
    said = client.post("/admin/lexicon/revert", data={"token": token, "version": "1"}, follow_redirects=True).text
    assert "发布为第 3 版" in said
    assert client.get("/admin/lexicon/export/jieba").text == "词0 n\n"
    assert client.get("/admin/lexicon/export/csv").text.splitlines()[1:] == ["词0,,n,,,,"]
    assert "skos:Concept" in client.get("/admin/lexicon/export/skos").text
    assert client.get("/admin/lexicon/export/nonsense").status_code == 404
    assert held.store.review_queue.find_terms(["词1"])["词1"].status is TermStatus.CANDIDATE
    for version in ("9", "x", "3"):
        response = client.post("/admin/lexicon/revert", data={"token": token, "version": version})
        assert response.status_code == 303
    assert held.store.lexicons.list_versions()[0][0].version == 3


def test_what_was_accepted_automatically_is_marked() -> None:
    held = actions()
    client, token = reviewing(held)
    held.review.decide(["词0"], TermStatus.ACCEPTED, AUTOMATIC_ACTOR)
    held.review.publish(AUTOMATIC_ACTOR)
    post(client, token, "decide", term="词1", decision="accepted")
    page = get(client, "/admin/lexicon?status=automatic")
    assert [row.h2.bdi.text for row in page.select(".term")] == ["词0"]
    assert page.select_one(".term .state").text == "自动采纳"
    assert page.select_one("[aria-current=page][href*=automatic]").text == "自动采纳"
    assert get(client, "/admin/lexicon/term?text=词0&lang=en").select_one(".state").text == "Accepted automatically"
    assert "自动采纳" in get(client, "/admin/lexicon/history?lang=zh").select_one("#acts").text
    assert "自动采纳" in get(client, "/admin/lexicon/versions").select_one("#versions").text
    assert client.get("/admin/lexicon/export/csv").text.splitlines()[1:] == ["词0,,n,,,,automatic"]
    assert page.select_one(".term").has_attr("data-automatic")  # shows the button to confirm it
    post(client, token, "decide", term="词0", decision="accepted")
    page = get(client, "/admin/lexicon?status=accepted")
    assert not page.select(".term[data-automatic]") and len(page.select(".term")) == 2
    assert get(client, "/admin/lexicon?status=automatic").select(".term") == []


def test_an_automatic_version_is_taken_back_in_one_step() -> None:
    held = actions()
    client, token = reviewing(held)
    held.review.decide(["词0"], TermStatus.ACCEPTED, AUTOMATIC_ACTOR)
    held.review.publish(AUTOMATIC_ACTOR)
    [button] = get(client, "/admin/lexicon/versions").select("#versions form")
    assert button.parent.name == "details"  # the first press only says what a second one does
    assert button.button.text == "撤回此版" and button.select_one("[name=version]")["value"] == "0"
    client.post("/admin/lexicon/revert", data={"token": token, "version": "0"})
    assert held.store.review_queue.find_terms(["词0"])["词0"].status is TermStatus.CANDIDATE
    assert held.store.lexicons.list_versions()[0][1] == 0


def test_the_preview_shows_sentences_and_results_before_and_after() -> None:
    held = MemorySite([term("世界石油大会", 9.0, contexts=("世界石油大会在北京召开",)), term("旧的词", 1.0)])
    search = FakeSearch([document(n, f"题{n}", "世界石油大会在北京召开") for n in range(3)])
    client = site_app(search, held).test_client()
    token = sign_in(client)
    assert get(client, "/admin/lexicon/preview").select_one("#nothing-new")
    post(client, token, "decide", term="世界石油大会", decision="accepted")
    page = get(client, "/admin/lexicon/preview")
    cuts = [[word.text for word in line.select(".word")] for line in page.select("#cuts .cut")]
    assert cuts == [["世界", "石油", "大会", "在", "北京", "召开"], ["世界石油大会", "在", "北京", "召开"]]
    assert [len(side.select("ol li")) for side in page.select("#results section")] == [3, 3]
    asked = [dict(params)["part0_text"] for params in search.asked if "part0_text" in dict(params)]
    assert asked == ['"世界"', '"世界石油大会"']
    assert client.get("/admin/lexicon/preview?q=<b>").status_code == 200
    held.store.lexicons.replace_candidates([term("天然气", 0.5, contexts=("世界石油大会谈天然气",))])
    held.review.import_file(
        held.review.preview_import("words.txt", "天然气".encode()), "li"
    )  # is segmented so without the lexicon too
    page = get(client, "/admin/lexicon/preview")
    assert [change.a.text for change in page.select("#cuts h3")] == ["世界石油大会"]
    assert [line.code.text for line in page.select(".diff .plus")] == ["天然气 n"]


@pytest.mark.parametrize(
    ("language", "sentences", "reason"),
    [
        ("en", "jieba segments 1 of 2 known sentences differently.", "jieba cuts it into 研究 | 方法, the index into"),
        ("zh", "经 jieba 检验，2 个已知例句中有 1 个的分词有变化。", "jieba 切分为 研究 | 方法，索引切分为"),
    ],
)
def test_the_preview_names_harmful_terms_and_asks_once(language: str, sentences: str, reason: str) -> None:
    held = MemorySite([term("世界石油大会", 9.0, contexts=("世界石油大会在北京召开",)), term("研究方法", 1.0)])
    client = site_app(FakeSearch([]), held).test_client()
    token = sign_in(client)
    for text in ("世界石油大会", "研究方法"):
        post(client, token, "decide", term=text, decision="accepted")
    assert get(client, "/admin/lexicon/preview").select_one("#publish button")
    held.review.import_file(held.review.preview_import("words.txt", "研究方法 1 n".encode()), "li")
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
    page = get(client, "/admin/lexicon/preview")
    assert page.select_one("#sentences").text == sentences
    assert page.select_one("#harmful li").text.startswith("研究方法") and reason in page.select_one("#harmful").text
    refusal = client.post("/admin/lexicon/publish", data={"token": token}, headers={"Accept": JSON["Accept"]})
    assert reason in refusal.text and held.store.lexicons.list_versions() == []
    sent = {field["name"]: field.get("value", "") for field in page.select("#publish input[name]")}
    client.post("/admin/lexicon/publish", data=sent)
    assert len(held.store.lexicons.list_versions()) == 1


def test_the_preview_ranks_works_as_the_search_page_does() -> None:
    held = MemorySite([term("世界石油大会", 9.0)])
    search = FakeSearch([document(1, "题", "世界石油大会")], works=["0123456789abcdef"])
    client = site_app(search, held).test_client()
    token = sign_in(client)
    post(client, token, "decide", term="世界石油大会", decision="accepted")
    search.asked.clear()
    get(client, "/admin/lexicon/preview?q=世界石油大会")
    hits = [dict(params) for params in search.asked if "works" in dict(params)]
    assert len(hits) == 2 and all("0123456789abcdef" in named["works"] for named in hits)


def test_the_report_draws_its_distributions() -> None:
    held = MemorySite([term("页岩气", 9.0), term("压裂", 1.0, pos_tags="v"), term("水力压裂", 5.0)])
    client, token = reviewing(held)
    post(client, token, "decide", term="页岩气", decision="accepted")
    page = get(client, "/admin/lexicon/report")
    assert page.select_one("#all-terms").text == "3"
    assert len(page.select("figure.chart svg")) == 2
    rows = [[cell.text for cell in row.select("th, td")][:3] for row in page.select("#patterns tbody tr")]
    assert rows == [["n n", "2", "1"], ["v", "1", "0"]]
    figures = held.store.review_queue.statistics()
    assert [bar.point for bar in length_chart(figures).bars][1:4] == [
        ChartPoint("2", 1),
        ChartPoint("3", 1, 1),
        ChartPoint("4", 1),
    ]
    assert [bar.point.value for bar in score_chart(figures).bars if bar.point.value] == [1, 1, 1]
    assert pos_pattern_points(figures)[0] == ChartPoint("n n", 2, 1)
    assert len(get(site_app().test_client(), "/admin/lexicon/report").select("figure")) == 0


def test_an_empty_lexicon_has_all_its_pages() -> None:
    client, _ = reviewing(MemorySite())
    for name in ("", "/history", "/versions", "/preview", "/report"):
        assert client.get(f"/admin/lexicon{name}").status_code == 200, name
    assert json.loads(client.get("/healthz?format=json").text)


def send_list(client: FlaskClient, token: str, content: bytes, name: str = "words.txt") -> Any:
    """Upload a list and return the page after redirects."""
    sent = {"token": token, "list": (BytesIO(content), name)}
    return client.post("/admin/lexicon/import", data=sent, content_type="multipart/form-data", follow_redirects=True)


def test_a_list_is_taken_in_by_the_browser() -> None:
    held = actions(1)
    client, token = reviewing(held)
    answer = send_list(client, token, "页岩气 10 n\nPDC钻头\n词0\n".encode())
    assert "已导入 3 个术语" in answer.text
    assert {one.text: one.status for one in held.all_terms} == dict.fromkeys(
        ("页岩气", "PDC钻头", "词0"), TermStatus.ACCEPTED
    )
    assert [act.kind for act in held.store.review_history.list_decisions("", "", 0, 1)[1]] == [ReviewDecisionKind.ADD]
    concepts = "concept id,term\n1,甲烷\n1,methane\n".encode()
    assert "已导入 1 个概念、2 个术语" in send_list(client, token, concepts, "c.csv").text
    table = "term,synonyms\n压裂,水力压裂|hydraulic fracturing\n".encode()
    assert "已导入 1 个术语" in send_list(client, token, table, "terms.CSV").text


def test_of_a_list_with_bad_lines_the_others_are_taken_and_each_bad_line_is_named() -> None:
    held = actions(1)
    client, token = reviewing(held)
    answer = send_list(client, token, "页岩气\n水力压裂 -1 n\n油\x00\n".encode(), "<b>.txt")
    page = BeautifulSoup(answer.text, "lxml")
    assert answer.status_code == 200 and held.review.find_concept("页岩气")
    assert [cell.text for cell in page.select("#faults tbody th")] == ["2", "3"]
    assert page.select_one("main [role=status]").text == "已导入 1 个术语，发布后生效。"
    answer = send_list(client, token, "油\x00\n".encode(), "<b>.txt")
    page = BeautifulSoup(answer.text, "lxml")
    assert answer.status_code == 422 and page.select_one("main [role=alert]").text == "<b>.txt 没有可导入的内容。"


def test_no_list_a_list_of_nothing_and_one_too_large() -> None:
    client, token = reviewing(actions(1))
    assert "未选择文件" in send_list(client, token, b"", "").text
    assert "已导入 0 个术语" in send_list(client, token, b"\n").text
    assert send_list(client, token, b"a" * (MAX_LIST_BYTES + 1)).status_code == 413
    assert send_list(client, token, b"a b c d e " * 100_000).status_code == 422  # larger than a form, and bad


def test_columns_of_the_public_list_do_not_apply_to_the_review() -> None:
    """Both lists have the class `terms`; the rows of the review are wide."""
    style = site_app(FakeSearch(), actions()).test_client().get("/static/style.css").text
    rules = [line for line in style.splitlines() if "columns: 15rem" in line]
    assert rules and all(rule.startswith("#term-list ") for rule in rules)


HOSTILE_DEFINITION = "<script>alert(1)</script>页岩气是气。"


def test_a_definition_is_chosen_written_and_undone() -> None:
    held = MemorySite([term("页岩气", status=TermStatus.ACCEPTED)], published=Lexicon(1, (LexiconEntry("页岩气"),)))
    client, token = reviewing(held)
    candidates = [
        Definition(
            "页岩气", "zh", f"页岩气是{kind}。", number, f"http://a.test/{number}", "甲", "2024-05-01", score, 1.0
        )
        for number, (kind, score) in enumerate([("气", 0.9), ("煤", 0.8)], start=1)
    ]
    held.store.definitions.save(candidates, ())

    def buttons() -> dict[str, bool]:
        page = get(client, "/admin/lexicon/term?text=页岩气&lang=en")
        return {one["data-key"]: one.has_attr("disabled") for one in page.select("#definition-choice [data-key]")}

    def shown() -> list[str]:
        return [one.sentence for one in held.store.definitions.find_public(["页岩气"])["页岩气"]]

    assert buttons() == {"1": False, "2": False, "0": False}
    assert post(client, token, "definition", term="页岩气", sentence="页岩气是煤。", seen="1").status_code == 200
    assert buttons() == {"1": False, "2": True, "0": False, "u": False} and shown() == ["页岩气是煤。", "页岩气是气。"]
    assert post(client, token, "definition", term="页岩气", sentence="", seen="1").status_code == 409
    assert post(client, token, "definition", term="页岩气", sentence="", seen="2").status_code == 200
    assert buttons()["0"] and shown() == []
    assert post(client, token, "definition", term="页岩气", own=HOSTILE_DEFINITION).status_code == 200
    page = get(client, "/admin/lexicon/term?text=页岩气&lang=en")
    assert page.select_one("#own-definition").text == HOSTILE_DEFINITION and shown()[0] == HOSTILE_DEFINITION
    assert HOSTILE_DEFINITION in page.select_one("#acts tbody tr").text and page.select("#acts script") == []
    too_long = post(client, token, "definition", term="页岩气", own="气" * 2001)
    assert (too_long.status_code, too_long.json["error"]["message"]) == (
        409,
        "A definition has at most 2,000 characters, not 2,001.",
    )
    assert post(client, token, "definition", term="页岩气").status_code == 400
    assert post(client, token, "undo").status_code == 200
    assert shown() == []


CONCEPT_FIELDS = ("word", "language", "status", "definition", "source", "note")


def concept_form(page: BeautifulSoup) -> dict[str, list[str]]:
    """The values of the form of the concept, as a browser sends them."""
    rows = page.select("#concept-terms tbody tr")
    values = {name: [row.select_one(f"[name={name}]") for row in rows] for name in CONCEPT_FIELDS}
    values["status"] = [select.select_one("[selected]") for select in values["status"]]
    return {name: [cell["value"] for cell in cells] for name, cells in values.items()}


def test_the_second_editor_of_a_concept_overwrites_nothing() -> None:
    held = MemorySite([term("页岩气", status=TermStatus.ACCEPTED, synonyms=("shale gas",))])
    held.review.apply(ReviewDecisionKind.SYNONYMS, [TermEdit("页岩气", synonyms=("shale gas",))], "anna")
    client, token = reviewing(held)
    page = get(client, "/admin/lexicon/term?text=页岩气&lang=en")
    form = concept_form(page)
    assert form["word"] == ["shale gas", "页岩气", ""] and form["status"] == ["admitted", "preferred", "admitted"]
    seen = page.select_one("#concept [name=seen]")["value"]
    sent = {"token": token, "term": "页岩气", "seen": seen, "from": "term", **form}
    first = {**sent, "status": ["deprecated", "preferred", "admitted"], "word": ["shale gas", "页岩气", "泥页岩气"],
             "language": ["en", "zh", "zh"]}  # fmt: skip
    second = {**sent, "definition": ["", "另一个定义", ""]}
    client.post("/admin/lexicon/concept", data=first)
    rejected = client.post("/admin/lexicon/concept", data=second, headers=JSON)
    assert rejected.status_code == 409 and rejected.json["terms"][0]["synonyms"] == ["泥页岩气", "shale gas"]
    concept = held.review.find_concept("页岩气")
    assert concept and [(item.text, item.status.value, item.definition) for item in concept.terms] == [
        ("shale gas", "deprecated", ""), ("页岩气", "preferred", ""), ("泥页岩气", "admitted", ""),
    ]  # fmt: skip
    seen = get(client, "/admin/lexicon/term?text=页岩气").select_one("#concept [name=seen]")["value"]
    bad = {**first, "seen": seen, "word": ["<b>\x07", "页岩气", ""]}
    rejected = client.post("/admin/lexicon/concept", data=bad, headers=JSON)
    assert rejected.status_code == 409 and "“<b>”" in rejected.json["error"]["message"]
    assert client.post("/admin/lexicon/concept", data={**bad, "status": ["x"] * 3}).status_code == 400
    assert held.review.find_concept("页岩气") == concept
    post(client, token, "undo")
    concept = held.review.find_concept("页岩气")
    assert concept and [item.text for item in concept.terms] == ["shale gas", "页岩气"]


def test_concepts_are_previewed_and_imported() -> None:
    held = actions(2)
    client, token = reviewing(held)
    content = "concept id,language,term,status,definition\nk1,zh,页岩气,preferred,定义\nk1,en,shale gas,deprecated,\n"
    send = {"token": token, "preview": "1", "list": (BytesIO(content.encode()), "c.csv")}
    page = BeautifulSoup(
        client.post("/admin/lexicon/import", data=send, content_type="multipart/form-data").text, "lxml"
    )
    assert [item.text for item in page.select(".diff .plus code")] == [
        "shale gas (en, deprecated)", "页岩气 (zh, preferred): 定义", "id k1",
    ]  # fmt: skip
    assert held.review.find_concept("页岩气") is None
    send = {"token": token, "list": (BytesIO(content.encode()), "c.csv")}
    client.post("/admin/lexicon/import", data=send, content_type="multipart/form-data")
    assert held.review.find_concept("页岩气")
    for form, part in (
        ("tbx", "<term>页岩气</term>"),
        ("skos", '"页岩气"@zh'),
        ("concepts", ",en,shale gas,deprecated"),
    ):
        assert part in client.get(f"/admin/lexicon/export/{form}").text
    send = {
        "token": token,
        "list": (BytesIO(content.replace("页岩气", "<b>\x07").replace("shale gas", "\x08").encode()), "c.csv"),
    }
    response = client.post("/admin/lexicon/import?lang=en", data=send, content_type="multipart/form-data")
    assert response.status_code == 422 and "k1" in response.text
    send = {"token": token, "preview": "1", "list": (BytesIO("井\n页岩气\n\x07\n".encode()), "c.txt")}
    page = BeautifulSoup(
        client.post("/admin/lexicon/import?lang=en", data=send, content_type="multipart/form-data").text, "lxml"
    )
    counts = "c.txt: 2 terms; 1 new, 1 changed, 0 unchanged. Nothing has been imported yet."
    assert page.select_one("#import-counts").text == counts and page.select_one("#faults tbody th").text == "3"
    assert [item.text for item in page.select(".diff .plus code")] == ["井 n", "页岩气 n"]


def test_comments_stand_with_their_term_and_only_their_author_removes_them() -> None:
    held = actions(2)
    client, token = reviewing(held)
    operate(held.store, "term_comment", "bob", term="词0", comment="见 GB/T 1.1\n<b>?</b>")
    answer = post(client, token, "comment", term="词0", text="filter", comment=" 已核对 ")
    assert answer.status_code == 200 and "已核对" in answer.json["html"]
    assert [post(client, token, "comment", term="词0", comment=text).status_code for text in (" ", "长" * 1001)] == [
        409
    ] * 2
    row, other_row = get(client, "/admin/lexicon").select(".term")
    assert [text.text for text in row.select(".comments li p")] == ["见 GB/T 1.1\n<b>?</b>", "已核对"]
    assert row.select_one(".comment-count").text == "2 条评论" and not other_row.select(".comments li")
    bob_id, own_id = (comment.comment_id for comment in held.store.term_comments.find(["词0"])["词0"])
    assert [one["value"] for one in row.select(".comments [name=comment_id]")] == [str(own_id)]
    for comment_id in (bob_id, own_id):
        assert post(client, token, "comment/remove", term="词0", comment_id=str(comment_id)).status_code == 200
    page = get(client, "/admin/lexicon/term?text=词0")
    assert [row.td.text for row in page.select("#acts tr.comment")] == ["bob"]


def test_selected_terms_are_assigned_and_found_by_their_reviewer() -> None:
    held = actions(3)
    client, token = reviewing(held)
    me = get(client, "/admin/lexicon").select_one("[name=selected]")["value"].partition(" ")[0]
    store = held.store
    store.accounts.create("bob", "hash", [Role.REVIEWER])
    data = {"token": token, "selected": [f"{me} 词0", f"{me} 词2"], "reviewer": "operator"}
    page = BeautifulSoup(client.post("/admin/lexicon/assign", data=data, follow_redirects=True).text, "lxml")
    assert [row["data-term"] for row in page.select(".term") if row.select_one(".assigned")] == ["词0", "词2"]
    assert page.select_one("[data-count=assigned]").text == "2"
    mine = get(client, "/admin/lexicon?assigned=me")
    assert [row["data-term"] for row in mine.select(".term")] == ["词0", "词2"]
    assert mine.select_one(".decide [name=assigned]")["value"] == "me"
    assert post(client, token, "decide", term="词0", decision="accepted", seen="0").json["assigned"] == 1
    client.post("/admin/lexicon/assign", data={"token": token, "selected": "0 词2", "reviewer": "nobody-known"})
    assert held.store.term_assignments.find(["词2"]) == {"词2": "operator"}


def test_an_acceptance_waits_for_a_second_reviewer() -> None:
    held = actions(3)
    held.needs_second_reviewer = True
    app = site_app(FakeSearch([]), held, roles={"operator": Role.OPERATOR, "bob": Role.REVIEWER})
    ann, bob = app.test_client(), app.test_client()
    ann_token, bob_token = sign_in(ann), sign_in(bob, "bob")
    assert not held.review.store.review_queue.find_page(TermQuery(TermStatus.PROVISIONAL))[0]
    answer = post(ann, ann_token, "bulk", selection="1", selected="0 词0", decision="accepted").json
    assert answer["terms"][0]["status"] == "provisional" and answer["terms"][0]["own"]
    assert answer["message"] == "1 个术语待第二人确认。" and answer["pending"]["added"] == 0
    post(ann, ann_token, "decide", term="词1", decision="accepted", seen="0")
    assert post(ann, ann_token, "decide", term="词0", decision="accepted", seen="1").status_code == 409
    assert post(ann, ann_token, "publish").status_code == 409
    own_rows, rows = (get(client, "/admin/lexicon?status=provisional").select(".term") for client in (ann, bob))
    assert [row.has_attr("data-own") for row in (*own_rows, *rows)] == [True, True, False, False]
    assert rows[0].select_one(".acceptance").text == f"{OPERATOR} 已采纳"
    assert get(bob, "/admin/lexicon/preview").select_one(".note a")["href"].endswith("status=provisional")
    assert post(bob, bob_token, "decide", term="词0", decision="accepted", seen="1").json["pending"]["added"] == 1
    assert "词1" in post(bob, bob_token, "decide", term="词1", decision="rejected", seen="1").json["message"]
    assert statuses(held) == ["accepted", "candidate", "candidate"]
    post(bob, bob_token, "undo")
    assert statuses(held) == ["accepted", "provisional", "candidate"]


def test_one_key_undoes_only_what_this_account_did_to_this_term() -> None:
    held = actions(3)
    held.review.decide(["词0", "词1", "词2"], TermStatus.ACCEPTED, "bert")
    client, token = reviewing(held)
    assert not get(client, "/admin/lexicon/term?text=词0").select("[data-key=u]")
    held.review.decide(["词0"], TermStatus.DEFERRED, "operator")
    [button] = get(client, "/admin/lexicon/term?text=词0&lang=en").select("[data-key=u]")
    assert button.text.split() == ["undo", "u"]
    post(client, token, "undo", act=held.store.review_history.last_decision_id())
    assert statuses(held) == ["accepted"] * 3


def test_the_undo_of_an_action_on_many_terms_is_named_and_confirmed() -> None:
    held = actions(3)
    act_id = held.review.decide(["词0", "词1", "词2"], TermStatus.ACCEPTED, "bert").act_id
    client, token = reviewing(held)
    page = client.post("/admin/lexicon/undo?lang=en", data={"token": token, "act": act_id, "from": "history"})
    assert "Undo the action of bert on 3 terms" in page.text and statuses(held) == ["accepted"] * 3
    told = client.post("/admin/lexicon/undo", data={"token": token, "act": act_id}, headers=JSON)
    assert told.status_code == 409 and statuses(held) == ["accepted"] * 3
    form = BeautifulSoup(page.text, "lxml").select_one("#confirm-undo")
    fields = {str(item["name"]): str(item["value"]) for item in form.select("input")}
    assert client.post(str(form["action"]), data=fields).location == "/admin/lexicon/history"
    assert statuses(held) == ["candidate"] * 3


def test_a_page_beyond_the_last_is_the_last_one() -> None:
    held = actions(45)
    client, _ = reviewing(held)
    last = [row["data-term"] for row in get(client, "/admin/lexicon?page=3").select(".term")]
    assert [row["data-term"] for row in get(client, "/admin/lexicon?page=999").select(".term")] == last
    held.review.decide(["词0"], TermStatus.ACCEPTED, "bert")
    assert len(get(client, "/admin/lexicon/history?page=999").select("#acts tbody tr")) == 1


def test_a_form_that_is_saved_unchanged_keeps_all_synonyms_and_broader_terms() -> None:
    held = actions(1)
    names = (f"oil well of the {'very ' * 7}long name {number}" for number in range(140))
    synonyms = ("1,3-丁二烯", '6" 套管', *names)
    held.review.apply(ReviewDecisionKind.SYNONYMS, [TermEdit("词0", synonyms=synonyms)], "li")
    client, token = reviewing(held)
    [field] = get(client, "/admin/lexicon/term?text=词0").select("form[data-what=synonyms] [name=value]")
    assert not field.has_attr("maxlength")
    assert post(client, token, "change", term="词0", what="synonyms", value=str(field["value"])).status_code == 200
    assert held.store.review_queue.find_terms(["词0"])["词0"].synonyms == synonyms


@pytest.mark.parametrize(
    ("action", "sent"),
    [
        ("bulk", {"selection": "1", "decision": "accepted", "selected": [f"0 词{n}" for n in range(501)]}),
        ("bulk", {"decision": "accepted", "term": ["词0"] * 501}),
        ("bulk", {"decision": "accepted", "term": ["词0", "词1"], "seen": ["0"]}),
        ("assign", {"reviewer": "operator", "selected": [f"0 词{n}" for n in range(501)]}),
        ("publish", {"note": "n" * 301}),
    ],
)
def test_a_form_with_too_much_is_refused_not_cut(action: str, sent: dict[str, Any]) -> None:
    held = actions(3)
    client, token = reviewing(held)
    assert post(client, token, action, **sent).status_code == 400
    assert statuses(held) == ["candidate"] * 3 and held.store.lexicons.latest_version() == 0


def test_terms_that_only_wait_are_not_called_accepted() -> None:
    held = actions(3)
    held.needs_second_reviewer = True
    client, token = reviewing(held)
    fields = {"token": token, "selection": "1", "selected": ["0 词0", "0 词1", "7 词2"], "decision": "accepted"}
    page = client.post("/admin/lexicon/bulk?lang=en", data=fields, follow_redirects=True).text
    assert "2 terms wait for a second reviewer." in page and "Accepted 2 terms" not in page


def test_the_undo_of_an_added_term_leads_to_a_page_that_exists() -> None:
    held = actions(1)
    client, token = reviewing(held)
    post(client, token, "add", term="可燃冰")
    data = {"token": token, "from": "term", "term": "可燃冰"}
    undone = client.post("/admin/lexicon/undo?lang=en", data=data, follow_redirects=True)
    assert undone.status_code == 200 and "Undone." in undone.text
