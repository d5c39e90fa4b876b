"""A crawl on PostgreSQL that is stopped longer than its lease lasts: afterwards it commits and requests nothing."""

import os
import signal
import sys
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
BLOCKED_SECONDS = 2.0
MAX_SENT_AFTER_CHECK = 1  # of a crawl that is stopped at any moment; without the check, each host gets a request
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


def fence_faults(postgres_url: str, folder: Path, is_waiting: bool = True, sabotage: str = "") -> Tally:
    """Stop a crawl until another process has taken over its lease, resume it, and count what it still does.

    Nobody can commit for a moment after that: the crawl must notice the loss before its requests, not by a commit.

    Args:
        postgres_url: An empty database.
        folder: The folder of the verticals.
        is_waiting: Stop the crawl when all its threads wait for an answer. Otherwise one may have passed its check
            before the stop, and sends its request.
        sabotage: A defect of the stopped crawl, a name in FENCE_SABOTAGES.
    """
    tally = Tally("fence", figures={"commits_after_loss": 0, "requests_after_loss": 0})
    with (
        tally.trying("a crawl that waits" if is_waiting else "a crawl at any moment"),
        AttributedWeb() as web,
        two_machines(web, postgres_url, folder) as (holder, successor),
    ):
        if sabotage:
            holder.program = (sys.executable, "-m", "tests.faults.sabotage", sabotage)
        if not is_waiting:
            web.may_answer.set()
        stopped = holder.start("crawl")
        until(lambda: count(postgres_url, "pages") >= PAGES_BEFORE_STOP, stopped)
        if is_waiting:
            until(lambda: len(web.waiting_hosts) == HOSTS, stopped)
        stop_between_transactions(stopped.pid, postgres_url)
        web.may_answer.set()
        until(lambda: not count(postgres_url, LIVE_LEASES))
        stored_before = stored_by(holder, postgres_url)
        running = successor.start("crawl")
        until(lambda: stored_by(successor, postgres_url), running)
        resumed_at = time.monotonic()
        with blocked_commits(postgres_url):
            os.killpg(stopped.pid, signal.SIGCONT)
            time.sleep(BLOCKED_SECONDS)
        ended = holder.finished(stopped)
        commits = len(stored_by(holder, postgres_url) - stored_before)
        requests = sum(client == "holder" and at > resumed_at for client, at in web.requests)
        tally.figures["commits_after_loss"] += commits
        tally.figures["requests_after_loss"] += requests
        message = f"{commits} pages committed and {requests} requests sent after the loss"
        assert not commits and requests <= (0 if is_waiting else MAX_SENT_AFTER_CHECK), message
        assert ended.status == 1, ended
        assert "taken over" in ended.complaint, ended
        assert successor.finished(running).status == 0
        urls = [str(url) for (url,) in rows(postgres_url, "SELECT url FROM urls JOIN pages USING (url_id)")]
        tally.account(web.urls, urls, "crawl")
    return tally


def stop_between_transactions(group: int, postgres_url: str) -> None:
    """Stop a process group at a moment at which it has no open transaction, whose locks would stop the successor."""
    is_open = "pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
    while True:
        os.killpg(group, signal.SIGSTOP)
        time.sleep(0.2)  # the server completes its statements
        if not count(postgres_url, is_open):
            return
        os.killpg(group, signal.SIGCONT)
        time.sleep(0.05)


@contextmanager
def blocked_commits(postgres_url: str) -> Iterator[None]:
    """Let no process add a page in the block."""
    with create_engine(postgres_url, poolclass=NullPool).begin() as connection:
        connection.execute(text("LOCK TABLE pages IN EXCLUSIVE MODE"))
        yield


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
