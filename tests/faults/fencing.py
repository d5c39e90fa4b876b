"""A crawl on PostgreSQL that is stopped longer than its lease lasts: afterwards it commits and requests nothing."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from sqlalchemy import NullPool, create_engine, text

from tests.crash_harness import Vertical, until
from tests.faults.tally import Tally
from tests.scale_web import ScaleWeb
from tests.web_fixture import PATIENCE

HEARTBEAT_SECONDS = 1.0  # a lease lasts three times as long: a loaded machine must not miss beats
HOSTS, PAGES_PER_HOST = 4, 30
PAGES_BEFORE_STOP = 5
ANSWERED_REQUESTS = 40  # of all hosts; then each waits for an answer
CLIENTS = ("holder", "successor")


class AttributedWeb(ScaleWeb):
    """Records the client (its User-Agent) and the monotonic time of each request.

    After `ANSWERED_REQUESTS` the holder waits for answers until `may_answer` is set. Once `waiting_hosts` are all
    hosts, none of its threads is about to send a request, so it can be stopped.
    """

    def __init__(self) -> None:
        super().__init__(HOSTS, PAGES_PER_HOST, pause=0.01)
        self.requests: list[tuple[str, float]] = []
        self.waiting_hosts: set[str] = set()
        self.may_answer = threading.Event()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Record and respond to one request."""
        client = str(request.headers["User-Agent"]).partition(" ")[0]
        self.requests.append((client, time.monotonic()))
        if client == "holder" and len(self.requests) > ANSWERED_REQUESTS:
            self.waiting_hosts.add(str(request.headers["Host"]))
            self.may_answer.wait(PATIENCE)
        super().answer(request)


def fence_faults(postgres_url: str, folder: Path) -> Tally:
    """Stop a crawl until another process has taken over its lease, resume it, and count what it still does.

    `postgres_url` is an empty database.
    """
    tally = Tally("fence", figures={"commits_after_loss": 0, "requests_after_loss": 0})
    with (
        tally.trying("a stopped crawl"),
        AttributedWeb() as web,
        two_machines(web, postgres_url, folder) as (holder, successor),
    ):
        stopped = holder.start("crawl")
        until(lambda: count(postgres_url, "pages") >= PAGES_BEFORE_STOP, stopped)
        until(lambda: len(web.waiting_hosts) == HOSTS, stopped)
        os.killpg(stopped.pid, signal.SIGSTOP)
        web.may_answer.set()
        until(lambda: not count(postgres_url, LIVE_LEASES))
        stored_before = stored_by(holder, postgres_url)
        running = successor.start("crawl")
        until(lambda: stored_by(successor, postgres_url), running)
        resumed_at = time.monotonic()
        os.killpg(stopped.pid, signal.SIGCONT)
        ended = holder.finished(stopped)
        commits = len(stored_by(holder, postgres_url) - stored_before)
        requests = sum(client == "holder" and at > resumed_at for client, at in web.requests)
        tally.figures["commits_after_loss"] += commits
        tally.figures["requests_after_loss"] += requests
        assert commits == requests == 0, f"{commits} pages committed and {requests} requests sent after the loss"
        assert ended.status == 1, ended
        assert "taken over" in ended.complaint, ended
        assert successor.finished(running).status == 0
        urls = [str(url) for (url,) in rows(postgres_url, "SELECT url FROM urls JOIN pages USING (url_id)")]
        tally.account(web.urls, urls, "crawl")
    return tally


LIVE_LEASES = "leases WHERE kind = 'stage' AND until > extract(epoch FROM clock_timestamp())"


@contextmanager
def two_machines(web: ScaleWeb, postgres_url: str, folder: Path) -> Iterator[tuple[Vertical, Vertical]]:
    """Yield two verticals on one store, as on two machines. Their crawls have different User-Agents."""
    verticals = []
    for client in CLIENTS:
        crawl = {"seeds": web.seeds, "inside_hosts": web.hosts, "delay": 0.05, "user_agent": client, "sitemaps": False}
        cluster = {"heartbeat_seconds": HEARTBEAT_SECONDS}
        vertical = Vertical(folder / client)
        verticals.append(vertical.write({"store": {"url": postgres_url}, "crawl": crawl, "cluster": cluster}))
    try:
        yield verticals[0], verticals[1]
    finally:
        for vertical in verticals:
            vertical.end()


def stored_by(vertical: Vertical, postgres_url: str) -> set[tuple[object, ...]]:
    """Return the pages of the store whose responses are in the WARC files of `vertical`."""
    names = {path.name for path in (vertical.data / "warc").glob("*")}
    return {row for row in rows(postgres_url, "SELECT warc_file, warc_offset FROM pages") if row[0] in names}


def count(postgres_url: str, table: str) -> int:
    """Return the number of rows of a table, with a WHERE clause if needed."""
    return int(str(rows(postgres_url, f"SELECT count(*) FROM {table}")[0][0]))


def rows(postgres_url: str, query: str) -> list[tuple[object, ...]]:
    """Return the rows that `query` selects."""
    with create_engine(postgres_url, poolclass=NullPool).connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]
