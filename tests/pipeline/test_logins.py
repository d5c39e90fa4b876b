"""Logins in a vertical: where secrets are and are not, alerts, and what a run skips."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import pipeline.logs
from benchmarks.members_site import SECRET, MembersSite
from crawler.http.login_secrets import SECRETS_FILE, find_secret, save_secret
from crawler.http.login_state import login_failures
from crawler.site import Sites
from domain.errors import PlumblineError, SiteError
from domain.login import LoginKind
from domain.run import SiteRun
from pipeline import stages
from pipeline.alerts.rules import AlertInputs, SiteInputs, evaluate_rules
from pipeline.cli.session import open_engine
from pipeline.engine import Engine
from pipeline.maintenance.backup import iter_state_files
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from tests.plumb_call import call_plumb

TABLE = {"host": "a.test", "urls": ["https://a.test/"], "login": "basic", "login_user": "ann"}


def vertical(folder: Path, text: str) -> Path:
    file = folder / "vertical.toml"
    file.write_text(text)
    return file


def test_the_command_reads_a_secret_that_is_nowhere_else(tmp_path: Path) -> None:
    file = vertical(tmp_path, '[[sites]]\nurls = ["https://a.test/"]\nlogin = "basic"\n')
    said = call_plumb("-c", str(file), "sites", "login-secret", "a.test", typed=f"{SECRET}\n")
    assert (said.status, said.out.strip(), said.err) == (0, "saved the login secret of a.test", "")
    assert find_secret(tmp_path, "a.test") == SECRET
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and SECRET in path.read_text()] == [
        SECRETS_FILE
    ]
    assert call_plumb("-c", str(file), "sites", "login-secret", "a.test", "--remove").status == 0
    assert not find_secret(tmp_path, "a.test")
    assert call_plumb("-c", str(file), "sites", "login-secret", "b.test", typed="x\n").status == 1
    assert call_plumb("-c", str(file), "sites", "login-secret", "a.test", typed="").status == 1


def test_secrets_are_masked_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline.logs, "_configured_secrets", set())
    monkeypatch.setenv("PLUMB_LOGIN_SECRET_B_TEST", "of the environment")
    save_secret(tmp_path, "a.test", SECRET)
    with open_engine(build_settings({}, tmp_path)):
        logging.getLogger("tests.logins").info("%s; of the environment", SECRET)
    lines = (tmp_path / "data/logs/plumb.log").read_text().splitlines()
    assert [line.endswith("***; ***") for line in lines if "tests.logins" in line] == [True]


def test_a_backup_has_no_secrets(tmp_path: Path) -> None:
    save_secret(tmp_path, "a.test", SECRET)
    (tmp_path / "logins.json").write_text("{}")
    assert [file.name for file in iter_state_files(tmp_path)] == ["logins.json"]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"login": "kerberos"}, "login"),
        ({"login": "form"}, "login_url"),
        ({"login": "client_credentials", "login_url": ""}, "login_url"),
        ({"login_url": "javascript:x"}, "login_url"),
        ({"login_fields": ["no value"]}, "login_fields"),
        ({"login_fields": ["a=b\nc=d"]}, "login_fields"),
        ({"login_user": "a\nb"}, "login_user"),
        ({"login_signed_in_text": 5}, "login_signed_in_text"),
        ({"login_signed_out_text": "a\r\nb"}, "login_signed_out_text"),
    ],
)
def test_an_invalid_login_is_named(changes: Mapping[str, Any], key: str) -> None:
    with pytest.raises(SiteError) as caught:
        Sites.parse([{**TABLE, **changes}])
    assert list(caught.value.problems) == [key]


def test_the_login_of_a_host() -> None:
    tables = [
        {**TABLE, "host": "www.a.test", "urls": ["https://www.a.test/"]},
        {"host": "b.test", "urls": ["https://b.test/"]},
        {"host": "*.c.test", "login": "bearer"},
        {"host": "x.c.test", "urls": ["https://x.c.test/"], "login": "basic"},
    ]
    sites = Sites.parse(tables)
    found = {
        host: sites.login_site(host) for host in ("www.a.test", "a.test", "b.test", "y.c.test", "x.c.test", "c.test")
    }
    assert {host: site and site.host for host, site in found.items()} == {
        "www.a.test": "www.a.test",
        "a.test": "www.a.test",
        "b.test": None,
        "y.c.test": "*.c.test",
        "x.c.test": "x.c.test",
        "c.test": "*.c.test",
    }


def test_a_failed_login_is_one_alert() -> None:
    runs = [SiteRun(1, 0.0, {"needs_login": 9}, {})]
    inputs = AlertInputs(1.0, None, None, [SiteInputs("a.test", runs)], 7, login_failures={"a.test": "refused"})
    assert [(alert.key.kind, alert.message_values["problem"]) for alert in evaluate_rules(inputs)] == [
        ("login_failed", "refused")
    ]


def test_a_refused_site_is_left_alone_by_later_runs_until_its_secret_changes(tmp_path: Path) -> None:
    with MembersSite(LoginKind.FORM) as site:
        urls = [site.url(path) for path in ("/", "/a/1", "/a/2")]
        crawl = {"contact": "me@plumbline.test", "inside_hosts": ["127.0.0.1"], "delay": 0.0}
        raw = {"crawl": crawl, "sites": [{"host": site.host, **site.table(urls=urls)}]}

        def run() -> None:
            with Engine(build_settings(raw, tmp_path), NullProgress()) as engine, suppress(PlumblineError):
                stages.crawl(engine)

        save_secret(tmp_path, site.host, "wrong")
        run()
        assert site.failed == 3
        asked = sum(site.paths.values())
        run()
        assert sum(site.paths.values()) == asked
        assert list(login_failures(tmp_path / "data")) == [site.host]
        save_secret(tmp_path, site.host, site.secret)
        run()
        assert site.sign_ins >= 1 and not login_failures(tmp_path / "data")
