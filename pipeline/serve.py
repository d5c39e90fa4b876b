"""The search site: Flask behind waitress, and a follower that keeps the index in step while it runs."""

import logging
import os
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from flask import Flask
from waitress import wasyncore
from waitress.server import create_server
from werkzeug.security import generate_password_hash

from docstore.errors import PlumblineError, PortInUseError, StoreError
from pipeline import stages
from pipeline.actions import StoreActions
from pipeline.engine import Engine
from search_ui.app import create_app
from search_ui.ranking import Params
from search_ui.search import Answer, SearchClient

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 1.0
STOP_SECONDS = 0.5
THREADS = 8


class EngineSearch:
    """The search side of whichever Solr the engine has: one that was killed comes back at another address."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._client: SearchClient | None = None
        self._url = ""

    def select(self, params: Params) -> Answer:
        """See `search_ui.search.Search`."""
        url = self._engine.index.base_url
        if self._client is None or url != self._url:
            self._client, self._url = search_client(self._engine), url
        return self._client.select(params)


def search_client(engine: Engine) -> SearchClient:
    """The search side of the engine's Solr."""
    return SearchClient(engine.index.base_url, engine.settings.index.collection, engine.settings.search.timeout)


def search_app(engine: Engine) -> Flask:
    """The search site on this engine."""
    settings, folder = engine.settings.search, engine.settings.data_dir
    return create_app(
        settings,
        EngineSearch(engine),
        StoreActions(engine),
        secret_key=secret(folder / "session.key"),
        admin_password_hash=generate_password_hash(admin_password(folder)),
    )


def admin_password(folder: Path) -> str:
    """The administrator's password: PLUMB_ADMIN_PASSWORD, or one made once and kept in `admin.password`."""
    given = os.environ.get("PLUMB_ADMIN_PASSWORD", "")
    if given:
        return given
    return private_text(folder / "admin.password", lambda: secrets.token_urlsafe(12))


def secret(path: Path) -> bytes:
    """The key that signs sessions, made once."""
    return private_text(path, lambda: secrets.token_hex(32)).encode()


def private_text(path: Path, make: Callable[[], str]) -> str:
    """The text in a file that only its owner may read; made by `make` if there is none."""
    try:
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(make() + "\n")
        return path.read_text().strip()
    except OSError as error:
        raise StoreError(f"cannot read or make {path}: {error.strerror}") from error


class Follower:
    """Indexes what other processes change in the store, within a second or so, and revives a Solr that was killed.

    Use with `with`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)

    def __enter__(self) -> "Follower":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=60)

    def _follow(self) -> None:
        while not self._stop.wait(FOLLOW_SECONDS):
            try:
                self._engine.revive_solr()
                if is_behind(self._engine):
                    stages.index(self._engine)
            except PlumblineError as error:
                log.warning("the index could not follow: %s", error)
                self._stop.wait(10 * FOLLOW_SECONDS)
            except Exception:
                log.exception("the index could not follow")
                self._stop.wait(10 * FOLLOW_SECONDS)


def is_behind(engine: Engine) -> bool:
    """Is there anything the index has not been told?"""
    lexicon = engine.store.lexicon
    return engine.store.changes.count() > 0 or lexicon.latest_version() != lexicon.applied_version()


class SearchSite:
    """The search site on its port. Use with `with`; `wait` returns when it is stopped."""

    def __init__(self, engine: Engine) -> None:
        settings = engine.settings.search
        self._follower = Follower(engine)
        self._sockets: dict[int, object] = {}
        self._stop = threading.Event()
        app = search_app(engine)
        try:
            self._server = create_server(
                app, self._sockets, host=settings.host, port=settings.port, threads=THREADS, ident="plumbline"
            )
        except (OSError, ValueError) as error:  # ValueError: no such host
            raise PortInUseError(
                f"cannot listen on {settings.host}:{settings.port} ({error}): stop the program that does, "
                "or set search.host and search.port"
            ) from error
        self.url = f"http://{settings.host}:{self._server.effective_port}/"
        self._thread = threading.Thread(target=self._serve, name="search site", daemon=True)

    def __enter__(self) -> "SearchSite":
        self._follower.__enter__()
        self._thread.start()
        return self

    def wait(self) -> None:
        """Until Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(timeout=1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._follower.__exit__(kind, error, trace)
        self._stop.set()
        self._thread.join(timeout=10)

    def _serve(self) -> None:
        """Waitress's own loop cannot be ended from another thread without a traceback; this one looks at a flag."""
        while not self._stop.is_set():
            wasyncore.loop(timeout=STOP_SECONDS, map=self._sockets, count=1)
        self._server.task_dispatcher.shutdown()
        self._server.close()
