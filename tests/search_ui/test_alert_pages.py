"""The page about alerts."""

import pytest

from domain.account import Role
from domain.administration import AlertMute
from domain.alert import Alert, AlertKey
from domain.message import Message
from search_ui.admin.interfaces.alerts import ChannelTest, EndedAlert
from tests.builders import page_at
from tests.search_ui.test_admin import cells, signed_in, text
from tests.search_ui_fakes import FakeActions, FakeAlertAdministration

HOST = "news.example"
STOPPED = Alert(AlertKey("site_stopped", HOST), {"host": HOST, "reason": "timed_out", "n": 3}, 60.0)
FAILED = Alert(AlertKey("run_failed"), {"time": "2024-05-01 02:30", "stage": "crawl", "error": "<b>disk full"}, 120.0)
FORM = {"kind": "site_stopped", "subject": HOST}


def alerts(**more: object) -> FakeActions:
    return FakeActions(alert_administration=FakeAlertAdministration([STOPPED, FAILED], **more))  # type: ignore[arg-type]


def test_open_muted_and_ended_alerts() -> None:
    other = AlertKey("robots", "x")
    mutes = {FAILED.key: AlertMute(FAILED.key, "ann", None), other: AlertMute(other, "bob", 9e9)}
    actions = alerts(muted=mutes, resolved=[EndedAlert(STOPPED, 3720.0)])
    client, _ = signed_in(actions, Role.REPORTS)
    found = page_at(client, "/admin/alerts?lang=en")
    [stopped, failed] = cells(found, "#open-alerts")
    assert HOST in stopped[0] and "<b>disk full" in failed[0] and failed[2] == "muted for ever by ann"
    assert text(found, "#silent-mutes li").startswith("robots x muted until")
    assert cells(found, "#ended-alerts")[0][3] == "1 hour"
    assert not found.select("main form")  # reading is all that this role may do
    assert found.select_one("#open-alerts tr.is-muted") is not None


def test_an_alert_is_muted_and_unmuted() -> None:
    actions = alerts()
    client, token = signed_in(actions, clock=lambda: 1000.0)
    for period, until in (("day", 87_400.0), ("week", 605_800.0), ("ever", None)):
        assert client.post("/admin/alerts/mute", data={**FORM, "period": period, "token": token}).status_code == 303
        assert actions.alert_administration.muted == {STOPPED.key: AlertMute(STOPPED.key, "someone", until)}
    assert "已由 someone 永久静音" in text(page_at(client, "/admin/alerts"), "#open-alerts")
    client.post("/admin/alerts/unmute", data={**FORM, "token": token})
    assert actions.alert_administration.muted == {}


def test_what_does_not_fire_is_not_muted() -> None:
    actions = alerts()
    client, token = signed_in(actions)
    for form in ({}, {"kind": "robots"}, {"kind": "k" * 999, "subject": "\0"}):
        client.post("/admin/alerts/mute", data={**form, "period": "ever", "token": token})
    assert actions.alert_administration.muted == {}
    assert "状态已变化" in text(page_at(client, "/admin/alerts"), "p.note[role=status]")
    assert client.post("/admin/alerts/mute", data={**FORM, "period": "x", "token": token}).status_code == 400


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
    client, token = signed_in(alerts(tests=tests))
    assert client.post("/admin/alerts/test", data={"token": token}).status_code == 303
    found = page_at(client, "/admin/alerts")
    assert [note.text for note in found.select("p.note[role=status]")] == shown
    assert bool(found.select("#test-message")) == (tests is not None)


def test_the_overview_marks_muted_alerts() -> None:
    actions = alerts(muted={FAILED.key: AlertMute(FAILED.key, "ann", None)})
    actions.alerts = [STOPPED, FAILED]
    found = page_at(signed_in(actions)[0], "/admin/")
    assert ["已静音" in line.text for line in found.select("#alerts li")] == [False, True]
