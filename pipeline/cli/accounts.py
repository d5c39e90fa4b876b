"""The `plumb account` commands: manage the accounts of the search site and their roles.

Passwords are read from a prompt on a terminal, otherwise from the first line of standard input. They are never
arguments, because every process on the machine can read the arguments of a command.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from domain.account import Role
from domain.errors import AccountError
from pipeline.cli.config_argument import VerticalGroup
from pipeline.cli.console import json_option, print_line, print_table_or_json
from pipeline.cli.session import format_time_or_none, read_secret, terminal_user, with_engine
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from domain.account import Account
    from pipeline.engine import Engine

role_option = click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice([role.value for role in Role]),
    help="Role of the account; repeat for more than one.",
)
temporary_option = click.option(
    "--temporary",
    "is_temporary",
    is_flag=True,
    help="The owner must choose another password at the next sign-in.",
)


@click.group(cls=VerticalGroup)
def account() -> None:
    """Manage the accounts of the search site."""


@account.command("add")
@click.argument("name")
@role_option
@temporary_option
@with_engine
def add_account(engine: "Engine", name: str, roles: tuple[str, ...], is_temporary: bool) -> None:
    """Create an account; prompts for its password."""
    from docstore.accounts import validate_account_name
    from domain.account import normalize_account_name
    from pipeline.operations import run_command
    from search_ui.passwords import hash_password

    validate_account_name(name)
    if engine.store.accounts.find(name):
        raise AccountError(f"account {normalize_account_name(name)} already exists: choose another name")
    run_command(
        engine, "account_create", terminal_user(),
        name=name, role=roles, password_hash=hash_password(read_password()), is_temporary=is_temporary,
    )  # fmt: skip
    print_line(f"created account {normalize_account_name(name)}")


@account.command("password")
@click.argument("name")
@temporary_option
@with_engine
def change_password(engine: "Engine", name: str, is_temporary: bool) -> None:
    """Set a new password. Ends all sessions; enables a disabled account."""
    from domain.account import normalize_account_name
    from pipeline.operations import run_command
    from search_ui.passwords import hash_password

    if engine.store.accounts.find(name) is None:
        raise AccountError(f"account {name!r} does not exist: `plumb account list` shows all accounts")
    password_hash = hash_password(read_password())
    run_command(
        engine, "account_password", terminal_user(), name=name, password_hash=password_hash, is_temporary=is_temporary
    )
    print_line(f"changed the password of {normalize_account_name(name)}; all sessions ended")


@account.command("role")
@click.argument("name")
@role_option
@with_engine
def change_roles(engine: "Engine", name: str, roles: tuple[str, ...]) -> None:
    """Change the roles of an account. Ends all its sessions."""
    from domain.account import normalize_account_name
    from pipeline.operations import run_command

    run_command(engine, "account_roles", terminal_user(), name=name, role=roles)
    print_line(
        f"account {normalize_account_name(name)} has the roles: {', '.join(sorted(set(roles)))}; all sessions ended"
    )


@account.command("disable")
@click.argument("name")
@with_engine
def disable_account(engine: "Engine", name: str) -> None:
    """Disable an account and end its sessions. `plumb account password` enables it again."""
    from domain.account import normalize_account_name
    from pipeline.operations import run_command

    run_command(engine, "account_disable", terminal_user(), name=name)
    print_line(f"account {normalize_account_name(name)} is disabled; all sessions ended")


@account.command("list")
@json_option
@with_engine
def list_accounts(engine: "Engine", as_json: bool) -> None:
    """List accounts and their roles."""
    accounts = engine.store.accounts.list_accounts()
    print_table_or_json(account_rows(accounts), lambda: account_table(accounts), as_json)


def read_password() -> str:
    """Read a password. Raises SettingsError if standard input is empty."""
    from search_ui.passwords import MIN_PASSWORD_CHARS

    return read_secret(f"Password (at least {MIN_PASSWORD_CHARS} characters)")


def account_rows(accounts: "Sequence[Account]") -> list[dict[str, Any]]:
    """Convert accounts to JSON rows."""
    return [
        {
            "name": account.name,
            "roles": [role.value for role in Role if role in account.roles],
            "created": local_time(account.created_at),
            "disabled": format_time_or_none(account.disabled_at),
        }
        for account in accounts
    ]


def account_table(accounts: "Sequence[Account]") -> Table:
    """Build the table of accounts."""
    table = Table("account", "roles", "created", "")
    for account in accounts:
        roles = ", ".join(role for role in Role if role in account.roles)
        table.add_row(account.name, roles, local_time(account.created_at), "disabled" if account.disabled_at else "")
    return table
