"""The history of all areas: filter, paging and undo."""

import time

import pytest

from domain.account import Role
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import Term, TermStatus
from tests.builders import operate, page_at
from tests.search_ui.test_admin import cells, signed_in, text
from tests.site_fixture import MemorySite

URL = "https://news.example/a?b=1&c"
SITE_CHANGES = {"crawl.seeds": [["https://a.test/"], ["https://a.test/", "https://b.test/"]], "crawl.js": [[], True]}


@pytest.fixture
def site() -> MemorySite:
    site = MemorySite()
    record = site.store.operations.record
    record("bob", "setting_change", "alerts.webhook")
    record("ann", "a_code_of_tomorrow", "x")
    site.store.lexicons.replace_candidates([Term(text, 9.0, 5, 2) for text in ("页岩气", "钻井")])
    edits = [TermEdit(text, TermStatus.ACCEPTED) for text in ("页岩气", "钻井")]
    site.store.review_history.undo("", site.store.review_history.apply(ReviewDecisionKind.DECIDE, edits).act_id)
    site.store.accounts.create("cho", "hash", [Role.REPORTS])
    operate(site.store, "account_roles", "ann", name="cho", role=["reviewer", "operator"])
    record("ann", "account_roles", "bob", {"before": "reports", "after": "reviewer,operator"})  # of earlier versions
    record("ann", "site_change", "a.test", {"changes": SITE_CHANGES})
    record("bob", "setting_change", "crawl.threads", {"before": None, "after": 4})
    operate(site.store, "page_takedown", "ann", url=URL, reason="<b>court")
    return site


def test_all_areas_are_in_one_list(site: MemorySite) -> None:
    client, _ = signed_in(site)
    found = page_at(client, "/admin/history?lang=en")
    rows = cells(found, "#history")
    assert [row[1] for row in rows] == ["ann", "bob", "ann", "ann", "ann", "System", "System", "ann", "bob"]
    assert [row[2] for row in rows][:2] == ["Take page down", "Change setting"] and rows[6][2].endswith("undone")
    assert rows[0][3] == f"{URL}<b>court" and rows[1][3].endswith(" crawl.threads(default) → 4")
    assert rows[2][3] == "a.testcrawl.seeds: (empty) → https://b.test/crawl.js: (empty) → On"  # only the difference
    assert found.select("#history a[href='/admin/sites/a.test/settings']")
    assert rows[3][3] == "bobReport viewer → Reviewer, Administrator"
    assert rows[4][3] == "choReport viewer → Reviewer, Administrator"
    assert rows[5][3] == rows[6][3] == "钻井, 页岩气"
    assert rows[7][2] == "a_code_of_tomorrow"
    assert rows[8][3] == "Webhook URL alerts.webhooksecret value, not recorded; it cannot be undone"
    undoable = [bool(row.select("form")) for row in found.select("#history tbody tr")]
    assert undoable == [True, False, False, False, True, True, False, False, False]
    assert not page_at(signed_in(site, Role.REPORTS)[0], "/admin/history").select("#history form")


def test_the_list_is_filtered_and_the_filter_stays(site: MemorySite) -> None:
    for number in range(60):
        site.store.operations.record("ann", "site_pause", f"{number}.test")
    client, _ = signed_in(site)
    today = time.strftime("%Y-%m-%d")
    found = page_at(client, f"/admin/history?account=ann&kind=action.site_pause&from={today}&to={today}")
    assert len(cells(found, "#history")) == 50
    assert [option["value"] for option in found.select("option[selected]")] == ["ann", "action.site_pause"]
    assert [field["value"] for field in found.select("input[type=date]")] == [today, today]
    following = page_at(client, str(found.select("a[rel=next]")[0]["href"]))
    assert len(cells(following, "#history")) == 10
    beyond = page_at(client, "/admin/history?account=ann&kind=action.site_pause&page=9999")
    assert cells(beyond, "#history") == cells(following, "#history")  # the last page, not an empty one
    assert not page_at(client, "/admin/history?to=2001-01-01").select("#history")


@pytest.mark.parametrize(
    "query",
    ["kind=x", "from=x&to=9999-12-31", "page=0", "page=99999999", "page=-1", "from=0001-01-01"],
)
def test_an_invalid_filter_is_none(site: MemorySite, query: str) -> None:
    assert len(cells(page_at(signed_in(site)[0], f"/admin/history?{query}"), "#history")) == 9


def test_an_entry_is_undone(site: MemorySite) -> None:
    client, token = signed_in(site)
    [takedown] = site.store.operations.find(name="page_takedown")
    for entry, shown in ((takedown.operation_id, "操作已撤销。"), (999, "未作改动")):
        sent = {"entry": entry, "token": token}
        assert client.post("/admin/history/undo", data=sent).status_code == 303
        assert shown in text(page_at(client, "/admin/history"), "p.note[role=status]")
    assert site.store.takedowns.list_all() == []
    assert site.store.operations.find(limit=1)[0].account == "someone"
    for sent in ({"entry": "x"}, {}):
        assert client.post("/admin/history/undo", data={**sent, "token": token}).status_code == 400
    answer = client.post("/admin/lexicon/undo", data={"act": "1", "from": "all", "token": token})
    assert answer.location == "/admin/history"  # a decision on terms is undone by its own form
    assert "此操作已撤销" in text(page_at(client, "/admin/history"), "p.note[role=status]")
