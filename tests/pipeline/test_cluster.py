"""The same vertical on PostgreSQL and a Dask cluster of real processes makes the same; what is killed costs nothing."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from crawler.schedule.forecast import PACES_STATE
from docstore.schema.base import unpack_column
from domain.errors import SettingsError
from domain.outcome import Reason
from pipeline import stages
from pipeline.compute import dask_backend
from pipeline.compute.cluster_worker import get_worker
from pipeline.compute.dask_backend import ClusterUnavailableError, DaskBackend
from pipeline.compute.extraction_jobs import extract_block_on_worker
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import load_session_key
from pipeline.settings import Settings, build_settings
from tests.builders import keep_page
from tests.cluster_fixture import Cluster
from tests.conftest import empty_database
from tests.scale_web import ScaleWeb
from tests.web_fixture import PATIENCE, refusing_port

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

HOSTS, PAGES = 4, 6
PER_IP = 3
BEAT = 1.0  # seconds; a loaded machine must not miss beats


@pytest.fixture(scope="module")
def web() -> Iterator[ScaleWeb]:
    with ScaleWeb(HOSTS, PAGES, pause=0.01) as running:
        yield running


@pytest.fixture(scope="module")
def databases(postgres_url: str) -> dict[str, str]:
    """The URLs of two empty databases."""
    empty_database(postgres_url)
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS other"))
        connection.execute(text("CREATE DATABASE other"))
    url = engine.url.set(database="other").render_as_string(hide_password=False)
    engine.dispose()
    return {"local": postgres_url, "dask": url}


def settings_for(web: ScaleWeb, url: str, folder: Path, **cluster: Any) -> Settings:
    crawl = {
        "seeds": web.seeds,
        "inside_hosts": web.hosts,
        "delay": 0.01,
        "queue_policy": "host",
        "total_timeout": 5.0,
        "per_ip": PER_IP,
    }
    shared = {"heartbeat_seconds": BEAT, "block": 5, **cluster}
    return build_settings({"embed": {"model": "off"}, "store": {"url": url}, "crawl": crawl, "cluster": shared}, folder)


def kept(url: str) -> dict[str, Any]:
    """The content of a store that must be equal whichever machine did the work."""
    engine = create_engine(url)
    with engine.connect() as connection:
        pages = "SELECT url, p.digest FROM pages p JOIN urls USING (url_id)"
        found = {
            "urls": set(connection.scalars(text("SELECT url FROM urls"))),
            "pages": dict(map(tuple, connection.execute(text(pages)))),
            "articles": {(*map(unpack_column, row[:-1]), row.signature) for row in connection.execute(text(ARTICLES))},
            "outcomes": {tuple(row) for row in connection.execute(text(OUTCOMES))},
            "terms": {tuple(row) for row in connection.execute(text(TERMS))},
        }
    engine.dispose()
    return found


ARTICLES = (
    "SELECT url, doc_id, title, body, blocks, a.digest, published, language, method, signature FROM articles a "
    "JOIN urls USING (url_id)"
)
OUTCOMES = "SELECT url, stage, reason FROM outcomes JOIN urls USING (url_id)"
TERMS = "SELECT text, score, frequency, documents, tags, place FROM terms"


@dataclass(frozen=True)
class Outcome:
    """What all stages but the index make of the web: the counts of each stage, what the store holds, and the hosts
    whose pace the store knows."""

    counts: dict[str, Any]
    stored: dict[str, Any]
    paced_hosts: frozenset[str]


def run_stages(web: ScaleWeb, settings: Settings) -> Outcome:
    """Run them on an empty store; every page is requested once."""
    web.asked.clear()
    web.most_at_once = 0
    with Engine(settings, NullProgress()) as engine:
        counts = {report.stage: report.outcome_counts for report in stages.run(engine, last_stage="lexicon")}
        paced_hosts = frozenset(engine.store.site_state.load(PACES_STATE))
    requests = {url: web.asked[url] for url in web.asked if url in web.urls}
    assert requests == dict.fromkeys(web.urls, 1)
    assert web.most_at_once <= PER_IP
    return Outcome(counts, kept(settings.store.url), paced_hosts)


@pytest.fixture(scope="module")
def local(web: ScaleWeb, databases: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What one machine makes."""
    return run_stages(web, settings_for(web, databases["local"], tmp_path_factory.mktemp("local")))


def test_the_cluster_makes_what_one_machine_makes(
    web: ScaleWeb, databases: dict[str, str], local: Outcome, cluster: Cluster, tmp_path: Path
) -> None:
    shared = {"engine": "dask", "scheduler": cluster.address, "crawlers": 2}
    dask = run_stages(web, settings_for(web, databases["dask"], tmp_path, **shared))
    assert dask.paced_hosts == set(web.hosts)
    assert dask.counts == local.counts
    assert len(local.stored["articles"]) == HOSTS * PAGES
    assert local.stored["terms"]
    for part in local.stored:
        assert dask.stored[part] == local.stored[part], part
    assert web.two_at_a_host == 0


@pytest.mark.exhaustive
@pytest.mark.process
def test_a_killed_worker_costs_nothing(
    web: ScaleWeb, databases: dict[str, str], local: Outcome, cluster: Cluster, tmp_path: Path
) -> None:
    empty_database(databases["dask"])
    shared = {"engine": "dask", "scheduler": cluster.address, "crawlers": 2}
    two_before = web.two_at_a_host
    with Engine(settings_for(web, databases["dask"], tmp_path, **shared), NullProgress()) as engine:
        acknowledged = killed_meanwhile(cluster, databases["dask"], "pages", lambda: stages.crawl(engine))
        assert set(kept(databases["dask"])["pages"]) == web.urls
        assert acknowledged.items() <= times(databases["dask"], "pages").items()
        acknowledged = killed_meanwhile(cluster, databases["dask"], "articles", lambda: stages.extract(engine))
    assert acknowledged.items() <= times(databases["dask"], "articles").items()
    assert kept(databases["dask"])["articles"] == local.stored["articles"]
    assert web.two_at_a_host == two_before


def killed_meanwhile(cluster: Cluster, url: str, table: str, work: Callable[[], object]) -> dict[int, float]:
    """Do `work`, and kill a worker as soon as there is something in a table; what was acknowledged before that."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        while not (found := times(url, table)) and not done.done():
            time.sleep(0.01)
        cluster.kill_worker()
        done.result(PATIENCE)
    return found


def times(url: str, table: str) -> dict[int, float]:
    """When each row of pages or articles was made."""
    column = {"pages": "fetched_at", "articles": "extracted_at"}[table]
    engine = create_engine(url)
    with engine.connect() as connection:
        rows = connection.execute(text(f"SELECT url_id, {column} FROM {table}")).all()
    engine.dispose()
    return {row[0]: row[1] for row in rows}


def test_all_machines_sign_sessions_alike(web: ScaleWeb, postgres_store: str, tmp_path: Path) -> None:
    one, other = (settings_for(web, postgres_store, tmp_path / name) for name in ("one", "other"))
    with Engine(one, NullProgress()) as first, Engine(other, NullProgress()) as second:
        assert load_session_key(first) == load_session_key(second)


def test_a_worker_extracts_with_the_settings_of_the_run(web: ScaleWeb, postgres_store: str, tmp_path: Path) -> None:
    settings, text = settings_for(web, postgres_store, tmp_path), "大庆油田今天宣布，产量创下新高。" * 20
    strict = replace(settings, extract=replace(settings.extract, shortest_body=100_000))
    with Engine(settings, NullProgress()) as engine:
        for n, current in enumerate((settings, strict, settings)):
            page = keep_page(engine.store, f"http://a.test/{n}", f"<title>第{n}号井</title><p>{n}{text}".encode())
            counts = extract_block_on_worker(page.url_id // settings.cluster.block, current)
            assert counts is not None and (Reason.NO_BODY in counts[0]) is (current is strict)
    get_worker(settings).extraction_pools(settings.extract).close()


def test_what_is_wrong_is_said(web: ScaleWeb, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cluster\.scheduler"):
        settings_for(web, "postgresql+psycopg://x/y", tmp_path, engine="dask")
    with pytest.raises(SettingsError, match=r"store\.url"):
        settings_for(web, "", tmp_path, engine="dask", scheduler="tcp://127.0.0.1:1")


def test_the_engine_keeps_order_and_raises(cluster: Cluster) -> None:
    engine = DaskBackend(cluster.address)
    try:
        assert list(engine.map_ordered(abs, range(-9, 9))) == list(map(abs, range(-9, 9)))
        assert sorted(engine.map_unordered(abs, range(-9, 0))) == [(number, -number) for number in range(-9, 0)]
        with pytest.raises(TypeError):
            list(engine.map_unordered(abs, ["x"]))
    finally:
        engine.close()


def test_a_scheduler_without_workers_is_reported_and_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_backend, "WAIT_TIMEOUT_SECONDS", 0.01)
    monkeypatch.setattr(dask_backend, "NO_WORKER_SECONDS", 0.05)
    messages: list[str] = []
    with (
        closing(Cluster(tmp_path, 0)) as restarted,
        closing(DaskBackend(restarted.address, PATIENCE, messages.append)) as engine,
        pytest.raises(ClusterUnavailableError, match="has no worker: start workers"),
    ):
        list(engine.map_unordered(abs, [1]))
    assert [message.partition(": ")[2].partition(";")[0] for message in messages] == ["waiting up to 0.05 s for one"]


def test_nobody_is_there_to_work() -> None:
    with refusing_port() as port:
        engine = DaskBackend(f"tcp://127.0.0.1:{port}", connect_timeout=0.5)
        with pytest.raises(ClusterUnavailableError, match="no Dask scheduler responds"):
            list(engine.map_unordered(abs, [1]))
