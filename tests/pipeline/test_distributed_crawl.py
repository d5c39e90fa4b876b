"""A crawl on a cluster says what it waits for, and its workers crawl as the process that started it decides."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crawler import settings as crawl_settings
from crawler.http.render import Renderer
from crawler.schedule.queues import fold_hash
from crawler.workers import fetch_pool
from crawler.workers.host_leases import HOST_LEASE_KIND
from domain.frontier import NewUrl, UrlKind
from domain.page import Page
from pipeline.compute import distributed_crawl
from pipeline.compute.cluster_worker import get_worker
from pipeline.compute.distributed_crawl import (
    crawl_on_cluster,
    describe_lease_wait,
    host_lease_seconds,
    reported_lease_waits,
)
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from tests.web_fixture import PATIENCE, Site, page

HOSTS = ("a.test", "b.test")


class Notes(NullProgress):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, message: str) -> None:
        self.lines.append(message)


def test_hosts_that_wait_for_a_lost_crawler_are_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed_crawl, "LEASE_POLL_SECONDS", 0.01)
    settings, notes = build_settings({}, tmp_path), Notes()
    with Engine(settings, notes) as engine:
        due_before, crawler = time.time() + 1, engine.store.leases.with_holder("crawler")
        engine.store.frontier.add_urls(
            [NewUrl(f"http://{host}/", host, fold_hash(host), 0, UrlKind.SEED, 0.0) for host in HOSTS]
        )
        keys = [str(fold_hash(host)) for host in HOSTS]
        crawler.acquire(HOST_LEASE_KIND, keys[:1], host_lease_seconds(settings))
        assert describe_lease_wait(engine.store, settings, due_before) == ""
        crawler.acquire(HOST_LEASE_KIND, keys[1:], settings.cluster.heartbeat_seconds)
        assert describe_lease_wait(engine.store, settings, due_before).startswith("1 hosts wait until 20")
        with reported_lease_waits(engine, due_before):
            deadline = time.monotonic() + PATIENCE
            while not notes.lines and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.1)
    [line] = notes.lines
    assert line.startswith("crawl: 1 hosts wait until")


class OtherMachine:
    """A compute backend of one worker with its own data folder; opens the store of the vertical."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def map_unordered(self, function: "partial[Any]", items: Iterable[int]) -> Iterator[tuple[int, Any]]:
        settings = replace(function.keywords["settings"], folder=self.folder)
        try:
            for item in items:
                yield item, partial(function, settings=settings)(item)
        finally:
            worker = get_worker(settings)
            worker.heartbeat.close()
            worker.store.close()

    def close(self) -> None:
        pass


def test_workers_render_and_crawl_the_hosts_that_the_starting_process_has_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered_urls: list[str] = []

    class FakeRenderer(Renderer):
        def _import_playwright(self) -> None:
            pass

        def render(self, page: Page) -> Page:
            rendered_urls.append(page.url)
            return page

    monkeypatch.setattr(fetch_pool, "Renderer", FakeRenderer)
    monkeypatch.setattr(crawl_settings, "find_spec", lambda _: object())
    with Site({"/": page("/news/1"), "/news/1": page()}) as scripted:
        settings = build_settings(
            {
                "store": {"url": f"sqlite:///{tmp_path / 'store.db'}"},
                "sites": [{"urls": [scripted.url()], "render": True}],
                "crawl": {
                    "inside_hosts": [scripted.host],
                    "delay": 0.001,
                    "rendered": "auto",
                    "sitemaps": False,
                },
                "cluster": {"crawlers": 1},
            },
            tmp_path / "starting",
        )
        with Engine(settings, NullProgress()) as engine:
            monkeypatch.setattr(engine, "_compute_backend", OtherMachine(tmp_path / "other"))
            crawl_on_cluster(engine, lambda _: None)
            assert scripted.url("/news/1") in {url.url for url in engine.store.frontier.admin.iter_urls()}
    assert set(rendered_urls) >= {scripted.url(), scripted.url("/news/1")}
