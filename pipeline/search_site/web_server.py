"""The process that answers HTTP: gunicorn on a socket that it inherits, each worker with an engine of its own.

`python -m pipeline.search_site.web_server FD PARENT`; on standard input the settings and whether Solr is open, pickled.
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
from pipeline.engine import Engine, make_folder
from pipeline.logs import log_access_to, log_to
from pipeline.progress import Quiet
from pipeline.search_site.buffering_worker import BufferingWorker
from pipeline.search_site.serve import Follower, search_app
from pipeline.settings import Settings
from search_ui.operator.metrics import SHARED_FOLDER
from search_ui.search_log import SearchLog

THREADS = 8
MAX_FIGURE_FILES = 64
GRACE_SECONDS = 10  # for requests under way when the site stops
OPENED_SECONDS = 10.0  # for a worker to open a Solr that answers this program already
SILENT_SECONDS = 60  # a worker that does not stir for so long is replaced


class SiteApplication(BaseApplication):  # type: ignore[misc]
    """The search site as gunicorn wants it: its configuration, and a WSGI application for each worker."""

    def __init__(self, settings: Settings, descriptor: int, is_solr_open: bool) -> None:
        self._settings = settings
        self._is_solr_open = is_solr_open
        self._descriptor = descriptor
        self._open = ExitStack()
        super().__init__()

    def load_config(self) -> None:
        """gunicorn's settings; what stands here is all of them, no file and no environment is read."""
        values: dict[str, Any] = {
            "bind": f"fd://{self._descriptor}",
            "workers": self._settings.search.workers,
            "worker_class": BufferingWorker,
            "threads": THREADS,
            "timeout": SILENT_SECONDS,
            "graceful_timeout": GRACE_SECONDS,
            "forwarded_allow_ips": "",  # search.trusted_proxies alone says whose headers count
            "logger_class": LogFile,
            "loglevel": "warning",
            "control_socket_disable": True,
            "child_exit": lambda _arbiter, worker: forget_figures(worker.pid),
            "worker_exit": lambda _arbiter, _worker: self._open.close(),
        }
        for name, value in values.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """In a worker, once: its engine and the site on it, ready to answer."""
        engine = self._open.enter_context(Engine(self._settings, Quiet()))
        searches = SearchLog(engine.store.searches.keep)
        self._open.callback(searches.close)
        engine.analysis()
        self._open.enter_context(Follower(engine, open_solr))  # until it has opened Solr, pages say that it starts
        if self._is_solr_open:  # then it takes a moment, and nobody has to be told
            wait_for_solr(engine, time.monotonic() + OPENED_SECONDS)
        return search_app(engine, searches, waits=False)


def forget_figures(pid: int) -> None:
    """A worker has ended: its counts stay, but of very many that ended only those of the newest do."""
    folder = Path(os.environ.get(SHARED_FOLDER, ""))
    mark_process_dead(pid)  # type: ignore[no-untyped-call]
    files = sorted(folder.glob("*.db"), key=lambda file: file.stat().st_mtime)
    for file in files[:-MAX_FIGURE_FILES]:
        file.unlink(missing_ok=True)


def open_solr(engine: Engine) -> None:
    """Open Solr, if it did not answer before, or go after it to where it was revived."""
    if engine.has_index:
        engine.revive_solr()
    else:
        engine.index  # noqa: B018


def wait_for_solr(engine: Engine, deadline: float) -> None:
    """Return as soon as Solr is open, or at the deadline (monotonic seconds)."""
    while not engine.has_index and time.monotonic() < deadline:
        time.sleep(0.05)


class LogFile(Logger):  # type: ignore[misc]
    """gunicorn's messages go where all of ours go. `search_ui.operator.access_log` logs answers, if anybody does."""

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
        make_folder(settings.data_dir / "logs")
        log_to(settings.data_dir / "logs" / "plumb.log", settings.vertical.log_format)
        if settings.search.access_log:
            log_access_to(settings.data_dir / "logs" / "access.log", settings.vertical.log_format)
    except PlumblineError as error:
        sys.exit(f"plumb: {error}")
    SiteArbiter(SiteApplication(settings, descriptor, is_solr_open), parent).run()


if __name__ == "__main__":
    main()
