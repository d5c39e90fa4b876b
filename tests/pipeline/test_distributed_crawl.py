"""A crawl on a cluster says what it waits for."""

import time
from pathlib import Path

import pytest

from crawler.schedule.queues import fold_hash
from crawler.workers.host_leases import HOST_LEASE_KIND
from domain.frontier import NewUrl, UrlKind
from pipeline.compute import distributed_crawl
from pipeline.compute.distributed_crawl import describe_lease_wait, host_lease_seconds, reported_lease_waits
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from tests.web_fixture import PATIENCE

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
