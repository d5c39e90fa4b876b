"""The page about alerts."""

import time

import pytest
from flask.testing import FlaskClient

from domain.account import Role
from domain.alert import Alert, AlertKey, ChannelTest, EndedAlert
from domain.errors import SettingsError
from domain.message import Message
from domain.operation import Call, Change, Operation, Recording
from tests.builders import mute, page_at
from tests.search_ui.test_admin import cells, signed_in, text
from tests.site_fixture import MemorySite

HOST = "news.example"
STOPPED = Alert(AlertKey("site_stopped", HOST), {"host": HOST, "reason": "timed_out", "n": 3}, 60.0)
FAILED = Alert(AlertKey("run_failed"), {"time": "2024-05-01 02:30", "stage": "crawl", "error": "<b>disk full"}, 120.0)
FORM = {"kind": "site_stopped", "subject": HOST}


def site_with_alerts(**services: object) -> MemorySite:
    site = MemorySite(**services)  # type: ignore[arg-type]
    site.store.alerts.replace_firing([STOPPED, FAILED])
    return site


def post(client: FlaskClient, name: str, token: str, **fields: str) -> int:
    return client.post(
        f"/admin/operations/{name}", data={"token": token, "back": "/admin/alerts", **fields}
    ).status_code


def test_open_muted_and_ended_alerts() -> None:
    site = site_with_alerts(ended_alerts=lambda: [EndedAlert(STOPPED, 3720.0)])
    mute(site.store, FAILED.key, "ann")
    mute(site.store, AlertKey("robots", "x"), "bob", "day")
    site.store.alerts.replace_firing([STOPPED, FAILED])
    found = page_at(signed_in(site, Role.REPORTS)[0], "/admin/alerts?lang=en")
    stopped, failed = sorted(cells(found, "#open-alerts"), key=lambda row: HOST not in row[0])
    assert HOST in stopped[0] and "<b>disk full" in failed[0] and failed[2] == "muted for ever by ann"
    assert text(found, "#silent-mutes li").startswith("robots x muted until")
    assert cells(found, "#ended-alerts")[0][3] == "1 hour"
    assert not found.select("main form")  # reading is all that this role may do
    assert found.select_one("#open-alerts tr.is-muted") is not None


@pytest.mark.parametrize(
    ("role", "page"), [(Role.OPERATOR, "/admin/sites/{}/login"), (Role.REPORTS, "/admin/sites/{}")]
)
def test_an_alert_about_a_login_links_to_the_page_that_cures_it(role: Role, page: str) -> None:
    site, alert = MemorySite(), Alert(AlertKey("needs_login", HOST), {"host": HOST, "n": 3}, 60.0)
    site.store.alerts.replace_firing([alert, STOPPED])
    client, _ = signed_in(site, role)
    links = {
        link.get_text(): link["href"] for link in page_at(client, "/admin/alerts?lang=en").select("#open-alerts th a")
    }
    assert [href for message, href in links.items() if "pages ask for a login" in message] == [page.format(HOST)]
    assert [href for message, href in links.items() if "hardly any page" in message] == [f"/admin/sites/{HOST}"]


def test_an_alert_is_muted_and_unmuted() -> None:
    site = site_with_alerts()
    client, token = signed_in(site)
    for period, days in (("day", 1), ("week", 7), ("ever", None)):
        assert post(client, "alert_mute", token, **FORM, period=period) == 303
        [muted] = site.store.alert_mutes.active()
        assert (muted.key, muted.account, muted.until is None) == (STOPPED.key, "someone", days is None)
        assert days is None or 0 <= time.time() + days * 86_400 - (muted.until or 0) < 600
    assert "已由 someone 永久静音" in text(page_at(client, "/admin/alerts"), "#open-alerts")
    post(client, "alert_unmute", token, **FORM)
    assert site.store.alert_mutes.active() == []


def test_what_does_not_fire_is_not_muted() -> None:
    site = site_with_alerts()
    client, token = signed_in(site)
    post(client, "alert_mute", token, kind="robots", period="ever")
    assert "状态已变化" in text(page_at(client, "/admin/alerts"), "p.note[role=status]")
    for form in ({**FORM, "period": "x"}, {"period": "ever"}, {**FORM, "kind": "k" * 999, "period": "ever"}):
        assert post(client, "alert_mute", token, **form) == 400
    assert site.store.alert_mutes.active() == []


@pytest.mark.parametrize(
    ("tests", "shown"),
    [
        (None, ["尚未设置通知渠道。请在“设置”页设置 alerts.mail_to 或 alerts.webhook。"]),
        (
            [
                ChannelTest("mail", 0.1),
                ChannelTest(
                    "webhook", 0.1, Message("the webhook at {host} returned status {status}", host="<b>", status="500")
                ),
            ],
            ["mail：测试消息已发送。", "webhook：发送失败：<b> 的 webhook 返回状态 500"],
        ),
    ],
)
def test_the_result_of_a_test_message_is_shown(tests: list[ChannelTest] | None, shown: list[str]) -> None:
    def send(_: Call) -> Change:
        if tests is None:
            raise SettingsError("no channel")
        return Change("mail", result=tests)

    operation = Operation("alert_test", Role.OPERATOR, send, recording=Recording.AFTERWARDS)
    site = site_with_alerts(operations={"alert_test": operation}, has_alert_channels=lambda: tests is not None)
    client, token = signed_in(site)
    assert client.post("/admin/alerts/test", data={"token": token}).status_code == 303
    found = page_at(client, "/admin/alerts")
    assert [note.text for note in found.select("p.note[role=status]")] == shown
    assert bool(found.select("#test-message")) == (tests is not None)


def test_the_overview_marks_muted_alerts() -> None:
    site = site_with_alerts()
    mute(site.store, FAILED.key, "ann")
    site.alerts = [STOPPED, FAILED]
    found = page_at(signed_in(site)[0], "/admin/")
    assert ["已静音" in line.text for line in found.select("#alerts li")] == [False, True]
