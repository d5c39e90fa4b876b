"""Accounts: names, roles, and revocation of sessions."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier

import pytest

from docstore.accounts import AccountTable
from docstore.store import Store
from domain.account import Account, Role
from domain.errors import AccountError
from tests.builders import operate
from tests.conftest import logic_store_url, on_both

store_url = logic_store_url


@pytest.fixture
def accounts(store: Store) -> AccountTable:
    return store.accounts


@on_both
def test_an_account_is_kept_as_it_was_made(store_url: str, tmp_path: Path) -> None:
    with Store(store_url, tmp_path / "warc", clock=lambda: 5.0) as store:
        made = store.accounts.create("Ｌi.Na@example", "hash", [Role.REVIEWER, Role.REPORTS])
        assert made == Account("li.na@example", "hash", frozenset({Role.REPORTS, Role.REVIEWER}), 5.0)
    with Store(store_url, tmp_path / "warc") as store:
        assert store.accounts.find(" LI.NA@EXAMPLE ") == made
        assert store.accounts.list_accounts() == [made]


@on_both
def test_a_name_is_taken_once(accounts: AccountTable) -> None:
    accounts.create("anna", "first", [Role.REPORTS])
    with pytest.raises(AccountError, match="already"):
        accounts.create("Anna", "second", [Role.OPERATOR])
    found = accounts.find("anna")
    assert found is not None and (found.password_hash, found.roles) == ("first", {Role.REPORTS})


@pytest.mark.parametrize("name", ["", " ", "a b", "a\nb", "x" * 65, "<b>", "a\0", "\ud800"], ids=repr)
def test_what_cannot_be_a_name(accounts: AccountTable, name: str) -> None:
    with pytest.raises(AccountError, match="1 to 64"):
        accounts.create(name, "hash", [Role.REPORTS])
    assert accounts.find(name) is None and accounts.list_accounts() == []


def test_a_name_that_is_too_long_is_no_account(accounts: AccountTable) -> None:
    accounts.create("x" * 64, "hash", [Role.REPORTS])
    assert accounts.find("x" * 65) is None
    with pytest.raises(AccountError, match="There is no account named"):
        accounts.disable("x" * 78)
    assert accounts.list_accounts()[0].disabled_at is None


def test_an_account_needs_a_role(accounts: AccountTable) -> None:
    with pytest.raises(AccountError, match="at least one role"):
        accounts.create("anna", "hash", [])
    accounts.create("anna", "hash", [Role.REPORTS])
    with pytest.raises(AccountError):
        accounts.set_roles("anna", [])


@pytest.mark.parametrize(
    ("roles", "may"),
    [
        ({Role.REPORTS}, {Role.REPORTS}),
        ({Role.REVIEWER}, {Role.REVIEWER}),
        ({Role.REPORTS, Role.REVIEWER}, {Role.REPORTS, Role.REVIEWER}),
        ({Role.OPERATOR}, set(Role)),
    ],
    ids=["reports", "reviewer", "both", "operator"],
)
def test_the_operator_may_everything(roles: set[Role], may: set[Role]) -> None:
    assert {role for role in Role if Account("a", "h", frozenset(roles)).has_role(role)} == may
    assert not any(Account("a", "h", frozenset(roles), disabled_at=1.0).has_role(role) for role in Role)


@on_both
def test_changes_and_whom_they_reach(accounts: AccountTable) -> None:
    for name in ("anna", "bert"):
        accounts.create(name, "old", [Role.REPORTS])
    accounts.set_password("ANNA", "new")
    accounts.set_roles("anna", [Role.OPERATOR, Role.REPORTS])
    anna, bert = accounts.list_accounts()
    assert (anna.password_hash, anna.roles) == ("new", {Role.OPERATOR, Role.REPORTS})
    assert (bert.password_hash, bert.roles) == ("old", {Role.REPORTS})


def test_a_disabled_account_is_used_again_only_with_another_password(accounts: AccountTable) -> None:
    accounts.create("anna", "old", [Role.REPORTS])
    assert not accounts.has_no_active_account()
    accounts.disable("anna")
    assert accounts.has_no_active_account()
    with pytest.raises(AccountError):
        accounts.set_password("anna", "by itself")
    accounts.reset_password("anna", "new")
    found = accounts.find("anna")
    assert found is not None and (found.password_hash, found.disabled_at) == ("new", None)


@pytest.mark.parametrize("change", ["set_password", "reset_password", "set_roles", "disable"])
def test_nobody_cannot_be_changed(accounts: AccountTable, change: str) -> None:
    arguments = {"set_password": ["h"], "reset_password": ["h"], "set_roles": [[Role.REPORTS]], "disable": []}[change]
    with pytest.raises(AccountError, match="There is no account named"):
        getattr(accounts, change)("nobody", *arguments)


@on_both
def test_a_session_that_was_ended_is_forgotten_when_it_would_have_ended_by_itself(
    accounts: AccountTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(accounts, "_clock", lambda: now[0])
    accounts.revoke_session("a" * 32, expires_at=2000.0)
    accounts.revoke_session("a" * 32, expires_at=2000.0)
    assert accounts.is_session_revoked("a" * 32, "anna", 2000.0)
    assert not accounts.is_session_revoked("b" * 32, "anna", 2000.0)
    assert not accounts.is_session_revoked("", "anna", 2000.0)
    now[0] = 3000.0
    accounts.revoke_session("b" * 32, expires_at=4000.0)
    assert accounts.is_session_revoked("b" * 32, "anna", 4000.0)
    assert not accounts.is_session_revoked("a" * 32, "anna", 2000.0)


# -- administration


def recorded(store: Store) -> list[tuple[str, str, str]]:
    return [(item.account, item.name, item.subject) for item in reversed(store.operations.find())]


def test_each_change_by_an_administrator_is_recorded(store: Store) -> None:
    operate(store, "account_create", "root", name="Anna", role=["reports"], password_hash="hash")
    operate(store, "account_roles", "root", name="anna", role=["reviewer"], expected_role=["reports"])
    operate(store, "account_password", "root", name="anna", password_hash="new")
    for name in ("disable", "enable", "sign_out"):
        operate(store, f"account_{name}", "root", name="anna")
    found = store.accounts.find("anna")
    assert found is not None and (found.roles, found.password_hash, found.disabled_at) == ({Role.REVIEWER}, "new", None)
    names = ("create", "roles", "password", "disable", "enable", "sign_out")
    assert recorded(store) == [("root", f"account_{name}", "anna") for name in names]


def test_signing_out_ends_older_sessions_of_the_account_only(store: Store) -> None:
    store.accounts.create("anna", "hash", [Role.REPORTS])
    store.accounts.end_sessions("anna", 100.0)
    assert store.accounts.is_session_revoked("a" * 32, "anna", 100.0)
    assert not store.accounts.is_session_revoked("a" * 32, "anna", 101.0)  # started afterwards
    assert not store.accounts.is_session_revoked("a" * 32, "bob", 100.0)
    store.accounts.end_sessions("anna", 200.0)
    assert store.accounts.is_session_revoked("a" * 32, "anna", 101.0)


@pytest.mark.parametrize("actor", ["root", "other"])
def test_the_last_administrator_and_ones_own_role_stay(store: Store, actor: str) -> None:
    for name in ("root", "gone"):
        store.accounts.create(name, "hash", [Role.OPERATOR])
    store.accounts.disable("gone")
    message = "your own" if actor == "root" else "last administrator"
    for name, values in (("roles", {"role": ["reports"]}), ("disable", {})):
        with pytest.raises(AccountError, match=message):
            operate(store, f"account_{name}", actor, name="root", **values)
    operate(store, "account_roles", actor, name="root", role=["operator", "reviewer"])
    assert len(recorded(store)) == 1


def test_changed_roles_are_not_overwritten(store: Store) -> None:
    store.accounts.create("anna", "hash", [Role.REVIEWER])
    with pytest.raises(AccountError, match="have changed"):
        operate(store, "account_roles", "root", name="anna", role=["operator"], expected_role=["reports"])


@on_both
def test_two_administrators_cannot_demote_each_other_at_the_same_time(store: Store) -> None:
    names = ("ann", "bob")
    for name in names:
        store.accounts.create(name, "hash", [Role.OPERATOR])
    for _ in range(10):
        barrier = Barrier(2)

        def demote(actor: str, barrier: Barrier = barrier) -> None:
            barrier.wait()
            with suppress(AccountError):
                [other] = {*names} - {actor}
                operate(store, "account_roles", actor, name=other, role=["reports"], expected_role=["operator"])

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(demote, names))
        operators = [account.name for account in store.accounts.list_accounts() if account.has_role(Role.OPERATOR)]
        assert len(operators) == 1
        for name in {*names} - {*operators}:
            store.accounts.set_roles(name, [Role.OPERATOR])


def test_a_token_is_found_by_its_hash_until_it_is_revoked(store: Store) -> None:
    token_id = store.api_tokens.create("anna", "report", "hash", ["search", "articles"])
    token = store.api_tokens.find_by_hash("hash")
    assert token is not None and (token.token_id, token.scopes) == (token_id, {"search", "articles"})
    store.api_tokens.mark_used(token_id)
    assert [store.api_tokens.revoke(token_id) for _ in range(2)] == [True, False]
    assert store.api_tokens.find_by_hash("hash") is None
    [token] = store.api_tokens.list_all()
    assert token.last_used_at is not None and token.revoked_at is not None
    assert store.integrity.damaged_rows() == {}
