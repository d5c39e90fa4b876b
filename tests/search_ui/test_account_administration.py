"""The accounts page on a real store: creating, roles, passwords, sessions, and what nobody can do."""

import time

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from docstore.store import Store
from domain.account import Role
from tests.site_fixture import OPERATOR, PASSWORD, PASSWORD_HASH, MemorySite, form_token, sign_in, site_app

ROOT, OTHER = OPERATOR, "anna"


class Site:
    """A site with an administrator, who is signed in, and a reviewer."""

    def __init__(self) -> None:
        backend = MemorySite()
        self.now = time.time()
        self.store: Store = backend.store
        roles = {ROOT: Role.OPERATOR, OTHER: Role.REVIEWER}
        self.app: Flask = site_app(site=backend, roles=roles, clock=lambda: self.now)
        self.client = self.app.test_client()
        self.token = sign_in(self.client)

    def send(self, action: str, **fields: object) -> TestResponse:
        """Send a form that shows a new password, and open the page that it leads to."""
        address = f"/admin/accounts/{action}?lang=en"
        return self.client.post(address, data={"token": self.token, **fields}, follow_redirects=True)

    def operate(self, operation: str, **fields: object) -> str:
        """Send the form of an operation; return the message of the page that it leads to."""
        data = {"token": self.token, "back": "/admin/accounts?lang=en", **fields}
        response = self.client.post(f"/admin/operations/account_{operation}?lang=en", data=data)
        assert response.status_code == 303
        return text(self.client.get(response.location), "p.note[role=status]")

    def signed_in(self, name: str = OTHER) -> FlaskClient:
        client = self.app.test_client()
        sign_in(client, name)
        return client

    def roles(self, name: str = OTHER) -> set[Role]:
        account = self.store.accounts.find(name)
        assert account is not None
        return set(account.roles)


@pytest.fixture
def site() -> Site:
    return Site()


def text(response: TestResponse, selector: str) -> str:
    [found] = BeautifulSoup(response.text, "lxml").select(selector)
    return " ".join(found.text.split())


def test_the_list_shows_every_account_with_its_roles(site: Site) -> None:
    response = site.client.get("/admin/accounts?lang=en")
    assert text(response, "#accounts tbody").startswith(f"{OTHER} Reviewer")
    assert f"{ROOT} Administrator" in text(response, "#accounts tbody")
    assert "publishes the lexicon" in text(response, "#create-account")


def test_a_created_account_signs_in_with_its_temporary_password(site: Site) -> None:
    response = site.send("create", name=" Bea ", role=["reports", "reviewer"])
    assert response.status_code == 200 and response.headers["Cache-Control"] == "no-store"
    password = text(response, "#new-password")
    assert len(password) == 16 and site.roles("bea") == {Role.REPORTS, Role.REVIEWER}
    client = site.app.test_client()
    answer = client.post("/admin/login", data={"token": form_token(client), "name": "bea", "password": password})
    assert answer.status_code == 303
    assert password not in site.client.get("/admin/accounts/account?name=bea").text
    again = site.client.get("/admin/accounts/password")  # a reload shows and changes nothing
    assert again.status_code == 303 and site.store.accounts.find("bea").password_hash


def test_the_owner_of_a_temporary_password_chooses_another_one_first(site: Site) -> None:
    password = text(site.send("password", name=OTHER), "#new-password")
    client = site.app.test_client()
    client.post("/admin/login", data={"token": form_token(client), "name": OTHER, "password": password})
    assert client.get("/admin/lexicon").location == "/admin/account"
    assert client.get("/admin/lexicon?format=json").json["error"]["code"] == "temporary_password"  # type: ignore[index]
    assert "Your password is temporary" in client.get("/admin/account?lang=en").text
    for new_password, status in ((password, 422), ("battery staple", 303)):
        sent = {"token": form_token(client, "/admin/account"), "old": password, "new": new_password}
        response = client.post("/admin/account/password", data={**sent, "again": new_password})
        assert response.status_code == status
    assert client.get("/admin/lexicon").status_code == 200


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "a b", "role": "reports"}, "An account name has 1 to 64 characters"),
        ({"name": "x" * 70, "role": "reports"}, "An account name has 1 to 64 characters"),
        ({"name": OTHER, "role": "reports"}, "already exists"),
        ({"name": "bea"}, "Choose at least one role."),
        ({"name": "bea", "role": "king"}, "Choose at least one role."),
    ],
)
def test_an_account_that_cannot_be_created(site: Site, fields: dict[str, str], message: str) -> None:
    response = site.send("create", **fields)
    assert response.status_code == 422 and message in text(response, "#problem")
    assert len(site.store.accounts.list_accounts()) == 2


def test_changed_roles_end_the_sessions_and_are_not_overwritten(site: Site) -> None:
    client = site.signed_in()
    changed = {"name": OTHER, "role": ["reports"], "expected_role": ["reviewer"]}
    assert "anna" in site.operate("roles", **changed)
    assert site.roles() == {Role.REPORTS}
    assert client.get("/admin/account").status_code == 303
    assert "have changed meanwhile" in site.operate("roles", **changed | {"role": ["operator"]})
    assert site.roles() == {Role.REPORTS}


def test_a_reset_password_replaces_the_old_one(site: Site) -> None:
    client = site.signed_in()
    password = text(site.send("password", name=OTHER), "#new-password")
    assert client.get("/admin/account").status_code == 303
    fields = {"token": form_token(client), "name": OTHER}
    assert client.post("/admin/login", data={**fields, "password": PASSWORD}).status_code == 403
    assert client.post("/admin/login", data={**fields, "password": password}).status_code == 303


def test_signing_out_ends_every_session_and_a_new_one_lasts(site: Site) -> None:
    clients = [site.signed_in(), site.signed_in()]
    site.now += 60
    site.operate("sign_out", name=OTHER)
    assert [client.get("/admin/account").status_code for client in clients] == [303, 303]
    assert site.client.get("/admin/account").status_code == 200
    site.now += 1
    assert site.signed_in().get("/admin/account").status_code == 200


def test_a_disabled_account_is_out_until_it_is_enabled_and_its_old_sessions_stay_ended(site: Site) -> None:
    client = site.signed_in()
    site.now += 60
    site.operate("disable", name=OTHER)
    assert client.get("/admin/account").status_code == 303
    assert "Disabled since" in site.client.get("/admin/accounts/account?name=anna&lang=en").text
    site.operate("enable", name=OTHER)
    assert client.get("/admin/account").status_code == 303
    site.now += 1
    assert site.signed_in().get("/admin/account").status_code == 200


@pytest.mark.parametrize(
    ("action", "fields"), [("roles", {"role": ["reports"], "expected_role": ["operator"]}), ("disable", {})]
)
def test_nobody_removes_their_own_administrator_role(site: Site, action: str, fields: dict[str, object]) -> None:
    site.store.accounts.create("second", PASSWORD_HASH, [Role.OPERATOR])
    assert "your own administrator role" in site.operate(action, name=ROOT, **fields)
    assert site.roles(ROOT) == {Role.OPERATOR} and site.client.get("/admin/accounts").status_code == 200


def test_an_unknown_account_is_not_found(site: Site) -> None:
    assert site.client.get("/admin/accounts/account?name=nobody").status_code == 404
    assert "nobody" in site.operate("disable", name="nobody")
    assert site.send("password", name="nobody").status_code == 422
