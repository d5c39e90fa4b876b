"""A real search site on loopback without Solr, and signed-in clients, for the sets of `make bench-admin`."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import requests
from argon2 import PasswordHasher

from domain.account import Role
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import Settings, load_settings

PASSWORD = "correct horse"
TIMEOUT_SECONDS = 120.0
CONFIG = """\
[crawl]
seeds = ["https://site0.example/"]
threads = 4
[search]
port = 0
workers = 1
[index]
solr_url = "http://127.0.0.1:9/solr"
"""


def write_config(folder: Path) -> Settings:
    """Write the settings file of a vertical whose Solr does not answer, and load it."""
    path = folder / "vertical.toml"
    path.write_text(CONFIG, "utf-8")
    return load_settings(path)


@contextmanager
def open_engine(settings: Settings) -> Iterator[Engine]:
    """Open the vertical with one account for each role, named like the role."""
    password_hash = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with Engine(settings, NullProgress()) as engine:
        for role in Role:
            engine.store.accounts.create(role.value, password_hash, [role])
        yield engine


class Client:
    """A browser session at a site; `role` None: not signed in."""

    def __init__(self, url: str, role: Role | None) -> None:
        self._url = url.rstrip("/")
        self._session = requests.Session()
        self._session.trust_env = False  # proxy variables are not for loopback
        self._token = self._read_token("/admin/login")
        if role is not None:
            response = self.send("POST", "/admin/login", {"name": role.value, "password": PASSWORD})
            response.raise_for_status()
            self._token = self._read_token("/admin/account")

    def _read_token(self, path: str) -> str:
        match = re.search(r'name="token" value="([^"]+)"', self.send("GET", path).text)
        if match is None:
            raise RuntimeError(f"{path} has no form token")
        return match[1]

    def send(self, method: str, path: str, form: Mapping[str, str] | None = None) -> requests.Response:
        """Send a request, with the form token of the session for POST. Redirects are not followed."""
        data = {"token": self._token, **(form or {})} if method == "POST" else None
        return self._session.request(
            method, self._url + path, data=data, timeout=TIMEOUT_SECONDS, allow_redirects=False
        )
