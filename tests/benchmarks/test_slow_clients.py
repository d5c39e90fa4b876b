"""Slow connections are held, and others are answered: the benchmark on a site that searches for nothing."""

import socket
from pathlib import Path

import pytest

from benchmarks.slow_clients import slow_clients
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite
from pipeline.settings import build_settings


@pytest.mark.slow
def test_others_are_answered_while_many_connections_are_slow(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        nobody = f"http://127.0.0.1:{probe.getsockname()[1]}/solr"
    (tmp_path / "data" / "logs").mkdir(parents=True)
    settings = build_settings({"index": {"solr_url": nobody}, "search": {"port": 0}}, tmp_path)
    with Engine(settings, NullProgress()) as engine, SearchSite(engine) as site:
        found = slow_clients(site.url, connections=90, seconds=1.0, paths=["/admin/login", "/robots.txt"])
    assert found["failed"] == 0 and found["answered"] > 0
    assert found["connections"] > 80
    assert found["quiet_p95_ms"] > 0 and found["slow_p95_ms"] > 0
