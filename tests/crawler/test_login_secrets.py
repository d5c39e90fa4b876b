"""Secrets of logins: the environment, and a file that only its owner can read."""

from pathlib import Path

import pytest

from crawler.http.login_secrets import SECRETS_FILE, find_secret, save_secret
from domain.errors import SettingsError

NASTY = "a\"b\\c'#=é密𝄞 ]"


def test_a_saved_secret_is_found_replaced_and_removed(tmp_path: Path) -> None:
    assert find_secret(tmp_path, "a.example.com") == ""
    save_secret(tmp_path, "a.example.com", NASTY)
    save_secret(tmp_path, "*.b.example:8080", "second")
    file = tmp_path / SECRETS_FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert find_secret(tmp_path, "a.example.com") == NASTY
    assert find_secret(tmp_path, "*.b.example:8080") == "second"
    save_secret(tmp_path, "a.example.com", "other")
    assert find_secret(tmp_path, "a.example.com") == "other"
    save_secret(tmp_path, "a.example.com", "")
    assert find_secret(tmp_path, "a.example.com") == ""
    assert find_secret(tmp_path, "*.b.example:8080") == "second"


def test_the_environment_overrides_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_secret(tmp_path, "a-b.example.com:8080", "of the file")
    monkeypatch.setenv("PLUMB_LOGIN_SECRET_A_B_EXAMPLE_COM_8080", "of the environment")
    assert find_secret(tmp_path, "a-b.example.com:8080") == "of the environment"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    save_secret(tmp_path, "a.example.com", "open sesame")
    (tmp_path / SECRETS_FILE).chmod(mode)
    with pytest.raises(SettingsError, match="chmod 600") as caught:
        find_secret(tmp_path, "a.example.com")
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b'"a.example.com" = "open sesame', b'"a.example.com" = 5', b"\xffsesame", b"x" * 2_000_000]
)
def test_a_broken_file_is_one_clear_error_without_its_content(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / SECRETS_FILE
    file.touch(0o600)
    file.write_bytes(content)
    with pytest.raises(SettingsError, match=SECRETS_FILE) as caught:
        find_secret(tmp_path, "a.example.com")
    assert "sesame" not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("secret", ["a\nb", "x" * 5000, "nul\0"])
def test_what_is_no_password_is_refused(tmp_path: Path, secret: str) -> None:
    with pytest.raises(SettingsError):
        save_secret(tmp_path, "a.example.com", secret)
    assert not (tmp_path / SECRETS_FILE).exists()
