"""The history of all areas: filter, paging and undo."""

import time

import pytest

from domain.account import Role
from domain.administration import HistoryEntry, HistoryFilter, HistorySource
from domain.errors import LexiconError
from tests.builders import page_at
from tests.search_ui.test_admin import cells, signed_in, text
from tests.search_ui_fakes import FakeActions, FakeHistory

URL = "https://news.example/a?b=1&c"
SITE_CHANGES = {"crawl.seeds": [["https://a.test/"], ["https://a.test/", "https://b.test/"]], "crawl.js": [[], True]}
ROLE_CHANGE = {"before": "reports", "after": "reviewer,operator"}
ENTRIES = [
    HistoryEntry(HistorySource.ACTION, 3, 180.0, "ann", "page_takedown", URL, {"reason": "<b>court"}, can_undo=True),
    HistoryEntry(
        HistorySource.ACTION, 2, 120.0, "bob", "setting_change", "crawl.threads", {"before": None, "after": 4}
    ),
    HistoryEntry(HistorySource.ACTION, 4, 90.0, "ann", "site_change", "a.test", {"changes": SITE_CHANGES}),
    HistoryEntry(HistorySource.ACTION, 5, 80.0, "ann", "account_roles", "bob", ROLE_CHANGE),
    HistoryEntry(HistorySource.REVIEW, 7, 60.0, "", "decide", "页岩气, 钻井", {}, is_undone=True),
    HistoryEntry(HistorySource.ACTION, 1, 30.0, "ann", "a_code_of_tomorrow", "x"),
    HistoryEntry(HistorySource.ACTION, 0, 10.0, "bob", "setting_change", "alerts.webhook"),
]


def history(**more: object) -> FakeActions:
    return FakeActions(history=FakeHistory(list(ENTRIES), **more))  # type: ignore[arg-type]


def test_all_areas_are_in_one_list() -> None:
    client, _ = signed_in(history())
    found = page_at(client, "/admin/history?lang=en")
    rows = cells(found, "#history")
    assert [row[1] for row in rows] == ["ann", "bob", "ann", "ann", "System", "ann", "bob"]
    assert [row[2] for row in rows][:2] == ["Take page down", "Change setting"] and rows[4][2].endswith("undone")
    assert rows[0][3] == f"{URL}<b>court" and rows[1][3] == "crawl.threads(default) → 4"
    seeds = "crawl.seeds: https://a.test/ → https://a.test/, https://b.test/"
    assert rows[2][3] == f"a.test{seeds}crawl.js: (empty) → On"
    assert found.select("#history a[href='/admin/sites/a.test/settings']")
    assert rows[3][3] == "bobReport viewer → Reviewer, Administrator"
    assert rows[5][2] == "a_code_of_tomorrow"
    assert rows[6][3] == "alerts.webhooksecret value, not recorded; it cannot be undone"
    assert [bool(row.select("form")) for row in found.select("#history tbody tr")] == [True, *[False] * 6]
    assert not page_at(signed_in(history(), Role.REPORTS)[0], "/admin/history").select("#history form")


def test_the_list_is_filtered_and_the_filter_stays() -> None:
    actions = history()
    actions.history.entries *= 40
    client, _ = signed_in(actions)
    query = "account=ann&kind=action.page_takedown&from=2024-05-01&to=2024-05-02"
    found = page_at(client, f"/admin/history?{query}")
    start = time.mktime((2024, 5, 1, 0, 0, 0, 0, 0, -1))
    end = time.mktime((2024, 5, 3, 0, 0, 0, 0, 0, -1))
    wanted = HistoryFilter("ann", HistorySource.ACTION, "page_takedown", start, end)
    assert actions.history.wanted == [wanted]
    assert [option["value"] for option in found.select("option[selected]")] == ["ann", "action.page_takedown"]
    assert [field["value"] for field in found.select("input[type=date]")] == ["2024-05-01", "2024-05-02"]
    page_at(client, str(found.select("a[rel=next]")[0]["href"]))
    assert actions.history.wanted[1] == wanted


@pytest.mark.parametrize(
    "query",
    ["kind=x", "kind=x.y&from=x&to=9999-12-31", "page=0", "page=99999999", "page=-1", "from=0001-01-01"],
)
def test_an_invalid_filter_is_none(query: str) -> None:
    actions = history()
    page_at(signed_in(actions)[0], f"/admin/history?{query}")
    assert actions.history.wanted == [HistoryFilter()]


def test_undo_calls_the_area_of_the_entry() -> None:
    actions = history()
    client, token = signed_in(actions)
    for entry, shown in (("3", "操作已撤销。"), ("99", "未作改动")):
        sent = {"source": "action", "entry": entry, "token": token}
        assert client.post("/admin/history/undo", data=sent).status_code == 303
        assert shown in text(page_at(client, "/admin/history"), "p.note[role=status]")
    assert actions.history.undone == [(HistorySource.ACTION, 3, "someone"), (HistorySource.ACTION, 99, "someone")]
    for sent in ({"source": "x", "entry": "3"}, {"source": "action", "entry": "x"}, {}):
        assert client.post("/admin/history/undo", data={**sent, "token": token}).status_code == 400
    actions.history.error = LexiconError("changed meanwhile")
    client.post("/admin/history/undo", data={"source": "review", "entry": "7", "token": token})
    assert "changed meanwhile" in text(page_at(client, "/admin/history"), "p.note[role=status]")
