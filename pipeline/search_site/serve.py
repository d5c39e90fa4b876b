"""The search site: gunicorn in a child process, and a follower that updates the index while the site runs.

This process imports neither Flask nor the site (pipeline/search_site/search_app.py), which only gunicorn needs, and no
dictionary: it only watches the store. What changes the index runs in a process that ends when there is nothing to do.
"""

import logging
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import requests

from crawler.workers.worker_process import Limits, WorkerProcess
from domain.errors import BusyError, PlumblineError, PortInUseError, StoreError
from pipeline.engine import Engine
from pipeline.lexicon_stage.review_order import is_review_order_stale
from pipeline.settings import Settings
from search_ui.settings import METRICS_FOLDER_ENV, format_address

log = logging.getLogger(__name__)

POLL_SECONDS = 0.3
BUSY_RETRY_SECONDS = 2.0  # while another process indexes
ERROR_RETRY_SECONDS = 10.0
RELEASE_AFTER_SECONDS = 5.0  # without changes
UPDATE_LIMITS = Limits(seconds=7 * 86_400.0, megabytes=1 << 20)  # none: a new schema writes the whole index
CHECK_SECONDS = 10.0  # between two comparisons of the index with the store
START_TIMEOUT_SECONDS = 120.0
HEALTH_TIMEOUT_SECONDS = 10.0  # for the response to a health check
HEALTH_CHECKS_PER_WORKER = 4  # successive ones that show that every worker is ready
UNAVAILABLE_TIMEOUT_SECONDS = 5.0  # for a Solr that does not answer although it is not starting
STOP_TIMEOUT_SECONDS = 20.0  # for requests in flight; after it the server is killed
# glibc reserves up to 8 arenas per core for threads, which keep the memory of every request they served. It also raises
# its thresholds with the largest blocks, and then returns none of them.
MEMORY_ENV = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}
LISTEN_BACKLOG = 1024  # connections queued while a worker starts


class IndexFollowStep:
    """One step of the index follower: restart a dead Solr, index changes, and rank the review candidates again.

    The first step also creates the collection. An index that has lost documents, as one whose folder was deleted, is
    filled again. Dictionaries and scikit-learn are loaded by a process that ends after a while without changes.
    """

    def __init__(self) -> None:
        self._is_complete = False
        self._updated_at = self._checked_at = 0.0
        self._process = WorkerProcess(UPDATE_LIMITS)  # starts with the first call

    def __call__(self, engine: Engine) -> None:
        engine.keep_index_open()
        if not self._is_complete or is_index_stale(engine) or is_review_order_stale(engine.store):
            self._process.call(update_index, pickle.dumps(engine.settings))
            self._is_complete, self._updated_at = True, time.monotonic()
        elif self._process.pid and time.monotonic() > self._updated_at + RELEASE_AFTER_SECONDS:
            self.close()
            self._process = WorkerProcess(UPDATE_LIMITS)
        if time.monotonic() > self._checked_at + CHECK_SECONDS:
            self._checked_at, index = time.monotonic(), engine.index
            indexed_count = engine.store.change_log.indexed_document_count()
            self._is_complete = index.has_collection() and index.count() >= indexed_count

    def close(self) -> None:
        """End the process that updates the index."""
        self._process.close()


def update_index(pickled_settings: bytes) -> None:
    """Index all changes, and rank the review candidates if their order is stale. Runs in a process of its own."""
    from pipeline import stages
    from pipeline.lexicon_stage.review_order import update_review_order

    engine = update_engine(pickled_settings)
    engine.keep_index_open()
    stages.index(engine, wait=0.0)
    update_review_order(engine.store)


@cache
def update_engine(pickled_settings: bytes) -> Engine:
    """Return the engine of `update_index`, which its process opens once."""
    from pipeline.cli.session import create_progress

    settings: Settings = pickle.loads(pickled_settings)  # noqa: S301 (bytes from our own process)
    return Engine(settings, create_progress(settings))


class IndexFollower:
    """Calls `step` about every POLL_SECONDS in a thread, so that the index follows changes by other processes.

    The default step is `IndexFollowStep`. An error is logged and reported once until it changes, and the follower
    retries after ERROR_RETRY_SECONDS. While another process indexes, it waits. Use it in a `with` block.
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

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(
            STOP_TIMEOUT_SECONDS * 3 if self._engine.has_index else 0
        )  # a Solr that is still starting need not be waited for
        if isinstance(self._step, IndexFollowStep):
            self._step.close()

    def _follow(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            try:
                self._step(self._engine)
                self._last_message = ""
            except BusyError:
                self._stop.wait(BUSY_RETRY_SECONDS)
            except PlumblineError as error:
                if str(error) != self._last_message:
                    self._last_message = str(error)
                    details = getattr(error, "traceback", error)  # of an exception in the other process
                    log.warning("index update failed, retrying in %g s: %s", ERROR_RETRY_SECONDS, details)
                    self._engine.progress.note(f"index update failed, retrying in {ERROR_RETRY_SECONDS:g} s: {error}")
                self._stop.wait(ERROR_RETRY_SECONDS)
            except Exception:
                log.exception("index update failed, retrying in %g s", ERROR_RETRY_SECONDS)
                self._stop.wait(ERROR_RETRY_SECONDS)


def is_index_stale(engine: Engine) -> bool:
    """True if changes or a lexicon version are not in the index yet."""
    lexicon = engine.store.lexicons
    return engine.store.change_log.pending_document_count() > 0 or lexicon.latest_version() != lexicon.applied_version()


class SearchSite:
    """The search site on its port. Use it in a `with` block; `wait` returns when the site is stopped.

    The site responds immediately: from the index, or, while Solr is still starting, with a notice.

    This process opens the socket and runs the follower. gunicorn (gunicorn_app.py) serves requests in another process,
    because it forks workers, which is not safe with an open store or with threads. Raises PortInUseError.

    Args:
        engine: The open vertical.
        listening_socket: A socket that already listens on the host and port of the settings; by default a new one.
    """

    def __init__(self, engine: Engine, listening_socket: socket.socket | None = None) -> None:
        settings = engine.settings.search
        self._engine = engine
        self._follower = IndexFollower(engine)
        self._socket = listening_socket or open_listening_socket(settings.host, settings.port)
        self._server: subprocess.Popen[bytes] | None = None
        self.url = f"http://{format_address(settings.host, self._socket.getsockname()[1])}/"

    def __enter__(self) -> "SearchSite":
        self._server = start_server(self._engine, self._socket)
        self._socket.close()  # the server owns it now; if the server dies, connections fail at once
        self._follower.__enter__()
        try:
            fetch_page(f"{self.url}robots.txt", START_TIMEOUT_SECONDS).raise_for_status()
        except BaseException as error:
            self.__exit__(None, None, None)
            if isinstance(error, requests.RequestException):
                raise PlumblineError(f"the search site did not start ({error}): see logs/plumb.log") from error
            raise
        return self

    def wait_until_searchable(self, timeout: float = START_TIMEOUT_SECONDS) -> None:
        """Wait until every worker can search, has Solr and loads its suggestions.

        Returns without it after `timeout` seconds, or UNAVAILABLE_TIMEOUT_SECONDS if Solr failed: pages then say so.
        """
        started, ready_count = time.monotonic(), 0
        check_count = HEALTH_CHECKS_PER_WORKER * self._engine.settings.search.workers
        while ready_count < check_count:
            status = self._search_status()
            ready_count = ready_count + 1 if status == "ok" else 0
            if time.monotonic() - started > (timeout if status != "unavailable" else UNAVAILABLE_TIMEOUT_SECONDS):
                return
            if not ready_count:
                time.sleep(POLL_SECONDS)

    def _search_status(self) -> str:
        """Return the status of /healthz (`ok`, `starting`, `unavailable`); "" if the site does not respond."""
        try:
            status = str(fetch_page(f"{self.url}healthz").json()["status"])
            if status == "ok":  # the first suggestion loads the vocabulary
                fetch_page(f"{self.url}suggest?q=a")
        except (requests.RequestException, ValueError, KeyError):
            return ""
        return status

    def is_healthy(self) -> bool:
        """True if the site responds."""
        try:
            return fetch_page(f"{self.url}robots.txt").ok
        except requests.RequestException:
            return False

    def wait(self, check: Callable[[], object] = lambda: None) -> None:
        """Wait until Ctrl-C. Raises PlumblineError if the server ends by itself. `check` is called every second."""
        while self._server is not None:
            try:
                status = self._server.wait(timeout=1)
            except subprocess.TimeoutExpired:
                check()
                continue
            raise PlumblineError(
                f"the search site ended by itself (status {status}): see logs/plumb.log, then start it again"
            )

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.terminate()  # requests in flight are completed
        self._follower.__exit__()
        if self._server is not None:
            try:
                self._server.wait(timeout=STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                log.warning("the search site did not stop in %g s and was killed", STOP_TIMEOUT_SECONDS)
                self._server.kill()
                self._server.wait()


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket; connections queue in it until a process accepts them. Raises PortInUseError."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=LISTEN_BACKLOG)
    except (OSError, ValueError, OverflowError) as error:  # ValueError: a name that cannot be a host's
        raise PortInUseError(
            f"cannot listen on {format_address(host, port)} ({error}): stop the program that uses it, or choose "
            "another port (--port, search.port) or host (--host, search.host)"
        ) from error


def start_server(engine: Engine, listening_socket: socket.socket) -> "subprocess.Popen[bytes]":
    """Start gunicorn on this socket. It stops when it is terminated or this process dies."""
    metrics_dir = engine.settings.data_dir / "metrics"
    try:
        # The counters restart with the site.
        metrics_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in metrics_dir.glob("*.db"):
            file.unlink()
    except OSError as error:
        raise StoreError(f"cannot empty {metrics_dir}: {error.strerror}") from error
    server = subprocess.Popen(
        [sys.executable, "-m", "pipeline.search_site.gunicorn_app", str(listening_socket.fileno()), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=[listening_socket.fileno()],
        process_group=0,  # Ctrl-C in a terminal reaches only this process, which then stops the server gracefully
        cwd=Path(__file__).parents[2],  # makes `pipeline` importable from any working directory
        env={**MEMORY_ENV, **os.environ, METRICS_FOLDER_ENV: str(metrics_dir)},
    )
    assert server.stdin is not None  # noqa: S101 (for the type checker)
    with suppress(BrokenPipeError), server.stdin as pipe:  # a server that has already ended does not answer
        pickle.dump((engine.settings, engine.has_index), pipe)
    return server


def fetch_page(url: str, timeout: float = HEALTH_TIMEOUT_SECONDS) -> requests.Response:
    """Fetch a page of the site, with a new connection each time: any worker may accept it."""
    with requests.Session() as session:
        session.trust_env = False  # proxy variables are for the crawl, not for loopback
        return session.get(url, timeout=timeout)
