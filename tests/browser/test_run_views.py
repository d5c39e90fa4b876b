"""Runs, alerts and the history of actions in a real browser, on a small vertical without Solr."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from domain.account import Role
from domain.outcome import Reason
from domain.run import LiveRun, RunState, StageRun
from pipeline.alerts.service import evaluate_and_send
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.runs.live_progress import LIVE_PROGRESS_FILE
from pipeline.search_site.serve import SearchSite
from pipeline.settings import build_settings
from tests.browser_fixture import ACCOUNT, PASSWORD_HASH, Vertical, Visit, faults, fill_in, follow, odd_addresses

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIZES = {"wide": (1280, "zh-CN"), "narrow": (390, "en-GB")}


@pytest.fixture(scope="module")
def vertical(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vertical]:
    """Yield a site with four runs, the newest of which failed. Its Solr does not answer."""
    sections = {"search": {"port": 0, "workers": 1}, "index": {"solr_url": "http://127.0.0.1:9/solr"}}
    settings = build_settings(sections, tmp_path_factory.mktemp("runs"))
    with Engine(settings, NullProgress()) as engine:
        engine.store.accounts.create(ACCOUNT, PASSWORD_HASH, [Role.OPERATOR])
        for articles in (50, 50, 50, 30):
            crawl = StageRun("crawl", {Reason.FETCHED: 60, Reason.GONE: 3}, 300.0, started_at=1_800_000_000.0)
            extract = StageRun("extract", {Reason.EXTRACTED: articles}, 60.0)
            engine.store.runs.finish(engine.store.runs.start("run"), [crawl, extract])
        failed = StageRun("crawl", state=RunState.FAILED, error="disk full")
        engine.store.runs.finish(engine.store.runs.start("run"), [failed])
        evaluate_and_send(engine)
        with SearchSite(engine) as site:
            yield Vertical(site.url, site.url, engine, None)  # type: ignore[arg-type]


def open_signed_in(page: Page, address: str) -> Page:
    page.goto(address)
    fill_in(page)
    return page


def check_layout(page: Page, width: int) -> None:
    """Check accessibility, addresses, and that the page is not wider than the window."""
    assert faults(page) == [] and odd_addresses(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("size", SIZES)
def test_from_the_list_of_runs_to_one_run_and_its_neighbours(visit: Visit, size: str) -> None:
    width, locale = SIZES[size]
    page = open_signed_in(visit(403, locale=locale, viewport={"width": width, "height": 800}), "/admin/runs")
    expect(page.locator("#runs tbody tr")).to_have_count(5)
    check_layout(page, width)
    follow(page.locator("#runs a").nth(1))
    expect(page.locator("#stages tbody tr")).to_have_count(2)
    check_layout(page, width)
    follow(page.locator("a[rel=next]"))
    expect(page.locator("#outcome")).to_contain_text("disk full")
    check_layout(page, width)


def test_the_progress_of_a_run_is_refreshed_until_it_ends(visit: Visit, vertical: Vertical) -> None:
    engine = vertical.engine
    file = engine.settings.data_dir / LIVE_PROGRESS_FILE

    def write(count: int) -> None:
        Path(file).write_text(json.dumps(vars(LiveRun(run_id, "crawl", 1.0, 4e9, count, 3000, 42.0, 5, 17))))

    with engine.lock("run"):
        run_id = engine.store.runs.start("run")
        write(1200)
        page = open_signed_in(visit(403), "/admin/")
        expect(page.locator("#live-count")).to_have_text("1,200")
        assert faults(page) == []
        plain = visit(403, java_script_enabled=False)
        open_signed_in(plain, "/admin/runs")
        expect(plain.locator("#live-run noscript a")).to_have_count(1)
        write(1300)
        expect(page.locator("#live-count")).to_have_text("1,300")  # by the script
        follow(plain.locator("#live-run a", has_text="刷新"))
        expect(plain.locator("#live-count")).to_have_text("1,300")
        file.unlink()
        engine.store.runs.finish(run_id, [StageRun("crawl", state=RunState.FAILED, error="disk full")])
    expect(page.locator("#live-run")).to_have_count(0)
    expect(page.locator("#runs tbody tr").first).to_contain_text("disk full")


@pytest.mark.parametrize("size", SIZES)
def test_an_alert_is_muted_and_the_mute_is_undone_in_the_history(visit: Visit, vertical: Vertical, size: str) -> None:
    width, locale = SIZES[size]
    page = open_signed_in(visit(403, locale=locale, viewport={"width": width, "height": 800}), "/admin/alerts")
    expect(page.locator("#open-alerts tbody tr")).to_contain_text("disk full")
    expect(page.locator("#no-channel")).to_be_visible()
    check_layout(page, width)
    page.locator("#open-alerts select").select_option("week")
    follow(page.locator("#open-alerts button"))
    expect(page.locator("#open-alerts tr.is-muted")).to_contain_text(ACCOUNT)
    assert len(vertical.engine.store.alert_mutes.active()) == 1
    page.goto("/admin/history")
    check_layout(page, width)
    newest = page.locator("#history tbody tr").first
    expect(newest).to_contain_text("run_failed")
    follow(newest.locator("button"))
    expect(page.locator("p.note[role=status]")).to_be_visible()
    expect(page.locator("#history tbody tr").nth(1)).to_have_class("undone")
    assert vertical.engine.store.alert_mutes.active() == []
    page.locator("select[name=kind]").select_option("action.alert_unmute")
    follow(page.locator("form.history-filter button"))
    expect(page.locator("#history tbody tr.undone")).to_have_count(0)
    assert "kind=action.alert_unmute" in page.url
