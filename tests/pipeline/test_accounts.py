"""`plumb account`, as an operator uses it."""

import os
import pty
import stat
import subprocess
from pathlib import Path

import pytest

from docstore.store import open_sqlite_store
from domain.account import Role
from pipeline.cli.session import terminal_user
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import load_settings
from search_ui.passwords import verify_password
from tests.crash_harness import PLUMB
from tests.plumb_call import call_plumb
from tests.web_fixture import PATIENCE

PASSWORD = "石油 battery staple"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty vertical."""
    (tmp_path / "vertical.toml").write_text("")
    return tmp_path


def account(folder: Path, *arguments: str, typed: str = "") -> tuple[int, str]:
    """Run `plumb account`; return its exit status and its output."""
    said = call_plumb("-c", str(folder / "vertical.toml"), "account", *arguments, typed=typed)
    output = said.out + said.err
    assert PASSWORD not in output
    return said.status, output


def test_the_life_of_an_account(folder: Path) -> None:
    assert account(folder, "add", "Anna", "--role", "reports", typed=f"{PASSWORD}\n") == (
        0,
        "created account anna\n",
    )
    assert account(folder, "role", "anna", "--role", "operator", "--role", "reports")[0] == 0
    assert account(folder, "disable", "ANNA")[0] == 0
    status, listed = account(folder, "list")
    assert status == 0 and all(word in listed for word in ("anna", "reports, operator", "disabled"))
    assert account(folder, "password", "anna", "--temporary", typed="another password\r\n")[0] == 0
    with open_sqlite_store(folder / "data") as store:
        [anna] = store.accounts.list_accounts()
        assert anna.roles == {Role.OPERATOR, Role.REPORTS} and anna.disabled_at is None
        assert verify_password("another password", anna.password_hash) and anna.password_is_temporary
        records = store.operations.find()
        assert [item.name for item in records] == [
            f"account_{name}" for name in ("password", "disable", "roles", "create")
        ]
        assert records[2].before == {"name": "anna", "role": ["reports"]}
        assert records[2].after["role"] == ["reports", "operator"] and records[0].account == terminal_user()
    assert PASSWORD not in (folder / "data" / "logs" / "plumb.log").read_text()


@pytest.mark.parametrize(
    ("arguments", "typed", "status", "said"),
    [
        (["add", "b", "--role", "reports"], "", 1, "no password given"),
        (["add", "b", "--role", "reports"], "short\n", 1, "10 to 1,000 characters"),
        (["add", "b c", "--role", "reports"], f"{PASSWORD}\n", 1, "1 to 64 characters"),
        (["add", "b"], f"{PASSWORD}\n", 2, "Missing option '--role'"),
        (["add", "b", "--role", "king"], f"{PASSWORD}\n", 2, "'king' is not one of"),
        (["add", "b", PASSWORD[:2], "--role", "reports"], "", 2, "unexpected extra argument"),
        (["password", "nobody"], f"{PASSWORD}\n", 1, "account 'nobody' does not exist"),
        (["disable", "nobody"], "", 1, "There is no account named nobody"),
        (["role", "nobody", "--role", "reports"], "", 1, "There is no account named nobody"),
    ],
)
def test_what_cannot_be_done_is_said(folder: Path, arguments: list[str], typed: str, status: int, said: str) -> None:
    code, told = account(folder, *arguments, typed=typed)
    assert code == status and said in told and "Traceback" not in told
    assert status == 2 or told.count("\n") == 1
    with open_sqlite_store(folder / "data") as store:
        assert store.accounts.has_no_active_account()


def test_an_account_is_made_once(folder: Path) -> None:
    assert account(folder, "add", "anna", "--role", "reports", typed=f"{PASSWORD}\n")[0] == 0
    code, told = account(folder, "add", "ANNA", "--role", "operator")  # reported before the prompt for a password
    assert code == 1 and "already" in told


@pytest.mark.process
def test_on_a_terminal_the_password_is_asked_for_twice_and_not_shown(folder: Path) -> None:
    main, terminal = pty.openpty()
    command = [PLUMB, "-c", str(folder / "vertical.toml"), "account", "add", "anna", "--role", "operator"]
    running = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    shown = b""
    for password in ("first and wrong", "mistyped wrong", PASSWORD, PASSWORD):
        # The terminal throws away what is typed before the prompt is there, so "Error: ..." must not count as one.
        while not shown.endswith((b"characters): ", b"confirmation: ")):
            shown += os.read(main, 4096)
        os.write(main, password.encode() + b"\n")
        shown += b"\n"
    assert running.wait(PATIENCE) == 0
    os.close(main)
    assert "石油".encode() not in shown and b"do not match" in shown
    with open_sqlite_store(folder / "data") as store:
        assert verify_password(PASSWORD, store.accounts.list_accounts()[0].password_hash)


def test_nobody_else_reads_the_store(tmp_path: Path) -> None:
    config = tmp_path / "vertical.toml"
    config.write_text('[[sites]]\nurls = ["http://a.test/"]\n')
    settings = load_settings(config)
    old_mask = os.umask(0)
    try:
        for mode in (None, 0o644, 0o660):  # a new one, an earlier program's, one that a group shares
            if mode is not None:
                (settings.data_dir / "store.db").chmod(mode)
            with Engine(settings, NullProgress()) as engine:
                engine.store.lexicons.status_counts()
                files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in settings.data_dir.glob("store.db*")}
            assert files and not any(found & stat.S_IRWXO for found in files.values()), files
    finally:
        os.umask(old_mask)
