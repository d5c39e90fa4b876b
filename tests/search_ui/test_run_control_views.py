"""Run now, stop, and the progress of a run."""

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.account import Role
from search_ui.admin.interfaces.run_control import RunCounts
from tests.builders import page_at
from tests.search_ui_fakes import FakeAccounts, FakeActions, FakeRunControl, sign_in, site_app


def signed_in(control: FakeRunControl, role: Role = Role.OPERATOR) -> tuple[FlaskClient, str]:
    client = site_app(actions=FakeActions(run_control=control), accounts=FakeAccounts(someone=role)).test_client()
    return client, sign_in(client, "someone")


def text_of(page: BeautifulSoup, selector: str) -> str:
    element = page.select_one(selector)
    assert element is not None, selector
    return " ".join(element.text.split())


def test_a_run_is_started_and_stopped_from_the_overview() -> None:
    control = FakeRunControl()
    client, token = signed_in(control)
    assert page_at(client, "/admin/").select("#run-now") and not page_at(client, "/admin/").select("#stop-run")
    answer = client.post("/admin/run/start", data={"token": token, "back": "overview"})
    assert (answer.status_code, answer.location) == (303, "/admin/")
    assert "任务已开始" in text_of(page_at(client, "/admin/"), "p.note[role=status]")
    page = page_at(client, "/admin/")
    assert page.select("#stop-run") and not page.select("#run-now")
    client.post("/admin/run/stop", data={"token": token})
    assert control.calls == [("start", "someone"), ("stop", "someone")]


def test_the_reason_why_no_run_started_is_shown() -> None:
    client, token = signed_in(FakeRunControl(problem="crawl.seeds is empty"))
    client.post("/admin/run/start", data={"token": token})
    assert "crawl.seeds is empty" in text_of(page_at(client, "/admin/run"), "p.note[role=status]")


def test_only_an_operator_starts_and_stops_runs() -> None:
    control = FakeRunControl()
    client, token = signed_in(control, Role.REPORTS)
    page = page_at(client, "/admin/run")
    assert not page.select("#run-now, #stop-run")
    for address in ("/admin/run/start", "/admin/run/stop"):
        assert client.post(address, data={"token": token}).status_code == 403
        assert client.post(address).status_code == 400
    assert control.calls == []


def test_a_run_on_another_machine_has_no_button() -> None:
    page = page_at(signed_in(FakeRunControl(is_running=True, can_stop=False))[0], "/admin/")
    assert "另一台机器" in text_of(page, "#run-control") and not page.select("#run-control button")


def test_the_progress_page_waits_for_the_first_run_and_says_why_it_failed() -> None:
    control = FakeRunControl(is_starting=True)
    client, _ = signed_in(control)
    page = page_at(client, "/admin/run")
    assert page.select("#progress[data-poll-seconds]") and not page.select("#run-now")
    control.is_starting, control.failure = False, "no seed could be fetched"
    assert "上次任务失败：no seed could be fetched" in text_of(page_at(client, "/admin/run"), "#failure")


@pytest.mark.parametrize("is_running", [True, False])
def test_the_progress_page_updates_itself_only_during_a_run(is_running: bool) -> None:
    control = FakeRunControl(is_running=is_running, run_counts=RunCounts(300, 40, 20, 12))
    page = page_at(signed_in(control)[0], "/admin/run")
    assert bool(page.select("#progress[data-poll-seconds]")) is is_running
    assert not page.select("#failure")
    names = ("known", "saved", "articles", "searchable")
    assert [text_of(page, f"#count-{name}") for name in names] == ["300", "40", "20", "12"]
    assert page.select_one("form.search input[name=q]")


def test_without_a_scheduler_the_overview_says_how_daily_runs_start() -> None:
    page = page_at(signed_in(FakeRunControl())[0], "/admin/")
    assert "plumb schedule" in text_of(page, "#scheduler") and "02:30" in text_of(page, "#scheduler")
    page = page_at(signed_in(FakeRunControl(is_scheduler_running=True))[0], "/admin/")
    assert "下次定时任务：1970-01-01" in text_of(page, "#scheduler")
