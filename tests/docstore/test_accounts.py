"""Accounts: names, roles, and revocation of sessions."""

from pathlib import Path

import pytest

from docstore.accounts import AccountTable
from docstore.store import Store
from domain.account import Account, Role
from domain.errors import AccountError


@pytest.fixture
def accounts(store: Store) -> AccountTable:
    return store.accounts


def test_an_account_is_kept_as_it_was_made(store_url: str, tmp_path: Path) -> None:
    with Store(store_url, tmp_path / "warc", clock=lambda: 5.0) as store:
        made = store.accounts.create("Ｌi.Na@example", "hash", [Role.REVIEWER, Role.REPORTS])
        assert made == Account("li.na@example", "hash", frozenset({Role.REPORTS, Role.REVIEWER}), 5.0)
    with Store(store_url, tmp_path / "warc") as store:
        assert store.accounts.find(" LI.NA@EXAMPLE ") == made
        assert store.accounts.list_accounts() == [made]


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
    with pytest.raises(AccountError, match="does not exist"):
        accounts.disable("x" * 78)
    assert accounts.list_accounts()[0].disabled_at is None


def test_an_account_needs_a_role(accounts: AccountTable) -> None:
    with pytest.raises(AccountError, match="reports, reviewer, operator"):
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
    with pytest.raises(AccountError, match="does not exist"):
        getattr(accounts, change)("nobody", *arguments)


def test_a_session_that_was_ended_is_forgotten_when_it_would_have_ended_by_itself(
    accounts: AccountTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(accounts, "_clock", lambda: now[0])
    accounts.revoke_session("a" * 32, expires_at=2000.0)
    accounts.revoke_session("a" * 32, expires_at=2000.0)
    assert (
        accounts.is_session_revoked("a" * 32)
        and not accounts.is_session_revoked("b" * 32)
        and not accounts.is_session_revoked("")
    )
    now[0] = 3000.0
    accounts.revoke_session("b" * 32, expires_at=4000.0)
    assert accounts.is_session_revoked("b" * 32) and not accounts.is_session_revoked("a" * 32)
