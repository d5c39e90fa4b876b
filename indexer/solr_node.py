"""The life of the Solr that the documents go to: one of our own beside the data, or the operator's.

    with open_solr(settings, home) as url:      # http://127.0.0.1:PORT/solr
        ...

The embedded node is shared: every process of the same `home` uses one Java, which ends when the last of them has
ended, however it ended (see `indexer.solr_guard`). What stands in `home`:

    address       the node's host:port in this life; its ZooKeeper listens on port + 1000
    start.lock    held while a process looks for the node or starts it
    users.lock    held shared by every process that uses the node
    guard.lock    held by the guard as long as it lives
    secret/       what lets only us ask it (see `indexer.solr_secret`)
    solr/         solr.xml, ZooKeeper's data, the collections
    logs/         solr.log (rolling), java.log (what Java itself had to say)
"""

import fcntl
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import requests

from docstore.errors import PortInUseError, SettingsError, SolrError, SolrUnavailableError
from docstore.solr_http import SolrSession, replicas_of, shown_url
from indexer.class_archive import JAVA, archive_options
from indexer.cluster.zookeeper import SCHEME, urls_of
from indexer.settings import IndexSettings
from indexer.solr_jars import default_folder, resolve_jars
from indexer.solr_secret import USER, java_properties, prepare_secret, secret_of

JETTY = Path(__file__).with_name("jetty")
LOOPBACK = "127.0.0.1"
ZOOKEEPER_OFFSET = 1000  # fixed by Solr
HIGHEST_PORT = 65535
POLL_SECONDS = 0.2
ANSWER_SECONDS = 5.0
DYING_SECONDS = 5.0  # in which a Solr that was killed gives its port back


def open_solr(
    settings: IndexSettings, home: Path, note: Callable[[str], None] = lambda _: None
) -> AbstractContextManager[str]:
    """The base URL of the Solr to use, for as long as the context is open.

    Raises `SolrUnavailableError`, `PortInUseError` or another `SolrError` on entering.
    """
    return _operators(settings) if settings.solr_url else _embedded(settings, home, note)


@contextmanager
def _operators(settings: IndexSettings) -> Iterator[str]:
    url = settings.solr_url.rstrip("/")
    if url.startswith(SCHEME):
        url = urls_of(url, settings.request_timeout)
    check_solr(url, settings.request_timeout)
    yield url


@contextmanager
def _embedded(settings: IndexSettings, home: Path, note: Callable[[str], None]) -> Iterator[str]:
    with SolrNode(home, settings, note) as node:
        yield node.url


def check_solr(url: str, timeout: float) -> None:
    """Raise unless a Solr in cloud mode answers at `url` within `timeout` seconds."""
    try:
        with SolrSession(url, timeout) as session:
            mode = session.ask("admin/info/system").get("mode")
    except (requests.RequestException, ValueError, AttributeError) as err:
        raise SolrUnavailableError(
            f"no Solr answers at {shown_url(url)} ({type(err).__name__}): start it, or correct index.solr_url"
        ) from err
    if mode != "solrcloud":
        raise SolrError(f"the Solr at {shown_url(url)} runs in mode {mode!r}: start it in cloud mode (SolrCloud)")


class SolrNode:
    """The embedded node of `home`, from the eyes of one process that uses it.

    `note` hears a line when something takes long (the first download).
    """

    def __init__(self, home: Path, settings: IndexSettings, note: Callable[[str], None] = lambda _: None) -> None:
        self.home = home.absolute()
        self._settings = settings
        self._note = note
        self._users: IO[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    @property
    def url(self) -> str:
        """Base URL of the node that runs or ran last, with what lets us ask it: not to be shown (`shown_url`)."""
        return _base_url(self._address(), secret_of(self.home))

    def start(self) -> None:
        """Promise that the node runs and answers. May be called again: a node that died is started anew.

        Raises `PortInUseError` where the settings name a port that is taken, `SolrError` where the node does not
        start.
        """
        jars = resolve_jars(Path(self._settings.solr_jars or default_folder()), self._note)
        options = archive_options(jars, self._note)
        deadline = time.monotonic() + self._settings.start_timeout
        try:
            self._prepare()
            with (self.home / "start.lock").open("a") as start:
                self._lock(start, fcntl.LOCK_EX, deadline)
                self._enrol(deadline)
                self._run(jars, options, deadline)
        except OSError as err:
            self.release()
            raise SolrError(f"Solr's folder {self.home} cannot be used: {err}") from err
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """This process needs the node no longer. The last one to say so, or to die, ends it."""
        if self._users is not None:
            self._users.close()
            self._users = None

    def _address(self) -> str:
        return (self.home / "address").read_text()

    def _prepare(self) -> None:
        for folder in ("solr", "logs", "webapp"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(JETTY / "solr.xml", self.home / "solr" / "solr.xml")

    def _enrol(self, deadline: float) -> None:
        if self._users is None:
            users = (self.home / "users.lock").open("a")
            self._users = users
            self._lock(users, fcntl.LOCK_SH, deadline)  # waits for a node that is just ending

    def _run(self, jars: Path, options: Sequence[str], deadline: float) -> None:
        """Until the node answers: start a guard whenever none lives."""
        starts = 0
        while time.monotonic() < deadline:
            with (self.home / "guard.lock").open("a") as guard:
                if _try_lock(guard, fcntl.LOCK_EX):
                    if starts == 2:
                        raise SolrError(f"Solr ended while it was starting: see {self.home / 'logs'}")
                    self._start_guard(jars, options, guard)
                    starts += 1
            if _is_ready(self._address(), self._settings.collection, secret_of(self.home)):
                return
            time.sleep(POLL_SECONDS)
        raise self._too_slow()

    def _start_guard(self, jars: Path, options: Sequence[str], lock: IO[str]) -> None:
        prepare_secret(self.home)
        former = self._address() if (self.home / "address").exists() else ""
        address = next_address(choose_port(self._settings.solr_port), former)
        (self.home / "address").write_text(address)
        command = java_command(self.home, address, self._settings.solr_heap, jars, options)
        with (self.home / "logs" / "java.log").open("w") as log:
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "indexer.solr_guard",
                    str(self.home / "users.lock"),
                    str(lock.fileno()),
                    *command,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                cwd=Path(__file__).parents[1],  # where `indexer` is found, whatever the caller's folder
                start_new_session=True,
            )

    def _lock(self, file: IO[str], kind: int, deadline: float) -> None:
        while not _try_lock(file, kind):
            if time.monotonic() > deadline:
                raise self._too_slow()
            time.sleep(POLL_SECONDS)

    def _too_slow(self) -> SolrUnavailableError:
        return SolrUnavailableError(
            f"the embedded Solr was not ready after {self._settings.start_timeout:g} s: "
            f"see {self.home / 'logs'}, or raise index.start_timeout"
        )


def next_address(port: int, former: str) -> str:
    """The host:port under which the node enters its cluster, never that of its `former` life.

    A lone node does not say in ZooKeeper that it went down, so after a crash its replicas look active while they
    still replay their logs. Under a new name they look active only once they are.
    """
    address = f"{LOOPBACK}:{port}"
    return f"localhost:{port}" if address == former else address


def java_command(home: Path, address: str, heap: str, jars: Path, options: Sequence[str]) -> list[str]:
    """The command that runs Solr, its ZooKeeper inside, on loopback ports, with these `options` of Java's."""
    logs = home / "logs"
    host, port = address.split(":")
    properties = {
        "host": host,
        "jetty.port": port,
        "java.net.preferIPv4Stack": "true",
        "solr.solr.home": home / "solr",
        "solr.install.dir": home,
        "solr.log.dir": logs,
        "zkRun": "",
        "zkServerConfDir": JETTY,
        "zookeeper.admin.enableServer": "false",
        "log4j2.configurationFile": JETTY / "log4j2.xml",
        "java.util.logging.config.file": JETTY / "logging.properties",
        "plumbline.webapp": home / "webapp",
        "plumbline.webxml": JETTY / "web.xml",
        "java.awt.headless": "true",
        "user.timezone": "UTC",
        **java_properties(home),
    }
    program = ["org.eclipse.jetty.xml.XmlConfiguration", str(JETTY / "jetty.xml")]
    return java_line(heap, options, logs, properties, jars, program)


def java_line(
    heap: str,
    options: Sequence[str],
    logs: Path,
    properties: Mapping[str, object],
    jars: Path,
    program: Sequence[str],
) -> list[str]:
    """The command that runs a `program` (a class of `jars` and its arguments) in a Java that ends where it is short of
    memory. A property whose value is "" is set without one."""
    return [
        str(JAVA),
        f"-Xmx{heap}",
        *options,
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        f"-XX:ErrorFile={logs / 'java_error_%p.log'}",
        "--enable-native-access=ALL-UNNAMED",
        *(f"-D{name}={value}" if value != "" else f"-D{name}" for name, value in properties.items()),
        "-cp",
        str(jars / "*"),
        *program,
    ]


def choose_port(wanted: int) -> int:
    """`wanted`, or with 0 any port that is free together with its ZooKeeper's.

    Raises `PortInUseError`, and `SettingsError` where there is no such port.
    """
    if not 0 <= wanted < HIGHEST_PORT - ZOOKEEPER_OFFSET:
        raise SettingsError(f"index.solr_port must be 0 or below {HIGHEST_PORT - ZOOKEEPER_OFFSET}, not {wanted}")
    if not wanted:
        return next(port for port in iter(any_free_port, None) if _is_free(port + ZOOKEEPER_OFFSET))
    until = time.monotonic() + DYING_SECONDS
    for port in (wanted, wanted + ZOOKEEPER_OFFSET):
        while not _is_free(port):
            if time.monotonic() < until:
                time.sleep(0.1)
                continue
            raise PortInUseError(
                f"port {port} is in use by another program: free it, or set index.solr_port to another "
                "(0: choose by itself)"
            )
    return wanted


def any_free_port() -> int:
    """A port of loopback that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # old connections may linger
        try:
            probe.bind((LOOPBACK, port))
        except (OSError, OverflowError):
            return False
        return True


def _try_lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _base_url(address: str, secret: str) -> str:
    who = f"{USER}:{secret}@" if secret else ""
    return f"http://{who}{LOOPBACK}:{address.partition(':')[2]}/solr"


def _is_ready(address: str, collection: str, secret: str) -> bool:
    """Whether the node takes part in its cluster and, where the collection exists, serves it."""
    url, node = _base_url(address, secret), f"{address}_solr"
    try:
        with SolrSession(url, ANSWER_SECONDS) as session:
            cluster = session.cluster()
        target = cluster.get("aliases", {}).get(collection, collection)
        if node not in cluster["live_nodes"]:
            return False
        replicas = replicas_of(cluster["collections"].get(target, {"shards": {}}))
        return all(replica["state"] == "active" and replica["node_name"] == node for replica in replicas)
    except (requests.RequestException, ValueError, KeyError):
        return False
