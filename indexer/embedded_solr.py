"""Opens the Solr of a vertical: the embedded node next to its data, or the administrator's own Solr.

    with open_solr(settings, home) as url:      # http://127.0.0.1:PORT/solr
        ...

All processes that use the same `home` share one Java process. It ends with the last of them, however that ends (see
`indexer.solr_supervisor`). Files in `home`:

    address       host:port of the running node; its ZooKeeper listens on port + 1000
    start.lock    exclusive lock while a process looks for the node or starts it
    users.lock    shared lock of every process that uses the node
    guard.lock    exclusive lock of the supervisor while it runs
    secret/       credentials of the node (see `indexer.solr_credentials`)
    solr/         solr.xml, ZooKeeper's data, the collections
    logs/         solr.log (rolling), java.log (output of Java)
"""

import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum, auto
from pathlib import Path
from typing import IO, Self

import requests

from domain.errors import PortInUseError, SettingsError, SolrError, SolrUnavailableError
from indexer.class_data_sharing import JAVA_OPTIONS_ENV, JAVA_PATH, cds_java_options
from indexer.cluster.zookeeper import ZOOKEEPER_SCHEME, live_node_urls
from indexer.settings import IndexSettings
from indexer.solr_credentials import SOLR_USER, ensure_secret_files, read_secret, secret_java_properties
from indexer.solr_jars import default_jar_folder, ensure_jars
from solr_client.session import SolrSession, collection_replicas, redact_credentials

JETTY_DIR = Path(__file__).with_name("jetty")
LOOPBACK = "127.0.0.1"
ZOOKEEPER_OFFSET = 1000  # fixed by Solr
MAX_PORT = 65535
MIN_HEAP_MB, MAX_SERIAL_HEAP_MB = 48, 1024
MEGABYTES_BY_UNIT = {"": 1 / 1024**2, "k": 1 / 1024, "m": 1, "g": 1024}
# Free share of the heap after a collection, in percent; outside this range the heap grows or shrinks.
HEAP_RATIO_OPTIONS = ("-XX:MinHeapFreeRatio=20", "-XX:MaxHeapFreeRatio=40")
MALLOC_ENV = {"MALLOC_ARENA_MAX": "2"}  # glibc reserves up to 8 arenas per core for threads
# Milliseconds after which Java returns free memory outside the heap. Without it, compilation leaves about 30 MB.
NATIVE_HEAP_OPTIONS = ("-XX:+UnlockExperimentalVMOptions", "-XX:TrimNativeHeapInterval=5000")
# Below the ports that operating systems give to connections: none of them takes the port before the server opens it.
FREE_PORTS = range(20_000, 31_000)
POLL_SECONDS = 0.2
REQUEST_TIMEOUT_SECONDS = 5.0
RESTART_SHARE = 0.5  # of the time for a start, after which a node that has not joined its cluster is started again
PORT_RELEASE_SECONDS = 5.0  # time for a killed Solr to release its port


class _NodeState(Enum):
    """How far the start of a node has come."""

    ABSENT = auto()  # not in its cluster
    JOINED = auto()  # in its cluster
    DAMAGED = auto()  # in its cluster, but it cannot open a core of the collection
    READY = auto()  # serves the collection


def open_solr(
    settings: IndexSettings, home: Path, report_progress: Callable[[str], None] = lambda _: None
) -> AbstractContextManager[str]:
    """Yield the base URL of the Solr to use while the context is open.

    Args:
        settings: Settings of the index.
        home: Folder of the embedded node.
        report_progress: Called with one line before slow steps (first download, start of the node).

    Raises:
        SolrUnavailableError: Solr is not responding.
        PortInUseError: The configured port is taken.
        SolrError: Any other problem.
    """
    return _open_external(settings) if settings.solr_url else _open_embedded(settings, home, report_progress)


@contextmanager
def _open_external(settings: IndexSettings) -> Iterator[str]:
    url = settings.solr_url.rstrip("/")
    if url.startswith(ZOOKEEPER_SCHEME):
        url = live_node_urls(url, settings.request_timeout)
    try:
        with SolrSession(url, settings.request_timeout) as session:
            mode = session.request_json("admin/info/system").get("mode")
    except (requests.RequestException, ValueError, AttributeError) as err:
        address, cause = redact_credentials(url), type(err).__name__
        raise SolrUnavailableError(
            "Solr at {url} is not responding ({cause}): start it, or correct index.solr_url", url=address, cause=cause
        ) from err
    if mode != "solrcloud":
        address = redact_credentials(url)
        raise SolrError(
            "The Solr at {url} runs in mode {mode}: start it in cloud mode (SolrCloud)", url=address, mode=str(mode)
        )
    yield url


@contextmanager
def _open_embedded(settings: IndexSettings, home: Path, report_progress: Callable[[str], None]) -> Iterator[str]:
    with EmbeddedSolr(home, settings, report_progress) as node:
        yield node.url


class EmbeddedSolr:
    """Handle of this process on the shared embedded Solr in `home`.

    `report_progress` is called with one line before slow steps (first download, start of the node).
    """

    def __init__(
        self, home: Path, settings: IndexSettings, report_progress: Callable[[str], None] = lambda _: None
    ) -> None:
        self.home = home.absolute()
        self._settings = settings
        self._report_progress = report_progress
        self._users_lock_file: IO[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def url(self) -> str:
        """Base URL of the current or last node. Contains the credentials: log it only with `redact_credentials`."""
        return _node_base_url(self._read_address(), read_secret(self.home))

    def start(self) -> None:
        """Start the node if it is not running, and wait until it is ready. Idempotent.

        Raises:
            PortInUseError: The configured port is taken.
            SolrError: The node does not start.
        """
        jars = ensure_jars(Path(self._settings.solr_jars or default_jar_folder()), self._report_progress)
        options = cds_java_options(jars, self._report_progress)
        deadline = time.monotonic() + self._settings.start_timeout
        try:
            for folder in ("solr", "logs", "webapp"):
                (self.home / folder).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(JETTY_DIR / "solr.xml", self.home / "solr" / "solr.xml")
            with (self.home / "start.lock").open("a") as start_lock_file:
                self._wait_for_lock(start_lock_file, fcntl.LOCK_EX, deadline)
                if self._users_lock_file is None:
                    self._users_lock_file = users_lock_file = (self.home / "users.lock").open("a")
                    self._wait_for_lock(users_lock_file, fcntl.LOCK_SH, deadline)  # waits for a node that is stopping
                self._start_and_wait(jars, options, deadline)
        except OSError as err:
            self.release()
            raise SolrError(f"Solr's folder {self.home} cannot be used: {err}") from err
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the node. It stops when the last process releases it or ends."""
        if self._users_lock_file is not None:
            self._users_lock_file.close()
            self._users_lock_file = None

    def _read_address(self) -> str:
        return (self.home / "address").read_text()

    def _start_and_wait(self, jars: Path, options: Sequence[str], deadline: float) -> None:
        """Wait until the node is ready; start a supervisor whenever none is running.

        A node that loses its ZooKeeper session while it starts (machine suspended or overloaded) often never joins its
        cluster. It is started again when half of the time has passed. So is one that cannot open a core: on a busy
        machine, Solr opens a core before it has read the state of its collection (NullPointerException: "slice" is
        null). A node that has joined may need long to replay its logs and is not interrupted.
        """
        start_count = 0
        supervisor: subprocess.Popen[bytes] | None = None
        now = time.monotonic()
        restart_at = now + (deadline - now) * RESTART_SHARE
        while time.monotonic() < deadline:
            with (self.home / "guard.lock").open("a") as supervisor_lock_file:
                if _try_flock(supervisor_lock_file, fcntl.LOCK_EX):
                    if start_count == 2:
                        raise SolrError("Solr ended while it was starting: see {logs}", logs=str(self.home / "logs"))
                    log_mode = "a" if start_count else "w"
                    supervisor = self._start_supervisor(jars, options, supervisor_lock_file, log_mode)
                    start_count += 1
            state = _node_state(self._read_address(), self._settings.collection, read_secret(self.home))
            if state is _NodeState.READY:
                return
            if state is _NodeState.DAMAGED and not (supervisor and start_count == 1):
                raise SolrError(
                    "Solr cannot open its index: stop all programs of this search engine, delete {folder}, and run "
                    "“plumb index”, which fills a new one from the store.",
                    folder=str(self.home),
                )
            is_late = state is _NodeState.ABSENT and time.monotonic() > restart_at
            if supervisor is not None and start_count == 1 and (is_late or state is _NodeState.DAMAGED):
                supervisor.terminate()
            time.sleep(POLL_SECONDS)
        raise self._start_timeout_error()

    def _start_supervisor(
        self, jars: Path, options: Sequence[str], lock: IO[str], log_mode: str
    ) -> subprocess.Popen[bytes]:
        """Start a supervisor with its Java. `log_mode` of java.log: "w", or "a" to keep the output of the first try."""
        self._report_progress("starting Solr ...")
        ensure_secret_files(self.home)
        previous_address = self._read_address() if (self.home / "address").exists() else ""
        address = choose_address(choose_port(self._settings.solr_port), previous_address)
        (self.home / "address").write_text(address)
        command = solr_java_command(self.home, address, self._settings.solr_heap, jars, options)
        with (self.home / "logs" / "java.log").open(log_mode) as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "indexer.solr_supervisor",
                    str(self.home / "users.lock"),
                    str(lock.fileno()),
                    *command,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                cwd=Path(__file__).parents[1],  # makes `indexer` importable from any working directory
                env={**MALLOC_ENV, **os.environ},
                start_new_session=True,
            )

    def _wait_for_lock(self, file: IO[str], kind: int, deadline: float) -> None:
        while not _try_flock(file, kind):
            if time.monotonic() > deadline:
                raise self._start_timeout_error()
            time.sleep(POLL_SECONDS)

    def _start_timeout_error(self) -> SolrUnavailableError:
        seconds, logs = f"{self._settings.start_timeout:g}", str(self.home / "logs")
        return SolrUnavailableError(
            "The embedded Solr was not ready after {seconds} s: see {logs}, or increase index.start_timeout",
            seconds=seconds,
            logs=logs,
        )


def choose_address(port: int, previous_address: str) -> str:
    """Return the host:port under which the node joins its cluster, never its `previous_address`.

    A single node cannot report in ZooKeeper that it went down. After a crash its replicas look active while they still
    replay their logs. Under a new name they look active only when they are.
    """
    address = f"{LOOPBACK}:{port}"
    return f"localhost:{port}" if address == previous_address else address


def solr_java_command(home: Path, address: str, heap: str, jars: Path, options: Sequence[str]) -> list[str]:
    """Return the command that runs Solr with its embedded ZooKeeper on loopback ports, with these Java `options`."""
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
        "zkServerConfDir": JETTY_DIR,
        "zookeeper.admin.enableServer": "false",
        "disable.v2.api": "true",  # unused, and a third of the CPU time of a start
        "log4j2.configurationFile": JETTY_DIR / "log4j2.xml",
        "java.util.logging.config.file": JETTY_DIR / "logging.properties",
        "plumbline.webapp": home / "webapp",
        "plumbline.webxml": JETTY_DIR / "web.xml",
        "java.awt.headless": "true",
        "user.timezone": "UTC",
        **secret_java_properties(home),
    }
    program = ["org.eclipse.jetty.xml.XmlConfiguration", str(JETTY_DIR / "jetty.xml")]
    return java_command(heap, options, logs, properties, jars, program)


def java_command(
    heap: str,
    options: Sequence[str],
    logs: Path,
    properties: Mapping[str, object],
    jars: Path,
    main_class_and_args: Sequence[str],
) -> list[str]:
    """Return the command that runs a class of `jars` in Java. Java exits if it runs out of memory.

    Args:
        heap: Maximum heap, for example `512m`.
        options: Further Java options.
        logs: Folder for error files of Java.
        properties: System properties; an empty value sets the property without a value.
        jars: Folder of the jars.
        main_class_and_args: Class and its arguments.
    """
    return [
        str(JAVA_PATH),
        f"-Xmx{heap}",
        *heap_options(heap, os.environ.get(JAVA_OPTIONS_ENV, "")),
        *NATIVE_HEAP_OPTIONS,
        *options,
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        f"-XX:ErrorFile={logs / 'java_error_%p.log'}",
        "--enable-native-access=ALL-UNNAMED",
        *(f"-D{name}={value}" if value != "" else f"-D{name}" for name, value in properties.items()),
        "-cp",
        str(jars / "*"),
        *main_class_and_args,
    ]


def heap_options(heap: str, user_options: str) -> list[str]:
    """Return the Java options that let the heap follow the size of the index, for heaps of at most 1 GB.

    Java's default collector begins with 1/64 of the machine's memory, and its heap hardly shrinks. The serial collector
    needs half of the memory; its pauses are short because the heap is small.

    Args:
        heap: Maximum heap, for example `512m`.
        user_options: Java options of the administrator; nothing is set if they choose a collector.
    """
    amount, unit = (heap[:-1], heap[-1].lower()) if heap[-1:].isalpha() else (heap, "")
    megabytes = int(amount) * MEGABYTES_BY_UNIT[unit] if amount.isdecimal() and unit in MEGABYTES_BY_UNIT else 0
    if not 0 < megabytes <= MAX_SERIAL_HEAP_MB or "GC" in user_options:
        return []
    return ["-XX:+UseSerialGC", f"-Xms{min(MIN_HEAP_MB, int(megabytes))}m", *HEAP_RATIO_OPTIONS]


def choose_port(requested_port: int) -> int:
    """Return `requested_port`, or for 0 a free port whose ZooKeeper port is free as well.

    Raises:
        PortInUseError: One of the two ports is in use.
        SettingsError: `requested_port` is out of range.
    """
    if not 0 <= requested_port < MAX_PORT - ZOOKEEPER_OFFSET:
        raise SettingsError(f"index.solr_port must be 0 or below {MAX_PORT - ZOOKEEPER_OFFSET}, not {requested_port}")
    if not requested_port:
        return find_free_port(ZOOKEEPER_OFFSET)
    deadline = time.monotonic() + PORT_RELEASE_SECONDS
    for port in (requested_port, requested_port + ZOOKEEPER_OFFSET):
        while not _is_free(port):
            if time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            raise PortInUseError(
                f"port {port} is in use by another program: free it, or set index.solr_port to another "
                "(0: choose a free one)"
            )
    return requested_port


def find_free_port(offset: int = 0) -> int:
    """Return a port of `FREE_PORTS` that is free on loopback, where port + `offset` is free as well."""
    while True:
        port = secrets.choice(FREE_PORTS)
        if _is_free(port) and _is_free(port + offset):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # old connections may linger
        try:
            probe.bind((LOOPBACK, port))
        except (OSError, OverflowError):
            return False
        return True


def _try_flock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _node_base_url(address: str, secret: str) -> str:
    userinfo = f"{SOLR_USER}:{secret}@" if secret else ""
    return f"http://{userinfo}{LOOPBACK}:{address.partition(':')[2]}/solr"


def _node_state(address: str, collection: str, secret: str) -> _NodeState:
    """Return the state of a node; without the collection, it is ready when it is part of its cluster."""
    url, node = _node_base_url(address, secret), f"{address}_solr"
    try:
        with SolrSession(url, REQUEST_TIMEOUT_SECONDS) as session:
            cluster = session.cluster_status()
            if node not in cluster["live_nodes"]:
                return _NodeState.ABSENT
            collection_name = cluster.get("aliases", {}).get(collection, collection)
            replicas = collection_replicas(cluster["collections"].get(collection_name, {"shards": {}}))
            if all(replica["state"] == "active" and replica["node_name"] == node for replica in replicas):
                return _NodeState.READY
            cores = session.request_json("admin/cores", {"action": "STATUS", "indexInfo": "false"})
            is_damaged = any(core.startswith(f"{collection_name}_shard") for core in cores["initFailures"])
    except (requests.RequestException, ValueError, KeyError):
        return _NodeState.ABSENT
    return _NodeState.DAMAGED if is_damaged else _NodeState.JOINED
