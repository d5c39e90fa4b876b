"""`crawl.rendered = "auto"`: sites whose pages need JavaScript are rendered in all later crawls, others are not."""

import shutil
from pathlib import Path

import pytest

from crawler import settings as crawl_settings
from crawler.crawl_plan import build_crawl_plan
from crawler.settings import CrawlSettings
from crawler.site import Sites
from docstore.frontier.frontier_admin import FrontierAdmin
from domain.outcome import Reason, Stage
from pipeline import stages
from pipeline.alerts.inputs import collect_inputs
from pipeline.crawl_stage.rendered_sites import render_sites_automatically
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import Settings
from pipeline.settings_source import SettingsSource
from tests.local_workers import local_workers
from tests.web_fixture import Answer, Site, page

SHELL = '<!doctype html><title>Harbour</title><body><div id="root"></div><script src="/app.js"></script></body>'
TEXT = "The harbour office opens the northern lock again after the repair of both gates and of the old bridge. " * 8
SCRIPT = f"""document.getElementById("root").innerHTML =
  `<h1>News of the harbour ${{location.pathname}}</h1><p>{TEXT}</p><a href="/news/2">more</a>`;"""
HTML_TYPE = {"Content-Type": "text/html; charset=utf-8"}


def scripted_site() -> Site:
    script = Answer(200, SCRIPT.encode(), {"Content-Type": "text/javascript"})
    return Site(
        {path: Answer(200, SHELL.encode(), HTML_TYPE | {"ETag": '"1"'}) for path in ("/", "/news/1", "/news/2")}
        | {"/app.js": script}
    )


def settings_for(folder: Path, site: Site, rendered: str = "") -> Settings:
    file = folder / "v.toml"
    file.touch()
    source = SettingsSource(file, {"crawl.rendered": rendered})
    if not source.stored("sites"):
        tables = [{"urls": [site.url(), site.url("/news/1")]}]
        crawl = {"inside_hosts": [site.host], "delay": 0.01, "contact": "me@a.test"}
        source.edit(lambda _: {"sites": tables, **{f"crawl.{key}": value for key, value in crawl.items()}})
    return source.load()


def needing_scripts(engine: Engine) -> int:
    return engine.store.status.outcome_counts().get(Stage.EXTRACT, {}).get(Reason.NEEDS_JAVASCRIPT, 0)


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium")
def test_a_site_of_empty_pages_is_rendered_from_the_next_crawl_on(tmp_path: Path) -> None:
    with scripted_site() as site, local_workers():
        with Engine(settings_for(tmp_path, site, "auto"), NullProgress()) as engine:
            stages.crawl(engine)
            stages.extract(engine)
            assert (needing_scripts(engine), engine.store.articles.count()) == (2, 0)
            assert collect_inputs(engine).javascript_pages == {}  # the next crawl repairs it
        with Engine(settings_for(tmp_path, site, "auto"), NullProgress()) as engine:
            stages.crawl(engine)
            stages.extract(engine)
            assert needing_scripts(engine) == 0
            assert {one.article.url for one in engine.store.articles.iter_all()} >= {
                site.url("/news/1"),
                site.url("/news/2"),
            }
        plan = build_crawl_plan(settings_for(tmp_path, site, "auto").crawl)
        assert [scope.host for scope in plan.rendered_sites] == [site.host]


@pytest.mark.parametrize("is_installed", [True, False])
def test_without_the_setting_or_the_extra_an_alert_names_the_site(
    is_installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_settings, "find_spec", lambda _: object() if is_installed else None)
    with (
        scripted_site() as site,
        local_workers(),
        Engine(settings_for(tmp_path, site, [] if is_installed else "auto"), NullProgress()) as engine,
    ):
        for _ in range(2):
            stages.crawl(engine)
            stages.extract(engine)
        assert collect_inputs(engine).javascript_pages == {site.host: 2}
        assert not engine.settings.crawl.sites.for_host(site.host).render


def test_a_crawl_killed_while_it_requests_pages_to_render_requests_them_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_settings, "find_spec", lambda _: object())
    with scripted_site() as site, local_workers():
        with Engine(settings_for(tmp_path, site), NullProgress()) as engine:
            stages.crawl(engine)
            stages.extract(engine)

        def interrupt(*_: object) -> int:
            raise KeyboardInterrupt

        with Engine(settings_for(tmp_path, site, "auto"), NullProgress()) as engine:
            with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
                patched.setattr(FrontierAdmin, "refetch_hosts", interrupt)
                render_sites_automatically(engine)
            render_sites_automatically(engine)
            status_by_url = {row.url: row for row in engine.store.frontier.admin.iter_urls("*")}
            assert [status_by_url[site.url(path)].due_at for path in ("/", "/news/1")] == [0.0, 0.0]
            assert engine.settings.crawl.sites.for_host(site.host).render


def test_a_site_with_text_is_not_rendered_because_of_a_notice_or_one_page(tmp_path: Path) -> None:
    notice = "<noscript>Please enable JavaScript.</noscript><script src=/app.js></script>"
    articles = [f"<h1>News {n} of the harbour</h1><p>{n} {TEXT}</p>{notice}" for n in range(2)]
    paths = {f"/news/{n}": page(text=text) for n, text in enumerate(articles)}
    shell = Answer(200, SHELL.encode(), HTML_TYPE)
    with (
        Site({"/": page(*paths, "/app"), "/app": shell, **paths}) as site,
        local_workers(),
        Engine(settings_for(tmp_path, site), NullProgress()) as engine,
    ):
        stages.crawl(engine)
        stages.extract(engine)
        assert (needing_scripts(engine), engine.store.articles.count()) == (1, 2)
        assert collect_inputs(engine).javascript_pages == {}


def test_with_auto_sites_are_rendered_only_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = CrawlSettings(sites=Sites.parse([{"urls": ["http://a.test/"], "render": True}]), rendered="auto")
    monkeypatch.setattr(crawl_settings, "find_spec", lambda _: object())
    assert len(build_crawl_plan(settings).rendered_sites) == 1
    monkeypatch.setattr(crawl_settings, "find_spec", lambda _: None)
    assert build_crawl_plan(settings).rendered_sites == ()


@pytest.mark.parametrize("problem", ["overridden", "mounted"])
def test_a_file_that_cannot_be_changed_does_not_stop_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(crawl_settings, "find_spec", lambda _: object())
    with scripted_site() as site, local_workers():
        with Engine(settings_for(tmp_path, site), NullProgress()) as engine:
            stages.crawl(engine)
            stages.extract(engine)
        settings = settings_for(tmp_path, site, "auto")
        if problem == "mounted":
            monkeypatch.setattr(Path, "replace", refuse)
        else:
            monkeypatch.setenv("PLUMB_SITES", '[{"urls": ["https://c.test/"]}]')
        with Engine(settings, NullProgress()) as engine:
            render_sites_automatically(engine)
            assert all(row.due_at for row in engine.store.frontier.admin.iter_urls("*"))
