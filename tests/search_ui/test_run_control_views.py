"""Run now, stop, and the progress of a run."""

from dataclasses import replace
from functools import partial

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.account import Role
from domain.errors import PlumblineError
from domain.operation import Call, Change
from domain.run import LiveRun, RunCounts, RunStatus
from tests.builders import page_at
from tests.site_fixture import MemorySite, sign_in, site_app

START, STOP = "/admin/operations/run_start", "/admin/operations/run_stop"


class Runs:
    """Runs that only change a status; `calls` has the accounts that started and stopped them."""

    def __init__(self, problem: str = "", counts: RunCounts | None = None, **status: object) -> None:
        states = {"is_running": False, "can_stop": True, "is_scheduler_running": False, "daily_at": "02:30", **status}
        self.status, self.problem, self.counts = RunStatus(**states), problem, counts or RunCounts()  # type: ignore[arg-type]
        self.calls: list[tuple[str, str]] = []

    def change(self, call: Call, is_running: bool) -> Change:
        if self.problem:
            raise PlumblineError("The run ended at once: {message}", message=self.problem)
        self.calls.append((call.account, "start" if is_running else "stop"))
        self.status = replace(self.status, is_running=is_running)
        return Change("")

    @property
    def services(self) -> dict[str, object]:
        real = MemorySite().administration.operations
        runs = {"run_start": True, "run_stop": False}
        operations = {
            name: replace(real[name], apply=partial(self.change, is_running=flag)) for name, flag in runs.items()
        }
        return {"operations": operations, "run_status": lambda: self.status, "run_counts": lambda: self.counts}


def signed_in(runs: Runs, role: Role = Role.OPERATOR) -> tuple[FlaskClient, str]:
    client = site_app(site=MemorySite(**runs.services), roles={"someone": role}).test_client()  # type: ignore[arg-type]
    return client, sign_in(client, "someone")


def text_of(page: BeautifulSoup, selector: str) -> str:
    element = page.select_one(selector)
    assert element is not None, selector
    return " ".join(element.text.split())


def test_a_run_is_started_and_stopped_from_the_overview() -> None:
    control = Runs()
    client, token = signed_in(control)
    assert page_at(client, "/admin/").select("#run-now") and not page_at(client, "/admin/").select("#stop-run")
    answer = client.post(START, data={"token": token, "back": "/admin/"})
    assert (answer.status_code, answer.location) == (303, "/admin/")
    assert "任务已开始" in text_of(page_at(client, "/admin/"), "p.note[role=status]")
    page = page_at(client, "/admin/")
    assert page.select("#stop-run") and not page.select("#run-now")
    client.post(STOP, data={"token": token})
    assert control.calls == [("someone", "start"), ("someone", "stop")]


def test_the_reason_why_no_run_started_is_shown() -> None:
    client, token = signed_in(Runs(problem="crawl.seeds is empty"))
    client.post(START, data={"token": token})
    assert "crawl.seeds is empty" in text_of(page_at(client, "/admin/run"), "p.note[role=status]")


def test_only_an_operator_starts_and_stops_runs() -> None:
    control = Runs()
    client, token = signed_in(control, Role.REPORTS)
    page = page_at(client, "/admin/run")
    assert not page.select("#run-now, #stop-run")
    for address in (START, STOP):
        assert client.post(address, data={"token": token}).status_code == 403
        assert client.post(address).status_code == 400
    assert control.calls == []


def test_a_run_on_another_machine_has_no_button() -> None:
    page = page_at(signed_in(Runs(is_running=True, can_stop=False))[0], "/admin/")
    assert "另一台机器" in text_of(page, "#run-control") and not page.select("#run-control button")


def test_the_progress_page_waits_for_the_first_run_and_says_why_it_failed() -> None:
    control = Runs(is_starting=True)
    client, _ = signed_in(control)
    page = page_at(client, "/admin/run")
    assert page.select("#progress[data-poll-seconds]") and not page.select("#run-now")
    control.status = replace(control.status, is_starting=False, failure="no seed could be fetched")
    assert "上次任务失败：no seed could be fetched" in text_of(page_at(client, "/admin/run"), "#failure")


@pytest.mark.parametrize("is_running", [True, False])
def test_the_progress_page_updates_itself_only_during_a_run(is_running: bool) -> None:
    control = Runs(is_running=is_running, counts=RunCounts(300, 40, 20, 12))
    page = page_at(signed_in(control)[0], "/admin/run")
    assert bool(page.select("#progress[data-poll-seconds]")) is is_running
    assert not page.select("#failure")
    names = ("known", "saved", "articles", "searchable")
    assert [text_of(page, f"#count-{name}") for name in names] == ["300", "40", "20", "12"]
    assert page.select_one("form.search input[name=q]")


def test_the_progress_page_says_stage_site_count_and_estimate() -> None:
    live = LiveRun(7, "crawl", 100.0, 130.0, 39, 61, 53.0, 2, 0, "slow.example", 25.0)
    site = MemorySite(**Runs(is_running=True).services, live_run=lambda: live)  # type: ignore[arg-type]
    client = site_app(site=site, roles={"someone": Role.OPERATOR}).test_client()
    sign_in(client, "someone")
    said = text_of(page_at(client, "/admin/run?lang=en"), "#live-run")
    assert "in the “Crawl” stage" in said and "39of 61" in said
    assert "about 25 seconds" in said and "slowest site: slow.example" in said


def test_without_a_scheduler_the_overview_says_how_daily_runs_start() -> None:
    page = page_at(signed_in(Runs())[0], "/admin/")
    assert "plumb schedule" in text_of(page, "#scheduler") and "02:30" in text_of(page, "#scheduler")
    page = page_at(signed_in(Runs(is_scheduler_running=True, next_run_at=7200.0))[0], "/admin/")
    assert "下次定时任务：1970-01-01" in text_of(page, "#scheduler")
