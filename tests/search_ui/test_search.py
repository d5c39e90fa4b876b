"""The search client with servers on loopback that misbehave in defined ways."""

import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

import pytest
from bs4 import BeautifulSoup

from domain.errors import SolrError, SolrUnavailableError
from search_ui.query import solr_client as search_module
from search_ui.query.solr_client import SolrResponse, SolrSearchClient
from search_ui.settings import SearchSettings
from tests.site_fixture import site_app
from tests.web_fixture import LOOPBACK, PATIENCE, refusing_port, serving


class _Server(ThreadingHTTPServer):
    """A Solr that sends `body`. With `listener` it takes over the port of another server."""

    status = 200
    body = b"{}"
    path = ""
    form: tuple[tuple[str, str], ...] = ()

    def __init__(self, handler: type[BaseHTTPRequestHandler], listener: socket.socket | None = None) -> None:
        super().__init__((LOOPBACK, 0), handler, bind_and_activate=listener is None)
        if listener is not None:
            self.socket.close()
            self.socket = listener
            self.server_address = listener.getsockname()
            self.server_port = self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.path = self.path
        self.server.form = tuple(parse_qsl(self.rfile.read(length).decode(), keep_blank_values=True))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        for start in range(0, len(self.server.body), 100):
            self.drip()
            self.wfile.write(self.server.body[start : start + 100])

    def drip(self) -> None:
        pass

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[_Server]:
    running = _Server(_Handler)
    with serving(running):
        yield running


def client(server: _Server) -> SolrSearchClient:
    return SolrSearchClient(f"http://127.0.0.1:{server.server_port}/solr/", "oil", timeout=30.0)


def test_parameters_arrive_as_they_were_sent(server: _Server) -> None:
    server.body = json.dumps({"response": {"numFound": 1}}).encode()
    params = [("q", "{!bool}"), ("fq", "a"), ("fq", "b"), ("text", "页岩气&x=\u2028"), ("empty", "")]
    assert client(server).select(params)["response"] == {"numFound": 1}
    assert server.path == "/solr/oil/select"
    assert server.form == (*params, ("timeAllowed", "30000"))


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        pytest.param(400, b'{"error": {"msg": "too many clauses"}}', SolrError, id="refused"),
        pytest.param(404, b"<html>", SolrUnavailableError, id="no-collection"),
        pytest.param(500, b'{"error": {}}', SolrUnavailableError, id="failed"),
        pytest.param(503, b"", SolrUnavailableError, id="starting"),
        pytest.param(200, b"<html>", SolrUnavailableError, id="not-json"),
        pytest.param(200, b"[]", SolrUnavailableError, id="not-an-object"),
    ],
)
def test_every_failure_is_named(server: _Server, status: int, body: bytes, error: type[SolrError]) -> None:
    server.status, server.body = status, body
    with pytest.raises(SolrError) as raised:
        client(server).select([("q", "a")])
    assert type(raised.value) is error


def test_no_server_is_unavailable() -> None:
    with refusing_port() as port, pytest.raises(SolrUnavailableError, match="does not respond"):
        SolrSearchClient(f"http://127.0.0.1:{port}/solr", "oil", timeout=30.0).select([("q", "a")])


class _Staller(threading.Thread):
    """A server that sends `pieces` as its only response, and never completes it."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        super().__init__(daemon=True)
        self._pieces = pieces
        self._done = threading.Event()
        self.listener = socket.create_server((LOOPBACK, 0))
        self.port = self.listener.getsockname()[1]

    def run(self) -> None:
        connection, _ = self.listener.accept()
        with connection:
            for piece in self._pieces:
                connection.sendall(piece)
            self._done.wait()

    def stop(self) -> None:
        """Close the connection. The port stays open: another process could take it."""
        self._done.set()
        self.join()


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([], id="silent"),
        pytest.param([b"HTTP/1.1 200 OK\r\nContent-"], id="within-the-headers"),
        pytest.param([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b'{"a'], id="within-the-body"),
    ],
)
def test_a_stalled_solr_is_unavailable_in_time_and_asked_again_later(pieces: list[bytes]) -> None:
    staller = _Staller(pieces)
    staller.start()
    asking = SolrSearchClient(f"http://127.0.0.1:{staller.port}/solr", "oil", timeout=0.2)
    with pytest.raises(SolrUnavailableError):
        asking.select([("q", "a")])
    staller.stop()
    with serving(_Server(_Handler, staller.listener)):
        assert asking_until_answered(asking) == {}


def test_a_page_says_that_solr_stalls_keeps_the_query_and_recovers() -> None:
    staller = _Staller([b"HTTP/1.1 200 OK\r\nContent-"])
    staller.start()
    stalled = SolrSearchClient(f"http://127.0.0.1:{staller.port}/solr", "oil", timeout=0.2)
    client = site_app(stalled).test_client()  # type: ignore[arg-type]
    answer = client.get("/search?q=页岩气&from=2016")
    page = BeautifulSoup(answer.text, "lxml")
    assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
    assert page.select_one("#q")["value"] == "页岩气"  # type: ignore[index]
    again = str(page.select_one("#again")["href"])  # type: ignore[index]
    assert parse_qsl(again.partition("?")[2]) == [("q", "页岩气"), ("from", "2016")]
    staller.stop()
    with serving(_Server(_Handler, staller.listener)):
        asking_until_answered(stalled)
        assert client.get(again).status_code == 200


def test_a_reader_waits_for_less_than_two_seconds() -> None:
    assert SearchSettings().timeout < 2


def asking_until_answered(client: SolrSearchClient) -> SolrResponse:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:  # a machine under load may be slower than a fifth of a second
        try:
            return client.select([("q", "a")])
        except SolrUnavailableError:
            continue
    raise AssertionError("the client does not recover")


def test_an_answer_that_drips_is_given_up(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte arrives within the socket timeout. Only the whole response is late."""
    gate = threading.Event()
    monkeypatch.setattr(_Handler, "drip", lambda self: gate.wait(0.05))
    server.body = b" " * 10_000
    with pytest.raises(SolrUnavailableError):
        SolrSearchClient(f"http://127.0.0.1:{server.server_port}/solr", "oil", timeout=0.5).select([("q", "a")])
    gate.set()


def test_an_endless_answer_is_given_up(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "MAX_RESPONSE_BYTES", 1000)
    server.body = b" " * 5000
    with pytest.raises(SolrUnavailableError, match="too large"):
        client(server).select([("q", "a")])


# -- several nodes


class _Node(_Server):
    """A server that responds with 503 to the first `refusals` requests. `forms` are all received requests."""

    def __init__(self, refusals: int = 0) -> None:
        super().__init__(_NodeHandler)
        self.refusals = refusals
        self.forms: list[dict[str, str]] = []
        self.is_held = threading.Event()
        self.is_held.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/solr"

    def allowed(self) -> list[int]:
        """Return `timeAllowed` of each request in milliseconds."""
        return [int(form["timeAllowed"]) for form in self.forms]


class _NodeHandler(_Handler):
    def drip(self) -> None:
        assert isinstance(self.server, _Node)
        self.server.is_held.wait()

    def send_response(self, code: int, message: str | None = None) -> None:
        assert isinstance(self.server, _Node)
        self.server.forms.append(dict(self.server.form))
        super().send_response(503 if len(self.server.forms) <= self.server.refusals else code, message)


def test_nodes_that_fail_when_another_dies_are_asked_once_more() -> None:
    """One node is gone. The other depended on it and responds after it has noticed."""
    node = _Node(refusals=1)
    with serving(node), refusing_port() as port:
        urls = f"http://127.0.0.1:{port}/solr,{node.url}"
        assert SolrSearchClient(urls, "oil", timeout=30.0).select([("q", "a")]) == {}
    assert len(node.forms) == 2


def test_a_cluster_that_fails_is_unavailable_and_not_asked_for_ever() -> None:
    one, other = _Node(refusals=99), _Node(refusals=99)
    with serving(one), serving(other), pytest.raises(SolrUnavailableError, match="503"):
        SolrSearchClient(f"{one.url},{other.url}", "oil", timeout=30.0).select([("q", "a")])
    assert len(one.forms) + len(other.forms) == 4


def test_a_cluster_is_not_asked_again_where_no_time_is_left() -> None:
    node = _Node(refusals=99)
    with serving(node), refusing_port() as port:
        urls = f"http://127.0.0.1:{port}/solr,{node.url}"
        with pytest.raises(SolrUnavailableError):
            SolrSearchClient(urls, "oil", timeout=search_module.RETRY_PAUSE_SECONDS).select([("q", "a")])
    assert len(node.forms) <= 1


def test_a_node_hears_how_long_somebody_waits_for_it() -> None:
    """The first node is silent for half of the time. The next node has the rest."""
    staller, node = _Staller([]), _Node()
    staller.start()
    with serving(node):
        urls = f"http://127.0.0.1:{staller.port}/solr,{node.url}"
        assert SolrSearchClient(urls, "oil", timeout=8.0).select([("q", "a")]) == {}
    staller.stop()
    staller.listener.close()
    [allowed] = node.allowed()
    assert 0 < allowed <= 8000 * 0.5 * search_module.TIME_ALLOWED_SHARE


def test_the_time_of_a_question_runs_while_it_waits_for_those_before_it() -> None:
    one, other = _Node(), _Node()
    with serving(one), serving(other):
        asking = SolrSearchClient(f"{one.url},{other.url}", "oil", timeout=30.0, max_concurrent=1)
        one.is_held.clear()
        with ThreadPoolExecutor(2) as readers:
            first = readers.submit(asking.select, [("q", "a")])
            second = readers.submit(asking.select, [("q", "a")])
            while not asking._threads._work_queue.qsize():  # the second request waits
                time.sleep(0.001)
            time.sleep(0.2)
            one.is_held.set()
            assert first.result() == second.result() == {}
    _, after = one.allowed()
    assert after <= (30 - 0.2) * 1000 * 0.5 * search_module.TIME_ALLOWED_SHARE
