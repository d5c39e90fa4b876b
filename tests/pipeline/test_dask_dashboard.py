"""Where the operator's page finds Dask's own pages: as set, else as a real scheduler says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from bs4 import BeautifulSoup

from domain.account import Role
from domain.errors import SettingsError
from pipeline.compute.dask_backend import ClusterUnavailableError, connect_client
from pipeline.compute.dask_dashboard import CACHE_SECONDS, DashboardLink, query_dashboard_url
from pipeline.compute.settings import ClusterSettings
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.administration import build_administration
from pipeline.search_site.public_backend import StoreSiteBackend
from pipeline.settings import build_settings
from tests.cluster_fixture import PATIENCE, Cluster
from tests.site_fixture import sign_in, site_app
from tests.web_fixture import refusing_port

PROXY = "https://dask.example.org/status"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler that has pages."""
    running = Cluster(tmp_path_factory.mktemp("shown"), 0, has_dashboard=True)
    try:
        connect_client(running.address, PATIENCE).close()  # it has begun
        yield running.address
    finally:
        running.close()


@pytest.mark.postgres
@pytest.mark.slow
def test_the_operators_page_links_to_what_the_scheduler_says(shown: str, postgres_store: str, tmp_path: Path) -> None:
    for dashboard in ("", PROXY):
        cluster = {"engine": "dask", "scheduler": shown, "dashboard": dashboard}
        settings = build_settings({"store": {"url": postgres_store}, "cluster": cluster}, tmp_path)
        with Engine(settings, NullProgress()) as engine:
            site = StoreSiteBackend(engine)
            site.store, site.administration = engine.store, build_administration(engine, site.review)
            client = site_app(site=site, roles={"someone": Role.OPERATOR}).test_client()
            sign_in(client, "someone")
            [link] = BeautifulSoup(client.get("/admin/").text, "lxml").select("#dashboard a")
        if dashboard:
            assert link["href"] == PROXY
        else:
            assert requests.get(str(link["href"]), timeout=PATIENCE).ok


def test_a_scheduler_that_is_gone_is_no_link() -> None:
    with refusing_port() as port:
        gone = f"tcp://127.0.0.1:{port}"
        with pytest.raises(ClusterUnavailableError):
            query_dashboard_url(gone)
        assert DashboardLink(ClusterSettings("dask", gone)).url() == ""


def test_the_scheduler_is_asked_once_a_minute_and_only_where_that_is_needed() -> None:
    asked: list[str] = []
    now = [0.0]

    def ask(scheduler: str) -> str:
        asked.append(scheduler)
        if len(asked) == 1:
            raise ClusterUnavailableError("not yet")
        return "http://10.0.0.1:8787/status"

    assert DashboardLink(ClusterSettings(dashboard=PROXY), ask).url() == ""
    assert DashboardLink(ClusterSettings("dask", "tcp://a:1", PROXY), ask).url() == PROXY
    one = DashboardLink(ClusterSettings("dask", "tcp://a:1"), ask, lambda: now[0])
    assert asked == []
    assert [one.url(), one.url(), asked] == ["", "", ["tcp://a:1"]]
    now[0] = CACHE_SECONDS
    assert one.url() == one.url() == "http://10.0.0.1:8787/status"
    assert len(asked) == 2


WRONG = [
    "javascript:alert(1)", "//dask.example.org/", "dask.example.org", "ftp://a/", "http://", "http://[",
    "http://a b/",
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_only_what_a_browser_may_open_is_linked(wrong: str, tmp_path: Path) -> None:
    assert DashboardLink(ClusterSettings("dask", "tcp://a:1"), lambda _: wrong).url() == ""
    with pytest.raises(SettingsError, match=r"cluster\.dashboard"):
        build_settings({"cluster": {"dashboard": wrong}}, tmp_path)
