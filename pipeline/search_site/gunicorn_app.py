"""The process that serves HTTP: gunicorn on an inherited socket, with one engine per worker.

`python -m pipeline.search_site.gunicorn_app FD PARENT` reads from standard input the pickled settings and whether Solr
is open. pipeline/search_site/serve.py starts it.

The arbiter has no store and no threads, so it can fork workers at any time: an open SQLite database must not be used
across a fork. It imports nothing of the site. A worker that dies is replaced. If the parent dies, the arbiter stops
with all workers.
"""

import logging
import os
import pickle
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger

from domain.errors import PlumblineError
from pipeline.alerts.secrets import register_settings_secrets
from pipeline.logs import configure_access_log, configure_logging, ensure_folder
from pipeline.search_site.waitress_worker import WaitressWorker
from pipeline.settings import Settings
from search_ui.settings import METRICS_FOLDER_ENV

if TYPE_CHECKING:
    from flask import Flask

    from pipeline.engine import Engine

THREADS_PER_WORKER = 8
MAX_METRIC_FILES = 64
GRACEFUL_TIMEOUT_SECONDS = 10  # for requests in flight when the site stops
SOLR_OPEN_TIMEOUT_SECONDS = 10.0  # for a worker to connect to a Solr that already runs
WORKER_TIMEOUT_SECONDS = 60  # a worker without a heartbeat for this time is replaced


class SiteApplication(BaseApplication):  # type: ignore[misc]
    """The search site as a gunicorn application: configuration, and one WSGI application per worker."""

    def __init__(self, settings: Settings, descriptor: int, is_solr_open: bool) -> None:
        self._settings = settings
        self._is_solr_open = is_solr_open
        self._descriptor = descriptor
        self._resources = ExitStack()
        super().__init__()

    def load_config(self) -> None:
        """Set the complete gunicorn configuration; no file and no environment variable is read."""
        gunicorn_settings: dict[str, Any] = {
            "bind": f"fd://{self._descriptor}",
            "workers": self._settings.search.workers,
            "worker_class": WaitressWorker,
            "threads": THREADS_PER_WORKER,
            "timeout": WORKER_TIMEOUT_SECONDS,
            "graceful_timeout": GRACEFUL_TIMEOUT_SECONDS,
            "forwarded_allow_ips": "",  # search.trusted_proxies decides which proxy headers are trusted
            "logger_class": GunicornLogger,
            "loglevel": "warning",
            "control_socket_disable": True,
            "child_exit": lambda _arbiter, worker: clean_up_worker_metrics(worker.pid),
            "worker_exit": lambda _arbiter, _worker: self._resources.close(),
        }
        for name, value in gunicorn_settings.items():
            self.cfg.set(name, value)

    def load(self) -> "Flask":
        """Create the engine and the WSGI application; runs once in each worker."""
        from crawler.memory_budget import release_free_memory
        from pipeline.engine import Engine
        from pipeline.progress import NullProgress
        from pipeline.search_site.query_vectors import StoreQueryVectors
        from pipeline.search_site.search_app import create_search_app
        from pipeline.search_site.serve import IndexFollower
        from search_ui.search_log import SearchLogWriter

        engine = self._resources.enter_context(Engine(self._settings, NullProgress()))
        search_log = SearchLogWriter(engine.store.search_log.save)
        self._resources.callback(search_log.close)
        engine.analysis()
        self._resources.enter_context(
            IndexFollower(engine, Engine.keep_index_open)
        )  # until Solr is open, pages show that it is starting
        if self._is_solr_open:  # the connection is fast, so no request needs to see the starting page
            wait_for_solr(engine, time.monotonic() + SOLR_OPEN_TIMEOUT_SECONDS)
        query_vectors = StoreQueryVectors(engine)
        query_vectors.load_models()
        load_dictionaries()
        release_free_memory()
        return create_search_app(engine, search_log, opens_solr=False, query_vectors=query_vectors)


def clean_up_worker_metrics(pid: int) -> None:
    """Mark a worker as dead in the metrics, and delete the oldest metric files beyond MAX_METRIC_FILES."""
    from prometheus_client.multiprocess import mark_process_dead

    folder = Path(os.environ.get(METRICS_FOLDER_ENV, ""))
    mark_process_dead(pid)  # type: ignore[no-untyped-call]
    files = sorted(folder.glob("*.db"), key=lambda file: file.stat().st_mtime)
    for file in files[:-MAX_METRIC_FILES]:
        file.unlink(missing_ok=True)


def wait_for_solr(engine: "Engine", deadline: float) -> None:
    """Return as soon as Solr is open, or at the deadline (monotonic seconds)."""
    while not engine.has_index and time.monotonic() < deadline:
        time.sleep(0.05)


class GunicornLogger(Logger):  # type: ignore[misc]
    """Sends gunicorn's messages to the root logger. Access logging is in `search_ui.admin.access_log`."""

    def setup(self, cfg: Any) -> None:
        """Configure the loggers; gunicorn calls this method."""
        self.cfg = cfg
        self._access_log_enabled = False
        self.error_log.propagate = True
        self.error_log.setLevel(logging.WARNING)


class SiteArbiter(Arbiter):  # type: ignore[misc]
    """gunicorn arbiter that stops if its parent process dies."""

    def __init__(self, application: SiteApplication, parent: int) -> None:
        super().__init__(application)
        self._parent = parent

    def maybe_promote_master(self) -> None:
        """Stop if the parent process is gone; gunicorn calls this method about once a second."""
        if os.getppid() != self._parent:
            raise StopIteration  # makes gunicorn stop gracefully


def load_dictionaries() -> None:
    """Load pinyin and the word frequencies, so that no question waits for them."""
    from text.background_frequencies import is_english_word, page_share
    from text.pinyin import pinyin_syllables

    for look_up in (pinyin_syllables, page_share, is_english_word):
        look_up("")


def main() -> None:
    """Run the server until the parent process stops it."""
    descriptor, parent = map(int, sys.argv[1:])
    settings: Settings
    settings, is_solr_open = pickle.load(sys.stdin.buffer)  # noqa: S301 (bytes from our own process)
    register_settings_secrets(settings)
    try:
        ensure_folder(settings.data_dir / "logs")
        configure_logging(settings.data_dir / "logs" / "plumb.log", settings.vertical.log_format)
        if settings.search.access_log:
            configure_access_log(settings.data_dir / "logs" / "access.log", settings.vertical.log_format)
    except PlumblineError as error:
        sys.exit(f"plumb: {error}")
    SiteArbiter(SiteApplication(settings, descriptor, is_solr_open), parent).run()


if __name__ == "__main__":
    main()
