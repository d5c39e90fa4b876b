"""The endpoint /metrics: request metrics, store metrics, and access."""

import json
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.parser import text_string_to_metric_families

from docstore.reports.runs import stage_run_from_report
from domain.errors import SolrUnavailableError, StoreError
from domain.outcome import Reason, Stage, StageReport
from domain.run import RunState, StageRun
from pipeline.alerts.rules import ALERT_KINDS
from pipeline.alerts.service import evaluate_and_send
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import EngineSearchClient
from pipeline.search_site.store_metrics import StoreMetrics
from pipeline.settings import build_settings
from search_ui.admin.metrics import SiteMetrics
from search_ui.settings import METRICS_FOLDER_ENV, SearchSettings
from tests.site_fixture import FakeSearch, document, site_app

DEPLOY = Path(__file__).parents[2] / "deploy"
DOCUMENTS = [document(n, "页岩气", "开发") for n in range(3)]


def client(metrics: SiteMetrics | None = None, **settings: object) -> FlaskClient:
    made = SearchSettings(**settings)  # type: ignore[arg-type]
    return site_app(FakeSearch(DOCUMENTS), metrics=metrics or SiteMetrics(), settings=made).test_client()


def figures(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return all samples: value by name and labels. Fails if Prometheus could not parse the text."""
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_searches_are_measured_and_those_without_hits_counted() -> None:
    asking = client()
    asking.get("/search?q=页岩气")
    asking.get("/search?q=nothing-of-this")
    asking.get("/search?q=页岩气 价格")  # shows partial matches
    asking.get("/api/v1/search?q=页岩气")
    asking.get("/nowhere")
    found = figures(asking.get("/metrics").text)
    assert found["plumbline_search_seconds_count", ()] == 4
    assert found["plumbline_searches_without_hits_total", ()] == 1
    assert found["plumbline_responses_total", (("status", "4xx"),)] == 1
    assert found["plumbline_search_seconds_bucket", (("le", "+Inf"),)] == 4


def test_no_label_holds_what_somebody_typed_however_much_is_asked() -> None:
    asking = client()
    asking.get("/metrics")
    before = len(figures(asking.get("/metrics").text))
    for n in range(50):
        asking.get(f"/search?q=secret{n}&site=s{n}.example&page={n}", headers={"User-Agent": f"agent{n}"})
        asking.get(f"/nowhere/{n}")
    text = asking.get("/metrics").text
    assert "secret" not in text and ".example" not in text and "nowhere" not in text
    assert len(figures(text)) - before <= 4  # a class of status more, and what a counter has beside its value


@pytest.mark.parametrize(
    ("address", "headers", "proxies", "status"),
    [
        ("127.0.0.1", {}, 0, 200),
        ("::1", {}, 0, 200),
        ("192.0.2.1", {}, 0, 403),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.1"}, 0, 403),
        ("127.0.0.1", {"Forwarded": "for=192.0.2.1"}, 0, 403),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.1"}, 1, 403),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 1, 403),
        ("192.0.2.1", {"Authorization": "Bearer t0ken"}, 0, 200),
        ("192.0.2.1", {"Authorization": "Bearer wrong"}, 0, 403),
        ("192.0.2.1", {"Authorization": "Bearer "}, 0, 403),
        ("192.0.2.1", {"Authorization": "Basic t0ken"}, 0, 403),
    ],
)
def test_who_may_see_them(address: str, headers: dict[str, str], proxies: int, status: int) -> None:
    asking = client(SiteMetrics(token="t0ken"), trusted_proxies=proxies)
    answer = asking.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": address})
    assert answer.status_code == status


def test_without_a_token_nobody_elsewhere_sees_them() -> None:
    headers = {"Authorization": "Bearer "}
    assert client().get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": "192.0.2.1"}).status_code == 403


def run_of(engine: Engine, *stages: StageRun) -> None:
    engine.store.runs.finish(engine.store.runs.start("schedule"), stages)


def test_what_the_store_knows(tmp_path: Path) -> None:
    with Engine(build_settings({}, tmp_path), NullProgress()) as engine:
        crawl_counts = {Reason.FETCHED: 7, Reason.GONE: 2, Reason.ROBOTS_FORBIDDEN: 4}
        crawled = stage_run_from_report(StageReport(Stage.CRAWL, crawl_counts))
        run_of(engine, crawled, stage_run_from_report(StageReport(Stage.EXTRACT, {Reason.EXTRACTED: 5})))
        run_of(engine, crawled)
        run_of(engine, StageRun("crawl", state=RunState.FAILED, error="x"))
        evaluate_and_send(engine)
        clock = [0.0]
        stored = StoreMetrics(engine, EngineSearchClient(engine, opens_solr=False), lambda: clock[0])
        asking = client(SiteMetrics(stored))
        found = figures(asking.get("/metrics").text)
        assert found["plumbline_fetches_total", (("outcome", "fetched"),)] == 14
        assert found["plumbline_requested_pages_total", ()] == 18
        assert found["plumbline_extractions_total", (("outcome", "extracted"),)] == 5
        assert found["plumbline_runs_total", (("state", "done"),)] == 2
        assert found["plumbline_runs_total", (("state", "failed"),)] == 1
        assert found["plumbline_alerts_firing", (("kind", "run_failed"),)] == 1
        assert sum(name == "plumbline_alerts_firing" for name, _ in found) == len(ALERT_KINDS)
        assert found["plumbline_last_good_run_timestamp_seconds", ()] > 0
        run_of(engine, crawled)
        fetched = "plumbline_fetches_total", (("outcome", "fetched"),)
        assert figures(asking.get("/metrics").text)[fetched] == 14  # read at most twice a minute
        clock[0] = 31.0
        assert figures(asking.get("/metrics").text)[fetched] == 21


def test_a_store_or_solr_that_does_not_answer_is_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine(build_settings({}, tmp_path), NullProgress()) as engine:

        def gone() -> None:
            raise StoreError("gone")

        def unavailable(_: object) -> None:
            raise SolrUnavailableError("stopped")

        solr, clock = FakeSearch(DOCUMENTS), [0.0]
        asking = client(SiteMetrics(StoreMetrics(engine, solr, lambda: clock[0])))
        found = figures(asking.get("/metrics").text)
        assert (found["plumbline_store_up", ()], found["plumbline_solr_up", ()]) == (1, 1)
        monkeypatch.setattr(engine.store.status, "freshness", gone)
        monkeypatch.setattr(solr, "select", unavailable)
        clock[0] = 31.0
        found = figures(asking.get("/metrics").text)
    assert (found["plumbline_store_up", ()], found["plumbline_solr_up", ()]) == (0, 0)


def test_an_empty_file_of_a_process_that_starts_or_was_killed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = client()
    counted = MmapedDict(str(tmp_path / "counter_1.db"))  # type: ignore[no-untyped-call]
    counted.write_value(mmap_key("plumbline_responses", "plumbline_responses_total", ["status"], ["2xx"], ""), 3, 0)  # type: ignore[no-untyped-call]
    counted.close()  # type: ignore[no-untyped-call]
    (tmp_path / "counter_2.db").touch()
    monkeypatch.setenv(METRICS_FOLDER_ENV, str(tmp_path))
    found = figures(metrics.get("/metrics").text)
    assert found["plumbline_responses_total", (("status", "2xx"),)] == 3


NAMES = re.compile(r"\bplumbline_[a-z_]+\b")


@pytest.mark.parametrize("file", ["grafana-dashboard.json", "prometheus-alerts.yml"])
def test_what_the_examples_name_is_there(file: str, tmp_path: Path) -> None:
    text = (DEPLOY / file).read_text()
    with Engine(build_settings({}, tmp_path), NullProgress()) as engine:
        run_of(engine)
        run_of(engine, StageRun("crawl", state=RunState.FAILED))
        with engine.lock("schedule"):
            asking = client(SiteMetrics(StoreMetrics(engine, EngineSearchClient(engine, opens_solr=False))))
            asking.get("/search?q=x")
            families = list(text_string_to_metric_families(asking.get("/metrics").text))
    known = {one.name for family in families for one in family.samples} | {
        family.name + ("_total" if family.type == "counter" else "") for family in families
    }
    named = set(NAMES.findall(text))
    assert len(named) > 6 and named <= known, named - known


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    panels = board["panels"]
    assert board["title"] and board["schemaVersion"] >= 36 and len({one["id"] for one in panels}) == len(panels)
    assert all(target["expr"] and target["refId"] for one in panels for target in one["targets"])
    assert all(
        {"h", "w", "x", "y"} <= set(one["gridPos"]) and one["gridPos"]["x"] + one["gridPos"]["w"] <= 24
        for one in panels
    )
