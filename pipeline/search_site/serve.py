"""The search site: gunicorn in a process of its own, and a follower that keeps the index in step while it runs."""

import logging
import os
import pickle
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import requests
from flask import Flask

from docstore.errors import (
    BusyError,
    PlumblineError,
    PortInUseError,
    SolrStartingError,
    SolrUnavailableError,
    StoreError,
)
from pipeline import stages
from pipeline.engine import Engine
from pipeline.search_site.actions import StoreSiteBackend
from pipeline.search_site.query_vectors import StoreQueryVectors
from pipeline.search_site.review_service import update_review_order
from pipeline.search_site.store_metrics import StoreMetrics
from pipeline.topic.actions import StoreTopics
from search_ui.admin.metrics import MULTIPROCESS_DIR_ENV, SiteMetrics
from search_ui.app import create_app
from search_ui.query.solr_client import SolrResponse, SolrSearchClient
from search_ui.query.solr_query import Params
from search_ui.search_log import SearchLogWriter

log = logging.getLogger(__name__)

POLL_SECONDS = 0.3
BUSY_RETRY_SECONDS = 2.0  # while another process indexes
ERROR_RETRY_SECONDS = 10.0  # after an error
START_TIMEOUT_SECONDS = 120.0
HEALTH_TIMEOUT_SECONDS = 10.0  # for an answer to whoever asks whether the site is well
STOP_TIMEOUT_SECONDS = 20.0  # for requests under way; whatever still runs then is killed
LISTEN_BACKLOG = 1024  # connections that wait while a worker starts


class EngineSearchClient:
    """The search side of whichever Solr the engine has: one that was killed comes back at another address.

    With `waits` a search opens Solr where nothing has yet; without, it fails at once until something else has.
    """

    def __init__(self, engine: Engine, opens_solr: bool = True) -> None:
        self._engine = engine
        self._opens_solr = opens_solr
        self._client: SolrSearchClient | None = None
        self._url = ""

    def select(self, params: Params) -> SolrResponse:
        """See `search_ui.query.solr_client.SolrBackend`."""
        if not (self._opens_solr or self._engine.has_index):
            if error := self._engine.index_error:
                raise SolrUnavailableError(error)
            raise SolrStartingError("Solr has not answered yet since the site was started")
        url = self._engine.index.base_url
        if self._client is None or url != self._url:
            self._client, self._url = create_search_client(self._engine), url
        return self._client.select(params)


def create_search_client(engine: Engine) -> SolrSearchClient:
    """The search side of the engine's Solr."""
    search_settings = engine.settings.search
    return SolrSearchClient(
        engine.index.base_url, engine.settings.index.collection, search_settings.timeout, search_settings.at_once
    )


def create_search_app(engine: Engine, search_log: SearchLogWriter | None = None, opens_solr: bool = True) -> Flask:
    """The search site on this engine. Close the log after the last request; without one nothing is logged."""
    return create_app(
        engine.settings.search,
        EngineSearchClient(engine, opens_solr),
        StoreSiteBackend(engine),
        engine.store.accounts,
        search_log or SearchLogWriter(engine.store.search_log.save, max_pending=0),
        topic_backend=StoreTopics(engine),
        metrics=SiteMetrics(
            StoreMetrics(engine), load_or_create_metrics_token(engine.settings.data_dir / "metrics.token")
        ),
        query_vectors=StoreQueryVectors(engine),
        secret_key=load_session_key(engine),
    )


def load_or_create_metrics_token(path: Path) -> str:
    """What lets other machines ask for /metrics, made once."""
    return load_or_create_private_text(path, secrets.token_urlsafe)


def load_session_key(engine: Engine) -> bytes:
    """The key that signs sessions: one for all machines that share the store, whichever of them a reader comes to."""
    local_key = load_or_create_secret(engine.settings.data_dir / "session.key")
    return (
        engine.store.ensure_secret("session_key", local_key.decode()).encode() if engine.store.is_shared else local_key
    )


def load_or_create_secret(path: Path) -> bytes:
    """The key that signs sessions, made once."""
    return load_or_create_private_text(path, lambda: secrets.token_hex(32)).encode()


def load_or_create_private_text(path: Path, create: Callable[[], str]) -> str:
    """The text in a file that only its owner may read; made by `create` if there is none."""
    try:
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(create() + "\n")
        return path.read_text().strip()
    except OSError as error:
        raise StoreError(f"cannot read or make {path}: {error.strerror}") from error


class IndexFollowStep:
    """One step of keeping the index in step: revive a Solr that was killed, index what is new, and learn the order of
    review from what was decided. The first step also makes a collection and fills one that has lost documents.
    """

    def __init__(self) -> None:
        self._is_initialized = False

    def __call__(self, engine: Engine) -> None:
        engine.restart_dead_solr()
        if not self._is_initialized or is_index_stale(engine):
            stages.index(engine, wait=0.0)
            self._is_initialized = True
        update_review_order(engine.store)


class IndexFollower:
    """Does `step` three times a second, by default `IndexFollowStep`: what other processes change in the store is indexed.

    Errors are logged and said, one that lasts once, and it goes on after a while. While another process indexes, it
    waits. Use with `with`.
    """

    def __init__(self, engine: Engine, step: Callable[[Engine], object] | None = None) -> None:
        self._engine = engine
        self._step = step or IndexFollowStep()
        self._stop = threading.Event()
        self._last_message = ""
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)

    def __enter__(self) -> "IndexFollower":
        self._thread.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(
            STOP_TIMEOUT_SECONDS * 3 if self._engine.has_index else 0
        )  # nothing is lost by a Solr that starts

    def _follow(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            try:
                self._step(self._engine)
                self._last_message = ""
            except BusyError:
                self._stop.wait(BUSY_RETRY_SECONDS)
            except PlumblineError as error:
                self._report_once(str(error))
                self._stop.wait(ERROR_RETRY_SECONDS)
            except Exception:
                log.exception("the index could not follow")
                self._stop.wait(ERROR_RETRY_SECONDS)

    def _report_once(self, text: str) -> None:
        if text != self._last_message:
            log.warning("the index could not follow: %s", text)
            self._engine.progress.note(f"the index could not follow: {text}")
            self._last_message = text


def is_index_stale(engine: Engine) -> bool:
    """Is there anything the index has not been told?"""
    lexicon = engine.store.lexicons
    return engine.store.change_log.pending_document_count() > 0 or lexicon.latest_version() != lexicon.applied_version()


class SearchSite:
    """The search site on its port. Use with `with`; `wait` returns when it is stopped.

    It answers at once: from what the index has, or, while Solr is still starting, by saying so.

    This process takes the port and holds the follower; gunicorn (web_server.py) answers in another, since its
    workers are forked, and nothing that has a store open or threads may be. Raises PortInUseError.
    """

    def __init__(self, engine: Engine) -> None:
        settings = engine.settings.search
        self._engine = engine
        self._follower = IndexFollower(engine)
        self._socket = open_listening_socket(settings.host, settings.port)
        self._server: subprocess.Popen[bytes] | None = None
        self.url = f"http://{settings.host}:{self._socket.getsockname()[1]}/"

    def __enter__(self) -> "SearchSite":
        self._server = start_server(self._engine, self._socket)
        self._socket.close()  # the server has it now; should that die, nobody is left waiting
        self._follower.__enter__()
        try:
            wait_for_answer(self.url)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def is_healthy(self) -> bool:
        """Does it answer?"""
        with requests.Session() as session:
            session.trust_env = False
            try:
                return session.get(f"{self.url}robots.txt", timeout=HEALTH_TIMEOUT_SECONDS).ok
            except requests.RequestException:
                return False

    def wait(self) -> None:
        """Until Ctrl-C. PlumblineError if the server ends by itself."""
        while self._server is not None:
            try:
                status = self._server.wait(timeout=1)
            except subprocess.TimeoutExpired:
                continue
            raise PlumblineError(
                f"the search site ended by itself (status {status}): see logs/plumb.log, start it anew"
            )

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.terminate()  # it lets requests under way end
        self._follower.__exit__(exc_type, exc, traceback)
        if self._server is not None:
            wait_or_kill(self._server)


def open_listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there; connections wait in it until somebody accepts them."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=LISTEN_BACKLOG)
    except (OSError, ValueError, OverflowError) as error:  # ValueError: a name that cannot be a host's
        raise PortInUseError(
            f"cannot listen on {host}:{port} ({error}): stop the program that does, or set search.host and search.port"
        ) from error


def start_server(engine: Engine, listening_socket: socket.socket) -> "subprocess.Popen[bytes]":
    """gunicorn on this socket. It ends when it is terminated, and when this process dies."""
    metrics_dir = engine.settings.data_dir / "metrics"
    clear_metrics_folder(metrics_dir)
    server = subprocess.Popen(
        [sys.executable, "-m", "pipeline.search_site.gunicorn_app", str(listening_socket.fileno()), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=[listening_socket.fileno()],
        process_group=0,  # a terminal's Ctrl-C is for this process, which then stops the server in good order
        cwd=Path(__file__).parents[2],  # where `pipeline` is found, whatever the caller's folder
        env={**os.environ, MULTIPROCESS_DIR_ENV: str(metrics_dir)},
    )
    assert server.stdin is not None
    with suppress(BrokenPipeError), server.stdin as pipe:  # one that has ended already is told by `wait_for_answer`
        pickle.dump((engine.settings, engine.has_index), pipe)
    return server


def clear_metrics_folder(folder: Path) -> None:
    """A folder without files, for its owner alone: the figures in it begin anew with the site."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in folder.glob("*.db"):
            file.unlink()
    except OSError as error:
        raise StoreError(f"cannot empty {folder}: {error.strerror}") from error


def wait_for_answer(url: str) -> None:
    """Return once the site answers; PlumblineError if its server ends instead, or takes too long."""
    with requests.Session() as session:
        session.trust_env = False  # a proxy meant for the crawl is not meant for ourselves
        try:
            session.get(f"{url}robots.txt", timeout=START_TIMEOUT_SECONDS).raise_for_status()
        except requests.RequestException as error:
            raise PlumblineError(f"the search site did not start ({error}): see logs/plumb.log") from error


def wait_or_kill(server: "subprocess.Popen[bytes]") -> None:
    """Wait for a terminated server; kill it if it takes too long."""
    try:
        server.wait(timeout=STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        log.warning("the search site did not stop in %g s and was killed", STOP_TIMEOUT_SECONDS)
        server.kill()
        server.wait()
