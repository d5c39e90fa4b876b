"""Operations on accounts: create, roles, password, disable and enable, end of sessions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from docstore.accounts import AccountTable, unknown_account_error, validate_roles
from domain.account import Account, Role, normalize_account_name
from domain.errors import AccountError
from domain.message import Message
from domain.operation import Call, Change, Field, Operation

NAME = Field("name", 65, is_required=True)  # longer names are refused
ROLES = Field("role", choices=tuple(Role), is_list=True, is_required=True)


@dataclass(frozen=True)
class AccountOperations:
    """Operations on accounts. They raise AccountError if there is no account with the name.

    Attributes:
        accounts: The accounts.
        session_end: Returns the end of a session that begins now, in epoch seconds.
        keeps_administrator: No operation removes the last active administrator, and nobody removes their own role.
    """

    accounts: AccountTable
    session_end: Callable[[], float]
    keeps_administrator: bool = True

    def declare(self) -> tuple[Operation, ...]:
        """Return the operations. The caller adds `password_hash` and `is_temporary` to the values of the form."""

        def operation(name: str, apply: Callable[[Call], Change | None], message: str = "", **more: Any) -> Operation:
            fields = more.pop("fields", (NAME,))
            return Operation(f"account_{name}", Role.OPERATOR, apply, fields, message=message, **more)

        role_fields = (NAME, ROLES, Field("expected_role", is_list=True))
        roles_saved = Message("The roles of {name} are saved.")
        return (
            operation("create", self._create, fields=(NAME, ROLES)),
            operation("password", self._reset_password),
            operation("roles", self._set_roles, roles_saved, fields=role_fields, inverse="account_roles"),
            operation("disable", self._disable, Message("{name} is disabled."), inverse="account_enable"),
            operation("enable", self._enable, Message("{name} is enabled."), inverse="account_disable"),
            operation("sign_out", self._end_sessions, Message("All sessions of {name} have ended.")),
        )

    def _create(self, call: Call) -> Change:
        password = call.text("password_hash"), _requested_roles(call, "role")
        account = self.accounts.create(call.text("name"), *password, bool(call.values.get("is_temporary")))
        return Change(account.name, {"role": _role_names(account.roles)})

    def _reset_password(self, call: Call) -> Change:
        account = self._load(call)
        values = {"password_hash": call.text("password_hash")}
        enabled = {} if self.keeps_administrator else {"disabled_at": None}
        is_temporary = int(bool(call.values.get("is_temporary")))
        self.accounts.change(account.name, **values, **enabled, password_is_temporary=is_temporary)
        return Change(account.name)

    def _set_roles(self, call: Call) -> Change:
        account, roles = self._load(call), validate_roles(_requested_roles(call, "role"))
        expected = call.expected["role"] if call.expected else call.values.get("expected_role") or account.roles
        if account.roles != frozenset(expected):
            raise AccountError("The roles of {name} have changed meanwhile. Check them again.", name=account.name)
        if Role.OPERATOR not in roles:
            self._check_administrator_remains(call, account)
        self.accounts.set_roles(account.name, roles)
        before = {"name": account.name, "role": _role_names(account.roles)}
        return Change(account.name, {"name": account.name, "role": _role_names(roles)}, before)

    def _disable(self, call: Call) -> Change | None:
        account = self._load(call)
        if call.expected is not None and account.disabled_at is not None:
            return None
        self._check_administrator_remains(call, account)
        self.accounts.disable(account.name)
        self.accounts.end_sessions(account.name, self.session_end())
        return Change(account.name, {"name": account.name}, {"name": account.name})

    def _enable(self, call: Call) -> Change | None:
        account = self._load(call)
        if call.expected is not None and account.disabled_at is None:
            return None
        self.accounts.change(account.name, disabled_at=None)
        return Change(account.name, {"name": account.name}, {"name": account.name})

    def _end_sessions(self, call: Call) -> Change:
        account = self._load(call)
        self.accounts.end_sessions(account.name, self.session_end())
        return Change(account.name)

    def _load(self, call: Call) -> Account:
        account = self.accounts.lock_all().get(normalize_account_name(call.text("name")))
        if account is None:
            raise unknown_account_error(call.text("name"))
        return account

    def _check_administrator_remains(self, call: Call, account: Account) -> None:
        """Raise AccountError if an account must stay an administrator: it is the last one, or that of the caller."""
        if not self.keeps_administrator or not account.has_role(Role.OPERATOR):
            return
        if account.name == normalize_account_name(call.account):
            raise AccountError("You cannot remove your own administrator role or disable your own account.")
        accounts = self.accounts.list_accounts()
        if not any(item.has_role(Role.OPERATOR) for item in accounts if item.name != account.name):
            raise AccountError(
                "{name} is the last administrator. Make another account an administrator first.", name=account.name
            )


def _requested_roles(call: Call, name: str) -> list[Role]:
    return [Role(role) for role in call.values.get(name, ())]


def _role_names(roles: frozenset[Role]) -> list[str]:
    """Return the roles in the order of `Role`, as JSON values."""
    return [role.value for role in Role if role in roles]
