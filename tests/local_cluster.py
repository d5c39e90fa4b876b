"""A local SolrCloud on loopback: ZooKeeper and several Solr nodes, each a process of its own.

    with LocalSolrCluster(home, node_count=3, heap="256m") as cluster:
        cluster.node_urls            # http://user:password@127.0.0.1:PORT/solr of every node
        cluster.kill_node(2)
        cluster.start_node(2)

`make cluster` and tests use it. A vertical uses the embedded node (`indexer.embedded_solr`) or its own Solr
(deploy/). Folders in `home`: `secret/` (as for the embedded node),
`security.json`, `zookeeper/`, `node1/` ... with `solr/` and `logs/`. All processes end with the process that started
them, however it ends (`indexer.solr_supervisor`); only the data stays.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import requests

from domain.errors import SolrError, SolrUnavailableError
from indexer.class_data_sharing import cds_java_options
from indexer.cluster.security import security_json
from indexer.embedded_solr import (
    JETTY_DIR,
    LOOPBACK,
    POLL_SECONDS,
    REQUEST_TIMEOUT_SECONDS,
    find_free_port,
    java_command,
)
from indexer.settings import IndexSettings
from indexer.solr_credentials import (
    SOLR_USER,
    ensure_secret_files,
    read_secret,
    secret_java_properties,
)
from indexer.solr_jars import default_jar_folder, ensure_jars
from locks.private_files import write_private_file
from solr_client.session import SolrSession

ZOOKEEPER_HEAP = "64m"
MAX_ERROR_CHARS = 400
ZOOKEEPER_MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
ZK_COPY_COMMAND = ("org.apache.solr.cli.SolrCLI", "zk", "cp")


class LocalSolrCluster:
    """ZooKeeper and `node_count` Solr nodes in `home`, each with Java heap `heap`. A context manager.

    Raises:
        SolrError: A process does not start within `start_timeout` seconds.
    """

    def __init__(
        self,
        home: Path,
        node_count: int = 3,
        heap: str = "256m",
        start_timeout: float = IndexSettings().start_timeout,
        report_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.home = home.absolute()
        self.node_count = node_count
        self._heap = heap
        self._start_timeout = start_timeout
        self._report_progress = report_progress
        self._users_lock_file: IO[str] | None = None
        self._supervisors: dict[str, subprocess.Popen[bytes]] = {}
        self._port_by_name: dict[str, int] = {}
        self._jar_folder, self._java_options = Path(), list[str]()

    @property
    def node_urls(self) -> list[str]:
        """Base URLs of all nodes, with credentials."""
        return [self.node_url(number) for number in range(1, self.node_count + 1)]

    @property
    def solr_url(self) -> str:
        """All nodes, in the format of `index.solr_url`."""
        return ",".join(self.node_urls)

    def node_url(self, node_number: int) -> str:
        """Return the base URL of node `node_number` (from 1), with credentials."""
        return (
            f"http://{SOLR_USER}:{read_secret(self.home)}@{LOOPBACK}:{self._port_by_name[_node_name(node_number)]}/solr"
        )

    def start(self) -> None:
        """Start ZooKeeper, upload security.json, and start all nodes concurrently; return when all are ready."""
        self._jar_folder = ensure_jars(default_jar_folder(), self._report_progress)
        self._java_options = cds_java_options(self._jar_folder, self._report_progress)
        self.home.mkdir(parents=True, exist_ok=True)
        ensure_secret_files(self.home)
        self._users_lock_file = (self.home / "users.lock").open("a")
        fcntl.flock(self._users_lock_file, fcntl.LOCK_SH)
        try:
            self._start_process("zookeeper", self._zookeeper_command())
            self._upload_security_json()
            for number in range(1, self.node_count + 1):
                self._start_process(_node_name(number), self._node_command(number))
            for number in range(1, self.node_count + 1):
                self.wait_for_node(number)
        except BaseException:
            self.stop()
            raise

    def start_node(self, node_number: int) -> None:
        """Start a killed node again at its old port, and wait until it is ready."""
        self._wait_for_exit(_node_name(node_number))
        self._start_process(_node_name(node_number), self._node_command(node_number))
        self.wait_for_node(node_number)

    def kill_node(self, node_number: int) -> None:
        """Kill the Java process of node `node_number` (SIGKILL); return when it has ended."""
        self._kill_process(_node_name(node_number))

    def stop(self) -> None:
        """Kill all processes; the update log of Solr keeps the data."""
        for name in [*self._supervisors]:
            self._kill_process(name)
        if self._users_lock_file is not None:
            self._users_lock_file.close()
            self._users_lock_file = None

    def wait_for_node(self, node_number: int) -> None:
        """Wait until node `node_number` responds and is part of its cluster."""
        node, deadline = (
            f"{LOOPBACK}:{self._port_by_name[_node_name(node_number)]}_solr",
            time.monotonic() + self._start_timeout,
        )
        with SolrSession(self.node_url(node_number), REQUEST_TIMEOUT_SECONDS) as session:
            while time.monotonic() < deadline:
                if self._supervisors[_node_name(node_number)].poll() is not None:
                    raise SolrError(
                        f"Solr ended while it was starting: see {self.home / _node_name(node_number) / 'logs'}"
                    )
                try:
                    if node in session.cluster_status()["live_nodes"]:
                        return
                except (requests.RequestException, ValueError, KeyError):
                    pass
                time.sleep(POLL_SECONDS)
        raise SolrUnavailableError(f"node {node_number} was not ready after {self._start_timeout:g} s: see {self.home}")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- processes

    def _start_process(self, name: str, command: Sequence[str]) -> None:
        logs = self.home / name / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        with (self.home / name / "guard.lock").open("a") as lock, (logs / "java.log").open("w") as log:
            supervisor_command = [
                sys.executable,
                "-m",
                "indexer.solr_supervisor",
                str(self.home / "users.lock"),
                str(lock.fileno()),
            ]
            self._supervisors[name] = subprocess.Popen(
                [*supervisor_command, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                cwd=Path(__file__).parents[1],
                start_new_session=True,
            )

    def _kill_process(self, name: str) -> None:
        """Kill the process group of a supervisor: Java and the supervisor."""
        supervisor = self._supervisors[name]
        if supervisor.poll() is None:
            os.killpg(supervisor.pid, signal.SIGKILL)
        supervisor.wait()

    def _wait_for_exit(self, name: str) -> None:
        if supervisor := self._supervisors.pop(name, None):
            supervisor.wait(self._start_timeout)

    # -- commands

    def _port_for(self, name: str) -> int:
        """Return the port of a process, the same for each of its starts."""
        return self._port_by_name.setdefault(name, find_free_port())

    def _zookeeper_command(self) -> list[str]:
        folder = self.home / "zookeeper"
        (folder / "data").mkdir(parents=True, exist_ok=True)
        logs, config = folder / "logs", folder / "zoo.cfg"
        base_config = (JETTY_DIR / "zoo.cfg").read_text()
        config.write_text(f"{base_config}dataDir={folder / 'data'}\nclientPort={self._port_for('zookeeper')}\n")
        properties = {**secret_java_properties(self.home), "solr.log.dir": logs, **_logging_properties()}
        return java_command(ZOOKEEPER_HEAP, [], logs, properties, self._jar_folder, [ZOOKEEPER_MAIN_CLASS, str(config)])

    def _node_command(self, node_number: int) -> list[str]:
        home, logs = self.home / _node_name(node_number), self.home / _node_name(node_number) / "logs"
        (home / "solr").mkdir(parents=True, exist_ok=True)
        (home / "webapp").mkdir(exist_ok=True)
        shutil.copyfile(JETTY_DIR / "solr.xml", home / "solr" / "solr.xml")
        properties: dict[str, object] = {
            "host": LOOPBACK,
            "jetty.port": self._port_for(_node_name(node_number)),
            "java.net.preferIPv4Stack": "true",
            "solr.solr.home": home / "solr",
            "solr.install.dir": home,
            "solr.log.dir": logs,
            "zkHost": f"{LOOPBACK}:{self._port_for('zookeeper')}",
            "plumbline.webapp": home / "webapp",
            "plumbline.webxml": JETTY_DIR / "web-cloud.xml",
            "java.awt.headless": "true",
            "user.timezone": "UTC",
            **_logging_properties(),
            **secret_java_properties(self.home),
        }
        for name in ("solr.httpclient.builder.factory", "solr.httpclient.config"):
            del properties[name]  # nodes authenticate to each other with Solr's own keys
        program = ["org.eclipse.jetty.xml.XmlConfiguration", str(JETTY_DIR / "jetty.xml")]
        return java_command(self._heap, self._java_options, logs, properties, self._jar_folder, program)

    def _upload_security_json(self) -> None:
        """Upload security.json to ZooKeeper with Solr's command-line tool."""
        security_path = self.home / "security.json"
        if not security_path.exists():
            write_private_file(security_path, security_json(SOLR_USER, read_secret(self.home)).encode())
        properties = {**secret_java_properties(self.home), "solr.log.dir": self.home, **_logging_properties()}
        program = [
            *ZK_COPY_COMMAND,
            f"file:{security_path}",
            "zk:/security.json",
            "-z",
            f"{LOOPBACK}:{self._port_for('zookeeper')}",
        ]
        command = java_command(ZOOKEEPER_HEAP, self._java_options, self.home, properties, self._jar_folder, program)
        result = subprocess.run(command, capture_output=True, text=True, timeout=self._start_timeout, check=False)
        if result.returncode:
            error_text = " ".join((result.stdout + result.stderr).split())[-MAX_ERROR_CHARS:]
            raise SolrError(f"ZooKeeper rejected security.json: {error_text}")


def _node_name(node_number: int) -> str:
    return f"node{node_number}"


def _logging_properties() -> dict[str, object]:
    return {
        "zookeeper.admin.enableServer": "false",
        "log4j2.configurationFile": JETTY_DIR / "log4j2.xml",
        "java.util.logging.config.file": JETTY_DIR / "logging.properties",
    }
