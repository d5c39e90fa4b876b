"""The `plumb account` commands: who may sign in to the search site, and for what.

A password is asked for on a terminal, or read from the first line of standard input; it is never an argument, where
every program on the machine could read it.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from docstore.errors import AccountError
from docstore.roles import Role
from pipeline.cli.console import json_option, out, say_table
from pipeline.cli.grammar import Verbs
from pipeline.cli.shared import opened, settings_of, time_or_none
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from docstore.accounts import Account

ROLES = click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice([role.value for role in Role]),
    help="Role of the account; repeat for more than one.",
)


@click.group(cls=Verbs)
def account() -> None:
    """Manage the accounts of the search site."""


@account.command("add")
@click.argument("name")
@ROLES
@click.pass_context
def add_command(context: click.Context, name: str, roles: tuple[str, ...]) -> None:
    """Create an account; prompts for its password."""
    with opened(settings_of(context)) as engine:
        from docstore.accounts import checked_name, folded_name
        from search_ui.passwords import hash_password

        checked_name(name)
        if engine.store.accounts.find(name):
            raise AccountError(f"account {folded_name(name)} already exists: choose another name")
        made = engine.store.accounts.add(name, hash_password(asked_password()), map(Role, roles))
        say(f"created account {made.name}")


@account.command("password")
@click.argument("name")
@click.pass_context
def password_command(context: click.Context, name: str) -> None:
    """Set a new password. Ends all sessions; enables a disabled account."""
    with opened(settings_of(context)) as engine:
        from docstore.accounts import folded_name
        from search_ui.passwords import hash_password

        if engine.store.accounts.find(name) is None:
            raise AccountError(f"no account {name!r}: see `plumb account list`")
        engine.store.accounts.reset(name, hash_password(asked_password()))
        say(f"changed the password of {folded_name(name)}; all sessions ended")


@account.command("role")
@click.argument("name")
@ROLES
@click.pass_context
def role_command(context: click.Context, name: str, roles: tuple[str, ...]) -> None:
    """Change the roles of an account. Ends all its sessions."""
    with opened(settings_of(context)) as engine:
        from docstore.accounts import folded_name

        engine.store.accounts.set_roles(name, map(Role, roles))
        say(f"account {folded_name(name)} is now {' and '.join(sorted(set(roles)))}; its sessions have ended")


@account.command("disable")
@click.argument("name")
@click.pass_context
def disable_command(context: click.Context, name: str) -> None:
    """Disable an account and end its sessions. `plumb account password` enables it again."""
    with opened(settings_of(context)) as engine:
        from docstore.accounts import folded_name

        engine.store.accounts.disable(name)
        say(f"account {folded_name(name)} is disabled; its sessions have ended")


@account.command("list")
@json_option
@click.pass_context
def list_command(context: click.Context, as_json: bool) -> None:
    """List accounts and their roles."""
    with opened(settings_of(context)) as engine:
        accounts = engine.store.accounts.all()
        say_table(account_rows(accounts), lambda: account_table(accounts), as_json)


def asked_password() -> str:
    """The password that a person types twice, or that another program writes."""
    from search_ui.passwords import LEAST

    if sys.stdin.isatty():
        return str(click.prompt(f"Password (at least {LEAST} characters)", hide_input=True, confirmation_prompt=True))
    line = sys.stdin.readline()
    if not line:
        raise AccountError("no password given: type it at the prompt, or send it on standard input")
    return line.rstrip("\r\n")


def say(text: str) -> None:
    """One line, with nothing in it read as markup."""
    out.print(text, markup=False, highlight=False)


def account_rows(accounts: "Sequence[Account]") -> list[dict[str, Any]]:
    """Accounts as JSON can hold them."""
    return [
        {
            "name": one.name,
            "roles": [role.value for role in Role if role in one.roles],
            "created": local_time(one.created_at),
            "disabled": time_or_none(one.disabled_at),
        }
        for one in accounts
    ]


def account_table(accounts: "Sequence[Account]") -> Table:
    """Accounts, by name."""
    table = Table("account", "roles", "made", "")
    for one in accounts:
        roles = ", ".join(role for role in Role if role in one.roles)
        table.add_row(one.name, roles, local_time(one.created_at), "disabled" if one.disabled_at else "")
    return table
