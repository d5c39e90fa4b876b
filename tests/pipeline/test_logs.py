"""The log: the same call sites, lines for people or JSON for machines, no secrets, several processes at once."""

import json
import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.contextvars import bind_contextvars, clear_contextvars

import pipeline.logs
from docstore.store import open_sqlite_store
from domain.errors import PlumblineError
from domain.outcome import Stage, StageReport
from pipeline.alerts.secrets import read_smtp_password
from pipeline.cli.session import open_engine
from pipeline.logs import configure_access_log, configure_logging, create_masker
from pipeline.progress import JsonLineProgress
from pipeline.runs.run_record import RunRecord
from pipeline.settings import build_settings
from search_ui.settings import SearchSettings
from tests.site_fixture import site_app

log = logging.getLogger("tests.logs")


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    clear_contextvars()  # a run that fails in another test stays named
    yield
    for one in (*root.handlers, *logging.getLogger("search_ui.admin.access_log").handlers):
        if one not in before:
            one.close()
    logging.getLogger("search_ui.admin.access_log").handlers[:] = []
    root.handlers[:], root.level = before, level
    clear_contextvars()


def say_it() -> None:
    log.warning("could not reach %s", "https://u:hunter2@news.example/", extra={"host": "news.example"})
    try:
        raise ValueError("token=abcdef0123456789")
    except ValueError:
        log.exception("unexpected")


def test_lines_for_people(tmp_path: Path) -> None:
    configure_logging(tmp_path / "plumb.log")
    say_it()
    lines = (tmp_path / "plumb.log").read_text().splitlines()
    assert lines[0].endswith("WARNING tests.logs could not reach https://u:***@news.example/ host=news.example"), lines[
        0
    ]
    assert lines[1].endswith("ERROR tests.logs unexpected") and lines[2].startswith("Traceback")
    assert lines[-1] == "ValueError: token=***"


def test_json_lines_for_machines_from_the_same_call_sites(tmp_path: Path) -> None:
    configure_logging(tmp_path / "plumb.log", "json")
    bind_contextvars(run=7, stage="crawl")
    say_it()
    log.info("中文 \x00 \ud800 fine")
    first, second, third = map(json.loads, (tmp_path / "plumb.log").read_text().splitlines())
    assert first | {"timestamp": ""} == {
        "event": "could not reach https://u:***@news.example/", "host": "news.example", "level": "warning",
        "logger": "tests.logs", "run": 7, "stage": "crawl", "timestamp": "",
    }  # fmt: skip
    assert "ValueError: token=***" in second["exception"]
    assert third["event"].startswith("中文")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql+psycopg://plumb:s3cr:et@host/name", "postgresql+psycopg://plumb:***@host/name"),
        ("http://solr:abc@127.0.0.1:1/solr?x=1", "http://solr:***@127.0.0.1:1/solr?x=1"),
        ("postgresql+psycopg://plumb:pa@ss@host/name", "postgresql+psycopg://plumb:***@host/name"),
        (
            "postgresql+psycopg://host/v?user=plumb&password=hunter",
            "postgresql+psycopg://host/v?user=plumb&password=***",
        ),
        ("https://TOKEN@host/x", "https://***@host/x"),
        ("password=hunter2 tried", "password=*** tried"),
        ("wrong password: try again", "wrong password: try again"),
        ("Authorization: Basic0123456789abc", "Authorization: ***"),
        ('{"api_key": "0123456789"}', '{"api_key": "***"}'),
        ("the secret of success", "the secret of success"),
        ("https://news.example/a@b", "https://news.example/a@b"),
        ("a token without a name", "a token without a name"),
    ],
)
def test_secrets_are_masked_and_words_are_not(text: str, shown: str) -> None:
    assert create_masker()(text) == shown


def test_libraries_that_log_each_request_are_quiet(tmp_path: Path) -> None:
    configure_logging(tmp_path / "plumb.log")
    for name in ("mcp.server.lowlevel.server", "urllib3.connectionpool", "apscheduler"):
        logging.getLogger(name).info("Processing request")
        logging.getLogger(name).warning("in need of attention")
    assert (tmp_path / "plumb.log").read_text().count("\n") == 3


def test_what_the_environment_keeps_secret_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMB_SMTP_PASSWORD", "open sesame")
    monkeypatch.setenv("PLUMB_ALERTS_WEBHOOK", "https://hooks.example/T0/B0/xyz")
    assert create_masker()("said open sesame to https://hooks.example/T0/B0/xyz") == "said *** to ***"


def test_configured_secrets_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline.logs, "_configured_secrets", set())
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "key of the bucket")
    (tmp_path / "password").write_text("open sesame\n")
    sections = {"alerts": {"webhook": "https://hooks.example/T0/xyz", "smtp_password_file": "password"}}
    settings = build_settings(sections, tmp_path)
    with open_engine(settings):
        read_smtp_password(tmp_path, settings.alerts.smtp_password_file)
        log.info("key of the bucket; open sesame; POST https://hooks.example/T0/xyz; POST /T0/xyz")
    [line] = [line for line in (tmp_path / "data/logs/plumb.log").read_text().splitlines() if "tests.logs" in line]
    assert line.endswith("***; ***; POST ***; POST /***")


def test_a_run_stands_beside_what_is_logged_in_it(tmp_path: Path) -> None:
    configure_logging(tmp_path / "plumb.log", "json")

    def work() -> StageReport:
        log.info("at work")
        return StageReport(Stage.CRAWL)

    with open_sqlite_store(tmp_path) as store, RunRecord(store, "run") as record:
        record.run_stage(Stage.CRAWL, work)
    log.info("after")
    inside, after = map(json.loads, (tmp_path / "plumb.log").read_text().splitlines())
    assert (inside["run"], inside["stage"]) == (1, "crawl") and "run" not in after


WRITES = """
import logging, os, sys
from pathlib import Path
import pipeline.logs
pipeline.logs.MAX_LOG_BYTES, pipeline.logs.LOG_BACKUP_COUNT = 4000, 200
pipeline.logs.configure_logging(Path(sys.argv[1]), "json")
who, *others = sys.argv[2].split()
while others and not os.fork():  # the log is open
    who, *others = others
for n in range(150):
    logging.getLogger("x").info("line", extra={"who": who, "n": n})
if others:
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.process
@pytest.mark.parametrize("names", ["0/1/2/3", "0 1 2 3"], ids=["started", "forked"])
def test_processes_that_write_and_rotate_at_the_same_time_lose_no_line(tmp_path: Path, names: str) -> None:
    path = tmp_path / "plumb.log"
    running = [subprocess.Popen([sys.executable, "-c", WRITES, str(path), who]) for who in names.split("/")]
    assert {one.wait() for one in running} == {0}
    files = list(tmp_path.glob("plumb.log*"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert len(files) > 10 and max(file.stat().st_size for file in files) <= 4000
    assert sorted((one["who"], one["n"]) for one in lines) == sorted((str(w), n) for w in range(4) for n in range(150))


def test_a_log_whose_folder_is_removed_stops_no_work(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "plumb.log"
    path.parent.mkdir()
    configure_logging(path)
    logging.getLogger("crawler").info("before")
    shutil.rmtree(path.parent)
    logging.getLogger("crawler").info("lost")
    path.parent.mkdir()
    logging.getLogger("crawler").info("after")
    assert [line.split()[-1] for line in path.read_text("utf-8").splitlines()] == ["after"]


def test_a_log_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(PlumblineError, match="cannot write the log"):
        configure_logging(tmp_path / "nowhere" / "plumb.log")


def test_the_access_log_says_what_kind_of_page_and_nothing_of_who_or_for_what(tmp_path: Path) -> None:
    configure_access_log(tmp_path / "access.log", "json")
    asking = site_app(settings=SearchSettings(access_log=True)).test_client()
    asking.get("/search?q=geheim", headers={"User-Agent": "somebody"}, environ_base={"REMOTE_ADDR": "192.0.2.7"})
    asking.get("/nowhere/geheim")
    text = (tmp_path / "access.log").read_text()
    first, second = map(json.loads, text.splitlines())
    assert (first["rule"], first["status"], first["method"]) == ("/search", 200, "GET") and first["bytes"] > 100
    assert (second["rule"], second["status"]) == ("", 404)
    assert not any(secret in text for secret in ("geheim", "somebody", "192.0.2.7"))
    site_app().test_client().get("/search?q=x")  # only if it is switched on
    assert (tmp_path / "access.log").read_text() == text


def test_notes_are_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    JsonLineProgress(sys.stderr).note("next run\ndaily")
    said = json.loads(capsys.readouterr().err)
    assert (said["event"], said["level"]) == ("next run\ndaily", "info")


def test_there_is_no_other_way_to_open_the_log() -> None:
    assert pipeline.logs.LOG_FORMATS == ("text", "json")
