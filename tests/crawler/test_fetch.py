"""One request inside its limits, against real servers that misbehave in the ways of hostile/http.jsonl."""

import gzip
import hashlib
import resource
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
import trustme
import zstandard

from crawler.http.connections import create_tls_context
from crawler.http.content_encoding import ContentDecodingError, TooLargeError, decode_body
from crawler.http.fetch import Fetcher, interpret_response, parse_retry_after
from crawler.http.fetch import HttpResponse as Got
from crawler.http.ip_policy import PrivateAddressError, PublicOnlyPolicy
from domain.outcome import Reason
from tests.crawler_fakes import entry, settings
from tests.web_fixture import Answer, Site, page, raw_server

CAP = 200_000
Talk = Callable[[socket.socket], None]


def fetcher(host: str, **changes: object) -> Fetcher:
    made = settings(f"http://{host}/", max_bytes=CAP, **changes)
    return Fetcher(made, PublicOnlyPolicy(made.inside_hosts), now=lambda: 1000.0)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({}) as running:
        yield running


def fetched(site: Site, answer: Answer, path: str = "/x", **changes: object) -> object:
    site.pages[path] = answer
    return fetcher(site.host).fetch(entry(site.url(path), **changes))


def typed(content_type: str | None, body: bytes = b"<html><p>text") -> Answer:
    return Answer(body=body, headers={} if content_type is None else {"Content-Type": content_type})


def test_a_page_is_kept_with_what_was_sent(site: Site) -> None:
    result = fetched(site, page("/a", ETag='"7"', Last_Modified="yesterday"), url_id=5)
    assert result.outcome.reason is Reason.FETCHED
    kept = result.page
    assert (kept.url_id, kept.url, kept.status, kept.fetched_at) == (5, site.url("/x"), 200, 1000.0)
    assert (kept.etag, kept.last_modified) == ('"7"', "yesterday")
    assert kept.content_type == "text/html; charset=utf-8"
    assert kept.digest == hashlib.sha256(kept.body).hexdigest()


def test_the_request_names_us_and_nothing_else_about_us(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    site.pages["/x"] = page()
    client = fetcher(site.host)
    client.fetch(entry(site.url("/x")))
    client.fetch(entry(site.url("/x")))
    headers = site.requests[-1].headers
    assert headers["User-Agent"] == "Plumbline/0.1 (+https://plumbline.test/crawler)"
    assert "Cookie" not in headers
    assert "If-None-Match" not in headers


def test_304_only_where_it_was_asked_for(site: Site) -> None:
    assert fetched(site, page(ETag='"7"'), etag='"7"').outcome.reason is Reason.UNCHANGED
    assert site.requests[-1].headers["If-None-Match"] == '"7"'
    assert fetched(site, Answer(304)).outcome.reason is Reason.MALFORMED_RESPONSE


def test_the_same_bytes_again_are_unchanged(site: Site) -> None:
    first = fetched(site, page())
    again = fetched(site, page(ETag='"new"'), digest=first.page.digest)
    assert again.outcome.reason is Reason.UNCHANGED
    assert again.page is None
    assert again.etag == '"new"'


@pytest.mark.parametrize("value", ['"a"\r\nX: 1', "ключ", " ", "x" * 600], ids=["crlf", "cyrillic", "blank", "long"])
def test_odd_validators_are_not_sent_back(site: Site, value: str) -> None:
    assert fetched(site, page(), etag=value).outcome.reason is Reason.FETCHED
    assert "If-None-Match" not in site.requests[-1].headers


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(404), Reason.GONE),
        (Answer(410), Reason.GONE),
        (Answer(403), Reason.HTTP_ERROR),
        (Answer(403, headers={"WWW-Authenticate": "Negotiate"}), Reason.NEEDS_LOGIN),
        (Answer(500), Reason.HTTP_ERROR),
        (Answer(999), Reason.HTTP_ERROR),
        (Answer(204), Reason.EMPTY_BODY),
        (Answer(200, b""), Reason.EMPTY_BODY),
        (Answer(200, b" \n "), Reason.EMPTY_BODY),
        (Answer(302, b"no location"), Reason.HTTP_ERROR),
        (Answer(302, b"", {"Location": " "}), Reason.HTTP_ERROR),
        (typed("text/html"), Reason.FETCHED),
        (typed("application/xhtml+xml"), Reason.FETCHED),
        (typed("text/plain", b"plain words"), Reason.FETCHED),
        (typed("TEXT/HTML; charset=utf-8; charset=gbk"), Reason.FETCHED),
        (typed(None), Reason.FETCHED),
        (typed(None, b"\xef\xbb\xbf <!-- x --><!DOCTYPE html>"), Reason.FETCHED),
        (typed(None, b"\x00\x01\x02"), Reason.NOT_HTML),
        (typed("application/octet-stream"), Reason.FETCHED),
        (typed("application/octet-stream", b"MZ\x90"), Reason.NOT_HTML),
        (typed("application/xml", b"<rss/>"), Reason.NOT_HTML),
        (typed("image/png"), Reason.NOT_HTML),
        (typed("text/html", b"%PDF-1.4 ..."), Reason.FETCHED),
        (typed("text/html", b"\x89PNG ..."), Reason.NOT_HTML),
        (Answer(200, b"x" * (CAP + 1)), Reason.TOO_LARGE),
        (Answer(200, b"<p>x", {"Content-Encoding": "rot13"}), Reason.MALFORMED_RESPONSE),
    ],
    ids=lambda value: str(value)[:60],
)
def test_answers(site: Site, answer: Answer, reason: Reason) -> None:
    result = fetched(site, answer)
    assert result.outcome.reason is reason
    assert (result.page is not None) == (reason is Reason.FETCHED)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/y", "/y"),
        ("y?a=1#part", "/y?a=1"),
        ("//127.0.0.1:1/y", None),
        ("/新闻", "/%E6%96%B0%E9%97%BB"),
    ],
)
def test_redirects_are_reported_and_not_followed(site: Site, location: str, target: str | None) -> None:
    raw = location.encode().decode("latin-1")
    result = fetched(site, Answer(301, b"moved", {"Location": raw}))
    assert result.outcome.reason is Reason.REDIRECTED_TO_KNOWN_URL
    assert result.redirect_url == (site.url(target) if target else "http://127.0.0.1:1/y")
    assert result.is_permanent_redirect
    assert site.asked() == ["/x"]


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://u:p@h/", "javascript:x", "http://[::1"])
def test_redirects_to_what_is_no_address(site: Site, location: str) -> None:
    result = fetched(site, Answer(302, b"", {"Location": location}))
    assert result.outcome.reason is Reason.REDIRECTED_OUT_OF_SCOPE
    assert not result.redirect_url


def test_gbk_location_is_encoded_as_it_came(site: Site) -> None:
    result = fetched(site, Answer(302, b"", {"Location": "/中".encode("gbk").decode("latin-1")}))
    assert result.redirect_url == site.url("/%D6%D0")


def coded(coding: str, body: bytes) -> Answer:
    return Answer(body=body, headers={"Content-Type": "text/html", "Content-Encoding": coding})


TEXT = b"<html><p>" + b"news " * 1000
BOMB = bytes(50_000_000)
DEFLATE = zlib.compressobj(wbits=-15)
RAW_DEFLATE = DEFLATE.compress(TEXT) + DEFLATE.flush()
BAD_CRC = gzip.compress(TEXT)[:-8] + bytes(8)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]) + b"trailing garbage"),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", RAW_DEFLATE),
        ("br", brotli.compress(TEXT)),
        ("zstd", zstandard.compress(TEXT)),
        ("gzip, BR", brotli.compress(gzip.compress(TEXT))),
        ("identity", TEXT),
    ],
    ids=lambda value: str(value)[:12],
)
def test_codings_are_undone(site: Site, coding: str, body: bytes) -> None:
    assert fetched(site, coded(coding, body)).page.body == TEXT
    assert decode_body(body, coding, len(TEXT)) == TEXT
    with pytest.raises(TooLargeError):
        decode_body(body, coding, len(TEXT) - 1)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(TEXT)[:-20]),
        ("gzip", BAD_CRC),
        ("gzip", TEXT),
        ("deflate", zlib.compress(TEXT)[:-6]),
        ("br", brotli.compress(TEXT)[:-3]),
        ("br", b"\xff\xff\xff\xff"),
        ("zstd", TEXT),
        ("gzip,gzip,gzip,gzip,gzip,gzip", gzip.compress(TEXT)),
    ],
    ids=["gzip cut", "gzip crc", "not gzip", "deflate cut", "br cut", "not br", "not zstd", "six layers"],
)
def test_broken_codings(site: Site, coding: str, body: bytes) -> None:
    assert fetched(site, coded(coding, body)).outcome.reason is Reason.MALFORMED_RESPONSE
    with pytest.raises(ContentDecodingError):
        decode_body(body, coding, CAP)


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": lambda: gzip.compress(BOMB),
    "deflate": lambda: zlib.compress(BOMB),
    "br": lambda: brotli.compress(BOMB, quality=1),
    "zstd": lambda: zstandard.compress(BOMB),
    "gzip,gzip": lambda: gzip.compress(gzip.compress(BOMB)),
}


@pytest.mark.parametrize("coding", BOMBS)
def test_bombs_end_at_the_cap(site: Site, coding: str) -> None:
    body = BOMBS[coding]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert fetched(site, coded(coding, body)).outcome.reason is Reason.TOO_LARGE
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # KB


def test_the_body_of_a_redirect_is_not_read(site: Site) -> None:
    bomb = gzip.compress(BOMB)
    answer = Answer(302, bomb, {"Location": "/y", "Content-Encoding": "gzip"})
    assert fetched(site, answer).outcome.reason is Reason.REDIRECTED_TO_KNOWN_URL


def say(*parts: bytes, pause: float = 0.0, hang: bool = False) -> Talk:
    def talk(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        if hang:
            connection.recv(1)

    return talk


def drip(head: bytes) -> Talk:
    def talk(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b"x")
            time.sleep(0.1)

    return talk


def flood(head: bytes) -> Talk:
    def talk(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b"x" * 65536)

    return talk


def reset(connection: socket.socket) -> None:
    connection.sendall(OK + b"Content-Length: 100\r\n\r\nhalf")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ONE_CHUNK = b"4\r\n<p>x\r\n0\r\n\r\n"
MISBEHAVIOUR: list[tuple[str, Talk, Reason]] = [
    ("header drips", drip(b"HTTP/1.1 200 OK\r\nX-Slow: "), Reason.TIMED_OUT),
    ("body drips", drip(OK + b"\r\n"), Reason.TIMED_OUT),
    ("chunk size drips", drip(CHUNKED), Reason.TIMED_OUT),
    ("never answers", say(hang=True), Reason.TIMED_OUT),
    ("never a body", say(OK + b"Content-Length: 10\r\n\r\n", hang=True), Reason.TIMED_OUT),
    ("stalls half way", say(OK + b"Content-Length: 10\r\n\r\nhalf", hang=True), Reason.TIMED_OUT),
    ("never closes", say(OK + b"\r\n<p>x", hang=True), Reason.TIMED_OUT),
    ("endless", flood(OK + b"\r\n"), Reason.TOO_LARGE),
    ("endless header", flood(b"HTTP/1.1 200 OK\r\nX: "), Reason.MALFORMED_RESPONSE),
    ("10,000 headers", say(OK + b"".join(b"X-%d: 1\r\n" % n for n in range(10_000)) + b"\r\n"), Reason.MALFORMED_RESPONSE),  # noqa: E501
    ("HTTP/0.9", say(b"<html>hello"), Reason.MALFORMED_RESPONSE),
    ("no status", say(b"HTTP/1.1\r\n\r\n"), Reason.MALFORMED_RESPONSE),
    ("says nothing", say(), Reason.UNREACHABLE),
    ("closes mid-body", say(OK + b"Content-Length: 100\r\n\r\nhalf"), Reason.MALFORMED_RESPONSE),
    ("resets mid-body", reset, Reason.MALFORMED_RESPONSE),
    ("two lengths", say(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), Reason.MALFORMED_RESPONSE),
    ("negative length", say(OK + b"Content-Length: -5\r\n\r\n<p>x"), Reason.FETCHED),
    ("bad chunk", say(CHUNKED + b"zz\r\nxx"), Reason.MALFORMED_RESPONSE),
    ("huge chunk", say(CHUNKED + b"f" * 20 + b"\r\nxx"), Reason.MALFORMED_RESPONSE),
    ("cut chunk", say(CHUNKED + b"5\r\nxx"), Reason.MALFORMED_RESPONSE),
    ("chunks and length", say(OK + b"Content-Length: 3\r\n" + CHUNKED[len(OK) :] + ONE_CHUNK), Reason.FETCHED),
    ("folded header", say(OK + b"X-A: 1\r\n 2\r\nContent-Length: 4\r\n\r\n<p>x"), Reason.FETCHED),
    ("header without colon", say(OK + b"nonsense\r\nContent-Length: 4\r\n\r\n<p>x"), Reason.FETCHED),
    ("header with NUL", say(OK + b"X-A: 1\x002\r\nContent-Length: 4\r\n\r\n<p>x"), Reason.FETCHED),
    ("split location", say(b"HTTP/1.1 302 x\r\nLocation: /a\r\n b\r\nContent-Length: 0\r\n\r\n"), Reason.REDIRECTED_TO_KNOWN_URL),  # noqa: E501
]  # fmt: skip


@pytest.mark.parametrize(("talk", "reason"), [row[1:] for row in MISBEHAVIOUR], ids=[row[0] for row in MISBEHAVIOUR])
def test_misbehaving_servers_end_in_one_outcome(talk: Talk, reason: Reason) -> None:
    with raw_server(talk) as host:
        short = {"read_timeout": 0.3, "total_timeout": 0.4} if reason is Reason.TIMED_OUT else {}
        result = fetcher(host, **short).fetch(entry(f"http://{host}/"))
    assert result.outcome.reason is reason, result.outcome
    for name, value in result.page.headers if result.page else ():
        assert name.isprintable()
        assert value.isprintable()


def test_nobody_listens_is_unreachable_and_the_hosts_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
    result = fetcher(host).fetch(entry(f"http://{host}/"))
    assert result.outcome.reason is Reason.UNREACHABLE
    assert result.host_failed


def test_unknown_names_are_unreachable() -> None:
    def no_such_name(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    client = Fetcher(settings("http://nowhere.test/"), PublicOnlyPolicy((), no_such_name))
    result = client.fetch(entry("http://nowhere.test/"))
    assert result.outcome.reason is Reason.UNREACHABLE
    assert result.host_failed


def test_an_inside_address_is_refused_before_any_connection(site: Site) -> None:
    client = Fetcher(settings(site.url(), inside_hosts=()), PublicOnlyPolicy())
    assert client.fetch(entry(site.url("/x"))).outcome.reason is Reason.PRIVATE_ADDRESS
    assert site.requests == []


def test_a_name_is_resolved_once_and_connected_to_as_checked(site: Site) -> None:
    """DNS rebinding: whatever a second resolution would say, nobody asks for one."""
    asked: list[str] = []

    class Policy:
        def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
            asked.append(host)
            if len(asked) > 1:
                raise PrivateAddressError(host)
            return [("127.0.0.1", site.port)]

    site.pages["/x"] = page()
    result = Fetcher(settings("http://news.test/"), Policy()).fetch(entry("http://news.test/x"))
    assert result.outcome.reason is Reason.FETCHED
    assert asked == ["news.test"]
    assert site.requests[-1].host == "news.test"


def test_tls_certificates_are_checked_and_handshakes_end(tmp_path: Path) -> None:
    with raw_server(say(hang=True)) as host:
        result = fetcher(host, connect_timeout=0.3).fetch(entry(f"https://{host}/"))
    assert result.outcome.reason in (Reason.TIMED_OUT, Reason.UNREACHABLE)


@pytest.mark.parametrize("is_trusted", [True, False])
def test_https_pages_come_from_whom_this_machine_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_trusted: bool
) -> None:
    """The authorities are those of the machine; a certificate of any other is refused."""
    ours, trusted = trustme.CA(), tmp_path / "authorities.pem"
    (ours if is_trusted else trustme.CA()).cert_pem.write_to_path(str(trusted))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.issue_cert("127.0.0.1").configure_cert(tls)
    with Site({"/": page()}, tls) as site:
        result = fetcher(site.host).fetch(entry(f"https://{site.host}/"))
    assert result.outcome.reason is (Reason.FETCHED if is_trusted else Reason.UNREACHABLE)


def test_an_idle_connection_closed_by_the_server_is_not_a_failure() -> None:
    """The server closes a reused connection after the request: it is sent once more on a new one."""
    connections = []

    def answer_once(connection: socket.socket) -> None:
        connections.append(connection)
        connection.sendall(OK + b"Content-Length: 4\r\n\r\n<p>x")
        connection.recv(65536)

    with raw_server(answer_once) as host:
        client = fetcher(host)
        for _ in range(3):
            assert client.fetch(entry(f"http://{host}/")).outcome.reason is Reason.FETCHED
    assert len(connections) == 3


def test_a_new_connection_that_is_closed_is_not_tried_twice() -> None:
    connections = []
    with raw_server(connections.append) as host:
        assert fetcher(host).fetch(entry(f"http://{host}/")).outcome.reason is Reason.UNREACHABLE
    assert len(connections) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 1000000000 ", 1e9),
        ("Thu, 01 Jan 1970 00:20:00 GMT", 200.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Thu Jan  1 00:20:00 1970", 200.0),
        ("Thu, 01 Jan 1970 00:20:00 -0000", 200.0),
        ("Thursday, 01-Jan-70 00:20:00 GMT", 200.0),
        ("1.5", 1.5),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("9" * 400, None),
    ],
)
def test_retry_after(value: str, seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")  # a date without a time zone is in UTC
    time.tzset()
    try:
        assert parse_retry_after(value, now=1000.0) == seconds
    finally:
        monkeypatch.undo()
        time.tzset()


def test_busy_hosts_say_when_to_come_back(site: Site) -> None:
    for status in (429, 503):
        result = fetched(site, Answer(status, b"", {"Retry-After": "7"}))
        assert (result.retry_after, result.host_failed) == (7.0, True)
    assert not fetched(site, Answer(500)).host_failed


def test_judging_needs_no_network() -> None:
    answer = Got("http://h/x", 200, (("Content-Type", "text/html"),), b"<p>", 1.0)
    assert interpret_response(entry("http://h/x"), answer, False, 5.0).page is not None
    assert (
        interpret_response(entry("http://h/x"), replace(answer, status=304), True, 5.0).outcome.reason
        is Reason.UNCHANGED
    )


@pytest.mark.parametrize("holds", ["nothing", "an empty folder"])
def test_a_machine_without_authorities_of_its_own_trusts_those_of_certifi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holds: str
) -> None:
    """A slim image, or a Python built by hand, has none: https must work there all the same."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none" if holds == "nothing" else tmp_path))
    tls = create_tls_context()
    assert tls.cert_store_stats()["x509_ca"] > 50
