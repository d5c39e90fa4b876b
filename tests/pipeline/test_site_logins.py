"""The login of a site is tried, saved, undone and removed; its password is only in its own file."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from crawler.http.login_secrets import SECRETS_FILE, find_secret
from domain.errors import SettingsError, SiteError
from domain.login import Login, LoginKind, LoginStep, LoginTrial
from pipeline.engine import Engine
from pipeline.operations import declare_operations
from pipeline.site_admin import site_logins
from pipeline.site_admin.site_logins import StoreLogins, find_secret_problems
from pipeline.site_admin.sites import StoreSites
from search_ui.admin.site_form import LOGIN_FORM_KEYS, SecretSource
from tests.pipeline.test_site_admin import A, engine, table

__all__ = ["engine"]  # the fixture
SECRET = "s3cret of the portal"
VALUES = dict.fromkeys(LOGIN_FORM_KEYS, "") | {
    "login": "form",
    "login_user": "anna",
    "login_url": "http://a.test/login",
    "login_fields": "name={user}\r\npass={password}\r\n",
}
TABLE = {
    "urls": ["http://a.test/"],
    "login": "form",
    "login_user": "anna",
    "login_url": "http://a.test/login",
    "login_fields": ["name={user}", "pass={password}"],
}
NO_LOGIN = dict.fromkeys(LOGIN_FORM_KEYS, "")


@pytest.fixture
def logins(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreLogins]:
    monkeypatch.delenv("PLUMB_LOGIN_SECRET_A_TEST", raising=False)
    yield StoreLogins(engine, StoreSites(engine))


def run(engine: Engine, values: Mapping[str, str], secret: str = "", **more: object) -> None:
    operation = declare_operations(engine)["site_login"]
    engine.store.operations.run(operation, "anna", {"host": A, "values": values, "secret": secret, **more})


def undo(engine: Engine) -> None:
    operations = engine.store.operations
    [newest] = operations.find(limit=1)
    assert operations.undo(declare_operations(engine), newest.operation_id, "anna")


def test_a_login_is_one_edit_and_its_password_is_only_in_its_own_file(
    engine: Engine, logins: StoreLogins, tmp_path: Path
) -> None:
    run(engine, VALUES, SECRET)
    assert table(engine, A) == TABLE
    file = tmp_path / SECRETS_FILE
    assert find_secret(tmp_path, A) == SECRET and file.stat().st_mode & 0o077 == 0
    login = logins.load(A)
    assert login.secret_source is SecretSource.FILE and login.page_url == "http://a.test/"
    assert login.values == VALUES | {"login_fields": "name={user}\npass={password}"}
    [record] = engine.store.operations.find()
    assert record.name == "site_login" and record.after["changes"]["login"] == [None, "form"]
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != file]
    assert files and not [path for path in files if SECRET.encode() in path.read_bytes()]
    run(engine, VALUES)
    assert find_secret(tmp_path, A) == SECRET  # an empty field keeps it
    run(engine, VALUES, removes_secret=True)
    assert logins.load(A).secret_source is SecretSource.NONE
    assert len(engine.store.operations.find()) == 1


def test_without_its_login_a_site_does_not_become_public(engine: Engine, logins: StoreLogins, tmp_path: Path) -> None:
    run(engine, VALUES, SECRET)
    run(engine, NO_LOGIN)
    assert table(engine, A) == {"urls": ["http://a.test/"], "readers": "signed-in"}
    assert find_secret(tmp_path, A) == ""
    undo(engine)
    assert table(engine, A) == TABLE and find_secret(tmp_path, A) == ""


def test_an_undone_login_does_not_make_its_site_public(engine: Engine, logins: StoreLogins) -> None:
    run(engine, VALUES, SECRET)
    undo(engine)
    assert table(engine, A) == {"urls": ["http://a.test/"], "readers": "signed-in"}


def test_a_trial_saves_nothing(
    engine: Engine, logins: StoreLogins, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = []

    def sign_in(host: str, login: Login, secret: str, *_: object) -> LoginTrial:
        calls.append((host, login, secret, _[-1]))
        return LoginTrial(login, None, [LoginStep("GET", "http://a.test/login", 200)])

    monkeypatch.setattr(site_logins, "try_login", sign_in)
    trial = logins.try_login(A, VALUES, SECRET, "http://a.test/paid")
    assert trial.problem is None
    login = Login(LoginKind.FORM, "anna", "http://a.test/login", ("name={user}", "pass={password}"))
    assert calls == [(A, login, SECRET, "http://a.test/paid")]
    assert table(engine, A) == {"urls": ["http://a.test/"]} and not (tmp_path / SECRETS_FILE).exists()
    for values, secret, page, key in (
        (NO_LOGIN, SECRET, "", "login"),
        (VALUES, "", "", "secret"),
        (VALUES | {"login": "magic"}, SECRET, "", "login"),
    ):
        with pytest.raises(SiteError) as raised:
            logins.try_login(A, values, secret, page)
        assert list(raised.value.problems) == [key]
    with pytest.raises(SettingsError, match="control characters"):
        logins.try_login(A, VALUES, "a\r\nX-Header: b", "")


FILE, ENVIRONMENT = SecretSource.FILE, SecretSource.ENVIRONMENT


@pytest.mark.parametrize(("changes", "secret", "source", "key"), [
    ({}, SECRET, SecretSource.NONE, ""),
    ({}, "", SecretSource.NONE, "secret"),
    ({}, "", FILE, ""),
    ({}, SECRET, ENVIRONMENT, "secret"),
    ({"login_fields": f"pass={SECRET}"}, SECRET, SecretSource.NONE, "login_fields"),
    ({"login_url": "https://evil.example/"}, "", FILE, "secret"),
    ({"login_url": "https://evil.example/"}, SECRET, FILE, ""),
    ({"login_url": "https://evil.example/"}, "", ENVIRONMENT, "login_url"),
    ({"login_url": "https://sso.portal.example/in"}, "", FILE, ""),
    ({"login_url": "https://id.other.example/in"}, "", ENVIRONMENT, ""),
    ({"login_url": "http://id.other.example/old"}, "", FILE, "secret"),
    ({"login_url": "http://id.other.example/old"}, "", ENVIRONMENT, "login_url"),
    ({"login_url": "no url"}, "", FILE, "secret"),
])  # fmt: skip
def test_a_saved_password_is_not_sent_to_another_site(
    changes: dict[str, str], secret: str, source: SecretSource, key: str
) -> None:
    problems = find_secret_problems(
        "www.portal.example", VALUES | {"login_url": ""} | changes, secret, source, "https://id.other.example/old"
    )
    assert list(problems) == ([key] if key else [])


def test_the_environment_sets_a_password_that_the_browser_cannot_replace(
    engine: Engine, logins: StoreLogins, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLUMB_LOGIN_SECRET_A_TEST", SECRET)
    assert logins.load(A).secret_source is ENVIRONMENT
    with pytest.raises(SiteError):
        run(engine, VALUES, "another secret")
    assert "login" not in table(engine, A) and not (tmp_path / SECRETS_FILE).exists()
    run(engine, VALUES)
    assert table(engine, A) == TABLE


def test_a_secrets_file_that_others_can_read_is_named_on_the_page(logins: StoreLogins, tmp_path: Path) -> None:
    (tmp_path / SECRETS_FILE).write_text('"a.test" = "x"')
    (tmp_path / SECRETS_FILE).chmod(0o644)
    login = logins.load(A)
    assert "chmod 600" in login.secret_problem and login.secret_source is SecretSource.NONE
    with pytest.raises(SettingsError, match="chmod 600"):
        logins.try_login(A, VALUES, "", "")


def test_a_removed_site_leaves_no_password(engine: Engine, logins: StoreLogins, tmp_path: Path) -> None:
    run(engine, VALUES, SECRET)
    StoreSites(engine).remove(A, "anna")
    assert find_secret(tmp_path, A) == ""
