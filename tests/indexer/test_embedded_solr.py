"""The embedded node: shared, stopped with its last user however that ends, and intact after kill -9."""

import fcntl
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import requests

from domain.errors import PortInUseError, SettingsError, SolrError, SolrUnavailableError
from indexer import embedded_solr as solr_node_module
from indexer.embedded_solr import (
    ZOOKEEPER_OFFSET,
    EmbeddedSolr,
    choose_address,
    choose_port,
    heap_options,
    open_solr,
    solr_java_command,
)
from indexer.settings import IndexSettings
from indexer.solr_index import SolrIndex
from search_ui.query.solr_client import SolrSearchClient
from solr_client import solr_fields
from solr_client.session import auth_headers, split_credentials
from tests.solr_fixture import SHARDS, embedded
from tests.web_fixture import PATIENCE, refusing_port, serving

ROOT = Path(__file__).resolve().parents[2]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

USER = """
import sys, time
from pathlib import Path
from indexer.settings import IndexSettings
from indexer.embedded_solr import EmbeddedSolr
node = EmbeddedSolr(Path(sys.argv[1]), IndexSettings(solr_port=int(sys.argv[2]), start_timeout=float(sys.argv[3])))
node.start()
print(node.url, flush=True)
time.sleep(3600)
"""


@contextmanager
def another_user(home: Path, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start another process that uses the node of `home`; yield it and its URL."""
    command = [sys.executable, "-c", USER, str(home), str(port), str(PATIENCE)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait(PATIENCE)


def processes(home: Path, word: str) -> list[int]:
    """Return living processes of the node of `home` (supervisor or Java) with `word` in their command."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if str(home / "users.lock").encode() in command or f"-Dsolr.install.dir={home}".encode() in command:
            found += [int(entry.name)] if any(word.encode() in part for part in command[:3]) else []
    return found


def guards(home: Path) -> list[int]:
    return processes(home, "indexer.solr_supervisor")


def javas(home: Path) -> list[int]:
    return processes(home, "bin/java")


def becomes_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not (became := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return became


def is_gone(home: Path) -> bool:
    return not guards(home) and not javas(home)


@LINUX
@pytest.mark.solr
@pytest.mark.process
def test_a_node_that_never_joins_its_cluster_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = iter([lambda *_: ["sleep", "3600"], solr_java_command])
    monkeypatch.setattr(solr_node_module, "RESTART_SHARE", 0.0)
    monkeypatch.setattr(solr_node_module, "solr_java_command", lambda *arguments: next(commands)(*arguments))
    with embedded(tmp_path) as node:
        assert requests.get(f"{node.url}/admin/info/system", timeout=120).ok
        assert len(guards(tmp_path)) == 1


@LINUX
@pytest.mark.solr
@pytest.mark.process
def test_a_node_that_cannot_open_a_core_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_state, damaged_addresses = solr_node_module._node_state, set[str]()

    def state(address: str, collection: str, secret: str) -> object:
        damaged_addresses.update(() if damaged_addresses else (address,))
        is_damaged = address in damaged_addresses
        return solr_node_module._NodeState.DAMAGED if is_damaged else real_state(address, collection, secret)

    monkeypatch.setattr(solr_node_module, "_node_state", state)
    with embedded(tmp_path) as node:
        assert requests.get(f"{node.url}/admin/info/system", timeout=120).ok
        assert len(guards(tmp_path)) == 1
    damaged_addresses.clear()
    monkeypatch.setattr(solr_node_module, "_node_state", lambda *_: solr_node_module._NodeState.DAMAGED)
    with pytest.raises(SolrError, match="cannot open its index"):
        embedded(tmp_path).start()


@LINUX
@pytest.mark.solr
@pytest.mark.process
def test_processes_share_a_node_that_ends_with_the_last(tmp_path: Path) -> None:
    with another_user(tmp_path) as (first, url), embedded(tmp_path) as node:
        assert node.url == url
        assert (len(javas(tmp_path)), len(guards(tmp_path))) == (1, 1)
        java = javas(tmp_path)
        first.kill()
        first.wait(PATIENCE)
        assert not becomes_true_soon(lambda: javas(tmp_path) != java)
        assert requests.get(f"{node.url}/admin/info/system", timeout=120).ok
        assert listening(java[0]) == {("127.0.0.1", port_of(url)), ("127.0.0.1", port_of(url) + ZOOKEEPER_OFFSET)}

        os.kill(java[0], signal.SIGKILL)  # `start` revives a node that died
        assert becomes_true(lambda: is_gone(tmp_path))
        node.start()
        assert requests.get(f"{node.url}/admin/info/system", timeout=120).ok
        node.start()
        assert len(javas(tmp_path)) == 1

        with another_user(tmp_path) as (second, second_url):
            assert second_url == node.url
            node.release()
            second.send_signal(signal.SIGKILL)
            second.wait(PATIENCE)
    assert becomes_true(lambda: is_gone(tmp_path))


def becomes_true_soon(condition: Callable[[], bool]) -> bool:
    """Wait for a few polls of the supervisor."""
    deadline = time.monotonic() + 3.0
    while not (became := condition()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return became


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].partition("/")[0])


def listening(pid: int) -> set[tuple[str, int]]:
    """Return the addresses on which a process listens, from /proc."""
    sockets = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            local, state, inode = (line.split()[column] for column in (1, 3, 9))
            if state == "0A" and f"socket:[{inode}]" in sockets:
                host, port = local.split(":")
                found.add((".".join(str(byte) for byte in reversed(bytes.fromhex(host))), int(port, 16)))
    return found


@pytest.mark.exhaustive
@LINUX
@pytest.mark.solr
@pytest.mark.process
@pytest.mark.parametrize(
    "victims",
    [
        "everything",
        *(pytest.param(name, marks=[pytest.mark.exhaustive, pytest.mark.slow]) for name in ("guard", "java")),
    ],
)
def test_whole_again_after_kill_nine(tmp_path: Path, victims: str) -> None:
    """Acknowledged documents exist, uncommitted as before; also at the same port, which ZooKeeper remembers."""
    port = choose_port(0)
    with another_user(tmp_path, port) as (user, url):
        index = SolrIndex(url, "plumbline", timeout=120.0)
        index.ensure_collection()
        index.add([{solr_fields.ID: f"d{n}", solr_fields.URL: "u"} for n in range(500)])
        killed = {
            "everything": [*guards(tmp_path), *javas(tmp_path)],
            "guard": guards(tmp_path),
            "java": javas(tmp_path),
        }
        for pid in [user.pid, *killed[victims]] if victims == "everything" else killed[victims]:
            os.kill(pid, signal.SIGKILL)
        if victims != "everything":
            assert becomes_true(lambda: is_gone(tmp_path))
        else:
            shutil.rmtree(tmp_path / "secret")  # as in an older version
        with EmbeddedSolr(tmp_path, IndexSettings(solr_port=port, start_timeout=PATIENCE)) as node:
            assert port_of(node.url) == port
            assert SolrIndex(node.url, "plumbline", timeout=120.0).count() == 500
            os.kill(guards(tmp_path)[0], signal.SIGKILL)
            assert becomes_true(lambda: is_gone(tmp_path))  # Java ends with its supervisor


@pytest.mark.solr
@pytest.mark.parametrize("offset", [0, ZOOKEEPER_OFFSET], ids=["solr", "zookeeper"])
def test_occupied_port(tmp_path: Path, offset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solr_node_module, "PORT_RELEASE_SECONDS", 0.2)
    wanted = choose_port(0)
    node = EmbeddedSolr(tmp_path, IndexSettings(solr_port=wanted))
    with socket.create_server(("127.0.0.1", wanted + offset)), pytest.raises(PortInUseError) as caught:
        node.start()
    with (tmp_path / "users.lock").open() as users:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the failed one does not count as a user
    assert str(wanted + offset) in str(caught.value)
    assert "index.solr_port" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.solr
def test_a_java_that_does_not_start_says_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(SolrError, match="logs") as caught:
        EmbeddedSolr(tmp_path, IndexSettings(solr_heap="nonsense")).start()
    assert "\n" not in str(caught.value)
    assert (tmp_path / "logs" / "java.log").read_text().count("nonsense") == 2  # of both attempts


@pytest.mark.solr
def test_too_slow_a_start(tmp_path: Path) -> None:
    with pytest.raises(SolrUnavailableError, match=r"index\.start_timeout"):
        EmbeddedSolr(tmp_path, IndexSettings(start_timeout=0.3)).start()
    assert becomes_true(lambda: is_gone(tmp_path))


@pytest.mark.solr
def test_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SolrError, match="file"):
        EmbeddedSolr(tmp_path / "file" / "home", IndexSettings()).start()


# -- access


@pytest.fixture
def embedded_node(solr_node: EmbeddedSolr) -> EmbeddedSolr:
    """Return the embedded node of the run. `make test-shards` has none."""
    if SHARDS > 1:
        pytest.skip("this run has a SolrCloud instead of the embedded node")
    return solr_node


@pytest.mark.solr
@pytest.mark.parametrize("user", ["", "plumb:@", "plumb:wrong@", ":@", "plumb@"])
def test_nobody_asks_a_node_without_its_secret(embedded_node: EmbeddedSolr, user: str) -> None:
    place = f"http://{user}127.0.0.1:{port_of(embedded_node.url)}"
    with requests.Session() as session:
        session.trust_env = False
        for path in (
            "/solr/",
            "/solr/admin/info/system",
            "/solr/admin/collections?action=LIST",
            "/solr/x/select?q=*:*",
        ):
            for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
                answer = session.request(method, place + path, headers={"Origin": "https://evil.example"}, timeout=120)
                assert answer.status_code in (401, 405), (method, path)
                assert "Access-Control-Allow-Origin" not in answer.headers and b"responseHeader" not in answer.content
    assert requests.get(f"{embedded_node.url}/admin/info/system", timeout=120).ok


def zookeeper_answer(port: int, request: bytes) -> bytes:
    """Return the response of ZooKeeper to a request without the secret; b"": it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        hello = struct.pack(">iqiqi16s?", 0, 0, 10_000, 0, 16, b"", False)
        connection.sendall(struct.pack(">i", len(hello)) + hello)
        assert connection.recv(4096)
        connection.sendall(struct.pack(">i", len(request)) + request)
        try:
            return connection.recv(4096)
        except ConnectionError:
            return b""


@pytest.mark.solr
def test_nobody_asks_its_zookeeper_without_its_secret(embedded_node: EmbeddedSolr) -> None:
    """Listing the children of the root and creating a node are both rejected."""
    port, root = port_of(embedded_node.url) + ZOOKEEPER_OFFSET, struct.pack(">i", 1) + b"/"
    name = struct.pack(">i", 5) + b"/mine"
    anybody = struct.pack(">iii", 1, 31, 5) + b"world" + struct.pack(">i", 6) + b"anyone"
    for request in (
        struct.pack(">ii", 1, 8) + root + b"\0",
        struct.pack(">ii", 1, 1) + name + struct.pack(">i", 0) + anybody + struct.pack(">i", 0),
    ):
        answer = zookeeper_answer(port, request)
        assert not answer or struct.unpack(">i", answer[16:20])[0] < 0, answer


@LINUX
@pytest.mark.solr
def test_the_secret_is_its_owners_and_stands_in_no_command_or_log(embedded_node: EmbeddedSolr) -> None:
    home = embedded_node.home
    secret = (home / "secret" / "secret").read_text().strip()
    assert len(secret) == 64 and secret in embedded_node.url
    files = [home / "secret", *(home / "secret").iterdir()]
    assert len(files) >= 5 and all(stat.S_IMODE(one.stat().st_mode) & 0o077 == 0 for one in (home, *files))
    for pid in (*javas(home), *guards(home)):
        assert secret.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    for log in (home / "logs").iterdir():
        assert secret not in log.read_text(errors="replace")


def test_the_secret_stands_in_no_error() -> None:
    with refusing_port() as port:
        url = f"http://plumb:s3cret@127.0.0.1:{port}/solr"
        with pytest.raises(SolrUnavailableError) as refused:
            SolrIndex(url, "x", 1.0, sleep=lambda seconds: None).count()
        with pytest.raises(SolrUnavailableError) as unanswered:
            SolrSearchClient(url, "x", 5.0).select([("q", "*:*")])
        with pytest.raises(SolrUnavailableError) as missing, open_solr(IndexSettings(solr_url=url), Path("/nowhere")):
            pass
    assert not any("s3cret" in str(error.value) for error in (refused, unanswered, missing))


def test_a_password_with_odd_signs_is_shown_as_it_is() -> None:
    assert split_credentials("https://a%40b:p%3Aw%2F@solr.example:8983/solr/") == (
        "https://solr.example:8983/solr",
        ("a@b", "p:w/"),
    )
    assert auth_headers("http://u:p@h/solr") == {"authorization": "Basic dTpw"} and auth_headers("http://h/solr") == {}


def test_a_new_life_has_a_new_name() -> None:
    assert choose_address(8983, "") == "127.0.0.1:8983"
    assert choose_address(8983, "127.0.0.1:8983") == "localhost:8983"
    assert choose_address(8983, "localhost:8983") == "127.0.0.1:8983"
    assert choose_address(8984, "127.0.0.1:8983") == "127.0.0.1:8984"


@pytest.mark.parametrize("port", [-1, 65_000, 70_000])
def test_port_that_cannot_be(port: int) -> None:
    with pytest.raises(SettingsError, match=r"index\.solr_port"):
        choose_port(port)


@pytest.mark.parametrize(
    ("heap", "user_options", "follows_the_index"),
    [("512m", "", True), ("1g", "", True), ("2g", "", False), ("512m", "-XX:+UseG1GC", False), ("much", "", False)],
)
def test_a_small_heap_follows_the_index(heap: str, user_options: str, follows_the_index: bool) -> None:
    options = heap_options(heap, user_options)
    assert ("-XX:+UseSerialGC" in options and "-Xms48m" in options) is follows_the_index


def test_java_command_carries_heap_and_address(tmp_path: Path) -> None:
    command = solr_java_command(tmp_path, "localhost:18983", "700m", tmp_path / "jars", ["-XX:+VerifySharedSpaces"])
    assert {
        "-XX:+VerifySharedSpaces", "-Xmx700m", "-Ddisable.v2.api=true", "-Djetty.port=18983", "-Dhost=localhost",
        "-DzkRun",
    } <= set(command)  # fmt: skip


class System(BaseHTTPRequestHandler):
    """An administrator's Solr with one response: `answer`."""

    answer = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), type("Given", (System,), {"answer": answer}))
    with serving(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/solr"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(b'{"mode": "std"}', "SolrCloud", id="standalone"),
        pytest.param(b"<html>", r"index\.solr_url", id="another-program"),
        pytest.param(b"[]", r"index\.solr_url", id="another-json"),
    ],
)
def test_operators_solr_that_will_not_do(tmp_path: Path, answer: bytes, error: str) -> None:
    with (
        answering(answer) as url,
        pytest.raises(SolrError, match=error) as caught,
        open_solr(IndexSettings(solr_url=url), tmp_path),
    ):
        pass
    assert "\n" not in str(caught.value)


def test_operators_solr_that_does_not_answer(tmp_path: Path) -> None:
    with refusing_port() as port:
        settings = IndexSettings(solr_url=f"http://127.0.0.1:{port}/solr")
        with pytest.raises(SolrUnavailableError) as caught, open_solr(settings, tmp_path):
            pass
    assert settings.solr_url in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.solr
def test_operators_solr_is_used_and_nothing_started(embedded_node: EmbeddedSolr, tmp_path: Path) -> None:
    with open_solr(IndexSettings(solr_url=embedded_node.url + "/"), tmp_path / "home") as url:
        assert url == embedded_node.url
    assert not (tmp_path / "home").exists()
