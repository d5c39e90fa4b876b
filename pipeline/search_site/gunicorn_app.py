"""The process that answers HTTP: gunicorn on a socket that it inherits, each worker with an engine of its own.

`python -m pipeline.search_site.gunicorn_app FD PARENT`; on standard input the settings and whether Solr is open, pickled.
pipeline/search_site/serve.py starts it.
The arbiter has neither a store nor threads, so that its workers can be forked from it at any time: SQLite must not be
carried across a fork. A worker that dies is replaced; when the parent dies, all of it ends.
"""

import logging
import os
import pickle
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pypinyin  # noqa: F401 (before workers are forked: they share it, and no query waits for its dictionary)
from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger
from prometheus_client.multiprocess import mark_process_dead

from docstore.errors import PlumblineError
from pipeline.engine import Engine, ensure_folder
from pipeline.logs import configure_access_log, configure_logging
from pipeline.progress import NullProgress
from pipeline.search_site.serve import IndexFollower, create_search_app
from pipeline.search_site.waitress_worker import WaitressWorker
from pipeline.settings import Settings
from search_ui.admin.metrics import MULTIPROCESS_DIR_ENV
from search_ui.search_log import SearchLogWriter

THREADS_PER_WORKER = 8
MAX_METRIC_FILES = 64
GRACEFUL_TIMEOUT_SECONDS = 10  # for requests under way when the site stops
SOLR_OPEN_TIMEOUT_SECONDS = 10.0  # for a worker to open a Solr that answers this program already
WORKER_TIMEOUT_SECONDS = 60  # a worker that does not stir for so long is replaced


class SiteApplication(BaseApplication):  # type: ignore[misc]
    """The search site as gunicorn wants it: its configuration, and a WSGI application for each worker."""

    def __init__(self, settings: Settings, descriptor: int, is_solr_open: bool) -> None:
        self._settings = settings
        self._is_solr_open = is_solr_open
        self._descriptor = descriptor
        self._resources = ExitStack()
        super().__init__()

    def load_config(self) -> None:
        """gunicorn's settings; what stands here is all of them, no file and no environment is read."""
        gunicorn_settings: dict[str, Any] = {
            "bind": f"fd://{self._descriptor}",
            "workers": self._settings.search.workers,
            "worker_class": WaitressWorker,
            "threads": THREADS_PER_WORKER,
            "timeout": WORKER_TIMEOUT_SECONDS,
            "graceful_timeout": GRACEFUL_TIMEOUT_SECONDS,
            "forwarded_allow_ips": "",  # search.trusted_proxies alone says whose headers count
            "logger_class": GunicornLogger,
            "loglevel": "warning",
            "control_socket_disable": True,
            "child_exit": lambda _arbiter, worker: clean_up_worker_metrics(worker.pid),
            "worker_exit": lambda _arbiter, _worker: self._resources.close(),
        }
        for name, value in gunicorn_settings.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """In a worker, once: its engine and the site on it, ready to answer."""
        engine = self._resources.enter_context(Engine(self._settings, NullProgress()))
        search_log = SearchLogWriter(engine.store.search_log.save)
        self._resources.callback(search_log.close)
        engine.analysis()
        self._resources.enter_context(
            IndexFollower(engine, open_or_reconnect_solr)
        )  # until it has opened Solr, pages say that it starts
        if self._is_solr_open:  # then it takes a moment, and nobody has to be told
            wait_for_solr(engine, time.monotonic() + SOLR_OPEN_TIMEOUT_SECONDS)
        return create_search_app(engine, search_log, opens_solr=False)


def clean_up_worker_metrics(pid: int) -> None:
    """A worker has ended: its counts stay, but of very many that ended only those of the newest do."""
    folder = Path(os.environ.get(MULTIPROCESS_DIR_ENV, ""))
    mark_process_dead(pid)  # type: ignore[no-untyped-call]
    files = sorted(folder.glob("*.db"), key=lambda file: file.stat().st_mtime)
    for file in files[:-MAX_METRIC_FILES]:
        file.unlink(missing_ok=True)


def open_or_reconnect_solr(engine: Engine) -> None:
    """Open Solr, if it did not answer before, or go after it to where it was revived."""
    if engine.has_index:
        engine.restart_dead_solr()
    else:
        engine.index  # noqa: B018


def wait_for_solr(engine: Engine, deadline: float) -> None:
    """Return as soon as Solr is open, or at the deadline (monotonic seconds)."""
    while not engine.has_index and time.monotonic() < deadline:
        time.sleep(0.05)


class GunicornLogger(Logger):  # type: ignore[misc]
    """gunicorn's messages go where all of ours go. `search_ui.admin.access_log` logs answers, if anybody does."""

    def setup(self, cfg: Any) -> None:
        """Called by gunicorn."""
        self.cfg = cfg
        self._access_log_enabled = False
        self.error_log.propagate = True
        self.error_log.setLevel(logging.WARNING)


class SiteArbiter(Arbiter):  # type: ignore[misc]
    """gunicorn's arbiter, which ends with the process that started it."""

    def __init__(self, application: SiteApplication, parent: int) -> None:
        super().__init__(application)
        self._parent = parent

    def maybe_promote_master(self) -> None:
        """gunicorn asks about once a second whether its parent has gone; ours is never replaced by it."""
        if os.getppid() != self._parent:
            raise StopIteration  # its way to say: stop in good order


def main() -> None:
    """See the module's docstring."""
    descriptor, parent = map(int, sys.argv[1:])
    settings: Settings
    settings, is_solr_open = pickle.load(sys.stdin.buffer)
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
