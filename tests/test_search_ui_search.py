"""The search client against a real server on loopback that misbehaves in named ways."""

import itertools
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

import pytest

from docstore.errors import SolrError, SolrUnavailableError
from search_ui import search as search_module
from search_ui.search import SearchClient
from tests.web_fixture import serving


class _Server(ThreadingHTTPServer):
    status = 200
    body = b"{}"
    path = ""
    form: tuple[tuple[str, str], ...] = ()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.path = self.path
        self.server.form = tuple(parse_qsl(self.rfile.read(length).decode(), keep_blank_values=True))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[_Server]:
    running = _Server(("127.0.0.1", 0), _Handler)
    with serving(running):
        yield running


def client(server: _Server) -> SearchClient:
    return SearchClient(f"http://127.0.0.1:{server.server_port}/solr/", "oil", timeout=30.0)


def test_parameters_arrive_as_they_were_sent(server: _Server) -> None:
    server.body = json.dumps({"response": {"numFound": 1}}).encode()
    params = [("q", "{!bool}"), ("fq", "a"), ("fq", "b"), ("text", "页岩气&x=\u2028"), ("empty", "")]
    assert client(server).select(params)["response"] == {"numFound": 1}
    assert server.path == "/solr/oil/select"
    assert server.form == (*params, ("timeAllowed", "30000"))


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        pytest.param(400, b'{"error": {"msg": "undefined field"}}', SolrError, id="refused"),
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


def test_no_server_is_unavailable(server: _Server) -> None:
    port = server.server_port
    server.shutdown()
    server.server_close()
    with pytest.raises(SolrUnavailableError, match="does not answer"):
        SearchClient(f"http://127.0.0.1:{port}/solr", "oil", timeout=30.0).select([("q", "a")])


def test_the_deadline_is_for_the_whole_answer(server: _Server) -> None:
    minutes = itertools.count(0.0, 60.0)
    slow = SearchClient(f"http://127.0.0.1:{server.server_port}/solr", "oil", 5.0, clock=lambda: next(minutes))
    with pytest.raises(SolrUnavailableError, match="too slow"):
        slow.select([("q", "a")])


def test_an_endless_answer_is_given_up(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "LARGEST_ANSWER", 1000)
    server.body = b" " * 5000
    with pytest.raises(SolrUnavailableError, match="too large"):
        client(server).select([("q", "a")])
