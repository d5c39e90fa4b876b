"""API tokens on a real store: creating and revoking in the browser, and what programs reach with them."""

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from docstore.store import Store
from domain.account import Role
from domain.administration import ApiToken
from search_ui.api_tokens import ApiScope, hash_token
from tests.site_fixture import FakeSearch, MemorySite, document, sign_in, site_app

OTHER_MACHINE = {"REMOTE_ADDR": "192.0.2.1"}
PATH_BY_SCOPE = {
    ApiScope.SEARCH: "/api/v1/search?q=x",
    ApiScope.TERMS: "/admin/lexicon/export/csv",
    ApiScope.METRICS: "/metrics",
}

REVOKE = "/admin/operations/token_revoke"


class Site:
    """A site with an administrator and a reviewer."""

    def __init__(self) -> None:
        backend = MemorySite()
        self.store: Store = backend.store
        search = FakeSearch([document(1, "页岩气", "开发")])
        self.app = site_app(search, backend, roles={"root": Role.OPERATOR, "anna": Role.REVIEWER})

    def signed_in(self, name: str) -> tuple[FlaskClient, str]:
        client = self.app.test_client()
        return client, sign_in(client, name)

    def create(self, account: str = "anna", *scopes: str) -> str:
        """Create a token in the browser and return it."""
        client, form_token = self.signed_in(account)
        fields = {"token": form_token, "name": "report", "scope": [str(scope) for scope in scopes or ["search"]]}
        page = BeautifulSoup(client.post("/admin/tokens/create", data=fields, follow_redirects=True).text, "lxml")
        return page.select("#new-token")[0].text

    def get(self, path: str, token: str, **more: object) -> TestResponse:
        headers = {"Authorization": f"Bearer {token}"}
        return self.app.test_client().get(path, headers=headers, environ_base=OTHER_MACHINE, **more)  # type: ignore[arg-type]

    def only_token(self) -> ApiToken:
        [token] = self.store.api_tokens.list_all()
        return token


@pytest.fixture
def site() -> Site:
    return Site()


def error_code(response: TestResponse) -> str:
    return str(response.json["error"]["code"])  # type: ignore[index]


def test_a_token_is_shown_once_and_stored_as_hash(site: Site) -> None:
    token = site.create()
    assert token.startswith("plumb_") and site.only_token().token_hash == hash_token(token)
    page = site.signed_in("anna")[0].get("/admin/tokens?lang=en").text
    assert token not in page and "report" in page and "Never" in page
    assert site.get("/api/v1/search?q=x", token).status_code == 200
    assert site.only_token().last_used_at is not None
    assert [(item.name, item.account) for item in site.store.operations.find()] == [("token_create", "anna")]


def test_a_reload_of_the_page_with_a_new_token_creates_no_second_one(site: Site) -> None:
    client, form_token = site.signed_in("anna")
    fields = {"token": form_token, "name": "report", "scope": "search"}
    answer = client.post("/admin/tokens/create", data=fields)
    assert answer.status_code == 303 and 'id="new-token"' in client.get(answer.location).text
    assert 'id="new-token"' not in client.get(answer.location).text and site.only_token()


def test_a_revoked_or_unknown_token_gives_401(site: Site) -> None:
    token = site.create()
    client, form_token = site.signed_in("anna")
    sent = {"token": form_token, "id": str(site.only_token().token_id)}
    assert client.post(REVOKE, data=sent).status_code == 303
    for presented_token in (token, "plumb_unknown", ""):
        response = site.get("/api/v1/terms", presented_token)
        assert response.status_code == 401 and error_code(response) == "invalid_token"
        assert response.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert site.store.operations.find()[0].name == "token_revoke"


def test_a_disabled_account_has_no_valid_token(site: Site) -> None:
    token = site.create()
    site.store.accounts.disable("anna")
    assert site.get("/api/v1/suggest?q=x", token).status_code == 401


@pytest.mark.parametrize("scope", ApiScope)
def test_a_token_opens_what_its_scopes_permit(site: Site, scope: ApiScope) -> None:
    token = site.create("root", scope)
    for other, path in PATH_BY_SCOPE.items():
        response = site.get(path, token)
        assert response.status_code == (200 if other is scope else 403), path
        assert other is scope or error_code(response) == "insufficient_scope"
    assert site.get("/admin/accounts", token).status_code == 303  # the login page


def test_a_token_permits_no_more_than_the_roles_of_its_account(site: Site) -> None:
    token = site.create("anna", ApiScope.TERMS, ApiScope.METRICS)
    assert site.only_token().scopes == {ApiScope.TERMS}
    site.store.accounts.set_roles("anna", [Role.REPORTS])
    assert error_code(site.get(PATH_BY_SCOPE[ApiScope.TERMS], token)) == "insufficient_scope"


def test_administrators_see_and_revoke_all_tokens_others_only_their_own(site: Site) -> None:
    site.create("root")
    foreign_id = str(site.only_token().token_id)
    site.create("anna")
    assert site.signed_in("root")[0].get("/admin/tokens").text.count('name="id"') == 2
    client, form_token = site.signed_in("anna")
    assert client.get("/admin/tokens").text.count('name="id"') == 1
    for token_id in (foreign_id, "x"):
        assert client.post(REVOKE, data={"token": form_token, "id": token_id}).status_code == 303
    assert all(token.revoked_at is None for token in site.store.api_tokens.list_all())


def test_a_form_without_name_or_scope_creates_no_token(site: Site) -> None:
    client, form_token = site.signed_in("anna")
    for fields in ({"name": " ", "scope": "search"}, {"name": "x"}, {"name": "x", "scope": "all"}):
        assert client.post("/admin/tokens/create", data={"token": form_token, **fields}).status_code == 422
    assert not site.store.api_tokens.list_all()
