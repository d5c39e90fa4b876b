"""The search site's processes: workers that die are replaced, all of them end together, and a taken port is said."""

import os
import pickle
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from domain.account import Role
from domain.errors import PlumblineError, PortInUseError, SettingsError
from domain.search_log import LoggedSearch
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site import waitress_worker
from pipeline.search_site.gunicorn_app import load_dictionaries
from pipeline.search_site.search_app import load_or_create_private_text
from pipeline.search_site.serve import SearchSite, open_listening_socket
from pipeline.search_site.waitress_worker import BoundedServer
from pipeline.settings import Settings, load_settings
from search_ui.passwords import hash_password
from search_ui.search_log import SearchLogWriter
from tests.crash_harness import all_processes
from tests.plumb_call import call_plumb
from tests.web_fixture import PATIENCE
from text import background_frequencies

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")]

PASSWORD = "correct horse"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_in(tmp_path)


def settings_in(folder: Path) -> Settings:
    """A vertical whose Solr is an address where nobody listens: these tests search for nothing."""
    config = folder / "vertical.toml"
    config.write_text('[index]\nsolr_url = "http://127.0.0.1:9/solr"\n[search]\nport = 0\nworkers = 2\n')
    (folder / "data" / "logs").mkdir(parents=True)
    return load_settings(config)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    with Engine(settings, NullProgress()) as opened:
        yield opened


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    """The processes that this one has started, the oldest first."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def is_alive(pid: int) -> bool:
    return any(pid == one for one, _, _ in all_processes())


def answers(url: str) -> bool:
    return requests.get(f"{url}admin/login", timeout=PATIENCE).status_code == 200


def server_of(site: SearchSite) -> int:
    assert site._server is not None
    return site._server.pid


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchSite]:
    """A site for tests after which it serves as before."""
    with Engine(settings_in(tmp_path_factory.mktemp("site")), NullProgress()) as engine, SearchSite(engine) as running:
        yield running


def test_a_killed_worker_is_replaced(site: SearchSite) -> None:
    assert answers(site.url)
    until(lambda: len(children(server_of(site))) == 2)
    before = children(server_of(site))
    for worker in before:
        os.kill(worker, signal.SIGKILL)
    assert answers(site.url)  # the connection waits for the next worker
    until(lambda: len(set(children(server_of(site))) - set(before)) == 2)


def answered(site: SearchSite) -> float:
    """How many requests were answered well, by what /metrics says of all workers together."""
    text = requests.get(f"{site.url}metrics", timeout=PATIENCE).text
    return float(re.findall(r'^plumbline_responses_total\{status="2xx"\} (\S+)$', text, re.M)[0])


@pytest.mark.exhaustive
def test_figures_are_those_of_all_workers_and_outlive_a_killed_one(engine: Engine) -> None:
    with SearchSite(engine) as site:
        before = answered(site)
        assert [answers(site.url) for _ in range(20)] == [True] * 20  # each by whichever worker is free
        assert answered(site) == before + 21
        until(lambda: len(children(server_of(site))) == 2)
        killed = children(server_of(site))
        for worker in killed:
            os.kill(worker, signal.SIGKILL)
        until(lambda: len(set(children(server_of(site))) - set(killed)) == 2)
        assert answered(site) == before + 22
    with SearchSite(engine) as site:
        assert answered(site) < before + 5  # a new site starts at 0


def test_workers_that_start_together_share_one_secret(tmp_path: Path) -> None:
    others: list[str] = []
    path = tmp_path / "session.key"
    second = threading.Thread(target=lambda: others.append(load_or_create_private_text(path, lambda: "second")))

    def create() -> str:
        second.start()
        second.join(0.3)
        return "first"

    assert load_or_create_private_text(path, create) == "first"
    second.join(PATIENCE)
    assert others == ["first"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_session_is_one_for_all_workers(site: SearchSite) -> None:
    accounts = site._engine.store.accounts
    accounts.create("anna", hash_password(PASSWORD), [Role.OPERATOR])
    with requests.Session() as browser:
        page = browser.get(f"{site.url}admin/login", timeout=PATIENCE).text
        token = page.partition('name="token" value="')[2].partition('"')[0]
        sent = {"token": token, "name": "anna", "password": PASSWORD}
        assert browser.post(f"{site.url}admin/login", sent, timeout=PATIENCE).url == f"{site.url}admin/"
        browser.headers["Connection"] = "close"  # each request to whichever worker is free
        assert {browser.get(f"{site.url}admin/account", timeout=PATIENCE).status_code for _ in range(12)} == {200}
        accounts.disable("anna")
        ended = {browser.get(f"{site.url}admin/account", timeout=PATIENCE).url for _ in range(12)}
        assert ended == {f"{site.url}admin/login?next=/admin/account"}


@pytest.mark.always
def test_stopping_ends_every_process_and_frees_the_port(engine: Engine) -> None:
    with SearchSite(engine) as site:
        assert answers(site.url)
        started = [server_of(site), *children(server_of(site))]
    assert not [pid for pid in started if is_alive(pid)]
    port = int(site.url.rpartition(":")[2].rstrip("/"))
    open_listening_socket("127.0.0.1", port).close()


def test_a_request_under_way_is_answered_before_the_site_stops(engine: Engine) -> None:
    with SearchSite(engine) as site:
        assert answers(site.url)
        host, _, port = site.url.removeprefix("http://").rstrip("/").partition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as slow:
            slow.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: x\r\n")
            until(lambda: sockets_of(server_of(site), slow.getsockname()[1]))
            os.kill(server_of(site), signal.SIGTERM)
            threading.Timer(0.5, slow.sendall, [b"Connection: close\r\n\r\n"]).start()
            answer = b"".join(iter(lambda: slow.recv(4096), b""))
            assert answer.startswith(b"HTTP/1.1 200 OK") and b"User-agent" in answer


def connected(site: SearchSite, sent: bytes) -> socket.socket:
    """A connection over which this was sent, and nothing is read."""
    host, _, port = site.url.removeprefix("http://").rstrip("/").partition(":")
    made = socket.create_connection((host, int(port)), timeout=PATIENCE)
    made.sendall(sent)
    return made


def test_whoever_is_slow_holds_up_nobody(site: SearchSite) -> None:
    head = b"GET /robots.txt HTTP/1.1\r\nHost: x\r\nX-Slow:"
    form = b"POST /admin/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    body = form + b"Content-Length: 1000\r\n\r\nname="
    reader = b"GET /static/style.css HTTP/1.1\r\nHost: x\r\n\r\n" * 20
    with ExitStack() as open_ones:
        assert answers(site.url)
        for sent in (head, body, reader, b""):
            for _ in range(50):
                open_ones.enter_context(closing(connected(site, sent)))
        for _ in range(10):
            assert answers(site.url)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[BoundedServer]:
    """A server that waits for nobody, and may hold four connections; turned by hand."""
    for name in (
        "HEADER_TIMEOUT_SECONDS",
        "BODY_TIMEOUT_SECONDS",
        "IDLE_TIMEOUT_SECONDS",
        "RESPONSE_READ_TIMEOUT_SECONDS",
    ):
        monkeypatch.setattr(waitress_worker, name, 0.2)
    monkeypatch.setattr(waitress_worker, "MAX_CONNECTIONS", 4)
    listener = socket.create_server(("127.0.0.1", 0))
    server = waitress_worker.create_server(
        listener, lambda environ, start: (start("204 No Content", []) and ()) or (), 2
    )
    yield server
    server.task_dispatcher.shutdown(timeout=0)
    server.close()


def turned(server: BoundedServer, until_closed: socket.socket) -> bytes:
    """What the connection said before the server closed it."""
    until_closed.setblocking(False)
    heard, deadline = b"", time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        waitress_worker.poll_once(server, 0.05)
        with suppress(BlockingIOError):
            piece = until_closed.recv(4096)
            if not piece:
                return heard
            heard += piece
    raise AssertionError("it was never closed")


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        (b"", b""),
        (b"GET / HT", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow:", b""),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1234", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 204"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n", b"HTTP/1.1 204"),
        ((b"GET /" + b"a" * waitress_worker.MAX_HEADER_BYTES)[: waitress_worker.MAX_HEADER_BYTES], b"HTTP/1.0 431"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n", b"HTTP/1.1 413"),
        (b"\x16\x03\x01\r\n\r\n", b"HTTP/1.0 400"),
    ],
)
def test_a_connection_is_not_waited_for_for_ever(hurried: BoundedServer, sent: bytes, heard: bytes) -> None:
    with closing(socket.create_connection(hurried.socket.getsockname()[:2])) as client:
        client.sendall(sent)
        assert turned(hurried, client).startswith(heard) if heard else turned(hurried, client) == b""


def test_where_all_places_are_taken_the_one_that_waited_longest_goes(
    hurried: BoundedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HEADER_TIMEOUT_SECONDS", "IDLE_TIMEOUT_SECONDS"):
        monkeypatch.setattr(waitress_worker, name, PATIENCE)
    with ExitStack() as open_ones:
        clients = []
        for _ in range(5):
            made = socket.create_connection(hurried.socket.getsockname()[:2])
            clients.append(open_ones.enter_context(closing(made)))
            waitress_worker.poll_once(hurried, 0.5)
        assert turned(hurried, clients[0]) == b""
        assert len(hurried.active_channels) == 4


def test_one_address_holds_so_many(hurried: BoundedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waitress_worker, "MAX_CONNECTIONS_PER_IP", 1)
    monkeypatch.setattr(waitress_worker, "is_loopback", lambda address: False)
    with ExitStack() as open_ones:
        first, second = (
            open_ones.enter_context(closing(socket.create_connection(hurried.socket.getsockname()[:2])))
            for _ in range(2)
        )
        for _ in range(3):
            waitress_worker.poll_once(hurried, 0.1)
        assert len(hurried.active_channels) <= 1
        assert turned(hurried, second) == b"" and first.fileno() > 0


def sockets_of(server: int, port: int) -> bool:
    """Has a worker of this server accepted the connection from `port`?"""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    inodes = {line.split()[9] for line in lines if line.split()[2].endswith(f":{port:04X}")}
    for worker in children(server):
        for descriptor in Path(f"/proc/{worker}/fd").iterdir():
            if any(os.readlink(descriptor) == f"socket:[{inode}]" for inode in inodes - {"0"}):
                return True
    return False


def test_a_server_that_ends_by_itself_is_an_error(engine: Engine) -> None:
    with SearchSite(engine) as site:
        assert answers(site.url)
        os.kill(server_of(site), signal.SIGKILL)
        with pytest.raises(PlumblineError, match="ended by itself"):
            site.wait()


def test_nothing_outlives_a_killed_plumb(settings: Settings) -> None:
    code = (
        "import sys, pickle; from pipeline.engine import Engine; from pipeline.progress import NullProgress\n"
        "from pipeline.search_site.serve import SearchSite\n"
        "with Engine(pickle.load(sys.stdin.buffer), NullProgress()) as engine, SearchSite(engine) as site:\n"
        "    print(site.url, site._server.pid, flush=True); site.wait()"
    )
    running = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert running.stdin is not None and running.stdout is not None
    with running.stdin as pipe:
        pickle.dump(settings, pipe)
    url, server = running.stdout.readline().decode().split()
    assert answers(url)
    until(lambda: len(children(int(server))) == 2)
    workers = children(int(server))
    running.kill()
    running.wait(PATIENCE)
    running.stdout.close()
    until(lambda: not [pid for pid in (int(server), *workers) if is_alive(pid)])


def test_plumb_serve_says_that_a_port_is_taken(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = call_plumb("-c", str(settings.folder / "vertical.toml"), "serve", "--port", str(port))
    assert said.status == 1
    assert said.complaint.startswith(f"plumb: cannot listen on 127.0.0.1:{port} ([Errno 98] Address already in use")
    assert said.complaint.endswith("or choose another port (--port, search.port) or host (--host, search.host)")


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 0), ("192.0.2.1", 0), ("a" * 64, 0), ("\0", 0)])
def test_where_nobody_can_listen(host: str, port: int) -> None:
    with pytest.raises(PortInUseError, match="cannot listen on"):
        open_listening_socket(host, port)


def test_the_site_listens_on_an_ipv6_address(settings: Settings) -> None:
    settings = replace(settings, search=replace(settings.search, host="::1"))
    with Engine(settings, NullProgress()) as engine, SearchSite(engine) as site:
        assert site.url.startswith("http://[::1]:") and site.is_healthy()


def test_what_is_searched_for_while_the_store_is_locked_is_logged_later(engine: Engine, settings: Settings) -> None:
    log = SearchLogWriter(engine.store.search_log.save)
    with closing(sqlite3.connect(settings.data_dir / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for n in range(5):
            log.enqueue(LoggedSearch(f"s{n}", "页岩气", 1, 1, searched_at=time.time()))
        assert engine.store.search_log.report(7).search_count == 0  # nobody has waited for the other
        other.execute("ROLLBACK")
    log.close(PATIENCE)
    assert engine.store.search_log.report(7).search_count == 5


def test_the_nightly_run_forgets_old_searches(engine: Engine) -> None:
    kept = engine.store.search_log
    old = time.time() - (engine.settings.search.log_days + 1) * 86400
    kept.save(
        [
            LoggedSearch("old", "从前", 1, 1, searched_at=old),
            LoggedSearch("new", "现在", 1, 1, searched_at=time.time()),
        ],
        [],
    )
    with pytest.raises(SettingsError):  # nothing to crawl: it is forgotten all the same
        stages.run(engine)
    assert [one.query for one in kept.report(3650).top_queries] == ["现在"]


def test_a_server_that_cannot_start_is_an_error_and_leaves_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    site = SearchSite(engine)
    with pytest.raises(PlumblineError, match="did not start"):
        site.__enter__()
    assert not is_alive(server_of(site))


def test_the_first_question_does_not_load_the_word_frequencies() -> None:
    background_frequencies.page_shares.cache_clear()
    load_dictionaries()
    assert background_frequencies.page_shares.cache_info().currsize == 1
